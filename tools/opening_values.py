"""Writes the values of the first moves of Positive-Negative, with 18 and 20 cards, into the package.

    python tools/opening_values.py

takes a minute and 1 GB. `tests/games/solver/test_positive_negative.py` solves some of the decks again.
"""

from __future__ import annotations

import numpy as np

from piste.core.bits import count, signed_value
from piste.core.game import members
from piste.games.positive_negative import rules
from piste.games.positive_negative.rules import DECIDE, DRAW, REDRAW, Options, State
from piste.games.positive_negative.solver import solver
from piste.games.positive_negative.solver.kernels import TIE
from piste.games.positive_negative.solver.solver import MAX_CARDS_ON_DEMAND, ValueAndDraw, opening_key

TOPS = (9, 10)


def openings(top: int) -> set[tuple[int, int, int]]:
    """Return (phase, deck, lead) where a turn has ended, or a card was discarded, and the deck is large."""
    states: set[State] = {rules.start(Options(top))}
    cases = set()
    while states:
        cases |= {(s.phase, s.deck, solver.lead_of(s)) for s in states if s.phase != DECIDE}
        after = {
            rules.apply(s, action)
            for s in states
            for action in members(rules.legal(s) if s.phase == DECIDE else rules.outcomes(s))
        }
        states = {s for s in after if count(s.deck) > MAX_CARDS_ON_DEMAND}
    return cases


def values(top: int) -> dict[int, ValueAndDraw]:
    """Return the values of all openings by key: from one table for each first card, and one step back."""
    whole, cases = rules.every_card(Options(top)), openings(top)
    by_key: dict[int, ValueAndDraw] = {}
    first: list[ValueAndDraw] = []
    for card in range(2 * top):
        deck = whole ^ 1 << card
        table = solver.solve_decks(top, deck, top)
        keep, discard = table.after_turn(deck, signed_value(top, card)), table.after_discard(deck, 0)
        first.append(keep if keep[0] >= discard[0] - TIE else discard)
        for phase, deck, lead in cases:
            if not deck >> card & 1 and deck != whole:
                find = table.after_turn if phase == DRAW else table.after_discard
                # A turn has ended: the lead is that of the player who moved, not of the one to draw.
                key = opening_key(top, int(phase == REDRAW), deck, -lead if phase == DRAW else lead)
                by_key[key] = find(deck, -lead if phase == DRAW else lead)
    value, draw = (sum(pair[i] for pair in first) / len(first) for i in (0, 1))
    return {**by_key, opening_key(top, 0, whole, 0): (-value, draw)}


def main() -> None:
    by_key = {key: pair for top in TOPS for key, pair in values(top).items()}
    keys = sorted(by_key)
    worth, draw = zip(*(by_key[key] for key in keys), strict=True)
    np.savez_compressed(solver.OPENINGS, keys=np.array(keys), worth=np.array(worth), draw=np.array(draw, np.float32))


if __name__ == "__main__":
    main()
