"""Attribution: where a seat's winning chance went, from the start to the result, in four independent columns.

A seat's chance is evaluated from its information set. Its account follows the view of the seat that knows more of
what happens next: its own for its own decisions and for chance that it sees; the opponent's for the opponent's
decisions and for cards that only the opponent sees. From that view a seat's chance is 1 less the opponent's.

- own losses, and others': the value of the best decision less that of the chosen one, to the seat that decided;
- luck: the value after chance acted less the mean over all outcomes, to the seat that saw it;
- revealed: the difference of the two values where the account changes its view; and, after a move that no perfect
  player makes, what the best decision is worth more than the equilibrium had promised.

They add up to the result if every choice is worth the position after it, and every chance node the mean of its
outcomes. docs/coach.md explains it; tests/analysis/coach/test_attribution.py checks it for every solver.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from piste.analysis.coach.evaluator import Evaluator, chance
from piste.analysis.coach.seat_timeline import SeatTimeline
from piste.core.evaluation import Evaluation, Progress, quiet
from piste.core.game import Game
from piste.core.position import Position
from piste.core.protocols import CHANCE, HIDDEN
from piste.core.steps import Resignation, Step, apply_step
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
    verdict: Evaluation
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


DecisionCallback = Callable[[Decision, tuple[tuple[float, ...], ...]], None]
"""Called with each decision as soon as it is evaluated, and each seat's chance at every step up to it."""


def ignore_decision(decision: Decision, chances: tuple[tuple[float, ...], ...]) -> None:
    """Do nothing with an evaluated decision."""


def game_states(table: Table) -> list[Any]:
    """Return every state of a finished game."""
    game, origin = table.game, table.view().origin
    states = [Position.parse(origin).state if origin else game.rules.start(table.options)]
    for step in table.history():
        states.append(apply_step(game.rules, states[-1], step))
    return states


def has_decisions(table: Table) -> bool:
    """Say whether a seat had a choice in a finished game, or resigned: else there is nothing to evaluate."""
    rules = table.game.rules
    return any(
        isinstance(step, Resignation) or (rules.to_act(state) != CHANCE and rules.legal(state).bit_count() > 1)
        for state, step in zip(game_states(table), table.history(), strict=False)
    )


def attribute(
    table: Table, evaluator: Evaluator, progress: Progress = quiet, tell: DecisionCallback = ignore_decision
) -> Attribution:
    """Evaluate every step of a finished game of two seats."""
    states, history = game_states(table), table.history()
    timelines = [SeatTimeline(table.game, table.view(seat), evaluator) for seat in range(table.seats)]
    accounts = [_Account(seat, timelines) for seat in range(table.seats)]
    decisions, chances, known, within = [], [], dict[str, None](), 0.0
    for at, step in enumerate(history):
        progress(at, len(history), "judging")
        verdicts = [timeline.evaluate() for timeline in timelines]
        chances.append(tuple(map(chance, verdicts)))
        known |= dict.fromkeys(verdict.known for verdict in verdicts)
        within = max(within, *(verdict.within for verdict in verdicts))
        state = states[at]
        actor = step.seat if isinstance(step, Resignation) else table.game.rules.to_act(state)
        if actor == CHANCE:
            assert isinstance(step, int)
            _chance(table.game, state, step, timelines, accounts, evaluator)
            continue
        decision = evaluate_decision(at, actor, step, verdicts[actor], timelines[actor].view(state))
        decisions.append(decision)
        tell(decision, tuple(chances))
        for account in accounts:
            account.add_decision(decision)
        for timeline in timelines:
            timeline.advance()
    chances.append(tuple(chance(timeline.evaluate()) for timeline in timelines))
    return Attribution(
        tuple(decisions), tuple(chances), tuple(account.columns() for account in accounts), tuple(known), within
    )


def evaluate_decision(at: int, seat: int, step: Step, verdict: Evaluation, view: SeatView) -> Decision:
    """Return one decision, evaluated from its seat's view; a resignation is worth 0."""
    values = {choice.action: (1 + choice.chances.value) / 2 for choice in verdict.choices}
    best = verdict.best.action if values else RESIGNATION
    before = values[best] if values else chance(verdict)
    if isinstance(step, Resignation):
        return Decision(at, seat, RESIGNATION, before, 0.0, 0.0, best, verdict, view)
    if not values:  # the same whatever is chosen
        values, best = {step: before}, step
    return Decision(at, seat, step, before, values[step], min(values.values()), best, verdict, view)


def _chance(
    game: Game, state: Any, step: int, timelines: list[SeatTimeline], accounts: list[_Account], evaluator: Evaluator
) -> None:
    """Let chance act, and add what it was worth to the seat that saw the outcome."""
    sees = [game.rules.tell(state, step, timeline.seat).what != HIDDEN for timeline in timelines]
    viewers = [account.seat if sees[account.seat] or not any(sees) else sees.index(True) for account in accounts]
    for account, viewer in zip(accounts, viewers, strict=True):
        account.switch_viewer(viewer)
    mean = {}
    for viewer in set(viewers):
        timeline = timelines[viewer]
        mean[viewer] = timeline.expected() if evaluator.evaluates_outcomes else chance(timeline.evaluate())
    for timeline in timelines:
        timeline.advance()
    for account, viewer in zip(accounts, viewers, strict=True):
        account.luck += account.sign * (chance(timelines[viewer].evaluate()) - mean[viewer])


class _Account:
    """The columns of one seat so far."""

    def __init__(self, seat: int, timelines: list[SeatTimeline]) -> None:
        self.seat = seat
        self._timelines = timelines
        self._viewer = seat
        self._first = self._seen_by(seat)
        self.own = self.others = self.luck = self.revealed = 0.0

    @property
    def sign(self) -> int:
        """1 if the viewer is the seat itself, -1 if it is the opponent."""
        return 1 if self._viewer == self.seat else -1

    def _seen_by(self, viewer: int) -> float:
        """Return the seat's chance from a viewer's view."""
        value = chance(self._timelines[viewer].evaluate())
        return value if viewer == self.seat else 1 - value

    def switch_viewer(self, viewer: int) -> None:
        """Continue the account from another view."""
        if viewer != self._viewer:
            self.revealed += self._seen_by(viewer) - self._seen_by(self._viewer)
            self._viewer = viewer

    def add_decision(self, decision: Decision) -> None:
        self.switch_viewer(decision.seat)
        self.revealed += self.sign * (decision.before - chance(decision.verdict))
        if decision.seat == self.seat:
            self.own -= decision.before - decision.after
        else:
            self.others += decision.before - decision.after

    def columns(self) -> Columns:
        self.switch_viewer(self.seat)
        result = self._seen_by(self.seat)
        return Columns(self.seat, self._first, self.own, self.others, self.luck, self.revealed, result)
