"""What bots of Prime Duel lose to perfect play, decision by decision, by the full solution.

A player who decides by some rule against a perfect one wins less often than a perfect player would: by the sum, over
the decisions of a game, of what each fell short of the best one, on average. So games are played and every decision
is noted; then the full solution is worked out once, and tells what each decision was worth.

    python -m tests.games.solver.prime_duel_losses GAMES
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np

from piste.core.dealer import Dealer, RandomStream, draw_outcome
from piste.core.game import find
from piste.core.protocols import CHANCE, OVER
from piste.core.views import SeatView
from piste.games.prime_duel import rules
from piste.games.prime_duel.bots import novice, steady, strong
from piste.games.prime_duel.rules import DECIDE, KEEP, Options, State
from piste.games.prime_duel.solver import solver, tablebase
from piste.games.prime_duel.solver.kernels import Array
from piste.games.prime_duel.solver.score_pairs import (
    DeckIndex,
    PairSolver,
    ScorePair,
    card_counts,
    solve_order,
    successor,
)
from piste.games.prime_duel.solver.tablebase import STEPS_IN_MEMORY, RowFile
from piste.games.prime_duel.solver.value_sources import WinLoss, load_kernels, score_pair

GAME = find("prime-duel")

Rule = Callable[[State, RandomStream], int]


class Noted(NamedTuple):
    """A decision: before it, the deck without the card in question."""

    game: int
    scores: ScorePair
    number: int  # of the deck
    card: int
    kept: bool


def by_view(choose: Callable[[SeatView, RandomStream], int]) -> Rule:
    """Return a bot's rule for states: everything that it may see is in its view."""

    def rule(s: State, stream: RandomStream) -> int:
        view = SeatView(
            GAME.name, s.options, s.seat, 0, DECIDE, rules.look(s, s.seat), ("keep", "discard"), (0, 1), None, (),
            "", True, None,
        )  # fmt: skip
        return choose(view, stream)

    return rule


RULES: dict[str, Rule] = {
    "novice": by_view(novice.choose),
    "steady": by_view(steady.choose),
    "strong": by_view(strong.choose),
    "perfect, without the full solution": lambda s, stream: solver.best_decision(
        solver.decisions(s, use_tablebase=False), stream
    ),
    "perfect, with the full solution": lambda s, stream: solver.best_decision(solver.decisions(s), stream),
}


def play(options: Options, rule: Rule, other: Rule, games: int, seed: str) -> tuple[list[Noted], int]:
    """Play games, the rule in either seat by turns; return its decisions and how many games it won."""
    decks, noted, won = DeckIndex.of_whole_deck(options), [], 0
    for game in range(games):
        dealer = Dealer(f"{seed} {game // 2}")  # each deal twice, once from each seat
        stream, deal = dealer.stream("bots"), dealer.stream("deal")
        s = rules.start(options._replace(first=1 + game // 2 % 2))
        while rules.to_act(s) != OVER:
            if rules.to_act(s) == CHANCE:
                s = rules.apply(s, draw_outcome(GAME, s, deal))
                continue
            action = (rule if s.seat == game % 2 else other)(s, stream)
            if s.seat == game % 2:
                number = decks.number(card_counts(options, s.deck))
                noted.append(Noted(game, score_pair(s), number, s.card, action == KEEP))
            s = rules.apply(s, action)
        won += s.winner == game % 2
    return noted, won


def true_chances(options: Options, wanted: Mapping[ScorePair, set[int]]) -> dict[tuple[ScorePair, int], WinLoss]:
    """Solve the whole game; return for pairs and numbers of decks the chances before a turn and a second card."""
    order, chances = solve_order(options), {}
    with TemporaryDirectory() as folder:
        file = RowFile(Path(folder) / "rows.bin")
        solver = PairSolver(
            load_kernels(), options, DeckIndex.of_whole_deck(options), order, keep=False, dtype=np.float32,
            storage=file,
        )  # fmt: skip

        def on_solved(scores: ScorePair, second: Array) -> None:
            for number in wanted.get(scores, ()):
                chances[scores, number] = float(solver.values(scores)[number]), float(second[number])

        for step in range(len(order)):
            solver.solve_step(step, on_solved)
            if step % STEPS_IN_MEMORY == 0:
                file.release()
    return chances


def kept_and_discarded(
    options: Options, scores: ScorePair, number: int, card: int, known: Mapping[tuple[ScorePair, int], WinLoss]
) -> tuple[float, float]:
    """Return the chances of a player who keeps a card, and who discards it."""
    after, passed = successor(options, scores, card)
    keep = 1.0 if after is None else known[after, number][0]
    return 1.0 - keep if passed else keep, known[scores, number][1]


def weigh(options: Options, noted: list[Noted]) -> Array:
    """Return how much each decision fell short of the better one."""
    wanted: dict[ScorePair, set[int]] = {}
    for note in noted:
        for scores in (note.scores, successor(options, note.scores, note.card)[0]):
            if scores is not None:
                wanted.setdefault(scores, set()).add(note.number)
    known, short = true_chances(options, wanted), []
    for note in noted:
        both = kept_and_discarded(options, note.scores, note.number, note.card, known)
        short.append(max(both) - both[0 if note.kept else 1])
    return np.array(short)


def measure(options: Options, games: int) -> dict[str, tuple[float, float, int]]:
    """Return for each rule its mean loss of a game, the half-width of the 95 % interval, and the games it won.

    The other player is as good as perfect: it has the full solution, or, against a rule that loses far more than it
    does, the model.
    """
    model = RULES["perfect, without the full solution"]
    best = RULES["perfect, with the full solution"] if tablebase.load(options) else model
    noted: list[Noted] = []
    parts = {}
    for name, rule in RULES.items():
        some, won = play(options, rule, best if name.startswith("perfect") else model, games, "losses")
        parts[name] = (len(noted), len(noted) + len(some), won)
        noted += some
    short = weigh(options, noted)
    return {
        name: (*losses(noted[begin:end], short[begin:end], games), won) for name, (begin, end, won) in parts.items()
    }


def losses(noted: list[Noted], short: Array, games: int) -> tuple[float, float]:
    """Return the mean loss of a game and the half-width of its 95 % interval."""
    each = np.zeros(games)
    np.add.at(each, [note.game for note in noted], short)
    return float(each.mean()), float(1.96 * each.std() / np.sqrt(games))


if __name__ == "__main__":
    number = int(sys.argv[1])
    for who, (loss, within, wins) in measure(Options(), number).items():
        print(f"{who}: loses {100 * loss:.4f} % ± {100 * within:.4f} % of a win per game; won {wins} of {number}")
