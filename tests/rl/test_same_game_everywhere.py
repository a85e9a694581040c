"""One game in every form, step by step the same: position, table, record, stepper, among many, every adapter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyspiel
import pytest

import piste
from piste.compiled.stepper import Stepper
from piste.core.dealer import ScriptedDealer
from piste.core.game import find, members
from piste.core.position import Position
from piste.core.protocols import CHANCE
from piste.core.table import Table
from piste.core.views import SeatView
from piste.rl.encoder import Encoder, learner_options
from piste.rl.gymnasium import LearnerEnv
from piste.rl.openspiel import parameters, short_name
from piste.rl.pettingzoo import raw_env
from piste.rl.vector_env import VectorEnv
from tests.game_setups import Kind, games
from tests.rl.test_vector_env import Twin, kinds, one_open


def among_many(kind: Kind, seed: str) -> tuple[list[int], list[Any]]:
    """Play one game among many; return its decisions and outcomes, and what stood at each decision and at the end."""
    env = VectorEnv(kind.game, 1, kind.options, seed=seed)
    twin, chooser = Twin(env, seed, 0), np.random.default_rng(5)
    seen, found = env.reset(), list[Any]()
    while True:
        found.append((int(seen.actors[0]), seen.observations[0].copy(), list(np.flatnonzero(seen.masks[0]))))
        actions = one_open(seen.masks, chooser)
        seen = env.step(actions)
        _, over, cut = twin.step(int(actions[0]))
        assert (seen.ended[0], seen.truncated[0]) == (over, cut)
        if over:
            found.append((list(map(int, seen.rewards[0])), cut))
            return twin.last, found


def choice(number: int, actions: Sequence[int]) -> int:
    """Return the decision that all players here take at the decision of this number."""
    return actions[(7 * number + 3) % len(actions)]


class Chooser:
    """A bot that decides so."""

    name = "chooser"

    def choose(self, view: SeatView, _: Any) -> int:
        return choice(view.number, view.actions)


def stepped(kind: Kind, options: dict[str, str], compiled: bool) -> tuple[Position, tuple[int, ...]]:
    stepper, number = Stepper(kind.game, options, seed="7", compiled=compiled), 0
    while asked := stepper.deal():
        stepper.apply(choice(number, members(asked)))
        number += 1
    return stepper.position(), stepper.payoffs()


def at_a_table(kind: Kind, options: dict[str, str]) -> Table:
    table = piste.open_table(kind.game, options, seed="7")
    while table.to_act is not None:
        table.decide(table.to_act, choice(table.number, table.view(table.to_act).actions))
    return table


@pytest.mark.parametrize("kind", kinds(), ids=str)
def test_the_same_seed_and_decisions_are_the_same_game_in_every_form(kind: Kind) -> None:
    game = find(kind.game)
    options = game.option_texts(learner_options(game, kind.options))
    table = at_a_table(kind, options)
    position, ending = Position.parse(table.position_text()), table.ending()
    assert ending is not None
    for compiled in (True, False):
        assert stepped(kind, options, compiled) == (position, ending.payoffs)
    assert piste.replay(table.record()).position_text() == table.position_text()
    named = numbered = Position.start(kind.game, options)
    spiel = pyspiel.load_game(short_name(kind.game), parameters(game, position.state.options)).new_initial_state()
    for step in table.history():
        assert isinstance(step, int)
        names = list(named.outcomes()) if named.to_act == CHANCE else list(named.decisions())
        named, numbered = named.after(names[named.legal_actions().index(step)]), numbered.child(step)
        spiel.apply_action(step)
    assert named == numbered == position == Position(game, spiel.node.state)
    zoo = raw_env(kind.game, **kind.options)
    zoo.reset(seed=7)
    settings: dict[str, Any] = {"opponent": Chooser(), **kind.options}
    learner = LearnerEnv(kind.game, **settings)
    for env, begun in ((zoo, not zoo.skipped), (learner, not learner.reset(seed=7)[1]["skipped"])):
        episode = env._episode
        while begun and (seat := episode.to_act) is not None:
            env.step(choice(len(episode._taken), members(episode.stepper.legal)))
            assert not episode.seen(seat)["action_mask"].any() or episode.to_act == seat
        # A game in which nobody, or not the learner, has anything to decide is passed over.
        assert not begun or episode.stepper.position() == position


@pytest.mark.slow
@pytest.mark.parametrize("kind", kinds(), ids=str)
def test_a_game_is_the_same_at_a_table_among_many_in_pettingzoo_and_in_openspiel(kind: Kind) -> None:
    game = find(kind.game)
    options = learner_options(game, kind.options)
    encoder = Encoder(game, options)
    for seed in range(games(2) if games(2) < 100 else 100):
        history, stood = among_many(kind, f"one {seed}")
        state, outcomes = game.rules.start(options), []
        for step in history:
            if game.rules.to_act(state) == CHANCE:
                outcomes.append(step)
            state = game.rules.apply(state, step)
        table = Table(game, options, ScriptedDealer(outcomes), counts=False)
        zoo = raw_env(kind.game, **kind.options)
        zoo.reset(seed=1)
        zoo._episode._open(ScriptedDealer(outcomes))
        zoo._select()
        spiel = pyspiel.load_game(short_name(kind.game), parameters(game, options)).new_initial_state()
        moment = 0
        for step in history:
            if spiel.is_chance_node():
                assert step in spiel.legal_actions()
                spiel.apply_action(step)
                continue
            seat, numbers, open_actions = stood[moment]
            assert (table.to_act, zoo.agent_selection, spiel.current_player()) == (seat, f"player_{seat}", seat)
            view = table.view(seat)
            assert list(view.actions) == open_actions == spiel.legal_actions()
            assert (encoder.encode(view.position) == numbers).all()
            last = zoo.last()
            assert (last[0]["observation"] == numbers).all()
            assert list(np.flatnonzero(last[0]["action_mask"])) == open_actions
            assert last[1:4] == (0, False, False)
            assert (np.array(spiel.observation_tensor(seat), np.float32) == numbers).all()
            table.decide(seat, step)
            zoo.step(step)
            spiel.apply_action(step)
            moment += 1
        paid, cut = stood[moment]
        ending = table.ending()
        assert ending is not None
        assert list(ending.payoffs) == paid == spiel.returns()
        assert list(zoo.rewards.values()) == paid
        assert set(zoo.truncations.values()) == {cut}
        assert set(zoo.terminations.values()) == {not cut}
        assert spiel.is_terminal()
        assert [game.rules.payoff(state, seat) for seat in range(len(paid))] == paid
