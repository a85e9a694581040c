"""The command line: plain play for now, everybody at one keyboard."""

from __future__ import annotations

import sys


def main(arguments: list[str] | None = None) -> int:
    """Play the game that is named, or ask which; return the exit code."""
    from piste.core.errors import PisteError
    from piste.ui.plain import choose, play

    given = sys.argv[1:] if arguments is None else arguments
    try:
        if given in (["-h"], ["--help"]):
            print("piste [GAME]: play a game at the terminal. Without a name, piste asks which.")
            return 0
        if given == ["--version"]:
            from piste import __version__

            print(f"piste {__version__}")
            return 0
        play(given[0] if given else choose())
    except PisteError as e:
        print(e, file=sys.stderr)
        return 2
    except (EOFError, KeyboardInterrupt):
        print("\nGood-bye.", file=sys.stderr)
        return 130
    return 0
