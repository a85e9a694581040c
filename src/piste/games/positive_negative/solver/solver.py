"""Positive-Negative, solved: backward induction over decks and leads.

A turn begins with a set of cards in the deck and a difference of scores; nothing else matters (P5). The card that is
drawn in secret (P2) is shown or thrown away before the other player decides anything, so the secret never bears on a
decision. `kernels` computes the value of each set and each lead, set by set from the empty deck up.

Up to 16 cards in the deck are solved when they are asked for. In games of 18 and 20 cards (top 9 and 10) what comes
before, the first moves of a game, is read from a file of the package, which `tools/shipped_solutions.py` writes.
Larger games are estimated by Monte Carlo rollouts with a heuristic, and are exact from about 15 cards on.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from math import comb, sqrt
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from piste.compiled.compile_progress import Shares, compiling
from piste.core import bits
from piste.core.bits import count, signed_value
from piste.core.evaluation import ESTIMATED, EXACT, Chances, Choice, Evaluation, Progress, quiet
from piste.core.game import counted, members
from piste.core.protocols import CHANCE, HIDDEN, SPECTATOR
from piste.games.positive_negative import rules
from piste.games.positive_negative.guarantees import MAX_INTERPRETED_CARDS, MAX_SOLVED_CARDS
from piste.games.positive_negative.rules import DECIDE, DISCARD, DONE, DRAW, KEEP, Options, State
from piste.games.positive_negative.solver import kernels

if TYPE_CHECKING:
    from piste.core.information_set import InformationSet

VERSION = 1
OPENINGS = Path(__file__).with_name("openings.npz")

MAX_CARDS_ON_DEMAND = 16
"""Decks of at most this many cards are solved when they are asked for."""

MAX_WORK_ON_DEMAND = 8_000_000
"""In decks times leads, for the same: with high cards that is one card less."""

KEPT_SIZES = 4
"""Of a deck that is solved on demand, those with so many cards less are kept; smaller ones are soon solved again."""

SPLIT_CARDS = 3
"""Decks of a size are solved in parts, by which of this many cards they have, to hold few of them at a time."""

ROLLOUTS = 100_000
"""How many games an estimate plays out for each decision."""

HEURISTIC_ERROR = 0.005
"""Standard deviation of the heuristic's error: measured at 15 and 16 cards, which can be solved."""

ValueAndDraw = tuple[float, float]
"""The value to the player who is moving or has just moved, from -1 to 1, and the chance of a draw."""

Array = Any


class DeckTable:
    """The values of decks out of a set of cards, for every lead that can come up."""

    def __init__(self, top: int, cards: int, lead: int, smallest: int, offsets: Array, rows: dict[Any, Any]) -> None:
        self.top = top
        self.cards = cards  # the set of cards
        self.lead = lead  # the largest lead with the whole set in the deck
        self.smallest = smallest  # decks with fewer cards are left out
        self.offsets = offsets
        self.rows = rows  # by size of deck and part: where they began, values, chances of a draw
        self._bit = {card: 1 << i for i, card in enumerate(members(cards))}

    def covers(self, deck: int, lead: int) -> bool:
        """Say whether the table has a deck and those with one card less."""
        if deck & ~self.cards or count(deck) <= self.smallest:
            return False
        return abs(lead) <= self.lead + swing(self.top, self.cards & ~deck)

    def after_turn(self, deck: int, lead: int) -> ValueAndDraw:
        """Return the value at the end of a turn."""
        if deck == 0:
            return float((lead > 0) - (lead < 0)), float(lead == 0)
        local = sum(self._bit[card] for card in members(deck))
        half = int(self.offsets[local, kernels.HALF])
        if abs(lead) > half:
            return (1.0, 0.0) if lead > 0 else (-1.0, 0.0)
        begin, worth, draw = self.rows[count(deck), local >> max(len(self._bit) - SPLIT_CARDS, 0)]
        at = int(self.offsets[local, kernels.AT]) - begin + half + lead
        return float(worth[at]), float(draw[at])

    def after_discard(self, deck: int, lead: int) -> ValueAndDraw:
        """Return the value when the first card is discarded and the next one is to be added."""
        if deck == 0:  # P1
            return self.after_turn(deck, lead)
        pairs = [self.after_turn(deck ^ 1 << card, lead + signed_value(self.top, card)) for card in members(deck)]
        return sum(value for value, _ in pairs) / len(pairs), sum(draw for _, draw in pairs) / len(pairs)


