"""The commands and their arguments. This module is loaded at every start, so it imports next to nothing."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from piste import __version__
from piste.cli.base_parser import JSON, Argument, Parser, flag, repeated, value
from piste.cli.host_parser import add_host_commands
from piste.cli.program_parser import add_program_commands

SUMMARY = "Five duels of numbers and cards, at the terminal and in the browser."
EXAMPLES = {
    "piste": "choose a game and play",
    "piste play prime-duel": "against the steady bot",
    "piste play duel --players 3": "Duel with two bots",
    "piste play duel --seat you --seat you": "two people at one keyboard",
    "piste review last": "what each decision cost",
    "piste solve zero-sum-duel": "what the game is worth",
    "piste serve": "tables in the browser, for friends",
}
COLOURS = ("auto", "always", "never")
SHELLS = ("bash", "zsh", "fish")

GROUPS = {
    "play": ("play", "resume", "join", "games", "bots", "rules"),
    "study": ("replay", "review", "puzzle", "progress"),
    "analyse": ("solve", "match", "tournament", "eval", "simulate", "balance"),
    "develop": ("new", "check", "check-bot", "serve-bot", "verify", "bench", "where", "completion", "man"),
    "host": ("serve", "mcp", "worker", "admin"),
}
"""The commands as the help lists them."""


class TopParser(Parser):
    """The parser of all commands, whose help lists them in groups."""

    def format_help(self) -> str:
        (tree,) = (action for action in self._actions if isinstance(action, argparse._SubParsersAction))
        offered = {action.dest: action for action in tree._choices_actions}
        formatter = self._get_formatter()
        formatter.add_text(SUMMARY)
        formatter.add_usage(self.usage, self._actions, [])
        for group, names in GROUPS.items():
            formatter.start_section(group)
            for name in names:
                action = offered[name]
                action.metavar = signature(name, tree.choices[name])
                formatter.add_argument(action)
            formatter.end_section()
        formatter.start_section("options")
        formatter.add_arguments(action for action in self._actions if action is not tree)
        formatter.end_section()
        wide = max(map(len, EXAMPLES)) + 2
        needed = 2 + wide + max(map(len, EXAMPLES.values()))
        apart = "" if formatter._width >= needed else "\n    "  # on a narrow screen the meaning stands below
        lines = [f"  {typed if apart else typed.ljust(wide)}{apart}{text}" for typed, text in EXAMPLES.items()]
        formatter.add_text("\n".join(["examples:", *lines]))
        formatter.add_text("What a command takes, with examples: piste COMMAND --help")
        return formatter.format_help()


def signature(name: str, parser: argparse.ArgumentParser) -> str:
    """Return a command with its positional arguments, such as `review RECORD`."""
    shapes: dict[Any, str] = {None: "{}", "?": "[{}]", "*": "[{}...]"}
    given = [shapes[action.nargs].format(action.metavar) for action in parser._actions if not action.option_strings]
    return " ".join([name, *given])


# Arguments that several commands take.
GAME = value("game", "GAME", "its name or title, such as prime-duel; `piste games` lists them")
ANY_GAME = value("game", "GAME", "this game only (default: all)", nargs="?")
RECORD = value("record", "RECORD", "a file, the name of a kept game (`piste games --played`), or `last`")
SET = repeated("--set", "OPTION=VALUE", "an option of the game, as its rules list them; may be given again")
BRIEF = flag("--brief", "short questions and no pauses, for people who have played before")
NO_INPUT = flag("--no-input", "fail instead of asking a person")
PROCESSES = value("--processes", "P", "how many processes (default: one for each core); the result is the same")
ENGINE = value(
    "--engine", "WHERE", "local (default), local-cluster, or the address of a Dask scheduler: tcp://HOST:PORT"
)


def make_parser(words: Sequence[str] = ()) -> argparse.ArgumentParser:
    """Return the parser of all commands; `words` is what was typed, for the help that they may ask for."""
    top = TopParser(
        prog="piste",
        description=SUMMARY,
        usage="piste [--no-color] [--no-pager] [COMMAND ...]",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.words = words
    top.add_argument("--version", action="version", version=f"piste {__version__}", help="print the version")
    everywhere = (
        flag("--no-color", "no colour (NO_COLOR and TERM=dumb do the same)"),
        value("--color", "WHEN", "when to use colour: auto, always or never (default: auto)", choices=COLOURS),
        flag("--no-pager", "print long texts at once (PAGER=cat does the same)"),
    )
    for option, settings in everywhere:
        top.add_argument(option, **settings)
    commands = top.add_subparsers(dest="command", metavar="COMMAND", prog="piste", parser_class=Parser)

    def command(
        name: str, help: str, examples: str, *arguments: Argument, exclusive: Sequence[Argument] = ()
    ) -> Parser:
        parser: Parser = commands.add_parser(
            name,
            help=help,
            description=f"{help[0].upper()}{help[1:]}.",
            epilog=f"examples:\n{examples}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        parser.words = words
        for option, settings in everywhere:  # they work after a command too, but its help does not repeat them
            parser.add_argument(option, **{**settings, "default": argparse.SUPPRESS, "help": argparse.SUPPRESS})
        for option, settings in arguments:
            parser.add_argument(option, **settings)
        group = parser.add_mutually_exclusive_group() if exclusive else parser
        for option, settings in exclusive:
            group.add_argument(option, **settings)
        parser.usage = f"piste {signature(name, parser)} [options]"
        return parser

    command(
        "play", "play a game",
        """\
  piste play prime-duel
  piste play zero-sum-duel --vs strong
  piste play duel --players 3 --set rounds=5
  piste play zero-sum-grid --seat you --seat you --name Ann --name Bo
