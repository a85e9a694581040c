"""Count what a game is made of: `python -m tools.game_sizes` prints files, functions and lines of each game.

For a game of the tree it counts what it takes to be played at a terminal, in a browser and by learners, and to have
levels and a solver of its own; for the examples all that they have.
"""

from __future__ import annotations

import ast
from pathlib import Path

from tools.pages import ROOT

PARTS = {
    "rules": ("rules.py",),
    "names and words": ("notation.py", "text.py", "log.py", "scene.py"),
    "learners": ("observation.py",),
    "levels and solver": ("bots", "solver", "guarantees.py", "balance_config.py", "policies.py", "explain.py"),
}


def sizes(package: Path, names: tuple[str, ...]) -> tuple[int, int, int]:
    """Return how many files, functions and lines these parts of a package have."""
    found = [path for name in names for path in (package / name, *(package / name).rglob("*.py"))]
    files = [path for path in found if path.is_file() and path.name != "__init__.py"]
    texts = [path.read_text(encoding="utf-8") for path in files]
    functions = sum(isinstance(node, ast.FunctionDef) for text in texts for node in ast.walk(ast.parse(text)))
    return len(files), functions, sum(len(text.splitlines()) for text in texts)


def main() -> None:
    tree = sorted(path.parent for path in (ROOT / "src" / "piste" / "games").glob("*/rules.py"))
    examples = sorted(path.parent for path in (ROOT / "examples" / "games").glob("*/src/*/rules.py"))
    print("files, functions, lines")
    for package in (*tree, *examples):
        cells = [f"{part} {', '.join(map(str, sizes(package, names)))}" for part, names in PARTS.items()]
        print(f"{package.name}: {'; '.join(cells)}")


if __name__ == "__main__":
    main()
