"""Prime Duel: everything that computes values."""
