"""`piste match`: bots against bots with the seats swapped, or every level against every level."""

from __future__ import annotations

import argparse
from typing import Any

from piste import bots
from piste.analysis.arena.match import Result, Score, Time, against, effort, ladder, pairings, play, with_turn_limit
from piste.analysis.engine import Engine, open_engine
from piste.cli.arguments import option_pairs, whole_number, worker_count
from piste.cli.output import count_text, print_json, share_rows, share_text
from piste.cli.progress_bar import ProgressBar
from piste.cli.terminal import Terminal
from piste.core.errors import OptionError
from piste.core.game import Game, find

DEFAULT_GAMES, DEFAULT_GAMES_EACH = "200", "100"
MAX_GAMES = 10**9
INTERVAL_NOTE = "In brackets: where the true share lies 19 times out of 20."


def run(args: argparse.Namespace, terminal: Terminal) -> int:
    game = find(args.game)
    options = with_turn_limit(game, option_pairs(args.set))
    games = whole_number("games", args.games or (DEFAULT_GAMES_EACH if args.all else DEFAULT_GAMES), 1, MAX_GAMES)
    if args.all:
        return match_levels(game, options, games, args, terminal)
    if len(args.bots) != 2:
        raise OptionError(f"A match is between two bots: piste match {game.name} steady random. Or give --all.")
    with ProgressBar("playing") as bar, opened(args) as engine:
        specs = [bots.level_of(bot) for bot in args.bots]
        result = play(game, options, specs, games, args.seed, progress=bar, engine=engine)
    if args.json:
        print_json(terminal, document(result), version=1)
    else:
        show(game, result, terminal)
    return 130 if result.stopped else 0


def opened(args: argparse.Namespace) -> Engine:
    return open_engine(args.engine, worker_count("processes", args.processes))


def match_levels(game: Game, options: Any, games: int, args: argparse.Namespace, terminal: Terminal) -> int:
    """Let every level play every level, and show the table."""
    if args.bots:
        raise OptionError("With --all every level plays every other, so no bot is to be named.")
    levels, refused = bots.playable(game, options)
    missing = [str(why) for why in refused]
    if missing and not args.json:
        terminal.note("\n".join(missing))
    with ProgressBar("playing") as bar, opened(args) as engine:
        results = ladder(game, options, levels, games, args.seed, progress=bar, engine=engine)
    unfinished = pairings(game, options, levels)[sum(not result.stopped for result in results) :]
    if args.json:
        rows = [document(result) for result in results]
        left = [list(pair) for pair in unfinished]
        fields = {"levels": levels, "missing": missing, "matches": rows, "unfinished": left}
        print_json(terminal, fields, version=1)
    else:
        if unfinished:
            terminal.note(stopped_text(game, options, results, unfinished))
        show_table(game, options, results, levels, terminal)
    return 130 if unfinished else 0


def stopped_text(game: Game, options: Any, results: list[Result], unfinished: list[tuple[str, str]]) -> str:
    """Say which matches of all that were to be played are finished, and which are not."""

    def paired(pairs: list[tuple[str, str]]) -> str:
        return ", ".join(" against ".join(bots.shown(game, bot, options) for bot in pair) for pair in pairs)

    done = [result.specs for result in results if not result.stopped]
    begun = next((result for result in results if result.stopped), None)
    waiting = unfinished[1:] if begun else unfinished
    lines = [f"Stopped after {len(done)} of {len(done) + len(unfinished)} matches."]
    if done:
        lines.append(f"Finished: {paired(done)}.")
    if begun:
        lines.append(f"Begun: {paired([begun.specs])}, {begun.games:,} of {begun.asked:,} games.")
    if waiting:
        lines.append(f"Not begun: {paired(waiting)}.")
    return "\n".join(lines)


def game_title(game: Game, options: Any) -> str:
    changed = game.option_texts(options, changed_only=True)
    return " ".join([game.notation.TITLE, *(f"{key}={value}" for key, value in changed.items())])


def show(game: Game, result: Result, terminal: Terminal) -> None:
    one, two = (bots.shown(game, spec, result.options) for spec in result.specs)
    if result.stopped:
        terminal.note(f"Stopped after {result.games:,} of {result.asked:,} games; this is what they came to.")
    others = two if result.seats == 2 else f"{result.seats - 1} times {two}"
    games, deals = count_text(result.games, "game"), count_text(result.games // result.seats, "deal")
    title = game_title(game, result.options)
    terminal.line(f"{title}: {one} against {others}, {games} ({deals}, each from every seat)")
    score = result.score(0)
    terminal.line(f"  {one} wins {share_text(score.won)}")
    terminal.line(f"  {two} wins {share_text(score.lost)}")
    if score.drawn.of:
        terminal.line(f"  drawn {share_text(score.drawn)}")
    if score.rounds is not None:
        terminal.line(f"  {one} wins {share_text(score.rounds)} of the rounds")
    terminal.line("CPU time of a decision")
    for spec, time in zip(result.specs, result.times, strict=True):
        terminal.line(f"  {bots.described(game, spec, result.options)}: {cpu_text(spec, time)}")
    terminal.line(INTERVAL_NOTE)


def cpu_text(spec: str, time: Time) -> str:
    if bots.is_program(spec):
        return "its own affair"
    if not time.decisions:
        return "none was made"
    return f"{1000 * time.mean:.2f} ms on average, {1000 * time.worst:.2f} ms at most"


def show_table(game: Game, options: Any, results: list[Result], levels: list[str], terminal: Terminal) -> None:
    """Show what each level won against each other, and how its play is known."""
    scores = against(results)
    games = sum(result.games for result in results)
    level_names = {level: bots.shown(game, level, options) for level in levels}
    terminal.line(f"{game_title(game, options)}: {count_text(games, 'game')}, % won by the row against the column")
    wide = max(map(len, level_names.values()))
    terminal.lines(share_rows(level_names, {pair: score.won.share for pair, score in scores.items()}, wide))
    if any(score.drawn.of for score in scores.values()):
        terminal.line("% drawn")
        terminal.lines(share_rows(level_names, {pair: score.drawn.share for pair, score in scores.items()}, wide))
    terminal.line("CPU time of a decision")
    for level in levels:
        terminal.line(f"  {bots.described(game, level, options)}: {cpu_text(level, effort(results, level))}")
    if scores:
        widest = max(score.won.high - score.won.low for score in scores.values())
        terminal.line(
            f"A share of wins is known to about ± {50 * widest:.1f}, 19 times out of 20; --json has the intervals."
        )


def document(result: Result) -> dict[str, Any]:
    return {
        "game": result.game,
        "options": result.options._asdict(),
        "seed": result.seed,
        "seats": result.seats,
        "games": result.games,
        "asked": result.asked,
        "players": [
            {"bot": spec, **shares(result.score(player)), "cpu": cpu(spec, time)}
            for player, (spec, time) in enumerate(zip(result.specs, result.times, strict=True))
        ],
    }


def shares(score: Score) -> dict[str, Any]:
    return {key: None if value is None else value._asdict() for key, value in score._asdict().items()}


def cpu(spec: str, time: Time) -> dict[str, float] | None:
    """Return a player's CPU time; that of a program of its own is not seen."""
    if bots.is_program(spec):
        return None
    return {"decisions": time.decisions, "mean": time.mean, "worst": time.worst}
