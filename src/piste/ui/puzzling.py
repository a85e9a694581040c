"""`piste puzzle`: positions in which one decision is clearly better, to train on; or a sheet of them for a class."""

from __future__ import annotations

import argparse
import contextlib
import json
from collections.abc import Iterator
from typing import Any

from piste.coach.puzzles import Puzzle, any_puzzle, ordered, points, puzzle
from piste.core.dealer import fresh_seed
from piste.core.errors import BadOption, PisteError
from piste.core.extras import need, solving
from piste.core.game import Game, find, names
from piste.core.known import Known
from piste.core.screen import Moment, Pause
from piste.fast.bind import numbers_of
from piste.ui.listing import put
from piste.ui.playing import pairs
from piste.ui.progress import Bar
from piste.ui.screen import Screen
from piste.ui.simulating import number as number_of
from piste.ui.store import data_folder

VERSION = 1  # of the JSON and of the file that keeps the streak
PAGE = 60  # lines on a printed page
TOLD = 10  # so many of the last things a seat was told stand above a puzzle
ON_A_SHEET = 6


def run(given: argparse.Namespace, screen: Screen) -> int:
    options = pairs(given.set or [])
    if given.print:
        return sheet(given, options, screen)
    if given.game is None:
        raise BadOption(f"Puzzles of which game? There are: {', '.join(names())}.")
    game = find(given.game)
    settings = game.options(options)
    seed, number = given.seed or fresh_seed(), number_of("--number", given.number, 1, 10**9)
    level = given.level
    while True:
        with Bar("looking for a puzzle") as bar:
            if level is None:
                level, found = any_puzzle(game, settings, seed, number, bar)
            else:
                found = puzzle(game, settings, seed, number, level, bar)
        if given.json:
            return put(screen, {"version": VERSION, "seed": seed, "level": level, **document(game, found)})
        screen.lines(["", f"{game.notation.TITLE}, {level} puzzle {number}", ""])
        screen.lines(shown(game, found))
        said = given.answer or screen.read("What do you play? ")
        if not answer(game, found, said, level, screen):
            return 0
        if given.answer or not again(screen):
            return 0
        number += 1


def shown(game: Game, found: Puzzle, most: int = TOLD) -> list[str]:
    """Return a puzzle as lines of text: what the seat was told last, what it sees, what is open to it."""
    view = found.view
    called = tuple(f"Player {name}" for name in game.notation.SEATS[: game.rules.seats(view.options)])
    told: list[str] = []
    secrets = bool(numbers_of(game).SHOWN)  # else all that was told can be seen
    for i in range(max(0, len(view.log) - most) if secrets else len(view.log), len(view.log)):
        moment = Moment(view.seat, called, view.opening, view.log[: i + 1])
        told += [line for line in game.words.lines(moment) if line.strip() and not isinstance(line, Pause)]
    lines = [f"You are {called[view.seat]}."]
    if told:
        lines += ["Told last:", *(f"  {line.strip()}" for line in told[-most:])]
    lines += [str(row) for row in game.words.picture(view, called)]
    return [*lines, f"Open to you: {', '.join(view.decisions)}"]


def answer(game: Game, found: Puzzle, said: str, level: str, screen: Screen) -> bool:
    """Say whether an answer is right, and what each decision is worth; False if the person wants to leave."""
    if said.strip().lower() in ("q", "quit", "exit"):
        return False
    view = found.view
    legal = sum(1 << action for action in view.actions)
    try:
        action = game.read_decision(view.position, view.kind, legal, said)
    except PisteError as e:
        screen.note(str(e))
        return answer(game, found, screen.read("What do you play? "), level, screen)
    best = ordered(found.verdict)[0]
    right = action == best.action
    streak = counted(game.name, level, right)
    screen.line(("Right" if right else "No") + f": {told_of(game, found)}")
    if not right:
        lost = points(best) - next(points(c) for c in found.verdict.choices if c.action == action)
        screen.line(f"Yours gives {100 * lost:.1f} points of winning chance away.")
    screen.line(
        f"Right in a row: {streak['row']} (best {streak['best']}); {streak['right']} of {streak['asked']} in all."
    )
    return True


def told_of(game: Game, found: Puzzle) -> str:
    """Return the answer to a puzzle as one line."""
    spell = game.notation.spell
    each = [
        f"{spell(found.view.position, choice.action)[0]} {100 * points(choice):.1f} %"
        for choice in ordered(found.verdict)[:4]
    ]
    return f"{', '.join(each)} (margin {100 * found.margin:.1f} points; {found.verdict.known})"


def again(screen: Screen) -> bool:
    with contextlib.suppress(EOFError):
        return screen.read("Another one? [Y/n] ").strip().lower() in ("", "y", "yes")
    return False


def document(game: Game, found: Puzzle) -> dict[str, Any]:
    spell = game.notation.spell
    return {
        "game": game.name,
        "number": found.number,
        "position": str(Known.of(game, found.view)),
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


def sheet(given: argparse.Namespace, options: dict[str, int | str], screen: Screen) -> int:
    """Print one page of puzzles, and the answers at the back, on a page of their own."""
    if given.game is None and options:
        raise BadOption("Options are those of one game: name it.")
    seed, level = given.seed or "1", given.level or "medium"
    front = [f"Puzzles ({level}, seed {seed})", ""]
    back = [f"Answers ({level}, seed {seed})", ""]
    number = 0
    with Bar("looking for puzzles") as bar:
        for game, found in several(given, options, seed, bar):
            lines = [
                f"{number + 1}. {game.notation.TITLE}",
                *(f"   {line}" for line in shown(game, found, 3)),
                "   Answer: ____",
                "",
            ]
            if len(front) + len(lines) > PAGE:
                break
            number += 1
            front += lines
            back += [f"{number}. {game.notation.TITLE}: {told_of(game, found)}"]
            if number == ON_A_SHEET:
                break
    for line in (*front, "\f" + back[0], *back[1:]):
        screen.whole(line)
    return 0


def several(
    given: argparse.Namespace, options: dict[str, int | str], seed: str, bar: Bar
) -> Iterator[tuple[Game, Puzzle]]:
    """Yield puzzles: of one game, or of all in turn."""
    games = [find(given.game)] if given.game is not None else [find(name) for name in names()]
    for game in games:
        need(solving(game, game.options(options), "A puzzle"))
    for number in range(1, 1 + 2 * ON_A_SHEET):
        for game in games:
            try:
                yield game, puzzle(game, game.options(options), seed, number, given.level or "medium", bar)
            except BadOption:  # a level that a game has no puzzles of
                if len(games) == 1:
                    raise
