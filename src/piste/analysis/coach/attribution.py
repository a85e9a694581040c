"""The way from the first chance to the result, in four columns, each worked out on its own.

A seat's chance is judged by what it knows. The account of a seat is kept in the eyes of whoever knows more of what
happens next: in its own for its own decisions and for all that chance shows it; in the other's for the other's
decisions and for cards that only the other sees. In those eyes a seat's chance is what the other's leaves.

- own losses, and others': what the best decision was worth less what the chosen one was, to the one who decided;
- luck: what chance left less the mean of all that it could have left, to the one who saw it;
- revealed: how far the two differ at a moment where the account passes from one to the other; and, where somebody
  has played what a perfect player never plays, what the best decision is worth more now than the plan had promised.

So they add up to the result, if every choice is worth what stands after it, and every chance what it brings on
average. docs/coach.md says it at length; tests/analysis/coach/test_attribution.py holds the solvers to it.
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
"""Stands for the action where somebody resigned."""


class Decision(NamedTuple):
    """One decision as the one who took it could judge it; chances are to win, a draw as half a win."""

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
    off: float = 0.0  # by how much estimates may be off together; 0.0 where nothing is sampled
    rounds: int = 0  # how many rounds were judged by themselves and added up; 0 if it is the whole match

    @property
    def left(self) -> float:
        """What the columns leave open: nothing but rounding where values are exact."""
        return self.result - self.first - self.own - self.others - self.luck - self.revealed


class Walk(NamedTuple):
    """A whole game, judged."""

    decisions: tuple[Decision, ...]
    chances: tuple[tuple[float, ...], ...]  # at each moment, each seat's chance as that seat sees it
    columns: tuple[Columns, ...]
    known: tuple[str, ...]  # how values are known, each word once
    within: float  # the most that one of them may be off


Tell = Callable[[Decision, tuple[tuple[float, ...], ...]], None]
"""Told each decision as soon as it is judged, with each seat's chance at every moment up to it."""


def unheard(decision: Decision, chances: tuple[tuple[float, ...], ...]) -> None:
    """Do nothing with a decision that was judged."""


def states_of(table: Table) -> list[Any]:
    """Return every state of a finished game."""
    game, origin = table.game, table.view().origin
    states = [Position.parse(origin).state if origin else game.rules.start(table.options)]
    for step in table.history():
        states.append(apply_step(game.rules, states[-1], step))
    return states


def has_decisions(table: Table) -> bool:
    """Say whether anybody had a choice in a finished game, or resigned: without that nothing is to be judged."""
    rules = table.game.rules
    return any(
        isinstance(step, Resignation) or (rules.to_act(state) != CHANCE and rules.legal(state).bit_count() > 1)
        for state, step in zip(states_of(table), table.history(), strict=False)
    )


def walk(table: Table, judge: Evaluator, progress: Progress = quiet, tell: Tell = unheard) -> Walk:
    """Judge every moment of a finished game between two."""
    states, history = states_of(table), table.history()
    both = [SeatTimeline(table.game, table.view(seat), judge) for seat in range(table.seats)]
    accounts = [_Account(seat, both) for seat in range(table.seats)]
    decisions, chances, known, within = [], [], dict[str, None](), 0.0
    for at, step in enumerate(history):
        progress(at, len(history), "judging")
        verdicts = [eyes.evaluate() for eyes in both]
        chances.append(tuple(map(chance, verdicts)))
        known |= dict.fromkeys(verdict.known for verdict in verdicts)
        within = max(within, *(verdict.within for verdict in verdicts))
        state = states[at]
        actor = step.seat if isinstance(step, Resignation) else table.game.rules.to_act(state)
        if actor == CHANCE:
            assert isinstance(step, int)
            _chance(table.game, state, step, both, accounts, judge)
            continue
        found = decided(at, state, step, both[actor])
        decisions.append(found)
        tell(found, tuple(chances))
        for account in accounts:
            account.decision(found)
        for eyes in both:
            eyes.go_on()
    chances.append(tuple(chance(eyes.evaluate()) for eyes in both))
    return Walk(
        tuple(decisions), tuple(chances), tuple(account.columns() for account in accounts), tuple(known), within
    )


def decided(at: int, state: Any, step: Step, eyes: SeatTimeline) -> Decision:
    """Return one decision, judged by its owner; who resigns has thrown away whatever was left."""
    verdict, view = eyes.evaluate(), eyes.view(state)
    worths = {choice.action: (1 + choice.chances.value) / 2 for choice in verdict.choices}
    best = verdict.best.action if worths else RESIGNATION
    before = worths[best] if worths else chance(verdict)
    if isinstance(step, Resignation):
        return Decision(at, eyes.seat, RESIGNATION, before, 0.0, 0.0, best, verdict, view)
    if not worths:  # the same whatever is chosen
        worths, best = {step: before}, step
    return Decision(at, eyes.seat, step, before, worths[step], min(worths.values()), best, verdict, view)


def _chance(
    game: Game, state: Any, step: int, both: list[SeatTimeline], accounts: list[_Account], judge: Evaluator
) -> None:
    """Let chance act, and say what it was worth to whoever saw what it brought."""
    told = [game.rules.tell(state, step, eyes.seat).what != HIDDEN for eyes in both]
    viewers = [account.seat if told[account.seat] or not any(told) else told.index(True) for account in accounts]
    for account, viewer in zip(accounts, viewers, strict=True):
        account.look_from(viewer)
    mean = {}
    for viewer in set(viewers):
        eyes = both[viewer]
        mean[viewer] = eyes.expected() if judge.imagines else chance(eyes.evaluate())
    for eyes in both:
        eyes.go_on()
    for account, viewer in zip(accounts, viewers, strict=True):
        account.luck += account.sign * (chance(both[viewer].evaluate()) - mean[viewer])


class _Account:
    """What one seat's points went for, so far."""

    def __init__(self, seat: int, both: list[SeatTimeline]) -> None:
        self.seat = seat
        self._both = both
        self._viewer = seat
        self._first = self._seen_by(seat)
        self.own = self.others = self.luck = self.revealed = 0.0

    @property
    def sign(self) -> int:
        """Whether what is good in these eyes is good for the seat."""
        return 1 if self._viewer == self.seat else -1

    def _seen_by(self, viewer: int) -> float:
        """Return the seat's chance as somebody sees it now."""
        found = chance(self._both[viewer].evaluate())
        return found if viewer == self.seat else 1 - found

    def look_from(self, viewer: int) -> None:
        """Go on in somebody's eyes."""
        if viewer != self._viewer:
            self.revealed += self._seen_by(viewer) - self._seen_by(self._viewer)
            self._viewer = viewer

    def decision(self, found: Decision) -> None:
        self.look_from(found.seat)
        self.revealed += self.sign * (found.before - chance(found.verdict))
        if found.seat == self.seat:
            self.own -= found.before - found.after
        else:
            self.others += found.before - found.after

    def columns(self) -> Columns:
        self.look_from(self.seat)
        result = self._seen_by(self.seat)
        return Columns(self.seat, self._first, self.own, self.others, self.luck, self.revealed, result)
