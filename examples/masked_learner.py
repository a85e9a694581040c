"""Train a small masked policy with numpy alone, by play against itself, and measure it against random play.

    python examples/masked_learner.py [GAME]

The policy is a softmax over a linear map of the observation in which closed decisions get no weight. It learns by
policy gradient (REINFORCE): when a game ends, every decision of the seat that won becomes more likely, every decision
of one that lost less so. Hundreds of games are stepped together, so a few seconds are enough.
"""

from __future__ import annotations

import sys
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from piste.rl.vector_env import Seen, VectorEnv

Array = NDArray[np.float32]

GAMES, STEPS, RATE = 512, 300, 2.0


class Policy(NamedTuple):
    """The weights of a linear softmax policy."""

    weights: Array

    def likely(self, x: Array, masks: NDArray[np.int8]) -> Array:
        """Return how likely each decision is; a closed one never is."""
        scores = np.where(masks > 0, x @ self.weights, -np.inf)
        found = np.exp(scores - scores.max(axis=1, keepdims=True))
        return np.asarray(found / found.sum(axis=1, keepdims=True))


def features(seen: Seen) -> Array:
    """Return the observations with a column of ones."""
    return np.concatenate([seen.observations, np.ones((len(seen.observations), 1), np.float32)], axis=1)


def drawn(likely: Array, random: np.random.Generator) -> NDArray[np.int64]:
    """Draw a decision for each game; one that is not likely at all is never drawn."""
    sums = likely.cumsum(axis=1)
    at = random.random((len(likely), 1)) * sums[:, -1:]
    return np.asarray((sums <= at).sum(axis=1), np.int64)


def train(game: str, seed: int = 1) -> Policy:
    """Learn by play against itself."""
    random = np.random.default_rng(seed)
    env = VectorEnv(game, GAMES, seed=seed)
    seen = env.reset()
    shape = (env.encoder.size + 1, env.encoder.actions)
    policy = Policy(np.zeros(shape, np.float32))
    rows = np.arange(GAMES)
    # For each game and seat: in which direction the weights would have to go to make its decisions more likely.
    traces = np.zeros((GAMES, env.seats, *shape), np.float32)
    for _ in range(STEPS):
        x, seats = features(seen), seen.actors.copy()
        likely = policy.likely(x, seen.masks)
        actions = drawn(likely, random)
        towards = -likely
        towards[rows, actions] += 1
        traces[rows, seats] += x[:, :, None] * towards[:, None, :]
        seen = env.step(actions)
        over = np.flatnonzero(seen.ended)
        if len(over):
            step = np.einsum("gs,gsij->ij", seen.rewards[over], traces[over]) / GAMES
            policy.weights[:] += RATE * step
            traces[over] = 0
    return policy


def measure(game: str, policy: Policy, games: int = 4096, seed: int = 2) -> tuple[float, float]:
    """Return how often the policy wins against random others, a seat at a time, and the half-width at 95 %."""
    random = np.random.default_rng(seed)
    results: list[float] = []
    for seat in range(VectorEnv(game, 1).seats):
        env = VectorEnv(game, games, seed=seed + seat)
        seen, open_games = env.reset(), np.ones(games, bool)
        while open_games.any():
            own = seen.actors == seat
            masks = seen.masks.astype(np.float32)
            likely = np.where(own[:, None], policy.likely(features(seen), seen.masks), masks)
            seen = env.step(drawn(likely, random))
            first = seen.ended & open_games  # the first game of each row counts, so that short ones do not count more
            results += list(seen.rewards[first, seat] > 0)
            open_games &= ~seen.ended
    share = float(np.mean(results))
    return share, 1.96 * (share * (1 - share) / len(results)) ** 0.5


if __name__ == "__main__":
    name = sys.argv[1] if len(sys.argv) > 1 else "positive-negative"
    share, within = measure(name, train(name))
    print(f"{name}: after {GAMES * STEPS} decisions it wins {share:.1%} +- {within:.1%} against random play")
