"""piste's games for OpenSpiel: importing this registers each as `python_piste_<name>`.

import pyspiel
import piste.rl.openspiel

game = pyspiel.load_game("python_piste_zero_sum_duel(top=3,hand=2,turns=6)")
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from functools import cached_property
from itertools import product
from typing import Any

from piste.core.dealer import RandomStream
from piste.core.errors import PisteError
from piste.core.extras import OPENSPIEL, load
from piste.core.game import Game, Option, find, members, names, write_option
from piste.core.protocols import CHANCE, OVER, SPECTATOR

load(OPENSPIEL)

import pyspiel

from piste.rl.encoder import Floats, learner_options
from piste.rl.openspiel_history import GameHistory, GameSpec, allocate, describe, encode_view, game_spec, part_shapes

Values = Mapping[str, int | str]

CHANCE_PLAYER, TERMINAL_PLAYER = int(pyspiel.PlayerId.CHANCE), int(pyspiel.PlayerId.TERMINAL)


def short_name(name: str) -> str:
    """Return what OpenSpiel calls a game."""
    return f"python_piste_{name.replace('-', '_')}"


def parameters(game: Game, options: Any) -> dict[str, int | str]:
    """Return options as OpenSpiel's parameters."""
    return {option.name: _parameter(option, getattr(options, option.name)) for option in game.notation.OPTIONS}


def _parameter(option: Option, value: int) -> int | str:
    """Return a value as OpenSpiel takes it. It has one type for each parameter, and takes digits for a number.

    So an option is text if it is written in a way of its own, or if all its names are words; else it is a number.
    """
    if option.write is None and (not option.names or any(map(str.isdigit, option.names))):
        return value
    text = write_option(option, value)
    return text if text.isalpha() else f"'{text}'"  # else digits are lost at its front, and stars at its end


def _given(params: Values) -> dict[str, int | str]:
    """Return parameters as the game's options take them: without the quotes that keep text whole."""
    return {key: value.strip("'\"") if isinstance(value, str) else value for key, value in params.items()}


def _defaults(game: Game) -> dict[str, int | str]:
    return parameters(game, learner_options(game, {}))


def _numbers_of_seats(game: Game) -> tuple[int, int]:
    """Return the fewest and the most players, over the ends of every option's range."""
    plain = game.rules.Options()
    ends = product(game.notation.OPTIONS, (False, True))
    seats = [game.rules.seats(plain._replace(**{o.name: o.high if high else o.low})) for o, high in ends]
    return min(seats, default=game.rules.seats(plain)), max(seats, default=game.rules.seats(plain))


def game_type(game: Game, *, logs: bool) -> Any:
    """Return OpenSpiel's description of a game; `logs`: whether the log of a seat is offered as a tensor."""
    fewest, most = _numbers_of_seats(game)
    open_to_all = not game_spec(game.name, learner_options(game, {})).shown
    information = pyspiel.GameType.Information
    return pyspiel.GameType(
        short_name=short_name(game.name),
        long_name=f"piste {game.notation.TITLE}",
        dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
        chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
        information=information.PERFECT_INFORMATION if open_to_all else information.IMPERFECT_INFORMATION,
        utility=pyspiel.GameType.Utility.ZERO_SUM,
        reward_model=pyspiel.GameType.RewardModel.TERMINAL,
        max_num_players=most,
        min_num_players=fewest,
        provides_information_state_string=True,
        provides_information_state_tensor=logs,
        provides_observation_string=True,
        provides_observation_tensor=True,
        provides_factored_observation_string=True,
        parameter_specification=_defaults(game),
    )


class PisteGame(pyspiel.Game):  # type: ignore[misc]
    """A game of piste with its options."""

    NAME: str

    def __init__(self, params: Values | None = None) -> None:
        game = find(self.NAME)
        options = learner_options(game, _given({**_defaults(game), **(params or {})}))
        spec = game_spec(game.name, options)
        info = pyspiel.GameInfo(
            num_distinct_actions=spec.actions,
            max_chance_outcomes=spec.chances,
            num_players=spec.seats,
            min_utility=spec.payoffs[0],
            max_utility=spec.payoffs[1],
            utility_sum=0.0,
            max_game_length=spec.decisions,
        )
        super().__init__(game_type(game, logs=spec.logs), info, parameters(game, options))

    @cached_property
    def spec(self) -> GameSpec:
        # Out of the parameters, because a game that comes out of a pickle has nothing else.
        return game_spec(self.NAME, learner_options(find(self.NAME), _given(self.get_parameters())))

    def new_initial_state(self, *_: Any) -> PisteState:
        return PisteState(self)

    def max_chance_nodes_in_history(self) -> int:
        return self.spec.outcomes

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> PisteObserver:
        return PisteObserver(self, iig_obs_type, params)


