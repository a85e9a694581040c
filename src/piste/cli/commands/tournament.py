"""`piste tournament`: entrants are rated by many games; what was played is kept, and can be gone on with."""

from __future__ import annotations

import argparse
import datetime
import os
import sys
from pathlib import Path
from time import monotonic
from typing import Any

from piste.analysis.arena import results as files
from piste.analysis.arena.match import with_turn_limit
from piste.analysis.arena.page import CostlyPosition, page
from piste.analysis.arena.plan import make_plan, read_entrants
from piste.analysis.arena.report import Report, document, report, standings_lines, text
from piste.analysis.arena.results import Results
from piste.analysis.arena.sprt import parse
from piste.analysis.arena.tournament import play_tournament
from piste.analysis.coach.tournament_review import Costly, costliest, review_tournament
from piste.analysis.engine import open_engine
from piste.cli.arguments import option_pairs, whole_number, worker_count
from piste.cli.commands.puzzle import document as puzzle_document
from piste.cli.commands.puzzle import puzzle_lines, solution_text
from piste.cli.output import print_json
from piste.cli.progress_bar import ProgressBar
from piste.cli.terminal import Terminal
from piste.core.errors import OptionError, PisteError, is_interrupt
from piste.core.evaluation import EXACT, PROVEN
from piste.core.extras import need, solving
from piste.core.game import find, quoted
from piste.core.information_set import InformationSet
from piste.core.paths import TOURNAMENTS, data_folder

DEFAULT_GAMES, DEFAULT_GAMES_SPRT = "200", "20000"
MAX_GAMES = 10**8
LIVE_INTERVAL_S = 2.0
MAX_COSTLY = 3
"""How many positions are shown of each entrant."""


def run(args: argparse.Namespace, terminal: Terminal) -> int:
    results = resumed(args) if args.resume else begun(args)
    stopped = False
    try:
        if args.review:
            need(solving(results.plan.game, results.plan.options, "The review of a tournament"))
        if not report(results).finished or (args.review and len(results.reviews) < len(results.deals)):
            if args.resume:
                results.reopen()
            stopped = play(results, args, terminal)
    except PisteError as e:
        if not results.deals and not args.resume and results.path is not None:
            results.path.unlink(missing_ok=True)  # nothing was played, so there is nothing to go on with
        if isinstance(e, files.ResultsError | OptionError) or not results.deals:
            raise
        raise PisteError(f"{e}\n{how_to_go_on(results)}") from e
    finally:
        results.close()
    found = report(results)
    costly = [one for entrant in range(len(results.plan.entrants)) for one in costliest(results, entrant, MAX_COSTLY)]
    if args.html:
        write_page(Path(args.html), page(found, [in_words(found, one) for one in costly]))
    if args.json:
        puzzles = [puzzle_fields(found, one) for one in costly]
        print_json(terminal, {**document(found), "costliest": puzzles, "results": str(results.path)}, version=1)
    else:
        show(found, results, costly, terminal, stopped=stopped)
    return 130 if stopped else 0


def begun(args: argparse.Namespace) -> Results:
    """Return a tournament that begins, with its new file."""
    if args.game is None:
        raise OptionError("Name a game and at least two entrants: piste tournament prime-duel random steady")
    game = find(args.game)
    options = with_turn_limit(game, option_pairs(args.set))
    sprt = None if args.sprt is None else parse(args.sprt)
    games = args.games or (DEFAULT_GAMES if sprt is None else DEFAULT_GAMES_SPRT)
    plan = make_plan(
        game, options, read_entrants(args.entrants), whole_number("games", games, 1, MAX_GAMES),
        seed=args.seed, gauntlet=args.gauntlet, limit=limit(args.limit), sprt=sprt, anchor=args.anchor,
    )  # fmt: skip
    with ProgressBar("preparing") as bar:
        plan.prepare(bar)  # who cannot play is refused before there is a file
    return files.create(plan, Path(args.results) if args.results else new_file(game.name))


def resumed(args: argparse.Namespace) -> Results:
    if args.game is not None or args.entrants:
        raise OptionError("With --resume the file says who plays what: name no game and no entrant.")
    return files.read(Path(args.resume))


