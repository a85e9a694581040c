"""Gymnasium's checker on every game and every number of players, and one learner's games against bots."""

from __future__ import annotations

import copy
import os
import pickle
import random
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import piste
import piste.rl.gymnasium as adapter
from piste import bots
from piste.core.errors import IllegalDecisionError, MissingExtraError, OptionError
from piste.core.game import find, names
from piste.core.protocols import RESIGNS
from piste.core.views import SeatView
from piste.rl.episode import MAX_SKIPPED_GAMES
from tests.game_setups import Kind, games
from tests.rl.rl_setups import KINDS, picked

every_kind = pytest.mark.parametrize("kind", KINDS, ids=str)

Step = tuple[bytes, bytes, float, bool, bool, str]


def make(name: str, **given: Any) -> Any:
    return gymnasium.make(name, **given)


def made(kind: Kind, **more: Any) -> Any:
    return make(adapter.env_id(kind.game), **kind.options, **more)


def masks(env: Any) -> Any:
    """Return the mask as sb3-contrib and others ask for it, through any wrappers."""
    return env.get_wrapper_attr("action_masks")()


def step_of(view: dict[str, Any], reward: float, terminated: bool, truncated: bool, info: dict[str, Any]) -> Step:
    return view["observation"].tobytes(), view["action_mask"].tobytes(), reward, terminated, truncated, str(info)


def played(env: Any, seed: int | None, choices: object, most: int = 100_000) -> list[Step]:
    """Return everything a learner meets in a game in which it decides at random."""
    view, info = env.reset(seed=seed)
    return [step_of(view, 0.0, False, False, info), *played_on(env, choices, most)]


def played_on(env: Any, choices: object, most: int = 100_000) -> list[Step]:
    chooser, found = random.Random(f"{choices}"), []
    for _ in range(most):
        found.append(step_of(*env.step(picked(masks(env), chooser))))
        if found[-1][3] or found[-1][4]:
            break
    return found


# Gymnasium's checker. It takes actions without asking the mask, so an action that is not open must be an answer too.


@every_kind
def test_gymnasiums_checker_passes_without_a_warning(kind: Kind, capsys: pytest.CaptureFixture[str]) -> None:
    check_env(made(kind, illegal="resign").unwrapped)
    assert "player_" in capsys.readouterr().out  # it renders for people, too


def test_gymnasiums_checker_passes_as_it_is_where_every_action_is_always_open() -> None:
    for name in ("PrimeDuel", "PositiveNegative", "ZeroSumGrid"):
        check_env(make(f"piste/{name}-v0").unwrapped)


@pytest.mark.parametrize("name", names())
def test_every_game_is_registered_under_its_name(name: str) -> None:
    env_id = "piste/" + name.title().replace("-", "") + "-v0"
    env = make(env_id)
    assert env.unwrapped._episode.game.name == name
    assert make(f"piste.rl.gymnasium:{env_id}").spec is not None  # imports it by itself
    assert isinstance(env.observation_space, gymnasium.spaces.Dict)


