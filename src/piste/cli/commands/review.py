"""`piste review`: what each decision of a finished game cost, and where the points went."""

from __future__ import annotations

import argparse
import textwrap
from itertools import groupby

from piste.analysis.coach.attribution import RESIGNATION, Columns, Decision
from piste.analysis.coach.charts import chart_path, save_chart, text_chart
from piste.analysis.coach.labels import LETTERS, Labels, is_clear, margin_of, read_labels
from piste.analysis.coach.review import Review, certainty, document
from piste.analysis.coach.review_cache import cached_review
from piste.cli.background import WorkMessages, preparing, work
from piste.cli.output import print_json
from piste.cli.saved_games import find_record
from piste.cli.terminal import Terminal
from piste.core.errors import OptionError
from piste.core.game import Game, counted, quoted

MIN_EXPLAINED_LOSS = 1.0  # in points
MAX_WIDTH = 100


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
    show(review, seats, terminal)
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


def show(review: Review, seats: tuple[int, ...], terminal: Terminal) -> None:
    width = min(MAX_WIDTH, terminal.width)

    def line(text: str, hang: int = 0) -> None:
        for part in textwrap.wrap(text, width, subsequent_indent=" " * hang, break_on_hyphens=False) or [""]:
            terminal.line(part)

    winner = "a draw" if review.ending.winner is None else f"{review.names[review.ending.winner]} won"
    line(f"{review.game.notation.TITLE}: {', '.join(review.names)}; {winner}: {review.ending.reason}.")
    if not review.attribution.chances:
        line(certainty(review))
        return
    line(f"Chances are judged by what each player could know at that moment. {certainty(review)}")
    for seat in seats:
        name, what = review.names[seat], " the round" if review.attribution.columns[seat].rounds else ""
        terminal.line()
        line(f"{name}: chance to win{what}, as {name} saw it")
        marks = [(d.step, review.label(d)) for d in review.decisions(seat) if review.label(d)]
        letters = [(step, LETTERS[name]) for step, name in marks]
        for row in text_chart([chances[seat] for chances in review.attribution.chances], min(width, 80), letters):
            terminal.whole(row)
        if marks:
            line(f"      {', '.join(f'{letter} {name}' for name, letter in LETTERS.items())}", 6)
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
                line(f"    {why[0].upper()}{why[1:]}.", 4)
    if not decisions:
        line("There was nothing to decide here.")


def is_idle(decision: Decision) -> bool:
    """Return whether every choice was worth the same."""
    return decision.before - decision.worst < 1e-9


def reasons(review: Review, decision: Decision) -> list[str]:
    """Return why a decision that cost something was worth what it was, and the best one too."""
    if 100 * decision.loss < MIN_EXPLAINED_LOSS or not is_clear(decision):
        return []
    actions = dict.fromkeys((decision.action, decision.best))
    if decision.action == RESIGNATION:
        actions = dict.fromkeys([RESIGNATION])
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
    way = f"{name}: from {percent(columns.first)} to {percent(columns.result)}"
    if columns.rounds > 1:
        way = (
            f"{name}: {columns.first:.2f} of {columns.rounds} rounds expected at the deals, {columns.result:.0f} won"
        )
    notes = [f"  (estimates, together within about {100 * columns.off:.0f} points)"] if columns.off else []
    return [
        way,
        *(f"  {what + ':':<24}{points(value):>7}" for what, value in rows),
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
    number, who = decision.step + 1, review.names[decision.seat]
    best = review.spelled(decision, decision.best)
    text = f"{number}. {who}: {review.told(decision)}, {percent(decision.before)} -> {percent(decision.after)}"
    off = margin_of(decision)
    if 100 * decision.loss < 0.05:
        return text + ("" if not off else f" (±{100 * decision.evaluation.within:.1f})")
    beside = f" ±{100 * off:.1f}" if off else ""
    if not is_clear(decision):
        return f"{text}; the best, within the margin ({100 * decision.loss:.1f}{beside})"
    instead = f"; best {best}" if decision.best not in (decision.action, RESIGNATION) else ""
    name = review.label(decision)
    return f"{text}{instead}, loss {100 * decision.loss:.1f}{beside}{f' ({name})' if name else ''}"


def percent(chance: float) -> str:
    return f"{100 * chance:.1f} %"


def points(value: float) -> str:
    return f"{100 * value:+.1f}"