def limit(text: str | None) -> float:
    try:
        seconds = 10.0 if text is None else float(text)
    except ValueError:
        seconds = 0.0
    if not 0.01 <= seconds <= 3600:
        raise OptionError(f"--limit cannot be {quoted(text)}: it is a number of seconds from 0.01 to 3600.")
    return seconds


def new_file(game: str) -> Path:
    """Return a file in the user's folder that is not there yet."""
    stamp = datetime.datetime.now().strftime("%Y-%m-%d-%H%M%S")
    folder = data_folder() / TOURNAMENTS
    path, number = folder / f"{game}-{stamp}.jsonl", 1
    while path.exists():
        number += 1
        path = folder / f"{game}-{stamp}-{number}.jsonl"
    return path


def play(results: Results, args: argparse.Namespace, terminal: Terminal) -> bool:
    """Play what is left, and say whether it was stopped by Ctrl-C."""
    if not args.json:
        terminal.note(f"Results: {results.path}")
    try:
        with (
            ProgressBar("playing") as bar,
            LiveStandings(bar) as live,
            open_engine(args.engine, worker_count("processes", args.processes)) as engine,
        ):
            play_tournament(results, engine, bar, live)
            if args.review:
                review_tournament(results, engine, bar)
    except (KeyboardInterrupt, SystemError) as e:
        if not is_interrupt(e):
            raise
        return True
    return False


def how_to_go_on(results: Results) -> str:
    return f"What was played is kept. Go on with: piste tournament --resume {results.path}"


def show(found: Report, results: Results, costly: list[Costly], terminal: Terminal, *, stopped: bool) -> None:
    for line in text(found, terminal.width if terminal.out.isatty() else None):
        terminal.line(line)
    for one in costly:
        game, puzzle = found.plan.game, one.puzzle
        known = "" if puzzle.evaluation.known in (EXACT, PROVEN) else f" ({puzzle.evaluation.known})"
        terminal.line(
            f"{found.name(one.entrant)} lost {100 * one.loss:.1f} points{known} by {one.chosen}; "
            f"{solution_text(game, puzzle)}"
        )
        terminal.whole(f"  piste solve {game.name} --position '{InformationSet.of(game, puzzle.view)}'")
    if stopped:
        terminal.note(f"Stopped. {how_to_go_on(results)}")


def puzzle_fields(found: Report, one: Costly) -> dict[str, Any]:
    """Return a costly position as `piste puzzle --json` has it, with whose decision it was."""
    name = found.plan.entrants[one.entrant].name
    return {"entrant": name, "chosen": one.chosen, "loss": one.loss, **puzzle_document(found.plan.game, one.puzzle)}


def in_words(found: Report, one: Costly) -> CostlyPosition:
    """Return a costly position for the page."""
    game = found.plan.game
    head = f"{found.name(one.entrant)} lost {100 * one.loss:.1f} points"
    answer = f"Chosen was {one.chosen}. {solution_text(game, one.puzzle)}"
    return CostlyPosition(head, "\n".join(puzzle_lines(game, one.puzzle, 3)), answer)


def write_page(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as e:
        raise PisteError(f"The page {quoted(path, 200)} cannot be written: {e.strerror or e}.") from None


class LiveStandings:
    """The standings above the progress bar, drawn anew now and then; only at a terminal that can redraw lines."""

    def __init__(self, bar: ProgressBar) -> None:
        self._bar = bar
        self._visible = sys.stderr.isatty() and os.environ.get("TERM", "") not in ("dumb", "")
        self._lines = 0
        self._last = monotonic()

    def __enter__(self) -> LiveStandings:
        return self

    def __call__(self, results: Results) -> None:
        if not self._visible or monotonic() - self._last < LIVE_INTERVAL_S:
            return
        width = os.get_terminal_size(sys.stderr.fileno()).columns - 1
        standings = standings_lines(report(results), width)
        lines = [line[:width] for line in standings[: len(results.plan.entrants) + 1]]
        self._clear()
        print("\n".join(lines), file=sys.stderr, flush=True)
        self._bar.redraw()
        self._lines, self._last = len(lines), monotonic()

    def __exit__(self, *_: object) -> None:
        if self._lines:
            self._clear()

    def _clear(self) -> None:
        """Take away the bar, on whose line the cursor is, and the standings above it."""
        up = f"\x1b[{self._lines}A" if self._lines else ""
        print(f"\r{up}\x1b[J", end="", file=sys.stderr, flush=True)
        self._lines = 0
