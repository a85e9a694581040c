"""Attribution with a sampling evaluator: only decisions and chance nodes are evaluated, and numbers are estimates.

Losses are those of the seat that decided, luck is what chance changed for the seat whose card it was. The rest of the
difference to the result counts as revealed, errors of the estimates included; among three and four players, where
only a seat's own chance is known, the others' losses are in it too.
"""

from __future__ import annotations

from math import hypot
from typing import Any, NamedTuple

from piste.analysis.coach.attribution import (
    Attribution,
    Columns,
    Decision,
    DecisionCallback,
    evaluate_decision,
    game_states,
    ignore_decision,
)
from piste.analysis.coach.evaluator import SamplingEvaluator, chance
from piste.analysis.coach.seat_timeline import view_at
from piste.core.evaluation import Evaluation, Progress, quiet
from piste.core.game import Game
from piste.core.protocols import CHANCE, SPECTATOR
from piste.core.steps import Resignation, Step
from piste.core.table import Table
from piste.core.views import SeatView


class _Node(NamedTuple):
    """A step of the game and the seat that it concerns: that decided, or whose card it was."""

    step: int
    seat: int


def attribute(
    table: Table, evaluator: SamplingEvaluator, progress: Progress = quiet, tell: DecisionCallback = ignore_decision
) -> Attribution:
    """Evaluate the decisions and the chance nodes of a finished game."""
    values = _Evaluations(table, evaluator)
    parts = evaluator.parts(values.states)
    decisions, chances = (
        [node for node in nodes if any(begin <= node.step < end for begin, end, _ in parts)]
        for nodes in _choice_nodes(table.game, values.states, table.history())
    )
    wanted: set[tuple[int, int]] = set(decisions)
    wanted |= {(step + after, seat) for step, seat in chances for after in (0, 1)}
    wanted |= {(begin, seat) for begin, _, _ in parts for seat in range(table.seats)}
    evaluator.set_budget(len(decisions), len(wanted - set(decisions)))
    evaluated: list[Decision] = []
    for done, (at, seat) in enumerate(sorted(wanted)):
        progress(done, len(wanted), "judging")
        values.evaluate(at, seat)
        if (at, seat) in decisions:
            evaluated.append(values.decision(at, seat))
            tell(evaluated[-1], values.chances(evaluated, parts)[: at + 1])
    columns = [_columns(table.seats, seat, values, parts, evaluated, chances) for seat in range(table.seats)]
    if table.seats == 2:  # a zero-sum account: the other side has the opposite signs
        columns[1] = _opposite(columns[0])
    evaluations = values.by_step.values()
    known = tuple(dict.fromkeys(evaluation.known for evaluation in evaluations))
    within = max((evaluation.within for evaluation in evaluations), default=0.0)
    return Attribution(tuple(evaluated), values.chances(evaluated, parts), tuple(columns), known, within)


def _choice_nodes(game: Game, states: list[Any], history: tuple[Step, ...]) -> tuple[list[_Node], list[_Node]]:
    """Return where a seat had a choice, and where chance had one."""
    decisions, chances = [], []
    for at, step in enumerate(history):
        actor = game.rules.to_act(states[at])
        if isinstance(step, Resignation):
            decisions.append(_Node(at, step.seat))
        elif actor == CHANCE:
            if game.rules.spread(states[at]) > 1:
                chances.append(_Node(at, game.rules.tell(states[at], step, SPECTATOR).seat))
        elif game.rules.legal(states[at]).bit_count() > 1:
            decisions.append(_Node(at, actor))
    return decisions, chances


class _Evaluations:
    """The evaluations of a game's steps by seat, each computed once."""

    def __init__(self, table: Table, evaluator: SamplingEvaluator) -> None:
        self.states = game_states(table)
        self.by_step: dict[tuple[int, int], Evaluation] = {}
        self._game, self._evaluator, self._history = table.game, evaluator, table.history()
        self._whole = [table.view(seat) for seat in range(table.seats)]

    def view(self, at: int, seat: int) -> SeatView:
        return view_at(self._game, self._whole[seat], self.states[at], at)

    def evaluate(self, at: int, seat: int) -> Evaluation:
        if (at, seat) not in self.by_step:
            step = self._history[at] if at < len(self._history) else None
            view = self.view(at, seat)
            action = step if isinstance(step, int) and step in view.actions else None
            self.by_step[at, seat] = self._evaluator.evaluate_view(view, action)
        return self.by_step[at, seat]

    def decision(self, at: int, seat: int) -> Decision:
        return evaluate_decision(at, seat, self._history[at], self.evaluate(at, seat), self.view(at, seat))

    def chances(self, decisions: list[Decision], parts: list[tuple[int, int, int]]) -> tuple[tuple[float, ...], ...]:
        """Return each seat's chance at each step, as it was last evaluated."""
        known = {place: chance(verdict) for place, verdict in self.by_step.items()}
        known |= {(decision.step + 1, decision.seat): decision.after for decision in decisions}
        seats = range(len(self._whole))
        known |= {(end, seat): float(seat == winner) for _, end, winner in parts for seat in seats}
        begin = parts[0][0] if parts else 0
        now = [known.get((begin, seat), 1 / len(seats)) for seat in seats]
        chances = []
        for at in range(len(self.states)):
            now = [known.get((at, seat), now[seat]) for seat in seats]
            chances.append(tuple(now))
        return tuple(chances)


def _columns(
    seats: int, seat: int, values: _Evaluations, parts: list[tuple[int, int, int]], decisions: list[Decision],
    chances: list[_Node],
) -> Columns:  # fmt: skip
    """Return one seat's columns: of a match of two, or of all rounds together."""
    first = sum(chance(values.evaluate(begin, seat)) for begin, _, _ in parts)
    result = sum(float(winner == seat) for _, _, winner in parts)
    own = -sum(d.loss for d in decisions if d.seat == seat)
    others = sum(d.loss for d in decisions if d.seat != seat) if seats == 2 else 0.0
    luck, off = 0.0, hypot(*(2 * d.verdict.within for d in decisions if seats == 2 or d.seat == seat))
    for step, whose in chances:
        if whose == seat or seats == 2:
            before, after = values.evaluate(step, whose), values.evaluate(step + 1, whose)
            luck += (1 if whose == seat else -1) * (chance(after) - chance(before))
            off = hypot(off, before.within, after.within)
    rest = result - first - own - others - luck
    if seats > 2:
        return Columns(seat, first, own, rest, luck, 0.0, result, off, len(parts))
    return Columns(seat, first, own, others, luck, rest, result, off)


def _opposite(columns: Columns) -> Columns:
    """Return the columns of the opponent in a game of two."""
    c = columns
    return Columns(1 - c.seat, 1 - c.first, -c.others, -c.own, -c.luck, -c.revealed, 1 - c.result, c.off)
