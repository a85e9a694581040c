"""Positive-Negative: its bots, a module a level."""
