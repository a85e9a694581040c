"""`piste bench --growth`: CPU time and memory against the size of the work, for what grows.

Each size runs in a fresh interpreter, with code that is compiled already, after the same work at its smallest; what
is told is what the work took beyond that. An exponent is the slope of a line through the logarithms.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from piste.api import open_table
from piste.cli.commands.bench.harness import run_python, ticker, used
from piste.cli.progress_bar import ProgressBar
from piste.cli.terminal import Terminal
from piste.core.bits import count
from piste.core.evaluation import EXACT, quiet
from piste.core.extras import COMPILED, SERVE, Feature, has
from piste.core.game import find, names
from piste.core.information_set import InformationSet
from piste.core.position import Position
from piste.core.views import SeatView

BATCH_ROUNDS = 100
DUEL_POSITIONS = 8
SERVER_SECONDS = 4
MIN_SECONDS, MIN_MIB = 1e-4, 0.1
"""What is less than this is not told apart from nothing, and left out of the fit."""

Use = dict[str, float]
"""CPU seconds and MiB."""


class Series(NamedTuple):
    """Something that grows."""

    what: str
    unit: str
    sizes: tuple[int, ...]
    measure: Callable[[int], Use]
    needs: Feature = COMPILED


def used_by(work: Callable[[], object]) -> Use:
    """Return what some work took in this process."""
    before = used()
    work()
    after = used()
    return {key: after[key] - before[key] for key in before}


def simulated_games(games: int) -> Use:
    from piste.compiled.simulate import simulate

    game = find("prime-duel")
    simulate(game, game.options(), 10)
    return used_by(lambda: simulate(game, game.options(), games))


def batch(games: int) -> Use:
    from piste.rl.vector_env import VectorEnv

    def play(games: int) -> None:
        env = VectorEnv("prime-duel", games)
        for _ in range(BATCH_ROUNDS):
            env.step(env.pick())

    play(1)
    return used_by(lambda: play(games))


def solved(name: str, smallest: dict[str, int | str], options: dict[str, int | str]) -> Use:
    """Return what the value of the start takes, with nothing kept but compiled code."""
    from piste.compiled import table_cache

    solver: Any = find(name).solver

    def evaluate(options: dict[str, int | str]) -> None:
        evaluation = solver.evaluate(InformationSet.common(Position.start(name, options), 0), quiet)
        assert evaluation.known == EXACT

    with tempfile.TemporaryDirectory() as folder:
        table_cache.folder = lambda: Path(folder)
        evaluate(smallest)
        return used_by(lambda: evaluate(options))


def zero_sum_duel(cards: int) -> Use:
    def options(top: int) -> dict[str, int | str]:
        return {"top": top, "hand": min(3, top - 1), "first": 1}

    return solved("zero-sum-duel", options(3), options(cards // 2))


def positive_negative(cards: int) -> Use:
    return solved("positive-negative", {"top": 5}, {"top": cards // 2})


def prime_duel(cards: int) -> Use:
    def options(copies: int) -> dict[str, int | str]:
        return {"top": 4, "copies": copies, "target": 40, "first": 1}

    return solved("prime-duel", options(1), options(cards // 4))


def duel_endgames(cards: int) -> Iterator[InformationSet]:
    """Yield what seats know in games played at random when both together have so many cards left."""
    for seed in range(1000):
        chooser = random.Random(seed)
        table = open_table("mccoy-duel", {"rounds": 1, "first": 1}, seed=str(seed))
        while (seat := table.to_act) is not None:
            view: SeatView = table.view(seat)
            known = InformationSet.of(find("mccoy-duel"), view)
            left = sum(map(count, next(iter(known.belief.states)).hands))
            if left == cards and len(view.actions) > 1:
                yield known
            if left <= cards:
                break
            table.decide(seat, chooser.choice(view.actions))


def duel(cards: int) -> Use:
    solver: Any = find("mccoy-duel").solver
    solver.prepare_evaluation(find("mccoy-duel").options(), quiet)
    positions = [known for known, _ in zip(duel_endgames(cards), range(DUEL_POSITIONS), strict=False)]
    use = used_by(lambda: [solver.evaluate(known, quiet) for known in positions])
    return {"seconds": use["seconds"] / len(positions), "mib": use["mib"]}


def stored_records(records: int) -> Use:
    from piste.web.storage.schema import RoomRow, add_lines, put
    from piste.web.storage.storage import Storage

    table = open_table("prime-duel", seed="growth")
    while (seat := table.to_act) is not None:
        table.decide(seat, table.view(seat).actions[0])
    lines = table.record().splitlines()

    def store(storage: Storage, first: int, last: int) -> None:
        for number in range(first, last):
            code, now = f"{number:016x}", float(number)
            room = RoomRow(code, "prime-duel", "{}", "somebody", True, now, now)
            written = storage.write(put(room), add_lines(code, 0, lines))
        written.result()
        assert len(storage.listed()) == min(50, last)

    with tempfile.TemporaryDirectory() as folder, Storage(Path(folder) / "tables.db") as storage:
        store(storage, 0, 2)
        return used_by(lambda: store(storage, 2, records))


def server_rooms(rooms: int) -> Use:
    """Return the server's memory, and its CPU seconds in a second if every decision came when it was due."""
    from piste.cli.commands.bench import serve, serve_clients

    kinds = list(names())
    with tempfile.TemporaryDirectory() as folder, serve.run_server("serve", f"{folder}/tables.db") as port:
        serve.run_clients([port], kinds, len(kinds), 1, pace=0.1)
        _, before = serve_clients.process_usage(port)
        clients = serve.run_clients([port], kinds, rooms, SERVER_SECONDS)
    seconds = clients["cpu_ms"] / 1000 * rooms / serve_clients.DECISION_INTERVAL_S
    return {"seconds": seconds, "mib": (clients["memory"] - before) / 2**20}


