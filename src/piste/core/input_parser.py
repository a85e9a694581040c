"""Reading what a person typed at a question: the sheet's steps, short forms, the notation, and kind refusals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from piste.core.errors import UnreadableDecisionError
from piste.core.game import Game, listed, quoted, tidy
from piste.core.presentation import Prompt
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


MAX_GUESSES = 20
"""How many unreadable answers to one question are compared with what was perhaps meant."""


class Question:
    """One open question: what it needs to read answers is worked out once, however many cannot be read."""

    def __init__(self, game: Game, view: SeatView, prompt: Prompt) -> None:
        self.view = view
        self.prompt = prompt
        self._game = game
        self._guesses = MAX_GUESSES
        self._legal = sum(1 << action for action in view.actions)
        self._open = {
            tidy(word): name
            for action, name in zip(view.actions, view.decisions, strict=True)
            for word in game.notation.spell(view.position, action)
        }

    @cached_property
    def _spelled(self) -> frozenset[str]:
        """Every way to write a decision of this kind, also of those that are not open now."""
        spell, position = self._game.notation.spell, self.view.position
        others = self._game.notation.decisions(position, self.view.kind)
        return frozenset((*self._open, *(tidy(word) for action in others for word in spell(position, action))))

    def read(self, said: str, more: Sequence[str] = ()) -> Prompt | int:
        """Return the decision or the next question; else raise a sentence that offers what was perhaps meant.

        `more` are words that mean something here besides the answers.
        """
        wanted = tidy(said)
        answer = follow(self.prompt, wanted)
        if answer is not None:
            return answer
        if wanted in self._spelled:
            return self._game.read_decision(self.view.position, self.view.kind, self._legal, said)
        words = [key.key for key in self.prompt.keys]
        meant = ""
        if self._guesses:
            self._guesses -= 1
            meant = near(wanted, self._open | {tidy(word): word for word in words}, more)
        offer = f" Did you mean {meant}?" if meant else ""
        helps = "; ? helps" if more else ""
        raise UnreadableDecisionError(
            f"{quoted(said)} is no answer here.{offer} You can type {listed(words, 'or')}{helps}."
        )


def read(game: Game, view: SeatView, prompt: Prompt, said: str, more: Sequence[str] = ()) -> Prompt | int:
    """Return the decision or the next question that an answer leads to; see `Question.read`."""
    return Question(game, view, prompt).read(said, more)


def near(wanted: str, decisions: Mapping[str, str], more: Sequence[str] = ()) -> str:
    """Return the decision that was perhaps meant, else one of the other words; "" if nothing is near."""
    from difflib import get_close_matches

    for known, cutoff in ((decisions, 0.6), ({word: word for word in more}, 0.75)):
        # The ratio of two words is at most twice the shorter one in both together.
        likely = [word for word in known if 2 * min(len(word), len(wanted)) >= cutoff * (len(word) + len(wanted))]
        matches = get_close_matches(wanted, likely, 1, cutoff)
        if matches:
            return known[matches[0]]
    return ""
