"""The rules of a game as HTML, from the same page that a terminal shows."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from markdown_it import MarkdownIt

from piste.core.game import Game, names
from piste.core.paths import IN_PYTHON, rules_page
from piste.web.tables.transcript import minus


def rules_html(game: Game) -> str:
    """Return the page of a game's rules as HTML: no markup of its own, links only within the house or outward."""
    text, _, _ = rules_page(game).partition(IN_PYTHON)  # for readers of the documentation
    return _rules_html(game.name, text)


@cache
def _rules_html(name: str, text: str) -> str:
    reader = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = reader.parse(re.sub(r"\A#[^\n]*\n", "", text))
    for at, token in enumerate(tokens):
        if token.type == "heading_open":
            token.attrSet("id", f"rules-{slug(tokens[at + 1].content)}")
        elif token.type == "table_open":
            # It scrolls sideways where it is too wide.
            token.attrSet("tabindex", "0")
        for child in token.children or ():
            if child.type == "text":
                child.content = minus(child.content)
            elif child.type == "link_open":
                child.attrs = dict(link(str(child.attrs["href"])))
    return str(reader.renderer.render(tokens, reader.options, {"game": name}))


def slug(heading: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", heading.lower()).strip("-")


def link(href: str) -> Mapping[str, str]:
    """Return what stands in a link of the rules: to a place on the page, to another game's rules, or outward."""
    page, _, place = href.partition("#")
    if not page:
        return {"href": f"#rules-{place}"}
    if page.startswith("https://"):
        return {"href": href, "rel": "noreferrer noopener", "target": "_blank"}
    game = page.removesuffix(".md")
    return {"href": f"/rules/{game}"} if game in names() else {}
