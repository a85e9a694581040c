"""`piste worker`: takes slow decisions, hints and reviews from the queue of a PostgreSQL, until it is stopped."""

from __future__ import annotations

import argparse
from pathlib import Path

from piste.cli.commands.serve import MAX_PROCESSES, configure_logs, given, given_flag, given_number, read_db, read_log
from piste.cli.terminal import Terminal
from piste.core.errors import OptionError
from piste.core.extras import POSTGRES, SERVE, need
from piste.web.settings import Settings


def run(args: argparse.Namespace, terminal: Terminal) -> int:
    """Do jobs until it is stopped."""
    settings, quiet, log = read_settings(args), given_flag(args, "quiet"), read_log(args)
    need(SERVE)
    need(POSTGRES)
    from piste.web import logging as logs
    from piste.web.job_worker import run_worker

    configure_logs(log)

    def ready() -> None:
        if not quiet:
            terminal.line(f"Bots of the servers at this database think here, {settings.thinkers} at a time.")
            terminal.line("To stop: Ctrl-C. What is not finished is given to other workers.")
        logs.info("working", bot_workers=settings.thinkers)

    run_worker(settings, ready)
    logs.info("stopped")
    if not quiet:
        terminal.note("Stopped. What was not finished was given back.")
    return 0


def read_settings(args: argparse.Namespace) -> Settings:
    """Return the settings that the arguments and the environment ask for."""
    db = read_db(given(args, "db"))
    if isinstance(db, Path):
        raise OptionError(
            "`piste worker` needs --db with the address of the PostgreSQL that the servers share, such as "
            "postgresql://piste@localhost/piste. A server on a file lets its bots think by itself."
        )
    settings = Settings(db)
    return settings._replace(
        thinkers=given_number(args, "bot-workers", 1, MAX_PROCESSES, settings.thinkers),
        prepare=not given_flag(args, "no-prepare"),
    )
