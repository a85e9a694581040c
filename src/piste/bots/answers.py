"""What a language model answered: a decision, or a fault with its kind and a sentence for the model.

A decision is the last JSON object of the text that names one. Nothing is guessed from prose: an idea that was
weighed and dropped there is no decision.
"""

from __future__ import annotations

import json
import re
from typing import NamedTuple

from piste.core.errors import IllegalDecisionError, UnreadableDecisionError
from piste.core.game import Game, find, listed, quoted, tidy
from piste.core.views import SeatView

EMPTY, TRUNCATED, UNREADABLE, ILLEGAL, REFUSED, TIMED_OUT = FAULTS = (
    "empty", "truncated", "unreadable", "illegal", "refused", "timed out",
)  # fmt: skip
"""The kinds of faults."""

_OBJECT = re.compile(r"\{[^{}]*\}")
"""A JSON object without another one inside: found in one pass, however long the text is."""

MAX_ANSWER_TEXT = 200
"""How much of an answer is kept where it is shown to people."""


class Answer(NamedTuple):
    """A decision, and the chance to win that the model stated, if any."""

    action: int
    chance: float | None


class Fault(NamedTuple):
    """An answer that is no decision."""

    kind: str  # one of FAULTS
    why: str  # a sentence that the model is told


def read_answer(view: SeatView, text: str, *, tells_legal: bool) -> Answer | Fault:
    """Return the decision that a text names, or what is wrong with it."""
    if not text.strip():
        return Fault(EMPTY, f"Your answer was empty. {_again(view, tells_legal)}")
    found = named_decision(text)
    if found is None:
        return Fault(UNREADABLE, f'Your answer has no JSON object with a "decision". {_again(view, tells_legal)}')
    name, chance = found
    game = find(view.game)
    try:
        action = game.read_decision(view.position, view.kind, sum(1 << action for action in view.actions), name)
    except UnreadableDecisionError:
        return Fault(UNREADABLE, f"{quoted(name)} is not a decision here. {_again(view, tells_legal)}")
    except IllegalDecisionError:
        return Fault(ILLEGAL, f"{why_illegal(game, view, name)} {_again(view, tells_legal)}")
    return Answer(action, chance)


def named_decision(text: str) -> tuple[str, float | None] | None:
    """Return the last decision that is named in a text, and the chance stated with it."""
    for found in reversed(_OBJECT.findall(text)):
        try:
            document = json.loads(found)
        except (ValueError, RecursionError):
            continue
        decision = document.get("decision")
        if isinstance(decision, str | int) and not isinstance(decision, bool):
            chance = document.get("chance")
            stated = isinstance(chance, int | float) and not isinstance(chance, bool) and 0 <= chance <= 1
            return str(decision), float(chance) if stated else None
    return None


def why_illegal(game: Game, view: SeatView, name: str) -> str:
    """Return why a decision that can be read cannot be taken; what is open instead is told elsewhere."""
    wanted = [action for action in game.notation.decisions(view.position, view.kind) if action not in view.actions]
    for action in wanted:
        if tidy(name) in map(tidy, game.notation.spell(view.position, action)):
            return game.notation.why_not(view.position, action)
    return f"{quoted(name)} could mean more than one decision."


def _again(view: SeatView, tells_legal: bool) -> str:
    example = 'Answer again and end with {"decision": "NAME"}'
    return f"{example}, where NAME is {listed(list(view.decisions), 'or')}." if tells_legal else f"{example}."
