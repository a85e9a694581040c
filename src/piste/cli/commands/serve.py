"""`piste serve`: reads its arguments, says where the tables are, and serves until it is stopped."""

from __future__ import annotations

import argparse
import ipaddress
import logging
import os
import socket
import sys
from pathlib import Path

from piste.cli.arguments import whole_number
from piste.cli.terminal import Terminal
from piste.core.errors import OptionError, PisteError
from piste.core.extras import SERVE, need
from piste.core.game import counted, quoted
from piste.web.server import MAX_OPEN_FILES, check_libraries, listen, raise_file_limit, run_app
from piste.web.settings import ALL_INTERFACES, LOOPBACK, PORT, Settings, default_db, read_public

MAX_KEEP_DAYS = 36_500


def run(args: argparse.Namespace, terminal: Terminal) -> int:
    """Serve until it is stopped."""
    refuse_more_processes(args.workers, os.environ.get("WEB_CONCURRENCY", ""))
    settings = read_settings(args)
    need(SERVE)
    check_libraries()
    create_database_file(settings.db)
    listener = listen(settings.host, settings.port)
    try:
        settings = settings._replace(port=listener.getsockname()[1])
        return serve(settings, listener, terminal, quiet=args.quiet, browse=not args.no_open, log=args.log)
    finally:
        listener.close()


def refuse_more_processes(workers: str | None, concurrency: str) -> None:
    """Refuse more than one process: two would each hold half of every table."""
    for text, where in ((workers, "--workers"), (concurrency, "WEB_CONCURRENCY")):
        if text and text.strip() != "1":
            raise OptionError(
                f"{where} cannot be {quoted(text)}: a table lives in the memory of one process, and two would each "
                "hold half of a game without knowing of the other. Leave it out; bots think in processes of their "
                "own (--thinkers)."
            )


def read_settings(args: argparse.Namespace) -> Settings:
    """Return the settings that the arguments ask for."""
    proxy = args.behind_proxy or ""
    if proxy:
        try:
            ipaddress.ip_network(proxy)
        except ValueError:
            raise OptionError(
                f"--behind-proxy takes the address from which the proxy calls, such as 127.0.0.1; {quoted(proxy)} "
                "is no address."
            ) from None
    settings = Settings(
        db=default_db() if args.db is None else Path(args.db).expanduser().absolute(),
        host=args.host or (LOOPBACK if proxy else ALL_INTERFACES),
        port=PORT if args.port is None else whole_number("port", args.port, 0, 65535),
        behind_proxy=proxy,
        public="" if args.public is None else read_public(args.public),
        prepare=not args.no_prepare,
        open_metrics=args.open_metrics,
        limits=not args.no_limits,
    )
    if args.keep is not None:
        settings = settings._replace(keep_days=whole_number("keep", args.keep, 0, MAX_KEEP_DAYS))
    if args.patience is not None:
        settings = settings._replace(patience=float(whole_number("patience", args.patience, 5, 86_400)))
    if args.thinkers is not None:
        settings = settings._replace(thinkers=whole_number("thinkers", args.thinkers, 1, 64))
    return settings


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


def serve(
    settings: Settings,
    listener: socket.socket,
    terminal: Terminal,
    *,
    quiet: bool,
    browse: bool,
    log: str | None = None,
) -> int:
    """Run the application on this socket until it is stopped."""
    from piste.web import logging as logs
    from piste.web.app import make_app

    # Lines of JSON are for machines. A person at a terminal reads words, and only when something is wrong.
    person = sys.stderr.isatty()
    words = log == "text" or (log is None and person)
    logs.configure(
        level=logging.WARNING if person and log is None else logging.INFO,
        form=logs.TextFormatter() if words else logs.JsonFormatter(),
    )
    raise_file_limit(MAX_OPEN_FILES)

    def ready() -> None:
        if not quiet:
            welcome(settings, terminal)
        logs.info("serving", port=settings.port, keep_days=settings.keep_days, thinkers=settings.thinkers)
        if browse and not settings.behind_proxy and can_browse(terminal):
            open_browser(f"http://localhost:{settings.port}")

    app = make_app(settings)
    error = run_app(app, settings, listener, ready)
    if error is not None:
        raise error
    logs.info("stopped")
    if not quiet:
        terminal.note("Stopped. All tables are kept.")
    return 0


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
    terminal.line(f"Tables are kept in {settings.db}, {duration}.")
    terminal.line("To stop: Ctrl-C. Games go on when the server is back; open pages find it by themselves.")


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
