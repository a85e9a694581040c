"""PettingZoo's own suite on every game and every number of players, and what it does not ask."""

from __future__ import annotations

import copy
import importlib
import os
import pickle
import random
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pettingzoo
import pytest
from pettingzoo.test import api_test, performance_benchmark, render_test, seed_test

import piste
import piste.rl.pettingzoo as adapter
from piste.core.errors import OptionError
from piste.core.game import find, names
from piste.rl.encoder import Encoder, learner_options
from piste.rl.episode import MAX_SKIPPED_GAMES
from tests import ROOT
from tests.game_setups import Kind, games
from tests.rl.rl_setups import KINDS, SECRETS, picked, play, retold, seen, split

every_kind = pytest.mark.parametrize("kind", KINDS, ids=str)


def made(kind: Kind, **more: Any) -> Any:
    return adapter.env(kind.game, **kind.options, **more)


# PettingZoo's suite. Its api_test warns twice about every observation that is a Dict; all other warnings are errors.


@pytest.mark.filterwarnings("ignore:Observation is not a NumPy array:UserWarning")
@pytest.mark.filterwarnings("ignore:Observation space for each agent probably should be:UserWarning")
@every_kind
def test_pettingzoos_api_test_passes_on_what_its_registry_makes(kind: Kind) -> None:
    for _ in range(games(0) // 100 + 3):
        api_test(
            pettingzoo.make("aec", f"piste/{kind.game}-v0", **kind.options), num_cycles=1000, verbose_progress=False
        )


@every_kind
def test_pettingzoos_seed_test_passes(kind: Kind) -> None:
    seed_test(lambda: made(kind), num_cycles=500)


@every_kind
def test_pettingzoos_render_test_passes(kind: Kind, capsys: pytest.CaptureFixture[str]) -> None:
    shows = {"ansi": lambda text: "can take" in text or "The game is over" in text}
    render_test(lambda render_mode: made(kind, render_mode=render_mode), shows)
    assert "player_0" in capsys.readouterr().out


if "PISTE_GAMES" in os.environ:  # only in a proof: it takes five seconds for each game, and only prints

    @every_kind
    def test_pettingzoos_benchmark_runs(kind: Kind, capsys: pytest.CaptureFixture[str]) -> None:
        performance_benchmark(made(kind))
        assert "turns per second" in capsys.readouterr().out


# How an environment is had


@pytest.mark.parametrize("name", names())
def test_every_game_is_registered_and_importable_by_its_name(name: str) -> None:
    attribute = name.replace("-", "_")
    assert pettingzoo.spec("aec", f"piste/{name}").id == f"piste/{name}-v0"
    env = pettingzoo.make("aec", f"piste/{name}-v0")
    assert env.metadata == {
        "name": f"{attribute}_v0",
        "render_modes": ["human", "ansi"],
        "is_parallelizable": False,
    }
    maker = getattr(adapter, attribute)
    assert attribute in dir(adapter)
    assert attribute in repr(maker)
    assert str(maker.raw_env()) == str(maker.env()) == str(maker()) == f"{attribute}_v0"
    assert maker.raw_env().unwrapped is not maker.env()


def test_importing_twice_registers_once() -> None:
    importlib.reload(adapter)  # a second registration would warn
    with pytest.raises(AttributeError):
        adapter.no_such_game  # noqa: B018


def test_importing_the_adapter_loads_no_game() -> None:
    code = (
        "import sys, piste.rl.pettingzoo, piste.rl.gymnasium\n"
        "print([name for name in sys.modules if name.startswith('piste.games.')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("missing", ["pettingzoo", "gymnasium", "numpy"])
def test_without_the_extra_there_is_a_sentence_with_the_command(missing: str) -> None:
    code = (
        f"import sys; sys.modules[{missing!r}] = None\n"
        "try:\n    import piste.rl.pettingzoo\n"
        "except Exception as e:\n    print(type(e).__name__, e)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("MissingExtraError PettingZoo needs")
    assert "pip install 'piste[rl]'" in done.stdout


def test_a_game_that_is_new_in_the_tree_appears_by_itself(tmp_path: Path) -> None:
    room = tmp_path / "sixth_duel"
    shutil.copytree(Path(piste.__file__).parent / "games" / "prime_duel", room)
    for file in room.glob("*.py"):
        text = file.read_text(encoding="utf-8").replace("piste.games.prime_duel", "piste.games.sixth_duel")
        file.write_text(text, encoding="utf-8")
    code = (
        f"import piste.games; piste.games.__path__.append({str(tmp_path)!r})\n"
        "import gymnasium, pettingzoo, piste.rl.gymnasium, piste.rl.pettingzoo\n"
        "env = pettingzoo.make('aec', 'piste/sixth-duel-v0'); env.reset(seed=1); env.step(0)\n"
        "print(env, env.agent_selection)\n"
        "print(gymnasium.make('piste/SixthDuel-v0').reset(seed=1)[0]['action_mask'])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[0] in ("sixth_duel_v0 player_0", "sixth_duel_v0 player_1")
    assert done.stdout.splitlines()[1] == "[1 1]"


def test_the_example_plays_every_game() -> None:
    command = [sys.executable, "-W", "error", str(ROOT / "examples" / "random_pettingzoo.py"), "3"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    assert len(lines) == len(names())
    assert all(name in line and "3 games" in line for name, line in zip(names(), lines, strict=True))


# What an agent sees


@every_kind
def test_the_same_seed_is_the_same_game_as_at_a_table(kind: Kind) -> None:
    """Step by step: who acts, what each seat sees, what is open, and what it pays at the end."""
    game = find(kind.game)
    options = learner_options(game, kind.options)
    encoder = Encoder(game, options)
    compared = 0
    for seed in range(games(0) // 500 + 4):
        env = made(kind)
        env.reset(seed=seed)
        if env.unwrapped.skipped:
            continue
        compared += 1
        table = piste.open_table(kind.game, game.option_texts(options), seed=str(seed))
        chooser = random.Random(seed)
        while (actor := table.to_act) is not None:
            assert env.agent_selection == f"player_{actor}"
            for seat, agent in enumerate(env.possible_agents):
                found, view = env.observe(agent), table.view(seat)
                assert np.array_equal(found["observation"], encoder.encode(view.position))
                assert found["action_mask"].nonzero()[0].tolist() == list(view.actions)
                assert found["action_mask"].any() == (seat == actor)
                assert env.infos[agent] == {}
                assert env.rewards[agent] == 0
            action = picked(env.observe(env.agent_selection)["action_mask"], chooser)
            env.step(action)
            table.decide(actor, action)
        ending = table.ending()
        assert ending is not None
        assert env.rewards == {f"player_{seat}": pay for seat, pay in enumerate(ending.payoffs)}
    assert compared > 0


def test_games_that_end_before_anybody_decides_are_passed_over() -> None:
    env = adapter.env("zero-sum-duel")
    skipped = []
    for seed in range(30):
        env.reset(seed=seed)
        skipped.append(env.unwrapped.skipped)
        assert not any(env.terminations.values())
        assert env.last()[0]["action_mask"].any()
        ended = [
            piste.open_table("zero-sum-duel", seed=text).to_act is None for text in (f"{seed}", f"{seed} game 2")
        ]
        assert ended[: skipped[-1]] == [True, True][: skipped[-1]]
        assert skipped[-1] >= 2 or not ended[skipped[-1]]
    assert any(skipped)
    with pytest.raises(OptionError, match=f"ended {MAX_SKIPPED_GAMES} times"):
        adapter.env("zero-sum-duel", turns=1).reset()


def test_without_a_seed_games_are_fresh_and_after_one_they_follow_from_it() -> None:
    def grids(env: Any, seed: int | None) -> list[Any]:
        env.reset(seed=seed)
        first = seen(env)
        env.reset()
        second = seen(env)
        env.reset(options={"anything": "is ignored"})
        return [first, second, seen(env)]

    def fresh() -> Any:
        return adapter.env("zero-sum-grid")

    row = grids(fresh(), 5)
    assert row == grids(fresh(), 5)
    assert len({str(grid) for grid in row}) == 3
    assert grids(fresh(), None) != grids(fresh(), None)
    assert grids(fresh(), 6) != row


@every_kind
def test_a_pickled_or_copied_game_goes_on_the_same(kind: Kind) -> None:
    env = made(kind, render_mode="ansi")
    env.reset(seed=11)
    play(env, "before", 7)
    others = [pickle.loads(pickle.dumps(env)), copy.deepcopy(env)]
    for other in others:
        assert seen(other) == seen(env)
        assert other.render() == env.render()
    before = seen(env)
    for each in (env, *others):
        play(each, "after")
    assert seen(env) != before
    for other in others:
        assert seen(other) == seen(env)
        assert (other.rewards, other.terminations) == (env.rewards, env.terminations)
        assert other.action_space("player_0") is other.action_space("player_0")
    for each in (env, *others):
        each.reset()
    assert all(seen(other) == seen(env) for other in others)


def test_an_environment_can_be_pickled_before_its_first_game() -> None:
    env = pickle.loads(pickle.dumps(adapter.env("prime-duel")))
    env.reset(seed=1)
    assert env.agents == ["player_0", "player_1"]


@every_kind
def test_a_seat_cannot_tell_apart_what_it_may_not_know(kind: Kind, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two games in which a seat was told the same look the same to it, byte for byte, at every decision."""
    game = find(kind.game)
    settled_kind = Kind(kind.game, dict(game.option_texts(learner_options(game, kind.options))))
    different = 0

    def screens(steps: tuple[int, ...], seat: int) -> list[Any]:
        _, decisions = split(settled_kind, steps)
        env = made(kind, render_mode="ansi")
        monkeypatch.setattr("piste.rl.episode.Dealer", lambda _: split(settled_kind, steps)[0])
        env.reset()
        agent, found = f"player_{seat}", []
        for decision in (*decisions, None):
            view = env.observe(agent)
            text = env.render() if env.agent_selection == agent else ""
            rest = (env.agent_selection, env.infos[agent], env.rewards, env.terminations, env.truncations)
            found += [(view["observation"].tobytes(), view["action_mask"].tobytes(), text, str(rest))]
            if decision is not None:
                env.step(decision)
        monkeypatch.undo()
        return found

    for seed in range(games(0) // 5000 + 3):
        env = made(kind)
        env.reset(seed=seed)
        play(env, seed, 4 + 3 * seed % 9)
        table = env.unwrapped._episode.table
        for seat in range(table.seats):
            other = retold(table, seat, seed)
            different += other != table.history()
            assert screens(table.history(), seat) == screens(other, seat)
    assert (different > 0) == (kind.game in SECRETS)


@every_kind
def test_an_observation_is_a_new_one_each_time(kind: Kind) -> None:
    env = made(kind)
    env.reset(seed=2)
    first = env.observe("player_0")
    first["observation"][:] = 9
    first["action_mask"][:] = 9
    assert env.observation_space("player_0").contains(env.observe("player_0"))
