"""A game with its options as the checks meet it, the fault that a check finds, and the histories they look at."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any, NamedTuple

import piste
from piste.core.errors import PisteError
from piste.core.game import Game, members
from piste.core.protocols import CHANCE, OVER
from piste.core.steps import Resignation, Step, apply_step
from piste.core.table import Table

MAX_DECISIONS = 50_000
"""A random game that has not ended after so many is called endless."""


class FaultError(Exception):
    """A fault: which function it is in, a sentence, and the shortest history known that shows it."""

    def __init__(self, function: str, sentence: str, history: str = "") -> None:
        after = f" After: {history}." if history else ""
        super().__init__(f"{function}: {sentence}{after}")
        self.function, self.sentence, self.history = function, sentence, history


class Seen(NamedTuple):
    """A state that was reached, and how."""

    state: Any
    before: Seen | None
    step: int

    def steps(self) -> tuple[int, ...]:
        steps: list[int] = []
        at: Seen = self
        while at.before is not None:
            steps.append(at.step)
            at = at.before
        return tuple(reversed(steps))


class Case:
    """A game with options: what every check is given. Each takes `games` random games, or as much as that costs."""

    def __init__(self, game: Game | str, options: Any = None, games: int = 20) -> None:
        self.game = piste.find(game) if isinstance(game, str) else game
        self.given: dict[str, int | str] = dict(options or {})
        self.games = games
        self.rules = self.game.rules
        self.options = self.game.options(self.given)
        self.seats = self.rules.seats(self.options)
        self._tables: dict[object, Table] = {}

    def __str__(self) -> str:
        inside = ",".join(f"{key}={value}" for key, value in self.given.items())
        return f"{self.game.name}[{inside}]"

    def open(self, seed: object) -> Table:
        return piste.open_table(self.game.name, self.given, seed=f"{self} {seed}")

    def played(self, seed: object, *, resigning: float = 0.0) -> Table:
        """Return a table where a game was played at random to its end."""
        key = seed, resigning
        if key not in self._tables:
            self._tables[key] = self._play(seed, resigning)
        return self._tables[key]

    def _play(self, seed: object, resigning: float) -> Table:
        table, chooser = self.open(seed), random.Random(f"{self} {seed}")
        for _ in range(MAX_DECISIONS):
            actor = table.to_act
            if actor is None:
                return table
            if resigning and chooser.random() < resigning:
                left = [seat for seat in range(table.seats) if Resignation(seat) not in table.history()]
                table.resign(chooser.choice(left))
            else:
                table.decide(actor, chooser.choice(table.view(actor).actions), table.number)
        raise FaultError(
            "apply", f"a game of random decisions did not end within {MAX_DECISIONS:,} of them: it needs a limit."
        )

    def random_histories(self) -> Iterator[tuple[Step, ...]]:
        """Yield the histories of random games; in every fourth somebody may resign."""
        for seed in range(self.games):
            yield self.played(seed, resigning=0.01 if seed % 4 == 0 else 0.0).history()

    def walked(self, history: Iterable[Step]) -> Iterator[tuple[Any, Step | None]]:
        """Yield each state of a history with the step taken there; None at the last."""
        state = self.rules.start(self.options)
        for step in history:
            yield state, step
            state = apply_step(self.rules, state, step)
        yield state, None

    def choices(self, state: Any) -> list[int]:
        """Return every step that may follow a state."""
        actor = self.rules.to_act(state)
        return [] if actor == OVER else members((self.rules.outcomes if actor == CHANCE else self.rules.legal)(state))

    def told(self, history: Iterable[Step]) -> str:
        """Return a history in words, as far as the notation has any."""
        words: list[str] = []
        state = self.rules.start(self.options)
        for step in history:
            if isinstance(step, Resignation):
                words.append(f"{self.game.seat_name(step.seat)} resigns")
            else:
                words.append(self._name(state, step))
            try:
                state = apply_step(self.rules, state, step)
            except Exception:  # the fault itself, perhaps
                break
        return ", ".join(words) or "the start"

    def _name(self, state: Any, step: int) -> str:
        try:
            kind = self.rules.kind(state)
            name = f"{self.game.kind_name(kind)} {self.game.notation.name(self.options, kind, step)}"
        except Exception:  # rules or a notation that are wrong may fail in any way
            name = f"action {step}"
        return name

    @cached_property
    def defaults(self) -> bool:
        """Whether the options are those of the rules page."""
        return bool(self.options == self.rules.Options())


def raised(error: Exception) -> str:
    """Return an error as one sentence."""
    first = next((line.strip() for line in str(error).splitlines() if line.strip()), "")
    return first if isinstance(error, PisteError) else f"{type(error).__name__}: {first}"


def seat_text(case: Case, seat: int) -> str:
    return "a spectator" if seat < 0 else f"Player {case.game.seat_name(seat)}"