@pytest.mark.parametrize("missing", ["gymnasium", "numpy"])
def test_without_the_extra_there_is_a_sentence_with_the_command(missing: str) -> None:
    code = (
        f"import sys; sys.modules[{missing!r}] = None\n"
        "try:\n    import piste.rl.gymnasium\n"
        "except Exception as e:\n    print(type(e).__name__, e)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("MissingExtraError Gymnasium needs")
    assert "pip install 'piste[rl]'" in done.stdout


def test_a_learner_does_not_need_pettingzoo() -> None:
    code = "import sys; sys.modules['pettingzoo'] = None\nimport piste.rl.gymnasium"
    subprocess.run([sys.executable, "-c", code], check=True)


# The learner's game


@every_kind
def test_a_learner_meets_only_its_own_decisions(kind: Kind) -> None:
    env = made(kind, opponent="random")
    seats = set()
    for seed in range(games(0) // 500 + 8):
        view, info = env.reset(seed=seed)
        chooser = random.Random(seed)
        over = False
        while not over:
            play = env.unwrapped._episode
            assert play.to_act == info["seat"] == env.unwrapped.seat
            assert env.observation_space.contains(view)
            assert masks(env).dtype == np.bool_
            assert np.array_equal(masks(env), view["action_mask"].astype(bool))
            assert np.array_equal(view["observation"], play.encoder.encode(play.table.view(info["seat"]).position))
            assert view["action_mask"].nonzero()[0].tolist() == list(play.table.view(info["seat"]).actions)
            view, reward, terminated, truncated, info = env.step(picked(masks(env), chooser))
            over = terminated or truncated
            assert over or reward == 0.0
        assert not masks(env).any()
        assert reward == env.unwrapped._episode.payoffs()[info["seat"]]
        seats.add(info["seat"])
    assert seats == set(range(env.unwrapped._episode.seats)), "the seat is drawn anew for each game"


@every_kind
def test_the_same_seed_and_actions_give_the_same_game(kind: Kind) -> None:
    for opponent in ("random", "steady"):
        one, two = made(kind, opponent=opponent), made(kind, opponent=opponent)
        for seed in (1, None, None, 2, 1):
            assert played(one, seed, seed) == played(two, seed, seed)
    assert played(one, 5, 0) != played(one, 6, 0)


def test_without_a_seed_games_are_fresh() -> None:
    first = [made(Kind("zero-sum-grid", {})).reset()[0]["observation"].tobytes() for _ in range(4)]
    assert len(set(first)) > 1


@every_kind
def test_a_pickled_or_copied_game_goes_on_the_same(kind: Kind) -> None:
    env = made(kind, opponent="steady", render_mode="ansi")
    for seed in range(20):
        if len(played(env, seed, "before", 3)) == 4 and env.unwrapped._episode.to_act is not None:
            break
    others = [pickle.loads(pickle.dumps(env)), copy.deepcopy(env)]
    assert all(other.render() == env.render() for other in others)
    rest = played_on(env, "after")
    again = played(env, None, "next")
    for other in others:
        assert played_on(other, "after") == rest
        assert played(other, None, "next") == again


def test_a_game_against_a_solving_bot_can_be_pickled_too() -> None:
    env = make("piste/ZeroSumGrid-v0", opponent="strong", turns=20)
    played(env, 1, 1, 2)
    other = pickle.loads(pickle.dumps(env))
    assert played_on(other, 2) == played_on(env, 2)


def test_gymnasium_runs_several_side_by_side() -> None:
    envs = gymnasium.make_vec("piste/PrimeDuel-v0", num_envs=3, vectorization_mode="sync")
    view, _ = envs.reset(seed=1)
    assert view["action_mask"].tolist() == [[1, 1]] * 3
    ended = 0
    for _ in range(100):
        _, _, terminated, truncated, _ = envs.step(np.zeros(3, np.int64))  # a new game follows one that ended
        ended += int((terminated | truncated).sum())
    assert ended > 3
    envs.close()


@every_kind
def test_a_seat_can_be_asked_for(kind: Kind) -> None:
    seats = find(kind.game).rules.seats(find(kind.game).options(kind.options))
    for seat in range(seats):
        env = made(kind, seat=np.int64(seat))
        assert {env.reset(seed=seed)[1]["seat"] for seed in range(6)} == {seat}
    for wrong in (seats, -1):
        with pytest.raises(OptionError, match=f"no seat '{wrong}'.*0 to {seats - 1}"):
            made(kind, seat=wrong)
    with pytest.raises(OptionError, match="A seat must be a whole number"):
        made(kind, seat="first")


def test_games_without_a_decision_of_the_learners_are_passed_over() -> None:
    env = make("piste/ZeroSumDuel-v0", opponent="steady")
    skipped = [env.reset(seed=seed)[1]["skipped"] for seed in range(30)]
    assert any(skipped)
    assert not all(skipped)
    with pytest.raises(OptionError, match=f"nothing to decide in {MAX_SKIPPED_GAMES} games"):
        make("piste/ZeroSumDuel-v0", turns=7, first="a", seat=1, opponent="random").reset(seed=1)


def test_a_turn_limit_truncates_and_everything_else_terminates() -> None:
    env = make("piste/ZeroSumGrid-v0", opponent="random", turns=6)
    *_, last = played(env, 1, 1)
    assert last[2:5] == (0.0, False, True)
    *_, last = played(make("piste/PrimeDuel-v0"), 1, 1)
    assert last[2] in (-1.0, 1.0)
    assert last[3:5] == (True, False)


def test_a_winner_among_four_is_paid_three() -> None:
    env = make("piste/MccoyDuel-v0", opponent="random", players=4)
    paid = {played(env, seed, seed)[-1][2] for seed in range(16)}
    assert paid == {-1.0, 3.0}


# Actions that are not open


def test_an_action_that_is_not_open_is_refused_with_a_sentence_and_costs_nothing() -> None:
    env = make("piste/ZeroSumDuel-v0")
    env.reset(seed=1)
    before = masks(env)
    closed = int((~before).nonzero()[0][0])
    for wrong in (closed, 99, -1, None, "+1", 0.5):
        with pytest.raises(IllegalDecisionError, match=r"cannot take action .*It can take .*illegal='resign'"):
            env.step(wrong)
        assert np.array_equal(masks(env), before)
    env.step(np.array(before.nonzero()[0][0]))


@pytest.mark.parametrize("players", [2, 3, 4])
def test_or_it_gives_the_game_up_if_that_was_asked_for(players: int) -> None:
    env = make("piste/MccoyDuel-v0", illegal="resign", opponent="random", players=players)
    _, info = env.reset(seed=1)
    closed = int((~masks(env)).nonzero()[0][0])
    _, reward, terminated, truncated, _ = env.step(closed)
    assert (reward, terminated, truncated) == (-1.0, True, False)
    left = [told.event.seat for told in env.unwrapped._episode.view(0).log if told.event.kind == RESIGNS]
    assert left == [info["seat"]]
    with pytest.raises(IllegalDecisionError, match=r"over: call reset"):
        env.step(0)
    again = pickle.loads(pickle.dumps(env))
    assert again.unwrapped._episode.table.history() == env.unwrapped._episode.table.history()
    with pytest.raises(OptionError, match="it is error or resign"):
        make("piste/PrimeDuel-v0", illegal="random")


def test_out_of_order_calls_get_a_sentence() -> None:
    env = make("piste/PrimeDuel-v0").unwrapped
    calls: list[Callable[[], Any]] = [lambda: env.step(0), lambda: masks(env)]
    for call in calls:
        with pytest.raises(IllegalDecisionError, match=r"call reset\(\) first"):
            call()


# Opponents


@pytest.mark.parametrize("name", names())
def test_every_level_can_be_the_opponent(name: str) -> None:
    game = find(name)
    for level in bots.names(game):
        if level in ("strong", "perfect") and "PISTE_GAMES" not in os.environ:
            continue  # they have to be compiled, and some take seconds for a decision
        env = make(adapter.env_id(name), opponent=level)
        assert len(played(env, 1, 1, 2)) > 1
        env.close()
        env.close()


def test_opponents_decide_as_they_do_at_a_table() -> None:
    """The bots' streams are those of a table with the same seed, so a learner's game can be played again anywhere."""
    env = make("piste/MccoyDuel-v0", opponent="novice", players=3, seat=1)
    played(env, 8, 8)
    history = env.unwrapped._episode.table.history()
    game = find("mccoy-duel")
    table = piste.open_table("mccoy-duel", {"players": 3}, seed="8")
    bot, dealer, chooser = bots.find("novice", game), piste.Dealer("8"), random.Random("8")
    while (actor := table.to_act) is not None:
        view = table.view(actor)
        own = picked([action in view.actions for action in range(62)], chooser) if actor == 1 else -1
        table.decide(actor, own if actor == 1 else bot.choose(view, dealer.stream(bots.stream_name(view))))
    assert table.history() == history


def test_an_unknown_or_missing_opponent_is_refused_when_the_environment_is_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(piste.PisteError, match="Did you mean steady"):
        make("piste/PrimeDuel-v0", opponent="stedy")
    monkeypatch.setitem(sys.modules, "numba", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'piste\[fast\]'"):
        make("piste/PrimeDuel-v0", opponent="strong")


class Last:
    """A bot of somebody's own, which counts how often it is asked."""

    name = "last"

    def __init__(self) -> None:
        self.asked = self.closed = 0

    def choose(self, view: SeatView, stream: object) -> int:  # noqa: ARG002
        self.asked += 1
        return view.actions[-1]

    def close(self) -> None:
        self.closed += 1


def test_a_bot_of_ones_own_can_be_the_opponent_and_is_not_closed() -> None:
    bot = Last()
    env = make("piste/PositiveNegative-v0", opponent=bot)
    played(env, 1, 1)
    env.close()
    assert bot.asked > 3
    assert bot.closed == 0


PROGRAM = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "decide":
        print(json.dumps({"decision": message["decisions"][0]}), flush=True)
"""


@pytest.mark.skipif(os.name != "posix", reason="command lines are written otherwise there")
def test_a_program_can_be_the_opponent_and_is_ended(tmp_path: Path) -> None:
    path = tmp_path / "bot.py"
    path.write_text(PROGRAM, encoding="utf-8")
    command = "cmd:" + shlex.join([sys.executable, "-I", "-S", str(path)])
    env = make("piste/PositiveNegative-v0", opponent=command)
    for seed in (1, 2):  # a program of its own for each game
        assert played(env, seed, seed)[-1][3]
        assert env.unwrapped._bots == {}
    played(env, 3, 3, 4)
    (bot,) = env.unwrapped._bots.values()
    assert bot._running is not None
    env.close()
    assert bot._running is None


# What is drawn


def test_rendering_shows_what_the_learner_sees(capsys: pytest.CaptureFixture[str]) -> None:
    env = make("piste/ZeroSumDuel-v0", opponent="random", seat=1, render_mode="ansi")
    env.reset(seed=3)
    text = env.render()
    assert "player_0's hand: ? ? ? (3 cards)" in text
    assert "player_1 can take " in text
    assert capsys.readouterr().out == ""
    shown = make("piste/ZeroSumDuel-v0", opponent="random", seat=1, render_mode="human")
    shown.reset(seed=3)
    assert capsys.readouterr().out == f"{text}\n"
    with pytest.warns(UserWarning, match="render_mode"):
        assert make("piste/PrimeDuel-v0").unwrapped.render() is None
