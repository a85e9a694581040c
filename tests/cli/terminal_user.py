"""Somebody at the keyboard: sessions run inside the test, or a real program in a real pseudo-terminal."""

from __future__ import annotations

import io
import os
import random
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from piste.cli.players import seat_players
from piste.cli.session import Session
from piste.cli.terminal import Terminal
from piste.core.record import Head
from piste.core.replay import new_head, seated
from tests.limits import PATIENCE_S

# What a real terminal would show is compared without what only moves or colours.
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Page(io.StringIO):
    """Output that says it is a terminal, so that pauses and hand-overs happen."""

    def isatty(self) -> bool:
        return True


class Keyboard:
    """Input that is made up when it is asked for."""

    def __init__(self, answer: Callable[[], str], *, terminal: bool = True) -> None:
        self._answer = answer
        self._terminal = terminal

    def isatty(self) -> bool:
        return self._terminal

    def readline(self) -> str:
        return self._answer()


def session_of(
    head: Head, specs: list[str], answer: Callable[[Session], str], *, dealer: Any = None, **settings: Any
) -> tuple[Session, Page]:
    """Return a session whose people answer with `answer(session)`, and the page it prints on."""
    page = Page()
    table, recorder = seated(head, dealer=dealer)
    box: list[Session] = []

    def typed() -> str:
        text = answer(box[0])
        page.write(text)  # a terminal echoes what is typed
        return text

    terminal = Terminal(page, Keyboard(typed), colour=False, paging=False)
    session = Session(head, table, recorder, seat_players(head.game, head.options, specs), terminal, **settings)
    box.append(session)
    return session, page


def last_line(session: Session) -> str:
    """Return what stands before the cursor."""
    page = session.terminal.out
    assert isinstance(page, Page)
    return page.getvalue().rpartition("\n")[2]


def any_decision(chooser: random.Random) -> Callable[[Session], str]:
    """Answer every question with some open decision; Enter where the game only pauses."""

    def answer(session: Session) -> str:
        last = last_line(session)
        actor = session.table.to_act
        if "ress Enter" in last or actor is None or session.players[actor].bot is not None:
            return "\n"
        return chooser.choice(session.table.view(actor).decisions) + "\n"

    return answer


def random_session(
    game: str, options: dict[str, Any], specs: list[str], seed: str, **settings: Any
) -> tuple[Session, Page]:
    head = new_head(game, options, seed=seed)
    return session_of(head, specs, any_decision(random.Random(seed)), **settings)


def spawned(home: Path, *arguments: str, columns: int = 80, **environment: str) -> Any:
    """Return `piste ARGUMENTS` running in a pseudo-terminal of its own, without colours and pager if not said."""
    import pexpect

    program = pexpect.spawn(
        sys.executable,
        ["-m", "piste", *arguments],
        env={**os.environ, "PISTE_HOME": str(home), "TERM": "xterm", "NO_COLOR": "1", "PAGER": "cat", **environment},
        dimensions=(24, columns),
        encoding="utf-8",
        timeout=PATIENCE_S,
        echo=True,
    )
    program.delaybeforesend = None
    return program


def clean(text: str) -> str:
    """Return what a person reads of a terminal's bytes."""
    return ESCAPES.sub("", text).replace("\r\n", "\n").replace("\r", "")