class OpeningTable:
    """The values of the decks of a game that are too large to solve when they are asked for."""

    def __init__(self, top: int) -> None:
        self.top = top
        with np.load(OPENINGS) as arrays:
            self.keys, self.worth, self.draw = (arrays[name] for name in ("keys", "worth", "draw"))

    def after_turn(self, deck: int, lead: int) -> ValueAndDraw:
        return self.lookup(opening_key(self.top, 0, deck, lead))

    def after_discard(self, deck: int, lead: int) -> ValueAndDraw:
        return self.lookup(opening_key(self.top, 1, deck, lead))

    def lookup(self, key: int) -> ValueAndDraw:
        at = int(np.searchsorted(self.keys, key))
        if self.keys[at] != key:
            raise KeyError(f"no value for {key:#x}")
        return float(self.worth[at]), float(self.draw[at])


def opening_key(top: int, discarded: int, deck: int, lead: int) -> int:
    """Return the number of a deck and a lead at the end of a turn, or after a discard, in the file of openings."""
    return ((2 * top + discarded) << 2 * top | deck) << 8 | lead + 128


def swing(top: int, cards: int) -> int:
    """Return by how much these cards can change a lead."""
    return sum(abs(signed_value(top, card)) for card in members(cards))


def load_kernels(size: int) -> Any:
    """Return the solver's kernels, compiled unless the deck is small."""
    from piste.compiled.compiler import link_modules

    return link_modules(rules, kernels, compiled=size > MAX_INTERPRETED_CARDS, inline=(bits, kernels))


def solve_decks(top: int, cards: int, lead: int, progress: Progress = quiet, smallest: int = -1) -> DeckTable:
    """Solve every deck out of a set of cards, from the empty one up; keep those of `smallest` cards and more."""
    size = count(cards)
    code = load_kernels(size)
    points = np.array([signed_value(top, card) for card in members(cards)], np.int64)
    swings = np.zeros(1 << size, np.int32)
    code.fill_swings(points, swings)
    offsets = np.zeros((1 << size, 4), np.int32)
    # Decks of a size are solved in parts, by which of the last cards they have, and from the back. A deck follows
    # from decks of its own part and of those before it, so each part needs its space only until that of the next size
    # is done: there is one space more than there are parts.
    low = max(size - SPLIT_CARDS, 0)
    part_count = 1 << (size - low)
    parts = [
        (k, part) for k in range(1, size + 1) for part in reversed(range(part_count)) if 0 <= k - count(part) <= low
    ]
    space = max((code.row_space(k, part, low, lead, swings) for k, part in parts), default=1)
    # Rows fill only as much of the space as is not decided; memory that is never touched is never taken.
    value, draw = np.empty((part_count + 1) * space), np.empty((part_count + 1) * space, np.float32)
    discard, discard_draw = np.empty_like(value), np.empty_like(draw)
    value[0], draw[0], discard[0], discard_draw[0] = 0, 1, 0, 1
    at, spare = space * np.arange(part_count), space * part_count
    rows, done = {}, 1
    for k, part in parts:
        end = code.fill_rows(points, k, part, low, lead, swings, offsets, value, draw, discard, discard_draw, spare)
        if k >= smallest:
            rows[k, part] = spare, value[spare:end].copy(), draw[spare:end].copy()
        at[part], spare = spare, at[part]
        done += comb(low, k - count(part))
        progress(done, 1 << size, "solving")
    return DeckTable(top, cards, lead, smallest, offsets, rows)


