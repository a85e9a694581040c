"""Games outside the tree, as if pip had installed them: their sources and their entry points are on the path."""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from piste.core import game as games
from tests import ROOT

EXAMPLES = ROOT / "examples" / "games"


def path_entries(project: Path, site: Path) -> list[str]:
    """Write the metadata of a project into a folder, as pip would, and return what has to be on the path."""
    described = tomllib.loads((project / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    folder = site / f"{described['name'].replace('-', '_')}-{described['version']}.dist-info"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {described['name']}\nVersion: {described['version']}\n", encoding="utf-8"
    )
    lines = []
    for group, entries in described["entry-points"].items():
        lines += [f"[{group}]", *(f"{name} = {value}" for name, value in entries.items())]
    (folder / "entry_points.txt").write_text("\n".join(lines), encoding="utf-8")
    return [str(site), str(project / "src")]


Install = Callable[[Path], None]
"""Installs the project of a folder for one test: the fixture `install_game`."""


def install(project: Path, site: Path, patch: pytest.MonkeyPatch) -> None:
    """Offer the games of a project to this process, until the patch is undone and `forget` is called."""
    for entry in path_entries(project, site):
        if entry not in sys.path:
            patch.syspath_prepend(entry)
    forget()


def forget() -> None:
    """Let entry points be looked for anew. A game that was found once stays, so another one needs another name."""
    games._installed.cache_clear()
