"""`piste puzzle`: positions in which one decision is clearly better, to train on; or a sheet of them for a class."""

from __future__ import annotations

import argparse
import contextlib
import json
from collections.abc import Iterator
from typing import Any

from piste.analysis.coach.puzzles import Puzzle, any_puzzle, ordered, points, puzzle
from piste.cli.arguments import option_pairs, whole_number
from piste.cli.background import Saying, preparing, work
from piste.cli.output import print_json
from piste.cli.rules_page import rules_text
from piste.cli.terminal import Terminal
from piste.compiled.compiler import observation_spec
from piste.core.dealer import fresh_seed
from piste.core.errors import OptionError, PisteError
from piste.core.extras import need, solving
from piste.core.game import Game, find, names, tidy
from piste.core.information_set import InformationSet
from piste.core.paths import data_folder
from piste.core.presentation import EventContext, Pause

VERSION = 1  # of the JSON and of the file that keeps the streak
PAGE = 60  # lines on a printed page
TOLD = 10  # so many of the last things a seat was told stand above a puzzle
ON_A_SHEET = 6

HELP = (
    "?       this help",
    "rules   the rules of the game",
    "hand    the position again (or: table)",
    "hint    how much depends on it, and one decision that it is not",
    "quit    stop",
)


def run(args: argparse.Namespace, terminal: Terminal) -> int:
    options = option_pairs(args.set)
    if args.print:
        return sheet(args, options, terminal)
    if args.game is None:
        raise OptionError(f"Puzzles of which game? There are: {', '.join(names())}.")
    game = find(args.game)
    settings = game.options(options)
    seed, number = args.seed or fresh_seed(), whole_number("number", args.number, 1, 10**9)
    level = args.level
    while True:
        level, found = looked_for(game, settings, seed, number, level)
        if args.json:
            return print_json(terminal, {"seed": seed, "level": level, **document(game, found)}, version=VERSION)
        terminal.lines(["", f"{game.notation.TITLE}, {level} puzzle {number}", ""])
        terminal.lines(shown(game, found))
        if args.answer is not None:
            answer(game, found, read(game, found, args.answer), level, terminal)
            return 0
        action, hinted = asked(game, found, terminal)
        if action is None:
            return 0
        answer(game, found, action, level, terminal, hinted=hinted)
        if not again(terminal):
            return 0
        number += 1


def looked_for(game: Game, options: Any, seed: str, number: int, level: str | None) -> tuple[str, Puzzle]:
    """Return a puzzle and its level, found in the worker."""
    stopped = f"Stopped before puzzle {number} of seed {seed} was found. What was prepared is kept."
    saying = Saying("looking for a puzzle", preparing("puzzles", game), stopped=stopped)
    if level is None:
        return work(saying, any_puzzle, game, options, seed, number)
    return level, work(saying, puzzle, game, options, seed, number, level)


def shown(game: Game, found: Puzzle, most: int = TOLD) -> list[str]:
    """Return a puzzle as lines of text: what the seat was told last, what it sees, what is open to it."""
    view = found.view
    called = tuple(f"Player {name}" for name in game.notation.SEATS[: game.rules.seats(view.options)])
    told: list[str] = []
    secrets = bool(observation_spec(game).SHOWN)  # else all that was told can be seen
    for i in range(max(0, len(view.log) - most) if secrets else len(view.log), len(view.log)):
        moment = EventContext(view.seat, called, view.opening, view.log[: i + 1])
        told += [line for line in game.text.lines(moment) if line.strip() and not isinstance(line, Pause)]
    lines = [f"You are {called[view.seat]}."]
    if told:
        lines += ["Told last:", *(f"  {line.strip()}" for line in told[-most:])]
    lines += [str(row) for row in game.text.picture(view, called)]
    return [*lines, f"Open to you: {', '.join(view.decisions)}"]


def read(game: Game, found: Puzzle, said: str) -> int:
    """Return the decision that somebody wrote; what is none, or is not open, is an error in the command."""
    view = found.view
    try:
        return game.read_decision(view.position, view.kind, sum(1 << action for action in view.actions), said)
    except PisteError as e:
        raise OptionError(str(e)) from None


def asked(game: Game, found: Puzzle, terminal: Terminal) -> tuple[int | None, bool]:
    """Ask until a decision is typed, and say whether a hint was asked for; None if the person wants to leave."""
    hinted = False
    while True:
        said = terminal.read("What do you play? ")
        word = tidy(said)
        if word in ("q", "quit", "exit"):
            return None, hinted
        if word in ("?", "help"):
            terminal.note("\n".join([f"Answer with one of: {', '.join(found.view.decisions)}. Or type:", *HELP]))
        elif word == "rules":
            terminal.note(rules_text(game, terminal.width))
        elif word in ("hand", "table"):
            terminal.lines(shown(game, found))
        elif word == "hint":
            hinted = True
            terminal.note(hint(game, found))
        elif word:
            try:
                return read(game, found, said), hinted
            except OptionError as e:
                terminal.note(f"{e} ? helps.")