DECK = "cards in the deck"
SERIES = {
    "games": Series("Prime Duel in bulk", "games", (20_000, 80_000, 320_000, 1_280_000), simulated_games),
    "batch": Series("100 rounds for learners", "games at once", (256, 1024, 4096, 16_384, 65_536), batch),
    "zero-sum-duel": Series("Zero Sum Duel, solved", DECK, (6, 8, 10), zero_sum_duel),
    "positive-negative": Series("Positive-Negative, solved", DECK, (12, 14, 16), positive_negative),
    "prime-duel": Series("Prime Duel up to 4, solved", DECK, (8, 12, 16, 20, 24), prime_duel),
    "duel": Series("a verdict in Duel's endgame", "cards in both hands", (2, 4, 6, 8), duel),
    "records": Series("games written to the store", "records", (100, 400, 1600, 6400), stored_records, SERVE),
    "rooms": Series("the server, CPU s in a second", "games being played", (25, 50, 100, 200), server_rooms, SERVE),
}


def measure_all(_args: argparse.Namespace, bar: ProgressBar) -> dict[str, Any]:
    able = {name: series for name, series in SERIES.items() if has(series.needs)}
    tick = ticker(bar, sum(len(series.sizes) for series in able.values()))
    rows = {}
    for name, series in able.items():
        points = []
        for size in series.sizes:
            points.append({"size": size, **run_python(series.what, "-m", __name__, name, str(size))})
            tick()
        exponents = {"seconds": exponent(points, "seconds", MIN_SECONDS), "mib": exponent(points, "mib", MIN_MIB)}
        rows[name] = {"what": series.what, "unit": series.unit, "points": points, "exponents": exponents}
    left_out = [f"{series.what}: needs piste[{series.needs.extra}]" for n, series in SERIES.items() if n not in able]
    return {"series": rows, "left_out": left_out}


def exponent(points: list[dict[str, Any]], key: str, least: float) -> float | None:
    """Return the slope of the line through the logarithms of some points; None if fewer than three can be told."""
    logs = [(math.log(point["size"]), math.log(point[key])) for point in points if point[key] >= least]
    if len(logs) < 3:
        return None
    middle_x, middle_y = (sum(column) / len(logs) for column in zip(*logs, strict=True))
    products = sum((x - middle_x) * (y - middle_y) for x, y in logs)
    return float(products / sum((x - middle_x) ** 2 for x, _ in logs))


def show(document: dict[str, Any], terminal: Terminal) -> None:
    for row in document["series"].values():
        terminal.line(f"{row['what']}, by {row['unit']}")
        for point in row["points"]:
            terminal.line(f"  {point['size']:>9,}: {point['seconds']:.3g} CPU s, {point['mib']:.0f} MiB")
        texts = ("not to be told" if slope is None else f"{slope:.2f}" for slope in row["exponents"].values())
        terminal.line("  exponents: CPU time {}, memory {}".format(*texts))
    for sentence in document["left_out"]:
        terminal.note(f"Left out: {sentence}")


if __name__ == "__main__":
    print(json.dumps(SERIES[sys.argv[1]].measure(int(sys.argv[2]))))
