"""Attribution: where a seat's winning chance went, from the start to the result, in four independent columns.

A seat's chance is evaluated from its information set. Its account follows the view of the seat that knows more of
what happens next: its own for its own decisions and for chance that it sees; the opponent's for the opponent's
decisions and for cards that only the opponent sees. From that view a seat's chance is 1 less the opponent's.

- own losses, and others': the value of the best decision less that of the chosen one, to the seat that decided;
- luck: the value after chance acted less the mean over all outcomes, to the seat that saw it;
- revealed: the difference of the two values where the account changes its view; what a seat learns by a decision of
  its own, such as the cards that are shown; and, after a move that no perfect player makes, what the best decision is
  worth more than the equilibrium had promised.

They add up to the result if every choice is worth the position after it, and every chance node the mean of its
outcomes. docs/coach.md explains it; tests/analysis/coach/test_attribution.py checks it for every solver.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from piste.analysis.coach.evaluator import Evaluator, chance
from piste.analysis.coach.timeline import Evaluations, Timeline, game_states
from piste.core.evaluation import Evaluation, Progress, quiet
from piste.core.protocols import CHANCE, HIDDEN
from piste.core.steps import Resignation, tell_step
from piste.core.table import Table
from piste.core.views import SeatView

RESIGNATION = -1
"""Stands for the action where a seat resigned."""


class Decision(NamedTuple):
    """One decision, evaluated by what its seat knew; chances are to win, a draw as half a win."""

    step: int  # of the game, chance included
    seat: int
    action: int  # or RESIGNATION
    before: float  # what the best decision is worth
    after: float  # what the chosen one is worth
    worst: float
    best: int  # the best decision; RESIGNATION if there was none to take
    evaluation: Evaluation
    view: SeatView

    @property
    def loss(self) -> float:
        return max(0.0, self.before - self.after)


class Columns(NamedTuple):
    """Where a seat's points went, from its first chance to the result; all of them chances to win."""

    seat: int
    first: float
    own: float
    others: float
    luck: float
    revealed: float
    result: float
    off: float = 0.0  # the error of the estimates together; 0.0 where nothing is sampled
    rounds: int = 0  # how many rounds were evaluated separately and added up; 0 for a whole match

    @property
    def left(self) -> float:
        """What the columns do not explain: only rounding where values are exact."""
        return self.result - self.first - self.own - self.others - self.luck - self.revealed


class Attribution(NamedTuple):
    """A whole game, evaluated."""

    decisions: tuple[Decision, ...]
    chances: tuple[tuple[float, ...], ...]  # at each step, each seat's chance from its own view
    columns: tuple[Columns, ...]
    known: tuple[str, ...]  # how values are known, each word once
    within: float  # the most that one of them may be off
    fair_luck: bool = False  # whether luck is nothing on average, whoever plays


DecisionCallback = Callable[[Decision, tuple[tuple[float, ...], ...]], None]
"""Called with each decision as soon as it is evaluated, and each seat's chance at every step up to it."""


def ignore_decision(decision: Decision, chances: tuple[tuple[float, ...], ...]) -> None:
    """Do nothing with an evaluated decision."""


def has_decisions(table: Table) -> bool:
    """Say whether a seat had a choice in a finished game, or resigned: else there is nothing to evaluate."""
    rules = table.game.rules
    return any(
        isinstance(step, Resignation) or (rules.to_act(state) != CHANCE and rules.legal(state).bit_count() > 1)
        for state, step in zip(game_states(table), table.history(), strict=False)
    )


def attribute(
    table: Table, evaluator: Evaluator, progress: Progress = quiet, tell: DecisionCallback = ignore_decision,
    evaluations: Evaluations | None = None,
) -> Attribution:  # fmt: skip
    """Evaluate every step of a finished game of two seats, except those that are given."""
    timeline = Timeline(table, evaluator, evaluations)
    decisions, chances, means = dict[int, Decision](), [], dict[tuple[int, int], float]()
    for at, actor in enumerate(timeline.actors):
        progress(at, len(timeline.actors), "judging")
        chances.append(tuple(timeline.chance(at, seat) for seat in timeline.seats))
        if actor == CHANCE:
            means |= {(at, seat): timeline.expected(at, seat) for seat in set(_viewers(timeline, at))}
        else:
            decisions[at] = evaluate_decision(timeline, at, actor)
            tell(decisions[at], tuple(chances))
    known = tuple(dict.fromkeys(evaluation.known for evaluation in timeline.evaluations.values()))
    within = max((evaluation.within for evaluation in timeline.evaluations.values()), default=0.0)
    chances.append(tuple(timeline.chance(len(timeline.actors), seat) for seat in timeline.seats))
    columns = tuple(_columns(seat, timeline, decisions, means) for seat in timeline.seats)
    # A mean over what a seat thinks possible is right against any player only if that is one state.
    fair = evaluator.evaluates_outcomes and all(len(timeline.known(*node).belief.states) == 1 for node in means)
    return Attribution(tuple(decisions.values()), tuple(chances), columns, known, within, fair)


def evaluate_decision(timeline: Timeline, at: int, seat: int) -> Decision:
    """Return one decision, evaluated from its seat's view; a resignation is worth 0, or what it pays."""
    step, evaluation, view = timeline.history[at], timeline.evaluate(at, seat), timeline.view(at, seat)
    values = {choice.action: chance(choice) for choice in evaluation.choices}
    best = evaluation.best.action if values else RESIGNATION
    before = values[best] if values else chance(evaluation)
    if isinstance(step, Resignation):
        paid = 0.0 if evaluation.payoff is None else timeline.chance(at + 1, seat)
        return Decision(at, seat, RESIGNATION, before, paid, min([paid, *values.values()]), best, evaluation, view)
    if not values:  # the same whatever is chosen
        values, best = {step: before}, step
    return Decision(at, seat, step, before, values[step], min(values.values()), best, evaluation, view)


def _viewers(timeline: Timeline, at: int) -> list[int]:
    """Return from whose view each seat's account follows a chance node: its own, unless only the opponent sees it."""
    state, step = timeline.states[at], timeline.history[at]
    sees = [tell_step(timeline.game.rules, state, step, seat).what != HIDDEN for seat in timeline.seats]
    return [seat if sees[seat] or not any(sees) else sees.index(True) for seat in timeline.seats]


def _columns(
    seat: int, timeline: Timeline, decisions: dict[int, Decision], means: dict[tuple[int, int], float]
) -> Columns:
    """Return the columns of a seat; `means` has what a chance node is worth to a viewer."""

    def seen_by(viewer: int, at: int) -> float:
        value = timeline.chance(at, viewer)
        return value if viewer == seat else 1 - value

    own = others = luck = revealed = 0.0
    last = seat
    for at, actor in enumerate(timeline.actors):
        viewer = _viewers(timeline, at)[seat] if actor == CHANCE else actor
        sign = 1 if viewer == seat else -1
        revealed += seen_by(viewer, at) - seen_by(last, at)
        last = viewer
        if actor == CHANCE:
            luck += sign * (timeline.chance(at + 1, viewer) - means[at, viewer])
            continue
        decision = decisions[at]
        revealed += sign * (decision.before - timeline.chance(at, viewer))
        if timeline.tells_more(at, viewer):
            revealed += sign * (timeline.chance(at + 1, viewer) - decision.after)
        if viewer == seat:
            own -= decision.before - decision.after
        else:
            others += decision.before - decision.after
    end = len(timeline.actors)
    revealed += seen_by(seat, end) - seen_by(last, end)
    return Columns(seat, seen_by(seat, 0), own, others, luck, revealed, seen_by(seat, end))
