"""Write docs/layouts.md: what each number of an observation is, for every game.

python -m tools.layout_page
"""

from __future__ import annotations

from itertools import groupby

from piste.compiled.compiler import observation_spec
from piste.core.game import find, names
from piste.core.observation import AMOUNTS, COUNTS, indices
from piste.rl.encoder import learner_options
from tools.pages import DOCS, replace_part, table

PAGE = DOCS / "layouts.md"


def section(name: str, given: dict[str, int | str]) -> list[str]:
    """Return the tables of one game with some options."""
    game = find(name)
    options = learner_options(game, given)
    numbers = observation_spec(game)
    numbered = list(enumerate(indices(numbers.LAYOUT, options)))
    parts = []
    for part, group in groupby(numbered, key=lambda item: item[1].part):
        rows = list(group)
        index = rows[0][1]
        form = f"{part.form}, / {part.unit(options)}" if part.form in (COUNTS, AMOUNTS) else part.form
        parts.append([part.name, form, rows[0][0], rows[-1][0], part.says, f"{index.low:g} to {index.high:g}"])
    every = [[at, index.part.name, index.name or index.part.says] for at, index in numbered]
    return [
        f"## {game.notation.TITLE}{''.join(f', {key} = {value}' for key, value in given.items())}",
        f"{len(numbered)} numbers, {numbers.actions(options)} decisions.",
        table(["part", "form", "from", "to", "what", "range"], parts),
        "<details><summary>Every index</summary>",
        table(["index", "part", "stands for"], every),
        "</details>",
    ]


def page() -> str:
    parts: list[str] = []
    for name in names():
        parts += section(name, {})
        if "players" in find(name).rules.Options._fields:
            parts += section(name, {"players": 3}) + section(name, {"players": 4})
    return replace_part(PAGE.read_text(encoding="utf-8"), "layouts", "\n\n".join(parts))


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
