"""The command line. Each command imports what it needs when it runs, so that `piste --help` loads next to nothing."""

from __future__ import annotations

import argparse
import codecs
import io
import os
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from piste import __version__
from piste.core.errors import BadDeal, BadOption, BadPosition, PisteError, UnknownName, is_interrupt

if TYPE_CHECKING:
    from piste.ui.screen import Screen

EXAMPLES = """\
examples:
  piste                              choose a game and play
  piste play prime-duel              against the steady bot
  piste play duel --players 3        Duel with two bots
  piste play zero-sum-duel --seat you --seat you
                                     two people at one keyboard
  piste rules zero-sum-grid          the rules on one page
  piste resume                       go on with the last game
  piste solve zero-sum-duel          what the game is worth, and how that is known
  piste simulate prime-duel          a hundred thousand games at once
"""
SHELLS = ("bash", "zsh", "fish")


class Parser(argparse.ArgumentParser):
    """A parser whose complaints say what can be done."""

    mixed = False

    def error(self, message: str) -> NoReturn:
        wrong, _, known = message.partition(" (choose from ")
        if "argument COMMAND" in wrong:
            from difflib import get_close_matches

            word = wrong.rpartition(": ")[2].strip("'")
            near = get_close_matches(word, COMMANDS, 1, 0.5)
            hint = f" Did you mean {near[0]}?" if near else f" The commands are: {', '.join(COMMANDS)}."
            message = f"there is no command '{word}'.{hint}"
        elif known:
            message = f"{wrong.removeprefix('argument ')}; it is one of {known.rstrip(')')}"
        _complain(f"piste: {message}\nMore: {self.prog} --help")
        raise SystemExit(2)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Let options stand between the words of a command that takes several."""
        if not self.mixed:
            return super().parse_known_args(args, namespace)
        self.mixed = False  # some versions of Python come back here, once for options and once for words
        try:
            return self.parse_known_intermixed_args(args, namespace)
        finally:
            self.mixed = True


def parser() -> argparse.ArgumentParser:
    """Return the tree of commands and their arguments."""
    top = Parser(
        prog="piste",
        description=f"Five duels of numbers and cards, at the terminal.\n\n{EXAMPLES}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action="version", version=f"piste {__version__}")
    top.add_argument("--no-color", action="store_true", help="no colour (NO_COLOR and TERM=dumb do the same)")
    top.add_argument("--color", choices=("auto", "always", "never"), default="auto", help="when to use colour")
    commands = top.add_subparsers(dest="command", metavar="COMMAND")

    def command(name: str, help: str, *, mixed: bool = False) -> argparse.ArgumentParser:
        found = commands.add_parser(name, help=help, description=help)
        found.mixed = mixed
        hidden = argparse.SUPPRESS
        found.add_argument("--no-color", action="store_true", default=hidden, help=hidden)
        found.add_argument("--color", choices=("auto", "always", "never"), default=hidden, help=hidden)
        return found

    play = command("play", "play a game")
    play.add_argument("game", help="such as prime-duel; `piste games` lists them")
    play.add_argument(
        "--seat", action="append", metavar="WHO", help="who sits where, in order: you, a bot, cmd:PROGRAM"
    )
    play.add_argument("--vs", metavar="BOT", help="you against this bot on every other seat (default: steady)")
    play.add_argument("--name", action="append", help="a name, in the order of seats; may be given again")
    play.add_argument("--first", metavar="SEAT", help="who starts, instead of the toss")
    play.add_argument("--players", metavar="N", help="how many play Duel: 2, 3 or 4")
    play.add_argument(
        "--set", action="append", metavar="OPTION=VALUE", help="an option of the game; may be given again"
    )
    play.add_argument("--deck", metavar="CARDS", help="lay the deck yourself, its top first")
    play.add_argument("--grid", metavar="CELLS", help="lay the grid yourself, row by row")
    play.add_argument("--seed", help="deal from this seed; the game will not count")
    play.add_argument("--hints", action="store_true", help="all people agree that hints may be asked for")
    short = "short questions and no pauses, for people who have played before"
    play.add_argument("--brief", action="store_true", help=short)
    play.add_argument("--no-input", action="store_true", help="fail instead of asking a person")
    games = command("games", "list the games, or the ones you played")
    games.add_argument("--played", action="store_true", help="your games with their results, and your standing")
    games.add_argument("--json", action="store_true", help="for machines")
    rules = command("rules", "show the rules of a game")
    rules.add_argument("game")
    rules.add_argument("--all", action="store_true", help="options, an example and every ruling too")
    replay = command("replay", "show a finished game again")
    replay.add_argument("record", help="a file, the name of a kept game, or `last`")
    replay.add_argument("--json", action="store_true", help="for machines")
    review = command("review", "say what each decision of a finished game cost")
    review.add_argument("record", help="a file, the name of a kept game, or `last`")
    review.add_argument("--seat", metavar="SEAT", help="of this seat only")
    review.add_argument("--plot", metavar="FILE", help="draw the winning chances into FILE.svg or FILE.png")
    review.add_argument("--labels", metavar="A,B,C", help="points of a slip, a mistake, a blunder (default: 5,10,15)")
    review.add_argument("--json", action="store_true", help="for machines")
    resume = command("resume", "go on with a game that was left")
    resume.add_argument("id", nargs="?", help="its name (default: the newest)")
    resume.add_argument(
        "--vs", metavar="BOT", help="let this bot take over every bot's seat; the game will not count"
    )
    resume.add_argument("--brief", action="store_true", help=short)
    resume.add_argument("--no-input", action="store_true", help="fail instead of asking a person")
    bots = command("bots", "list the bots")
    bots.add_argument("game", nargs="?")
    bots.add_argument("--json", action="store_true", help="for machines")
    where = command("where", "say which files of yours are where")
    where.add_argument("--json", action="store_true", help="for machines")
    solve = command("solve", "say what a position is worth, and how that is known")
    solve.add_argument("game")
    solve.add_argument("--position", metavar="TEXT", help="a position, or what a seat knows (default: the start)")
    solve.add_argument("--seat", metavar="SEAT", help="for this seat (default: the one to act)")
    solve.add_argument(
        "--set", action="append", metavar="OPTION=VALUE", help="an option of the game; may be given again"
    )
    solve.add_argument("--full", action="store_true", help="compute whatever is to be computed once, and keep it")
    solve.add_argument("--json", action="store_true", help="for machines")
    match = command("match", "let bots play each other, seats swapped", mixed=True)
    match.add_argument("game")
    match.add_argument("bots", nargs="*", metavar="BOT", help="two of them: a bot's name, or cmd:PROGRAM")
    match.add_argument("--all", action="store_true", help="every level against every level, as a table")
    match.add_argument("--games", metavar="N", help="rounded up to whole deals (default: 200; with --all 100 a pair)")
    match.add_argument(
        "--set", action="append", metavar="OPTION=VALUE", help="an option of the game; may be given again"
    )
    match.add_argument("--seed", default="match", help="the same seed, the same games (default: match)")
    match.add_argument(
        "--processes", metavar="P", help="how many (default: one for each core); the result is the same"
    )
    match.add_argument("--json", action="store_true", help="for machines")
    simulate = command("simulate", "play many games at once and count what comes of them")
    simulate.add_argument("game")
    simulate.add_argument("--games", metavar="N", default="100000", help="how many (default: 100000)")
    simulate.add_argument(
        "--set", action="append", metavar="OPTION=VALUE", help="an option of the game; may be given again"
    )
    simulate.add_argument(
        "--policy", action="append", metavar="NAME", help="how to play: once for all, or once for each seat"
    )
    simulate.add_argument("--policies", action="store_true", help="list the policies of the game")
    simulate.add_argument("--threads", metavar="T", help="how many (default: one for each core)")
    simulate.add_argument("--seed", default="piste", help="the same seed, the same games (default: piste)")
    simulate.add_argument(
        "--most", metavar="STEPS", default="1000000", help="give a game up after so many (default: 1000000)"
    )
    simulate.add_argument("--interpreted", action="store_true", help="do without compiled play")
    simulate.add_argument("--json", action="store_true", help="for machines")
    puzzle = command("puzzle", "find the best decision in a position")
    puzzle.add_argument("game", nargs="?")
    puzzle.add_argument(
        "--level", help="how clear it is: easy, medium or hard (default: medium, if the game has any)"
    )
    puzzle.add_argument("--seed", help="the same seed, the same puzzles")
    puzzle.add_argument("--number", metavar="N", default="1", help="which of them to begin with (default: 1)")
    puzzle.add_argument(
        "--set", action="append", metavar="OPTION=VALUE", help="an option of the game; may be given again"
    )
    puzzle.add_argument("--answer", metavar="DECISION", help="answer without being asked")
    puzzle.add_argument("--print", action="store_true", help="a page of puzzles, with the answers at the back")
    puzzle.add_argument("--json", action="store_true", help="for machines; the answer is in it")
    progress = command("progress", "show how well you have decided over time")
    progress.add_argument("game", nargs="?")
    progress.add_argument("--json", action="store_true", help="for machines")
    balance = command("balance", "say whether a game is fair, how long it lasts, and what skill is worth")
    balance.add_argument("game")
    balance.add_argument(
        "--set", action="append", metavar="OPTION=VALUE", help="an option of the game; may be given again"
    )
    balance.add_argument(
        "--versus", action="append", metavar="A=1,B=2",
        help="beside it, the game with these options instead (`sheet` for none); may be given again",
    )  # fmt: skip
    balance.add_argument("--games", metavar="N", help="of each match and sample (default: about a minute for all)")
    balance.add_argument("--seed", default="scales", help="the same seed, the same games (default: scales)")
    balance.add_argument(
        "--processes", metavar="P", help="how many (default: one for each core); the result is the same"
    )
    balance.add_argument("--plot", metavar="FILE.svg", help="draw it into this file, too")
    form = balance.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="for machines")
    form.add_argument("--csv", action="store_true", help="every number as a line, for spreadsheets")
    bench = command("bench", "measure how fast the rules run", mixed=True)
    bench.add_argument("game", nargs="*", help="some games only")
    what = bench.add_mutually_exclusive_group()
    what.add_argument("--batch", action="store_true", help="thousands of games stepped together, for learners")
    what.add_argument("--compile", action="store_true", help="CPU time of the first compiled game, and of later ones")
    what.add_argument("--solve", action="store_true", help="CPU time and memory of what the solvers compute once")
    what.add_argument("--startup", action="store_true", help="CPU time of starting, as ratios")
    bench.add_argument("--json", action="store_true", help="for machines")
    completion = command("completion", "print completions for a shell")
    completion.add_argument("shell", choices=SHELLS)
    return top


def _play(given: argparse.Namespace, screen: Screen) -> int:
    from piste.ui.playing import play

    return play(given, screen)


def _games(given: argparse.Namespace, screen: Screen) -> int:
    from piste.ui.listing import games

    return games(given, screen)


def _rules(given: argparse.Namespace, screen: Screen) -> int:
    from piste.core.game import find
    from piste.ui.pages import rules_text

    screen.lines(rules_text(find(given.game), screen.width, whole=given.all).split("\n"))
    return 0


def _replay(given: argparse.Namespace, screen: Screen) -> int:
    from piste.ui.playing import show

    return show(given, screen)


def _review(given: argparse.Namespace, screen: Screen) -> int:
    from piste.ui.reviewing import run

    return run(given, screen)


def _resume(given: argparse.Namespace, screen: Screen) -> int:
    from piste.ui.playing import resume

    return resume(given, screen)


def _bots(given: argparse.Namespace, screen: Screen) -> int:
    from piste.ui.listing import bots

    return bots(given, screen)


def _where(given: argparse.Namespace, screen: Screen) -> int:
    from piste.ui.listing import where

    return where(given, screen)


def _solve(given: argparse.Namespace, screen: Screen) -> int:
    from piste.ui.solving import run

    return run(given, screen)


def _match(given: argparse.Namespace, screen: Screen) -> int:
    from piste.ui.matching import run

    return run(given, screen)


def _simulate(given: argparse.Namespace, screen: Screen) -> int:
    from piste.ui.simulating import run

    return run(given, screen)


def _puzzle(given: argparse.Namespace, screen: Screen) -> int:
    from piste.ui.puzzling import run

    return run(given, screen)


def _progress(given: argparse.Namespace, screen: Screen) -> int:
    from piste.ui.progressing import run

    return run(given, screen)


def _balance(given: argparse.Namespace, screen: Screen) -> int:
    from piste.ui.balancing import run

    return run(given, screen)


def _bench(given: argparse.Namespace, screen: Screen) -> int:
    if given.startup:
        from piste.ui.startup import bench
    elif given.batch:
        from piste.ui.batching import bench
    elif given.compile:
        from piste.ui.compiling import bench
    elif given.solve:
        from piste.ui.solvetime import bench
    else:
        from piste.ui.speed import bench
    return bench(given, screen)


def _completion(given: argparse.Namespace, screen: Screen) -> int:
    from piste.ui.completing import script

    print(script(parser(), given.shell), file=screen.out)
    return 0


COMMANDS: dict[str, Callable[[argparse.Namespace, Screen], int]] = {
    "play": _play,
    "games": _games,
    "rules": _rules,
    "replay": _replay,
    "review": _review,
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
    "completion": _completion,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return the exit code: 0 done, 1 failed, 2 not understood, 130 interrupted."""
    words = sys.argv[1:] if arguments is None else list(arguments)
    given = parser().parse_args(["--help"] if words[:1] == ["help"] else words)
    make_streams_safe()
    try:
        return run(given)
    except (UnknownName, BadOption, BadDeal, BadPosition) as e:
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
    from piste.ui.screen import complain

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
    from piste.ui.screen import Screen

    colour = {"always": True, "never": False}.get(given.color)
    asking = not getattr(given, "no_input", False)
    screen = Screen(colour=False if given.no_color else colour, asking=asking)
    if given.command is not None:
        return COMMANDS[given.command](given, screen)
    if not screen.person:
        from piste.ui.listing import games

        return games(argparse.Namespace(played=False, json=False), screen)
    from piste.ui.playing import choose, play

    return play(choose(screen), screen)


if __name__ == "__main__":
    sys.exit(main())