""",
        GAME,
        repeated("--seat", "WHO", "who sits where, in order: you, a bot, cmd:PROGRAM"),
        value("--vs", "BOT", "you against this bot on every other seat (default: steady; see piste bots)"),
        repeated("--name", "NAME", "a name, in the order of seats; may be given again"),
        value("--first", "SEAT", "who starts, instead of the toss"),
        value("--players", "N", "how many play, where a game leaves that open: 2, 3 or 4 in Duel"),
        SET,
        value("--deck", "CARDS", "lay the deck yourself, its top first"),
        value("--grid", "CELLS", "lay the grid yourself, row by row"),
        value("--seed", "TEXT", "deal from this seed; the game will not count"),
        flag("--hints", "all people agree that hints may be asked for"),
        BRIEF,
        NO_INPUT,
    )  # fmt: skip
    command(
        "resume", "go on with a game that was left",
        """\
  piste resume
  piste resume --vs steady
""",
        value("id", "ID", "its name, as `piste games --played` lists it (default: the newest)", nargs="?"),
        value("--vs", "BOT", "let this bot take over every bot's seat; the game will not count"),
        BRIEF,
        NO_INPUT,
    )  # fmt: skip
    command(
        "games", "list the games, or the ones you played",
        """\
  piste games
  piste games --played
""",
        flag("--played", "your games with their results, and your standing"),
        JSON,
    )  # fmt: skip
    command(
        "bots", "list the bots",
        """\
  piste bots
  piste bots duel
""",
        value("game", "GAME", "only the bots of this game", nargs="?"),
        JSON,
    )  # fmt: skip
    command(
        "rules", "show the rules of a game",
        """\
  piste rules duel
  piste rules zero-sum-grid --all
""",
        GAME,
        flag("--all", "options, an example and every ruling too"),
    )  # fmt: skip
    command(
        "replay", "show a finished game again",
        """\
  piste replay last
  piste replay game.jsonl --json
""",
        RECORD,
        JSON,
    )  # fmt: skip
    command(
        "review", "say what each decision of a finished game cost",
        """\
  piste review last
  piste review last --seat 1 --plot chances.svg
""",
        RECORD,
        value("--seat", "SEAT", "of this seat only"),
        value("--plot", "FILE", "draw the winning chances into FILE.svg or FILE.png"),
        value("--labels", "A,B,C", "points of a slip, a mistake, a blunder (default: 5,10,15)"),
        JSON,
    )  # fmt: skip
    command(
        "puzzle", "find the best decision in a position",
        """\
  piste puzzle prime-duel
  piste puzzle duel --level hard
  piste puzzle --print
""",
        value("game", "GAME", "which game; with --print all of them without it", nargs="?"),
        value("--level", "LEVEL", "how clear it is: easy, medium or hard (default: medium, if the game has any)"),
        value("--seed", "TEXT", "the same seed, the same puzzles"),
        value("--number", "N", "which of them to begin with (default: 1)", default="1"),
        SET,
        value("--answer", "DECISION", "answer without being asked"),
        flag("--print", "a page of puzzles, with the answers at the back"),
        value("--engine", "WHERE", "with --print: where puzzles are looked for, as with piste tournament"),
        flag("--json", "print one JSON document for machines; the answer is in it"),
    )  # fmt: skip
    command(
        "progress", "show how well you have decided over time",
        """\
  piste progress
  piste progress prime-duel
