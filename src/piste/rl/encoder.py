"""Observations as arrays: the same encoding for every adapter."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from piste.compiled.compiler import learner_kernels, observation_spec
from piste.core.errors import OptionError
from piste.core.game import Game
from piste.core.observation import indices

DEFAULT_TURN_LIMIT = 200
"""The turn limit unless one is given: a game between learners could otherwise be endless."""

Floats = NDArray[np.float32]
Mask = NDArray[np.int8]


def learner_options(game: Game, given: Mapping[str, int | str]) -> Any:
    """Return a game's options for learners, with a turn limit where the game can have one."""
    options = game.options(given)
    if "turns" in options._fields and options.turns == 0:
        if "turns" in given:
            raise OptionError("Learners need a turn limit: turns must be 1 or more.")
        return game.options({**given, "turns": DEFAULT_TURN_LIMIT})
    return options


class Encoder:
    """Encodes the views of a game by its observation layout."""

    def __init__(self, game: Game, options: Any) -> None:
        numbers = observation_spec(game)
        self.game, self.options, self.numbers = game, options, numbers
        self.actions = numbers.actions(options)
        entries = indices(numbers.LAYOUT, options)
        self.size = len(entries)
        self.low: Floats = np.array([index.low for index in entries], np.float32)
        self.high: Floats = np.array([index.high for index in entries], np.float32)
        # What `Stepper.observe` needs of the layout: the size of each part, and what its numbers are multiplied by.
        self.layout = (
            np.array([len(part.names(options)) for part in numbers.LAYOUT], np.int64),
            np.array([1 / part.unit(options) for part in numbers.LAYOUT], np.float64),
        )

    def encode(self, view: Any) -> Floats:
        """Return a seat's view (a game's View, as `SeatView.position` has it) as numbers."""
        line: Floats = np.zeros((1, self.size), np.float32)
        learner_kernels(self.game, self.options, compiled=False).encode(view, line, 0)
        return line.reshape(-1)

    def mask(self, actions: Iterable[int]) -> Mask:
        """Return the action mask: 1 for each legal action."""
        mask = np.zeros(self.actions, np.int8)
        mask[list(actions)] = 1
        return mask
