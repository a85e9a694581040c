"""Zero Sum Duel, estimated: Monte Carlo rollouts from states of the information set, for sizes not solved."""

from __future__ import annotations

from functools import cache
from hashlib import blake2b
from math import sqrt
from typing import Any

from piste.compiled import kernels
from piste.compiled.compiler import link_modules
from piste.core.dealer import RandomStream
from piste.core.evaluation import ESTIMATED, Chances, Choice, Evaluation, Progress, quiet
from piste.core.game import members
from piste.core.information_set import InformationSet
from piste.core.protocols import RESIGNS, SPECTATOR
from piste.games.zero_sum_duel import rules
from piste.games.zero_sum_duel.rules import State
from piste.games.zero_sum_duel.solver import rollout_kernels

SAMPLES = 200
MAX_ROLLOUT_STEPS = 400
HOW = f"The average of {SAMPLES} games played out by a rule of thumb, from positions that the seat holds possible."


@cache
def load_kernels() -> Any:
    return link_modules(rules, kernels, rollout_kernels)


def evaluate(known: InformationSet, progress: Progress = quiet) -> Evaluation:
    """Return an estimate: each decision is tried in the same states with the same random numbers."""
    stream = RandomStream(blake2b(str(known).encode(), digest_size=32).digest(), "estimate")
    states = sample_states(known, stream)
    some = states[0]
    seat = some.seat if known.seat == SPECTATOR else known.seat
    cards = members(rules.legal(some)) if rules.to_act(some) == seat == known.seat else [RESIGNS]
    paid: dict[int, list[int]] = {card: [] for card in cards}
    for at, state in enumerate(states):
        if at % 20 == 0:
            progress(at, len(states), "games played out")
        seed = load_kernels().seeded(stream.below(1 << 62))
        for card in cards:
            then = state if card == RESIGNS else rules.apply(state, card)
            paid[card].append(load_kernels().rollout(then, seat, seed, MAX_ROLLOUT_STEPS))
    best = max(cards, key=lambda card: sum(paid[card]))
    mean = sum(paid[best]) / SAMPLES
    within = 1.96 * sqrt(max(sum(p * p for p in paid[best]) / SAMPLES - mean * mean, 1 / SAMPLES) / SAMPLES)
    choices = [Choice(card, frequencies(paid[card]), float(card == best)) for card in cards if card != RESIGNS]
    return Evaluation(seat, frequencies(paid[best]), tuple(choices), ESTIMATED, within / 2, HOW)


def sample_states(known: InformationSet, stream: RandomStream) -> list[State]:
    """Sample states that the seat holds possible, by their probability."""
    states, weights = list(known.belief.states), list(known.belief.states.values())
    return [states[stream.weighted(weights)] for _ in range(SAMPLES)]


def frequencies(paid: list[int]) -> Chances:
    won, lost = sum(p > 0 for p in paid), sum(p < 0 for p in paid)
    return Chances(won / len(paid), (len(paid) - won - lost) / len(paid), lost / len(paid))
