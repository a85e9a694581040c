"""`piste bench --peers`: every way to play with piste beside what other libraries reach, in the same run.

Whatever is installed is measured: OpenSpiel's games in C++ and in Python, PettingZoo's tic-tac-toe, pgx, and two
games in hand-written C where there is a compiler. None of them is needed. Works take turns, and each number is the
median of some runs, per CPU second, with its ratio to the calibration loop.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import platform
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from piste.cli.arguments import named_games
from piste.cli.commands.bench import workloads
from piste.cli.commands.bench.harness import Work, calibration, measure_in_turn, rate_text, run_python, ticker
from piste.cli.commands.bench.solve_time import is_heavy, solve_once
from piste.cli.progress_bar import ProgressBar
from piste.cli.terminal import Terminal
from piste.core.extras import COMPILED, OPENSPIEL, PETTINGZOO, need
from piste.core.game import Game, quoted

RUNS = 5
BATCH_SIZES = (16_384, 1_024)
C_SOURCE = Path(__file__).with_name("c_reference.c")
C_FLAGS = ("-O3", "-march=native", "-shared", "-fPIC")
C_GAMES = {"prime-duel": ("prime_duel",), "zero-sum-duel": ("zero_sum_duel", "zero_sum_duel_arrays")}
STEPPER, BULK = "one game, compiled steps", "games in bulk"
SPIEL_GAMES = ("kuhn_poker", "leduc_poker", "tic_tac_toe")
SPIEL_PYTHON_GAMES = ("python_kuhn_poker", "python_tic_tac_toe")
PGX_GAMES = ("kuhn_poker", "leduc_holdem", "tic_tac_toe")
LIBRARIES = ("numpy", "numba", "open_spiel", "pettingzoo", "pgx", "jax")


class Peers(NamedTuple):
    """What is there to compare with, and a sentence for each that is not."""

    openspiel: bool
    pettingzoo: bool
    tic_tac_toe: bool
    pgx: bool
    compiled_c: ctypes.CDLL | None
    left_out: list[str]


def measure_all(args: argparse.Namespace, bar: ProgressBar) -> dict[str, Any]:
    need(COMPILED)
    games = named_games(args.game)
    with tempfile.TemporaryDirectory() as folder:
        peers = look_for_peers(Path(folder))
        works = {(kind, side, who): work for kind, side, who, work in all_works(games, peers)}
        loop = calibration()
        speeds: dict[str, Any] = {kind: {"piste": {}, "peers": {}} for kind, _, _ in works}
        for (kind, side, who), speed in measure_in_turn(works, RUNS, ticker(bar, RUNS * len(works))).items():
            speeds[kind][side][who] = {"steps": speed.steps, "ratio": speed.ratio}
    answers = {}
    for game in games:
        bar(0, 1, f"a first answer of {game.name}")
        answers[game.name] = first_answers(game.name)
    if peers.openspiel:
        answers["OpenSpiel, kuhn_poker"] = {"empty cache": run_python("OpenSpiel's first game", "-c", SPIEL_PROGRAM)}
    return {
        "runs": RUNS,
        "loop": loop,
        "machine": {"system": platform.machine(), "cores": os.cpu_count() or 1, "python": platform.python_version()},
        "versions": versions(),
        "left_out": peers.left_out,
        "speeds": speeds,
        "first_answers": answers,
        "solutions": {game.name: solve_once(game.name) for game in games if args.heavy and is_heavy(game.name)},
    }


def look_for_peers(folder: Path) -> Peers:
    """Return what is installed here; the C program is compiled into a folder."""
    left_out = []

    def there(what: str, *libraries: str) -> bool:
        missing = [library for library in libraries if find_spec(library) is None]
        if missing:
            left_out.append(f"{what} is left out: {' and '.join(missing)} cannot be imported.")
        return not missing

    compiled = None
    compiler = os.environ.get("CC") or shutil.which("cc")
    if compiler is None:
        left_out.append("C is left out: there is no compiler.")
    else:
        library = folder / "c_reference.so"
        command = [compiler, *C_FLAGS, str(C_SOURCE), "-o", str(library)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            compiled = ctypes.CDLL(str(library))
        else:
            left_out.append(f"C is left out: {quoted(compiler)} cannot compile {C_SOURCE.name}.")
    return Peers(
        there("OpenSpiel", *OPENSPIEL.libraries),
        there("PettingZoo", *PETTINGZOO.libraries),
        there("PettingZoo's tic-tac-toe", "pettingzoo", "pygame"),
        there("pgx", "jax", "pgx"),
        compiled,
        left_out,
    )


def all_works(games: list[Game], peers: Peers) -> Iterator[tuple[str, str, str, Work]]:
    """Yield all that is measured: which kind of work, "piste" or "peers", the game or who, and the work."""

    def ours(kind: str, make: Callable[[Game], Work]) -> Iterator[tuple[str, str, str, Work]]:
        return ((kind, "piste", game.name, make(game)) for game in games)

    def theirs(kind: str, who: str, names: Iterable[str], make: Callable[[str], Work]) -> Iterator[Any]:
        return ((kind, "peers", f"{who} {name}", make(name)) for name in names)

    yield from ours(STEPPER, workloads.stepper_by_hand)
    yield from ours("one game, the rules' own functions", workloads.rules_by_hand)
    yield from ours("one game, positions by number", workloads.positions_by_number)
    yield from ours("one game, positions by name", workloads.positions_by_name)
    if peers.openspiel:
        import_module("open_spiel.python.games")
        openspiel = import_module("piste.rl.openspiel")
        yield from theirs(STEPPER, "OpenSpiel", SPIEL_GAMES, workloads.openspiel_steps)
        kind = "one game, OpenSpiel's interface"
        yield from ours(kind, lambda game: workloads.openspiel_steps(openspiel.short_name(game.name)))
        yield from theirs(kind, "OpenSpiel", SPIEL_PYTHON_GAMES, workloads.openspiel_steps)
    yield from ours(BULK, lambda game: workloads.simulated_games(game, game.options(), compiled=True))
    if peers.compiled_c is not None:
        for game in games:
            functions = C_GAMES.get(game.name, ())
            yield from theirs(BULK, "C", functions, lambda function: c_games(peers.compiled_c, function))
    yield from ours("one game at a table", workloads.table_decisions)
    kind = "one game, PettingZoo's interface"
    if peers.pettingzoo:
        pettingzoo = import_module("piste.rl.pettingzoo")
        yield from ours(kind, lambda game: workloads.pettingzoo_steps(pettingzoo.env(game.name)))
    if peers.tic_tac_toe:
        tic_tac_toe = import_module("pettingzoo.classic.tictactoe_v3").env()
        yield kind, "peers", "PettingZoo tictactoe_v3", workloads.pettingzoo_steps(tic_tac_toe)
    for size in BATCH_SIZES:
        kind = f"{size} games for learners"
        yield from ours(kind, partial(vector_steps, size))
        if peers.pgx:
            os.environ.setdefault("JAX_PLATFORMS", "cpu")
            yield from theirs(kind, "pgx", PGX_GAMES, partial(workloads.pgx_steps, games=size))


def vector_steps(size: int, game: Game) -> Work:
    return workloads.vector_steps(game.name, size)


def c_games(compiled_c: ctypes.CDLL | None, function: str) -> Work:
    """Return work that plays `size` games of the C program."""
    play: Any = getattr(compiled_c, function)
    play.argtypes = (ctypes.c_int64, ctypes.c_uint64, ctypes.POINTER(ctypes.c_int64))
    play.restype = ctypes.c_int64
    first_wins = ctypes.c_int64()

    def work(size: int) -> tuple[int, int]:
        return play(size, 1, ctypes.byref(first_wins)), size

    return work


ANSWER_PROGRAM = """
import json, sys
from piste import bots
from piste.api import open_table
from piste.cli.commands.bench.harness import used
from piste.core.dealer import RandomStream
from piste.core.evaluation import quiet
from piste.core.game import find
game = find(sys.argv[1])
tables = (open_table(game.name, seed=str(i)) for i in range(100))
table = next(table for table in tables if table.to_act is not None)  # some deals leave nothing to decide
view = table.view(table.to_act)
bot = bots.find("perfect", game, view.options)
bots.prepare(bot, view.options, quiet)
bot.choose(view, RandomStream(b"first answer", "bot"))
print(json.dumps(used()))
"""
SPIEL_PROGRAM = """
import json, time
import pyspiel
state = pyspiel.load_game("kuhn_poker").new_initial_state()
while not state.is_terminal():
    state.apply_action(state.legal_actions()[0])
