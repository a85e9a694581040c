"""Thousands of games for learners: the same rules, layout and chance as everywhere, in arrays."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import piste
from piste.compiled.compiler import learner_kernels
from piste.compiled.simulate import seed_number
from piste.core.errors import IllegalDecisionError, OptionError
from piste.core.game import find, members, names
from piste.core.observation import indices
from piste.core.protocols import CHANCE, OVER
from piste.rl.encoder import DEFAULT_TURN_LIMIT, Encoder, learner_options
from piste.rl.vector_env import Seen, VectorEnv
from tests import sizes
from tests.game_setups import FULL, ODD, Kind, games
from tests.sizes import slow_if
from tools import layout_page

SHORT = {"zero-sum-grid": 12, "zero-sum-duel": 40, "prime-duel": 40}  # turn limits, so that some games are cut off


AGAIN: dict[str, int | str] = {"turns": 40}  # the same options as above, so that nothing is compiled twice


def kinds() -> list[Kind]:
    """Every game as it is played, and with a turn limit that random play meets."""
    found = [Kind(kind.game, {**kind.options, "turns": SHORT[kind.game]}) for kind in FULL if kind.game in SHORT]
    return found + [kind for kind in FULL if kind.game not in SHORT]


def copied(seen: Seen) -> list[Any]:
    return [array.copy() for array in seen]


def one_open(masks: Any, chooser: np.random.Generator) -> Any:
    """Return an open decision for each game."""
    return np.argmax(chooser.random(masks.shape) * masks, axis=1)


class Twin:
    """Game `row` of a Many, played with the interpreted rules from the same seed: state, chance and all."""

    def __init__(self, env: VectorEnv, seed: str, row: int) -> None:
        self.k = learner_kernels(env.game, env.options, compiled=False)
        self.seed, self.number, self.apart = seed_number(seed), row, env.games
        self.env = env
        self.begin()

    def begin(self) -> None:
        while True:
            self.history: list[int] = []  # of this game: decisions and outcomes
            self.state: Any = self.k.start(self.env.options)
            self.g = self.k.seeded(self.seed, self.number)
            self.chance()
            if self.k.to_act(self.state) != OVER:
                return
            self.number += self.apart

    def chance(self) -> None:
        while self.k.to_act(self.state) == CHANCE:
            self.g = self.k.next_state(self.g)
            self.do(self.k.picked_outcome(self.state, self.g))

    def do(self, action: int) -> None:
        self.history.append(action)
        self.state = self.k.apply(self.state, action)

    def step(self, action: int) -> tuple[list[int], bool, bool]:
        """Return what each seat is paid, whether the game ended, whether it was cut off."""
        self.do(action)
        self.chance()
        self.last = self.history
        paid = [self.k.payoff(self.state, seat) for seat in range(self.env.seats)]
        if self.k.to_act(self.state) != OVER:
            return paid, False, False
        cut = bool(self.env.encoder.numbers.cut(self.state))
        self.number += self.apart
        self.begin()
        return paid, True, cut


def compiles_long(kind: Kind) -> bool:
    """Say whether a kind is left to the whole run: compiling one takes 10 seconds and more."""
    return kind.game != "zero-sum-duel"


@pytest.mark.parametrize("kind", slow_if(compiles_long, kinds()), ids=str)
def test_many_games_are_the_interpreted_games_step_by_step(kind: Kind) -> None:
    env = VectorEnv(kind.game, 5, kind.options, seed="twin", threads=2)
    twins = [Twin(env, "twin", row) for row in range(5)]
    chooser = np.random.default_rng(3)
    seen, ended = env.reset(), 0
    for _ in range(games(120) if games(120) < 2000 else 2000):
        for row, twin in enumerate(twins):
            seat = twin.k.to_act(twin.state)
            assert seen.actors[row] == seat
            assert env.state(row) == twin.state
            assert (seen.observations[row] == env.encoder.encode(twin.k.look(twin.state, seat))).all()
            assert list(np.flatnonzero(seen.masks[row])) == members(twin.k.legal(twin.state))
        actions = one_open(seen.masks, chooser)
        seen = env.step(actions)
        for row, twin in enumerate(twins):
            paid, over, cut = twin.step(int(actions[row]))
            assert list(seen.rewards[row]) == paid
            assert (bool(seen.ended[row]), bool(seen.truncated[row])) == (over, cut)
        ended += int(seen.ended.sum())
    assert ended > 0
    env.close()


@pytest.mark.slow
def test_threads_and_another_start_change_no_game() -> None:
    found = []
    for threads in (1, 2, 3):
        env = VectorEnv("prime-duel", 50, AGAIN, seed=7, threads=threads)
        env.step(env.pick())
        seen = env.reset(7)
        chooser = np.random.default_rng(1)
        for _ in range(60):
            seen = env.step(one_open(seen.masks, chooser))
        found.append(copied(seen))
        env.close()
    for other in found[1:]:
        assert all((a == b).all() for a, b in zip(found[0], other, strict=True))
    other_seed = VectorEnv("prime-duel", 50, AGAIN, seed=8).reset()
    assert (other_seed.observations != VectorEnv("prime-duel", 50, AGAIN, seed=7).reset().observations).any()


def test_a_decision_that_is_not_open_is_refused_and_nothing_moves() -> None:
    env = VectorEnv("zero-sum-duel", 6, AGAIN, seed=1)
    seen = env.reset()
    before, states = copied(seen), [env.state(row) for row in range(6)]
    actions = one_open(seen.masks, np.random.default_rng(1))
    actions[4] = int(np.flatnonzero(seen.masks[4] == 0)[0])
    with pytest.raises(IllegalDecisionError, match="In game 4"):
        env.step(actions)
    with pytest.raises(IllegalDecisionError, match="one decision for each of the 6"):
        env.step(actions[:3])
    actions[4] = 99
    with pytest.raises(IllegalDecisionError, match="99 is not a decision"):
        env.step(actions)
    assert states == [env.state(row) for row in range(6)]
    assert all((a == b).all() for a, b in zip(before, seen, strict=True))


@pytest.mark.parametrize(("number", "threads"), [(0, 1), (1, 0)])
def test_no_games_and_no_threads_get_a_sentence(number: int, threads: int) -> None:
    with pytest.raises(OptionError, match="at least one"):
        VectorEnv("prime-duel", number, threads=threads)


def test_learners_have_a_turn_limit_and_cannot_do_without() -> None:
    assert learner_options(find("prime-duel"), {}).turns == DEFAULT_TURN_LIMIT
    assert learner_options(find("prime-duel"), {"turns": 9}).turns == 9
    assert learner_options(find("positive-negative"), {}) == find("positive-negative").options()
    with pytest.raises(OptionError, match="turn limit"):
        learner_options(find("prime-duel"), {"turns": 0})


@pytest.mark.parametrize("kind", [*FULL, *ODD], ids=str)
def test_what_a_seat_sees_is_the_same_in_numbers_compiled_and_not_and_keeps_its_bounds(kind: Kind) -> None:
    game = find(kind.game)
    options = learner_options(game, kind.options)
    encoder = Encoder(game, options)
    assert len({(index.part.name, index.name) for index in indices(encoder.numbers.LAYOUT, options)}) == encoder.size
    compile_it = kind in FULL and not (sizes.quick and compiles_long(kind))  # it takes a while
    compiled = learner_kernels(game, options, compiled=True) if compile_it else None
    given: dict[str, int | str] = dict(game.option_texts(options))
    table = piste.open_table(kind.game, given, seed="numbers")
    chooser, decisions = random.Random(4), 0
    while (seat := table.to_act) is not None:
        for viewer in range(game.rules.seats(options)):
            view = table.view(viewer)
            line = encoder.encode(view.position)
            assert (line >= encoder.low).all(), kind
            assert (line <= encoder.high).all(), kind
            assert (encoder.mask(view.actions).sum() > 0) == (viewer == seat)
            if compiled is not None:
                fast = np.full((1, encoder.size), 9, np.float32)
                compiled.encode(view.position, fast, 0)
                assert (fast[0] == line).all()
        table.decide(seat, chooser.choice(table.view(seat).actions))
        decisions += 1
    chance = len(table.history()) - decisions
    assert decisions <= encoder.numbers.longest(options)[0]
    assert chance <= encoder.numbers.longest(options)[1]
    assert (encoder.encode(table.view(0).position) <= encoder.high).all()


@pytest.mark.parametrize("name", names())
def test_two_views_that_differ_have_different_numbers(name: str) -> None:
    """Nothing that a seat sees while it decides is lost."""
    game = find(name)
    options = learner_options(game, {"turns": 20} if "turns" in game.rules.Options._fields else {})
    encoder = Encoder(game, options)
    found: dict[tuple[int, bytes], Any] = {}
    for seed in range(25):
        table = piste.open_table(name, dict(game.option_texts(options)), seed=f"apart {seed}")
        chooser = random.Random(seed)
        while (seat := table.to_act) is not None:
            view = table.view(seat).position
            line = encoder.encode(view).tobytes()
            known = found.setdefault((seat, line), view)
            assert known == view
            table.decide(seat, chooser.choice(table.view(seat).actions))


def test_the_layout_page_is_what_the_games_say() -> None:
    assert layout_page.PAGE.read_text(encoding="utf-8") == layout_page.page()
