"""Write docs/layouts.md: what each number of an observation is, for every game.

.venv/bin/python tools/layout_page.py
"""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

from piste.compiled.compiler import observation_spec
from piste.core.game import find, names
from piste.core.observation import AMOUNTS, COUNTS, indices
from piste.rl.encoder import learner_options

PAGE = Path(__file__).parent.parent / "docs" / "layouts.md"

HEAD = """# What a learner sees

Written by `tools/layout_page.py` from each game's `observation.py`; do not edit.

Every adapter shows a seat the same numbers, made from what the game's own view shows that seat. A *flag* is 1 for
each member of a set; *one of* is 1 in the place of the one that holds, and all 0 if it is hidden or there is none;
*counts* and *amounts* are divided by the unit in the text. In games of two the own player comes first; in Duel cards
and players stand in the order of their numbers, so that a card's place is the number of the decision to play it.

An observation is what a seat sees now. Where cards are hidden, what it was told before can matter too: the log of
`table.view(seat)` and OpenSpiel's information states have that.

With other options the sizes change; `piste.core.observation.indices(game.observation.LAYOUT, options)` lists them.
"""


def section(name: str, given: dict[str, int | str]) -> list[str]:
    """Return the tables of one game with some options."""
    game = find(name)
    options = learner_options(game, given)
    numbers = observation_spec(game)
    found = list(enumerate(indices(numbers.LAYOUT, options)))
    more = "".join(f", {key} = {value}" for key, value in given.items())
    lines = ["", f"## {game.notation.TITLE}{more}", ""]
    lines += [f"{len(found)} numbers, {numbers.actions(options)} decisions.", ""]
    lines += ["| part | form | from | to | what | range |", "|---|---|---|---|---|---|"]
    whole = ["", "<details><summary>Every index</summary>", "", "| index | part | stands for |", "|---|---|---|"]
    for part, group in groupby(found, key=lambda item: item[1].part):
        rows = list(group)
        low, high = rows[0][1].low, rows[0][1].high
        form = f"{part.form}, / {part.unit(options)}" if part.form in (COUNTS, AMOUNTS) else part.form
        lines.append(f"| {part.name} | {form} | {rows[0][0]} | {rows[-1][0]} | {part.says} | {low:g} to {high:g} |")
        whole += [f"| {at} | {part.name} | {index.name or part.says} |" for at, index in rows]
    return [*lines, *whole, "", "</details>"]


def page() -> str:
    lines = [HEAD.rstrip()]
    for name in names():
        lines += section(name, {})
        if "players" in find(name).rules.Options._fields:
            lines += section(name, {"players": 3}) + section(name, {"players": 4})
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
