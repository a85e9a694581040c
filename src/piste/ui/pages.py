"""The rules pages, for a terminal: the same text that stands in docs/rules, without its markup."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

from piste.core.errors import PisteError
from piste.core.game import Game


def page_path(game: Game) -> Path:
    """Return the game's page: inside an installed package, or in the tree it is run from."""
    package = Path(__file__).parent.parent
    for folder in (package / "pages", package.parent.parent / "docs" / "rules"):
        if (folder / f"{game.name}.md").is_file():
            return folder / f"{game.name}.md"
    raise PisteError(f"The page with the rules of {game.notation.TITLE} is not installed.")


def rules_text(game: Game, width: int, *, whole: bool = False) -> str:
    """Return the rules as plain text, no wider than the terminal; without `whole`, only what fits a screen."""
    page = page_path(game).read_text(encoding="utf-8")
    if not whole:
        page = page.partition("\n## Options")[0]
    text = plain(page, min(width, 100))
    return text if whole else f"{text}\n\nOptions, an example and the rulings: piste rules {game.name} --all"


def plain(markdown: str, width: int) -> str:
    """Return Markdown as text: headings underlined, emphasis dropped, tables as lists, paragraphs filled."""
    out: list[str] = []
    for block in re.split(r"\n{2,}", markdown.strip("\n")):
        lines = block.split("\n")
        if lines[0].startswith("#"):
            heading = unmarked(lines[0].lstrip("# "))
            out += [heading, "=" * min(len(heading), width), ""]
            lines = lines[1:]
        if not lines:
            continue
        if lines[0].startswith("|"):
            out += table(lines, width)
        elif lines[0].startswith("    "):
            shown = [line for line in lines if ">>>" not in line and "..." not in line[:8]]
            out += shown if len(shown) == len(lines) else []  # programs are for the page, not for a game
        elif lines[0].startswith("```"):
            out += [line for line in lines if not line.startswith("```")]
        else:
            out += paragraphs(lines, width)
        out.append("")
    return "\n".join(out).rstrip()


def unmarked(text: str) -> str:
    text = re.sub(r"\[([^\]]*)\]\((https?:[^)]*)\)", r"\1 (\2)", text)
    text = re.sub(r"\s*\[[^\]]*\]\(#[^)]*\)", "", text)
    text = re.sub(r"\[([^\]]*)\]\(([^)]*\.md)[^)]*\)", r"\1 (docs/rules/\2)", text)
    text = re.sub(r"\*\*(.+?)\*\*", r"\1", text, flags=re.DOTALL)
    text = re.sub(r"(?<![\w*\\])\*(?!\s)([^*]+?)\*(?!\w)", r"\1", text)
    return text.replace("`", "").replace("\\*", "*").replace("\\|", "|")


def table(lines: list[str], width: int) -> list[str]:
    rows = [
        [unmarked(cell.strip().replace("\0", "|")) for cell in line.replace("\\|", "\0").strip("|").split("|")]
        for line in lines
    ]
    out: list[str] = []
    for row in rows[2:]:
        cells = [f"{head.lower()} {cell}" for head, cell in zip(rows[0][1:], row[1:], strict=False) if cell]
        out += textwrap.wrap(f"- {row[0]}: {'; '.join(cells)}", width, subsequent_indent="  ")
    return out


def paragraphs(lines: list[str], width: int) -> list[str]:
    items: list[str] = []
    for line in lines:
        if re.match(r"([-*]|\d+\.) ", line) or not items:
            items.append(line)
        else:
            items[-1] += " " + line.strip()
    out: list[str] = []
    for item in items:
        indent = "  " if re.match(r"([-*]|\d+\.) ", item) else ""
        out += textwrap.wrap(unmarked(item), width, subsequent_indent=indent, break_on_hyphens=False)
    return out