""",
        ANY_GAME,
        JSON,
    )  # fmt: skip
    command(
        "solve", "say what a position is worth, and how that is known",
        """\
  piste solve zero-sum-duel
  piste solve zero-sum-grid --set turns=40
""",
        GAME,
        value("--position", "TEXT", "a position, or what a seat knows (default: the start)"),
        value("--seat", "SEAT", "for this seat (default: the one to act)"),
        SET,
        flag("--full", "compute whatever is to be computed once, and keep it"),
        JSON,
    )  # fmt: skip
    command(
        "match", "let bots play each other, seats swapped",
        """\
  piste match prime-duel steady novice
  piste match zero-sum-duel --all
""",
        GAME,
        value("bots", "BOT", "two of them: a bot's name, or cmd:PROGRAM", nargs="*"),
        flag("--all", "every level against every level, as a table"),
        value("--games", "N", "how many, rounded up to whole deals (default: 200; with --all 100 a pair)"),
        SET,
        value("--seed", "TEXT", "the same seed, the same games (default: match)", default="match"),
        PROCESSES,
        ENGINE,
        JSON,
    ).intermixed = True  # fmt: skip
    command(
        "tournament", "rate bots and programs by many games, or settle which of two is better",
        """\
  piste tournament prime-duel random novice steady
  piste tournament zero-sum-duel steady novice --sprt 0,20
""",
        ANY_GAME,
        value(
            "entrants", "ENTRANT",
            "a bot's name, cmd:PROGRAM, remote:HOST:PORT, model:NAME, module:function; NAME=... gives it a name",
            nargs="*",
        ),
        flag("--gauntlet", "the first entrant against each of the others, instead of all against all"),
        value("--games", "N", "of each pairing, rounded up to whole deals (default: 200; with --sprt 20000)"),
        value("--sprt", "E0,E1", "stop when it is settled whether the first is E0 or E1 points of Elo better"),
        value("--anchor", "NAME=RATING", "whose rating is fixed (default: random=0, else the first)"),
        value("--limit", "SECONDS", "for a decision of a program or a Python bot (default: 10)"),
        flag("--review", "let the coach judge every decision: luck-adjusted results, losses by phase, puzzles"),
        SET,
        value("--seed", "TEXT", "the same seed, the same games (default: tournament)", default="tournament"),
        value("--html", "FILE", "write a page with pictures, too"),
        PROCESSES,
        ENGINE,
        JSON,
        exclusive=(
            value("--results", "FILE", "where the results are kept (default: a new file; see piste where)"),
            value("--resume", "FILE", "go on with the tournament of this file, or show it"),
        ),
    ).intermixed = True  # fmt: skip
    command(
        "eval", "evaluate a language model by what its decisions cost, or make a report of logs",
        """\
  piste eval --model openai/gpt-5 --game prime-duel --max-cost 5
  piste eval --model piste/steady --game zero-sum-duel --sizes both
  piste eval report logs --html report.html
""",
        value("words", "report LOG", "make a report of these logs of Inspect, or of folders of them", nargs="*"),
        value("--model", "NAME", "as Inspect names it: PROVIDER/NAME; a bot is piste/random to piste/perfect"),
        value("--base-url", "URL", "where the provider's API is, if it is not the usual place"),
        repeated("--game", "GAME", "this game only (default: all); may be given again"),
        repeated("--task", "TASK", "decisions or games only (default: both)"),
        value("--positions", "N", "single decisions of each game (default: 10)", default="10"),
        value("--deals", "N", "deals of each game, played from every seat (default: 10)", default="10"),
        value("--opponent", "LEVEL", "whom it plays against (default: steady)", default="steady"),
        value("--sizes", "WHICH", "default, varied (against memorising) or both", default="default"),
        SET,
        value("--seed", "TEXT", "the same seed, the same positions and deals (default: piste)", default="piste"),
        value("--max-cost", "DOLLARS", "ask nothing more once a task has cost so much"),
        value("--prices", "FILE", "a JSON file of what tokens cost; docs/evaluation.md shows one"),
        value("--logs", "FOLDER", "where logs are kept (default: in piste's folder)"),
        value("--html", "FILE", "write the report as a page, too"),
        JSON,
    ).intermixed = True  # fmt: skip
    command(
        "simulate", "play many games at once and count the results",
        """\
  piste simulate prime-duel
  piste simulate prime-duel --policies
  piste simulate positive-negative --games 1000000 --threads 1
