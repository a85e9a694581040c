"""Zero-Sum Grid: rules, notation, text, bots and solver."""
