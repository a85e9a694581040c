"""Game histories for OpenSpiel: the steps so far, each seat's log of them, and its observation.

Nothing here needs OpenSpiel. Everything about secrecy comes from the game's own `tell` and `look`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from piste.compiled.stepper import Stepper
from piste.core.belief import Belief, believed, event_text
from piste.core.game import Game, find, members
from piste.core.observation import AMOUNTS, COUNTS, FLAGS, Part
from piste.core.position import Position
from piste.core.protocols import HIDDEN, OVER, SPECTATOR, Event
from piste.core.views import LogEntry, SeatView
from piste.rl.encoder import Encoder, Floats

MAX_LOG_SIZE = 4096
"""A log of more numbers than this is not offered as a tensor: it would be too large to learn from."""


class GameSpec:
    """A game with its options: what all its states share."""

    def __init__(self, game: Game, options: Any) -> None:
        self.game, self.options, self.rules = game, options, game.rules
        self.seats = game.rules.seats(options)
        self.encoder = Encoder(game, options)
        numbers = self.encoder.numbers
        self.actions, self.chances = numbers.actions(options), numbers.chances(options)
        self.decisions, self.outcomes = numbers.longest(options)
        # Unless the game says otherwise, the winner gets one from each of the others.
        paid = getattr(numbers, "payoffs", None)
        self.payoffs: tuple[float, float] = (-1.0, self.seats - 1.0) if paid is None else paid(options)
        self.shown = numbers.SHOWN
        sizes = [(part, len(part.names(options))) for part in numbers.LAYOUT]
        self.parts = [(part, size) for part, size in sizes if size]  # some options leave a part without numbers
        # A row of the log: what sort of event, whose, what, and what else was told with it.
        self.widths = (len(game.notation.KINDS), self.seats, *2 * (max(self.actions, self.chances),))
        self.log = (self.decisions + self.outcomes, sum(self.widths))
        self.logs = self.log[0] * self.log[1] <= MAX_LOG_SIZE
        self.first = GameHistory(self, Stepper.at(Position(game, game.rules.start(options))), None, HIDDEN)


@lru_cache(maxsize=256)
def game_spec(name: str, options: Any) -> GameSpec:
    """Return the GameSpec of a game and its options; states share it, and find it again when unpickled."""
    return GameSpec(find(name), options)


class GameHistory:
    """A node of the game tree: a state and the steps to it. It never changes, so copies of a State share it."""

    __slots__ = ("_beliefs", "_state", "_texts", "action", "asked", "before", "spec", "stepper", "steps")

    def __init__(self, spec: GameSpec, stepper: Stepper, before: GameHistory | None, action: int) -> None:
        self.spec, self.stepper, self.before, self.action = spec, stepper, before, action
        self.asked = stepper.asked
        self.steps: int = 0 if before is None else before.steps + 1
        self._state: Any = None
        self._texts: dict[int, str] = {}
        self._beliefs: dict[int, Belief] = {}

    def after(self, action: int) -> GameHistory:
        stepper = self.stepper.copy()
        stepper.apply(action)
        return GameHistory(self.spec, stepper, self, action)

    @property
    def state(self) -> Any:
        if self._state is None:
            self._state = self.stepper.position().state
        return self._state

    def history(self) -> tuple[int, ...]:
        return tuple(node.action for node in self.all()[1:])

    def all(self) -> list[GameHistory]:
        """Return every node from the start to this one."""
        nodes: list[GameHistory] = []
        at: GameHistory | None = self
        while at is not None:
            nodes.append(at)
            at = at.before
        return nodes[::-1]

    def __deepcopy__(self, _: Any) -> GameHistory:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        # As its steps, so that a long game is not a deep pickle.
        return replay_steps, (self.spec.game.name, self.spec.options, self.history())

    # What a seat was told

    def event(self, seat: int) -> Event:
        """Return what a seat was told of the last step."""
        assert self.before is not None
        return self.spec.rules.tell(self.before.state, self.action, seat)

    def step_text(self, seat: int) -> str:
        """Return what a seat was told of the last step and what it was shown with it, in the notation."""
        event, spec = self.event(seat), self.spec
        text = event_text(spec.game, spec.options, event)
        if event.also != HIDDEN:
            text += f"/{event.also}"
        if spec.shown:
            view = spec.rules.look(self.state, seat)
            for field in spec.shown:
                value = getattr(view, field)
                numbers = value if isinstance(value, tuple) else (value,)
                if any(n not in (0, HIDDEN) for n in numbers):
                    text += f"+{field}={','.join(map(str, numbers))}"
        return text

    def log_text(self, seat: int) -> str:
        """Return a seat's log as text, step by step."""
        missing: list[GameHistory] = []
        at = self
        while at.before is not None and seat not in at._texts:
            missing.append(at)
            at = at.before
        text = at._texts.get(seat, "")
        for node in reversed(missing):
            text = f"{text} {node.step_text(seat)}" if text else node.step_text(seat)
            node._texts[seat] = text
        return text

    def private_log(self, seat: int) -> str:
        """Return the part of a seat's log that a spectator was not told, each with the number of its step."""
        steps = ((node.steps, node.step_text(seat), node.step_text(SPECTATOR)) for node in self.all()[1:])
        return " ".join(f"{number}.{own}" for number, own, everybody in steps if own != everybody)

    def view(self, seat: int) -> SeatView:
        """Return the view that a seat would have at a table here, its log included."""
        spec, rules = self.spec, self.spec.rules
        nodes = self.all()
        log = tuple(LogEntry(node.event(seat), rules.look(node.state, seat)) for node in nodes[1:])
        position, actor = rules.look(self.state, seat), rules.to_act(self.state)
        actions = tuple(members(rules.legal(self.state))) if actor == seat else ()
        return SeatView(
            game=spec.game.name,
            options=spec.options,
            seat=seat,
            number=sum(rules.to_act(node.state) >= 0 for node in nodes[:-1]),
            kind=HIDDEN if actor == OVER else rules.kind(self.state),
            position=position,
            decisions=tuple(spec.game.notation.spell(position, action)[0] for action in actions),
            actions=actions,
            opening=rules.look(nodes[0].state, seat),
            log=log,
            origin="",
            counts=False,
            ending=spec.game.ending(self.state) if actor == OVER else None,
        )

    def belief(self, seat: int) -> Belief:
        """Return the belief of a seat; cached, since a search asks for it at every pass."""
        if seat not in self._beliefs:
            spec = self.spec
            self._beliefs[seat] = believed(spec.game, spec.first.state, seat, self.view(seat).log)
        return self._beliefs[seat]

    # What a seat sees

    def seen(self, seat: int) -> Any:
        return self.spec.rules.look(self.state, seat)

    def public(self, seat: int) -> Any:
        """Return what a spectator sees, from a seat's side of the table."""
        return self.spec.rules.look(self.state, SPECTATOR)._replace(viewer=seat)

    def write_log(self, seat: int, lines: Floats, *, all_of_it: bool) -> None:
        """Write a seat's log into rows; without `all_of_it` only what a spectator was not told."""
        for node in self.all()[1:]:
            event = node.event(seat)
            if all_of_it or event != node.event(SPECTATOR):
                at = 0
                for which, width in zip(event, self.spec.widths, strict=True):
                    if 0 <= which < width:
                        lines[node.steps - 1, at + which] = 1
                    at += width


