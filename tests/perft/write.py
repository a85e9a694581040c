"""Write the files of counted trees: `python tests/perft/write.py` (read the change before you commit it)."""

from __future__ import annotations

from pathlib import Path

from piste.compiled.compiler import game_kernels
from piste.core.game import find, names

SETS: dict[str, tuple[dict[str, int | str], ...]] = {
    "zero-sum-duel": ({}, {"top": 3, "hand": 2, "turns": 6}),
    "positive-negative": ({}, {"top": 2}),
    "zero-sum-grid": ({"top": 2}, {"top": 1, "deal": "any", "turns": 2}),
    "prime-duel": ({}, {"top": 3, "copies": 1, "target": 5, "turns": 6}),
    "mccoy-duel": ({}, {"first": 1}, {"players": 3, "first": 1}, {"players": 4, "first": 1},
                   {"powers": "05*", "rounds": 1, "first": 1}),
}  # fmt: skip
MOST = 400_000
DEEPEST = 12


def main() -> None:
    for name in names():
        game = find(name)
        compiled = game_kernels(game, compiled=True)
        lines = ["# options, depth, sequences of so many steps (decisions and outcomes alike)"]
        for given in SETS.get(name, ({},)):
            state = game.rules.start(game.options(given))
            text = ",".join(f"{key}={value}" for key, value in given.items()) or "-"
            for depth in range(1, DEEPEST + 1):
                count = compiled.perft(state, depth)
                lines.append(f"{text} {depth} {count}")
                if count > MOST or count == 0:
                    break
        path = Path(__file__).with_name(f"{name}.perft")
        path.write_text("\n".join(lines) + "\n")
        print(path.name, len(lines) - 1, "lines")


if __name__ == "__main__":
    main()
