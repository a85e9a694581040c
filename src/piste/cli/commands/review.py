"""`piste review`: what each decision of a finished game cost, and where the points went."""

from __future__ import annotations

import argparse
import re
import textwrap
from collections.abc import Callable
from itertools import groupby

from piste.analysis.coach.attribution import RESIGNATION, Columns, Decision
from piste.analysis.coach.charts import chart_path, save_chart, text_chart
from piste.analysis.coach.labels import LETTERS, MISSED, Labels, is_clear, margin_of, read_labels
from piste.analysis.coach.review import Review, certainty, document
from piste.analysis.coach.review_cache import cached_review
from piste.cli.background import WorkMessages, preparing, work
from piste.cli.output import print_json
from piste.cli.players import YOU
from piste.cli.saved_games import find_record
from piste.cli.styles import game_marker
from piste.cli.terminal import Terminal
from piste.core.errors import OptionError
from piste.core.evaluation import Unit
from piste.core.game import Game, counted, quoted
from piste.core.presentation import Mark
from piste.core.record import Record

MIN_EXPLAINED_LOSS = 1.0  # in points
MAX_WIDTH = 100
INDENT = "    "


def run(args: argparse.Namespace, terminal: Terminal) -> int:
    labels = read_labels(args.labels) if args.labels is not None else Labels()
    path = chart_path(args.plot) if args.plot is not None else None
    record = find_record(args.record)
    seats = chosen_seats(record.head.game, record.head.seats, args.seat)
    preparation = preparing("the coach", record.head.game)
    messages = WorkMessages("reviewing", preparation, stopped="Stopped before the game was reviewed.")
    review = work(messages, cached_review, record, labels)
    evaluated = bool(review.attribution.chances)
    if path is not None and evaluated:
        save_chart(review, seats, path)
    if args.json:
        return print_json(terminal, document(review, seats))
    with terminal.paged():
        show(review, seats, terminal, charted_seat(record, seats))
    if path is not None:
        terminal.note(f"The graph is in {path}." if evaluated else "There is no graph to draw.")
    return 0


def chosen_seats(game: Game, names: tuple[str, ...], label: str | None) -> tuple[int, ...]:
    """Return the seats to review: all, or the one that was named, by its label or by who sits there."""
    every = tuple(range(len(names)))
    if label is None:
        return every
    labels = [game.seat_name(seat) for seat in every]
    for seat in every:
        if label.strip() in (labels[seat], names[seat]) or label.strip().casefold() == labels[seat].casefold():
            return (seat,)
    raise OptionError(f"There is no seat {quoted(label)} here; the seats are {', '.join(labels)}.")


def charted_seat(record: Record, seats: tuple[int, ...]) -> int:
    """Return whose chances are drawn: the person's, if there is one among these seats, else the first one's."""
    people = [seat for seat in seats if record.head.notes.get(f"seat {seat + 1}") == YOU]
    return people[0] if len(people) == 1 else seats[0]


def show(review: Review, seats: tuple[int, ...], terminal: Terminal, charted: int = 0) -> None:
    """Print a review: the chart of one seat, the columns of each, and every decision with its reasons."""
    width = min(MAX_WIDTH, terminal.width)
    terminal.marker = review_marker(review)

    def line(text: str, hang: int = 0) -> None:
        for part in textwrap.wrap(text, width, subsequent_indent=" " * hang, break_on_hyphens=False) or [""]:
            terminal.line(part)

    winner = "a draw" if review.ending.winner is None else f"{review.names[review.ending.winner]} won"
    line(f"{review.game.notation.TITLE}: {', '.join(review.names)}; {winner}: {review.ending.reason}.")
    if not review.attribution.chances:
        line(certainty(review))
        return
    what = "Chances" if review.unit.largest is None else "Payoffs that could be expected"
    line(f"{what} are judged by what each player could know at that moment. {certainty(review)}")
    terminal.line()
    for text in chart_lines(review, seats, charted, min(width, 80)):
        line(text) if text.startswith(review.names[charted]) else terminal.line(text)
    for seat in seats:
        terminal.line()
        for text in attribution_lines(review, review.attribution.columns[seat]):
            line(text, 2)
    terminal.line()
    decisions = [decision for decision in review.decisions() if decision.seat in seats]
    for idle, run in groupby(decisions, is_idle):
        some = list(run)
        if idle and len(some) > 1:
            line(f"{some[0].step + 1}-{some[-1].step + 1}. {len(some)} decisions on which nothing depended", 4)
            continue
        for decision in some:
            line(decision_line(review, decision), 4)
            for why in reasons(review, decision):
                line(f"{INDENT}{why[0].upper()}{why[1:]}.", 4)
    if not decisions:
        line("There was nothing to decide here.")


def chart_lines(review: Review, seats: tuple[int, ...], charted: int, width: int) -> list[str]:
    """Return the chances of one seat as a chart; under it the losses that have a name, a row for each seat."""
    name = review.names[charted]
    what = " the round" if review.attribution.columns[charted].rounds else ""
    marks = {
        review.game.seat_name(seat): [
            (d.step, LETTERS[label]) for d in review.decisions(seat) if (label := review.label(d))
        ]
        for seat in seats
    }
    shown = {seat: row for seat, row in marks.items() if row}
    chances = [chances[charted] for chances in review.attribution.chances]
    title = f"{name}: {review.unit.name}{what}, as {name} saw it"
    lines = [title, *text_chart(chances, width, shown, review.unit)]
    if shown:
        used = {letter for row in shown.values() for _, letter in row}
        lines.append(f"      {', '.join(f'{letter} {name}' for name, letter in LETTERS.items() if letter in used)}")
    return lines


