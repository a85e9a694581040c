"""`piste admin`: what whoever runs a server does to its database."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from piste.cli.arguments import whole_number
from piste.cli.commands.serve import (
    MAX_KEEP_DAYS,
    Given,
    create_database_file,
    database_name,
    given_by_variable,
    read_db,
)
from piste.cli.output import print_json
from piste.cli.terminal import Terminal
from piste.core.errors import OptionError, PisteError
from piste.core.extras import SERVE, need
from piste.core.game import counted

DAY_S = 86400.0
DB = "DB"  # the word that PISTE_DB stands for where it is left out


class Action(NamedTuple):
    """Something that can be done, and the words that it takes."""

    run: Callable[[argparse.Namespace, Terminal, list[str]], int]
    takes: tuple[str, ...]


def run(args: argparse.Namespace, terminal: Terminal) -> int:
    action, words, variable = ACTIONS[args.action], list(args.words), given_by_variable("PISTE_DB")
    if variable is not None and DB in action.takes and len(words) == len(action.takes) - 1:
        read_db(variable)  # what is wrong with it is said of the variable
        words.insert(action.takes.index(DB), variable.text)
    if len(words) != len(action.takes):
        left_out = " Without DB, PISTE_DB must name the database." if DB in action.takes else ""
        raise OptionError(f"It is written so: piste admin {' '.join([args.action, *action.takes])}.{left_out}")
    need(SERVE)
    return action.run(args, terminal, words)


def database(word: str) -> Path | str:
    return read_db(Given(word, DB))


def file(word: str) -> Path:
    if "://" in word:
        raise OptionError("FILE is a file of this computer, not the address of a database.")
    return Path(word).expanduser().absolute()


def confirm(args: argparse.Namespace, terminal: Terminal, db: Path | str, what: str) -> None:
    """Ask before something is deleted, unless --yes was given."""
    if args.yes:
        return
    what += f" The database is {database_name(db)}."
    if not terminal.typed:
        raise OptionError(f"{what} That cannot be undone: say --yes if you mean it.")
    terminal.line(f"{what} That cannot be undone.")
    if terminal.read("Go on? (yes or no)").strip().lower() not in ("yes", "y"):
        raise PisteError("Nothing was done.")


def stats(args: argparse.Namespace, terminal: Terminal, words: list[str]) -> int:
    from piste.web.storage.admin import statistics

    db = database(words[0])
    found = statistics(db)
    if args.json:
        return print_json(terminal, {"database": database_name(db), **found._asdict()})
    terminal.line(f"{database_name(db)} (schema {found.schema})")
    terminal.line(
        f"  {counted(found.tables, 'table')}: {found.waiting} waiting for players, {found.running} running, "
        f"{found.finished} finished"
    )
    terminal.line(f"  {counted(found.players, 'player')} with a name, {counted(found.reviews, 'review')}")
    terminal.line(f"  {found.bytes / 1e6:,.1f} MB, used by {counted(found.servers, 'server')} now")
    return 0


def backup(_args: argparse.Namespace, terminal: Terminal, words: list[str]) -> int:
    from piste.web.storage.copying import back_up

    db, target = database(words[0]), file(words[1])
    say_copied(terminal, back_up(db, target), target)
    terminal.line("It holds the seeds of running games and the server's key: keep it as private as the database.")
    return 0


def restore(_args: argparse.Namespace, terminal: Terminal, words: list[str]) -> int:
    from piste.web.storage.copying import need_file
    from piste.web.storage.copying import restore as restore_database

    backed_up, db = file(words[0]), database(words[1])
    need_file(backed_up)
    prepare_target(db)
    say_copied(terminal, restore_database(backed_up, db), db)
    return 0


def copy(_args: argparse.Namespace, terminal: Terminal, words: list[str]) -> int:
    from piste.web.storage.copying import copy as copy_database
    from piste.web.storage.copying import need_file

    source, target = database(words[0]), database(words[1])
    if source == target:
        raise OptionError("Both are the same database.")
    if isinstance(source, Path):
        need_file(source)
    prepare_target(target)
    say_copied(terminal, copy_database(source, target), target)
    return 0


def prepare_target(db: Path | str) -> None:
    if isinstance(db, Path):
        create_database_file(db)


def say_copied(terminal: Terminal, counts: dict[str, int], target: Path | str) -> None:
    terminal.line(f"Copied to {database_name(target)}, and compared row by row:")
    terminal.line("  " + ", ".join(f"{count} in {name}" for name, count in counts.items()))


def close(args: argparse.Namespace, terminal: Terminal, words: list[str]) -> int:
    from piste.web.storage.admin import close_table, summary
    from piste.web.storage.storage import Storage

    db, code = database(words[0]), words[1].rstrip("/").rpartition("/")[2]  # a whole link will do
    with Storage(existing(db)) as storage:
        found = summary(storage, code)
        what = f"a table of {found.game}, {found.state}, {people(found.people)}, {counted(found.lines, 'line')}"
        confirm(args, terminal, db, f"This deletes {what} of its record.")
        close_table(storage, code)
    told = " Whoever is there is told that it is gone." if storage.shared else ""
    terminal.line(f"Closed {what} of its record. Nothing of it is kept here; backups may still have it.{told}")
    return 0


def people(count: int) -> str:
    return "1 person" if count == 1 else f"{count} people"


def rotate_key(args: argparse.Namespace, terminal: Terminal, words: list[str]) -> int:
    from piste.web.storage import admin
    from piste.web.storage.storage import Storage

    db = database(words[0])
    with Storage(existing(db)) as storage:
        confirm(
            args,
            terminal,
            db,
            "All private seat links that were given out become worthless; devices keep their seats.",
        )
        admin.rotate_key(storage)
    servers = " Running servers use it from now on." if storage.shared else ""
    terminal.line(f"There is a new key, and the private links made before are worthless.{servers}")
    return 0


def expire(args: argparse.Namespace, terminal: Terminal, words: list[str]) -> int:
    from piste.web.storage import admin
    from piste.web.storage.storage import Storage

    if args.days is None:
        raise OptionError("Say how old a table must be to be deleted, such as --days 90.")
    before = time.time() - DAY_S * whole_number("days", args.days, 1, MAX_KEEP_DAYS)
    since = datetime.fromtimestamp(before, UTC).strftime("%Y-%m-%d %H:%M UTC")
    db = database(words[0])
    with Storage(existing(db)) as storage:
        codes = admin.old_tables(storage, before)
        if not codes:
            terminal.line(f"There is no table without a change since {since}.")
            return 0
        confirm(args, terminal, db, f"This deletes {counted(len(codes), 'table')} without a change since {since}.")
        admin.expire(storage, codes, before)
    terminal.line(f"Deleted {counted(len(codes), 'table')} without a change since {since}.")
    return 0


def migrate(_args: argparse.Namespace, terminal: Terminal, words: list[str]) -> int:
    from piste.web.storage.storage import Storage

    db = database(words[0])
    with Storage(db if not isinstance(db, Path) else existing(db)):
        terminal.line(f"{database_name(db)} has all that this version of piste needs.")
    return 0


def existing(db: Path | str) -> Path | str:
    """Return a database; of a file, only if it is there: nobody wants a new one here."""
    from piste.web.storage.copying import need_file

    if isinstance(db, Path):
        need_file(db)
    return db


ACTIONS = {
    "stats": Action(stats, (DB,)),
    "backup": Action(backup, (DB, "FILE")),
    "restore": Action(restore, ("FILE", DB)),
    "copy": Action(copy, ("FROM", "TO")),
    "close": Action(close, (DB, "CODE")),
    "rotate-key": Action(rotate_key, (DB,)),
    "expire": Action(expire, (DB,)),
    "migrate": Action(migrate, (DB,)),
}
