"""Prime Duel: rules, notation and words."""