def replay_steps(name: str, options: Any, history: tuple[int, ...]) -> GameHistory:
    """Return the node to which these steps lead."""
    node = game_spec(name, options).first
    for action in history:
        node = node.after(action)
    return node


def encode_view(spec: GameSpec, view: Any, public: Any | None = None) -> Floats:
    """Return a view as numbers; compared with a public one, with 0 for each part in which they are the same."""
    line = spec.encoder.encode(view)
    if public is not None:
        at = 0
        for part, size in spec.parts:
            if part.read(view) == part.read(public):
                line[at : at + size] = 0
            at += size
    return line


def describe(spec: GameSpec, view: Any, public: Any | None = None) -> str:
    """Return the same in words: each part of the game's layout by its name."""
    return " | ".join(
        f"{part.name}: {value_text(part, spec.options, part.read(view))}"
        for part, _ in spec.parts
        if public is None or part.read(view) != part.read(public)
    )


def value_text(part: Part, options: Any, value: Any) -> str:
    """Return what a part reads, with the names it has for it."""
    names = part.names(options)
    if part.form == FLAGS:
        words = [name for i, name in enumerate(names) if value >> i & 1]
    elif part.form == COUNTS:
        words = [f"{name} x{value >> 4 * i & 15}" for i, name in enumerate(names)]
    elif part.form == AMOUNTS:
        words = [str(value[i]) for i in range(len(names))]
    else:
        words = [names[value]] if 0 <= value < len(names) else []
    return ", ".join(words) or "-"


def part_shapes(spec: GameSpec, name: str = "") -> dict[str, tuple[int, ...]]:
    """Return the parts of an encoded view with their shapes."""
    return {f"{part.name}{name}": (size,) for part, size in spec.parts}


def allocate(shapes: dict[str, tuple[int, ...]]) -> tuple[Floats, dict[str, Floats]]:
    """Return one array for all these shapes, and each of them as a slice of it."""
    sizes = [int(np.prod(shape)) for shape in shapes.values()]
    whole = np.zeros(sum(sizes), np.float32)
    pieces, at = {}, 0
    for (name, shape), size in zip(shapes.items(), sizes, strict=True):
        pieces[name] = whole[at : at + size].reshape(shape)
        at += size
    return whole, pieces
