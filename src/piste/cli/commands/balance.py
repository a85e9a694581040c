"""`piste balance`: whether a game is fair, how long it lasts, and how much skill there is in it."""

from __future__ import annotations

import argparse
import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from piste.analysis.balance import skill
from piste.analysis.balance.estimates import SURE, Estimate, bins
from piste.analysis.balance.random_play import PlayStatistics
from piste.analysis.balance.report import ANY, BEST, Report, balance_report
from piste.analysis.balance.svg import page
from piste.cli.arguments import option_pairs, whole_number, worker_count
from piste.cli.background import WorkMessages, preparing, work
from piste.cli.output import print_json, share_rows
from piste.cli.terminal import Terminal
from piste.core.errors import OptionError, PisteError
from piste.core.evaluation import ESTIMATED, WITHIN, Progress
from piste.core.game import Game, find, quoted, tidy

MAX_GAMES = 10**7
SHEET = "sheet"
PERCENT, COUNT, PAYOFF = "%", "n", "payoff"
EDGES = ((0.08, "a large"), (0.03, "an"), (0.005, "a small"), (0.0, "hardly an"))

LEGEND = (
    "A share counts a draw as an equal part of a win. In brackets or after ±: where the true number lies 19 times "
    "out of 20. A decision matters if the worst choice costs more than 1 point of winning chance; there is one good "
    "choice if the second best does. Luck is what neither who plays nor who begins explains."
)


def run(args: argparse.Namespace, terminal: Terminal) -> int:
    game = find(args.game)
    wanted = [option_pairs(args.set), *(versus(text) for text in args.versus or [])]
    for options in wanted:
        game.options(options)  # what cannot be played is refused before anything is
    games = None if args.games is None else whole_number("games", args.games, 1, MAX_GAMES)
    settings = {"games": games, "seed": args.seed, "processes": worker_count("processes", args.processes)}
    settings["engine"] = args.engine
    target = None if args.plot is None else plotted(args.plot)
    reports: list[Report] = []
    for i, options in enumerate(wanted, 1):
        head = f"{i}/{len(wanted)} " if len(wanted) > 1 else ""
        stopped = "Stopped before there was anything to tell."
        messages = WorkMessages("weighing", preparing("the bots", game), head, stopped, (i - 1) / len(wanted))
        reports.append(work(messages, measure_column, game, options, settings, i - 1, len(wanted), gently=True))
        if reports[-1].stopped:
            break
    cut = reports[-1].stopped
    if target is not None:
        written(target, page(reports))
    if args.json:
        columns = [document(report) for report in reports]
        print_json(terminal, {"game": game.name, "seed": args.seed, "stopped": cut, "columns": columns}, version=1)
    elif args.csv:
        print(csv_text(game, reports), end="", file=terminal.out)
    else:
        show(game, reports, len(wanted), terminal)
    return 130 if cut else 0


def measure_column(
    game: Game, options: dict[str, int | str], settings: dict[str, Any], before: int, columns: int, progress: Progress
) -> Report:
    """Return the report of one column, with so many before it; called in the worker."""

    def report_progress(done: int, total: int, phase: str) -> None:
        progress(before * total + done, columns * total, phase)

    return balance_report(game, options, **settings, progress=report_progress)


def versus(text: str) -> dict[str, int | str]:
    """Return the options of another column: `a=1,b=2`, or `sheet` for none."""
    return {} if tidy(text) == SHEET else option_pairs(text.split(","))


def plotted(name: str) -> Path:
    path = Path(name)
    if path.suffix.lower() != ".svg":
        raise OptionError(
            f"--plot writes an SVG picture: give it a file such as balance.svg, not {quoted(name, 200)}."
        )
    if not path.parent.is_dir():
        raise OptionError(f"--plot cannot write {quoted(name, 200)}: there is no folder {quoted(path.parent, 200)}.")
    return path


