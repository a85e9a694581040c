"""A best response to a policy, exactly: what one seat can get at most against others whose play it knows.

The recursion goes over the information sets of the responding seat: the histories that it cannot tell apart, each
with the probability that chance and the policy of the others lead there. That takes every history of the game, so it
is for small forms of the games.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from piste.core.errors import IllegalDecisionError, PisteError
from piste.core.game import listed, members, quoted
from piste.core.position import Position
from piste.core.protocols import CHANCE, OVER
from piste.core.views import LogEntry, SeatView

MAX_HISTORIES = 200_000
MAX_STEPS = 300
"""How long a game may be: the recursion goes as deep."""

Log = tuple[LogEntry, ...]
Policy = Callable[[SeatView], Mapping[str, float]]
"""How often a seat takes each of its decisions, by name; it is given what the seat knows and nothing else."""


class BestResponse(NamedTuple):
    """What a seat gets on average by the best play against a policy, and that play."""

    seat: int
    value: float  # the expected payoff
    decisions: Mapping[Log, str]  # by the log of the seat, wherever the policy can lead

    def __repr__(self) -> str:
        return f"<BestResponse of seat {self.seat}: worth {self.value:g}, {len(self.decisions)} decisions>"

    def decide(self, view: SeatView) -> str:
        """Return the best decision of the seat with this view, of a table that began where the response did."""
        if view.log not in self.decisions:
            raise IllegalDecisionError(
                "There is no best response here: the seat has nothing to decide, the policy never leads here, or the "
                "table did not begin at the position that the response was computed for."
            )
        return self.decisions[view.log]


class _History(NamedTuple):
    """A state and what each seat was told on the way: histories that differ in neither are one."""

    state: Any
    logs: tuple[Log, ...]
    decisions: int


def best_response(position: Position | str, policy: Policy, seat: int) -> BestResponse:
    """Return the best play of a seat from a position that all know, if every other seat plays by the policy.

    >>> start = Position.start("positive-negative", {"top": 1})
    >>> best_response(start, lambda view: {name: 1 / len(view.decisions) for name in view.decisions}, seat=0).value
    1.0
    """
    start = Position.parse(position) if isinstance(position, str) else position
    seats = start.game.rules.seats(start.state.options)
    if not 0 <= seat < seats:
        raise PisteError(f"There is no seat {seat} here: seats are 0 to {seats - 1}.")
    search = _Search(start, policy, seat)
    value = search.value({_History(start.state, ((),) * seats, 0): 1.0})
    return BestResponse(seat, value, search.decisions)


class _Search:
    def __init__(self, start: Position, policy: Policy, seat: int) -> None:
        self.start, self.seat, self.rules = start, seat, start.game.rules
        self.decisions: dict[Log, str] = {}
        self._policy = policy
        self._shares: dict[tuple[int, Log], dict[int, float]] = {}
        self._histories = 0
        usual = start.state == self.rules.start(start.state.options)
        self._origin = "" if usual else str(start)

    def value(self, layer: dict[_History, float], depth: int = 0) -> float:
        """Return the most that the seat gets from histories it cannot tell apart, times their probability."""
        self._histories += len(layer)
        if self._histories > MAX_HISTORIES or depth > MAX_STEPS:
            raise PisteError(
                f"This game is too large for an exact best response: it has more than {MAX_HISTORIES} histories, or "
                f"games of more than {MAX_STEPS} steps. Choose a smaller form by its options, such as turns or top."
            )
        first = next(iter(layer))
        if self.rules.to_act(first.state) == self.seat:
            names = self.start.game.decision_names(first.state)
            values = {
                name: self._after([(history, action, p) for history, p in layer.items()], depth)
                for name, action in names.items()
            }
            best = max(values, key=lambda name: values[name])
            self.decisions[first.logs[self.seat]] = best
            return values[best]
        ended, steps = 0.0, []
        for history, p in layer.items():
            if self.rules.to_act(history.state) == OVER:
                ended += p * self.rules.payoff(history.state, self.seat)
            else:
                steps += [(history, action, p * share) for action, share in self._actions(history).items() if share]
        return ended + self._after(steps, depth)

    def _after(self, steps: list[tuple[_History, int, float]], depth: int) -> float:
        """Take steps, and go on with each set of histories that the seat cannot tell apart."""
        layers: dict[Log, dict[_History, float]] = {}
        for history, action, p in steps:
            state = self.rules.apply(history.state, action)
            logs = tuple(
                (*log, LogEntry(self.rules.tell(history.state, action, seat), self.rules.look(state, seat)))
                for seat, log in enumerate(history.logs)
            )
            decided = self.rules.to_act(history.state) != CHANCE
            after = _History(state, logs, history.decisions + decided)
            layer = layers.setdefault(logs[self.seat], {})
            layer[after] = layer.get(after, 0.0) + p
        total = 0.0
        for layer in layers.values():
            total += self.value(layer, depth + 1)
        return total

    def _actions(self, history: _History) -> dict[int, float]:
        """Return how likely each action is where chance or another seat is to act."""
        state, actor = history.state, self.rules.to_act(history.state)
        if actor == CHANCE:
            weights = {outcome: self.rules.weight(state, outcome) for outcome in members(self.rules.outcomes(state))}
            return {outcome: weight / sum(weights.values()) for outcome, weight in weights.items()}
        key = actor, history.logs[actor]
        if key not in self._shares:
            self._shares[key] = self._asked(history, actor)
        return self._shares[key]

    def _asked(self, history: _History, actor: int) -> dict[int, float]:
        game, state = self.start.game, history.state
        names = game.decision_names(state)
        shares = self._policy(
            SeatView(
                game.name, state.options, actor, history.decisions, self.rules.kind(state),
                self.rules.look(state, actor), tuple(names), tuple(names.values()),
                self.rules.look(self.start.state, actor), history.logs[actor], self._origin, False, None,
            )
        )  # fmt: skip
        if (
            not set(shares) <= set(names)
            or min(shares.values(), default=0.0) < 0
            or abs(sum(shares.values()) - 1) > 1e-6
        ):
            raise PisteError(
                f"The policy answered {quoted(dict(shares), 200)}: it gives each of {listed(list(names), 'and')} "
                "a probability, and they add up to 1."
            )
        return {names[name]: share for name, share in shares.items()}
