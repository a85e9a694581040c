"""Kuhn poker, a game for piste: found by the entry point `kuhn-poker` of the group `piste.games`."""
