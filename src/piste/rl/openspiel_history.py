"""One game as OpenSpiel walks it: the steps so far, what each seat was told of them, and what it sees.

Nothing here needs OpenSpiel. Everything about secrecy comes from the game's own `tell` and `look`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from piste.core.belief import Belief, believed, event_text
from piste.core.game import Game, find, members
from piste.core.observation import AMOUNTS, COUNTS, FLAGS, Part
from piste.core.protocols import HIDDEN, OVER, SPECTATOR, Event
from piste.core.views import LogEntry, SeatView
from piste.rl.encoder import Encoder, Floats

LOG = 4096
"""A log of more numbers than this is not offered as a tensor: nobody could learn from it."""


class Kind:
    """A game with its options: what all its states share."""

    def __init__(self, game: Game, options: Any) -> None:
        self.game, self.options, self.rules = game, options, game.rules
        self.seats = game.rules.seats(options)
        self.encoder = Encoder(game, options)
        numbers = self.encoder.numbers
        self.actions, self.chances = numbers.actions(options), numbers.chances(options)
        self.decisions, self.outcomes = numbers.longest(options)
        self.shown = numbers.SHOWN
        sizes = [(part, len(part.names(options))) for part in numbers.LAYOUT]
        self.parts = [(part, size) for part, size in sizes if size]  # some options leave a part without numbers
        # A row of the log: what sort of event, whose, what, and what else was told with it.
        self.widths = (len(game.notation.KINDS), self.seats, *2 * (max(self.actions, self.chances),))
        self.log = (self.decisions + self.outcomes, sum(self.widths))
        self.logs = self.log[0] * self.log[1] <= LOG
        self.first = GameHistory(self, game.rules.start(options), None, HIDDEN)


@lru_cache(maxsize=256)
def kind_of(name: str, options: Any) -> Kind:
    """Return the one Kind for a game and its options: states share it, and find it again when they are unpickled."""
    return Kind(find(name), options)


class GameHistory:
    """A state and the steps that led to it. It never changes, so copies of an OpenSpiel state share it."""

    __slots__ = ("_beliefs", "_texts", "action", "before", "kind", "state", "steps")

    def __init__(self, kind: Kind, state: Any, before: GameHistory | None, action: int) -> None:
        self.kind, self.state, self.before, self.action = kind, state, before, action
        self.steps: int = 0 if before is None else before.steps + 1
        self._texts: dict[int, str] = {}
        self._beliefs: dict[int, Belief] = {}

    def after(self, action: int) -> GameHistory:
        return GameHistory(self.kind, self.kind.rules.apply(self.state, action), self, action)

    def history(self) -> tuple[int, ...]:
        return tuple(trail.action for trail in self.all()[1:])

    def all(self) -> list[GameHistory]:
        """Return every place from the start to here."""
        found: list[GameHistory] = []
        at: GameHistory | None = self
        while at is not None:
            found.append(at)
            at = at.before
        return found[::-1]

    def __deepcopy__(self, _: Any) -> GameHistory:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        # As its steps, so that a long game is not a deep pickle.
        return retraced, (self.kind.game.name, self.kind.options, self.history())

    # What a seat was told

    def event(self, seat: int) -> Event:
        """Return what a seat was told of the last step."""
        assert self.before is not None
        return self.kind.rules.tell(self.before.state, self.action, seat)

    def heard(self, seat: int) -> str:
        """Return what a seat was told of the last step and what it was shown with it, in the notation."""
        event, kind = self.event(seat), self.kind
        text = event_text(kind.game, kind.options, event)
        if event.also != HIDDEN:
            text += f"/{event.also}"
        if kind.shown:
            view = kind.rules.look(self.state, seat)
            for field in kind.shown:
                value = getattr(view, field)
                numbers = value if isinstance(value, tuple) else (value,)
                if any(n not in (0, HIDDEN) for n in numbers):
                    text += f"+{field}={','.join(map(str, numbers))}"
        return text

    def told(self, seat: int) -> str:
        """Return all that a seat was told, step by step."""
        missing: list[GameHistory] = []
        at = self
        while at.before is not None and seat not in at._texts:
            missing.append(at)
            at = at.before
        text = at._texts.get(seat, "")
        for trail in reversed(missing):
            text = f"{text} {trail.heard(seat)}" if text else trail.heard(seat)
            trail._texts[seat] = text
        return text

    def confided(self, seat: int) -> str:
        """Return what this seat was told otherwise than everybody, each with the number of its step."""
        steps = ((trail.steps, trail.heard(seat), trail.heard(SPECTATOR)) for trail in self.all()[1:])
        return " ".join(f"{number}.{own}" for number, own, everybody in steps if own != everybody)

    def view(self, seat: int) -> SeatView:
        """Return what a seat at a table would have before it here, its log included."""
        kind, rules = self.kind, self.kind.rules
        places = self.all()
        log = tuple(LogEntry(trail.event(seat), rules.look(trail.state, seat)) for trail in places[1:])
        position, actor = rules.look(self.state, seat), rules.to_act(self.state)
        actions = tuple(members(rules.legal(self.state))) if actor == seat else ()
        return SeatView(
            game=kind.game.name,
            options=kind.options,
            seat=seat,
            number=sum(rules.to_act(trail.state) >= 0 for trail in places[:-1]),
            kind=HIDDEN if actor == OVER else rules.kind(self.state),
            position=position,
            decisions=tuple(kind.game.notation.spell(position, action)[0] for action in actions),
            actions=actions,
            opening=rules.look(places[0].state, seat),
            log=log,
            origin="",
            counts=False,
            ending=kind.game.ending(self.state) if actor == OVER else None,
        )

    def belief(self, seat: int) -> Belief:
        """Return what a seat holds possible; kept, since a search asks for it at every pass."""
        if seat not in self._beliefs:
            kind = self.kind
            self._beliefs[seat] = believed(kind.game, kind.first.state, seat, self.view(seat).log)
        return self._beliefs[seat]

    # What a seat sees

    def seen(self, seat: int) -> Any:
        return self.kind.rules.look(self.state, seat)

    def public(self, seat: int) -> Any:
        """Return what everybody sees, from where a seat sits."""
        return self.kind.rules.look(self.state, SPECTATOR)._replace(viewer=seat)

    def logged(self, seat: int, lines: Floats, *, all_of_it: bool) -> None:
        """Write what a seat was told into rows; without `all_of_it` only what everybody was not."""
        for trail in self.all()[1:]:
            event = trail.event(seat)
            if all_of_it or event != trail.event(SPECTATOR):
                at = 0
                for which, width in zip(event, self.kind.widths, strict=True):
                    if 0 <= which < width:
                        lines[trail.steps - 1, at + which] = 1
                    at += width


def retraced(name: str, options: Any, history: tuple[int, ...]) -> GameHistory:
    """Return the place to which these steps lead."""
    trail = kind_of(name, options).first
    for action in history:
        trail = trail.after(action)
    return trail


def encoded(kind: Kind, view: Any, public: Any | None = None) -> Floats:
    """Return a view as numbers; compared with a public one, with 0 for each part in which they are the same."""
    line = kind.encoder.encode(view)
    if public is not None:
        at = 0
        for part, size in kind.parts:
            if part.read(view) == part.read(public):
                line[at : at + size] = 0
            at += size
    return line


def described(kind: Kind, view: Any, public: Any | None = None) -> str:
    """Return the same in words: each part of the game's layout by its name."""
    return " | ".join(
        f"{part.name}: {written(part, kind.options, part.read(view))}"
        for part, _ in kind.parts
        if public is None or part.read(view) != part.read(public)
    )


