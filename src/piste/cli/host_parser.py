"""The commands for those who run servers. This module is loaded at every start, so it imports next to nothing."""

from __future__ import annotations

import argparse
from typing import Protocol

from piste.cli.base_parser import Argument, Parser, flag, value

ADMIN_ACTIONS = ("stats", "backup", "restore", "copy", "close", "rotate-key", "expire", "migrate")


class AddCommand(Protocol):
    """Adds a command with its help, its examples and its arguments."""

    def __call__(self, name: str, help: str, examples: str, /, *arguments: Argument) -> Parser: ...


def add_host_commands(command: AddCommand) -> None:
    """Add the commands for those who run a server."""
    command(
        "serve", "open tables for browsers: friends on phones and laptops, or bots",
        """\
  piste serve
  piste serve --port 8080 --no-open
  piste serve --behind-proxy --public https://cards.example
  piste serve --db postgresql://piste@localhost/piste --workers 4
""",
        value("--host", "ADDRESS", "listen at this address (default: all of this computer's)"),
        value("--port", "N", "listen at this port (default: 8000)"),
        value("--db", "WHERE", "keep the tables in this file, or at this address of a PostgreSQL"),
        value(
            "--behind-proxy", "ADDRESS",
            "trust the proxy at this address (default: 127.0.0.1) to say who calls; without --host, listen at "
            "127.0.0.1 only",
            nargs="?", const="127.0.0.1",
        ),
        value("--public", "URL", "what links begin with, such as https://cards.example"),
        value("--keep", "DAYS", "delete tables that were not used for this long (default: 30; 0: never)"),
        value("--patience", "SECONDS", "an absent player's turn can be claimed after this long (default: 60)"),
        flag("--no-prepare", "prepare strong bots only when they are first played"),
        value("--bot-workers", "N", "processes in which bots think (default: all cores but one)"),
        value("--thinkers", help=argparse.SUPPRESS, dest="bot_workers"),  # its name before
        value("--workers", "N", "server processes on this computer, with PostgreSQL only (default: 1)"),
        value(
            "--program-games", "N",
            "games without a person that may run at once (default: 200; 0: programs play against people only)",
        ),
        flag("--open-metrics", "let other computers read /metrics"),
        flag("--no-limits", "no rate limits, for measuring"),
        flag("--no-open", "do not open a browser"),
        value(
            "--log", "FORMAT",
            "how the log is written: text or json (default: json; at a terminal text, of what is wrong only)",
            choices=("text", "json"),
        ),
        flag("--quiet", "print nothing at the start"),
    ).description = (
        "Open tables for browsers: friends on phones and laptops, or bots.\n"
        "An environment variable does the same as an option: PISTE_PORT=8080 is --port."
    )  # fmt: skip
    command(
        "mcp", "let a language model play, over the Model Context Protocol",
        """\
  piste mcp
  piste mcp --http
  piste mcp --http 8080 --host 0.0.0.0 --public http://192.168.1.5:8080
""",
        value(
            "--http", "PORT", "serve several clients at this port of this computer (default: 8001)",
            nargs="?", const="8001",
        ),
        value("--host", "ADDRESS", "with --http: listen at this address (default: 127.0.0.1)"),
        value("--public", "URL", "with --http: the address by which other computers reach it"),
    ).description = (
        "Let a language model play, over the Model Context Protocol (MCP).\n"
        "Without --http a client starts it and speaks to it on its input and output."
    )  # fmt: skip
    command(
        "worker", "let bots of servers that share a PostgreSQL think on this computer",
        """\
  piste worker --db postgresql://piste@db.example/piste
  piste worker --bot-workers 4 --quiet
""",
        value("--db", "ADDRESS", "the PostgreSQL of the servers"),
        value("--bot-workers", "N", "processes in which bots think (default: all cores but one)"),
        flag("--no-prepare", "prepare strong bots only when they first have to decide"),
        value(
            "--log", "FORMAT",
            "how the log is written: text or json (default: json; at a terminal text, of what is wrong only)",
            choices=("text", "json"),
        ),
        flag("--quiet", "print nothing at the start and at the end"),
    ).description = (
        "Let bots of servers that share a PostgreSQL think on this computer.\n"
        "An environment variable does the same as an option: PISTE_DB=... is --db."
    )  # fmt: skip
    command(
        "admin", "back up, move and tidy the database of a server",
        """\
  piste admin stats tables.db
  piste admin backup postgresql://piste@localhost/piste backup.db
  piste admin restore backup.db new.db
  piste admin copy tables.db postgresql://piste@localhost/piste
  piste admin close postgresql://piste@localhost/piste CODE
  piste admin rotate-key postgresql://piste@localhost/piste
  piste admin expire tables.db --days 90
  piste admin migrate postgresql://owner@localhost/piste
""",
        value("action", "ACTION", "what to do, as in the examples", choices=ADMIN_ACTIONS),
        value(
            "words", "DB",
            "a file, or the address of a PostgreSQL (default: what PISTE_DB names, except with copy), and what "
            "else the action takes, in the order of the examples",
            nargs="*",
        ),
        value("--days", "N", "with expire: delete tables without a change for so many days"),
        flag("--yes", "do not ask before something is deleted"),
        flag("--json", "with stats: print one JSON document for machines"),
    ).intermixed = True  # fmt: skip
