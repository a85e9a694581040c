"""Kuhn poker: what its cards, decisions and endings are called."""

from __future__ import annotations

from kuhn_poker import rules
from kuhn_poker.rules import Options

TITLE = "Kuhn poker"
CREDIT = "Harold W. Kuhn, 1950"
KINDS = ("deal", "betting")
REASONS = {rules.SHOWDOWN: "showdown", rules.FOLDED: "folded", rules.RESIGNED: "resigned"}
STARTS = 0

RANKS = "23456789TJQKA"


def name(options: Options, kind: int, action: int) -> str:
    """Return a card by its rank, the king highest with three cards; or a decision."""
    if kind == rules.BETTING:
        return ("pass", "bet")[action] if action < 2 else str(action)
    lowest = max(0, len(RANKS) - 1 - options.cards)
    return RANKS[lowest + action] if lowest + action < len(RANKS) else str(action)
