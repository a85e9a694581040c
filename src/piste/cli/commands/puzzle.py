"""`piste puzzle`: positions in which one decision is clearly better, to train on; or a sheet of them for a class."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from typing import Any

from piste.analysis.coach.puzzles import Puzzle, any_puzzle, ordered, points, puzzle
from piste.analysis.engine import open_engine
from piste.cli import saved_games
from piste.cli.arguments import named_games, option_pairs, whole_number, worker_count
from piste.cli.background import WorkMessages, preparing, work
from piste.cli.output import print_json
from piste.cli.rules_page import rules_text
from piste.cli.styles import game_marker
from piste.cli.terminal import Terminal
from piste.compiled.compiler import observation_spec
from piste.core.dealer import fresh_seed
from piste.core.errors import OptionError, PisteError
from piste.core.evaluation import WITHIN, Choice, Unit
from piste.core.extras import need, solving
from piste.core.game import Game, find, names, tidy
from piste.core.information_set import InformationSet
from piste.core.presentation import EventContext, Pause

VERSION = 1  # of the JSON and of the file of streaks
STREAKS_FILE = "puzzles.json"
MAX_PAGE_LINES = 60
MAX_PAGE_PUZZLES = 6
MAX_EVENT_LINES = 10  # above a puzzle: what the seat was told last

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
        return print_page(args, options, terminal)
    if args.game is None:
        raise OptionError(f"Puzzles of which game? There are: {', '.join(names())}.")
    game = find(args.game)
    settings = game.options(options)
    seed, number = args.seed or fresh_seed(), whole_number("number", args.number, 1, 10**9)
    level = args.level
    while True:
        level, problem = find_puzzle(game, settings, seed, number, level)
        if args.json:
            return print_json(terminal, {"seed": seed, "level": level, **document(game, problem)}, version=VERSION)
        terminal.marker = game_marker(game, settings, seat_names(game, settings), problem.view.seat)
        terminal.toned(f"\n{game.notation.TITLE}, {level} puzzle {number}\n", "heading")
        terminal.lines(puzzle_lines(game, problem))
        if args.answer is not None:
            judge_answer(game, problem, read_answer(game, problem, args.answer), level, terminal)
            return 0
        action, hinted = ask(game, problem, terminal)
        if action is None:
            return 0
        judge_answer(game, problem, action, level, terminal, hinted=hinted)
        if not wants_another(terminal):
            return 0
        number += 1


def find_puzzle(game: Game, options: Any, seed: str, number: int, level: str | None) -> tuple[str, Puzzle]:
    """Return a puzzle and its level, found in the worker."""
    stopped = f"Stopped before puzzle {number} of seed {seed} was found. What was prepared is kept."
    messages = WorkMessages("looking for a puzzle", preparing("puzzles", game), stopped=stopped)
    if level is None:
        return work(messages, any_puzzle, game, options, seed, number)
    return level, work(messages, puzzle, game, options, seed, number, level)


def seat_names(game: Game, options: Any) -> tuple[str, ...]:
    return tuple(f"Player {name}" for name in game.notation.SEATS[: game.rules.seats(options)])


def puzzle_lines(game: Game, problem: Puzzle, max_events: int = MAX_EVENT_LINES) -> list[str]:
    """Return a puzzle as lines of text: what the seat was told last, what it sees, what is open to it."""
    view = problem.view
    seats = seat_names(game, view.options)
    events: list[str] = []
    secrets = bool(observation_spec(game).SHOWN)  # else all that was told can be seen
    for i in range(max(0, len(view.log) - max_events) if secrets else len(view.log), len(view.log)):
        context = EventContext(view.seat, seats, view.opening, view.log[: i + 1])
        events += [line for line in game.text.lines(context) if line.strip() and not isinstance(line, Pause)]
    lines = [f"You are {seats[view.seat]}."]
    if events:
        lines += ["Told last:", *(f"  {line.strip()}" for line in events[-max_events:])]
    lines += [str(row) for row in game.text.picture(view, seats)]
    return [*lines, f"Open to you: {', '.join(view.decisions)}"]


def read_answer(game: Game, problem: Puzzle, text: str) -> int:
    """Return the decision that was typed; text that is no open decision is an error in the command."""
    view = problem.view
    try:
        return game.read_decision(view.position, view.kind, sum(1 << action for action in view.actions), text)
    except PisteError as e:
        raise OptionError(str(e)) from None


def ask(game: Game, problem: Puzzle, terminal: Terminal) -> tuple[int | None, bool]:
    """Ask until a decision is typed, and say whether a hint was asked for; None if the person wants to leave."""
    hinted = False
    while True:
        text = terminal.read("What do you play? ")
        word = tidy(text)
        if word in ("q", "quit", "exit"):
            return None, hinted
        if word in ("?", "help"):
            terminal.note("\n".join([f"Answer with one of: {', '.join(problem.view.decisions)}. Or type:", *HELP]))
        elif word == "rules":
            with terminal.paged():
                terminal.note(rules_text(game, terminal.width))
        elif word in ("hand", "table"):
            terminal.lines(puzzle_lines(game, problem))
        elif word == "hint":
            hinted = True
            terminal.note(hint(game, problem))
        elif word:
            try:
                return read_answer(game, problem, text), hinted
            except OptionError as e:
                terminal.note(f"{e} ? helps.")


def hint(game: Game, problem: Puzzle) -> str:
    """Return how much better the best decision is than the next, and one that it is not, if there are others left."""
    best, second, *others = ordered(problem.evaluation)
    unit = Unit.of(problem.evaluation.payoff)
    verb = "wins" if unit.largest is None else "can expect"
    text = f"The best one {verb} {unit.value(points(best))}, the next best {unit.value(points(second))}."
    if others:
        text += f" It is not {spelled(game, problem, others[-1])}."
    return f"{text} (With a hint this puzzle does not count.)"


def judge_answer(
    game: Game, problem: Puzzle, action: int, level: str, terminal: Terminal, *, hinted: bool = False
) -> None:
    """Say whether an answer is right, and what each decision is worth; one after a hint is not counted."""
    best = ordered(problem.evaluation)[0]
    right = action == best.action
    verdict = "Right" if right else "No"
    terminal.toned(f"{verdict}: {solution_text(game, problem)}", "good" if right else "bad")
    for choice in dict.fromkeys((action, best.action)):
        if game.explain is not None:
            why = str(game.explain.why(problem.view, problem.evaluation, choice))
            terminal.line(f"  {why[0].upper()}{why[1:]}.")
    if not right:
        lost = points(best) - next(points(c) for c in problem.evaluation.choices if c.action == action)
        unit = Unit.of(problem.evaluation.payoff)
        terminal.line(f"Yours gives {unit.amount(lost)} {unit.of_name} away.")
    if not hinted:
        counts = update_streak(game.name, level, right)
        terminal.note(
            f"Right in a row: {counts['row']} (best {counts['best']}); {counts['right']} of {counts['asked']} in all."
        )


def solution_text(game: Game, problem: Puzzle) -> str:
    """Return the answer to a puzzle as one line."""
    choices = ordered(problem.evaluation)[:4]
    unit = Unit.of(problem.evaluation.payoff)
    each = [f"{spelled(game, problem, choice)} {unit.value(points(choice))}" for choice in choices]
    known = problem.evaluation.known
    how = f"{known} {unit.bound(problem.evaluation.within)}" if known == WITHIN else known
    margin = f"{unit.amount(problem.margin)}{' points' if unit.largest is None else ''}"
    return f"{', '.join(each)} (margin {margin}; {how})"


def wants_another(terminal: Terminal) -> bool:
    with contextlib.suppress(EOFError):
        return terminal.read("Another one? [Y/n] ").strip().lower() in ("", "y", "yes")
    return False


def spelled(game: Game, problem: Puzzle, choice: Choice) -> str:
    return game.notation.spell(problem.view.position, choice.action)[0]


def document(game: Game, problem: Puzzle) -> dict[str, Any]:
    chances = {spelled(game, problem, choice): points(choice) for choice in ordered(problem.evaluation)}
    return {
        "game": game.name,
        "number": problem.number,
        "position": str(InformationSet.of(game, problem.view)),
        "seat": game.seat_name(problem.view.seat),
        "decisions": list(problem.view.decisions),
        "known": problem.evaluation.known,
        "within": problem.evaluation.within,
        "answer": next(iter(chances)),
        "margin": problem.margin,
        "chances": chances,
        **({} if problem.evaluation.payoff is None else {"largest_payoff": problem.evaluation.payoff.largest}),
    }


def update_streak(game: str, level: str, right: bool) -> dict[str, int]:
    """Enter an answer into the user's file, and return the counts of this game and level."""
    streaks = saved_games.read_user_file(STREAKS_FILE, VERSION)
    counts = streaks.get(f"{game} {level}")
    if not isinstance(counts, dict) or set(counts) != {"asked", "right", "row", "best"}:
        counts = {"asked": 0, "right": 0, "row": 0, "best": 0}
    counts["asked"] += 1
    counts["right"] += right
    counts["row"] = counts["row"] + 1 if right else 0
    counts["best"] = max(counts["best"], counts["row"])
    saved_games.write_user_file(STREAKS_FILE, VERSION, {**streaks, f"{game} {level}": counts})
    return counts


