"""Tic-tac-toe, a game for piste: found by the entry point `tic-tac-toe` of the group `piste.games`."""
