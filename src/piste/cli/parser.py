"""The tree of commands and their arguments. It is loaded at every start, so it needs next to nothing itself."""

from __future__ import annotations

import argparse
from typing import Any, NoReturn

from piste import __version__

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
  piste serve                        tables in the browser, for friends and phones
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
            # Asked of the tree itself, so that there is no second list of commands.
            commands = [name for action in self._actions for name in action.choices or () if action.dest == "command"]
            near = get_close_matches(word, commands, 1, 0.5)
            hint = f" Did you mean {near[0]}?" if near else f" The commands are: {', '.join(commands)}."
            message = f"there is no command '{word}'.{hint}"
        elif known:
            message = f"{wrong.removeprefix('argument ')}; it is one of {known.rstrip(')')}"
        from piste.cli.terminal import complain

        complain(f"piste: {message}\nMore: {self.prog} --help")
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


def make_parser() -> argparse.ArgumentParser:
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
    play.add_argument(
        "--vs", metavar="BOT", help="you against this bot on every other seat (default: steady; see piste bots)"
    )
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
    verify = command("verify", "check that a record is whole, keeps its promise and could have been played")
    verify.add_argument("record", help="a file, the name of a kept game, or `last`")
    verify.add_argument("--commitment", metavar="DIGEST", help="compare with what the table showed at the deal")
    verify.add_argument("--json", action="store_true", help="for machines")
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
    balance.add_argument("--games", metavar="N", help="of each match and sample (default: a few minutes for all)")
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
    what.add_argument("--serve", action="store_true", help="hundreds of games at once in the browser's server")
    bench.add_argument("--games", metavar="N", help="with --serve: games at once (default: 500)")
    bench.add_argument("--seconds", metavar="S", help="with --serve: how long to measure (default: 30)")
    bench.add_argument("--json", action="store_true", help="for machines")
    serve = command("serve", "open tables for browsers: friends on phones and laptops, or bots")
    serve.add_argument("--host", help="listen at this address (default: all of this computer's)")
    serve.add_argument("--port", metavar="N", help="listen at this port (default: 8000)")
    serve.add_argument("--db", metavar="FILE", help="keep the tables in this file")
    serve.add_argument(
        "--behind-proxy", nargs="?", const="127.0.0.1", metavar="ADDRESS",
        help="believe the proxy that calls from there (default: 127.0.0.1) who is calling; listen at 127.0.0.1 only",
    )  # fmt: skip
    serve.add_argument("--public", metavar="URL", help="what links begin with, such as https://cards.example")
    serve.add_argument(
        "--keep", metavar="DAYS", help="delete tables where nothing happened for so long (default: 30; 0: never)"
    )
    serve.add_argument(
        "--patience", metavar="SECONDS", help="after so long an absent player's turn can be claimed (default: 60)"
    )
    serve.add_argument("--no-prepare", action="store_true", help="prepare strong bots only when somebody plays them")
    serve.add_argument("--thinkers", metavar="N", help="processes in which bots think (default: all cores but one)")
    serve.add_argument("--workers", metavar="1", help="there can only be one")
    serve.add_argument("--open-metrics", action="store_true", help="let others than this computer read /metrics")
    serve.add_argument("--no-limits", action="store_true", help="no limits of rates, for measuring")
    serve.add_argument("--no-open", action="store_true", help="do not open a browser")
    serve.add_argument(
        "--log", choices=("text", "json"),
        help="how the log is written (default: json; at a terminal text, and only when something is wrong)",
    )  # fmt: skip
    serve.add_argument("--quiet", action="store_true", help="print nothing at the start")
    completion = command("completion", "print completions for a shell")
    completion.add_argument("shell", choices=SHELLS)
    return top
