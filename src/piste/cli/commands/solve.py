"""`piste solve`: what a position is worth, what each decision is worth, and how that is known."""

from __future__ import annotations

import argparse
from typing import Any

from piste.cli.arguments import option_pairs
from piste.cli.background import WorkMessages, work
from piste.cli.output import print_json
from piste.cli.terminal import Terminal, complain
from piste.core.errors import OptionError, PositionError
from piste.core.evaluation import (
    ESTIMATED,
    VERSION,
    WITHIN,
    Chances,
    Choice,
    Evaluation,
    Progress,
    Unit,
    described,
)
from piste.core.extras import need, solver_of, solving
from piste.core.game import Game, find, quoted
from piste.core.information_set import InformationSet
from piste.core.position import Position
from piste.core.protocols import OVER

STOPPED = "Stopped before it was solved. What was prepared for it is kept."


def run(args: argparse.Namespace, terminal: Terminal) -> int:
    game = find(args.game)
    options = game.options(option_pairs(args.set))
    if args.full:
        if args.position is not None:
            raise OptionError("--full is for the whole game: leave --position out.")
        need(solving(game, options))
        return run_full(game, options, args, terminal)
    if args.set and args.position is not None:
        raise OptionError("A position names its own options, in braces: leave --set out.")
    known = read(game, options, args.position, args.seat)
    need(solving(game, known.base.state.options))
    verdict = described(work(WorkMessages("solving", stopped=STOPPED), evaluate, game.name, known), known)
    if args.json:
        return print_json(terminal, verdict.document())
    show(game, verdict, terminal)
    return 0


def evaluate(game: str, known: InformationSet, progress: Progress) -> Evaluation:
    """Return what is known of a position; called in the worker."""
    verdict: Evaluation = solver_of(find(game), known.base.state.options).evaluate(known, progress)
    return verdict


def solve_fully(game: str, options: Any, progress: Progress) -> str:
    """Compute whatever is to be computed once; called in the worker."""
    return str(solver_of(find(game), options).solve_fully(options, progress))


def run_full(game: Game, options: Any, args: argparse.Namespace, terminal: Terminal) -> int:
    """Compute whatever is to be computed once; an interrupted run goes on where it was."""
    try:
        summary = work(WorkMessages("solving"), solve_fully, game.name, options, gently=True)
    except KeyboardInterrupt:
        complain("Stopped. What is done is kept where the game allows it; the same command goes on.")
        return 130
    if args.json:
        return print_json(terminal, {"game": game.name, "full": summary}, version=VERSION)
    terminal.line(summary)
    return 0


def read(game: Game, options: Any, text: str | None, seat: str | None) -> InformationSet:
    """Return what is asked about: a position all know, what a seat knows, or the start for the player who begins."""
    if text is not None and "|" in text:
        known = InformationSet.parse(text)
        if seat is not None:
            raise OptionError("This text says already which seat it is about: leave --seat out.")
    else:
        position = start_position(game, options) if text is None else Position.parse(text)
        known = common_knowledge(position, seat)
    if known.base.game.name != game.name:
        raise PositionError(f"This is a position of {known.base.game.notation.TITLE}, not of {game.notation.TITLE}.")
    if game.rules.to_act(next(iter(known.belief.states))) == OVER:
        raise PositionError("The game is over in this position.")
    return known


def start_position(game: Game, options: Any) -> Position:
    """Return the start of a game; where a toss would decide who begins, the first seat does."""
    if getattr(options, "first", 1) == 0:
        options = options._replace(first=1)
    return Position(game, game.rules.start(options))


def common_knowledge(position: Position, named: str | None) -> InformationSet:
    """Return a position that everybody knows, for the seat to act, or whose turn it is while chance acts."""
    game, state = position.game, position.state
    names = [game.seat_name(i) for i in range(game.rules.seats(state.options))]
    if named is not None and named not in names:
        raise OptionError(f"There is no seat {quoted(named)} here; the seats are {', '.join(names)}.")
    return InformationSet.common(position, None if named is None else names.index(named))


def show(game: Game, verdict: Evaluation, terminal: Terminal) -> None:
    terminal.whole(verdict.position)
    who = game.seat_name(verdict.seat)
    terminal.line(f"Player {who} {worth_text(verdict)}{certainty(verdict)}")
    mixed = sum(choice.mix > 0 for choice in verdict.choices) > 1
    best = verdict.best.value if verdict.choices else 0.0
    for choice in sorted(verdict.choices, key=lambda choice: -choice.value):
        note = f", {100 * choice.mix:.1f} % of the mix" if mixed else ""
        terminal.line(f"  {choice.name}: {worth_text(choice)}{note}{less_text(choice, best)}")
    terminal.line(verdict.how)


def chances_text(chances: Chances) -> str:
    draws = f", draws {100 * chances.draw:.2f} %" if chances.draw >= 5e-5 else ""
    return f"wins {100 * chances.win:.2f} %{draws}, loses {100 * chances.loss:.2f} %"


def worth_text(worth: Evaluation | Choice) -> str:
    """Return the expected payoff, if the game pays other amounts than for a win and for a loss, and the chances."""
    chances = chances_text(worth.chances)
    return chances if worth.payoff is None else f"expects {worth.payoff.mean:+.4f}: {chances}"


def less_text(choice: Choice, best: float) -> str:
    """Return how much less a decision is worth than the best one."""
    less = best - choice.value
    if choice.payoff is not None:
        return f", {less * choice.payoff.largest:.4f} less" if less * choice.payoff.largest >= 0.00005 else ""
    return f", {50 * less:.2f} points less" if 50 * less >= 0.005 else ""


def certainty(verdict: Evaluation) -> str:
    """Return how a value is known, in one word, and by how much it may be off."""
    if verdict.known in (WITHIN, ESTIMATED):
        sign = "within" if verdict.known == WITHIN else "estimated ±"
        return f" ({sign} {Unit.of(verdict.payoff).bound(verdict.within)})"
    return f" ({verdict.known})"
