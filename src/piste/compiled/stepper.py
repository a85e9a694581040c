"""One game in progress, stepped in place by action numbers: compiled where numba is installed."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from operator import index
from types import ModuleType
from typing import Any, cast

from piste.compiled import step_kernels
from piste.compiled.codegen import module, row_storage, sized_encoding
from piste.compiled.compiler import link_modules, observation_spec, spec_source
from piste.compiled.step_kernels import ASKED, KIND, STATE, TO_ACT
from piste.core import bits, observation
from piste.core.dealer import ChanceSource, Dealer
from piste.core.errors import IllegalDecisionError
from piste.core.extras import COMPILED, has
from piste.core.game import Game, find, members, quoted
from piste.core.position import Position

MAX_ACTIONS = 62
ENTRIES = ("take", "draw", "refresh", "resigned", "paid", "chances", "observe")

WHOLE_STATE = f"""
def stored(row):
    return row[{STATE}]
def store(s, row):
    row[{STATE}] = s
"""
"""What `row_storage` returns, for rows that hold a state as it is."""


@cache
def stepper_kernels(game: Game, *, compiled: bool) -> Any:
    """Return a module with the rules, the kernels of a stepper and the game's observation."""
    rules, spec = game.rules, observation_spec(game)
    assert isinstance(rules, ModuleType)
    layout = spec.LAYOUT
    storage = row_storage(rules.State, STATE) if compiled else WHOLE_STATE
    text = module(f"{rules.__name__}_row", storage, sized_encoding(layout))
    for i, part in enumerate(layout):
        vars(text)[f"own_part_{i}"] = part.read
    vars(text)["TEXT"] += spec_source(spec)
    modules = (rules, step_kernels, observation, text)
    return link_modules(*modules, compiled=compiled, inline=(bits, rules, text), entries=ENTRIES)


@cache
def _numba_installed() -> bool:
    return has(COMPILED)


@cache
def _unpacking(game: Game) -> Any:
    """Return the functions, interpreted, that make a state of a compiled row."""
    rules = cast("ModuleType", game.rules)
    return link_modules(
        rules, module(f"{rules.__name__}_state", row_storage(game.rules.State, STATE)), compiled=False
    )


@lru_cache(maxsize=1024)
def _row_at(game: Game, state: Any, compiled: bool) -> Any:
    """Return the row of a state; it is copied, never changed."""
    kernels = stepper_kernels(game, compiled=compiled)
    if not compiled:
        row: Any = [0] * STATE + [state]
    else:
        import numpy as np

        row = np.array([0] * STATE + _numbers(state), np.int64)
    kernels.refresh(row)
    return row


def _numbers(value: Any) -> list[int]:
    return [number for part in value for number in _numbers(part)] if isinstance(value, tuple) else [value]


