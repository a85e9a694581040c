"""Puzzles, progress and the analysis board: work that is done for visitors outside of any table."""