def written(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as e:
        raise PisteError(f"The picture {quoted(path, 200)} cannot be written: {e.strerror or e}.") from None


# The numbers of a report


def turns_of(report: Report) -> dict[str, Estimate]:
    """Return how many turns games have; nothing if each has one decision."""
    turns = {who: stats.turns for who, stats in report.statistics.items() if stats.turns is not None}
    return turns if any(n != report.statistics[who].decisions for who, n in turns.items()) else {}


def mattering(report: Report) -> dict[str, Estimate]:
    stakes = report.stakes
    return {} if stakes is None else {"a slip costs": stakes.slip, "one good choice": stakes.single}


def in_a_game(report: Report) -> dict[str, Estimate]:
    if report.stakes is None:
        return {}
    decisions = report.statistics[report.stakes.level].decisions.value
    return {name: share.times(decisions) for name, share in mattering(report).items()}


def better(report: Report) -> dict[str, Estimate]:
    pairs = {f"{one}, {two}": share for (one, two), share in report.points.items() if ahead(report, one, two)}
    return pairs if report.better is None else {"the better of two": report.better} | pairs


def better_paid(report: Report) -> dict[str, Estimate]:
    """Return what the better of two levels is paid by the other, where wins and draws do not say it all."""
    if not report.payoffs:
        return {}
    paid = skill.payoff_table(report.matches)
    return {f"{one}, {two}": number for (one, two), number in paid.items() if ahead(report, one, two)}


def ahead(report: Report, one: str, two: str) -> bool:
    """Say whether a pair is one to list: at a table for two the better one first, at a larger one both ways."""
    levels = report.levels
    return report.matches[0].seats > 2 or levels.index(one) > levels.index(two)


def deciding(report: Report) -> dict[str, Estimate]:
    return dict(zip(("skill", "who begins", "luck"), report.split or (), strict=False))


PARTS: tuple[tuple[str, str, str, Callable[[Report], dict[str, Estimate]]], ...] = (
    ("first", "First player's share", PERCENT, lambda report: report.shares),
    ("payoff", "First player's payoff", PAYOFF, lambda report: report.payoffs),
    ("draws", "Draws", PERCENT, lambda report: report.draws),
    (
        "decisions",
        "Decisions in a game",
        COUNT,
        lambda report: {w: s.decisions for w, s in report.statistics.items()},
    ),
    ("turns", "Turns in a game", COUNT, turns_of),
    ("matter", "Decisions that matter", PERCENT, mattering),
    ("matter in a game", "Of them in a game", COUNT, in_a_game),
    ("skill", "Value of skill", PERCENT, better),
    ("skill payoff", "Value of skill in payoff a game", PAYOFF, better_paid),
    ("decides", "What decides a game", PERCENT, deciding),
)
"""In the order in which they are printed: key for machines, heading for people, unit, and the numbers by name."""


# For people


class Part(NamedTuple):
    """Numbers under a heading, by name: that of each report, or None where one has none."""

    key: str
    heading: str
    unit: str
    rows: dict[str, list[Estimate | None]]


def side_by_side(reports: list[Report]) -> list[Part]:
    """Return the numbers of some reports under the names that people are shown.

    One that differs by report has all of its names.
    """

    def display_name(name: str) -> str:
        return ", ".join("/".join(dict.fromkeys(report.shown(who) for report in reports)) for who in name.split(", "))

    every = []
    for key, heading, unit, numbers_of in PARTS:
        columns = [numbers_of(report) for report in reports]
        names = dict.fromkeys(name for numbers in columns for name in numbers)
        rows = {display_name(name): [numbers.get(name) for numbers in columns] for name in names}
        every.append(Part(key, heading, unit, rows))
    return [part for part in every if part.rows]


def show(game: Game, reports: list[Report], wanted: int, terminal: Terminal) -> None:
    if reports[-1].stopped:
        begun = f" in column {len(reports)} of {wanted}" if wanted > 1 else ""
        terminal.note(f"Stopped{begun}; this is what there is so far.")
    alone = len(reports) == 1
    terminal.line(f"{game.notation.TITLE}{f' ({reports[0].title})' if alone and reports[0].changed else ''}")
    for report in reports:
        aside(report, terminal, alone=alone)
    parts = side_by_side(reports)
    texts = {
        (part.key, name): [cell(number, part.unit, brief=not alone) for number in numbers]
        for part in parts
        for name, numbers in part.rows.items()
    }
    titles = [report.title for report in reports]
    label = max((len(name) for _, name in texts), default=0)
    widths = [max([len(title), *(len(row[i]) for row in texts.values())]) for i, title in enumerate(titles)]
    fits = 2 + label + sum(2 + width for width in widths) <= terminal.width

    def in_columns(name: str, cells: list[str]) -> str:
        columns = "".join(f"  {text:<{width}}" for text, width in zip(cells, widths, strict=True))
        return f"  {name:<{label}}{columns}".rstrip()

    if not alone and fits:
        terminal.line(in_columns("", titles))
    for part in parts:
        if part.key == "draws" and not any(n and n.value > 5e-5 for numbers in part.rows.values() for n in numbers):
            terminal.line("No draws")
            continue
        terminal.line(f"{part.heading}{weighed_by(reports) if part.key == 'matter' else ''}")
        for name in part.rows:
            cells = texts[part.key, name]
            if fits:
                terminal.line(in_columns(name, cells))
            else:
                terminal.line(f"  {name}")
                for title, text in zip(titles, cells, strict=True):
                    terminal.line(f"    {text}" if alone else f"    {title}: {text}")
    for report in reports:
        pictures(report, terminal, alone=alone)
    for note in dict.fromkeys(note for report in reports for note in report.notes):
        terminal.note(note)
    for known in dict.fromkeys(report.described() for report in reports if report.levels):
        terminal.note(f"How the play of the levels is known: {known}.")
    terminal.note(LEGEND)


def weighed_by(reports: list[Report]) -> str:
    sources = dict.fromkeys(
        f"{report.shown(m.level)} bots, {m.known}{f' ± {100 * m.within:.1f} points' if m.within else ''}"
        for report in reports
        if (m := report.stakes) is not None
    )
    return f" ({'; '.join(sources)})"


def cell(number: Estimate | None, unit: str, *, brief: bool) -> str:
    """Return a number and how it is known: its interval, or the word that says how sure it is."""
    if number is None:
        return "-"
    scale, sign = (100.0, " %") if unit == PERCENT else (1.0, "")
    value, low, high = scale * number.value, scale * number.low, scale * number.high
    if unit == PAYOFF:
        return payoff_text(number)
    if number.known in SURE:
        return f"{value:.2f}{sign} {number.known}"
    if number.known == WITHIN:
        return f"{value:.2f}{sign} within {(high - low) / 2:.2g}"
    digits = 1 if unit == COUNT or high - low >= 1 else 2
    model = " estimated" if number.known == ESTIMATED else ""
    if brief:
        return f"{value:.{digits}f}{sign} ± {(high - low) / 2:.{digits}f}{' est.' if model else ''}"
    return f"{value:.{digits}f}{sign} ({low:.{digits}f} to {high:.{digits}f}){model}"


def payoff_text(number: Estimate) -> str:
    """Return an expected payoff and how it is known."""
    if number.known in SURE:
        return f"{number.value:+.4f} {number.known}"
    if number.known == WITHIN:
        return f"{number.value:+.4f} within {(number.high - number.low) / 2:.2g}"
    model = " estimated" if number.known == ESTIMATED else ""
    return f"{number.value:+.2f} ({number.low:+.2f} to {number.high:+.2f}){model}"


def pictures(report: Report, terminal: Terminal, *, alone: bool) -> None:
    """Draw how long games are, of the strongest level and of random play; and the levels against each other."""
    of = "" if alone else f" ({report.title})"
    chosen = [who for who in (*reversed(report.levels), ANY) if who in report.statistics]
    for who in dict.fromkeys([*chosen[:1], *chosen[-1:]]):
        how = "random play" if who == ANY else f"{report.shown(who)} bots"
        terminal.line(f"How many decisions games have: {how}{of}")
        terminal.lines(histogram(report.statistics[who], terminal.width))
    if report.points:
        terminal.line(f"% of points, row against column{of}")
        levels = {level: report.shown(level) for level in report.levels}
        terminal.lines(share_rows(levels, {pair: number.value for pair, number in report.points.items()}))


def histogram(stats: PlayStatistics, width: int) -> list[str]:
    """Return how many games were how long, as lines."""
    histogram_bins = bins(stats.lengths, 12)
    names = [f"{low}" if low == high else f"{low}-{high}" for low, high, _ in histogram_bins]
    label, largest = max(map(len, names)), max(part for _, _, part in histogram_bins)
    room = max(8, min(width, 80) - label - 12)
    return [
        f"  {name:>{label}} {'#' * round(room * part / largest):<{room}} {100 * part:5.1f} %"
        for name, (_, _, part) in zip(names, histogram_bins, strict=True)
    ]


def aside(report: Report, terminal: Terminal, *, alone: bool) -> None:
    """Tell what is true in words."""
    of = "" if alone else f" ({report.title})"
    sentences = [*edge(report), *(f"{sentence} ({how})" for sentence, how in report.truths)]
    if sentences:
        terminal.line(f"What is true{of}")
        for sentence in sentences:
            terminal.line(f"  {sentence}")


def edge(report: Report) -> list[str]:
    """Say in a sentence who has the edge with best play."""
    if report.best is None:
        return []
    share, draws = report.shares[BEST], report.draws[BEST]
    if draws.value > 1 - 1e-9:
        return [f"With best play every game is a draw. ({report.best.known})"]
    even = 1 / report.game.rules.seats(report.options)
    more = share.value - even
    if share.half > 1e-9 and share.low <= even <= share.high:
        text = "nobody is known to have an edge"
    elif abs(more) < 5e-5:
        text = "it is even"
    else:
        who = "the player who begins" if more > 0 else "whoever does not begin"
        text = f"{who} has {next(word for least, word in EDGES if abs(more) >= least)} edge"
    return [f"With best play {text}. ({report.best.known})"]


# For machines


def document(report: Report) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "title": report.title,
        "options": report.options._asdict(),
        "changed": report.changed,
        "first": report.game.seat_name(report.first),
        "stopped": report.stopped,
        "best": None if report.best is None else {"known": report.best.known, "how": report.best.how},
    }
    for key, _, _, numbers_of in PARTS:
        numbers = numbers_of(report)
        fields |= {key: {name: number._asdict() for name, number in numbers.items()}} if numbers else {}
    fields["points"] = [{"row": one, "column": two, **n._asdict()} for (one, two), n in report.points.items()]
    fields["lengths"] = {
        who: {str(length): part for length, part in stats.lengths.items()} for who, stats in report.statistics.items()
    }
    if report.stakes is not None:
        level, known, within = report.stakes.level, report.stakes.known, report.stakes.within
        fields["weighed"] = {"level": level, "known": known, "within": within, "costs": report.stakes.costs._asdict()}
    fields["truths"] = [{"sentence": sentence, "known": how} for sentence, how in report.truths]
    fields["notes"] = list(report.notes)
    return fields


def csv_text(game: Game, reports: list[Report]) -> str:
    """Return every number as a line of CSV."""
    out = io.StringIO()
    lines = csv.writer(out, lineterminator="\n")
    lines.writerow(["game", "options", "part", "name", "value", "low", "high", "known", "of"])
    for report in reports:
        head = [game.name, report.title]
        for key, _, _, numbers_of in PARTS:
            lines.writerows([*head, key, name, *number] for name, number in numbers_of(report).items())
        for who, stats in report.statistics.items():
            whole = sum(stats.lengths.values())
            for length, count in stats.lengths.items():
                share = count / whole
                known, of = stats.decisions.known, stats.decisions.of
                lines.writerow([*head, f"length, {who}", length, share, share, share, known, of])
    return out.getvalue()
