"""Positive-Negative: everything that computes values."""
