"""Where files are: a person's own data, and the pages with the rules."""

from __future__ import annotations

import os
from pathlib import Path

from piste.core.errors import PisteError
from piste.core.game import Game

TOURNAMENTS = "tournaments"
"""Where in the data folder the results of tournaments are kept."""


def data_folder() -> Path:
    """Return where games and tables are kept: PISTE_HOME, or the place the system has for such files."""
    chosen = os.environ.get("PISTE_HOME")
    if chosen:
        return Path(chosen)
    from platformdirs import user_data_path

    return user_data_path("piste", appauthor=False)


IN_PYTHON = "\n## In Python\n"
"""Begins the last section of a rules page, which is not shown to players."""


def rules_page(game: Game) -> Path:
    """Return the page with a game's rules: inside an installed package, or in the tree it is run from."""
    package = Path(__file__).parent.parent
    for folder in (package / "pages", package.parent.parent / "docs" / "rules"):
        if (folder / f"{game.name}.md").is_file():
            return folder / f"{game.name}.md"
    raise PisteError(f"The page with the rules of {game.notation.TITLE} is not installed.")
