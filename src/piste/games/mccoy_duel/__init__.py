"""Sean McCoy's Duel: rules, notation and words."""
