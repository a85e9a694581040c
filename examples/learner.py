"""Train a small network with numpy alone, by play against itself, until it beats `steady`; then measure every level.

    python examples/learner.py [GAME] [GAMES]

The network sees what a seat sees and has one hidden layer. It answers with how likely each open decision is (a masked
softmax) and with what the seat can expect. It learns by policy gradient (REINFORCE): after a game every decision of a
seat becomes more likely if the seat got more than was expected, less likely if it got less. A thousand games are
stepped together, so that Positive-Negative is learned in seconds.
"""

from __future__ import annotations

import os
import sys
from time import process_time
from typing import NamedTuple

os.environ.setdefault("OMP_NUM_THREADS", "1")  # products this small gain nothing from a second thread

import numpy as np
from numpy.typing import NDArray

from piste import bots
from piste.analysis.arena.match import play_out
from piste.core.dealer import Dealer, RandomStream
from piste.core.evaluation import quiet
from piste.core.table import Table
from piste.core.views import SeatView
from piste.rl.encoder import Encoder
from piste.rl.vector_env import VectorEnv

Array = NDArray[np.float32]

GAMES, HIDDEN, RATE = 1024, 64, 0.005
BATCHES, ROUNDS = 400, 8
"""How many batches of games are played before the network is measured, and how often that is tried at most."""


class Batch(NamedTuple):
    """All decisions of some games, a row for each."""

    seen: Array
    masks: NDArray[np.int8]
    actions: NDArray[np.int64]
    results: Array  # what the seat that decided got in the end


class Network:
    """One hidden layer, then a score for each decision and, in the last column, what the seat can expect."""

    name = "learner"

    def __init__(self, encoder: Encoder, seed: int = 1) -> None:
        self.encoder, self.steps = encoder, 0
        first = np.random.default_rng(seed).normal(0, encoder.size**-0.5, (encoder.size, HIDDEN))
        shapes = ((HIDDEN,), (HIDDEN, encoder.actions + 1), (encoder.actions + 1,))
        self.weights = [first.astype(np.float32), *(np.zeros(shape, np.float32) for shape in shapes)]
        self.means, self.squares = ([np.zeros_like(w) for w in self.weights] for _ in range(2))

    def choose(self, view: SeatView, stream: RandomStream) -> int:  # noqa: ARG002
        """Take the likeliest decision: so the network plays as a bot."""
        seen, mask = self.encoder.encode(view.position), self.encoder.mask(view.actions)
        return int(self.answer(seen[None], mask[None])[1].argmax())

    def close(self) -> None:
        """End nothing: a bot has to have this."""

    def answer(self, seen: Array, masks: NDArray[np.int8]) -> tuple[Array, Array, Array]:
        """Return the hidden layer, how likely each decision is (a closed one never is), and what is expected."""
        first, first_bias, second, second_bias = self.weights
        hidden = np.maximum(seen @ first + first_bias, 0)
        scores = hidden @ second + second_bias
        likely = np.where(masks > 0, np.exp(scores[:, :-1] - scores[:, :-1].max(axis=1, keepdims=True)), 0)
        return hidden, likely / likely.sum(axis=1, keepdims=True), scores[:, -1]

    def learn(self, batch: Batch) -> None:
        """Make decisions that did better than expected more likely, and expectations better."""
        hidden, likely, expected = self.answer(batch.seen, batch.masks)
        rows = np.arange(len(expected))
        surprise = (batch.results - expected)[:, None] / len(rows)
        towards = np.concatenate([-likely, np.ones_like(surprise)], axis=1)
        towards[rows, batch.actions] += 1
        towards *= surprise  # in which direction each output has to go
        back = towards @ self.weights[2].T * (hidden > 0)
        gradients = (batch.seen.T @ back, back.sum(axis=0), hidden.T @ towards, towards.sum(axis=0))
        self.steps += 1
        for weights, mean, square, gradient in zip(self.weights, self.means, self.squares, gradients, strict=True):
            mean[:] += 0.1 * (gradient - mean)  # Adam
            square[:] += 0.001 * (gradient * gradient - square)
            unbiased = np.sqrt(square / (1 - 0.999**self.steps)) + 1e-6
            weights[:] += RATE * mean / (1 - 0.9**self.steps) / unbiased


