"""One question to one person: the steps of the rule sheet, short forms, commands that help, and refusals."""

from __future__ import annotations

from enum import Enum, auto

from piste.cli.terminal import Terminal, printable
from piste.core.errors import PisteError
from piste.core.game import Game, tidy
from piste.core.input_parser import follow, read
from piste.core.presentation import Prompt
from piste.core.views import SeatView

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

PROMPT_COMMANDS = ("?", "help", "rules", "hand", "table")
SESSION_COMMANDS = ("log", "hint", "save", "resign", "quit")
COMMANDS = (*PROMPT_COMMANDS, *SESSION_COMMANDS)


class Answer(Enum):
    DECISION = auto()
    COMMAND = auto()
    AGAIN = auto()


class Prompter:
    """Asks one seat one question."""

    def __init__(
        self, game: Game, view: SeatView, names: tuple[str, ...], terminal: Terminal, *, brief: bool = False
    ) -> None:
        self.game = game
        self.view = view
        self.names = names
        self.terminal = terminal
        self.brief = brief
        self._first = self._prompt = game.text.ask(view, names)
        self._shown: Prompt | None = None

    def answer(self) -> tuple[Answer, int | str]:
        """Ask once; return a decision, a command for the session, or AGAIN."""
        text = self._text()
        self._shown = self._prompt
        answer = self.terminal.read(text)
        word = tidy(answer)
        if not word:
            return Answer.AGAIN, ""
        if word in PROMPT_COMMANDS:
            self._help(word)
            return Answer.AGAIN, ""
        if word in SESSION_COMMANDS:
            return Answer.COMMAND, word
        chosen = follow(self._prompt, word)
        if chosen is None:
            chosen = follow(self._first, word)  # R or C again, after a slip
        if chosen is None:
            try:
                chosen = read(self.game, self.view, self._prompt, printable(answer), COMMANDS)
            except PisteError as e:
                self.terminal.note(str(e))
                return Answer.AGAIN, ""
        if isinstance(chosen, Prompt):
            self._prompt = chosen
            return Answer.AGAIN, ""
        return Answer.DECISION, chosen

    def confirm(self, question: str) -> bool:
        return tidy(self.terminal.read(question)) in ("yes", "y")

    def _text(self) -> str:
        """Return the question; only its last line when it is asked again."""
        text = (self.brief and self._prompt.brief) or self._prompt.text
        if self._shown is not self._prompt:
            return text
        ending = "\n" if text.endswith("\n") else ""
        return text.rstrip("\n").rpartition("\n")[2] + ending

    def _help(self, word: str) -> None:
        if word == "rules":
            from piste.cli.rules_page import rules_text

            changes = self.game.changes(self.view.options)
            with self.terminal.paged():
                if changes:
                    self.terminal.note("\n".join(["This game differs from the page below:", *changes, ""]))
                self.terminal.note(rules_text(self.game, self.terminal.width))
        elif word in ("hand", "table"):
            for row in self.game.text.picture(self.view, self.names):
                self.terminal.line(str(row))
        else:
            meanings = [f"{key.key}: {key.meaning}" for key in self._prompt.keys if key.meaning != key.key]
            self.terminal.note("\n".join([*meanings, *HELP.split("\n")]))
