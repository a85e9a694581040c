"""Where files are: a person's own data, and the pages with the rules."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path

from piste.core.game import Game

TOURNAMENTS = "tournaments"
"""Where in the data folder the results of tournaments are kept."""

MCP_GAMES = "mcp"
"""Where in the data folder the games of language models are kept, apart from those that a person has played."""

EVALUATIONS = "evaluations"
"""Where in the data folder the logs of evaluations are kept."""


def data_folder() -> Path:
    """Return where games and tables are kept: PISTE_HOME, or the place the system has for such files."""
    chosen = os.environ.get("PISTE_HOME")
    if chosen:
        return Path(chosen)
    from platformdirs import user_data_path

    return user_data_path("piste", appauthor=False)


IN_PYTHON = "\n## In Python\n"
"""Begins the last section of a rules page, which is not shown to players."""


def rules_page(game: Game) -> str:
    """Return the page with a game's rules in Markdown: `rules.md` of its package, or ours; else what is known."""
    package = Path(__file__).parent.parent
    own = find_spec(game.package)
    folders = [] if own is None else [Path(place) / "rules.md" for place in own.submodule_search_locations or ()]
    ours = [folder / f"{game.name}.md" for folder in (package / "pages", package.parent.parent / "docs" / "rules")]
    for page in (*folders, *ours):
        if page.is_file():
            return page.read_text(encoding="utf-8")
    from inspect import cleandoc

    described = cleandoc(getattr(game.rules, "__doc__", None) or game.notation.LINE)
    options = "".join(f"- `{option.name}`: {option.help}\n" for option in game.notation.OPTIONS)
    return f"# {game.notation.TITLE}\n\n{described}\n" + (f"\n## Options\n\n{options}" if options else "")