class PisteState(pyspiel.State):  # type: ignore[misc]
    """A state of OpenSpiel. Its copies share the node, which is immutable."""

    def __init__(self, game: PisteGame) -> None:
        super().__init__(game)
        self.node: GameHistory = game.spec.first

    def current_player(self) -> int:
        asked = self.node.asked
        if asked > 0:
            return self.node.stepper.actor
        return CHANCE_PLAYER if asked else TERMINAL_PLAYER

    def is_terminal(self) -> bool:
        return not self.node.asked

    # Answered here, where the library would ask `current_player` first and convert the answer twice.

    def is_chance_node(self) -> bool:
        return self.node.asked < 0

    def legal_actions(self, player: int | None = None) -> list[int]:
        if self.node.asked <= 0 or player not in (None, self.node.stepper.actor):
            return list(super().legal_actions() if player is None else super().legal_actions(player))
        return members(self.node.asked)

    def _legal_actions(self, _: int) -> list[int]:
        return members(self.node.asked)

    def chance_outcomes(self) -> list[tuple[int, float]]:
        return self.node.stepper.outcomes()

    def _apply_action(self, action: int) -> None:
        self.node = self.node.after(int(action))

    def _action_to_string(self, _: int, action: int) -> str:
        spec, state = self.node.spec, self.node.state
        actor = spec.rules.to_act(state)
        if actor != OVER and (spec.rules.outcomes if actor == CHANCE else spec.rules.legal)(state) >> action & 1:
            return spec.game.notation.name(spec.options, spec.rules.kind(state), action)
        return str(action)  # not open here: only the node where it is could name it

    def returns(self) -> list[float]:
        return [float(paid) for paid in self.node.stepper.payoffs()]

    def __str__(self) -> str:
        fields = self.node.spec.game.notation.fields(self.node.state)
        return " ".join(f"{key}={value}" for key, value in fields.items())


class PisteObserver:
    """Observations: public, of one seat or of each (private); of the state now, or of the log (perfect recall)."""

    def __init__(self, game: PisteGame, iig_obs_type: Any, params: Any) -> None:
        if params:
            raise ValueError(f"These games take no parameters for observations, and there are some: {params}")
        wanted = iig_obs_type or pyspiel.IIGObservationType(perfect_recall=False)
        private = pyspiel.PrivateInfoType
        self.spec = game.spec
        self.recall, self.public = bool(wanted.perfect_recall), bool(wanted.public_info)
        self.own = wanted.private_info == private.SINGLE_PLAYER
        self.every = wanted.private_info == private.ALL_PLAYERS
        self.tensor: Floats | None = None
        self.dict: dict[str, Floats] = {}
        shapes = self._shapes()
        if shapes is not None:
            self.tensor, self.dict = allocate(shapes)

    def _shapes(self) -> dict[str, tuple[int, ...]] | None:
        """Return the pieces of the tensor; None if there is none."""
        spec = self.spec
        marks = [""] if self.public or self.own else []
        if self.every:
            marks += [f"@{spec.game.seat_name(seat)}" for seat in range(spec.seats)]
        shapes: dict[str, tuple[int, ...]] = {}
        if self.recall:
            if not spec.logs:
                return None
            shapes.update({"player": (spec.seats,)} if self.own else {})
            shapes.update({f"log{mark}": spec.log for mark in marks})
        else:
            for mark in marks:
                shapes.update(part_shapes(spec, mark))
        return shapes

    def set_from(self, state: PisteState, player: int) -> None:
        """Fill the tensor with what `player` may know at `state`."""
        if self.tensor is None:
            return
        self.tensor.fill(0)
        if "player" in self.dict:
            self.dict["player"][player] = 1
        at = 0 if "player" not in self.dict else self.spec.seats
        for seat, whole in self._audiences(player):
            line = self.tensor[at : at + self._piece()]
            if self.recall:
                state.node.write_log(seat, line.reshape(self.spec.log), all_of_it=whole)
            else:
                line[:] = self._encoded(state.node, seat, whole)
            at += len(line)

    def string_from(self, state: PisteState, player: int) -> str:
        """Return what `player` may know at `state` as text."""
        texts = [self._text(state.node, seat, whole) for seat, whole in self._audiences(player)]
        if self.recall and self.public and self.own:
            texts.insert(0, f"{self.spec.game.seat_name(player)}:")
        return " ".join(text for text in texts if text)

    def _audiences(self, player: int) -> list[tuple[int, bool]]:
        """Return the viewers in order, each with whether it gets everything or only what is private."""
        if self.own:
            return [(player, self.public)]
        return [(SPECTATOR, True)] * self.public + [(seat, False) for seat in range(self.spec.seats) if self.every]

    def _piece(self) -> int:
        return self.spec.log[0] * self.spec.log[1] if self.recall else self.spec.encoder.size

    def _encoded(self, node: GameHistory, seat: int, whole: bool) -> Any:
        if seat == SPECTATOR:
            return encode_view(self.spec, node.public(0))  # from where the first seat sits, for all alike
        return encode_view(self.spec, node.seen(seat), None if whole else node.public(seat))

    def _text(self, node: GameHistory, seat: int, whole: bool) -> str:
        if self.recall:
            return node.log_text(seat) if whole else node.private_log(seat)
        if seat == SPECTATOR:
            return describe(self.spec, node.public(0))
        return describe(self.spec, node.seen(seat), None if whole else node.public(seat))


class Resampler:
    """Draws a history from a seat's information set: for `ISMCTSBot.set_resampler`."""

    def __init__(self, seed: str = "resampler") -> None:
        self._stream = RandomStream(seed.encode(), "openspiel")

    def __call__(self, state: PisteState, player: int) -> PisteState:
        drawn: PisteState = state.get_game().new_initial_state()
        for step in state.node.belief(player).retell(self._stream):
            drawn.apply_action(step)
        return drawn


resampler = Resampler()
"""A ready one; for reproducible play make one with a seed."""


def register() -> None:
    """Register every game that is not registered yet; one that OpenSpiel cannot have is left out."""
    known = set(pyspiel.registered_names())
    for name in names():
        if short_name(name) not in known:
            try:
                game = find(name)
                described = game_type(game, logs=game_spec(name, learner_options(game, {})).logs)
            except PisteError as e:
                warnings.warn(f"OpenSpiel cannot have the game {name}. {e}", stacklevel=2)
                continue
            own = type(f"Piste{''.join(name.title().split('-'))}", (PisteGame,), {"NAME": name})
            globals()[own.__name__] = own  # where a pickle looks for it
            pyspiel.register_game(described, own)


register()
