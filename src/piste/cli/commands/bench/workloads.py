"""Random play as benchmarks measure it: every way to step a game, ours and those of other libraries.

Each function returns work: called with a size, it plays so much, and returns how many steps and games that was. A
step is a decision or a chance event where the caller applies both, else a decision with the chance that follows.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from random import Random
from typing import Any

from piste.cli.commands.bench.harness import Work
from piste.compiled.simulate import simulate
from piste.core.game import Game
from piste.core.protocols import CHANCE, OVER


def whole_games(play: Callable[[Callable[[], float]], int]) -> Work:
    """Return work that plays `size` games; `play` gets a source of random numbers and returns the steps of one."""
    random = Random(1).random

    def work(size: int) -> tuple[int, int]:
        return sum(play(random) for _ in range(size)), size

    return work


def simulated_games(game: Game, options: Any, *, compiled: bool, threads: int = 1) -> Work:
    """Return work that plays games in bulk, with the rules interpreted or compiled."""

    def work(size: int) -> tuple[int, int]:
        tally = simulate(game, options, size, threads=threads, compiled=compiled)
        return tally.steps, tally.games

    return work


def stepper_by_hand(game: Game) -> Work:
    """Return work that steps one game after the other by compiled calls, and picks each card and decision itself."""
    from piste.compiled.stepper import Stepper

    def play(random: Callable[[], float]) -> int:
        stepper, steps = Stepper(game), 0
        asked = stepper.asked
        while asked:
            if asked < 0:
                asked = stepper.draw(int(random() * -asked))
            else:
                for _ in range(int(random() * asked.bit_count())):
                    asked &= asked - 1
                asked = stepper.apply((asked & -asked).bit_length() - 1)
            steps += 1
        return steps

    return whole_games(play)


def rules_by_hand(game: Game) -> Work:
    """Return work that calls the rules' own functions, as the author of a solver would."""
    rules, options = game.rules, game.options()

    def play(random: Callable[[], float]) -> int:
        state, steps = rules.start(options), 0
        while (actor := rules.to_act(state)) != OVER:
            if actor == CHANCE:
                action = rules.drawn(state, int(random() * rules.spread(state)))
            else:
                choices = rules.legal(state)
                for _ in range(int(random() * choices.bit_count())):
                    choices &= choices - 1
                action = (choices & -choices).bit_length() - 1
            state = rules.apply(state, action)
            steps += 1
        return steps

    return whole_games(play)


def positions_by_number(game: Game) -> Work:
    """Return work that walks from position to position by the numbers of actions."""
    from piste.core.position import Position

    def play(random: Callable[[], float]) -> int:
        position, steps = Position.start(game.name), 0
        while actions := position.legal_actions():
            position = position.child(actions[int(random() * len(actions))])
            steps += 1
        return steps

    return whole_games(play)


def positions_by_name(game: Game) -> Work:
    """Return work that walks from position to position by the names of decisions and outcomes."""
    from piste.core.position import Position

    def play(random: Callable[[], float]) -> int:
        position, steps = Position.start(game.name), 0
        while (actor := position.to_act) is not None:
            names = list(position.outcomes() if actor == CHANCE else position.decisions())
            position = position.after(names[int(random() * len(names))])
            steps += 1
        return steps

    return whole_games(play)


def table_decisions(game: Game) -> Work:
    """Return work that decides at a table, which deals, and hands out views."""
    from piste.api import open_table

    def play(random: Callable[[], float]) -> int:
        table, steps = open_table(game.name, seed=str(random())), 0
        while (seat := table.to_act) is not None:
            actions = table.view(seat).actions
            table.decide(seat, actions[int(random() * len(actions))])
            steps += 1
        return steps

    return whole_games(play)


def openspiel_steps(name: str) -> Work:
    """Return work that plays a game that is registered with OpenSpiel, ours or another."""
    game = import_module("pyspiel").load_game(name)

    def play(random: Callable[[], float]) -> int:
        state, steps = game.new_initial_state(), 0
        while not state.is_terminal():
            if state.is_chance_node():
                action = drawn(state.chance_outcomes(), random())
            else:
                actions = state.legal_actions()
                action = actions[int(random() * len(actions))]
            state.apply_action(action)
            steps += 1
        return steps

    return whole_games(play)


def drawn(outcomes: list[tuple[int, float]], chance: float) -> int:
    """Return the outcome at a number from 0 to 1, along their probabilities."""
    for outcome, probability in outcomes:
        chance -= probability
        if chance <= 0:
            return outcome
    return outcomes[-1][0]


def pettingzoo_steps(env: Any) -> Work:
    """Return work that takes `size` decisions in a PettingZoo environment with action masks."""
    random = Random(1).random

    def work(size: int) -> tuple[int, int]:
        games = 1
        env.reset(seed=games)
        for _ in range(size):
            observation, _, terminated, truncated, _ = env.last()
            if terminated or truncated:
                games += 1
                env.reset(seed=games)
                observation = env.last()[0]
            actions = observation["action_mask"].nonzero()[0]
            env.step(actions[int(random() * len(actions))])
        return size, games

    return work


def batch_steps(game: Game, options: Any, games: int) -> Work:
    """Return work that steps a batch of games `size` times; decisions and chance events are counted."""
    from piste.compiled.vector_games import VectorGames

    batch = VectorGames(game, options, games, threads=1)

    def work(size: int) -> tuple[int, int]:
        before, ended = batch.steps, 0
        for _ in range(size):
            batch.step(batch.pick())
            ended += len(batch.restart())
        return batch.steps - before, ended

    return work


def vector_steps(name: str, games: int, threads: int = 1) -> Work:
    """Return work that steps a batch of games for learners `size` times; decisions are counted."""
    from piste.rl.vector_env import VectorEnv

    env = VectorEnv(name, games, threads=threads)

    def work(size: int) -> tuple[int, int]:
        ended = 0
        for _ in range(size):
            ended += int(env.step(env.pick()).ended.sum())
        return size * games, ended

    return work


def pgx_steps(name: str, games: int) -> Work:
    """Return work that plays `size` batches of games of pgx, each in one compiled call; decisions are counted."""
    jax: Any = import_module("jax")
    env = import_module("pgx").make(name)
    start, step = jax.vmap(env.init), jax.vmap(env.step)

    def running(batch: Any) -> Any:
        return ~(batch.terminated | batch.truncated)

    def decide(carried: tuple[Any, Any, Any]) -> tuple[Any, Any, Any]:
        batch, key, steps = carried
        key, used = jax.random.split(key)
        weights = jax.numpy.where(batch.legal_action_mask, 0.0, -jax.numpy.inf)
        actions = jax.random.categorical(used, weights, axis=-1)
        return step(batch, actions), key, steps + running(batch).sum()

    def play(key: Any) -> tuple[Any, Any]:
        key, used = jax.random.split(key)
        first = (start(jax.random.split(used, games)), key, jax.numpy.int32(0))
        _, key, steps = jax.lax.while_loop(lambda carried: running(carried[0]).any(), decide, first)
        return key, steps

    compiled = jax.jit(play)

    def work(size: int) -> tuple[int, int]:
        key, total = jax.random.PRNGKey(1), 0
        for _ in range(size):
            key, steps = compiled(key)
            total += int(steps)
        return total, size * games

    return work
