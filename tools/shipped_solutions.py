"""Writes the parts of solutions that come with the package, because they take long to compute.

    python -m tools.shipped_solutions

takes 31 CPU s and 489 MiB. The tests of the two solvers compute parts of it again.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from piste.core.bits import count, signed_value
from piste.core.game import members
from piste.games.positive_negative import rules as pn_rules
from piste.games.positive_negative.rules import DECIDE, DRAW, REDRAW, State
from piste.games.positive_negative.solver import solver as pn_solver
from piste.games.positive_negative.solver.kernels import TIE
from piste.games.positive_negative.solver.solver import MAX_CARDS_ON_DEMAND, ValueAndDraw, opening_key
from piste.games.zero_sum_duel import rules as zsd_rules
from piste.games.zero_sum_duel.solver import equilibrium
from piste.games.zero_sum_duel.solver import solver as zsd_solver


def openings(top: int) -> set[tuple[int, int, int]]:
    """Return (phase, deck, lead) where a turn has ended, or a card was discarded, and the deck is large."""
    states: set[State] = {pn_rules.start(pn_rules.Options(top))}
    cases = set()
    while states:
        cases |= {(s.phase, s.deck, pn_solver.lead_of(s)) for s in states if s.phase != DECIDE}
        after = {
            pn_rules.apply(s, action)
            for s in states
            for action in members(pn_rules.legal(s) if s.phase == DECIDE else pn_rules.outcomes(s))
        }
        states = {s for s in after if count(s.deck) > MAX_CARDS_ON_DEMAND}
    return cases


def opening_values(top: int) -> dict[int, ValueAndDraw]:
    """Return the values of all openings by key: from one table for each first card, and one step back."""
    whole, cases = pn_rules.every_card(pn_rules.Options(top)), openings(top)
    by_key: dict[int, ValueAndDraw] = {}
    first: list[ValueAndDraw] = []
    for card in range(2 * top):
        deck = whole ^ 1 << card
        table = pn_solver.solve_decks(top, deck, top, smallest=MAX_CARDS_ON_DEMAND)
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


def write_positive_negative() -> None:
    by_key = {key: pair for top in (9, 10) for key, pair in opening_values(top).items()}
    keys = sorted(by_key)
    worth, draw = zip(*(by_key[key] for key in keys), strict=True)
    np.savez_compressed(
        pn_solver.OPENINGS, keys=np.array(keys), worth=np.array(worth), draw=np.array(draw, np.float32)
    )


def write_zero_sum_duel() -> None:
    (top, hand), strong = equilibrium.USUAL_SIZE, zsd_solver.STRONG_PASSES
    equilibrium.USUAL_SIZE = (0, 0)  # nothing is read from the file that is to be written
    turns = 2 * (top - hand)
    levels = [equilibrium.level_values(top, hand, turns, n) for n in range(equilibrium.USUAL_PASSES)]
    arrays: dict[str, Any] = {"levels": np.array(levels[:strong]), "limit": levels[-1]}
    for limit in (0, 2 * hand + turns * strong):
        solved = equilibrium.PassStrategy(zsd_rules.start(zsd_rules.Options(1, limit, top, hand))).signaling
        assert solved is not None
        arrays |= {f"sender {limit}": solved.sender_mix[None], f"receiver {limit}": solved.receiver_mix[None]}
    np.savez_compressed(equilibrium.SHIPPED, **arrays)


if __name__ == "__main__":
    write_positive_negative()
    write_zero_sum_duel()
