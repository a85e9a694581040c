"""What a seat sees, as an array of numbers: the same one for every adapter."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from piste.compiled.compiler import learner_kernels, observation_spec
from piste.core.errors import OptionError
from piste.core.game import Game
from piste.core.observation import indices

TURNS = 200
"""The turn limit where nobody asks for one: a game between learners may otherwise go on for ever."""

Floats = NDArray[np.float32]
Mask = NDArray[np.int8]


def settled(game: Game, given: Mapping[str, int | str]) -> Any:
    """Return a game's options for learners: as given, with a turn limit where the game can have one."""
    options = game.options(given)
    if "turns" in options._fields and options.turns == 0:
        if "turns" in given:
            raise OptionError("Learners need a turn limit: turns must be 1 or more.")
        return game.options({**given, "turns": TURNS})
    return options


class Encoder:
    """Turns what a seat sees into numbers, by the game's own layout."""

    def __init__(self, game: Game, options: Any) -> None:
        numbers = observation_spec(game)
        self.game, self.options, self.numbers = game, options, numbers
        self.actions = numbers.actions(options)
        found = indices(numbers.LAYOUT, options)
        self.size = len(found)
        self.low: Floats = np.array([index.low for index in found], np.float32)
        self.high: Floats = np.array([index.high for index in found], np.float32)

    def encode(self, view: Any) -> Floats:
        """Return a seat's view (a game's View, as `SeatView.position` has it) as numbers."""
        line: Floats = np.zeros((1, self.size), np.float32)
        learner_kernels(self.game, self.options, compiled=False).encode(view, line, 0)
        return line.reshape(-1)

    def mask(self, actions: Iterable[int]) -> Mask:
        """Return 1 for each decision that is open, 0 for the others."""
        found = np.zeros(self.actions, np.int8)
        found[list(actions)] = 1
        return found
