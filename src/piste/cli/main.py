"""The command line. Each command imports what it needs when it runs, so that `piste --help` loads next to nothing."""

from __future__ import annotations

import argparse
import codecs
import io
import os
import sys
import warnings
from collections.abc import Sequence
from importlib import import_module

from piste.cli.parser import make_parser
from piste.core.errors import (
    DealError,
    OptionError,
    PisteError,
    PositionError,
    UnknownNameError,
    is_interrupt,
    tell_cache_warnings,
)

COMMANDS = "piste.cli.commands"
"""Each command is a module of its name there, with a function `run(args, terminal)` that returns the exit code."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return the exit code: 0 done, 1 failed, 2 not understood, 130 interrupted."""
    if arguments is not None:
        return run_command(arguments)
    import signal

    code = run_command(sys.argv[1:])
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # all is said: Ctrl-C while the interpreter ends changes nothing
    return code


def run_command(words: Sequence[str]) -> int:
    make_streams_safe()
    if words and words[0] == "help":
        words = [*words[1:2], "--help"]
    try:
        args = make_parser(words).parse_args(words)
        with warnings.catch_warnings():
            tell_cache_warnings(lambda text: _complain(f"piste: {text}"))
            return run(args)
    except (UnknownNameError, OptionError, DealError, PositionError) as e:
        _complain(f"piste: {e}")
        return 2
    except PisteError as e:
        _complain(f"piste: {e}")
        return 1
    except EOFError:
        return 0
    except (KeyboardInterrupt, SystemError) as e:
        if not is_interrupt(e):
            raise
        if isinstance(e, KeyboardInterrupt) and str(e):
            _complain(f"piste: {e}")
        else:
            print(file=sys.stderr)
        return 130
    except BrokenPipeError:
        # Whoever read our output has closed it; let nothing be flushed into it at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as e:
        where = "" if e.filename is None else f"{e.filename}: "
        _complain(f"piste: {where}{e.strerror or e}")
        return 1


def _complain(text: str) -> None:
    from piste.cli.terminal import complain

    complain(text)


def make_streams_safe() -> None:
    """Let no byte that cannot be read or printed end a game, and no stream that was closed before the start."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115
    codecs.register_error("piste", plainer)
    for stream, errors in ((sys.stdin, "replace"), (sys.stdout, "piste"), (sys.stderr, "piste")):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=errors)


def plainer(error: UnicodeError) -> tuple[str, int]:
    """Write what an output cannot hold in plainer letters."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    wrong = error.object[error.start : error.end]
    plain = {"−": "-", "–": "-", "—": "-", "…": "...", "’": "'", "“": '"', "”": '"', "×": "x", "·": "*", "±": "+-"}
    return "".join(plain.get(letter, "?") for letter in wrong), error.end


def run(args: argparse.Namespace) -> int:
    """Run one command; without one, ask a person what to play, or list the games."""
    from piste.cli.terminal import Terminal

    colour = {"always": True, "never": False}.get(args.color or "auto")
    asking = not getattr(args, "no_input", False)
    terminal = Terminal(colour=False if args.no_color else colour, asking=asking, paging=not args.no_pager)
    if args.command is None and terminal.person:
        from piste.cli.menu import choose_game

        args = choose_game(terminal)
    elif args.command is None:
        args = argparse.Namespace(command="games", played=False, json=False)
    return int(import_module(f"{COMMANDS}.{args.command.replace('-', '_')}").run(args, terminal))


if __name__ == "__main__":
    sys.exit(main())
