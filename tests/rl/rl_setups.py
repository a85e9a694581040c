"""Every game as learners play it, with every number of players."""

from __future__ import annotations

import random
from typing import Any

import piste
from piste.core.belief import retell
from piste.core.dealer import Dealer, ScriptedDealer
from piste.core.game import find, names
from piste.core.protocols import CHANCE
from tests.game_setups import Kind, actions, walked

SECRETS = ("zero-sum-duel", "positive-negative", "mccoy-duel")


def kinds() -> list[Kind]:
    found = []
    for name in names():
        players = [option for option in find(name).notation.OPTIONS if option.name == "players"]
        counts = [n for option in players for n in range(option.low, option.high + 1)]
        found += [Kind(name, {"players": n}) for n in counts] or [Kind(name, {})]
    return found


KINDS = kinds()


def picked(mask: Any, chooser: random.Random) -> int:
    """Return one of the open actions."""
    return chooser.choice([action for action, is_open in enumerate(mask) if is_open])


def retold(table: piste.Table, seat: int, seed: object) -> tuple[int, ...]:
    """Return a whole history that a seat cannot tell from the table's."""
    return actions(retell(table.game, table.view(seat), Dealer(f"retold {seed}").stream("retold")))


def split(kind: Kind, steps: tuple[int, ...]) -> tuple[ScriptedDealer, list[int]]:
    """Return a dealer of a history's outcomes, and its decisions."""
    rules = find(kind.game).rules
    pairs = [(rules.to_act(s), step) for s, step in walked(kind, steps) if step is not None]
    return ScriptedDealer([step for actor, step in pairs if actor == CHANCE]), [s for actor, s in pairs if actor >= 0]


def seen(env: Any) -> list[tuple[bytes, bytes]]:
    """Return what every agent sees, as bytes."""
    views = [env.observe(agent) for agent in env.possible_agents]
    return [(view["observation"].tobytes(), view["action_mask"].tobytes()) for view in views]


def play(env: Any, seed: object, most: int = 100_000) -> None:
    """Play on at random, until the game is over or so many decisions were taken."""
    chooser = random.Random(f"{seed}")
    for agent in env.agent_iter(most):
        view, _, terminated, truncated, _ = env.last()
        if terminated or truncated:
            return
        assert agent == env.agent_selection
        env.step(picked(view["action_mask"], chooser))