def print_page(args: argparse.Namespace, options: dict[str, int | str], terminal: Terminal) -> int:
    """Print one page of puzzles, and the answers at the back, on a page of their own."""
    if args.game is None and options:
        raise OptionError("Options are those of one game: name it.")
    seed, level = args.seed or "1", args.level or "medium"
    begin = whole_number("number", args.number, 1, 10**9)
    which = f"{level}, seed {seed}{f', from number {begin}' if begin > 1 else ''}"
    front = [f"Puzzles ({which})", ""]
    back = [f"Answers ({which})", ""]
    for number, (game, problem) in enumerate(page_puzzles(args, options, seed, begin), 1):
        lines = [
            f"{number}. {game.notation.TITLE}",
            *(f"   {line}" for line in puzzle_lines(game, problem, 3)),
            "   Answer: ____",
            "",
        ]
        if len(front) + len(lines) > MAX_PAGE_LINES:
            break
        front += lines
        back += [f"{number}. {game.notation.TITLE}: {solution_text(game, problem)}"]
        if number == MAX_PAGE_PUZZLES:
            break
    for line in (*front, "\f" + back[0], *back[1:]):
        terminal.whole(line)
    return 0


def page_puzzles(
    args: argparse.Namespace, options: dict[str, int | str], seed: str, begin: int
) -> Iterator[tuple[Game, Puzzle]]:
    """Yield puzzles: of one game, or of all in turn."""
    games = named_games([] if args.game is None else [args.game])
    for game in games:
        need(solving(game, game.options(options), "A puzzle"))
    level = args.level or "medium"
    wanted = [(number, game) for number in range(begin, begin + 2 * MAX_PAGE_PUZZLES) for game in games]
    tasks: Iterator[tuple[Any, ...]] = ((game, game.options(options), seed, number, level) for number, game in wanted)
    with ExitStack() as stack:
        found: Iterator[Puzzle | OptionError]
        if args.engine is None:
            found = (try_puzzle(find_here, *task) for task in tasks)
        else:
            engine = stack.enter_context(open_engine(args.engine, worker_count("processes", None)))
            found = stack.enter_context(closing(engine.in_order(try_puzzle, ((puzzle, *task) for task in tasks))))
        for (_, game), problem in zip(wanted, found, strict=False):
            if isinstance(problem, Puzzle):
                yield game, problem
            elif len(games) == 1:  # else it is a level that a game has no puzzles of
                raise problem


def find_here(game: Game, options: Any, seed: str, number: int, level: str) -> Puzzle:
    return find_puzzle(game, options, seed, number, level)[1]


def try_puzzle(
    find: Callable[..., Puzzle], game: Game, options: Any, seed: str, number: int, level: str
) -> Puzzle | OptionError:
    """Return a puzzle, or why there is none; an engine calls it wherever it works."""
    try:
        return find(game, options, seed, number, level)
    except OptionError as e:
        return e
