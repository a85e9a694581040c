"""What the payoffs of a game can be: whether chances to win say all of them, and how large they get."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from piste.core.evaluation import Chances, Payoff

Array = np.ndarray[Any, np.dtype[Any]]

MAX_ROUNDING = 1e-9
"""A bound below this, as a part of the largest payoff, is that of the machine's rounding: the value is exact."""


class Scale(NamedTuple):
    """What payoffs of a game can be."""

    largest: float  # either way; 1 if nothing is ever paid
    plain: bool  # whether a seat wins one amount, loses one or neither: chances say all then

    @classmethod
    def of(cls, payoffs: Array) -> Scale:
        """Return that of these payoffs, each of one seat."""
        sizes = np.unique(payoffs)
        plain = (sizes > 0).sum() <= 1 and (sizes < 0).sum() <= 1
        return cls(float(np.abs(sizes).max(initial=0)) or 1.0, bool(plain))

    def value(self, payoff: float) -> float:
        """Return a payoff from -1 to 1: as a part of the largest; where chances say all, a win is 1 and a loss -1."""
        return float((payoff > 0) - (payoff < 0)) if self.plain else payoff / self.largest

    def worth(self, worth: Array) -> tuple[Chances, Payoff | None]:
        """Return payoff, wins and losses as an evaluation has them, cleared of what rounding leaves."""
        payoff, win, loss = (float(number) for number in worth)
        win, loss = min(max(win, 0.0), 1.0), min(max(loss, 0.0), 1.0)
        draw = 1.0 - win - loss
        chances = Chances(win, draw if draw > MAX_ROUNDING else 0.0, loss)
        return chances, None if self.plain else Payoff(payoff, self.largest)
