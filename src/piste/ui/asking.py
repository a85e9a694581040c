"""One question to one person: the sheet's steps, the short forms, the words that help, and kind refusals."""

from __future__ import annotations

from enum import Enum, auto

from piste.core.errors import Ambiguous, NotOpen, PisteError
from piste.core.game import Game, listed, quoted, tidy
from piste.core.screen import Prompt
from piste.core.views import SeatView
from piste.ui.screen import Screen, printable

HELP = """\
Answer the question, or type:
?       this help
rules   the rules of the game
hand    the position again (or: table)
log     what happened so far
hint    what a bot would choose
save    how to go on later
resign  give up this game
quit    stop; the game is kept"""

OWN = ("?", "help", "rules", "hand", "table")
SESSION = ("log", "hint", "save", "resign", "quit")


class Answer(Enum):
    DECISION = auto()
    COMMAND = auto()
    AGAIN = auto()


class Asker:
    """Asks one seat one question."""

    def __init__(
        self, game: Game, view: SeatView, names: tuple[str, ...], screen: Screen, *, brief: bool = False
    ) -> None:
        self.game = game
        self.view = view
        self.names = names
        self.screen = screen
        self.brief = brief
        self._first = self._prompt = game.words.ask(view, names)
        self._shown: Prompt | None = None

    def answer(self) -> tuple[Answer, int | str]:
        """Ask once; return a decision, a command for the session, or AGAIN."""
        text = self._text()
        self._shown = self._prompt
        said = self.screen.read(text)
        word = tidy(said)
        if not word:
            return Answer.AGAIN, ""
        if word in OWN:
            self._help(word)
            return Answer.AGAIN, ""
        if word in SESSION:
            return Answer.COMMAND, word
        found = self._step(self._prompt, word)
        if found is None:
            found = self._step(self._first, word)  # R or C again, after a slip
        if isinstance(found, Prompt):
            self._prompt = found
            return Answer.AGAIN, ""
        if found is None:
            found = self._decision(said)
        return (Answer.AGAIN, "") if found is None else (Answer.DECISION, found)

    def confirm(self, question: str) -> bool:
        return tidy(self.screen.read(question)) in ("yes", "y")

    def _text(self) -> str:
        """Return the question; only its last line when it is asked again."""
        text = (self.brief and self._prompt.brief) or self._prompt.text
        if self._shown is not self._prompt:
            return text
        ending = "\n" if text.endswith("\n") else ""
        return text.rstrip("\n").rpartition("\n")[2] + ending

    def _step(self, prompt: Prompt | int, word: str) -> Prompt | int | None:
        """Follow the answer through the questions: one step, or several typed at once."""
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

    def _decision(self, said: str) -> int | None:
        """Read a decision in the game's notation; refuse kindly, and offer what was perhaps meant."""
        words = [key.key for key in self._prompt.keys]
        legal = sum(1 << action for action in self.view.actions)
        try:
            return self.game.read_decision(self.view.position, self.view.kind, legal, said)
        except (NotOpen, Ambiguous) as e:
            self.screen.note(str(e))
        except PisteError:
            near = self._near(said, words)
            offer = f" Did you mean {near}?" if near else ""
            shown = quoted(printable(said))
            self.screen.note(f"{shown} is no answer here.{offer} You can type {listed(words, 'or')}; ? helps.")
        return None

    def _near(self, said: str, words: list[str]) -> str:
        """Return the decision that was perhaps meant, else the word of help; "" if nothing is near."""
        from difflib import get_close_matches

        spell = self.game.notation.spell
        decisions = {
            tidy(word): name
            for action, name in zip(self.view.actions, self.view.decisions, strict=True)
            for word in spell(self.view.position, action)
        }
        decisions |= {tidy(word): word for word in words}
        for known, cutoff in ((decisions, 0.6), ({word: word for word in (*OWN, *SESSION)}, 0.75)):
            found = get_close_matches(tidy(said), list(known), 1, cutoff)
            if found:
                return known[found[0]]
        return ""

    def _help(self, word: str) -> None:
        if word == "rules":
            from piste.ui.pages import rules_text

            self.screen.note(rules_text(self.game, self.screen.width))
        elif word in ("hand", "table"):
            for row in self.game.words.picture(self.view, self.names):
                self.screen.line(str(row))
        else:
            meanings = [f"{key.key}: {key.label}" for key in self._prompt.keys if key.label != key.key]
            self.screen.note("\n".join([*meanings, *HELP.split("\n")]))
