"""Zero-Sum Grid: rules, notation and words."""
