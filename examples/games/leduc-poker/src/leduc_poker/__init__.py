"""Leduc poker, a game for piste: found by the entry point `leduc-poker` of the group `piste.games`."""
