"""A vectorised environment: thousands of games stepped together by compiled kernels, with arrays in and out.

env = VectorEnv("prime-duel", 4096, seed=1)
seen = env.reset()
while training:
    actions = policy(seen.observations, seen.masks)
    seen = env.step(actions)  # seen.rewards, seen.ended
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from piste.core.extras import MANY, load
from piste.core.game import find
from piste.core.protocols import OVER

load(MANY)

import numpy as np
from numpy.typing import NDArray

from piste.compiled.compiler import learner_kernels
from piste.compiled.simulate import seed_number
from piste.compiled.vector_games import Batch, Integers
from piste.rl.encoder import Encoder, Floats, Mask, learner_options


class Seen(NamedTuple):
    """What stands after a step, a row for each game; the arrays are the same ones each time, written anew."""

    observations: Floats  # what the seat to act sees
    masks: Mask  # 1 for each decision open to it
    actors: Integers  # which seat that is
    rewards: Floats  # what the step brought each seat: nothing but at the end of a game
    ended: NDArray[np.bool_]  # whether the step ended a game; then all the rest is of the next game already
    truncated: NDArray[np.bool_]  # whether that was the turn limit


class VectorEnv(Batch):
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
        rules = find(game)
        given = learner_options(rules, options or {})
        self.games, self.encoder = games, Encoder(rules, given)
        super().__init__(
            learner_kernels(rules, given, compiled=True), rules, given, games, str(seed), threads,
            apart=games, columns=(self.encoder.size, self.encoder.actions), paid=np.float32,
        )  # fmt: skip
        rows = self._rows
        self._seen = Seen(rows.observations, rows.masks, rows.actors, rows.paid, rows.ended, rows.truncated)

    def reset(self, seed: int | str | None = None) -> Seen:
        """Begin all games anew, with another seed if one is given."""
        if seed is not None:
            self._seed = seed_number(str(seed))
        self._rows.numbers[:] = np.arange(self.games)
        self._rows.actors[:] = OVER
        self._advance(self._actions, begin=True)
        return self._seen

    def step(self, actions: NDArray[Any]) -> Seen:
        """Take one decision in each game; if one of them is not open, none is taken."""
        self._decide(actions)
        return self._seen
