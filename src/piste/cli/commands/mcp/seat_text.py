"""What one seat is told, as short plain text for a language model: from the seat's view and nothing else."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from piste import bots
from piste.analysis.coach.puzzles import Puzzle, ordered, points
from piste.analysis.coach.review import NOTHING, Review, certainty
from piste.cli.commands.puzzle import solution_text
from piste.cli.commands.review import attribution_lines, decision_line, is_idle, reasons
from piste.core.game import Game, allowed, counted, find, listed, names, tidy, write_option
from piste.core.presentation import Drawn, EventContext, Pause, Prompt
from piste.core.views import Ending, SeatView

MAX_EVENT_LINES = 40
"""How many lines of the log are told at once, unless the whole log is asked for."""

MINUS = str.maketrans({"−": "-"})
"""The log's minus sign becomes the one that decisions are written with."""


def position_text(game: Game, view: SeatView, seats: tuple[str, ...], since: int) -> str:
    """Return whose turn it is, what happened from the step `since` on, what the seat sees and what it can decide.

    The text depends on the view alone, so that games which the seat cannot tell apart give the same one.
    """
    turn = f"It is your turn: question {view.number}." if view.actions else "It is not your turn."
    first = turn if view.ending is None else ending_line(game, view, seats, view.ending)
    heading = "Since your last decision:" if since else "So far:"
    return "\n".join([first, *seen_lines(game, view, seats, since, heading)])


def seen_lines(game: Game, view: SeatView, seats: tuple[str, ...], since: int, heading: str) -> list[str]:
    """Return what happened from a step on, what the seat sees, and what it can decide."""
    events = event_lines(game, view, seats, since)
    left_out = max(0, len(events) - MAX_EVENT_LINES)
    lines = [heading, *([f"  ({counted(left_out, 'line')} before this)"] if left_out else [])] if events else []
    lines += [f"  {line}" for line in events[left_out:]]
    lines += ["You see:", *(f"  {row}" for row in game.text.picture(view, seats))]
    return [line.translate(MINUS) for line in (*lines, *decision_lines(game, view, seats))]


def event_lines(game: Game, view: SeatView, seats: tuple[str, ...], since: int = 0) -> list[str]:
    """Return what the seat was told of each step from `since` on."""
    tell = game.text.lines if game.log is None else game.log.lines
    start = game.text.welcome if game.log is None else game.log.start
    lines = [] if since else list(start(view, seats))
    for step in range(since, len(view.log)):
        lines += tell(EventContext(view.seat, seats, view.opening, view.log[: step + 1]))
    return [line.strip().translate(MINUS) for line in lines if line.strip() and not isinstance(line, Pause | Drawn)]


def decision_lines(game: Game, view: SeatView, seats: tuple[str, ...]) -> list[str]:
    """Return the decisions that are open, each with what it means where its name does not say it."""
    if not view.actions:
        return []
    ask = getattr(game.text, "prompt", game.text.ask)
    prompt: Prompt = ask(view, seats)
    meanings = {key.then: key.meaning for key in prompt.keys if isinstance(key.then, int)}
    in_steps = len(meanings) < len(prompt.keys)  # a terminal asks several questions for one decision
    known = [
        (name, "" if tidy(meanings.get(action, "")) in ("", tidy(name)) else meanings[action])
        for name, action in zip(view.decisions, view.actions, strict=True)
    ]
    question = "Your decision" if in_steps else prompt.question.strip().rstrip(":?")
    if any(meaning for _, meaning in known):
        return [f"{question}? One of:", *(f"  {name}{f' ({meaning})' if meaning else ''}" for name, meaning in known)]
    return [f"{question}? One of: {', '.join(view.decisions)}"]


def ending_line(game: Game, view: SeatView, seats: tuple[str, ...], ending: Ending) -> str:
    """Return how the game ended for this seat, and why."""
    result = "It is a draw" if ending.winner is None else "You won" if ending.winner == view.seat else "You lost"
    score = None if game.log is None else game.log.final_score(view)
    points = (
        "" if score is None else f" {listed([f'{who} {n}' for who, n in zip(seats, score, strict=True)], 'and')}."
    )
    why = "" if game.log is None else game.log.decisive(view, seats, ending)
    return f"The game is over. {result}: {ending.reason}.{f' {why}' if why else ''}{points}"


def games_text() -> str:
    """Return every game with its options and the levels that can be played against."""
    return "\n\n".join(game_text(name) for name in names())


def game_text(name: str) -> str:
    game = find(name)
    default = game.options()
    able, refused = bots.playable(game)
    lines = [
        f"{name}: {game.notation.TITLE}. {game.notation.LINE}",
        f"  Opponents: {', '.join(bots.described(game, level) for level in able)}",
        *(f"  {why}" for why in refused[:1]),
        "  Options:",
    ]
    for option in game.notation.OPTIONS:
        usual = write_option(option, getattr(default, option.name))
        values = "" if option.read is not None else f"; {allowed(option).removeprefix('it is ')}"
        lines.append(f"    {option.name}: {option.help}{values} (default {usual})")
    return "\n".join(lines)


def puzzle_text(game: Game, puzzle: Puzzle) -> str:
    """Return the position of a puzzle, without its answer."""
    view = puzzle.view
    seats = tuple(f"Player {game.seat_name(seat)}" for seat in range(game.rules.seats(view.options)))
    lines = [f"{game.notation.TITLE}, puzzle {puzzle.number}. You are {seats[view.seat]}."]
    return "\n".join([*lines, *seen_lines(game, view, seats, 0, "So far:")])


def verdict_text(game: Game, puzzle: Puzzle, action: int) -> str:
    """Return whether an answer is right, and what each decision is worth."""
    best = ordered(puzzle.evaluation)[0]
    lines = [f"{'Right' if action == best.action else 'No'}: {solution_text(game, puzzle)}"]
    for choice in dict.fromkeys((action, best.action)):
        if game.explain is not None:
            why = str(game.explain.why(puzzle.view, puzzle.evaluation, choice))
            lines.append(f"  {why[0].upper()}{why[1:]}.")
    if action != best.action:
        lost = points(best) - next(points(choice) for choice in puzzle.evaluation.choices if choice.action == action)
        lines.append(f"Yours gives {100 * lost:.1f} points of winning chance away.")
    return "\n".join(lines).translate(MINUS)


def review_text(review: Review, seats: Iterable[int]) -> str:
    """Return what each decision of these seats cost, and where the points went."""
    chosen = set(seats)
    winner = "a draw" if review.ending.winner is None else f"{review.names[review.ending.winner]} won"
    lines = [f"{review.game.notation.TITLE}: {winner}, {review.ending.reason}."]
    if not review.attribution.chances:
        return "\n".join([*lines, NOTHING])
    lines.append(f"Chances are judged by what each player could know at that moment. {certainty(review)}")
    for seat in sorted(chosen):
        lines += attribution_lines(review, review.attribution.columns[seat])
    decisions = [decision for decision in review.decisions() if decision.seat in chosen]
    for idle, run in groupby(decisions, is_idle):
        some = list(run)
        if idle:
            what = f"{counted(len(some), 'decision')} on which nothing depended"
            lines.append(f"{some[0].step + 1}{f'-{some[-1].step + 1}' if len(some) > 1 else ''}. {what}")
            continue
        for decision in some:
            lines.append(decision_line(review, decision))
            lines += [f"    {why[0].upper()}{why[1:]}." for why in reasons(review, decision)]
    return "\n".join(lines).translate(MINUS)
