"""A vectorised environment: thousands of games stepped together by compiled kernels, with arrays in and out.

env = VectorEnv("prime-duel", 4096, seed=1)
seen = env.reset()
while training:
    actions = policy(seen.observations, seen.masks)
    seen = env.step(actions)  # seen.rewards, seen.ended
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any, NamedTuple

from piste.core.errors import IllegalDecisionError, OptionError
from piste.core.extras import MANY, load
from piste.core.game import find

load(MANY)

import numpy as np
from numpy.typing import NDArray

from piste.compiled.compiler import learner_kernels
from piste.compiled.simulate import seed_number
from piste.rl.encoder import Encoder, Floats, Mask, learner_options

Integers = NDArray[np.int64]


class Seen(NamedTuple):
    """What stands after a step, a row for each game; the arrays are the same ones each time, written anew."""

    observations: Floats  # what the seat to act sees
    masks: Mask  # 1 for each decision open to it
    actors: Integers  # which seat that is
    rewards: Floats  # what the step brought each seat: nothing but at the end of a game
    ended: NDArray[np.bool_]  # whether the step ended a game; then all the rest is of the next game already
    truncated: NDArray[np.bool_]  # whether that was the turn limit


class VectorEnv:
    """Many games side by side. Each waits for a decision; one that ends is followed by the next at once.

    Game `i` is game number `i` of the seed, then the one numbered `games` higher, and so on: the same games with any
    number of threads. Chance has been dealt up to the decision that is waited for.

    `games` is how many; `options` are the game's own, by name; `seed` is text or a whole number; `threads` is how
    many threads share the games.
    """

    def __init__(
        self,
        game: str,
        games: int,
        options: Mapping[str, int | str] | None = None,
        *,
        seed: int | str = 0,
        threads: int = 1,
    ) -> None:
        if games < 1 or threads < 1:
            raise OptionError("There must be at least one game and one thread.")
        self.game = find(game)
        self.options = learner_options(self.game, options or {})
        self.encoder = Encoder(self.game, self.options)
        self.games, self.seats = games, self.game.rules.seats(self.options)
        self._space = learner_kernels(self.game, self.options, compiled=True)
        self._pool = ThreadPoolExecutor(threads - 1) if threads > 1 else None
        cuts = [games * i // threads for i in range(threads + 1)]
        self._parts = [(a, b) for a, b in pairwise(cuts) if a < b]
        self._numbers: Integers = np.zeros(games, np.int64)
        self._choices: Integers = np.zeros(games, np.int64)
        self._table: Integers = np.zeros((games, self._space.WIDTH), np.int64)
        self._generators: Integers = np.zeros((games, 2), np.int64)
        self._picked: Integers = np.zeros(games, np.int64)
        self._ended: NDArray[np.int8] = np.zeros(games, np.int8)
        self._actors: Integers = np.zeros(games, np.int64)
        self._paid: Floats = np.zeros((games, self.seats), np.float32)
        self._observations: Floats = np.zeros((games, self.encoder.size), np.float32)
        self._masks: Mask = np.zeros((games, self.encoder.actions), np.int8)
        self._seed = seed
        self.steps = 0  # decisions and chance outcomes so far, of all games
        self.reset()

    def reset(self, seed: int | str | None = None) -> Seen:
        """Begin all games anew, with another seed if one is given."""
        if seed is not None:
            self._seed = seed
        self._number = seed_number(str(self._seed))
        self._numbers[:] = np.arange(self.games)
        self._paid[:] = 0
        self._ended[:] = 0
        self.steps += sum(self._each(self._space.open_all, *self._given, after=self._arrays))
        return self._seen()

    def step(self, actions: NDArray[Any]) -> Seen:
        """Take one decision in each game; if one of them is not open, none is taken."""
        if actions.shape != (self.games,):
            raise IllegalDecisionError(f"There must be one decision for each of the {self.games} games, in one row.")
        closed = self._each(self._space.first_closed, actions, after=(self._actors, self._choices))
        wrong = next((row for row in closed if row >= 0), None)
        if wrong is not None:
            raise IllegalDecisionError(
                f"In game {wrong}, {int(actions[wrong])} is not a decision that is open there; see its mask."
            )
        after = (*self._arrays, self._paid, self._ended)
        self.steps += sum(self._each(self._space.play, *self._given, actions, after=after))
        return self._seen()

    def pick(self) -> Integers:
        """Return a decision for each game, at random."""
        self._each(self._space.pick, self._picked, after=(self._generators, self._actors, self._choices))
        return self._picked

    def state(self, i: int) -> Any:
        """Return the whole state of a game: for tests and analysis, not for players."""
        return learner_kernels(self.game, self.options, compiled=False).unpacked(self.options, self._table, i)

    def close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown()

    @property
    def _given(self) -> tuple[Any, ...]:
        return (self.options, self._number, self.games)

    @property
    def _arrays(self) -> tuple[Any, ...]:
        return (
            self._numbers, self._table, self._generators, self._actors, self._choices,
            self._observations, self._masks,
        )  # fmt: skip

    def _seen(self) -> Seen:
        return Seen(self._observations, self._masks, self._actors, self._paid, self._ended > 0, self._ended > 1)

    def _each(self, kernel: Any, *before: Any, after: tuple[Any, ...]) -> list[int]:
        """Run a kernel on each part of the games: the first here, the others in threads of their own."""
        others = [self._pool.submit(kernel, *before, *part, *after) for part in self._parts[1:]] if self._pool else []
        return [kernel(*before, *self._parts[0], *after), *(other.result() for other in others)]