print(json.dumps({"seconds": time.process_time()}))
"""


def first_answers(name: str) -> dict[str, dict[str, float]]:
    """Return CPU seconds and memory until `perfect` has decided once, in a fresh interpreter each time.

    First nothing is kept, then compiled code but no table, then both.
    """
    answers = {}
    with tempfile.TemporaryDirectory() as cache:
        for kept in ("empty cache", "code compiled", "all kept"):
            if kept == "code compiled":
                shutil.rmtree(Path(cache) / "piste" / "solved", ignore_errors=True)
            answers[kept] = run_python(
                f"The first answer of {name}", "-c", ANSWER_PROGRAM, name, XDG_CACHE_HOME=cache
            )
    return answers


def versions() -> dict[str, str]:
    """Return the versions of what was compared, as far as it is installed."""
    installed = {}
    for library in LIBRARIES:
        try:
            installed[library] = version(library)
        except PackageNotFoundError:
            continue
    compiler = os.environ.get("CC") or shutil.which("cc")
    if compiler is not None:
        done = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=False)
        installed["C compiler"] = next(iter(done.stdout.splitlines()), "unknown")
    return installed


def show(document: dict[str, Any], terminal: Terminal) -> None:
    terminal.line(
        f"Random play; medians of {document['runs']} runs in turn, per CPU second, and their ratio to the loop"
    )
    for kind, sides in document["speeds"].items():
        terminal.line(kind)
        for who, speed in (sides["piste"] | sides["peers"]).items():
            terminal.line(f"  {who:32} {rate_text(speed['steps']):>7} steps, {speed['ratio']:.3g} x the loop")
    terminal.line("Until `perfect` has decided once: CPU time and memory")
    for name, row in document["first_answers"].items():
        texts = (
            f"{kept} {', '.join(f'{value:.3g} {unit}' for unit, value in used.items())}" for kept, used in row.items()
        )
        terminal.line(f"  {name}: {'; '.join(texts)}")
    for name, row in document["solutions"].items():
        terminal.line(f"Full solution of {name}: {row['seconds']:.0f} CPU s, {row['mib'] / 1024:.1f} GiB")
    for sentence in document["left_out"]:
        terminal.note(sentence)
    terminal.note(", ".join(f"{library} {text}" for library, text in document["versions"].items()))
