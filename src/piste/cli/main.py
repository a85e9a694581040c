"""The command line. Each command imports what it needs when it runs, so that `piste --help` loads next to nothing."""

from __future__ import annotations

import argparse
import codecs
import io
import os
import sys
import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from piste.cli.parser import parser
from piste.core.errors import (
    DealError,
    OptionError,
    PisteError,
    PositionError,
    UnknownNameError,
    is_interrupt,
    tell_cache_warnings,
)

if TYPE_CHECKING:
    from piste.cli.terminal import Terminal


def _play(given: argparse.Namespace, screen: Terminal) -> int:
    from piste.cli.commands.play import play

    return play(given, screen)


def _games(given: argparse.Namespace, screen: Terminal) -> int:
    from piste.cli.commands.listing import games

    return games(given, screen)


def _rules(given: argparse.Namespace, screen: Terminal) -> int:
    from piste.cli.rules_page import rules_text
    from piste.core.game import find

    screen.lines(rules_text(find(given.game), screen.width, whole=given.all).split("\n"))
    return 0


def _replay(given: argparse.Namespace, screen: Terminal) -> int:
    from piste.cli.commands.play import show

    return show(given, screen)


def _review(given: argparse.Namespace, screen: Terminal) -> int:
    from piste.cli.commands.review import run

    return run(given, screen)


def _verify(given: argparse.Namespace, screen: Terminal) -> int:
    from piste.cli.commands.verify import run

    return run(given, screen)


def _resume(given: argparse.Namespace, screen: Terminal) -> int:
    from piste.cli.commands.play import resume

    return resume(given, screen)


def _bots(given: argparse.Namespace, screen: Terminal) -> int:
    from piste.cli.commands.listing import bots

    return bots(given, screen)


def _where(given: argparse.Namespace, screen: Terminal) -> int:
    from piste.cli.commands.listing import where

    return where(given, screen)


def _solve(given: argparse.Namespace, screen: Terminal) -> int:
    from piste.cli.commands.solve import run

    return run(given, screen)


def _match(given: argparse.Namespace, screen: Terminal) -> int:
    from piste.cli.commands.match import run

    return run(given, screen)


def _simulate(given: argparse.Namespace, screen: Terminal) -> int:
    from piste.cli.commands.simulate import run

    return run(given, screen)


def _puzzle(given: argparse.Namespace, screen: Terminal) -> int:
    from piste.cli.commands.puzzle import run

    return run(given, screen)


def _progress(given: argparse.Namespace, screen: Terminal) -> int:
    from piste.cli.commands.progress import run

    return run(given, screen)


def _balance(given: argparse.Namespace, screen: Terminal) -> int:
    from piste.cli.commands.balance import run

    return run(given, screen)


def _bench(given: argparse.Namespace, screen: Terminal) -> int:
    if given.startup:
        from piste.cli.commands.bench.startup import bench
    elif given.serve:
        from piste.core.extras import SERVE, need

        need(SERVE)
        from piste.cli.commands.bench.serve import bench
    elif given.batch:
        from piste.cli.commands.bench.batch import bench
    elif given.compile:
        from piste.cli.commands.bench.compile_time import bench
    elif given.solve:
        from piste.cli.commands.bench.solve_time import bench
    else:
        from piste.cli.commands.bench.rules_speed import bench
    return bench(given, screen)


def _serve(given: argparse.Namespace, screen: Terminal) -> int:
    from piste.cli.commands.serve import run

    return run(given, screen)


def _completion(given: argparse.Namespace, screen: Terminal) -> int:
    from piste.cli.commands.completion import script

    print(script(parser(), given.shell), file=screen.out)
    return 0


COMMANDS: dict[str, Callable[[argparse.Namespace, Terminal], int]] = {
    "play": _play,
    "games": _games,
    "rules": _rules,
    "replay": _replay,
    "review": _review,
    "verify": _verify,
    "resume": _resume,
    "bots": _bots,
    "where": _where,
    "solve": _solve,
    "match": _match,
    "simulate": _simulate,
    "puzzle": _puzzle,
    "progress": _progress,
    "balance": _balance,
    "bench": _bench,
    "serve": _serve,
    "completion": _completion,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return the exit code: 0 done, 1 failed, 2 not understood, 130 interrupted."""
    words = sys.argv[1:] if arguments is None else list(arguments)
    given = parser().parse_args(["--help"] if words[:1] == ["help"] else words)
    make_streams_safe()
    try:
        with warnings.catch_warnings():
            tell_cache_warnings(lambda text: _complain(f"piste: {text}"))
            return run(given)
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


def run(given: argparse.Namespace) -> int:
    from piste.cli.terminal import Terminal

    colour = {"always": True, "never": False}.get(given.color)
    asking = not getattr(given, "no_input", False)
    screen = Terminal(colour=False if given.no_color else colour, asking=asking)
    if given.command is not None:
        return COMMANDS[given.command](given, screen)
    if not screen.person:
        from piste.cli.commands.listing import games

        return games(argparse.Namespace(played=False, json=False), screen)
    from piste.cli.commands.play import choose, play

    return play(choose(screen), screen)


if __name__ == "__main__":
    sys.exit(main())
