"""Prime Duel: its solver. docs/solve/prime-duel.md says what is solved, how, and what it costs."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from piste.compiled.compile_progress import Shares, compiling
from piste.core.bits import lane_one
from piste.core.dealer import RandomStream
from piste.core.evaluation import ESTIMATED, EXACT, WITHIN, Chances, Choice, Evaluation, Progress, quiet
from piste.core.game import members
from piste.core.information_set import InformationSet
from piste.core.protocols import HIDDEN, OVER, SPECTATOR
from piste.games.prime_duel import rules
from piste.games.prime_duel.cost_model import far
from piste.games.prime_duel.guarantees import SMALL, VERSION, plain, size
from piste.games.prime_duel.rules import DECIDE, Options, State, View
from piste.games.prime_duel.solver import tablebase
from piste.games.prime_duel.solver.requirements import INTERPRETED
from piste.games.prime_duel.solver.score_pairs import COARSE, FINE, MOST_CARDS, Decks, Pool, needed, steps
from piste.games.prime_duel.solver.value_sources import (
    Alone,
    Limited,
    Model,
    Pair,
    Source,
    Tail,
    Whole,
    chances,
    counts,
    empties_from,
    is_compiled,
    loops,
    next_lines,
    turned,
)

HEAVY = True
"""`solve_fully` takes minutes and gigabytes: it is measured only when it is asked for by name."""

OFF = 0.06
"""At the sheet's size, with 14 cards left or more, the model is off by less than this in 95 % of positions."""

FAR = 0.0002
"""How much it matters to leave out a turn limit that is `far`: the model's draws in other sizes came to less."""


class Effort(NamedTuple):
    """How much may be computed, in positions."""

    small: int  # a game with so many is solved whole
    tail: int  # so many may follow before the reshuffle
    model: int  # steps of a model with a turn limit


def effort(code: Any) -> Effort:
    return Effort(SMALL, 3_000_000, 8_000_000) if is_compiled(code) else Effort(INTERPRETED, 5_000, 200_000)


WORTH_IT = 5
"""How many times as much may be computed of a deck when what follows it is known."""

PATIENT = 100
"""How many times as much a verdict may compute as a bot's decision."""


class Judged(NamedTuple):
    """Where a value comes from."""

    source: Source
    turns: int  # how many draws are looked ahead before the source is asked
    known: str
    within: float
    how: str


def state_of(view: View) -> State:
    """Return the state that a seat sees: nothing in this game is hidden (Q5)."""
    v = view
    return State(v.options, v.phase, v.seat, v.scores, v.deck, v.card, v.extra, v.turns, v.winner, v.reason)


@lru_cache(maxsize=2)
def whole(options: Options) -> Whole:
    """Return a small game solved completely."""
    code, decks = loops(), Decks(counts(options, rules.whole_deck(options)))
    order = list(steps(options, needed(options, [(0, 0)])))
    pool = Pool(code, options, decks, order, keep=True)
    for number in range(len(order)):
        pool.work(number)
    return Whole(options, decks, pool.place, pool.high)


@lru_cache(maxsize=2)
def limited(options: Options) -> Limited:
    """Return a small game with a turn limit solved completely."""
    return Limited(loops(), options, options.turns)


@lru_cache(maxsize=64)
def model(options: Options, deck: int, least: int, left: int) -> Model:
    return Model(loops(), options, deck, least, left)


def judged(s: State, patience: int = 1, progress: Progress = quiet, *, full: bool = True) -> Judged:
    """Return the best source for a position, with the full solution if it was made and may be used."""
    code, options = loops(), s.options
    limits, least = effort(code), min(s.scores)
    left = options.turns - s.turns if options.turns else 0
    if options.turns and size(options) * options.turns <= limits.small:
        return Judged(limited(options), 0, EXACT, 0.0, "Every position of this game was worked out, turn by turn.")
    if options.turns and left < far(options):
        if (options.target - least) ** 2 * left * 2 * options.top <= limits.model:
            how = "A model was solved in which every draw has the odds of the deck as it is, by turns left."
            return Judged(model(options, s.deck, least, left), 0, ESTIMATED, OFF, how)
        how = "Each player's chance to reach the target in time was worked out by itself, with the deck as it is."
        return Judged(Alone(code, options, s.deck, left), 0, ESTIMATED, 0.5, how)
    bare, limit, estimate, off = plain(options), "", "", 0.0
    if options.turns:
        limit = " The turn limit was left out: it is so far that hardly a game reaches it."
        estimate, off = ESTIMATED, FAR
    if size(bare) <= limits.small:
        how = "Every position of this game was worked out."
        return Judged(whole(bare), 0, estimate or EXACT, off, how + limit)
    table = tablebase.table(bare) if full else None
    if table is not None and table.near(s):
        how = "It stands in the full solution."
        return Judged(table, 0, estimate or WITHIN, tablebase.ROUNDED + off, how + limit)
    decks = int(np.prod(np.array(counts(options, s.deck)) + 1))
    most = limits.tail * patience * (WORTH_IT if table is not None else 1)
    work = decks * (options.target - s.scores[0]) * (options.target - s.scores[1])
    if work <= most:
        roots, beyond = next_lines(s), table or model(bare, rules.whole_deck(bare), 0, 0)
        empties = empties_from(bare, beyond) if table is None else table.empties
        grain = COARSE if work > limits.tail * WORTH_IT and sum(counts(options, s.deck)) <= MOST_CARDS else FINE
        tail = Tail(code, bare, s.deck, roots, beyond, empties, grain=grain, progress=_tail_progress(progress))
        if table is not None:
            how = "Worked out to the last card of this deck; what follows the reshuffle stands in the full solution."
            return Judged(tail, 0, estimate or WITHIN, tablebase.ROUNDED + off, how + limit)
        how = "Worked out to the last card of this deck; what follows the reshuffle was taken from a model."
        return Judged(tail, 0, ESTIMATED, OFF + off, how + limit)
    if table is not None:
        how = "From a formula that was fitted to the full solution, after looking a turn ahead."
        return Judged(table, 1, ESTIMATED, tablebase.OFF + off, how + limit)
    how = "A model was solved in which every draw has the odds of the deck as it is."
    return Judged(model(bare, s.deck, least, 0), 0, ESTIMATED, OFF + off, how + limit)


