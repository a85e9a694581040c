"""`piste serve`: reads its arguments, says where the tables are, and serves until it is stopped."""

from __future__ import annotations

import argparse
import ipaddress
import logging
import os
import socket
import sys
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import NamedTuple

from piste.cli.arguments import whole_number
from piste.cli.terminal import Terminal, complain
from piste.core.errors import OptionError, PisteError
from piste.core.extras import POSTGRES, SERVE, need
from piste.core.game import counted, quoted
from piste.web.server import MAX_OPEN_FILES, check_libraries, listen, raise_file_limit, run_app
from piste.web.settings import ALL_INTERFACES, LOOPBACK, PORT, Settings, default_db, read_public

MAX_PROGRAM_GAMES = 100_000
MAX_KEEP_DAYS = 36_500
MAX_PROCESSES = 64
YES, NO = ("1", "yes", "true", "on"), ("", "0", "no", "false", "off")


def run(args: argparse.Namespace, terminal: Terminal) -> int:
    """Serve until it is stopped."""
    settings, manner = read_settings(args), read_manner(args)
    need(SERVE)
    check_libraries()
    if isinstance(settings.db, Path):
        create_database_file(settings.db)
    listener = listen(settings.host, settings.port)
    try:
        settings = settings._replace(port=listener.getsockname()[1])
        return serve(settings, listener, terminal, manner)
    finally:
        listener.close()


class Manner(NamedTuple):
    """What a server says, and how."""

    quiet: bool = False
    browse: bool = False
    log: str | None = None  # text or json; None: as it suits whoever reads it


class Given(NamedTuple):
    """What an option was given."""

    text: str
    where: str  # what gave it: the option itself or a variable


def given(args: argparse.Namespace, option: str) -> Given | None:
    """Return what was given to an option: on the command line, or else in its environment variable."""
    name = option.replace("-", "_")
    if getattr(args, name) is not None:
        return Given(getattr(args, name), f"--{option}")
    return given_by_variable(f"PISTE_{name.upper()}")


def given_by_variable(variable: str) -> Given | None:
    text = os.environ.get(variable, "").strip()
    return Given(text, variable) if text else None


def given_flag(args: argparse.Namespace, option: str) -> bool:
    """Return whether an option without a value was given, or its environment variable says so."""
    if getattr(args, option.replace("-", "_")):
        return True
    variable = f"PISTE_{option.replace('-', '_').upper()}"
    text = os.environ.get(variable, "").strip()
    if text.lower() not in (*YES, *NO):
        raise OptionError(f"{variable} cannot be {quoted(text)}: it is yes or no.")
    return text.lower() in YES


def given_number(args: argparse.Namespace, option: str, low: int, high: int, otherwise: int) -> int:
    found = given(args, option)
    return otherwise if found is None else whole_number(option, found.text, low, high, found.where)


def read_settings(args: argparse.Namespace) -> Settings:
    """Return the settings that the arguments and the environment ask for."""
    host, public, proxy = given(args, "host"), given(args, "public"), read_proxy(given(args, "behind-proxy"))
    db = read_db(given(args, "db"))
    default, shared = Settings(db), not isinstance(db, Path)
    return default._replace(
        host=host.text if host is not None else LOOPBACK if proxy else ALL_INTERFACES,
        port=given_number(args, "port", 0, 65535, PORT),
        behind_proxy=proxy,
        public="" if public is None else read_public(*public),
        prepare=not given_flag(args, "no-prepare"),
        open_metrics=given_flag(args, "open-metrics"),
        limits=not given_flag(args, "no-limits"),
        keep_days=given_number(args, "keep", 0, MAX_KEEP_DAYS, default.keep_days),
        patience=float(given_number(args, "patience", 5, 86_400, int(default.patience))),
        # With a shared database all slow decisions may be left to `piste worker`.
        thinkers=given_number(args, "bot-workers", 0 if shared else 1, MAX_PROCESSES, default.thinkers),
        program_games=given_number(args, "program-games", 0, MAX_PROGRAM_GAMES, default.program_games),
        workers=read_workers(args, shared=shared),
    )