""",
        GAME,
        value("--games", "N", "how many (default: 100000)", default="100000"),
        SET,
        repeated("--policy", "NAME", "how to play: once for all, or once for each seat"),
        flag("--policies", "list the policies of the game"),
        value("--threads", "T", "how many (default: one for each core)"),
        ENGINE,
        value("--seed", "TEXT", "the same seed, the same games (default: piste)", default="piste"),
        value("--most", "STEPS", "give up a game after this many steps (default: 1000000)", default="1000000"),
        flag("--interpreted", "do without compiled play"),
        JSON,
    )  # fmt: skip
    command(
        "balance", "say whether a game is fair, how long it lasts, and what skill is worth",
        """\
  piste balance zero-sum-duel
  piste balance prime-duel --set target=30 --versus sheet --plot balance.svg
""",
        GAME,
        SET,
        repeated(
            "--versus", "A=1,B=2",
            "beside it, the game with these options instead (`sheet` for none); may be given again",
        ),
        value("--games", "N", "of each match and sample (default: a few minutes for all)"),
        value("--seed", "TEXT", "the same seed, the same games (default: scales)", default="scales"),
        PROCESSES,
        ENGINE,
        value("--plot", "FILE.svg", "draw it into this file, too"),
        exclusive=(JSON, flag("--csv", "every number as a line, for spreadsheets")),
    )  # fmt: skip
    command(
        "new", "begin a game of your own: a package that plays at once",
        """\
  piste new high-card
  piste new liars-dice --hidden --players 3
""",
        value("name", "NAME", "small letters and hyphens; the folder and the game are called that"),
        flag("--hidden", "players see different things, such as their own cards"),
        value("--players", "N", "how many play: 2, 3 or 4 (default: 2)", default="2"),
    )  # fmt: skip
    command(
        "check", "check that the rules of a game keep their promises",
        """\
  piste check zero-sum-duel
  piste check kuhn-poker --only secrecy --games 200
""",
        GAME,
        SET,
        repeated("--only", "CHECK", "this check only; may be given again"),
        value("--games", "N", "random games of each check (default: 20)", default="20"),
        JSON,
    )  # fmt: skip
    command(
        "verify", "check that a record is whole, keeps its promise and could have been played",
        """\
  piste verify last
  piste verify game.jsonl --json
""",
        RECORD,
        value("--commitment", "DIGEST", "compare with what the table showed at the deal"),
        JSON,
    )  # fmt: skip
    command(
        "bench", "measure how fast the rules run",
        """\
  piste bench prime-duel
  piste bench --startup
""",
        value("game", "GAME", "these games only (default: all)", nargs="*"),
        value("--games", "N", "with --serve: games at once (default: 500)"),
        value("--seconds", "S", "with --serve: how long to measure (default: 30)"),
        value("--db", "URL", "with --serve: an empty database of PostgreSQL instead of a file"),
        value("--servers", "N", "with --serve and --db: server processes, with the games spread over them"),
        flag("--split", "with --servers: the two people of each game at different ones"),
        flag("--heavy", "with --peers: also a full solution that takes minutes and gigabytes"),
        JSON,
        exclusive=(
            flag("--batch", "thousands of games stepped together, for learners"),
            flag("--compile", "CPU time of the first compiled game, and of later ones"),
            flag("--solve", "CPU time and memory of what the solvers compute once"),
            flag("--startup", "CPU time of starting, as ratios"),
            flag("--serve", "hundreds of games at once in the browser's server"),
            flag("--peers", "every way to play, beside other libraries that are installed"),
            value("--database", "URL", "changes and notices a second of an empty PostgreSQL, for several servers"),
            flag("--growth", "CPU time and memory against the size of the work"),
        ),
    ).intermixed = True  # fmt: skip
    command(
        "where", "list the folders of your games and of the caches",
        """\
  piste where
""",
        JSON,
    )  # fmt: skip
    command(
        "completion", "print completions for a shell",
        """\
  piste completion bash > ~/.local/share/bash-completion/completions/piste
  piste completion fish > ~/.config/fish/completions/piste.fish
""",
        value("shell", "SHELL", "bash, zsh or fish", choices=SHELLS),
    )  # fmt: skip
    command(
        "man", "show the manual page, or print it for a file",
        """\
  piste man
  piste man > ~/.local/share/man/man1/piste.1
""",
    )  # fmt: skip
    add_host_commands(command)
    add_program_commands(command)
    return top