def written(part: Part, options: Any, value: Any) -> str:
    """Return what a part reads, with the names it has for it."""
    names = part.names(options)
    if part.form == FLAGS:
        found = [name for i, name in enumerate(names) if value >> i & 1]
    elif part.form == COUNTS:
        found = [f"{name} x{value >> 4 * i & 15}" for i, name in enumerate(names)]
    elif part.form == AMOUNTS:
        found = [str(value[i]) for i in range(len(names))]
    else:
        found = [names[value]] if 0 <= value < len(names) else []
    return ", ".join(found) or "-"


def empty(kind: Kind, name: str = "") -> dict[str, tuple[int, ...]]:
    """Return the parts of an encoded view with their shapes."""
    return {f"{part.name}{name}": (size,) for part, size in kind.parts}


def joined(shapes: dict[str, tuple[int, ...]]) -> tuple[Floats, dict[str, Floats]]:
    """Return an array for all these shapes together, and each of them as a piece of it."""
    sizes = [int(np.prod(shape)) for shape in shapes.values()]
    whole = np.zeros(sum(sizes), np.float32)
    pieces, at = {}, 0
    for (name, shape), size in zip(shapes.items(), sizes, strict=True):
        pieces[name] = whole[at : at + size].reshape(shape)
        at += size
    return whole, pieces
