"""Bots against bots: many games, the seats swapped, and how sure the outcome is."""
