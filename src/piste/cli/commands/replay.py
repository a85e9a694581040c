"""`piste replay`: a finished game again, each turn in the voice of the one whose it was."""

from __future__ import annotations

import argparse

from piste.cli.output import print_json
from piste.cli.saved_games import find_record
from piste.cli.styles import game_marker
from piste.cli.terminal import Terminal
from piste.core.errors import PisteError
from piste.core.presentation import EventContext, Pause
from piste.core.protocols import SPECTATOR
from piste.core.record import Record
from piste.core.replay import replay
from piste.core.table import Table
from piste.core.views import Ending


def run(args: argparse.Namespace, terminal: Terminal) -> int:
    record = find_record(args.record)
    table, _ = replay(record)
    ending = table.ending()
    if ending is None:
        raise PisteError("That game is not over, and its record holds secrets. `piste resume` goes on with it.")
    if args.json:
        document = {**record.head.line(), "steps": record.steps, "ending": record.ending}
        return print_json(terminal, document, version=1)
    terminal.marker = game_marker(record.head.game, table.options, record.head.seats)
    with terminal.paged():
        show(record, table, ending, terminal)
    return 0


def show(record: Record, table: Table, ending: Ending, terminal: Terminal) -> None:
    text, seats = record.head.game.text, record.head.seats
    terminal.lines(text.welcome(table.view(SPECTATOR), seats))
    views = {seat: table.view(seat) for seat in (SPECTATOR, *range(table.seats))}
    for at, entry in enumerate(views[SPECTATOR].log):
        owner = entry.event.seat if entry.event.seat in views else SPECTATOR
        # Where turns have a heading of their own the owner's voice is clear; where they are asked for (Duel's
        # headings stand in the question), everything is told of the owner, with the owner's cards (G9).
        voice = owner if text.OWN_VOICE else SPECTATOR
        context = EventContext(voice, seats, views[owner].opening, views[owner].log[: at + 1])
        terminal.lines([line for line in text.lines(context) if not isinstance(line, Pause)])
    terminal.lines(text.farewell(views[SPECTATOR], seats, ending))
    for step in record.steps:
        if "mark" in step:
            terminal.note(f"Marked before step {step['n'] + 1}: {step['mark']}")
