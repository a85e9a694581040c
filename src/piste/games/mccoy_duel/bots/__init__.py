"""Duel: its bots, a module a level."""
