"""`piste check-bot`: whether a program keeps to the protocol, as a report."""

from __future__ import annotations

import argparse

from piste import bots
from piste.bots.conformance import Check, Conformance, GameReport, Report, sizes
from piste.bots.program import ANSWER_TIMEOUT_S, ProgramBot
from piste.cli.arguments import named_games
from piste.cli.commands.join import read_limit
from piste.cli.output import print_json
from piste.cli.players import bot_spec
from piste.cli.progress_bar import ProgressBar
from piste.cli.terminal import Terminal, printable
from piste.core.errors import OptionError
from piste.core.game import find, listed, quoted


def run(args: argparse.Namespace, terminal: Terminal) -> int:
    spec = bot_spec(args.bot)
    if not spec.startswith(bots.PROGRAM):
        raise OptionError(
            f"{quoted(args.bot)} is no program: write cmd: and its command line, such as cmd:./mybot. Bots of ours "
            "keep to the protocol by themselves."
        )
    games, command = named_games(args.game or []), spec.removeprefix(bots.PROGRAM).strip()
    ProgramBot(command, games[0]).close()  # one that is not there is refused at once
    limit = read_limit(args.limit) or ANSWER_TIMEOUT_S
    with ProgressBar("Trying") as bar:
        steps = 1 + sum(len(sizes(game)) for game in games)
        done = iter(range(steps + 1))
        report = Conformance(command, limit=limit, seed=args.seed).run(
            games, lambda what: bar(next(done), steps, f"Trying {what}")
        )
    if args.json:
        print_json(terminal, report.document())
    else:
        show(report, limit, terminal)
    return 0 if report.passed else 1


def show(report: Report, limit: float, terminal: Terminal) -> None:
    terminal.toned(f"{printable(report.bot)}", "heading")
    for check in report.checks:
        terminal.line(f"  {'ok  ' if check.passed else 'FAIL'}  {title(check)}: {printable(check.detail)}")
    played = [game for game in report.games if game.seconds]
    if played:
        terminal.toned("Time of an answer", "heading")
        for game in played:
            terminal.line(f"  {' '.join([find(game.game).notation.TITLE, *changed(game)])}: {times(game)}")
        terminal.line(f"  The limit was {limit:g} seconds.")
    failed = [check for check in report.checks if not check.passed]
    if failed:
        terminal.line(f"It does not keep to the protocol: {listed([title(check) for check in failed], 'and')}.")
        terminal.note("What a program is told and may answer: docs/bots.md.")
    else:
        terminal.line("It keeps to the protocol.")


def title(check: Check) -> str:
    return f"{find(check.game).notation.TITLE}, {check.name}" if check.game else check.name.capitalize()


def times(game: GameReport) -> str:
    mean, worst = sum(game.seconds) / len(game.seconds), max(game.seconds)
    first = f"{1000 * max(game.starts):.0f} ms with its start"
    return f"{1000 * mean:.1f} ms on average, {1000 * worst:.1f} ms at most, {first}"


def changed(game: GameReport) -> list[str]:
    return [f"{key}={text}" for key, text in game.options.items()]
