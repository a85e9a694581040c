"""Duel: everything that computes values."""