def drawn(likely: Array, random: np.random.Generator) -> NDArray[np.int64]:
    """Draw a decision for each game; one that is not likely at all is never drawn."""
    sums = likely.cumsum(axis=1)
    at = random.random((len(likely), 1)) * sums[:, -1:]
    return np.asarray((sums <= at).sum(axis=1), np.int64)


def play_batch(env: VectorEnv, network: Network, random: np.random.Generator, seed: str) -> Batch:
    """Let the network play itself in many games at once; the first game of each row counts."""
    seen, running = env.reset(seed), np.ones(env.games, bool)
    results, steps, seats = np.zeros((env.games, env.seats), np.float32), [], []
    while running.any():
        observations, masks = seen.observations[running], seen.masks[running]
        actions = np.asarray(seen.masks.argmax(axis=1), np.int64)
        actions[running] = drawn(network.answer(observations, masks)[1], random)
        steps.append((observations, masks, actions[running]))
        seats.append((np.flatnonzero(running), seen.actors[running]))
        seen = env.step(actions)
        results[seen.ended & running] = seen.rewards[seen.ended & running]
        running &= ~seen.ended
    observations, masks, actions = (np.concatenate(part) for part in zip(*steps, strict=True))
    return Batch(observations, masks, actions, np.concatenate([results[games, seat] for games, seat in seats]))


def measure(env: VectorEnv, network: Network, level: str, games: int, seed: str) -> tuple[float, float]:
    """Return the share of the wins against a level, a draw as an equal part of one, and the half-width at 95 %.

    Each deal is played from every seat, and the interval is that of the mean over deals.
    """
    opponent = bots.find(level, env.game, env.options)
    bots.prepare(opponent, env.options, quiet)
    deals = np.zeros((games // env.seats, env.seats))
    for deal, own in np.ndindex(deals.shape):
        dealer = Dealer(f"{seed} {deal}")
        table = Table(env.game, env.options, dealer)
        play_out(table, dealer, [network if seat == own else opponent for seat in range(env.seats)])
        ending = table.ending()
        assert ending is not None
        deals[deal, own] = 1 / env.seats if ending.winner is None else ending.winner == own
    shares = deals.mean(axis=1)
    return float(shares.mean()), float(1.96 * shares.std(ddof=1) / len(shares) ** 0.5)


def run(name: str, games: int) -> None:
    """Train until the network beats `steady` over so many games, and print its share against each level."""
    env = VectorEnv(name, GAMES)
    network = Network(env.encoder)
    results = {}
    for number in range(ROUNDS):
        for batch in range(number * BATCHES, (number + 1) * BATCHES):
            network.learn(play_batch(env, network, np.random.default_rng(batch), f"train {batch}"))
        print(f"{name}: {(number + 1) * BATCHES * GAMES} games against itself, {process_time():.0f} s of CPU time")
        results["steady"] = measure(env, network, "steady", games, f"measure {number}")
        if results["steady"][0] - results["steady"][1] > 1 / env.seats:
            break
    for level in bots.playable(env.game, env.options)[0]:
        if level not in results:
            results[level] = measure(env, network, level, games // 20, "measure")
        share, half = results[level]
        print(f"against {level:8} {share:6.1%} +- {half:.1%} of {games if level == 'steady' else games // 20} games")
    print(f"{process_time():.0f} s of CPU time in all")


if __name__ == "__main__":
    name, games = (*sys.argv[1:], *("positive-negative", "20000")[len(sys.argv) - 1 :])
    run(name, int(games))
