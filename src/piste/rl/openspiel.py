"""piste's games for OpenSpiel: importing this registers each as `python_piste_<name>`.

import pyspiel
import piste.rl.openspiel

game = pyspiel.load_game("python_piste_zero_sum_duel(top=3,hand=2,turns=6)")
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from itertools import product
from typing import Any

from piste.core.dealer import RandomStream
from piste.core.extras import OPENSPIEL, load
from piste.core.game import Game, Option, find, members, names, write_option
from piste.core.protocols import CHANCE, OVER, SPECTATOR

load(OPENSPIEL)

import pyspiel

from piste.rl.encoder import Floats, settled
from piste.rl.openspiel_history import GameHistory, Kind, described, empty, encoded, joined, kind_of

Values = Mapping[str, int | str]


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
    return parameters(game, settled(game, {}))


def _numbers_of_seats(game: Game) -> tuple[int, int]:
    """Return how few and how many may play, over the ends of every option's range."""
    plain = game.rules.Options()
    ends = product(game.notation.OPTIONS, (False, True))
    found = [game.rules.seats(plain._replace(**{o.name: o.high if high else o.low})) for o, high in ends]
    return min(found, default=game.rules.seats(plain)), max(found, default=game.rules.seats(plain))


def game_type(game: Game, *, logs: bool) -> Any:
    """Return what OpenSpiel is told of a game; `logs`: whether the log of a seat is offered as a tensor."""
    fewest, most = _numbers_of_seats(game)
    open_to_all = not kind_of(game.name, settled(game, {})).shown
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
        options = settled(game, _given({**_defaults(game), **(params or {})}))
        kind = kind_of(game.name, options)
        info = pyspiel.GameInfo(
            num_distinct_actions=kind.actions,
            max_chance_outcomes=kind.chances,
            num_players=kind.seats,
            min_utility=-1.0,
            max_utility=kind.seats - 1.0,  # the winner gets what the others pay
            utility_sum=0.0,
            max_game_length=kind.decisions,
        )
        super().__init__(game_type(game, logs=kind.logs), info, parameters(game, options))

    @cached_property
    def kind(self) -> Kind:
        # Out of the parameters, because a game that comes out of a pickle has nothing else.
        return kind_of(self.NAME, settled(find(self.NAME), _given(self.get_parameters())))

    def new_initial_state(self, *_: Any) -> PisteState:
        return PisteState(self)

    def max_chance_nodes_in_history(self) -> int:
        return self.kind.outcomes

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> PisteObserver:
        return PisteObserver(self, iig_obs_type, params)


class PisteState(pyspiel.State):  # type: ignore[misc]
    """A place in a game. OpenSpiel's copies share the trail, which never changes."""

    def __init__(self, game: PisteGame) -> None:
        super().__init__(game)
        self.trail: GameHistory = game.kind.first

    def current_player(self) -> int:
        actor = self.trail.kind.rules.to_act(self.trail.state)
        if actor == OVER:
            return int(pyspiel.PlayerId.TERMINAL)
        return int(pyspiel.PlayerId.CHANCE) if actor == CHANCE else actor

    def is_terminal(self) -> bool:
        return self.trail.kind.rules.to_act(self.trail.state) == OVER

    def _legal_actions(self, _: int) -> list[int]:
        return members(self.trail.kind.rules.legal(self.trail.state))

    def chance_outcomes(self) -> list[tuple[int, float]]:
        rules, state = self.trail.kind.rules, self.trail.state
        whole = rules.spread(state)
        return [(outcome, rules.weight(state, outcome) / whole) for outcome in members(rules.outcomes(state))]

    def _apply_action(self, action: int) -> None:
        self.trail = self.trail.after(int(action))

    def _action_to_string(self, _: int, action: int) -> str:
        kind, state = self.trail.kind, self.trail.state
        actor = kind.rules.to_act(state)
        if actor != OVER and (kind.rules.outcomes if actor == CHANCE else kind.rules.legal)(state) >> action & 1:
            return kind.game.notation.name(kind.options, kind.rules.kind(state), action)
        return str(action)  # of some other place: what it means there nobody can say here

    def returns(self) -> list[float]:
        kind = self.trail.kind
        return [float(kind.rules.payoff(self.trail.state, seat)) for seat in range(kind.seats)]

    def __str__(self) -> str:
        fields = self.trail.kind.game.notation.fields(self.trail.state)
        return " ".join(f"{key}={value}" for key, value in fields.items())


