"""The same account where a moment costs time: only decisions and chance are judged, and numbers are estimates.

Losses are those of the one who decided, luck is what chance changed for the one whose card it was. What is left of
the way to the result is what was revealed, with all that the estimates leave open; among three and four players,
where only a seat's own chance is known, the others' losses are in it too.
"""

from __future__ import annotations

from math import hypot
from typing import Any, NamedTuple

from piste.analysis.coach.attribution import RESIGNATION, Columns, Decision, Tell, Walk, states_of, unheard
from piste.analysis.coach.evaluator import SamplingEvaluator, chance
from piste.analysis.coach.seat_timeline import view_at
from piste.core.evaluation import Evaluation, Progress, quiet
from piste.core.game import Game
from piste.core.protocols import CHANCE, SPECTATOR
from piste.core.steps import Resignation, Step
from piste.core.table import Table
from piste.core.views import SeatView


class _Chance(NamedTuple):
    """Something that chance did, to the one whose card it was."""

    step: int
    seat: int


def walk(table: Table, judge: SamplingEvaluator, progress: Progress = quiet, tell: Tell = unheard) -> Walk:
    """Judge the decisions and the chances of a finished game."""
    seen = _Seen(table, judge)
    parts = judge.parts(seen.states)
    decisions, chances = (
        [met for met in some if any(begin <= met.step < end for begin, end, _ in parts)]
        for some in _met(table.game, seen.states, table.history())
    )
    wanted: set[tuple[int, int]] = set(decisions)
    wanted |= {(step + after, seat) for step, seat in chances for after in (0, 1)}
    wanted |= {(begin, seat) for begin, _, _ in parts for seat in range(table.seats)}
    judge.share_out(len(decisions), len(wanted - set(decisions)))
    found: list[Decision] = []
    for done, (at, seat) in enumerate(sorted(wanted)):
        progress(done, len(wanted), "judging")
        seen.evaluate(at, seat)
        if (at, seat) in decisions:
            found.append(seen.decision(at, seat, table.history()[at]))
            tell(found[-1], seen.chances(found, parts)[: at + 1])
    columns = [_columns(table.seats, seat, seen, parts, found, chances) for seat in range(table.seats)]
    if table.seats == 2:  # one account, told from both sides
        columns[1] = _turned(columns[0])
    verdicts = seen.found.values()
    known = tuple(dict.fromkeys(verdict.known for verdict in verdicts))
    within = max((verdict.within for verdict in verdicts), default=0.0)
    return Walk(tuple(found), seen.chances(found, parts), tuple(columns), known, within)


def _met(game: Game, states: list[Any], history: tuple[Step, ...]) -> tuple[list[_Chance], list[_Chance]]:
    """Return where somebody had a choice, and where chance had one."""
    decisions, chances = [], []
    for at, step in enumerate(history):
        actor = game.rules.to_act(states[at])
        if isinstance(step, Resignation):
            decisions.append(_Chance(at, step.seat))
        elif actor == CHANCE:
            if game.rules.spread(states[at]) > 1:
                chances.append(_Chance(at, game.rules.tell(states[at], step, SPECTATOR).seat))
        elif game.rules.legal(states[at]).bit_count() > 1:
            decisions.append(_Chance(at, actor))
    return decisions, chances


class _Seen:
    """What the moments of a game were worth, each worked out once."""

    def __init__(self, table: Table, judge: SamplingEvaluator) -> None:
        self.states = states_of(table)
        self.found: dict[tuple[int, int], Evaluation] = {}
        self._game, self._judge, self._history = table.game, judge, table.history()
        self._whole = [table.view(seat) for seat in range(table.seats)]

    def view(self, at: int, seat: int) -> SeatView:
        return view_at(self._game, self._whole[seat], self.states[at], at)

    def evaluate(self, at: int, seat: int) -> Evaluation:
        if (at, seat) not in self.found:
            step = self._history[at] if at < len(self._history) else None
            view = self.view(at, seat)
            action = step if isinstance(step, int) and step in view.actions else None
            self.found[at, seat] = self._judge.verdict_of(view, action)
        return self.found[at, seat]

    def decision(self, at: int, seat: int, step: Step) -> Decision:
        verdict, view = self.evaluate(at, seat), self.view(at, seat)
        worths = {choice.action: (1 + choice.chances.value) / 2 for choice in verdict.choices}
        best = verdict.best.action if worths else RESIGNATION
        before = worths[best] if worths else chance(verdict)
        if isinstance(step, Resignation):
            return Decision(at, seat, RESIGNATION, before, 0.0, 0.0, best, verdict, view)
        return Decision(at, seat, step, before, worths[step], min(worths.values()), best, verdict, view)

    def chances(self, decisions: list[Decision], parts: list[tuple[int, int, int]]) -> tuple[tuple[float, ...], ...]:
        """Return each seat's chance at each moment, as it was last judged."""
        known = {place: chance(verdict) for place, verdict in self.found.items()}
        known |= {(decision.step + 1, decision.seat): decision.after for decision in decisions}
        seats = range(len(self._whole))
        known |= {(end, seat): float(seat == winner) for _, end, winner in parts for seat in seats}
        now = (
            [known.get((parts[0][0], seat), 1 / len(seats)) for seat in seats]
            if parts
            else [1 / len(seats)] * len(seats)
        )
        found = []
        for at in range(len(self.states)):
            now = [known.get((at, seat), now[seat]) for seat in seats]
            found.append(tuple(now))
        return tuple(found)


def _columns(
    seats: int, seat: int, seen: _Seen, parts: list[tuple[int, int, int]], decisions: list[Decision],
    chances: list[_Chance],
) -> Columns:  # fmt: skip
    """Return one seat's account: of a match of two, or of all rounds together."""
    first = sum(chance(seen.evaluate(begin, seat)) for begin, _, _ in parts)
    result = sum(float(winner == seat) for _, _, winner in parts)
    own = -sum(d.loss for d in decisions if d.seat == seat)
    others = sum(d.loss for d in decisions if d.seat != seat) if seats == 2 else 0.0
    luck, off = 0.0, hypot(*(2 * d.verdict.within for d in decisions if seats == 2 or d.seat == seat))
    for step, whose in chances:
        if whose == seat or seats == 2:
            before, after = seen.evaluate(step, whose), seen.evaluate(step + 1, whose)
            luck += (1 if whose == seat else -1) * (chance(after) - chance(before))
            off = hypot(off, before.within, after.within)
    rest = result - first - own - others - luck
    if seats > 2:
        return Columns(seat, first, own, rest, luck, 0.0, result, off, len(parts))
    return Columns(seat, first, own, others, luck, rest, result, off)


def _turned(columns: Columns) -> Columns:
    """Return the other side of an account between two."""
    c = columns
    return Columns(1 - c.seat, 1 - c.first, -c.others, -c.own, -c.luck, -c.revealed, 1 - c.result, c.off)