def read_manner(args: argparse.Namespace) -> Manner:
    return Manner(given_flag(args, "quiet"), not given_flag(args, "no-open"), read_log(args))


def read_log(args: argparse.Namespace) -> str | None:
    log = given(args, "log")
    if log is not None and log.text not in ("text", "json"):
        raise OptionError(f"{log.where} cannot be {quoted(log.text)}: it is text or json.")
    return None if log is None else log.text


def read_proxy(proxy: Given | None) -> str:
    """Return the address of the proxy that is trusted; "" without one."""
    if proxy is None:
        return ""
    try:
        ipaddress.ip_network(proxy.text)
    except ValueError:
        raise OptionError(
            f"{proxy.where} takes the address from which the proxy calls, such as 127.0.0.1; {quoted(proxy.text)} "
            "is no address."
        ) from None
    return proxy.text


def read_workers(args: argparse.Namespace, *, shared: bool) -> int:
    """Return how many server processes are asked for; only a shared database allows more than one."""
    found = given(args, "workers") or given_by_variable("WEB_CONCURRENCY")
    if found is None:
        return 1
    workers = whole_number("workers", found.text, 1, MAX_PROCESSES, found.where)
    if workers > 1 and not shared:
        raise OptionError(
            f"{found.where} cannot be {quoted(found.text)} with a file: one process holds all tables of a SQLite "
            "file. Leave it out, or keep the tables in PostgreSQL, which several processes share: "
            "--db postgresql://... Bots think in processes of their own (--bot-workers)."
        )
    return workers


def read_db(db: Given | None) -> Path | str:
    """Return the file or the address of the database; by default, a file."""
    if db is None:
        return default_db()
    if "://" not in db.text:
        return Path(db.text).expanduser().absolute()
    need(SERVE)
    need(POSTGRES)
    from piste.web.storage.postgresql import read_address

    read_address(*db)
    return db.text


def create_database_file(db: Path) -> None:
    """Make the folder and the file, readable by this user only: the file holds seeds."""
    try:
        db.parent.mkdir(parents=True, exist_ok=True)
        if not db.exists():
            db.touch(mode=0o600)
    except OSError as e:
        raise PisteError(
            f"The tables cannot be kept in {db}: {e.strerror or e}. Choose another file with --db."
        ) from None


def serve(settings: Settings, listener: socket.socket, terminal: Terminal, manner: Manner) -> int:
    """Run the application on this socket until it is stopped, in this process or in several."""
    configure_logs(manner.log)
    raise_file_limit(MAX_OPEN_FILES)
    from piste.web import logging as logs

    def ready() -> None:
        if not manner.quiet:
            welcome(settings, terminal)
        logs.info(
            "serving",
            port=settings.port,
            keep_days=settings.keep_days,
            workers=settings.workers,
            thinkers=settings.thinkers,
        )
        if manner.browse and not settings.behind_proxy and can_browse(terminal):
            open_browser(f"http://localhost:{settings.port}")

    if settings.workers > 1:
        supervise(settings, listener, manner, ready)
    else:
        serve_here(settings, listener, ready)
    logs.info("stopped")
    if not manner.quiet:
        terminal.note("Stopped. All tables are kept.")
    return 0


def serve_here(settings: Settings, listener: socket.socket, ready: Callable[[], None]) -> None:
    """Serve in this process."""
    from piste.web.app import make_app

    error = run_app(make_app(settings), settings, listener, ready)
    if error is not None:
        raise error


