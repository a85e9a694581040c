"""Attribution with a sampling evaluator: only decisions and chance nodes are evaluated, and numbers are estimates.

Losses are those of the seat that decided, luck is what chance changed for the seat whose card it was. The rest of the
difference to the result counts as revealed, errors of the estimates included; among three and four players, where
only a seat's own chance is known, the others' losses are in it too.
"""

from __future__ import annotations

from math import hypot

from piste.analysis.coach.attribution import (
    Attribution,
    Columns,
    Decision,
    DecisionCallback,
    evaluate_decision,
    ignore_decision,
)
from piste.analysis.coach.evaluator import SamplingEvaluator, chance
from piste.analysis.coach.timeline import Evaluations, Timeline
from piste.core.evaluation import Evaluation, Progress, quiet
from piste.core.protocols import CHANCE, SPECTATOR
from piste.core.steps import Resignation, tell_step
from piste.core.table import Table

Node = tuple[int, int]
"""A step of the game and the seat that it concerns: that decided, or whose card it was."""


def attribute(
    table: Table, evaluator: SamplingEvaluator, progress: Progress = quiet, tell: DecisionCallback = ignore_decision,
    evaluations: Evaluations | None = None,
) -> Attribution:  # fmt: skip
    """Evaluate the decisions and the chance nodes of a finished game, except those that are given."""
    timeline = _SampledTimeline(table, evaluator, evaluations)
    decisions, chances = timeline.choice_nodes()
    wanted = {*decisions, *((step + after, seat) for step, seat in chances for after in (0, 1))}
    wanted |= {(begin, seat) for begin, _, _ in timeline.parts for seat in timeline.seats}
    evaluator.set_budget(len(decisions), len(wanted - set(decisions)))
    evaluated: list[Decision] = []
    for done, (at, seat) in enumerate(sorted(wanted)):
        progress(done, len(wanted), "judging")
        timeline.evaluate(at, seat)
        if (at, seat) in decisions:
            evaluated.append(evaluate_decision(timeline, at, seat))
            tell(evaluated[-1], timeline.chances(evaluated)[: at + 1])
    columns = [_columns(seat, timeline, evaluated, chances) for seat in timeline.seats]
    if table.seats == 2:  # a zero-sum account: the other side has the opposite signs
        c = columns[0]
        columns[1] = Columns(1, 1 - c.first, -c.others, -c.own, -c.luck, -c.revealed, 1 - c.result, c.off)
    known = tuple(dict.fromkeys(evaluation.known for evaluation in timeline.evaluations.values()))
    within = max((evaluation.within for evaluation in timeline.evaluations.values()), default=0.0)
    return Attribution(tuple(evaluated), timeline.chances(evaluated), tuple(columns), known, within)


class _SampledTimeline(Timeline):
    """A game in parts that are evaluated separately, by samples of what each seat saw."""

    def __init__(self, table: Table, evaluator: SamplingEvaluator, evaluations: Evaluations | None) -> None:
        super().__init__(table, evaluator, evaluations)
        self.parts = evaluator.parts(self.states)
        self._sampler = evaluator

    def _compute(self, at: int, seat: int) -> Evaluation:
        step = self.history[at] if at < len(self.history) else None
        view = self.view(at, seat)
        return self._sampler.evaluate_view(view, step if isinstance(step, int) and step in view.actions else None)

    def choice_nodes(self) -> tuple[list[Node], list[Node]]:
        """Return where a seat had a choice, and where chance had one."""
        rules, decisions, chances = self.game.rules, [], []
        for at, (state, step, actor) in enumerate(zip(self.states, self.history, self.actors, strict=False)):
            if not any(begin <= at < end for begin, end, _ in self.parts):
                continue
            if actor == CHANCE:
                if rules.spread(state) > 1:
                    chances.append((at, tell_step(rules, state, step, SPECTATOR).seat))
            elif isinstance(step, Resignation) or rules.legal(state).bit_count() > 1:
                decisions.append((at, actor))
        return decisions, chances

    def chances(self, decisions: list[Decision]) -> tuple[tuple[float, ...], ...]:
        """Return each seat's chance at each step, as it was last evaluated."""
        known = {node: chance(evaluation) for node, evaluation in self.evaluations.items()}
        known |= {(decision.step + 1, decision.seat): decision.after for decision in decisions}
        known |= {(end, seat): results[seat] for _, end, results in self.parts for seat in self.seats}
        begin = self.parts[0][0] if self.parts else 0
        now = [known.get((begin, seat), 1 / len(self.seats)) for seat in self.seats]
        chances = []
        for at in range(len(self.states)):
            now = [known.get((at, seat), now[seat]) for seat in self.seats]
            chances.append(tuple(now))
        return tuple(chances)


def _columns(seat: int, timeline: _SampledTimeline, decisions: list[Decision], chances: list[Node]) -> Columns:
    """Return one seat's columns: of a match of two, or of all rounds together."""
    two = len(timeline.seats) == 2
    first = sum(timeline.chance(begin, seat) for begin, _, _ in timeline.parts)
    result = sum(results[seat] for _, _, results in timeline.parts)
    own = -sum(d.loss for d in decisions if d.seat == seat)
    others = sum(d.loss for d in decisions if d.seat != seat) if two else 0.0
    luck, off = 0.0, hypot(*(2 * d.evaluation.within for d in decisions if two or d.seat == seat))
    for step, whose in chances:
        if whose == seat or two:
            before, after = timeline.evaluate(step, whose), timeline.evaluate(step + 1, whose)
            luck += (1 if whose == seat else -1) * (chance(after) - chance(before))
            off = hypot(off, before.within, after.within)
    rest = result - first - own - others - luck
    if not two:
        return Columns(seat, first, own, rest, luck, 0.0, result, off, len(timeline.parts))
    return Columns(seat, first, own, others, luck, rest, result, off)
