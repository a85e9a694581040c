"""Episodes of the environments: games dealt from seeds, observations as arrays, actions as integers.

No rule is known here: the game's rules decide what is legal, and a seat sees its own view and nothing else.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from piste.compiled.stepper import Stepper
from piste.core.dealer import ChanceSource, Dealer, RandomStream, fresh_seed
from piste.core.errors import IllegalDecisionError, OptionError
from piste.core.game import Game, find, listed, quoted
from piste.core.position import Position
from piste.core.steps import Resignation, Step
from piste.core.table import Table
from piste.core.views import SeatView
from piste.rl.encoder import Encoder, learner_options

RENDER_MODES = ("human", "ansi")
MAX_SKIPPED_GAMES = 1000
"""How many games in a row may end before a seat has to decide."""

Seen = dict[str, Any]  # observation: Floats, action_mask: Mask


class Episode:
    """Plays one game after another, and can be copied and pickled in the middle of one.

    A seed names a row of games: the first is the one that a table deals from the seed written in digits.
    """

    def __init__(self, name: str, given: Mapping[str, int | str], max_cycles: int | None = None) -> None:
        self.game = find(name)
        self.options = learner_options(self.game, with_max_cycles(self.game, given, max_cycles))
        self.encoder = Encoder(self.game, self.options)
        self.seats = self.game.rules.seats(self.options)
        self.agents = tuple(f"player_{seat}" for seat in range(self.seats))
        self.skipped = 0  # games before this one that ended without a decision
        self._row = ""  # the seed of the row, once there is one
        self._at = 0  # which game of the row this is
        self._taken: list[Step] = []  # decisions and resignations of this game
        self._start = Position(self.game, self.game.rules.start(self.options))
        self._close()

    def _close(self) -> None:
        self._stepper: Stepper | None = None  # the game
        self._table: Table | None = None  # made when it is asked for; it catches up then
        self._views: dict[int, SeatView] = {}

    def begin(self, seed: int | None = None) -> None:
        """Deal the first game of a seed's row, or the next one; a game that asks nobody anything is passed over."""
        if seed is not None:
            self._row, self._at = str(whole(seed, "A seed")), 0
        elif not self._row:
            self._row, self._at = fresh_seed(), 0
        for self.skipped in range(MAX_SKIPPED_GAMES):
            self._at += 1
            self._open()
            if not self.over:
                return
        raise OptionError(
            f"With these options, {self.game.notation.TITLE} ended {MAX_SKIPPED_GAMES} times before any decision."
        )

    @property
    def seed(self) -> str:
        """What this game is dealt from: `piste.open_table` with it deals the same."""
        return self._row if self._at == 1 else f"{self._row} game {self._at}"

    def _open(self, dealer: ChanceSource | None = None) -> None:
        self._close()
        self._taken = []
        self._stepper = Stepper.at(self._start, dealer or Dealer(self.seed))
        self._stepper.deal()

    @property
    def stepper(self) -> Stepper:
        if self._stepper is None:
            raise IllegalDecisionError("No game has begun: call reset() first.")
        return self._stepper

    @property
    def to_act(self) -> int | None:
        return self.stepper.to_act

    @property
    def over(self) -> bool:
        return not self.stepper.asked

    def stream(self, name: str) -> RandomStream:
        """Return a stream of this game's own, which changes nothing of what is dealt."""
        return Dealer(self.seed).stream(name)

    @property
    def table(self) -> Table:
        """The same game at a table, for names and logs."""
        if self._table is None:
            self._table = Table(self.game, self.options, Dealer(self.seed), counts=False)
        for step in self._taken[self._table.number :]:
            if isinstance(step, Resignation):
                self._table.resign(step.seat)
            else:
                assert self._table.to_act is not None
                self._table.decide(self._table.to_act, step)
        return self._table

    def view(self, seat: int) -> SeatView:
        """Return the view of a seat."""
        if seat not in self._views:
            self._views[seat] = self.table.view(seat)
        return self._views[seat]

    def seen(self, seat: int) -> Seen:
        """Return a seat's observation and action mask; the mask is all 0 unless the seat is to act."""
        encoder = self.encoder
        observation, mask = np.empty(encoder.size, np.float32), np.empty(encoder.actions, np.int8)
        self.stepper.observe(seat, encoder.layout, observation, mask)
        return {"observation": observation, "action_mask": mask}

    def decide(self, action: Any) -> None:
        """Take a decision of the seat to act, a whole number of any type; or say why it cannot be taken."""
        stepper = self.stepper
        try:
            number = operator.index(action)
            stepper.advance(number)
        except (TypeError, IllegalDecisionError):
            seat = stepper.to_act
            if seat is None:
                raise IllegalDecisionError("The game is over: call reset().") from None
            raise IllegalDecisionError(
                f"{self.agents[seat]} cannot take action {quoted(action)}: its action_mask says what is open. "
                f"It can take {listed(offers(self.view(seat)), 'or')}."
            ) from None
        self._taken.append(number)
        if self._views:
            self._views = {}

    def resign(self, seat: int) -> None:
        """Take a seat out of the game."""
        self.stepper.resign(seat)
        self.stepper.deal()
        self._taken.append(Resignation(seat))
        self._views = {}

    def payoffs(self) -> tuple[int, ...]:
        return self.stepper.payoffs()

    def cut(self) -> bool:
        """Say whether the game was truncated by the turn limit."""
        return self.over and bool(self.encoder.numbers.cut(self.stepper.position().state))

    def text(self, seat: int) -> str:
        """Return what a seat or a spectator sees as text, with its actions and their numbers."""
        view = self.view(seat)
        lines = [str(row) for row in self.game.text.picture(view, self.agents)]
        if view.ending is not None:
            winner = view.ending.winner
            who = "nobody wins" if winner is None else f"{self.agents[winner]} wins"
            lines += [f"The game is over, {who}: {view.ending.reason}."]
        if view.actions:
            lines += [f"{self.agents[seat]} can take {listed(offers(view), 'or')}."]
        return "\n".join(lines) + "\n"

    def render(self, mode: str | None, seat: int) -> str | None:
        """Return what a seat or a spectator sees as text, or print it, as the render mode says."""
        if mode is None:
            gymnasium.logger.warn("There is nothing to render: make the environment with a render_mode.")
            return None
        text = self.text(seat)
        if mode == "ansi":
            return text
        print(text)
        return None

    # A game is its seed and its decisions: rules are modules, which cannot be pickled, and need not be.

    def __getstate__(self) -> dict[str, Any]:
        left_out = ("game", "encoder", "_views", "_stepper", "_table", "_start")
        state = {name: value for name, value in vars(self).items() if name not in left_out}
        return state | {"name": self.game.name, "begun": self._stepper is not None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        self.game, begun, taken = find(state.pop("name")), state.pop("begun"), list(state["_taken"])
        vars(self).update(state)
        self.encoder = Encoder(self.game, self.options)
        self._start = Position(self.game, self.game.rules.start(self.options))
        self._close()
        if begun:
            self._open()
            for step in taken:
                self.resign(step.seat) if isinstance(step, Resignation) else self.decide(step)


def with_max_cycles(game: Game, given: Mapping[str, int | str], max_cycles: int | None) -> dict[str, int | str]:
    """Return options with a limit on cycles as the turn limit, where the game has one; others end by themselves."""
    options = dict(given)
    if max_cycles is not None and "turns" in game.rules.Options._fields:
        if "turns" in options:
            raise OptionError("turns and max_cycles are the same limit: give one of them.")
        options["turns"] = whole(max_cycles, "max_cycles")
    return options


def whole(value: Any, what: str) -> int:
    """Return a whole number of any type as a plain one."""
    try:
        return operator.index(value)
    except TypeError:
        raise OptionError(f"{what} must be a whole number, not {quoted(value)}.") from None


def render_mode_of(mode: str | None) -> str | None:
    """Return a valid render mode or None; refuse any other."""
    if mode is not None and mode not in RENDER_MODES:
        raise OptionError(f"There is no render_mode {quoted(mode)}. There are: {', '.join(RENDER_MODES)}.")
    return mode


def offers(view: SeatView) -> list[str]:
    """Return a seat's actions, each with the name of its decision."""
    return [f"{action} ({name})" for action, name in zip(view.actions, view.decisions, strict=True)]


def observation_space(encoder: Encoder) -> spaces.Dict:
    """Return the space of a seat's observation and action mask."""
    return spaces.Dict(
        {
            "observation": spaces.Box(encoder.low, encoder.high, dtype=encoder.low.dtype.type),
            "action_mask": spaces.Box(0, 1, (encoder.actions,), dtype=np.int8),
        }
    )


def action_space(encoder: Encoder) -> spaces.Discrete:
    """Return the space of a seat's actions."""
    return spaces.Discrete(encoder.actions)
