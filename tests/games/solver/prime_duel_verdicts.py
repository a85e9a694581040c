"""Verdicts of Prime Duel by what is part of the package, against the full solution.

    python -m tests.games.solver.prime_duel_verdicts POSITIONS

solves the game (minutes, 4 GB, 12 GB on disk while it runs), asks for the verdicts, and prints how far they are off.
With a second word, the name of a file, it writes the positions with their true chances for the tests.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from piste.core.evaluation import ESTIMATED
from piste.core.game import find, members
from piste.core.position import Position
from piste.core.protocols import CHANCE, OVER
from piste.games.prime_duel import rules
from piste.games.prime_duel.rules import DECIDE, DISCARD, DRAW, KEEP, TOSS, Options, State
from piste.games.prime_duel.solver import solver
from piste.games.prime_duel.solver.kernels import Array
from piste.games.prime_duel.solver.score_pairs import DeckIndex, ScorePair, card_counts, successor
from piste.games.prime_duel.solver.value_sources import score_pair
from tests.games.solver.prime_duel_losses import kept_and_discarded, true_chances

GAME = find("prime-duel")


class Compared(NamedTuple):
    """A verdict: how far it and its choices are off at most, and what it says about that."""

    cards: int
    known: str
    off: float
    within: float
    cpu_seconds: float


def played_states(seed: str) -> Iterator[State]:
    """Yield states of games without end: one in eight, of players who keep primes or high cards, more or less."""
    chooser = random.Random(seed)
    while True:
        s = rules.start(Options(first=chooser.choice((1, 2))))
        blunders, likes_primes = chooser.choice((0.0, 0.1, 0.5)), chooser.random() < 0.7
        while rules.to_act(s) != OVER:
            if s.phase != TOSS and chooser.random() < 1 / 8:
                yield s
            if rules.to_act(s) == CHANCE:
                outcomes = members(rules.outcomes(s))
                action = chooser.choices(outcomes, [rules.weight(s, outcome) for outcome in outcomes])[0]
            else:
                after = s.scores[s.seat] + s.card + 1
                good = after == s.options.target or 2 * (s.card + 1) > s.options.top
                action = KEEP if good or (likes_primes and rules.is_prime(after)) else DISCARD
                action = chooser.choice((KEEP, DISCARD)) if chooser.random() < blunders else action
            s = rules.apply(s, action)


def true_values(states: list[State]) -> list[tuple[float, ...]]:
    """Return the mover's chances in each state by the full solution; after both decisions if there is one to take."""
    options = Options()
    decks = DeckIndex.of_whole_deck(options)
    wanted: dict[ScorePair, set[int]] = {}
    for s in states:
        after = successor(options, score_pair(s), s.card)[0] if s.phase == DECIDE else None
        for scores in (score_pair(s), after):
            if scores is not None:
                wanted.setdefault(scores, set()).add(decks.number(card_counts(options, s.deck)))
    known = true_chances(options, wanted)
    values: list[tuple[float, ...]] = []
    for s in states:
        scores, number = score_pair(s), decks.number(card_counts(options, s.deck))
        if s.phase == DECIDE:
            values.append(kept_and_discarded(options, scores, number, s.card, known))
        else:
            values.append((known[scores, number][0 if s.phase == DRAW else 1],))
    return values


def compare(s: State, values: tuple[float, ...]) -> Compared:
    began = time.process_time()
    verdict = solver.evaluation(s, s.seat, solver.select_source(s, solver.EVALUATION_WORK_FACTOR))
    seconds = time.process_time() - began
    ours = [choice.chances.win for choice in verdict.choices] or [verdict.chances.win]
    off = max(abs(a - b) for a, b in zip(ours, values, strict=True))
    off = max(off, abs(verdict.chances.win - max(values)))
    return Compared(sum(card_counts(s.options, s.deck)), verdict.known, off, verdict.within, seconds)


def summary(compared: list[Compared]) -> str:
    lines = []
    for known in sorted({each.known for each in compared}):
        some = [each for each in compared if each.known == known]
        off, within = (np.array([getattr(each, name) for each in some]) for name in ("off", "within"))
        seconds = np.array([each.cpu_seconds for each in some])
        lines.append(
            f"{known}: {len(some)} positions, off by {quantiles(off)} (median, 95 %, most), said to be within "
            f"{quantiles(within)}; {(off > within).sum()} off by more than they say; "
            f"{seconds.mean():.3f} CPU s on average, {seconds.max():.2f} at most"
        )
    return "\n".join(lines)


def quantiles(numbers: Array) -> str:
    return ", ".join(f"{number:.2g}" for number in np.quantile(numbers, (0.5, 0.95, 1)))


def main() -> None:
    states = [s for s, _ in zip(played_states("verdicts"), range(int(sys.argv[1])), strict=False)]
    values = true_values(states)
    if len(sys.argv) > 2:
        lines = [
            " ".join([str(Position(GAME, s)), "|", *map("{:.7f}".format, v)])
            for s, v in zip(states, values, strict=True)
        ]
        Path(sys.argv[2]).write_text("\n".join(lines) + "\n", encoding="utf-8")
    solver.prepare(Options())
    compared = [compare(s, v) for s, v in zip(states, values, strict=True)]
    print(summary(compared))
    estimated = [each for each in compared if each.known == ESTIMATED]
    print(f"the last third of each deck: {sum(each.cards <= 13 for each in estimated)} estimated")


if __name__ == "__main__":
    main()
