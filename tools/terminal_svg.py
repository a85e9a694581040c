"""Draw the picture of the README: the beginning of a real game at the terminal, as SVG, into docs/images/game.svg.

python -m tools.terminal_svg
"""

from __future__ import annotations

import contextlib
import io
from html import escape

from piste.cli.players import seat_players
from piste.cli.session import Session
from piste.cli.terminal import Terminal
from piste.core.dealer import Commitment
from piste.core.replay import new_head, seated
from tools.pages import DOCS

TARGET = DOCS / "images" / "game.svg"
COMMAND = "piste play duel"
GAME, OPTIONS, SEED = "mccoy-duel", {"rounds": 3, "first": 1}, "picture 3"
ANSWERS = ("7", "2", "7", "*")
ROWS, COLUMNS = 60, 74
WIDE, HIGH, MARGIN = 8.4, 18, 18


class Typed:
    """Input from a list: no terminal, so the screen shows what was typed."""

    def __init__(self) -> None:
        self._left = list(ANSWERS)

    def isatty(self) -> bool:
        return False

    def readline(self) -> str:
        return self._left.pop(0) + "\n" if self._left else ""


def game_text() -> list[str]:
    """Return what the game printed until the answers ran out."""
    page = io.StringIO()
    head = new_head(GAME, OPTIONS, seed=SEED)
    head = head._replace(named=False, commitment=Commitment.to(SEED, b"\x00" * 32))
    table, recorder = seated(head)
    terminal = Terminal(page, Typed(), colour=False)
    players = seat_players(head.game, head.options, ["you", "steady"])
    session = Session(head, table, recorder, players, terminal, brief=True)
    with contextlib.suppress(EOFError):
        session.run()
    return [f"$ {COMMAND}", *page.getvalue().rstrip("\n").split("\n")]


def svg(lines: list[str]) -> str:
    """Return lines as a picture of a terminal; prompts and what was typed are told apart by weight too."""
    lines = lines[:ROWS]
    width, height = COLUMNS * WIDE + 2 * MARGIN, len(lines) * HIGH + 2 * MARGIN + 22
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" role="img" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" aria-label="A game of Duel against a bot in a terminal">',
        f'<rect width="{width:.0f}" height="{height:.0f}" rx="10" fill="#1b1f27"/>',
        *(f'<circle cx="{18 + 18 * i}" cy="17" r="5.5" fill="{c}"/>' for i, c in enumerate(("#5b6472",) * 3)),
        '<g font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,monospace" font-size="14" xml:space="preserve">',
    ]
    for row, line in enumerate(lines):
        asked, mark, typed = line.partition("? ") if "? " in line else line.partition("$ ")
        y = MARGIN + 22 + HIGH * row + 13
        if mark:
            out.append(
                f'<text x="{MARGIN}" y="{y}" fill="#8fb8de">{escape(asked + mark)}'
                f'<tspan fill="#ffffff" font-weight="bold">{escape(typed)}</tspan></text>'
            )
        elif line:
            colour = "#f2cc7e" if line.endswith("turn.") else "#d7dce4"
            out.append(f'<text x="{MARGIN}" y="{y}" fill="{colour}">{escape(line)}</text>')
    return "\n".join([*out, "</g>", "</svg>", ""])


if __name__ == "__main__":
    TARGET.write_text(svg(game_text()), encoding="utf-8")
