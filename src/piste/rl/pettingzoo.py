"""Every game as a PettingZoo environment, with all seats for learners. Importing this registers them.

    import pettingzoo
    import piste.rl.pettingzoo

    env = pettingzoo.make("aec", "piste/prime-duel-v0")
    env = piste.rl.pettingzoo.env("mccoy-duel", players=3)

Each game's name can be imported as well: `from piste.rl.pettingzoo import prime_duel`, then `prime_duel.env()`.
"""

from __future__ import annotations

from typing import Any

from piste.core.errors import IllegalDecisionError, UnknownNameError
from piste.core.extras import PETTINGZOO, load
from piste.core.game import find, names, quoted
from piste.core.protocols import SPECTATOR

load(PETTINGZOO)

from gymnasium import spaces
from pettingzoo import AECEnv, aec_registry, register
from pettingzoo.utils.wrappers import OrderEnforcingWrapper

from piste.rl import episode
from piste.rl.episode import RENDER_MODES, Episode, Seen, render_mode_of

VERSION = 0
"""Goes up when the behaviour of an environment changes."""


class SeatsEnv(AECEnv):  # type: ignore[misc]  # PettingZoo has no types
    """A game whose seats act one after the other, each seeing what the game shows it."""

    metadata: dict[str, Any]  # of the instance: it has the game's name

    def __init__(
        self, game: str, render_mode: str | None = None, max_cycles: int | None = None, **options: int | str
    ) -> None:
        super().__init__()
        self._episode = Episode(game, options, max_cycles)
        self.render_mode = render_mode_of(render_mode)
        self.metadata = {
            "name": f"{attribute(self._episode.game.name)}_v{VERSION}",
            "render_modes": list(RENDER_MODES),
            "is_parallelizable": False,
        }
        self.possible_agents = list(self._episode.agents)
        self._seats = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        self.observation_spaces = {
            agent: episode.observation_space(self._episode.encoder) for agent in self.possible_agents
        }
        self.action_spaces = {agent: episode.action_space(self._episode.encoder) for agent in self.possible_agents}
        self.agents: list[str] = []

    def observation_space(self, agent: str) -> spaces.Dict:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Discrete:
        return self.action_spaces[agent]

    @property
    def skipped(self) -> int:
        """How many games before this one ended before anybody had to decide."""
        return self._episode.skipped

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:  # noqa: ARG002
        """Begin a game: the first of this seed's row or, without a seed, the next one."""
        self._episode.begin(seed)
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self._select()

    def observe(self, agent: str) -> Seen:
        """Return what an agent sees now, and the mask of what is open to it: all 0 unless it is to act."""
        seat = self._seats.get(agent)
        if seat is None:
            raise IllegalDecisionError(
                f"There is no agent {quoted(agent)} here. There are: {', '.join(self.possible_agents)}."
            )
        return self._episode.seen(seat)

    def step(self, action: Any) -> None:
        """Take the selected agent's action. One that is not open is refused with a sentence, and costs nothing."""
        if not self.agents:
            raise IllegalDecisionError("The game is over and every agent has left: call reset().")
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        self._episode.decide(action)
        if self._episode.over:
            cut = self._episode.cut()
            self.rewards = dict(zip(self.agents, map(float, self._episode.payoffs()), strict=True))
            self.terminations = dict.fromkeys(self.agents, not cut)
            self.truncations = dict.fromkeys(self.agents, cut)
            self._accumulate_rewards()
        self._select()

    def _select(self) -> None:
        """Select who is to act; after the end, the first of those who are to leave."""
        seat = self._episode.to_act
        self.agent_selection = self.possible_agents[0 if seat is None else seat]
        if self.render_mode == "human":
            self.render()

    def render(self) -> str | None:
        """Return or print what the seat to act sees; after the end, what a spectator sees."""
        seat = self._episode.to_act
        return self._episode.render(self.render_mode, SPECTATOR if seat is None else seat)

    def close(self) -> None:
        """Nothing is held open."""


class CheckedEnv(OrderEnforcingWrapper):  # type: ignore[misc]
    """PettingZoo's usual checks: calls come in order, and actions are in the action space.

    PettingZoo has a wrapper for each, and each asks the next one for every attribute: that takes longer than a game.
    """

    def last(self, observe: bool = True) -> tuple[Seen | None, float, bool, bool, dict[str, Any]]:
        """Return what the selected agent sees and has been told; before reset() that is refused."""
        last = self.env.last if self._has_reset else super().last
        return last(observe)  # type: ignore[no-any-return]

    def step(self, action: Any) -> None:
        """Take an action of the action space; only an agent that is to leave takes None."""
        env: SeatsEnv = self.env
        if self._has_reset and env.agents:
            agent = env.agent_selection
            if action is None:
                assert env.terminations[agent] or env.truncations[agent], "action is not in action space"
            elif type(action) is not int or not 0 <= action < env.action_spaces[agent].n:
                assert env.action_spaces[agent].contains(action), "action is not in action space"
        super().step(action)

    def __str__(self) -> str:
        return str(self.env)


def raw_env(game: str, **options: Any) -> SeatsEnv:
    """Return a game as an environment; `render_mode`, `max_cycles` and the game's own options may be given."""
    return SeatsEnv(game, **options)


def env(game: str, **options: Any) -> AECEnv:
    """Return the same with PettingZoo's usual checks around it."""
    return CheckedEnv(raw_env(game, **options))


class EnvFactory:
    """Makes environments of one game: what a module such as `tictactoe_v3` is in PettingZoo itself."""

    def __init__(self, game: str) -> None:
        self.game = game

    def __call__(self, **options: Any) -> AECEnv:
        return self.env(**options)

    def env(self, **options: Any) -> AECEnv:
        return env(self.game, **options)

    def raw_env(self, **options: Any) -> SeatsEnv:
        return raw_env(self.game, **options)

    def __repr__(self) -> str:
        return f"piste.rl.pettingzoo.{attribute(self.game)}"


def attribute(name: str) -> str:
    """Return a game's name as Python writes it."""
    return name.replace("-", "_")


def __getattr__(name: str) -> EnvFactory:
    """Return the factory of a game's environments, by the game's name."""
    if not name.startswith("_"):
        try:
            return EnvFactory(find(name).name)
        except UnknownNameError:
            pass
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *map(attribute, names())])


def env_id(name: str) -> str:
    """Return the id of a game."""
    return f"piste/{name}-v{VERSION}"


for _name in names():
    if env_id(_name) not in aec_registry:
        register("aec", env_id(_name), f"{__name__}:{attribute(_name)}")