def supervise(settings: Settings, listener: socket.socket, manner: Manner, ready: Callable[[], None]) -> None:
    """Serve in several processes that share the socket, with one more that lets bots think."""
    from piste.web.supervisor import Child, Program, Supervisor

    names = [f"server {number}" for number in range(1, settings.workers + 1)]
    # Jobs are for a process of their own, so that no server is ended because a bot takes too much memory.
    programs = [
        *(Program(name, serve_as_child, (settings._replace(thinkers=0), listener, manner)) for name in names),
        *([Program("worker", work_as_child, (settings, manner))] if settings.thinkers else []),
    ]
    Supervisor([Child(program) for program in programs], ready, lambda text: complain(f"piste: {text}")).run()


def serve_as_child(reports: Connection, settings: Settings, listener: socket.socket, manner: Manner) -> None:
    """Serve in a process of a supervisor."""
    configure_logs(manner.log)
    serve_here(settings, listener, lambda: reports.send(""))


def work_as_child(reports: Connection, settings: Settings, manner: Manner) -> None:
    """Take jobs, as `piste worker` does, in a process of a supervisor."""
    configure_logs(manner.log)
    from piste.web.job_worker import run_worker

    run_worker(settings, lambda: reports.send(""))


def configure_logs(log: str | None) -> None:
    """Write lines of JSON for machines. A person at a terminal reads words, and only when something is wrong."""
    from piste.web import logging as logs

    person = sys.stderr.isatty()
    words = log == "text" or (log is None and person)
    logs.configure(
        level=logging.WARNING if person and log is None else logging.INFO,
        form=logs.TextFormatter() if words else logs.JsonFormatter(),
    )


def welcome(settings: Settings, terminal: Terminal) -> None:
    """Say where the tables are, in words and as a picture for phones."""
    from piste.web.network import ALL_HOSTS, lan_addresses, link, qr_lines, reachable_at

    terminal.line("piste is ready.")
    shared = settings.public
    if settings.behind_proxy:
        terminal.line(f"  For the proxy at {settings.behind_proxy}: {link(settings.host, settings.port)}")
    else:
        wide = settings.host in ALL_HOSTS
        terminal.line(f"  On this computer:  {link('localhost' if wide else settings.host, settings.port)}")
        addresses = reachable_at(settings.host, lan_addresses) if wide else []
        others = [link(address, settings.port) for address in addresses]
        for other in others:
            terminal.line(f"  In your network:   {other}")
        if wide and not others:
            terminal.line("  This computer is in no network now: others cannot reach it.")
        shared = shared or (others[0] if others else "")
    if settings.public:
        terminal.line(f"  For everybody:     {settings.public}")
    if shared and can_draw(terminal):
        lines = qr_lines(shared, colour=terminal.colour)
        if max(len(line) for line in qr_lines(shared, colour=False)) <= terminal.width:
            terminal.line(f"\nFor phones, {shared}:\n")
            for line in lines:
                terminal.whole(line)
            terminal.line()
    duration = "until they are deleted"
    if settings.keep_days:
        duration = f"for {counted(settings.keep_days, 'day')} after the last thing that happened there"
    terminal.line(f"Tables are kept in {database_name(settings.db)}, {duration}.")
    terminal.line("To stop: Ctrl-C. Games go on when the server is back; open pages find it by themselves.")


def database_name(db: Path | str) -> str:
    """Return where the tables are kept, without a password."""
    if isinstance(db, Path):
        return str(db)
    from piste.web.storage.postgresql import PostgresDatabase

    return str(PostgresDatabase(db))


def can_draw(terminal: Terminal) -> bool:
    """Return whether a QR code of block characters can be shown."""
    if not terminal.out.isatty():
        return False
    try:
        "▀▄█".encode(terminal.out.encoding or "ascii")
    except (UnicodeError, LookupError):
        return False
    return True


def can_browse(terminal: Terminal) -> bool:
    """Return whether a user at a desktop can see a browser."""
    if not terminal.out.isatty() or "SSH_CONNECTION" in os.environ:
        return False
    if sys.platform in ("win32", "darwin"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def open_browser(address: str) -> None:
    """Open a page without waiting for the browser."""
    import threading
    import webbrowser

    threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