class Stepper:
    """One game in progress, for programs that step it themselves, as fast as Python can call.

    `apply(action)` takes a decision or an outcome, `draw(card)` one of the equally likely cards. Both return
    `asked`, what is to be said next, as one number: the set of the legal decisions as a mask (bit `a` for action
    `a`); at chance, minus the number of cards to draw from; 0 when the game is over. Secrets are not kept here.

    It runs the game's own rules, compiled where numba is installed; the first time that takes some seconds.

    >>> stepper = Stepper("zero-sum-grid", seed="an example")
    >>> stepper.deal(), stepper.to_act
    (4095, 0)
    >>> stepper.advance(7), stepper.to_act
    (4095, 1)
    """

    __slots__ = ("_dealer", "_draw", "_kernels", "_row", "_take", "asked", "game", "options")

    asked: int
    _take: Callable[[Any, int], int]
    _draw: Callable[[Any, int], int]

    def __init__(
        self,
        game: Game | str,
        options: Mapping[str, int | str] | None = None,
        *,
        seed: str | bytes | None = None,
        compiled: bool | None = None,
    ) -> None:
        self.game = find(game) if isinstance(game, str) else game
        self.options = self.game.options(options)
        self._dealer: ChanceSource | None = None if seed is None else Dealer(seed)
        self._set(self.game.rules.start(self.options), compiled)

    @classmethod
    def at(cls, position: Position, dealer: ChanceSource | None = None, *, compiled: bool | None = None) -> Stepper:
        """Return a stepper that begins at a position, with a dealer for `deal` and `advance` if there is one."""
        stepper = cls.__new__(cls)
        stepper.game, stepper.options, stepper._dealer = position.game, position.state.options, dealer
        stepper._set(position.state, compiled)
        return stepper

    def _set(self, state: Any, compiled: bool | None) -> None:
        compiled = _numba_installed() if compiled is None else compiled
        self._kernels = stepper_kernels(self.game, compiled=compiled)
        self._take, self._draw = self._kernels.take, self._kernels.draw
        self._row = _row_at(self.game, state, compiled).copy()
        self.asked = int(self._row[ASKED])

    def apply(self, action: int) -> int:
        """Take a decision or an outcome, by its number; return what is asked then."""
        try:  # other types of whole numbers would be compiled for
            self.asked = asked = self._take(self._row, action if type(action) is int else index(action))
        except (OverflowError, TypeError):
            raise IllegalDecisionError(f"{quoted(action)} is no number of an action.") from None
        return asked

    def draw(self, card: int) -> int:
        """Draw card number `card` of those that are equally likely at chance; return what is asked then."""
        try:
            self.asked = asked = self._draw(self._row, card if type(card) is int else index(card))
        except (OverflowError, TypeError):
            raise IllegalDecisionError(f"{quoted(card)} is no number of a card.") from None
        return asked

    def deal(self) -> int:
        """Let the dealer act until a seat is to decide or the game is over; return what is asked then."""
        dealer, asked = self._dealer, self.asked
        if asked < 0 and dealer is None:
            raise IllegalDecisionError("This game has no dealer: begin it with a seed, or draw its cards.")
        while asked < 0:
            if isinstance(dealer, Dealer):
                asked = self.draw(dealer.chance(self.game, int(self._row[KIND])).below(-asked))
            else:
                assert dealer is not None
                asked = self.apply(dealer.outcome(self.game, self.position().state))
        return asked

    def advance(self, action: int) -> int:
        """Take a decision, and let the dealer act; return what is asked then."""
        asked = self.apply(action)
        return self.deal() if asked < 0 else asked

    def resign(self, seat: int) -> int:
        """Take a seat out of the game where some seat is to act; return what is asked then."""
        if self.asked <= 0:
            raise IllegalDecisionError("A seat can resign where some seat is to act.")
        self.asked = asked = int(self._kernels.resigned(self._row, seat))
        return asked

    @property
    def actor(self) -> int:
        """The seat that is to decide, CHANCE or OVER."""
        return int(self._row[TO_ACT])

    @property
    def to_act(self) -> int | None:
        """The seat that is to decide, CHANCE, or None when the game is over."""
        return int(self._row[TO_ACT]) if self.asked else None

    @property
    def legal(self) -> int:
        """The set of decisions of the seat to act, as a mask; 0 if none is."""
        return max(self.asked, 0)

    @property
    def spread(self) -> int:
        """The number of equally likely cards that chance draws from; 0 if it is not to act."""
        return max(-self.asked, 0)

    def outcomes(self) -> list[tuple[int, float]]:
        """Return each outcome that chance may bring, by number, with its probability."""
        if self.asked >= 0:
            return []
        if isinstance(self._row, list):
            rules, state = self.game.rules, self._row[STATE]
            return [
                (outcome, rules.weight(state, outcome) / -self.asked) for outcome in members(rules.outcomes(state))
            ]
        actions, shares = _buffers()
        n = self._kernels.chances(self._row, actions, shares)
        return list(zip(actions[:n].tolist(), shares[:n].tolist(), strict=True))

    def payoffs(self) -> tuple[int, ...]:
        """Return what each seat has won or lost: all 0 while the game goes on."""
        return tuple(int(self._kernels.paid(self._row, seat)) for seat in range(self.game.rules.seats(self.options)))

    def observe(self, seat: int, layout: Any, observation: Any, mask: Any) -> None:
        """Write into the caller's arrays what a seat sees and which decisions it has: see `rl.encoder.Encoder`."""
        self._kernels.observe(self._row, seat, *layout, observation, mask)

    def position(self) -> Position:
        """Return where the game is, as a value that stays."""
        row = self._row
        return Position(self.game, row[STATE] if isinstance(row, list) else _unpacking(self.game).stored(row))

    def copy(self) -> Stepper:
        """Return a game that goes on from here by itself; what its dealer deals is the same."""
        other = Stepper.__new__(Stepper)
        other.game, other.options, other._kernels = self.game, self.options, self._kernels
        other._take, other._draw, other._row, other.asked = self._take, self._draw, self._row.copy(), self.asked
        other._dealer = None if self._dealer is None else copy.deepcopy(self._dealer)
        return other

    def __reduce__(self) -> tuple[Any, ...]:
        return Stepper.at, (self.position(), self._dealer)


@cache
def _buffers() -> tuple[Any, Any]:
    """Return room for actions and probabilities."""
    import numpy as np

    return np.zeros(MAX_ACTIONS, np.int64), np.zeros(MAX_ACTIONS)