def solve_fully(options: Options, progress: Progress = quiet) -> str:
    """Compute the most that a game asks for at once; return a sentence on what is kept."""
    size = 2 * options.top
    if size > MAX_SOLVED_CARDS:
        return (
            f"Nothing to keep: {size} cards are too many to solve at once. Positions with about "
            f"{MAX_CARDS_ON_DEMAND} cards in the deck or fewer are solved exactly when they are asked for; larger "
            "decks are estimated."
        )
    most = min(size, MAX_CARDS_ON_DEMAND)
    table_for(options, (1 << most) - 1, 0, progress)
    before = "" if size == most else " What comes before is part of the package."
    return f"Nothing to keep: at most {most} cards are solved at once, when they are asked for.{before}"


COMPILED = Shares(
    {"fill_rows": 36.1, "add_max_range": 4.6, "add_range": 3.8, "undecided": 2.5, "add_steps": 2.5},
    other=1.2,
    compiled=73.0,
)


def prepare(options: Options, progress: Progress = quiet) -> None:
    """Make what the bot needs: compiled kernels."""
    with compiling(progress, COMPILED):
        if 2 * options.top > MAX_INTERPRETED_CARDS:
            solve_decks(3, rules.every_card(Options(3)), 0)
        if 2 * options.top > MAX_SOLVED_CARDS:
            rollout_values(rules.start(options), 1, 1)


_latest: list[DeckTable] = []
opening_table = cache(OpeningTable)


def table_for(options: Options, deck: int, lead: int, progress: Progress) -> DeckTable | OpeningTable | None:
    """Return a table for a deck and for leads up to this one, or None if it is too large to solve."""
    size = count(deck)
    if size > MAX_CARDS_ON_DEMAND and 2 * options.top <= MAX_SOLVED_CARDS:
        return opening_table(options.top)
    if size > MAX_CARDS_ON_DEMAND or swing(options.top, deck) << size > MAX_WORK_ON_DEMAND:
        return None
    # A game goes on with ever smaller parts of the same deck: the table of the first one has the next of them.
    if not (_latest and _latest[0].top == options.top and _latest[0].covers(deck, lead)):
        _latest[:] = [solve_decks(options.top, deck, lead, progress, size - KEPT_SIZES)]
    return _latest[0]


class ActionValues(NamedTuple):
    """What the seat whose turn it is gets, by decision, or under CHANCE where there is none; and how sure that is."""

    values: dict[int, ValueAndDraw]
    within: float  # of a value, from -1 to 1: half of a 95 % interval; 0.0 if it is exact


def action_values(s: State, progress: Progress = quiet, seed: int = 1, rollouts: int = ROLLOUTS) -> ActionValues:
    """Return what a state is worth to the seat whose turn it is."""
    if s.phase == DONE:
        return ActionValues({CHANCE: (float(rules.payoff(s, s.seat)), float(s.winner == HIDDEN))}, 0.0)
    table = table_for(s.options, s.deck, max_lead(s), progress)
    return rollout_values(s, seed, rollouts) if table is None else table_values(s, table)


def lead_of(s: State) -> int:
    return rules.score(s, s.seat) - rules.score(s, 1 - s.seat)


def max_lead(s: State) -> int:
    """Return the larger of the leads now and with the card in hand."""
    lead = lead_of(s)
    return max(abs(lead), abs(lead + signed_value(s.options.top, s.card))) if s.phase == DECIDE else abs(lead)


def table_values(s: State, table: DeckTable | OpeningTable) -> ActionValues:
    after_turn, after_discard = partial(table.after_turn, s.deck), partial(table.after_discard, s.deck)
    return ActionValues(values_by_action(s, after_turn, after_discard), 0.0)


