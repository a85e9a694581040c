"""Vectorised games: thousands of games in arrays, stepped together by compiled kernels."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from piste.compiled.compiler import game_kernels
from piste.compiled.simulate import seed_number
from piste.core.errors import IllegalDecisionError, OptionError
from piste.core.extras import MANY, load
from piste.core.game import Game

if TYPE_CHECKING:
    import numpy as np

    IntArray = np.ndarray[Any, np.dtype[np.int64]]


class VectorGames:
    """Many games of one kind, side by side.

    `actors` says for each game which seat is to decide, or OVER; `choices` which decisions it has, as a set; `paid`
    what each seat has won or lost once the game is over. Game `i` first plays game number `i` of the seed, then, each
    time it is started anew, the game numbered `size` higher: for any number of threads the same games.

    `options` are those that `game.options` returns; `size` is how many games there are; `threads` share them.
    """

    def __init__(self, game: Game, options: Any, size: int, *, seed: str = "piste", threads: int = 1) -> None:
        load(MANY)
        import numpy as np

        if size < 1 or threads < 1:
            raise OptionError("There must be at least one game and one thread.")
        self.game, self.options, self.size = game, options, size
        self.seats = game.rules.seats(options)
        self._space = game_kernels(game, compiled=True)
        self._seed = seed_number(seed)
        self._pool = ThreadPoolExecutor(threads) if threads > 1 else None
        cuts = [size * i // threads for i in range(threads + 1)]
        self._parts = [(a, b) for a, b in pairwise(cuts) if a < b]
        self.numbers: IntArray = np.arange(size, dtype=np.int64)
        self.actors: IntArray = np.zeros(size, np.int64)
        self.choices: IntArray = np.zeros(size, np.int64)
        self.paid: IntArray = np.zeros((size, self.seats), np.int64)
        self._table: IntArray = np.zeros((size, self._space.WIDTH), np.int64)
        self._generators: IntArray = np.zeros((size, 2), np.int64)
        self.steps = 0  # decisions and chance outcomes so far, of all games
        self._begin(np.arange(size, dtype=np.int64))

    def step(self, actions: IntArray) -> None:
        """Apply one decision in each game that waits for one, and the chance after it; all of them or none."""
        closed = self._each(self._space.first_closed, actions, after=(self.actors, self.choices))
        wrong = next((row for row in closed if row >= 0), None)
        if wrong is not None:
            raise IllegalDecisionError(
                f"In game {wrong}, {int(actions[wrong])} is not a decision that is open there."
            )
        self.steps += sum(self._each(self._space.step, self.options, actions, after=self._arrays))

    def pick(self) -> IntArray:
        """Return a decision for each game, at random."""
        import numpy as np

        actions = np.zeros(self.size, np.int64)
        self._each(self._space.pick, actions, after=(self._generators, self.actors, self.choices))
        return actions

    def restart(self) -> IntArray:
        """Start a new game wherever one is over, and return which were."""
        import numpy as np

        over = np.nonzero(self.actors < 0)[0]
        self.numbers[over] += self.size
        self._begin(over)
        return over

    def state(self, i: int) -> Any:
        """Return the whole state of a game: for tests and analysis, not for players."""
        return game_kernels(self.game, compiled=False).unpacked(self.options, self._table, i)

    def close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown()

    @property
    def _arrays(self) -> tuple[IntArray, ...]:
        return (self._table, self._generators, self.actors, self.choices, self.paid)

    def _begin(self, rows: IntArray) -> None:
        count = len(rows)
        cuts = [count * i // len(self._parts) for i in range(len(self._parts) + 1)]
        parts = list(pairwise(cuts))
        begin = self._space.begin
        args = (self.options, self._seed, self.numbers, rows)
        self.steps += sum(self._each(begin, *args, after=self._arrays, parts=parts))

    def _each(
        self, kernel: Any, *before: Any, after: tuple[Any, ...], parts: list[tuple[int, int]] | None = None
    ) -> list[int]:
        """Run a kernel on each part of the games, in as many threads as there are."""
        jobs = self._parts if parts is None else parts
        if self._pool is None:
            return [kernel(*before, *part, *after) for part in jobs]
        return list(self._pool.map(lambda part: kernel(*before, *part, *after), jobs))
