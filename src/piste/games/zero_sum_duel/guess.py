"""Zero Sum Duel, estimated: for sizes that are not solved, games played out from what the seat holds possible."""

from __future__ import annotations

from functools import cache
from hashlib import blake2b
from math import sqrt
from typing import Any

from piste.core.contract import RESIGNS, WATCHER
from piste.core.dealer import Stream
from piste.core.errors import MissingExtra
from piste.core.game import members
from piste.core.known import Known
from piste.core.verdict import ESTIMATED, Chances, Choice, Progress, Verdict, quiet
from piste.fast import kernels
from piste.fast.bind import together
from piste.games.zero_sum_duel import rollout, rules
from piste.games.zero_sum_duel.rules import State

SAMPLES = 200
MOST_STEPS = 400
HOW = f"The average of {SAMPLES} games played out by a rule of thumb, from positions that the seat holds possible."


@cache
def loops() -> Any:
    try:
        return together(rules, kernels, rollout, compiled=True)
    except MissingExtra:
        return together(rules, kernels, rollout, compiled=False)


def verdict(known: Known, progress: Progress = quiet) -> Verdict:
    """Return an estimate: each decision is tried in the same positions with the same luck."""
    stream = Stream(blake2b(str(known).encode(), digest_size=32).digest(), "estimate")
    states = drawn_states(known, stream)
    some = states[0]
    seat = some.seat if known.seat == WATCHER else known.seat
    cards = members(rules.legal(some)) if rules.to_act(some) == seat == known.seat else [RESIGNS]
    paid: dict[int, list[int]] = {card: [] for card in cards}
    for at, state in enumerate(states):
        if at % 20 == 0:
            progress(at, len(states), "games played out")
        seed = loops().seeded(stream.below(1 << 62))
        for card in cards:
            then = state if card == RESIGNS else rules.apply(state, card)
            paid[card].append(loops().played_out(then, seat, seed, MOST_STEPS))
    best = max(cards, key=lambda card: sum(paid[card]))
    mean = sum(paid[best]) / SAMPLES
    within = 1.96 * sqrt(max(sum(p * p for p in paid[best]) / SAMPLES - mean * mean, 1 / SAMPLES) / SAMPLES)
    choices = [Choice(card, shares(paid[card]), float(card == best)) for card in cards if card != RESIGNS]
    return Verdict(seat, shares(paid[best]), tuple(choices), ESTIMATED, within / 2, HOW)


def drawn_states(known: Known, stream: Stream) -> list[State]:
    """Return positions that the seat holds possible, each as often as it is likely."""
    possible = list(known.belief.states.items())
    found = []
    for _ in range(SAMPLES):
        at = stream.fraction()
        which = 0
        while which < len(possible) - 1 and at >= possible[which][1]:
            at -= possible[which][1]
            which += 1
        found.append(possible[which][0])
    return found


def shares(paid: list[int]) -> Chances:
    won, lost = sum(p > 0 for p in paid), sum(p < 0 for p in paid)
    return Chances(won / len(paid), (len(paid) - won - lost) / len(paid), lost / len(paid))
