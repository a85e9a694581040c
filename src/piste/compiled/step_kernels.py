"""Kernels of `stepper.py`: one game in a row of numbers, stepped in place.

The row holds who is to act, what is asked and the kind of it, then the state; `codegen.py` generates `stored` and
`store` from the game's State. What is asked is one number, so that one call says all a caller needs to go on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from piste.core.bits import lowest
from piste.core.errors import IllegalDecisionError
from piste.core.observation import put_flags
from piste.core.protocols import CHANCE

if TYPE_CHECKING:
    from piste.compiled.kernels import apply, leave, legal, look, outcomes, payoff, spread, to_act, weight

    def kind(s: Any) -> int: ...
    def stored(row: Any) -> Any: ...
    def store(s: Any, row: Any) -> None: ...
    def encode(v: Any, sizes: Any, shares: Any, lines: Any) -> None: ...


TO_ACT, ASKED, KIND, STATE = 0, 1, 2, 3
"""The places of a row."""


def put_state(row: Any, s: Any) -> int:
    """Write a state and what is asked there: a set of decisions, minus the number of cards to draw from, or 0."""
    actor = to_act(s)
    asked = 0
    if actor >= 0:
        asked = legal(s)
    elif actor == CHANCE:
        asked = -spread(s)
    row[TO_ACT], row[ASKED], row[KIND] = actor, asked, kind(s)
    store(s, row)
    return asked


def take(row: Any, action: int) -> int:
    """Take a decision or an outcome; return what is asked then."""
    s = stored(row)
    asked = int(row[ASKED])
    if asked < 0:
        asked = outcomes(s)
    if action < 0 or action > 61 or (asked >> action) & 1 == 0:
        raise IllegalDecisionError("This action is not open here.")
    return put_state(row, apply(s, action))


def draw(row: Any, card: int) -> int:
    """Take the outcome that card number `card` is, when the cards are numbered in the order of their outcomes."""
    if card < 0 or card >= -row[ASKED]:
        raise IllegalDecisionError("There is no card of this number to draw here.")
    s = stored(row)
    left = outcomes(s)
    card -= weight(s, lowest(left))
    while card >= 0:
        left &= left - 1
        card -= weight(s, lowest(left))
    return put_state(row, apply(s, lowest(left)))


def refresh(row: Any) -> int:
    """Write what is asked at the state that a row holds."""
    return put_state(row, stored(row))


def resigned(row: Any, seat: int) -> int:
    """Take a seat out of the game; return what is asked then."""
    return put_state(row, leave(stored(row), seat))


def paid(row: Any, seat: int) -> int:
    """Return what a seat has won or lost."""
    return payoff(stored(row), seat)


def chances(row: Any, actions: Any, shares: Any) -> int:
    """Write the outcomes that chance may bring, with the probability of each; return how many there are."""
    s = stored(row)
    left = outcomes(s)
    n = 0
    while left:
        actions[n] = lowest(left)
        shares[n] = weight(s, lowest(left)) / -row[ASKED]
        left &= left - 1
        n += 1
    return n


def observe(row: Any, seat: int, sizes: Any, shares: Any, observation: Any, mask: Any) -> None:
    """Write what a seat sees, and the mask of its decisions: all 0 unless it is to act."""
    encode(look(stored(row), seat), sizes, shares, observation.reshape((1, len(observation))))
    put_flags(mask.reshape((1, len(mask))), 0, 0, len(mask), row[ASKED] if row[TO_ACT] == seat else 0)