def _tail_progress(progress: Progress) -> Any:
    return lambda done, of: progress(done, of, "working out this deck")


def decisions(s: State, *, full: bool = True) -> dict[int, Pair]:
    """Return each decision of the player to act with the chances to win and to lose after it."""
    return _decisions(s, judged(s, full=full))


def _decisions(s: State, found: Judged) -> dict[int, Pair]:
    return {
        action: chances(rules.apply(s, action), s.seat, found.source, found.turns)
        for action in members(rules.legal(s))
    }


def by_odds(s: State) -> dict[int, Pair]:
    """Return the decisions as somebody sees them who counts the cards, but not that they run out: by the model."""
    code, options, least = loops(), s.options, min(s.scores)
    left = options.turns - s.turns if options.turns else 0
    if left >= far(options):
        left = 0
    if left and (options.target - least) ** 2 * left * 2 * options.top > effort(code).model:
        return _decisions(s, Judged(Alone(code, options, s.deck, left), 0, ESTIMATED, 0.5, ""))
    source = model(options if left else plain(options), s.deck, least, left)
    return _decisions(s, Judged(source, 0, ESTIMATED, OFF, ""))


def pick(found: dict[int, Pair], stream: RandomStream) -> int:
    """Return the best decision; of those that are equally good, any."""
    best = max(win - loss for win, loss in found.values())
    good = [action for action, (win, loss) in found.items() if win - loss == best]
    return good[stream.below(len(good))]


def evaluate(known: InformationSet, progress: Progress = quiet) -> Evaluation:
    """Say what a position is worth to the seat that asks, and how that is known."""
    (s,) = known.belief.states  # nothing is hidden
    seat = s.seat if known.seat == SPECTATOR else known.seat
    if rules.to_act(s) == OVER:
        pair = chances(s, seat, model(plain(s.options), 0, s.options.target, 0))
        return Evaluation(seat, _chances(pair), (), EXACT, 0.0, "The game is over.")
    found = judged(s, PATIENT, progress)
    if s.phase == DECIDE:
        each = _decisions(s, found)
        best = max(each, key=lambda action: each[action][0] - each[action][1])
        choices = tuple(
            Choice(action, _chances(pair if s.seat == seat else turned(pair)), float(action == best))
            for action, pair in each.items()
        )
        pair = each[best] if s.seat == seat else turned(each[best])
        return Evaluation(
            seat, _chances(pair), choices if s.seat == seat else (), found.known, found.within, found.how
        )
    pair = chances(s, seat, found.source, found.turns)
    return Evaluation(seat, _chances(pair), (), found.known, found.within, found.how)


def _chances(pair: Pair) -> Chances:
    return Chances(pair[0], max(0.0, 1.0 - pair[0] - pair[1]), pair[1])


HIGH = 100
"""With targets above this the end of a deck takes long to work out."""

COMPILED = Shares({"sweep_lines": 28.2, "model": 7.8, "fetch": 6.8, "model_side": 4.0}, other=1.9, compiled=65.0)


def prepare(options: Options, progress: Progress = quiet) -> None:
    """Make what decisions need: compile the loops, solve a small game."""
    with compiling(progress, COMPILED):
        s = rules.start(options._replace(first=1))
        first = rules.apply(s, members(rules.outcomes(s))[0])
        if first.phase == DECIDE:
            decisions(first)
        # The end of a deck has loops of its own: compile them now and not in somebody's game.
        # With a high target to work it out takes minutes, which only a decision may ask for.
        small = options if options.target <= HIGH else Options()
        few = sum(lane_one(i) for i in range(min(small.top, 3)))
        decisions(State(small, DECIDE, 0, (0, 0), few, 0, 0, 0, HIDDEN, 0), full=small is options)


def solve_fully(options: Options, progress: Progress = quiet) -> str:
    """Work out the whole game once and keep what bots and verdicts need of it; can be interrupted and resumed."""
    bare = plain(options)
    if size(bare) <= effort(loops()).small:
        whole(bare)
        return "This game is so small that it is solved whenever it is needed: nothing has to be kept."
    return tablebase.solve(bare, loops(), progress)


__all__ = [
    "VERSION",
    "by_odds",
    "decisions",
    "evaluate",
    "far",
    "pick",
    "plain",
    "prepare",
    "size",
    "solve_fully",
    "state_of",
]