class PisteObserver:
    """What is seen or was told: by everybody (public), by one seat or by each (private), now or from the start."""

    def __init__(self, game: PisteGame, iig_obs_type: Any, params: Any) -> None:
        if params:
            raise ValueError(f"These games take no parameters for observations, and there are some: {params}")
        wanted = iig_obs_type or pyspiel.IIGObservationType(perfect_recall=False)
        private = pyspiel.PrivateInfoType
        self.kind = game.kind
        self.recall, self.public = bool(wanted.perfect_recall), bool(wanted.public_info)
        self.own = wanted.private_info == private.SINGLE_PLAYER
        self.every = wanted.private_info == private.ALL_PLAYERS
        self.tensor: Floats | None = None
        self.dict: dict[str, Floats] = {}
        shapes = self._shapes()
        if shapes is not None:
            self.tensor, self.dict = joined(shapes)

    def _shapes(self) -> dict[str, tuple[int, ...]] | None:
        """Return the pieces of the tensor; None if there is none."""
        kind = self.kind
        marks = [""] if self.public or self.own else []
        if self.every:
            marks += [f"@{kind.game.seat_name(seat)}" for seat in range(kind.seats)]
        shapes: dict[str, tuple[int, ...]] = {}
        if self.recall:
            if not kind.logs:
                return None
            shapes.update({"player": (kind.seats,)} if self.own else {})
            shapes.update({f"log{mark}": kind.log for mark in marks})
        else:
            for mark in marks:
                shapes.update(empty(kind, mark))
        return shapes

    def set_from(self, state: PisteState, player: int) -> None:
        """Fill the tensor with what `player` may know at `state`."""
        if self.tensor is None:
            return
        self.tensor.fill(0)
        if "player" in self.dict:
            self.dict["player"][player] = 1
        at = 0 if "player" not in self.dict else self.kind.seats
        for seat, whole in self._audiences(player):
            line = self.tensor[at : at + self._piece()]
            if self.recall:
                state.trail.logged(seat, line.reshape(self.kind.log), all_of_it=whole)
            else:
                line[:] = self._encoded(state.trail, seat, whole)
            at += len(line)

    def string_from(self, state: PisteState, player: int) -> str:
        """Return what `player` may know at `state` as text."""
        found = [self._text(state.trail, seat, whole) for seat, whole in self._audiences(player)]
        if self.recall and self.public and self.own:
            found.insert(0, f"{self.kind.game.seat_name(player)}:")
        return " ".join(text for text in found if text)

    def _audiences(self, player: int) -> list[tuple[int, bool]]:
        """Return for whom things are written, one after the other, and whether all of it or only what is private."""
        if self.own:
            return [(player, self.public)]
        return [(SPECTATOR, True)] * self.public + [(seat, False) for seat in range(self.kind.seats) if self.every]

    def _piece(self) -> int:
        return self.kind.log[0] * self.kind.log[1] if self.recall else self.kind.encoder.size

    def _encoded(self, trail: GameHistory, seat: int, whole: bool) -> Any:
        if seat == SPECTATOR:
            return encoded(self.kind, trail.public(0))  # from where the first seat sits, for all alike
        return encoded(self.kind, trail.seen(seat), None if whole else trail.public(seat))

    def _text(self, trail: GameHistory, seat: int, whole: bool) -> str:
        if self.recall:
            return trail.told(seat) if whole else trail.confided(seat)
        if seat == SPECTATOR:
            return described(self.kind, trail.public(0))
        return described(self.kind, trail.seen(seat), None if whole else trail.public(seat))


class Resampler:
    """Draws a game that a seat cannot tell from the true one: for `ISMCTSBot.set_resampler`."""

    def __init__(self, seed: str = "resampler") -> None:
        self._stream = RandomStream(seed.encode(), "openspiel")

    def __call__(self, state: PisteState, player: int) -> PisteState:
        drawn: PisteState = state.get_game().new_initial_state()
        for step in state.trail.belief(player).retell(self._stream):
            drawn.apply_action(step)
        return drawn


resampler = Resampler()
"""One that is ready to use; for play that can be repeated make one of your own, with a seed."""


def register() -> None:
    """Register every game there is, unless it is registered already."""
    known = set(pyspiel.registered_names())
    for name in names():
        if short_name(name) not in known:
            game = find(name)
            own = type(f"Piste{''.join(name.title().split('-'))}", (PisteGame,), {"NAME": name})
            globals()[own.__name__] = own  # where a pickle looks for it
            pyspiel.register_game(game_type(game, logs=kind_of(name, settled(game, {})).logs), own)


register()