def review_marker(review: Review) -> Callable[[str], list[Mark]]:
    """Return what marks the lines of a review: cards, who won, and the names of losses."""
    of_game = game_marker(review.game, review.options, review.names)
    names = {"best": "good", "wins": "good", "slip": "slip", "mistake": "mistake", "blunder": "bad", MISSED: "bad"}
    players = "|".join(re.escape(name) for name in review.names)
    label = re.compile(rf"\(({'|'.join(names)})\)$")
    letters = {letter: names[name] for name, letter in LETTERS.items()}

    def marks(line: str) -> list[Mark]:
        found: list[Mark] = []
        decided = re.match(r"(\d+\. .*?: )", line)
        won = re.search(rf"; ({players}) won:", line)
        row = re.fullmatch(rf" *\S+ [ {''.join(letters)}]+", line)
        if decided is not None:
            for choice in re.finditer(r"(?:(?<=: )|(?<=; best ))[^,;]+(?=,)", line):
                begin = choice.start()
                found += [Mark(begin + mark.start, begin + mark.end, mark.tone) for mark in of_game(choice[0])]
            found.append(Mark(0, decided.end(), "heading"))
        elif row is not None and not line.strip().isalpha():
            found = [Mark(at, at + 1, letters[line[at]]) for at in range(6, len(line)) if line[at] in letters]
        elif won is not None:
            found = [Mark(won.start(1), won.end() - 1, "good")]
        elif re.match(rf"(?:{players}): ", line):
            found = [Mark(0, len(line), "heading")]
        elif line.startswith(INDENT):
            found = of_game(line)
        return found + [Mark(*named.span(1), names[named[1]]) for named in [label.search(line)] if named is not None]

    return marks


def is_idle(decision: Decision) -> bool:
    """Return whether every choice was worth the same."""
    return decision.before - decision.worst < 1e-9


def reasons(review: Review, decision: Decision) -> list[str]:
    """Return why a decision was worth what it was and, where it was clearly not the best, the best one too."""
    actions = [decision.action]
    costly = 100 * decision.loss >= MIN_EXPLAINED_LOSS and is_clear(decision)
    if costly and RESIGNATION not in (decision.action, decision.best) and decision.best != decision.action:
        actions.append(decision.best)
    return [why for action in actions if (why := review.why(decision, action))]


def attribution_lines(review: Review, columns: Columns) -> list[str]:
    """Return where a seat's points went, a line for each column."""
    name = review.names[columns.seat]
    others = "the other's losses" if len(review.names) == 2 else "others, and revealed"
    rows = [("own losses", columns.own), (others, columns.others), ("luck", columns.luck)]
    if abs(columns.revealed) > 1e-9:
        rows.append(("revealed", columns.revealed))
    if abs(columns.left) > 1e-9:
        rows.append(("left open by estimates", columns.left))
    decisions = review.decisions(columns.seat)
    accuracy = review.accuracy(columns.seat)
    played = "nothing could be lost" if accuracy is None else f"accuracy {accuracy:.1f} %"
    unit = review.unit
    way = f"{name}: from {unit.value(columns.first)} to {unit.value(columns.result)}"
    if columns.rounds > 1:
        way = (
            f"{name}: {columns.first:.2f} of {columns.rounds} rounds expected at the deals, {columns.result:.0f} won"
        )
    off = f"{100 * columns.off:.0f} points" if unit.largest is None else unit.amount(columns.off)
    notes = [f"  (estimates, together within about {off})"] if columns.off else []
    return [
        way,
        *(f"  {what + ':':<24}{unit.signed(value):>7}" for what, value in rows),
        *notes,
        f"  {counted(len(decisions), 'decision')}, {played}{label_counts(review, decisions)}",
    ]


def label_counts(review: Review, decisions: list[Decision]) -> str:
    """Return how many losses had which name."""
    names = [review.label(decision) for decision in decisions]
    each = {name: names.count(name) for name in dict.fromkeys(names) if name}
    return "".join(f", {counted(many, name)}" for name, many in each.items())


def decision_line(review: Review, decision: Decision) -> str:
    """Return a decision in one line: what it was, the chance before and after, the best one, the loss."""
    unit = review.unit
    who = review.names[decision.seat]
    text = f"{decision.step + 1}. {who}: {review.told(decision)}, {unit.value(decision.before)}"
    if review.is_won(decision):
        return f"{text} (wins)"
    if not unit.shows(decision.loss):
        name = "" if is_idle(decision) else " (best)"
        return f"{text}{interval(unit, decision.evaluation.within)}{name}"
    beside = interval(unit, margin_of(decision))
    text = f"{text} -> {unit.value(decision.after)}"
    if not is_clear(decision):
        return f"{text}; the best, within the margin ({unit.amount(decision.loss)}{beside})"
    better = decision.best not in (decision.action, RESIGNATION)
    instead = f"; best {review.told(decision, decision.best)}" if better else ""
    name = review.label(decision)
    return f"{text}{instead}, loss {unit.amount(decision.loss)}{beside}{f' ({name})' if name else ''}"


def interval(unit: Unit, off: float) -> str:
    """Return by how much a value may be off, unless that is less than what is shown of it."""
    return f" ±{unit.amount(off)}" if unit.shows(off) else ""