def hint(game: Game, found: Puzzle) -> str:
    """Return how much better the best decision is than the next, and one that it is not, if there are others left."""
    best, second, *others = ordered(found.verdict)
    told = f"The best one wins {100 * points(best):.1f} %, the next best {100 * points(second):.1f} %."
    if others:
        told += f" It is not {game.notation.spell(found.view.position, others[-1].action)[0]}."
    return f"{told} (With a hint this puzzle does not count.)"


def answer(game: Game, found: Puzzle, action: int, level: str, terminal: Terminal, *, hinted: bool = False) -> None:
    """Say whether an answer is right, and what each decision is worth; one after a hint is not counted."""
    best = ordered(found.verdict)[0]
    right = action == best.action
    terminal.line(("Right" if right else "No") + f": {told_of(game, found)}")
    if not right:
        lost = points(best) - next(points(c) for c in found.verdict.choices if c.action == action)
        terminal.line(f"Yours gives {100 * lost:.1f} points of winning chance away.")
    if not hinted:
        kept = counted(game.name, level, right)
        terminal.line(
            f"Right in a row: {kept['row']} (best {kept['best']}); {kept['right']} of {kept['asked']} in all."
        )


def told_of(game: Game, found: Puzzle) -> str:
    """Return the answer to a puzzle as one line."""
    spell = game.notation.spell
    each = [
        f"{spell(found.view.position, choice.action)[0]} {100 * points(choice):.1f} %"
        for choice in ordered(found.verdict)[:4]
    ]
    return f"{', '.join(each)} (margin {100 * found.margin:.1f} points; {found.verdict.known})"


def again(terminal: Terminal) -> bool:
    with contextlib.suppress(EOFError):
        return terminal.read("Another one? [Y/n] ").strip().lower() in ("", "y", "yes")
    return False


def document(game: Game, found: Puzzle) -> dict[str, Any]:
    spell = game.notation.spell
    return {
        "game": game.name,
        "number": found.number,
        "position": str(InformationSet.of(game, found.view)),
        "seat": game.seat_name(found.view.seat),
        "decisions": list(found.view.decisions),
        "known": found.verdict.known,
        "within": found.verdict.within,
        "answer": spell(found.view.position, ordered(found.verdict)[0].action)[0],
        "margin": found.margin,
        "chances": {
            spell(found.view.position, choice.action)[0]: points(choice) for choice in ordered(found.verdict)
        },
    }


def counted(game: str, level: str, right: bool) -> dict[str, int]:
    """Enter an answer into the person's own file, and return how they stand in this game and level."""
    path = data_folder() / "puzzles.json"
    kept: dict[str, Any] = {"version": VERSION}
    with contextlib.suppress(OSError, ValueError):
        read = json.loads(path.read_text(encoding="utf-8"))
        kept = read if isinstance(read, dict) and read.get("version") == VERSION else kept
    now = kept.get(f"{game} {level}")
    now = now if isinstance(now, dict) and set(now) == {"asked", "right", "row", "best"} else None
    now = now or {"asked": 0, "right": 0, "row": 0, "best": 0}
    now["asked"] += 1
    now["right"] += right
    now["row"] = now["row"] + 1 if right else 0
    now["best"] = max(now["best"], now["row"])
    kept[f"{game} {level}"] = now
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        making = path.with_suffix(".part")
        making.write_text(json.dumps(kept, indent=1, sort_keys=True), encoding="utf-8")
        making.replace(path)
    except OSError:
        pass  # a streak that cannot be kept is no reason to stop
    return now


def sheet(args: argparse.Namespace, options: dict[str, int | str], terminal: Terminal) -> int:
    """Print one page of puzzles, and the answers at the back, on a page of their own."""
    if args.game is None and options:
        raise OptionError("Options are those of one game: name it.")
    seed, level = args.seed or "1", args.level or "medium"
    begin = whole_number("number", args.number, 1, 10**9)
    which = f"{level}, seed {seed}{f', from number {begin}' if begin > 1 else ''}"
    front = [f"Puzzles ({which})", ""]
    back = [f"Answers ({which})", ""]
    for number, (game, found) in enumerate(several(args, options, seed, begin), 1):
        lines = [
            f"{number}. {game.notation.TITLE}",
            *(f"   {line}" for line in shown(game, found, 3)),
            "   Answer: ____",
            "",
        ]
        if len(front) + len(lines) > PAGE:
            break
        front += lines
        back += [f"{number}. {game.notation.TITLE}: {told_of(game, found)}"]
        if number == ON_A_SHEET:
            break
    for line in (*front, "\f" + back[0], *back[1:]):
        terminal.whole(line)
    return 0


def several(
    args: argparse.Namespace, options: dict[str, int | str], seed: str, begin: int
) -> Iterator[tuple[Game, Puzzle]]:
    """Yield puzzles: of one game, or of all in turn."""
    games = [find(args.game)] if args.game is not None else [find(name) for name in names()]
    for game in games:
        need(solving(game, game.options(options), "A puzzle"))
    for number in range(begin, begin + 2 * ON_A_SHEET):
        for game in games:
            try:
                yield game, looked_for(game, game.options(options), seed, number, args.level or "medium")[1]
            except OptionError:  # a level that a game has no puzzles of
                if len(games) == 1:
                    raise
