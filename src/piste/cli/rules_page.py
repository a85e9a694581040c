"""The rules pages for a terminal: the text of docs/rules without its markup."""

from __future__ import annotations

import re
import textwrap

from piste.core.game import Game
from piste.core.paths import IN_PYTHON, rules_page


def rules_text(game: Game, width: int, *, whole: bool = False) -> str:
    """Return the rules as plain text, no wider than the terminal; without `whole`, only what fits a screen."""
    page, _, _ = rules_page(game).partition(IN_PYTHON)
    if not whole:
        page = page.partition("\n## Options")[0]
    text = plain(page, min(width, 100))
    return text if whole else f"{text}\n\nOptions, an example and the rulings: piste rules {game.name} --all"


def plain(markdown: str, width: int) -> str:
    """Return Markdown as text: headings underlined, emphasis dropped, tables as lists, paragraphs filled."""
    out: list[str] = []
    for block in re.findall(r"^```[\s\S]*?^```$|(?:^.+\n?)+", markdown, re.MULTILINE):
        lines = block.strip("\n").split("\n")
        if lines[0].startswith("#"):
            heading = unmarked(lines[0].lstrip("# "))
            out += [heading, "=" * min(len(heading), width), ""]
            lines = lines[1:]
        if not lines:
            continue
        if lines[0].startswith("|"):
            out += table(lines, width)
        elif lines[0].startswith("    "):
            plain_lines = [line for line in lines if ">>>" not in line and "..." not in line[:8]]
            out += plain_lines if len(plain_lines) == len(lines) else []  # programs are for the page, not for a game
        elif lines[0].startswith("```"):
            out += [f"    {line}".rstrip() for line in lines[1:-1]]
        else:
            out += paragraphs(lines, width)
        out.append("")
    return "\n".join(out).rstrip()


def unmarked(text: str) -> str:
    text = re.sub(r"\[([^\]]*)\]\((https?:[^)]*)\)", r"\1 (\2)", text)
    text = re.sub(r"\[([^\]]*)\]\(#[^)]*\)", r"\1", text)
    text = re.sub(r"\[([^\]]*)\]\(([^)]*\.md)[^)]*\)", r"\1 (docs/rules/\2)", text)
    text = re.sub(r"\*\*(.+?)\*\*", r"\1", text, flags=re.DOTALL)
    text = re.sub(r"(?<![\w*\\])\*(?!\s)([^*]+?)\*(?!\w)", r"\1", text)
    return text.replace("`", "").replace("\\*", "*").replace("\\|", "|")


def table(lines: list[str], width: int) -> list[str]:
    """Return a table in columns, or, where the screen is too narrow for them, each row as a small list."""
    split = [line.replace("\\|", "\0").strip().strip("|").split("|") for line in lines]
    head, _, *rows = [[unmarked(cell.strip().replace("\0", "|")) for cell in cells] for cells in split]
    widths = [max(len(cell) for cell in column) for column in zip(head, *rows, strict=False)]
    least = [max(len(word) for word in " ".join(column).split() or [""]) for column in zip(head, *rows, strict=False)]
    room = width - len(GAP) * (len(widths) - 1)
    while sum(widths) > room:
        at = max(range(len(widths)), key=lambda i: (widths[i] > least[i], widths[i]))
        if widths[at] <= max(least[at], MIN_COLUMN_WIDTH):
            return stacked(head, rows, width)
        widths[at] -= 1
    ruled = [head, ["-" * wide for wide in widths], *rows]
    return [line for row in ruled for line in in_columns(row, widths)]


GAP = "  "
MIN_COLUMN_WIDTH = 18
"""A table with a narrower column is easier to read as a list."""


def in_columns(row: list[str], widths: list[int]) -> list[str]:
    parts = [filled(cell, wide) or [""] for cell, wide in zip(row, widths, strict=False)]
    tall = max(map(len, parts))
    columns = [[*part, *[""] * (tall - len(part))] for part in parts]
    return [
        GAP.join(cell.ljust(wide) for cell, wide in zip(line, widths, strict=False)).rstrip()
        for line in zip(*columns, strict=True)
    ]


def stacked(head: list[str], rows: list[list[str]], width: int) -> list[str]:
    out: list[str] = []
    for first, *others in rows:
        out += filled(f"- {first}", width, "  ")
        for name, cell in zip(head[1:], others, strict=False):
            out += filled(f"  {name.lower()}: {cell}" if name else f"  {cell}", width, "    ") if cell else []
    return out


def filled(text: str, width: int, indent: str = "") -> list[str]:
    return textwrap.wrap(text, width, subsequent_indent=indent, break_on_hyphens=False)


ITEM = re.compile(r"( *)([-*]|\d+\.) ")


def paragraphs(lines: list[str], width: int) -> list[str]:
    """Return paragraphs and lists; as in CommonMark, a number that opens a line of a paragraph begins no list.

    Only `1.` does, a bullet, or a number where a list of numbers is open.
    """
    items: list[str] = []
    open_lists: set[tuple[int, bool]] = set()  # indent, and whether they are numbered
    for line in lines:
        marker = ITEM.match(line)
        if marker is not None:
            place = len(marker[1]), marker[2][0].isdigit()
            if not items or not place[1] or marker[2] == "1." or place in open_lists:
                open_lists = {one for one in open_lists if one[0] < place[0]} | {place}
                items.append(line)
                continue
        if items:
            items[-1] += " " + line.strip()
        else:
            items.append(line)
    out: list[str] = []
    for item in items:
        marker = ITEM.match(item)
        margin = "" if marker is None else " " * len(marker[0])
        start = "" if marker is None else marker[1]
        out += filled(start + unmarked(item.lstrip(" ") if marker else item), width, margin)
    return out
