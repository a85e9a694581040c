"""`piste simulate`: many games at once, what came of them, and how sure that is."""

from __future__ import annotations

import argparse
import os
from typing import Any

from piste.cli.commands.listing import put
from piste.cli.commands.play import pairs
from piste.cli.progress_bar import ProgressBar
from piste.cli.terminal import Terminal
from piste.compiled.compiler import policy_names
from piste.compiled.simulate import RANDOM, Share, Tally, can_compile, simulate
from piste.core.errors import OptionError
from piste.core.game import Game, find, quoted

VERSION = 1  # of the JSON
MOST_GAMES = 10**12
PARTS = (0.05, 0.25, 0.5, 0.75, 0.95)


def run(given: argparse.Namespace, screen: Terminal) -> int:
    game = find(given.game)
    if given.policies:
        return policies(game, given, screen)
    options = game.options(pairs(given.set or []))
    games = number("games", given.games, 1, MOST_GAMES)
    most = number("most", given.most, 1, 10**9)
    threads = os.cpu_count() or 1 if given.threads is None else number("threads", given.threads, 1, 1024)
    chosen = seated(game, options, given.policy or [])
    compiled = can_compile() and not given.interpreted
    if not compiled and not given.interpreted:
        screen.note("Compiled play is not installed, so this runs interpreted: pip install 'piste[fast]'")
    with ProgressBar("playing") as bar:
        tally = simulate(
            game, options, games,
            seed=given.seed, policies=chosen, threads=threads, compiled=compiled, most=most, progress=bar,
        )  # fmt: skip
    if given.json:
        return put(screen, document(game, options, given.seed, chosen, games, tally))
    show(game, tally, chosen, games, most, screen)
    return 0 if tally.games == games else 130


def policies(game: Game, given: argparse.Namespace, screen: Terminal) -> int:
    """List the policies of a game."""
    module = game.policies
    lines = {RANDOM: "Take any decision, all equally likely."}
    lines |= {name: (getattr(module, name).__doc__ or "").split("\n")[0] for name in policy_names(game)}
    if given.json:
        return put(screen, {"policies": lines})
    for name, line in lines.items():
        screen.line(f"{name}: {line}")
    return 0


def number(what: str, text: str, low: int, high: int) -> int:
    if text.isascii() and text.isdigit() and len(text) < 20 and low <= int(text) <= high:
        return int(text)
    raise OptionError(f"--{what} cannot be {quoted(text)}: it is a whole number from {low} to {high}.")


def seated(game: Game, options: Any, given: list[str]) -> list[str]:
    """Return each seat's policy; one that is given alone is for every seat."""
    seats = game.rules.seats(options)
    if len(given) == 1:
        return given * seats
    if len(given) not in (0, seats):
        raise OptionError(
            f"Give --policy once for all, or once for each of the {seats} seats; it was given {len(given)} times."
        )
    return given or [RANDOM] * seats


def show(game: Game, tally: Tally, chosen: list[str], wanted: int, most: int, screen: Terminal) -> None:
    if tally.games < wanted:
        screen.note(f"Stopped after {tally.games:,} of {wanted:,} games; this is what they came to.")
    screen.line(f"{game.notation.TITLE}: {many(tally.games, 'game')}")
    if tally.unfinished == tally.games:
        why = f": each was given up after {most:,} steps (--most)" if tally.games else ""
        screen.line(f"No game was finished{why}.")
        return
    for seat, wins in enumerate(tally.wins):
        screen.line(f"  {game.seat_name(seat)} ({chosen[seat]}) wins {percent(tally.share(wins))}")
    if tally.draws:
        screen.line(f"  draws {percent(tally.share(tally.draws))}")
    if tally.unfinished:
        screen.line(f"  not finished {percent(tally.share(tally.unfinished))}")
    screen.line("Ends")
    for reason, count in tally.reasons.items():
        screen.line(f"  {game.notation.REASONS[reason]}: {percent(tally.share(count))}")
    mean, half = tally.length
    screen.line("Decisions in a game")
    screen.line(f"  on average {mean:.2f} ± {half:.2f}")
    screen.line("  " + ", ".join(f"{part:.0%} have at most {tally.quantile(part)}" for part in PARTS))
    screen.line("In brackets, and after ±: where the true number lies 19 times out of 20.")


def many(n: int, thing: str) -> str:
    """Return a number that may be large, with its noun."""
    return f"{n:,} {thing}{'' if n == 1 else 's'}"


def percent(share: Share) -> str:
    return f"{100 * share.share:.2f} % ({100 * share.low:.2f} to {100 * share.high:.2f})"


def document(game: Game, options: Any, seed: str, chosen: list[str], wanted: int, tally: Tally) -> dict[str, Any]:
    mean, half = tally.length if tally.unfinished < tally.games else (None, None)
    turns, turns_half = tally.mean_turns if tally.unfinished < tally.games else (None, None)
    return {
        "version": VERSION,
        "game": game.name,
        "options": options._asdict(),
        "option_texts": game.option_texts(options),
        "seed": seed,
        "policies": chosen,
        "games": tally.games,
        "asked": wanted,
        "wins": [tally.share(wins)._asdict() for wins in tally.wins],
        "draws": tally.share(tally.draws)._asdict(),
        "unfinished": tally.share(tally.unfinished)._asdict(),
        "reasons": {game.notation.REASONS[r]: tally.share(count)._asdict() for r, count in tally.reasons.items()},
        "steps": tally.steps,
        "decisions": {
            "total": tally.decisions,
            "mean": mean,
            "within": half,
            "quantiles": {str(part): None if mean is None else tally.quantile(part) for part in PARTS},
            "counts": tally.lengths,
        },
        "turns": {"total": tally.turns, "mean": turns, "within": turns_half},
    }
