"""Zero Sum Duel: rules, notation and words."""
