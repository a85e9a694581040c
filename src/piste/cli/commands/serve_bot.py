"""`piste serve-bot`: a program of this computer plays in tournaments of other ones."""

from __future__ import annotations

import argparse

from piste import bots
from piste.bots.program import program_words
from piste.bots.remote_program import ProgramServer
from piste.cli.arguments import whole_number
from piste.cli.players import bot_spec
from piste.cli.terminal import Terminal, printable
from piste.core.errors import OptionError, PisteError
from piste.core.game import quoted


def run(args: argparse.Namespace, terminal: Terminal) -> int:
    spec = bot_spec(args.bot)
    if not spec.startswith(bots.PROGRAM):
        raise OptionError(
            f"{quoted(args.bot)} is no program: write cmd: and its command line, such as cmd:./mybot. Bots of ours "
            "need not be served: they are on every computer that has piste."
        )
    words = program_words(spec.removeprefix(bots.PROGRAM).strip())
    port, most = whole_number("port", args.port, 0, 65535), whole_number("most", args.most, 1, 1000)
    try:
        server = ProgramServer(words, args.host, port, most, lambda line: terminal.note(printable(line)))
    except OSError as e:
        raise PisteError(f"{args.host} port {port} cannot be listened at: {e.strerror or e}.") from None
    host = f"[{args.host}]" if ":" in args.host else args.host
    terminal.line(f"Here it is {bots.REMOTE}{host}:{server.server_address[1]}. Ctrl-C ends it.")
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        terminal.note("No longer served.")
    finally:
        server.server_close()
    return 0
