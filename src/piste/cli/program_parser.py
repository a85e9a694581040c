"""The commands for programs that take a seat. This module is loaded at every start, so it imports next to nothing."""

from __future__ import annotations

from piste.cli.base_parser import JSON, flag, repeated, value
from piste.cli.host_parser import AddCommand


def add_program_commands(command: AddCommand) -> None:
    """Add the commands for programs that take a seat."""
    command(
        "join", "let a bot or a program of yours play at a table of another computer",
        """\
  piste join http://localhost:8000/t/CODE
  piste join https://cards.example/t/CODE --bot cmd:./mybot --name Mine
""",
        value("link", "LINK", "the link of a table, or the private link of a seat"),
        value("--bot", "BOT", "a bot's name, cmd:PROGRAM or module:function (default: steady)", default="steady"),
        value("--name", "NAME", "what it is called at the table (default: after the bot)"),
        value("--limit", "SECONDS", "how long a program may take for an answer (default: 10)"),
        value(
            "--resume", "SEAT", "go on with the seat that this computer left there; which one, if it left several",
            nargs="?", const="",
        ),
        flag("--quiet", "print nothing but what goes wrong"),
    ).description = (
        "Let a bot or a program of yours play at a table of another computer.\n"
        "The token of a seat, where you have one, goes into the variable PISTE_TOKEN."
    )  # fmt: skip
    command(
        "check-bot", "check that a program keeps to the protocol, in every game and phase",
        """\
  piste check-bot cmd:./mybot
  piste check-bot 'cmd:python3 mybot.py' --game prime-duel --limit 2
""",
        value("bot", "BOT", "cmd: and a command line"),
        repeated("--game", "GAME", "this game only; may be given again (default: all)"),
        value("--limit", "SECONDS", "how long it may take for an answer (default: 10)"),
        value("--seed", "TEXT", "the same seed, the same games (default: check)", default="check"),
        JSON,
    )  # fmt: skip
    command(
        "serve-bot", "let a program of yours play in tournaments of other computers",
        """\
  piste serve-bot cmd:./mybot
  piste serve-bot 'cmd:python3 mybot.py' --host 192.168.1.5 --port 8003
""",
        value("bot", "BOT", "cmd: and a command line"),
        value("--host", "ADDRESS", "where to listen (default: 127.0.0.1, this computer)", default="127.0.0.1"),
        value("--port", "PORT", "0 for any that is free (default: 8003)", default="8003"),
        value("--most", "N", "how many games may go on at once (default: 8)", default="8"),
    ).description = (
        "Let a program of yours play in tournaments of other computers.\n"
        "There it is the entrant remote:HOST:PORT. Whoever reaches the port can play."
    )  # fmt: skip
