"""Zero Sum Duel: everything that computes values."""
