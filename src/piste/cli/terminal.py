"""The terminal: printing, reading, and what it can do. It knows no game."""

from __future__ import annotations

import contextlib
import os
import sys
import textwrap
from typing import Protocol, TextIO


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
    ) -> None:
        self.out = sys.stdout if out is None else out
        self.into: Keyboard = sys.stdin if into is None else into
        self.asking = asking  # False: fail instead of asking a person
        self.person = self.into.isatty() and self.out.isatty()  # a person sits there
        self._dumb = os.environ.get("TERM", "") in ("dumb", "")
        self.colour = self._wants_colour() if colour is None else colour

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
        print("\n".join(self._fitted(text)), file=self.out, flush=True)

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
        for line in text.split("\n"):
            for part in self._fitted(line):
                print(f"\x1b[2m{part}\x1b[0m" if self.colour and part else part, file=self.out, flush=True)

    def whole(self, text: str) -> None:
        """Print a line that must not be broken: a command to be copied."""
        print(text, file=self.out, flush=True)

    def read(self, prompt: str) -> str:
        """Print a prompt and return the answer; EOFError when there is no more input."""
        head, newline, last = prompt.rpartition("\n")
        if newline:
            self.lines(head.split("\n"))
        *above, end = self._fitted(last)
        self.lines(above)
        gap = " " if last.endswith(" ") and not end.endswith(" ") else ""
        print(end, end=gap, file=self.out, flush=True)
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
