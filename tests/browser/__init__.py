"""Real games in a real browser."""
