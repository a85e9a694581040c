"""How a game goes and ends in PettingZoo's form, what is refused, and what is drawn."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pettingzoo
import pytest
from pettingzoo.utils.wrappers import TerminateIllegalWrapper

import piste
import piste.rl.pettingzoo as adapter
from piste.core.errors import IllegalDecisionError, OptionError
from tests.game_setups import Kind, games
from tests.rl.rl_setups import KINDS, picked, play, seen

every_kind = pytest.mark.parametrize("kind", KINDS, ids=str)


def made(kind: Kind, **more: Any) -> Any:
    return adapter.env(kind.game, **kind.options, **more)


@every_kind
def test_every_observation_is_in_its_space_and_every_end_is_for_all(kind: Kind) -> None:
    for seed in range(games(0) // 500 + 4):
        env = made(kind)
        env.reset(seed=seed)
        chooser = random.Random(seed)
        while not any((*env.terminations.values(), *env.truncations.values())):
            for agent in env.possible_agents:
                assert env.observation_space(agent).contains(env.observe(agent))
            env.step(picked(env.last()[0]["action_mask"], chooser))
        assert len(env.agents) == len(env.possible_agents)
        assert set(env.terminations.values()) | set(env.truncations.values()) == {True, False}
        assert not any(env.observe(agent)["action_mask"].any() for agent in env.agents)
        assert abs(sum(env.rewards.values())) < 1e-9
        kept = dict(env.rewards)
        for agent in list(env.possible_agents):
            assert env.observation_space(agent).contains(env.observe(agent))
        paid = {}
        for agent in env.agent_iter():
            _, paid[agent], *_ = env.last()
            env.step(None)
        assert paid == kept
        assert env.agents == []


def test_a_turn_limit_truncates_and_everything_else_terminates() -> None:
    env = adapter.env("zero-sum-grid", max_cycles=6)
    env.reset(seed=1)
    play(env, 1)
    assert env.truncations == {"player_0": True, "player_1": True}
    assert env.terminations == {"player_0": False, "player_1": False}
    assert env.rewards == {"player_0": 0.0, "player_1": 0.0}
    env = pettingzoo.make("aec", "piste/prime-duel-v0", max_cycles=150)
    env.reset(seed=1)
    play(env, 1)
    assert env.terminations == {"player_0": True, "player_1": True}
    assert env.truncations == {"player_0": False, "player_1": False}
    assert sorted(env.rewards.values()) == [-1.0, 1.0]
    assert all(type(value) is bool for value in (*env.terminations.values(), *env.truncations.values()))


def test_max_cycles_is_the_turn_limit_where_a_game_has_one() -> None:
    def limit(game: str, **options: Any) -> int:
        env = adapter.env(game, **options)
        env.reset(seed=1)
        return int(env.unwrapped._episode.table.options.turns)

    assert limit("prime-duel", max_cycles=np.int64(30)) == limit("prime-duel", turns=30) == 30
    assert limit("prime-duel") == 200
    adapter.env("positive-negative", max_cycles=3).reset()  # always ends by itself: nothing to limit
    with pytest.raises(OptionError, match="give one"):
        adapter.env("prime-duel", turns=10, max_cycles=10)
    with pytest.raises(OptionError, match="1 or more"):
        adapter.env("prime-duel", max_cycles=0)
    with pytest.raises(OptionError, match="whole number"):
        adapter.env("prime-duel", max_cycles="many")


def test_a_player_who_is_out_of_a_round_stays_until_the_match_ends() -> None:
    env = adapter.env("mccoy-duel", players=4)
    env.reset(seed=3)
    chooser, out = random.Random(3), 0
    while not any(env.terminations.values()):
        assert env.agents == ["player_0", "player_1", "player_2", "player_3"]
        playing = env.unwrapped._episode.view(0).position.playing
        out += playing != 0b1111
        env.step(picked(env.last()[0]["action_mask"], chooser))
    assert out > 0
    assert sorted(env.rewards.values()) == [-1.0, -1.0, -1.0, 3.0]


@every_kind
def test_an_action_that_is_not_open_is_refused_and_costs_nothing(kind: Kind) -> None:
    env = made(kind)
    env.reset(seed=4)
    mask = env.last()[0]["action_mask"]
    if mask.all():
        return  # in this game every action is always open
    before, agent = seen(env), env.agent_selection
    closed = int((mask == 0).nonzero()[0][0])
    with pytest.raises(IllegalDecisionError, match=f"{agent} cannot take action '{closed}'.*It can take"):
        env.step(closed)
    assert (seen(env), env.agent_selection) == (before, agent)
    env.step(np.int32(mask.nonzero()[0][0]))
    assert seen(env) != before


def test_who_wants_it_to_be_a_loss_instead_has_pettingzoos_wrapper_for_that() -> None:
    env = TerminateIllegalWrapper(adapter.raw_env("zero-sum-duel"), illegal_reward=-1)
    env.reset(seed=4)
    agent = env.agent_selection
    env.step(int((env.last()[0]["action_mask"] == 0).nonzero()[0][0]))
    assert env.rewards[agent] == -1
    assert all(env.terminations.values())
    for _ in env.agent_iter():
        env.step(None)
    assert env.agents == []


def test_what_is_no_action_at_all_is_refused() -> None:
    for wrong in (None, "keep", 0.5, 2, -1):
        env = adapter.raw_env("prime-duel")
        env.reset(seed=1)
        with pytest.raises(IllegalDecisionError, match=r"It can take 0 \(keep\) or 1 \(discard\)"):
            env.step(wrong)
    wrapped = adapter.env("prime-duel")
    wrapped.reset(seed=1)
    with pytest.raises(AssertionError, match="action is not in action space"):
        wrapped.step(2)


def test_out_of_order_calls_get_a_sentence() -> None:
    env = adapter.raw_env("positive-negative", render_mode="ansi")
    for call in (lambda: env.step(0), env.render, lambda: env.observe("player_0")):
        with pytest.raises(IllegalDecisionError, match="reset"):
            call()
    env.reset(seed=1)
    with pytest.raises(IllegalDecisionError, match="no agent 'player_9'"):
        env.observe("player_9")
    play(env, 1)
    env.step(None)
    env.step(None)
    with pytest.raises(IllegalDecisionError, match="reset"):
        env.step(0)
    with pytest.raises(OptionError, match="A seed must be a whole number"):
        env.reset(seed="first")  # type: ignore[arg-type]


def test_bad_options_get_a_sentence() -> None:
    with pytest.raises(OptionError, match="no option 'colour'"):
        adapter.env("prime-duel", colour=1)
    with pytest.raises(OptionError, match="no render_mode 'rgb_array'"):
        adapter.env("prime-duel", render_mode="rgb_array")
    with pytest.raises(piste.PisteError, match="Did you mean prime-duel"):
        adapter.env("prime-duell")


# What is drawn


def test_rendering_shows_what_the_seat_to_act_sees(capsys: pytest.CaptureFixture[str]) -> None:
    env = adapter.env("zero-sum-duel", render_mode="ansi")
    env.reset(seed=3)
    text = env.render()
    own, other = env.agent_selection, "player_1" if env.agent_selection == "player_0" else "player_0"
    assert f"{other}'s hand: ? ? ? (3 cards)" in text
    assert f"{own} can take " in text
    play(env, 3)
    assert f"{other}'s hand: ?" not in env.render()
    assert "The game is over, player_" in env.render()
    assert capsys.readouterr().out == ""
    shown = adapter.env("zero-sum-duel", render_mode="human")
    shown.reset(seed=3)
    assert capsys.readouterr().out == f"{text}\n"
    shown.step(int(shown.last()[0]["action_mask"].nonzero()[0][0]))
    assert capsys.readouterr().out != ""
    shown.close()


def test_rendering_without_a_mode_warns_and_shows_nothing() -> None:
    env = adapter.env("prime-duel")
    env.reset()
    with pytest.warns(UserWarning, match="render_mode"):
        assert env.render() is None
