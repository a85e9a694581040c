"""Sean McCoy's Duel: rules, notation, text, bots and solver."""
