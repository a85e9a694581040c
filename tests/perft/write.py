"""Write the files of counted trees: `python tests/perft/write.py` (read the change before you commit it)."""

from __future__ import annotations

from pathlib import Path

from piste.check.case import Case
from piste.check.twins import counted_trees
from piste.core.game import names

SETS: dict[str, tuple[dict[str, int | str], ...]] = {
    "zero-sum-duel": ({}, {"top": 3, "hand": 2, "turns": 6}),
    "positive-negative": ({}, {"top": 2}),
    "zero-sum-grid": ({"top": 2}, {"top": 1, "deal": "any", "turns": 2}),
    "prime-duel": ({}, {"top": 3, "copies": 1, "target": 5, "turns": 6}),
    "mccoy-duel": ({}, {"first": 1}, {"players": 3, "first": 1}, {"players": 4, "first": 1},
                   {"powers": "05*", "rounds": 1, "first": 1}),
}  # fmt: skip
MOST = 400_000


def main() -> None:
    for name in names():
        lines = ["# options, depth, sequences of so many steps (decisions and outcomes alike)"]
        for given in SETS.get(name, ({},)):
            text = ",".join(f"{key}={value}" for key, value in given.items()) or "-"
            counts = counted_trees(Case(name, given), MOST)
            lines += [f"{text} {depth} {count}" for depth, count in enumerate(counts, 1)]
        path = Path(__file__).with_name(f"{name}.perft")
        path.write_text("\n".join(lines) + "\n")
        print(path.name, len(lines) - 1, "lines")


if __name__ == "__main__":
    main()
