"""`piste resume`: go on with a game that was left."""

from __future__ import annotations

import argparse

from piste.cli import saved_games
from piste.cli.players import YOU, bot_spec, seat_players
from piste.cli.session import Session, play_session
from piste.cli.terminal import Terminal, complain
from piste.core.errors import MissingExtraError, PisteError
from piste.core.marks import Reseated
from piste.core.replay import replay


def run(args: argparse.Namespace, terminal: Terminal) -> int:
    name = args.id or saved_games.newest(running=True)
    record_file = saved_games.RecordFile(name, again=True, tell=complain)  # nobody may write to it from here on
    try:
        record = saved_games.read(name)
        if record.ending is not None:
            raise PisteError(f"The game {name} is over. To see it again: {saved_games.command('replay', name)}")
        table, recorder = replay(record)
        specs = [record.head.notes.get(f"seat {i}", YOU) for i in range(1, table.seats + 1)]
        for mark in record.marks:
            if isinstance(mark, Reseated):
                specs[mark.seat] = mark.spec
        reseated = [i for i, spec in enumerate(specs) if args.vs and spec != YOU]
        for i in reseated:
            specs[i] = bot_spec(args.vs)
        players = seat_players(record.head.game, record.head.options, specs)
    except MissingExtraError as e:
        record_file.close()
        instead = saved_games.command("resume", f"{name} --vs steady")
        raise PisteError(f"{e}\nOr go on with another bot: {instead}") from None
    except BaseException:
        record_file.close()
        raise
    record_file.go_on_after(len(record.text.encode()))
    recorder.attach(record_file.write, len(record.lines))
    for i in reseated:
        recorder.mark(Reseated(i, specs[i]))
    hints = record.head.notes.get("hints") == "agreed"
    session = Session(
        record.head, table, recorder, players, terminal,
        brief=args.brief, hints=hints, record_file=record_file,
    )  # fmt: skip
    return play_session(session, record_file, resumed=True)
