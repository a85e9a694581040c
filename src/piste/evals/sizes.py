"""Sizes against memorising: option sets whose exact solution is quick, of which some are drawn from a seed.

`solved_sizes.json` lists them with the CPU time that solving and grading took; `tools/solved_sizes.py` measures it.
So a seed draws the same sizes on every machine.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from piste.core.dealer import Dealer
from piste.core.errors import OptionError
from piste.core.game import Game

MAX_CPU_S = 60.0
"""How many seconds of one core the exact solution of a size may take."""

DRAWN = 4
"""How many sizes of a game are drawn."""

FILE = Path(__file__).with_name("solved_sizes.json")


@cache
def solved_sizes() -> dict[str, list[dict[str, Any]]]:
    """Return the sizes of each game that are solved in time: options and CPU seconds."""
    found: dict[str, list[dict[str, Any]]] = json.loads(FILE.read_text(encoding="utf-8"))["sizes"]
    return found


def draw(game: Game, seed: str, wanted: int = DRAWN) -> list[dict[str, int | str]]:
    """Return so many different option sets, drawn from a seed; fewer where a game has fewer."""
    left = [one["options"] for one in solved_sizes().get(game.name, []) if one["cpu"] <= MAX_CPU_S]
    if not left:
        raise OptionError(f"{game.notation.TITLE} has no other sizes whose exact solution is known to be quick.")
    stream = Dealer(f"sizes {game.name} {seed}").stream("sizes")
    return [left.pop(stream.below(len(left))) for _ in range(min(wanted, len(left)))]
