"""A finished game reviewed: every decision with its price, the columns of each seat, and all of it as data."""

from __future__ import annotations

from time import perf_counter, process_time
from typing import Any, NamedTuple, cast

from piste.analysis.coach import labels as naming
from piste.analysis.coach import sampled_attribution
from piste.analysis.coach.attribution import RESIGNATION, Columns, Decision, Tell, Walk, has_decisions, unheard, walk
from piste.analysis.coach.evaluator import SamplingEvaluator, evaluator_of
from piste.analysis.coach.labels import Labels
from piste.core.errors import PisteError
from piste.core.evaluation import ESTIMATED, EXACT, PROVEN, WITHIN, Progress, quiet
from piste.core.game import Game
from piste.core.record import Record
from piste.core.replay import replay
from piste.core.table import Table
from piste.core.views import Ending

VERSION = 1  # of the JSON
RUNNING = (
    "That game is not over: a review would tell what is still secret. `piste resume` goes on with it, and it can be "
    "reviewed when it has ended."
)


NOTHING = "Nobody had anything to decide, so there is nothing to judge."


class Review(NamedTuple):
    """All that the coach has to say of a game."""

    game: Game
    options: Any
    names: tuple[str, ...]  # who sat where
    ending: Ending
    walk: Walk
    labels: Labels
    seconds: float  # on the clock
    cpu: float  # and of work

    @property
    def exact(self) -> bool:
        """Whether every value is computed or proven."""
        return all(word in (EXACT, PROVEN) for word in self.walk.known)

    def decisions(self, seat: int | None = None) -> list[Decision]:
        """Return the decisions of a seat, or all of them, without those that had no choice."""
        return [d for d in self.walk.decisions if seat in (None, d.seat) and naming.is_choice(d)]

    def label(self, decision: Decision) -> str:
        return naming.label(decision, self.labels)

    def accuracy(self, seat: int) -> float | None:
        return naming.accuracy(self.decisions(seat))

    def spelled(self, decision: Decision, action: int) -> str:
        """Return a decision's short name."""
        if action == RESIGNATION:
            return "resign"
        return self.game.notation.spell(decision.view.position, action)[0]

    def told(self, decision: Decision) -> str:
        """Return what was decided, with its kind where the name alone does not say it."""
        name = self.spelled(decision, decision.action)
        kind = "" if name.isalpha() else f"{self.game.kind_name(decision.view.kind)} "
        return f"{kind}{name}"

    def why(self, decision: Decision, action: int) -> str:
        """Return one sentence on what a decision is worth there, in the game's words."""
        if action == RESIGNATION:
            return f"resigning gives up what was left, {100 * decision.before:.0f} %"
        explain = self.game.explain
        return "" if explain is None else str(explain.why(decision.view, decision.verdict, action))


def begun(record: Record, labels: Labels | None = None) -> tuple[Review, Table]:
    """Return a review in which nothing is judged yet, and the table; a running game's record holds secrets."""
    table, _ = replay(record)
    ending = table.ending()
    if ending is None:
        raise PisteError(RUNNING)
    nothing = Walk((), (), (), (), 0.0)
    game, seats = record.head.game, record.head.seats
    return Review(game, table.options, seats, ending, nothing, labels or Labels(), 0.0, 0.0), table


def undecided(record: Record) -> Review | None:
    """Return the review of a game in which nobody had anything to decide; it needs no solver. None for others."""
    found, table = begun(record)
    return None if has_decisions(table) else found


def review(record: Record, labels: Labels | None = None, progress: Progress = quiet, tell: Tell = unheard) -> Review:
    """Judge a finished game, and tell each decision as soon as it is judged; a running game is refused."""
    empty, table = begun(record, labels)
    if not has_decisions(table):
        return empty
    clock, worked = perf_counter(), process_time()
    judge = evaluator_of(record.head.game, table.options, progress)
    judged = sampled_attribution.walk if isinstance(judge, SamplingEvaluator) else walk
    found = judged(table, cast("Any", judge), progress, tell)
    return empty._replace(walk=found, seconds=perf_counter() - clock, cpu=process_time() - worked)


def document(found: Review, seats: tuple[int, ...]) -> dict[str, Any]:
    """Return a review for machines; of these seats only."""
    game = found.game
    return {
        "version": VERSION,
        "game": game.name,
        "options": game.option_texts(found.options),
        "seats": [{"seat": game.seat_name(seat), "name": name} for seat, name in enumerate(found.names)],
        "ending": found.ending.reason,
        "winner": None if found.ending.winner is None else game.seat_name(found.ending.winner),
        "known": list(found.walk.known),
        "exact": found.exact,
        "within": found.walk.within,
        "labels": dict(zip(naming.NAMES, found.labels, strict=True)),
        "columns": [columns(found, column) for column in found.walk.columns if column.seat in seats],
        "decisions": [priced(found, decision) for decision in found.decisions() if decision.seat in seats],
        "chances": [
            {"step": step, **{game.seat_name(seat): chances[seat] for seat in seats}}
            for step, chances in enumerate(found.walk.chances)
        ],
        "time": found.seconds,
        "cpu": found.cpu,
    }


def columns(found: Review, column: Columns) -> dict[str, Any]:
    return {
        "seat": found.game.seat_name(column.seat),
        "first": column.first,
        "own": column.own,
        "others": column.others,
        "luck": column.luck,
        "revealed": column.revealed,
        "left": column.left,
        "result": column.result,
        "off": column.off,
        "rounds": column.rounds,
        "accuracy": found.accuracy(column.seat),
        "decisions": len(found.decisions(column.seat)),
    }


def priced(found: Review, decision: Decision) -> dict[str, Any]:
    return {
        "step": decision.step,
        "seat": found.game.seat_name(decision.seat),
        "kind": "resign" if decision.action == RESIGNATION else found.game.kind_name(decision.view.kind),
        "decision": found.spelled(decision, decision.action),
        "before": decision.before,
        "after": decision.after,
        "best": found.spelled(decision, decision.best),
        "loss": decision.loss,
        "known": decision.verdict.known,
        "within": decision.verdict.within,
        "margin": naming.unsure(decision),
        "clear": naming.is_clear(decision),
        "label": found.label(decision) or None,
        "why": found.why(decision, decision.action),
        "choices": [
            {"decision": found.spelled(decision, choice.action), "chance": (1 + choice.chances.value) / 2}
            | {"mix": choice.mix}
            for choice in decision.verdict.choices
        ],
    }


def certainty(found: Review) -> str:
    """Return how the numbers of a review are known, in a sentence."""
    words, off = found.walk.known, f"{100 * found.walk.within:.2g}"
    if not words:
        return NOTHING
    if found.exact:
        return "Every number is exact." if PROVEN not in words else "Every number is proven."
    if ESTIMATED not in words:
        return f"Every number is within {off} points."
    some = "Some" if {EXACT, PROVEN, WITHIN} & set(words[:-1]) else "The"
    return f"{some} numbers are estimates: each loss has its margin beside it, which holds in 19 cases of 20."
