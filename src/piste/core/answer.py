"""Reading what a person typed at a question: the sheet's steps, short forms, the notation, and kind refusals."""

from __future__ import annotations

from collections.abc import Sequence

from piste.core.errors import Ambiguous, NotOpen, PisteError, Unreadable
from piste.core.game import Game, listed, quoted, tidy
from piste.core.screen import Prompt
from piste.core.views import SeatView


def follow(prompt: Prompt | int, word: str) -> Prompt | int | None:
    """Follow an answer, tidied, through the questions: one step, or several typed at once."""
    rest = word
    while isinstance(prompt, Prompt):
        fits = [
            (len(form), key)
            for key in prompt.keys
            for form in map(tidy, (key.key, *key.also))
            if rest.startswith(form)
        ]
        if not fits:
            return None
        length, key = max(fits, key=lambda pair: pair[0])
        rest, prompt = rest[length:], key.then
        if not rest:
            return prompt
    return None


def read(game: Game, view: SeatView, prompt: Prompt, said: str, more: Sequence[str] = ()) -> Prompt | int:
    """Return the decision or the next question; else raise a sentence that offers what was perhaps meant.

    `more` are words that mean something here besides the answers.
    """
    found = follow(prompt, tidy(said))
    if found is not None:
        return found
    legal = sum(1 << action for action in view.actions)
    try:
        return game.read_decision(view.position, view.kind, legal, said)
    except (NotOpen, Ambiguous):
        raise
    except PisteError:
        words = [key.key for key in prompt.keys]
        meant = near(game, view, said, words, more)
        offer = f" Did you mean {meant}?" if meant else ""
        helps = "; ? helps" if more else ""
        raise Unreadable(
            f"{quoted(said)} is no answer here.{offer} You can type {listed(words, 'or')}{helps}."
        ) from None


def near(game: Game, view: SeatView, said: str, words: Sequence[str], more: Sequence[str] = ()) -> str:
    """Return the decision that was perhaps meant, else one of the other words; "" if nothing is near."""
    from difflib import get_close_matches

    decisions = {
        tidy(word): name
        for action, name in zip(view.actions, view.decisions, strict=True)
        for word in game.notation.spell(view.position, action)
    }
    decisions |= {tidy(word): word for word in words}
    for known, cutoff in ((decisions, 0.6), ({word: word for word in more}, 0.75)):
        found = get_close_matches(tidy(said), list(known), 1, cutoff)
        if found:
            return known[found[0]]
    return ""
