"""Positive-Negative: rules, notation and words."""
