"""A pairing whose true result is known exactly: `random` against `steady` in Positive-Negative.

`steady` looks at the position alone there, and tosses a coin where two decisions are equally good. So the result is a
sum over all games that there can be.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from piste import bots
from piste.core.dealer import RandomStream
from piste.core.game import find, members
from piste.core.protocols import CHANCE, OVER
from piste.core.views import SeatView

GAME = "positive-negative"
OPTIONS: dict[str, int | str] = {"top": 4}
ENTRANTS = ("random", "steady")


class _EitherWay(RandomStream):
    """A stream whose one draw between two is what it is told; any other draw is refused."""

    def __init__(self, outcome: int) -> None:
        super().__init__(b"", "")
        self._outcome = outcome
        self.drawn = 0

    def below(self, n: int) -> int:
        self.drawn += 1
        assert (n, self.drawn) == (2, 1), "steady draws in another way than this sum knows"
        return self._outcome

    def _word(self) -> int:
        raise AssertionError("steady draws in another way than this sum knows")


def true_share() -> float:
    """Return the share of the points that `random` gets from both seats, a draw as half a point."""
    game = find(GAME)
    rules, steady, start = game.rules, bots.find("steady", game), game.rules.start(game.options(OPTIONS))

    @cache
    def decided(state: Any, actor: int) -> tuple[int, int]:
        """Return what `steady` decides, whichever of two its draw brings; it is shown no log to depend on."""
        names = game.decision_names(state)
        view = SeatView(
            GAME, state.options, actor, 0, rules.kind(state), rules.look(state, actor), tuple(names),
            tuple(names.values()), rules.look(start, actor), (), "", False, None,
        )  # fmt: skip
        return steady.choose(view, _EitherWay(0)), steady.choose(view, _EitherWay(1))

    @cache
    def value(state: Any, seat: int) -> float:
        """Return what `random` gets on average in this seat."""
        actor = rules.to_act(state)
        if actor == OVER:
            return float((rules.payoff(state, seat) + 1) / 2)
        if actor == CHANCE:
            weights = {outcome: rules.weight(state, outcome) for outcome in members(rules.outcomes(state))}
            return sum(w * value(rules.apply(state, one), seat) for one, w in weights.items()) / sum(weights.values())
        actions = game.decision_names(state).values() if actor == seat else decided(state, actor)
        return sum(value(rules.apply(state, action), seat) for action in actions) / len(actions)

    return sum(value(start, seat) for seat in (0, 1)) / 2