def rollout_values(s: State, seed: int, rollouts: int) -> ActionValues:
    """Estimate a state by Monte Carlo rollouts, with the same shuffles for both decisions."""
    code = load_kernels(count(s.deck))
    points = np.array([signed_value(s.options.top, card) for card in members(s.deck)], np.int64)

    def mean(forced: int, lead: int) -> ValueAndDraw:
        won, drawn = code.rollouts(points, lead, forced, seed, rollouts)
        return (2 * won + drawn) / rollouts - 1, drawn / rollouts

    values = values_by_action(s, partial(mean, 0), partial(mean, 1))
    variance = max(1 - draw - value**2 for value, draw in values.values())
    return ActionValues(values, 1.96 * sqrt(variance / rollouts + HEURISTIC_ERROR**2))


def values_by_action(
    s: State, after_turn: Callable[[int], ValueAndDraw], after_discard: Callable[[int], ValueAndDraw]
) -> dict[int, ValueAndDraw]:
    """Return the values of a state, given what a lead is worth at the end of a turn and after a discard."""
    lead = lead_of(s)
    if s.phase == DRAW:  # the other player's turn has just ended, with the opposite lead
        value, draw = after_turn(-lead)
        return {CHANCE: (-value, draw)}
    if s.phase == DECIDE:
        return {KEEP: after_turn(lead + signed_value(s.options.top, s.card)), DISCARD: after_discard(lead)}
    return {CHANCE: after_discard(lead)}


def best_action(s: State, actions: ActionValues) -> int:
    """Return the better decision; where both are worth the same, to keep the card."""
    difference = actions.values[KEEP][0] - actions.values[DISCARD][0]
    if actions.within and abs(difference) < 2 * actions.within:
        # So small a difference may be due to the shuffles: the heuristic itself is as good a judge.
        points = [signed_value(s.options.top, card) for card in members(s.deck)]
        sums = sum(points), sum(point**2 for point in points)
        card = signed_value(s.options.top, s.card)
        difference = kernels.heuristic_keeps(len(points), *sums, lead_of(s), card) - 0.5
    return KEEP if difference >= -kernels.TIE else DISCARD


def chances(value: float, draw: float) -> Chances:
    draw = min(draw, 1 - abs(value))  # draws are stored with 7 digits: no chance may come out below 0
    return Chances((1 - draw + value) / 2, draw, (1 - draw - value) / 2)


def evaluate(known: InformationSet, progress: Progress = quiet) -> Evaluation:
    """Return what a position is worth to a seat, as far as it knows it.

    A spectator gets that of the seat whose turn it is, and not which decision suits a card that nobody else sees.
    """
    return evaluation(known, partial(action_values, progress=progress))


def evaluation(known: InformationSet, evaluate_state: Callable[[State], ActionValues]) -> Evaluation:
    """Return the mean evaluation of the states that a seat holds possible."""
    states: dict[State, float] = dict(known.belief.states)
    some = next(iter(states))
    seat = some.seat if known.seat == SPECTATOR else known.seat
    value, draw, within = 0.0, 0.0, 0.0
    choices: tuple[Choice, ...] = ()
    for s, probability in states.items():
        actions = evaluate_state(s)
        best = best_action(s, actions) if s.phase == DECIDE else CHANCE
        value += probability * actions.values[best][0] * (1 if s.seat == seat else -1)
        draw += probability * actions.values[best][1]
        within = max(within, actions.within)
        if s.phase == DECIDE and s.seat == known.seat:
            choices = tuple(
                Choice(action, chances(*actions.values[action]), float(action == best)) for action in (KEEP, DISCARD)
            )
    how = how_known(some, within)
    return Evaluation(seat, chances(value, draw), choices, ESTIMATED if within else EXACT, within / 2, how)


def how_known(s: State, within: float) -> str:
    if s.phase == DONE:
        return "The game is over."
    left = counted(count(s.deck), "card")
    if within:
        return f"Mean of {ROLLOUTS} games played out by a rule of thumb: {left} in the deck are too many to solve."
    return f"Summed over every order in which {left} can still come, with the best decision at each."
