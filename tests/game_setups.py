"""The kinds of games that the property tests play, and how many of each."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from typing import Any, NamedTuple, TypeVar

import piste
from piste.core.game import find, members, names
from piste.core.protocols import CHANCE, OVER
from piste.core.steps import Step, apply_step


class Kind(NamedTuple):
    game: str
    options: dict[str, int | str]

    def __str__(self) -> str:
        inside = ",".join(f"{key}={value}" for key, value in self.options.items())
        return f"{self.game}[{inside}]"


# As people and tournaments play them: the sheets' sizes.
LISTED = (
    Kind("zero-sum-duel", {"turns": 200}),
    Kind("positive-negative", {}),
    Kind("zero-sum-grid", {"turns": 50}),  # random play all but never ends it sooner
    Kind("zero-sum-grid", {"variant": "harvest"}),
    Kind("prime-duel", {}),
    Kind("mccoy-duel", {"rounds": 3}),
    Kind("mccoy-duel", {"players": 3, "rounds": 3}),
    Kind("mccoy-duel", {"players": 4, "rounds": 3}),
)

# A game that is new in the tree is played too, without being listed here.
FULL = (
    *LISTED,
    *(
        Kind(name, {"turns": 200} if "turns" in find(name).rules.Options._fields else {})
        for name in names()
        if name not in {kind.game for kind in LISTED}
    ),
)

# Other options, and sizes small enough to be looked through completely.
ODD = (
    Kind("zero-sum-grid", {}),
    Kind("mccoy-duel", {}),
    Kind("zero-sum-duel", {"first": "b", "top": 7, "hand": 4, "turns": 60}),
    Kind("zero-sum-duel", {"top": 3, "hand": 2, "turns": 7}),
    Kind("positive-negative", {"top": 3}),
    Kind("positive-negative", {"top": 30}),
    Kind("zero-sum-grid", {"deal": "any", "first": 2, "turns": 30}),
    Kind("zero-sum-grid", {"top": 1, "turns": 3}),
    Kind("zero-sum-grid", {"variant": "harvest", "deal": "any", "top": 1, "turns": 9}),  # some have no move at once
    Kind("zero-sum-grid", {"variant": "harvest", "deal": "any", "top": 15, "first": 1, "turns": 64}),
    Kind("zero-sum-grid", {"variant": "harvest", "top": 2, "first": 2, "turns": 1}),
    Kind("prime-duel", {"first": 2, "top": 15, "copies": 15, "target": 1000, "turns": 40}),
    Kind("prime-duel", {"top": 2, "copies": 1, "target": 4, "turns": 6}),
    Kind("mccoy-duel", {"first": 2, "rounds": 1, "colours": "dcba"}),
    Kind("mccoy-duel", {"players": 3, "powers": "05*", "rounds": 1, "first": 1}),
    Kind("mccoy-duel", {"players": 4, "powers": "0247*", "rounds": 3, "first": 4}),
    Kind("mccoy-duel", {"powers": "0*", "rounds": 1}),
)


def games(usual: int, of: Kind | None = None) -> int:
    """Return how many games a test plays: few in a usual run, as many as PISTE_GAMES says in a proof.

    The kinds of one game share them: a hundred thousand games of Duel are so many with 2, 3 and 4 players together.
    """
    asked = os.environ.get("PISTE_GAMES")
    if asked is None:
        return usual
    shared = 1 if of is None else sum(kind.game == of.game for kind in FULL)
    return max(usual, -(-int(asked) // shared))


def played(kind: Kind, seed: object, *, resigning: float = 0.0, most: int = 100_000) -> piste.Table:
    """Return a table where a game was played at random to its end."""
    table = piste.open_table(kind.game, kind.options, seed=f"{kind} {seed}")
    chooser = random.Random(f"{kind} {seed}")
    for _ in range(most):
        actor = table.to_act
        if actor is None:
            return table
        if resigning and chooser.random() < resigning:
            left = [seat for seat in range(table.seats) if piste.Resignation(seat) not in table.history()]
            table.resign(chooser.choice(left))
        else:
            table.decide(actor, chooser.choice(table.view(actor).actions), table.number)
    raise AssertionError(f"{kind} {seed} did not end within {most} decisions")


def actions(steps: tuple[Step, ...]) -> tuple[int, ...]:
    """Return the steps of a history without resignations."""
    numbers = tuple(step for step in steps if isinstance(step, int))
    assert len(numbers) == len(steps)
    return numbers


S = TypeVar("S", bound=Step)


def walked(kind: Kind, history: tuple[S, ...]) -> Iterator[tuple[Any, S | None]]:
    """Yield each state of a history with the step taken there; None at the last."""
    rules = find(kind.game).rules
    state = rules.start(find(kind.game).options(kind.options))
    for step in history:
        yield state, step
        state = apply_step(rules, state, step)
    yield state, None


def choices(kind: Kind, state: Any) -> list[int]:
    """Return every step that may follow a state."""
    rules = find(kind.game).rules
    actor = rules.to_act(state)
    if actor == OVER:
        return []
    return members(rules.outcomes(state) if actor == CHANCE else rules.legal(state))
