"""Vectorised games: thousands of games in arrays, stepped together by compiled kernels."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

from piste.compiled.compiler import game_kernels
from piste.compiled.kernels import Rows
from piste.compiled.simulate import seed_number
from piste.core.errors import IllegalDecisionError, OptionError
from piste.core.extras import MANY, load
from piste.core.game import Game
from piste.core.protocols import OVER

load(MANY)

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]


class Batch:
    """Many games of one kind, side by side: what `VectorGames` and `VectorEnv` of `rl` have in common.

    `apart` is how far the number of a game is from that of the one that follows it by itself; 0 where none does.
    `columns` are how many numbers an observation and a mask have.
    """

    def __init__(
        self, space: Any, game: Game, options: Any, size: int, seed: str, threads: int,
        *, apart: int = 0, columns: tuple[int, int] = (0, 0), paid: Any = np.int64,
    ) -> None:  # fmt: skip
        if size < 1 or threads < 1:
            raise OptionError("There must be at least one game and one thread.")
        self.game, self.options, self.seats = game, options, game.rules.seats(options)
        self.steps = 0  # decisions and chance outcomes so far, of all games
        self._space, self._size, self._seed, self._apart = space, size, seed_number(seed), apart
        self._pool = ThreadPoolExecutor(threads - 1) if threads > 1 else None
        cuts = [size * i // threads for i in range(threads + 1)]
        self._parts = [(a, b) for a, b in pairwise(cuts) if a < b]
        self._actions: Integers = np.zeros(size, np.int64)
        self._rows = Rows(
            numbers=np.arange(size, dtype=np.int64),
            table=np.zeros((size, space.WIDTH), np.int64),
            generators=np.zeros((size, 2), np.int64),
            actors=np.full(size, OVER, np.int64),
            choices=np.zeros(size, np.int64),
            paid=np.zeros((size, self.seats), paid),
            ended=np.zeros(size, np.bool_),
            truncated=np.zeros(size, np.bool_),
            observations=np.zeros((size, columns[0]), np.float32),
            masks=np.zeros((size, columns[1]), np.int8),
        )
        self._advance(self._actions, begin=True)

    def pick(self) -> Integers:
        """Return a decision for each game, at random; the array is the same one each time, written anew."""
        self._each(self._space.pick, self._actions)
        return self._actions

    def state(self, i: int) -> Any:
        """Return the whole state of a game: for tests and analysis, not for players."""
        return game_kernels(self.game, compiled=False).unpacked(self.options, self._rows.table, i)

    def close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown()

    def _decide(self, actions: NDArray[Any]) -> None:
        """Apply one decision in each game that waits for one, and the chance after it; all of them or none."""
        if actions.shape != (self._size,):
            raise IllegalDecisionError(f"There must be one decision for each of the {self._size} games, in one row.")
        wrong = next((row for row in self._each(self._space.first_closed, actions) if row >= 0), None)
        if wrong is not None:
            raise IllegalDecisionError(
                f"In game {wrong}, {int(actions[wrong])} is not a decision that is open there; see its "
                f"{'mask' if self._rows.masks.size else 'choices'}."
            )
        self._advance(actions, begin=False)

    def _advance(self, actions: NDArray[Any], *, begin: bool) -> None:
        given = (self.options, self._seed, self._apart)
        self.steps += sum(self._each(self._space.advance, *given, after=(self._rows, actions, begin)))

    def _each(self, kernel: Any, *before: Any, after: tuple[Any, ...] | None = None) -> list[int]:
        """Run a kernel on each part of the games: the first here, the others in threads of their own."""
        calls = [(*before, *part, *(after or (self._rows,))) for part in self._parts]
        others = [self._pool.submit(kernel, *call) for call in calls[1:]] if self._pool else []
        return [kernel(*calls[0]), *(other.result() for other in others)]


class VectorGames(Batch):
    """Many games of one kind, side by side.

    `actors` says for each game which seat is to decide, or OVER; `choices` which decisions it has, as a set; `paid`
    what each seat has won or lost once the game is over. Game `i` first plays game number `i` of the seed, then, each
    time it is started anew, the game numbered `size` higher: for any number of threads the same games.

    `options` are those that `game.options` returns; `size` is how many games there are; `threads` share them.
    """

    def __init__(self, game: Game, options: Any, size: int, *, seed: str = "piste", threads: int = 1) -> None:
        super().__init__(game_kernels(game, compiled=True), game, options, size, seed, threads)
        self.size = size
        self.numbers: Integers = self._rows.numbers
        self.actors: Integers = self._rows.actors
        self.choices: Integers = self._rows.choices
        self.paid: Integers = self._rows.paid

    def step(self, actions: NDArray[Any]) -> None:
        """Apply one decision in each game that waits for one, and the chance after it; all of them or none."""
        self._decide(actions)

    def restart(self) -> Integers:
        """Start a new game wherever one is over, and return which were."""
        over = np.flatnonzero(self.actors < 0)
        self.numbers[over] += self.size
        self._advance(self._actions, begin=True)
        return over
