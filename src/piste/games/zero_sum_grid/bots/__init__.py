"""Zero-Sum Grid: its bots, a module a level."""
