"""A seat's view in words, for a language model: the rules, what the seat was told, what it sees, how to answer.

A prompt is built from a `SeatView` and nothing else: so it holds nothing that the seat may not know. No name of a
player or of a model is ever part of it.
"""

from __future__ import annotations

import json
from typing import NamedTuple

from piste.bots.messages import plain
from piste.core.belief import event_text
from piste.core.errors import OptionError
from piste.core.game import Game, find, quoted
from piste.core.information_set import InformationSet
from piste.core.paths import IN_PYTHON, rules_page
from piste.core.presentation import Drawn, EventContext, Passing, Pause, Prompt
from piste.core.views import SeatView

CHOICES = {
    "legal": ("shown", "hidden"),
    "rules": ("full", "short", "none"),
    "notation": ("words", "position", "json"),
    "memory": ("log", "view"),
}
"""What a prompt can be like; the first of each is the usual one."""

ANSWER = (
    "Think as long as you like. End your answer with one JSON object on a line of its own that names your decision "
    'exactly as it is written above, such as {"decision": "NAME"}. You may add your chance to win after that '
    'decision, from 0 to 1, a draw as half a win: {"decision": "NAME", "chance": 0.5}. The last such object counts.'
)


class PromptStyle(NamedTuple):
    """What a prompt tells."""

    legal: str = "shown"  # whether the decisions that are open are listed
    rules: str = "full"  # the page of the rules, a reminder of three lines, or nothing
    notation: str = "words"  # words, piste's notation of positions, or the JSON that programs get
    memory: str = "log"  # all that the seat was told, or only what it sees now


def prompt_style(**chosen: object) -> PromptStyle:
    """Return a style from what a person wrote."""
    for name, value in chosen.items():
        if value not in CHOICES[name]:
            raise OptionError(f"{name} cannot be {quoted(value)}: it is {' or '.join(CHOICES[name])}.")
    return PromptStyle(**{name: str(value) for name, value in chosen.items()})


def instructions(view: SeatView, style: PromptStyle) -> str:
    """Return what is the same for every decision of a game: the rules and who one is."""
    game = find(view.game)
    seats = seat_names(game, view)
    parts = [f"You play {game.notation.TITLE} as {seats[view.seat]} of {len(seats)} players. Play to win."]
    if style.rules != "none":
        parts.append(rules_text(game, view, style.rules))
    return "\n\n".join(parts)


def rules_text(game: Game, view: SeatView, length: str) -> str:
    """Return the rules with these options."""
    changes = game.changes(view.options)
    here = "\n".join(["This game differs from these rules:", *(f"- {line}" for line in changes)]) if changes else ""
    if length == "full":
        text = rules_page(game).partition(IN_PYTHON)[0].strip()
    else:
        text = "\n".join([game.line(view.options), *game.tips(view.options)])
    return "\n\n".join(filter(None, [text, here]))


def question(view: SeatView, style: PromptStyle) -> str:
    """Return what the seat has before it now, and how to answer."""
    parts = [position_text(view, style)]
    game = find(view.game)
    if style.legal == "shown":
        told = {name: game.told(view, action) for name, action in zip(view.decisions, view.actions, strict=True)}
        open_now = [name if said in (name, f"{game.kind_name(view.kind)} {name}") else f"{name} ({said})"
                    for name, said in told.items()]  # fmt: skip
        parts.append(f"Open to you: {', '.join(open_now)}")
    parts.append(ANSWER)
    return "\n\n".join(parts)


def position_text(view: SeatView, style: PromptStyle) -> str:
    """Return what the seat sees, and what it was told if it is to remember."""
    game = find(view.game)
    remembers = style.memory == "log"
    if style.notation == "position":
        known = InformationSet.told(game, view) if remembers else InformationSet.of(game, view)
        return f"What you know, in piste's notation:\n{known}\nYou are asked to {asked(game, view)}."
    if style.notation == "json":
        told = [event_text(game, view.options, entry.event) for entry in view.log] if remembers else None
        document = {
            "game": view.game,
            "options": game.option_texts(view.options),
            "seat": game.seat_name(view.seat),
            "kind": game.kind_name(view.kind),
            "view": plain(view.position),
            **({} if told is None else {"log": told}),
        }
        return json.dumps(document, ensure_ascii=False)
    seats = seat_names(game, view)
    parts = []
    if remembers and (lines := log_lines(game, view, seats)):
        parts.append("\n".join(["What happened so far, as you know it:", *(f"- {line}" for line in lines)]))
    rows = [str(row) for row in game.text.picture(view, seats)]
    parts.append("\n".join(["What you see now:", *rows]))
    parts.append(f"You are asked: {asked(game, view)}")
    return "\n\n".join(parts)


def asked(game: Game, view: SeatView) -> str:
    """Return the question, or the kind of the decision where a person would be asked in several steps."""
    prompt: Prompt = getattr(game.text, "prompt", game.text.ask)(view, seat_names(game, view))
    return prompt.question if all(isinstance(key.then, int) for key in prompt.keys) else game.kind_name(view.kind)


def log_lines(game: Game, view: SeatView, seats: tuple[str, ...]) -> list[str]:
    """Return what the seat was told, a line each."""
    source = game.text if game.log is None else game.log
    lines: list[str] = []
    for at in range(len(view.log)):
        said = source.lines(EventContext(view.seat, seats, view.opening, view.log[: at + 1]))
        lines += [line.strip() for line in said if line.strip() and not isinstance(line, Pause | Drawn | Passing)]
    return lines


def seat_names(game: Game, view: SeatView) -> tuple[str, ...]:
    return tuple(f"Player {name}" for name in game.notation.SEATS[: game.rules.seats(view.options)])
