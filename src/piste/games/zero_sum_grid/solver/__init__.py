"""Zero-Sum Grid: everything that computes values."""
