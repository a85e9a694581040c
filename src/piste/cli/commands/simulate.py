"""`piste simulate`: many games at once, what came of them, and how sure that is."""

from __future__ import annotations

import argparse
from contextlib import ExitStack
from typing import Any

from piste.analysis.engine import LOCAL, open_engine
from piste.cli.arguments import option_pairs, whole_number, worker_count
from piste.cli.output import count_text, print_json, share_text
from piste.cli.progress_bar import ProgressBar
from piste.cli.terminal import Terminal
from piste.compiled.compiler import policy_names
from piste.compiled.simulate import RANDOM, Tally, can_compile, simulate
from piste.core.errors import OptionError
from piste.core.game import Game, find

MAX_GAMES = 10**12
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


def run(args: argparse.Namespace, terminal: Terminal) -> int:
    game = find(args.game)
    if args.policies:
        return list_policies(game, args, terminal)
    options = game.options(option_pairs(args.set))
    games = whole_number("games", args.games, 1, MAX_GAMES)
    max_steps = whole_number("most", args.most, 1, 10**9)
    threads = worker_count("threads", args.threads)
    chosen = seat_policies(game, options, args.policy or [])
    compiled = can_compile() and not args.interpreted
    if not compiled and not args.interpreted:
        terminal.note("Compiled play is not installed, so this runs interpreted: pip install 'piste[fast]'")
    with ProgressBar("playing") as bar, ExitStack() as stack:
        engine = None if args.engine in (None, LOCAL) else stack.enter_context(open_engine(args.engine, threads))
        tally = simulate(
            game, options, games,
            seed=args.seed, policies=chosen, threads=threads, compiled=compiled, most=max_steps, progress=bar,
            spread=None if engine is None else engine.in_order,
        )  # fmt: skip
    if args.json:
        return print_json(terminal, document(game, options, args.seed, chosen, games, tally), version=1)
    show(game, tally, chosen, games, max_steps, terminal)
    return 0 if tally.games == games else 130


def list_policies(game: Game, args: argparse.Namespace, terminal: Terminal) -> int:
    """List the policies of a game."""
    module = game.policies
    lines = {RANDOM: "Take any decision, all equally likely."}
    lines |= {name: (getattr(module, name).__doc__ or "").split("\n")[0] for name in policy_names(game)}
    if args.json:
        return print_json(terminal, {"policies": lines})
    for name, line in lines.items():
        terminal.line(f"{name}: {line}")
    return 0


def seat_policies(game: Game, options: Any, policies: list[str]) -> list[str]:
    """Return each seat's policy; a single one is for every seat."""
    seats = game.rules.seats(options)
    if len(policies) == 1:
        return policies * seats
    if len(policies) not in (0, seats):
        raise OptionError(
            f"Give --policy once for all, or once for each of the {seats} seats; it was given {len(policies)} times."
        )
    return policies or [RANDOM] * seats


def show(game: Game, tally: Tally, chosen: list[str], wanted: int, max_steps: int, terminal: Terminal) -> None:
    if tally.games < wanted:
        terminal.note(f"Stopped after {tally.games:,} of {wanted:,} games; this is what they came to.")
    terminal.line(f"{game.notation.TITLE}: {count_text(tally.games, 'game')}")
    if tally.unfinished == tally.games:
        why = f": each was given up after {max_steps:,} steps (--most)" if tally.games else ""
        terminal.line(f"No game was finished{why}.")
        return
    for seat, wins in enumerate(tally.wins):
        terminal.line(f"  {game.seat_name(seat)} ({chosen[seat]}) wins {share_text(tally.share(wins))}")
    if tally.draws:
        terminal.line(f"  draws {share_text(tally.share(tally.draws))}")
    if tally.unfinished:
        terminal.line(f"  not finished {share_text(tally.share(tally.unfinished))}")
    terminal.line("Ends")
    for reason, count in tally.reasons.items():
        terminal.line(f"  {game.notation.REASONS[reason]}: {share_text(tally.share(count))}")
    mean, half = tally.length
    terminal.line("Decisions in a game")
    terminal.line(f"  on average {mean:.2f} ± {half:.2f}")
    terminal.line("  " + ", ".join(f"{part:.0%} have at most {tally.quantile(part)}" for part in QUANTILES))
    terminal.line("In brackets, and after ±: where the true number lies 19 times out of 20.")


def document(game: Game, options: Any, seed: str, chosen: list[str], wanted: int, tally: Tally) -> dict[str, Any]:
    mean, half = tally.length if tally.unfinished < tally.games else (None, None)
    turns, turns_half = tally.mean_turns if tally.unfinished < tally.games else (None, None)
    return {
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
            "quantiles": {str(part): None if mean is None else tally.quantile(part) for part in QUANTILES},
            "counts": tally.lengths,
        },
        "turns": {"total": tally.turns, "mean": turns, "within": turns_half},
    }
