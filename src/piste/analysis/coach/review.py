"""The review of a finished game: the cost of every decision, the columns of each seat, and the JSON document."""

from __future__ import annotations

from time import perf_counter, process_time
from typing import Any, NamedTuple, cast

from piste.analysis.coach import labels as naming
from piste.analysis.coach import sampled_attribution
from piste.analysis.coach.attribution import (
    RESIGNATION,
    Attribution,
    Columns,
    Decision,
    DecisionCallback,
    attribute,
    has_decisions,
    ignore_decision,
)
from piste.analysis.coach.evaluator import SamplingEvaluator, chance, evaluator_of
from piste.analysis.coach.labels import Labels
from piste.analysis.coach.timeline import Evaluations
from piste.core.errors import PisteError
from piste.core.evaluation import ESTIMATED, EXACT, PROVEN, WITHIN, Progress, Unit, quiet
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
    """The coach's evaluation of a finished game."""

    game: Game
    options: Any
    names: tuple[str, ...]  # who sat where
    ending: Ending
    attribution: Attribution
    labels: Labels
    seconds: float  # on the clock
    cpu: float  # and of work

    @property
    def exact(self) -> bool:
        """Whether every value is computed or proven."""
        return all(word in (EXACT, PROVEN) for word in self.attribution.known)

    @property
    def unit(self) -> Unit:
        """What its values are told as."""
        return Unit.of(next((d.evaluation.payoff for d in self.attribution.decisions), None))

    def decisions(self, seat: int | None = None) -> list[Decision]:
        """Return the decisions of a seat, or all of them, without those that had no choice."""
        return [d for d in self.attribution.decisions if seat in (None, d.seat) and naming.is_choice(d)]

    def label(self, decision: Decision) -> str:
        return naming.label(decision, self.labels)

    def accuracy(self, seat: int) -> float | None:
        return naming.accuracy(self.decisions(seat))

    def spelled(self, decision: Decision, action: int) -> str:
        """Return a decision's short name."""
        if action == RESIGNATION:
            return "resign"
        return self.game.notation.spell(decision.view.position, action)[0]

    def told(self, decision: Decision, other: int | None = None) -> str:
        """Return what was decided, or another choice: with its card, or its kind where the name does not say it."""
        action = decision.action if other is None else other
        return "resign" if action == RESIGNATION else self.game.told(decision.view, action)

    def why(self, decision: Decision, action: int) -> str:
        """Return one sentence on what a decision is worth there, in the game's words."""
        if action == RESIGNATION:
            left = self.unit.value(decision.before) if self.unit.largest else f"{100 * decision.before:.0f} %"
            return f"resigning gives up what was left, {left}"
        explain = self.game.explain
        return "" if explain is None else str(explain.why(decision.view, decision.evaluation, action))

    def is_won(self, decision: Decision) -> bool:
        """Say whether a decision made sure of the win: by ending the game, or by a value known that closely."""
        ends = decision.step + 2 == len(self.attribution.chances) and self.ending.winner == decision.seat
        return ends or (decision.after >= 1 - naming.CERTAINTY and decision.evaluation.within <= naming.CERTAINTY)


def empty_review(record: Record, labels: Labels | None = None) -> tuple[Review, Table]:
    """Return a review with nothing evaluated yet, and the table; refuse a running game: its record is secret."""
    table, _ = replay(record)
    ending = table.ending()
    if ending is None:
        raise PisteError(RUNNING)
    nothing = Attribution((), (), (), (), 0.0)
    game, seats = record.head.game, record.head.seats
    return Review(game, table.options, seats, ending, nothing, labels or Labels(), 0.0, 0.0), table


def review_without_decisions(record: Record) -> Review | None:
    """Return the review of a game without decisions, which needs no solver; None for other games."""
    review, table = empty_review(record)
    return None if has_decisions(table) else review


def review(
    record: Record, labels: Labels | None = None, progress: Progress = quiet,
    tell: DecisionCallback = ignore_decision, evaluations: Evaluations | None = None,
) -> Review:  # fmt: skip
    """Evaluate a finished game and pass each decision on as soon as it is evaluated; refuse a running game.

    `evaluations` are those that are there already, of the same game; the others are added to them.
    """
    empty, table = empty_review(record, labels)
    if not has_decisions(table):
        return empty
    clock, worked = perf_counter(), process_time()
    evaluator = evaluator_of(record.head.game, table.options, progress)
    is_sampled = isinstance(evaluator, SamplingEvaluator)
    attribution = (sampled_attribution.attribute if is_sampled else attribute)(
        table, cast("Any", evaluator), progress, tell, evaluations
    )
    return empty._replace(attribution=attribution, seconds=perf_counter() - clock, cpu=process_time() - worked)


def document(review: Review, seats: tuple[int, ...]) -> dict[str, Any]:
    """Return a review as JSON data, for these seats only."""
    game = review.game
    return {
        "version": VERSION,
        "game": game.name,
        "options": game.option_texts(review.options),
        "seats": [{"seat": game.seat_name(seat), "name": name} for seat, name in enumerate(review.names)],
        "ending": review.ending.reason,
        "winner": None if review.ending.winner is None else game.seat_name(review.ending.winner),
        "known": list(review.attribution.known),
        "exact": review.exact,
        "within": review.attribution.within,
        **({} if review.unit.largest is None else {"largest_payoff": review.unit.largest}),
        "labels": dict(zip(naming.NAMES, review.labels, strict=True)),
        "columns": [
            columns_document(review, column) for column in review.attribution.columns if column.seat in seats
        ],
        "decisions": [
            decision_document(review, decision) for decision in review.decisions() if decision.seat in seats
        ],
        "chances": [
            {"step": step, **{game.seat_name(seat): chances[seat] for seat in seats}}
            for step, chances in enumerate(review.attribution.chances)
        ],
        "time": review.seconds,
        "cpu": review.cpu,
    }


def columns_document(review: Review, column: Columns) -> dict[str, Any]:
    return {
        **column._asdict(),
        "seat": review.game.seat_name(column.seat),
        "left": column.left,
        "accuracy": review.accuracy(column.seat),
        "decisions": len(review.decisions(column.seat)),
    }


def decision_document(review: Review, decision: Decision) -> dict[str, Any]:
    return {
        "step": decision.step,
        "seat": review.game.seat_name(decision.seat),
        "kind": "resign" if decision.action == RESIGNATION else review.game.kind_name(decision.view.kind),
        "decision": review.spelled(decision, decision.action),
        "told": review.told(decision),
        "before": decision.before,
        "after": decision.after,
        "best": review.spelled(decision, decision.best),
        "loss": decision.loss,
        "known": decision.evaluation.known,
        "within": decision.evaluation.within,
        "margin": naming.margin_of(decision),
        "clear": naming.is_clear(decision),
        "label": review.label(decision) or None,
        "why": review.why(decision, decision.action),
        "best_why": review.why(decision, decision.best),
        "choices": [
            {"decision": review.spelled(decision, choice.action), "chance": chance(choice), "mix": choice.mix}
            for choice in decision.evaluation.choices
        ],
    }


def certainty(review: Review) -> str:
    """Return how the numbers of a review are known, in a sentence."""
    words, off = review.attribution.known, review.unit.bound(review.attribution.within)
    if not words:
        return NOTHING
    if review.exact:
        return "Every number is exact." if PROVEN not in words else "Every number is proven."
    if ESTIMATED not in words:
        return f"Every number is within {off}."
    some = "Some" if {EXACT, PROVEN, WITHIN} & set(words[:-1]) else "The"
    return f"{some} numbers are estimates: each loss has its margin beside it, which holds in 19 cases of 20."
