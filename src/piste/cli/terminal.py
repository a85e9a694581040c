"""The terminal: printing, reading, colours, a pager for long texts, and what it can do. It knows no game."""

from __future__ import annotations

import contextlib
import os
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Protocol, TextIO

if TYPE_CHECKING:
    from piste.core.presentation import Mark

Marker = Callable[[str], "Iterable[Mark]"]
"""Says which parts of a line are drawn in colour."""

MIN_TEXT_WIDTH = 24
"""In a list, the least room for the text beside a name; where there is less, it stands below."""


def no_marks(_line: str) -> Iterable[Mark]:
    return ()


class Keyboard(Protocol):
    """Where answers come from: standard input, or anything that has these two."""

    def isatty(self) -> bool: ...
    def readline(self) -> str: ...


class Terminal:
    """Lines out, lines in. Plain text by default; colour only marks what is said twice anyway."""

    def __init__(
        self,
        out: TextIO | None = None,
        into: Keyboard | None = None,
        *,
        colour: bool | None = None,
        asking: bool = True,
        paging: bool = True,
    ) -> None:
        self.out = sys.stdout if out is None else out
        self.into: Keyboard = sys.stdin if into is None else into
        self.asking = asking  # False: fail instead of asking a person
        self.person = self.into.isatty() and self.out.isatty()  # a person sits there
        self._dumb = os.environ.get("TERM", "") in ("dumb", "")
        self.colour = self._wants_colour() if colour is None else colour
        self.marker: Marker = no_marks  # what is coloured in the lines that follow; a game sets it
        self._paging = paging and self.person and not self._dumb
        self._held: list[str] | None = None  # what waits for the pager

    def _wants_colour(self) -> bool:
        if os.environ.get("NO_COLOR"):
            return False
        return bool(os.environ.get("FORCE_COLOR")) or (self.out.isatty() and not self._dumb)

    @property
    def width(self) -> int:
        return max(20, self.size()[0])

    def size(self) -> tuple[int, int]:
        """Return columns and rows: as COLUMNS and LINES say, as the terminal says, or 80 by 24."""
        try:
            columns, rows = os.get_terminal_size(self.out.fileno())
        except (OSError, ValueError, AttributeError):
            columns, rows = 80, 24
        texts = [os.environ.get(name, "") for name in ("COLUMNS", "LINES")]
        sizes = [int(text) if text.isascii() and text.isdigit() and len(text) < 5 else 0 for text in texts]
        return (sizes[0] or columns or 80, sizes[1] or rows or 24)

    def line(self, text: str = "") -> None:
        """Print a line as it is; one that is too wide is broken at spaces where a terminal shows it."""
        for part in self._painted(text):
            self._print(part)

    def _print(self, text: str = "", end: str = "\n") -> None:
        if self._held is not None:
            self._held.append(text + end)
        else:
            print(text, end=end, file=self.out, flush=True)

    def _painted(self, text: str, tone: str = "") -> list[str]:
        """Return a line as it is shown: broken where it is too wide, and in colour where there is any."""
        parts = self._fitted(text)
        if not self.colour or not text:
            return parts
        from piste.cli.styles import painted, styled

        return [styled(part, tone) for part in parts] if tone else painted(text, parts, self.marker(text))

    def _fitted(self, text: str) -> list[str]:
        if not self.out.isatty() or len(text) <= self.width:
            return [text]
        margin = text[: len(text) - len(text.lstrip())]
        return textwrap.wrap(
            text, self.width, subsequent_indent=margin, break_long_words=False, break_on_hyphens=False
        )

    def lines(self, texts: list[str]) -> None:
        for text in texts:
            self.line(text)

    def note(self, text: str) -> None:
        """Print what is no line of a rule sheet: a notice, a refusal, an answer to `?`."""
        self.toned(text, "note")

    def toned(self, text: str, tone: str) -> None:
        """Print lines in one tone, such as a heading."""
        for line in text.split("\n"):
            for part in self._painted(line, tone):
                self._print(part)

    def whole(self, text: str) -> None:
        """Print a line that must not be broken: a command to be copied."""
        self._print(text)

    def listing(self, rows: Sequence[tuple[str, str]], *, indent: str = "") -> None:
        """Print names with a text each: in two columns where a person reads them, as `name: text` elsewhere."""
        if not self.out.isatty():
            for name, text in rows:
                self._print(f"{indent}{name}: {text}")
            return
        wide = max((len(name) for name, _ in rows), default=0)
        beside = self.width - len(indent) - wide - 2 >= MIN_TEXT_WIDTH
        margin = indent + " " * (wide + 2 if beside else 4)
        for name, text in rows:
            head = "".join(self._painted(name, "heading"))
            parts = textwrap.wrap(text, self.width - len(margin), break_on_hyphens=False)
            first = parts.pop(0) if beside and parts else ""
            self._print(f"{indent}{head}{' ' * (wide - len(name) + 2)}{first}" if first else f"{indent}{head}")
            for part in parts:
                self._print(margin + part)

    @contextlib.contextmanager
    def paged(self) -> Iterator[None]:
        """Show what is printed meanwhile in a pager, if a person sits here and it is longer than the screen."""
        if not self._paging or self._held is not None:
            yield
            return
        self._held = []
        try:
            yield
        finally:
            text, self._held = "".join(self._held), None
            from piste.cli.pager import show_in_pager

            if text.count("\n") < self.size()[1] or not show_in_pager(text):
                self._print(text, end="")

    def read(self, prompt: str) -> str:
        """Print a prompt and return the answer; EOFError when there is no more input."""
        *above, last = prompt.split("\n")
        if above and not last:  # the answer has a line of its own, below the question
            self.lines(above[:-1])
            self.toned(above[-1], "heading")
        else:
            self.lines(above)
        *parts, end = self._fitted(last)
        for part in parts:
            self.toned(part, "heading")
        gap = " " if last.endswith(" ") and not end.endswith(" ") else ""
        self._print("".join(self._painted(end, "heading")), end=gap)
        answer = self._typed_line()
        if not self.into.isatty():
            # What was piped in does not echo: show it, so that the page reads as a dialogue.
            print(printable(answer.rstrip("\n")), file=self.out, flush=True)
        return answer.rstrip("\n")

    def pause(self, text: str) -> str:
        """Wait for Enter if a person sits at the keyboard, and return what they typed instead.

        From a pipe no line is read.
        """
        if not self.into.isatty():
            self.line(text)
            return ""
        print(text, end="", file=self.out, flush=True)
        return self._typed_line().strip()

    def _typed_line(self) -> str:
        answer = self.into.readline()
        if not answer:
            print(file=self.out, flush=True)
            raise EOFError
        return answer

    def forget_typed(self) -> None:
        """Drop keys that were pressed too early: one Enter too many must not show another player's hand."""
        if self.into is sys.stdin and self.into.isatty():
            with contextlib.suppress(ImportError):
                import termios

                termios.tcflush(0, termios.TCIFLUSH)

    @property
    def typed(self) -> bool:
        """Whether answers are typed by a person, and not piped in."""
        return self.into.isatty()

    @property
    def can_hide(self) -> bool:
        """Whether what one person saw can be cleared before another looks; a pipe has nobody to hide from."""
        return self.out.isatty() or not self.into.isatty()

    @property
    def dumb(self) -> bool:
        """Whether the terminal can only be scrolled, not cleared."""
        return self._dumb and self.out.isatty()

    def clear(self) -> None:
        """Clear the screen and, where the terminal allows it, the scroll-back."""
        if not self.out.isatty():
            return
        if self._dumb:
            print("\n" * (2 * self.size()[1]), file=self.out, flush=True)
        else:
            print("\x1b[H\x1b[2J\x1b[3J", end="", file=self.out, flush=True)


def complain(text: str) -> None:
    """Print to the standard error, broken to fit where a person reads it; a machine gets it as it is."""
    for line in text.split("\n"):
        Terminal(sys.stderr, colour=False).line(line)


def printable(text: str) -> str:
    """Return input so that it can be shown: nothing that moves a cursor or cannot be encoded."""
    plain = "".join(c if c.isprintable() else "?" for c in text)
    return plain.encode("utf-8", "replace").decode()
