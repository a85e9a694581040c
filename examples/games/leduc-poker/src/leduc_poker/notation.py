"""Leduc poker: what its cards, decisions and endings are called."""

from __future__ import annotations

from leduc_poker import rules
from leduc_poker.rules import Options

TITLE = "Leduc poker"
KINDS = ("deal", "betting", "reveal")
REASONS = {rules.SHOWDOWN: "showdown", rules.FOLDED: "folded", rules.RESIGNED: "resigned"}
STARTS = 0

RANKS = "23456789TJQKA"


def name(options: Options, kind: int, action: int) -> str:
    """Return a card by its rank, the king highest with three ranks; or a decision."""
    if kind == rules.BETTING:
        return ("fold", "call", "raise")[action] if action < 3 else str(action)
    lowest = max(0, len(RANKS) - 1 - options.ranks)
    return RANKS[lowest + action] if lowest + action < len(RANKS) else str(action)
