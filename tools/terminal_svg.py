"""Draw the picture of the README: the beginning of a real game at the terminal, as SVG, into docs/images/game.svg.

python -m tools.terminal_svg
"""

from __future__ import annotations

import contextlib
import io
import os
import re
from html import escape
from unittest.mock import patch

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
    terminal = Terminal(page, Typed(), colour=True)
    players = seat_players(head.game, head.options, ["you", "steady"])
    session = Session(head, table, recorder, players, terminal, brief=True)
    with contextlib.suppress(EOFError), patch.dict(os.environ, {"TERM": "xterm-256color"}):
        session.run()
    return [f"$ {COMMAND}", *page.getvalue().rstrip("\n").split("\n")]


def colour_of(codes: str, ground: str) -> str:
    """Return the colour that the codes set, "" if none; `ground` is 38 for the text, 48 for what is behind it."""
    found = re.search(rf"{ground};5;(\d+)", codes)
    if found is None:
        return ""
    cube, steps = int(found[1]) - 16, (0, 95, 135, 175, 215, 255)
    return f"#{steps[cube // 36]:02x}{steps[cube // 6 % 6]:02x}{steps[cube % 6]:02x}"


def svg(lines: list[str]) -> str:
    """Return lines as a picture of a terminal, with the colours and the weight that their codes ask for."""
    lines = lines[:ROWS]
    width, height = COLUMNS * WIDE + 2 * MARGIN, len(lines) * HIGH + 2 * MARGIN + 22
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" role="img" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" aria-label="A game of Duel against a bot in a terminal">',
        f'<rect width="{width:.0f}" height="{height:.0f}" rx="10" fill="#1b1f27"/>',
        *(f'<circle cx="{18 + 18 * i}" cy="17" r="5.5" fill="{c}"/>' for i, c in enumerate(("#5b6472",) * 3)),
        '<g font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,monospace" font-size="14" fill="#d7dce4">',
    ]
    for row, line in enumerate(lines):
        y, column, codes = MARGIN + 22 + HIGH * row, 0, ""
        for part in re.split(r"(\x1b\[[0-9;]*m)", line):
            if part.startswith("\x1b"):
                codes = part[2:-1]
                continue
            word = part.strip()
            x, wide = MARGIN + WIDE * (column + len(part) - len(part.lstrip())), WIDE * len(word)
            column += len(part)
            if not word:
                continue
            behind, ink = colour_of(codes, "48"), colour_of(codes, "38")
            if behind:
                tile = f'x="{x - 2:.1f}" y="{y}" width="{wide + 4:.1f}" height="{HIGH - 2}" rx="3"'
                out.append(f'<rect {tile} fill="{behind}"/>')
            weight = ' font-weight="bold"' if codes.startswith("1") else ""
            fill = f' fill="{ink}"' if ink else ' fill="#8b95a3"' if codes == "2" else ""
            length = f' textLength="{wide:.1f}"' if len(word) > 1 else ""
            out.append(f'<text x="{x:.1f}" y="{y + 13}"{fill}{weight}{length}>{escape(word)}</text>')
    return "\n".join([*out, "</g>", "</svg>", ""])


if __name__ == "__main__":
    TARGET.write_text(svg(game_text()), encoding="utf-8")
