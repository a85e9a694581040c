"""Positive-Negative, solved: everything but the card in hand is public, so it is a sum over decks and leads.

A turn begins with a set of cards in the deck and a difference of scores; nothing else matters (P5). The card that is
drawn in secret (P2) is shown or thrown away before the other player decides anything, so the secret never bears on a
decision. `sweep` computes what each set and each lead is worth, set by set from the empty deck up.

Up to 16 cards in the deck are solved when they are asked for. In games of 18 and 20 cards (top 9 and 10) the rows of
16 cards and more are computed once and kept, a few MB. Larger games are estimated by playing them out with a rule of
thumb, and are exact from about 15 cards on.
"""

from __future__ import annotations

from math import comb, sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from piste.compiled.compile_progress import Shares, compiling
from piste.core import bits
from piste.core.bits import count
from piste.core.evaluation import ESTIMATED, EXACT, Chances, Choice, Evaluation, Progress, quiet
from piste.core.game import counted, members
from piste.core.protocols import CHANCE, HIDDEN, SPECTATOR
from piste.games.positive_negative import rules
from piste.games.positive_negative.guarantees import AT_MOST
from piste.games.positive_negative.rules import DECIDE, DISCARD, DONE, DRAW, KEEP, Options, State
from piste.games.positive_negative.solver import kernels
from piste.games.positive_negative.solver.requirements import INTERPRETED

if TYPE_CHECKING:
    from piste.core.information_set import InformationSet

VERSION = 1

AT_ONCE = 16
"""So many cards in the deck are solved when they are asked for."""

WORK = 8_000_000
"""So many decks times leads are solved when they are asked for: with high cards that is one card less."""

SPLIT = 3
"""Decks of a size are done in parts by which of so many cards they have, to hold few of them at a time."""


GAMES = 100_000
"""How many games an estimate plays out for each decision."""

THUMB = 0.005
"""How far the rule of thumb is off, as a standard deviation: measured at 15 and 16 cards, which can be solved."""

Worth = tuple[float, float]
"""What a position is worth to the player who is moving or has just moved, and the chance of a draw."""

Array = Any


class Rows:
    """What every deck out of a set of cards is worth at the end of a turn, for every lead that can come up."""

    def __init__(self, top: int, whole: int, lead: int, smallest: int, arrays: dict[str, Array]) -> None:
        self.top = top
        self.whole = whole  # the set of cards
        self.lead = lead  # the largest lead with the whole set in the deck
        self.smallest = smallest  # decks with fewer cards are not in here
        self.arrays = arrays
        self._bit = {card: 1 << i for i, card in enumerate(members(whole))}

    def holds(self, deck: int, lead: int) -> bool:
        """Say whether these rows answer for a deck that is about to be drawn from, twice if need be."""
        if deck & ~self.whole or (self.smallest and count(deck) <= self.smallest):
            return False
        return abs(lead) <= self.lead + swing(self.top, self.whole & ~deck)

    def settled(self, deck: int, lead: int) -> Worth:
        """Return the worth at the end of a turn."""
        if deck == 0:
            return float((lead > 0) - (lead < 0)), float(lead == 0)
        local = sum(self._bit[card] for card in members(deck))
        row = int(np.searchsorted(self.arrays["decks"], local)) if "decks" in self.arrays else local
        half, at = int(self.arrays["half"][row]), int(self.arrays["at"][row])
        if abs(lead) > half:
            return (1.0, 0.0) if lead > 0 else (-1.0, 0.0)
        return float(self.arrays["worth"][at + half + lead]), float(self.arrays["draw"][at + half + lead])

    def risked(self, deck: int, lead: int) -> Worth:
        """Return the worth when the first card is discarded and the next one is to be added."""
        if deck == 0:  # P1
            return self.settled(deck, lead)
        found = [self.settled(deck ^ 1 << card, lead + rules.value(self.top, card)) for card in members(deck)]
        return sum(worth for worth, _ in found) / len(found), sum(draw for _, draw in found) / len(found)


def swing(top: int, cards: int) -> int:
    """Return by how much these cards can change a lead."""
    return sum(abs(rules.value(top, card)) for card in members(cards))


def loops(size: int) -> Any:
    """Return the loops of `sweep`, compiled unless there is little to do."""
    from piste.compiled.compiler import link_modules

    return link_modules(rules, kernels, compiled=size > INTERPRETED, inline=(bits, kernels))


def climb(top: int, whole: int, lead: int, smallest: int, progress: Progress = quiet) -> Rows:
    """Solve every deck out of a set of cards, from the empty one up; keep the rows of `smallest` cards and more."""
    size = count(whole)
    run = loops(size)
    points = np.array([rules.value(top, card) for card in members(whole)], np.int64)
    sums = np.zeros(1 << size, np.int32)
    run.add_up(points, sums)
    places = np.zeros((1 << size, 4), np.int32)
    # Decks of a size are done in parts, by which of the last cards they have, and from the back. A deck follows from
    # decks of its own part and of those before it, so each part needs its place only until that of the next size is
    # done: there is one place more than there are parts.
    low = max(size - SPLIT, 0)
    several = 1 << (size - low)
    parts = [
        (k, part) for k in range(1, size + 1) for part in reversed(range(several)) if 0 <= k - count(part) <= low
    ]
    room = max((run.room(k, part, low, lead, sums) for k, part in parts), default=1)
    # Rows fill only as much of the room as is not decided; memory that is never touched is never taken.
    worth, draw = np.empty((several + 1) * room), np.empty((several + 1) * room, np.float32)
    risked, risked_draw = np.empty_like(worth), np.empty_like(draw)
    worth[0], draw[0], risked[0], risked_draw[0] = 0, 1, 0, 1
    at, spare = room * np.arange(several), room * several
    kept = {} if smallest else {(0, 0): (0, worth[:1].copy(), draw[:1].copy())}
    done = 1
    for k, part in parts:
        end = run.fill(points, k, part, low, lead, sums, places, worth, draw, risked, risked_draw, spare)
        if k >= smallest:
            kept[k, part] = spare, worth[spare:end].copy(), draw[spare:end].copy()
        at[part], spare = spare, at[part]
        done += comb(low, k - count(part))
        progress(done, 1 << size, "solving")
    del worth, draw, risked, risked_draw
    return Rows(top, whole, lead, smallest, joined(kept, places, low, smallest))


def joined(
    kept: dict[tuple[int, int], tuple[int, Array, Array]], places: Array, low: int, smallest: int
) -> dict[str, Array]:
    """Return rows, given by size of deck and part with the place where they began, one after the other."""
    sizes = np.zeros(len(places), np.int8)
    for i in range(count(len(places) - 1)):
        sizes[1 << i : 2 << i] = sizes[: 1 << i] + 1
    moved = np.zeros((sizes[-1] + 1, len(places) >> low), np.int64)
    length = 0
    for key in sorted(kept):
        begin, rows, _ = kept[key]
        moved[key] = length - begin
        length += len(rows)
    decks = np.flatnonzero(sizes >= smallest)
    arrays = {
        "worth": np.concatenate([kept[key][1] for key in sorted(kept)]),
        "draw": np.concatenate([kept[key][2] for key in sorted(kept)]),
        "at": places[decks, kernels.AT] + moved[sizes[decks], decks >> low],
        "half": places[decks, kernels.HALF].astype(np.int16),
    }
    return {**arrays, "decks": decks} if smallest else arrays


def stamp() -> str:
    return f"rules {rules.VERSION} solver {VERSION}"


def name(options: Options) -> str:
    return f"positive-negative top={options.top}"


def solve_fully(options: Options, progress: Progress = quiet) -> str:
    """Compute what is computed once, and keep it."""
    size = 2 * options.top
    if size <= AT_ONCE:
        return f"Nothing to keep: with {size} cards everything is solved when it is asked for."
    if size > AT_MOST:
        return (
            f"Nothing to keep: {size} cards are too many to solve at once. Positions with about {AT_ONCE} cards in "
            "the deck or fewer are solved exactly when they are asked for; larger decks are estimated."
        )
    from piste.compiled import table_cache

    found = _books[options] = climb(options.top, rules.every_card(options), 0, AT_ONCE, progress)
    kept = table_cache.save(name(options), stamp(), found.arrays)
    return (
        f"Solved all {1 << size} decks; the rows of {AT_ONCE} cards and more are kept in {kept.folder}, "
        f"{kept.size / 1e6:.1f} MB. Smaller decks are solved when they are asked for."
    )


COMPILED = Shares(
    {"fill": 12.8, "add_part": 4.0, "add_better": 2.5, "undecided": 1.5, "add_steps": 1.4, "room": 1.3},
    other=0.5, compiled=34.0, rest=35.0,
)  # fmt: skip


def prepare(options: Options, progress: Progress = quiet) -> None:
    """Make what the bot needs: compiled loops, and the kept rows, loaded or computed."""
    with compiling(progress, COMPILED) as told:
        if 2 * options.top > INTERPRETED:
            climb(3, rules.every_card(Options(3)), 0, 0)
        if AT_ONCE < 2 * options.top <= AT_MOST:
            book(options, told)
        elif 2 * options.top > AT_MOST:
            sampled(rules.start(options), 0, 0, 1, 1)


_books: dict[Options, Rows] = {}
_latest: list[Rows] = []


def book(options: Options, progress: Progress = quiet) -> Rows:
    """Return the kept rows of large decks; they are computed if they are not there, or damaged."""
    from piste.compiled import table_cache

    if options not in _books:
        stored = table_cache.load(name(options), stamp())
        try:
            if stored is not None:
                arrays = {part: stored.read(part) for part in ("worth", "draw", "decks", "at", "half")}
                _books[options] = Rows(options.top, rules.every_card(options), 0, AT_ONCE, arrays)
        except table_cache.DamagedTableError:
            stored = None
        if stored is None:
            _books[options] = climb(options.top, rules.every_card(options), 0, AT_ONCE, progress)
            table_cache.try_save(name(options), stamp(), _books[options].arrays)
    return _books[options]


def rows_for(options: Options, deck: int, lead: int, progress: Progress) -> Rows | None:
    """Return rows that answer for a deck and for leads up to this one, or None if it is too large to solve."""
    size = count(deck)
    if size > AT_ONCE and 2 * options.top <= AT_MOST:
        return book(options, progress)
    if size > AT_ONCE or swing(options.top, deck) << size > WORK:
        return None
    # A game goes on with ever smaller parts of the same deck: the rows of the first one answer for all of them.
    if not (_latest and _latest[0].top == options.top and _latest[0].holds(deck, lead)):
        _latest[:] = [climb(options.top, deck, lead, 0, progress)]
    return _latest[0]


class Judged(NamedTuple):
    """What the seat whose turn it is gets, by decision, or under CHANCE where there is none; and how sure that is."""

    worth: dict[int, Worth]
    within: float  # of a worth, from -1 to 1: half of a 95 % interval; 0.0 if it is exact


def judge(s: State, progress: Progress = quiet, seed: int = 1, games: int = GAMES) -> Judged:
    """Work out what a state is worth to the seat whose turn it is."""
    top, deck = s.options.top, s.deck
    lead = rules.score(s, s.seat) - rules.score(s, 1 - s.seat)
    if s.phase == DONE:
        return Judged({CHANCE: (float(rules.payoff(s, s.seat)), float(s.winner == HIDDEN))}, 0.0)
    after = lead + rules.value(top, s.card) if s.phase == DECIDE else lead
    rows = rows_for(s.options, deck, max(abs(lead), abs(after)), progress)
    if rows is None:
        return sampled(s, lead, after, seed, games)
    if s.phase == DRAW:
        # The other player's turn has just ended, with the opposite lead.
        worth, draw = rows.settled(deck, -lead)
        return Judged({CHANCE: (-worth, draw)}, 0.0)
    if s.phase == DECIDE:
        return Judged({KEEP: rows.settled(deck, after), DISCARD: rows.risked(deck, lead)}, 0.0)
    return Judged({CHANCE: rows.risked(deck, lead)}, 0.0)


def sampled(s: State, lead: int, after: int, seed: int, games: int) -> Judged:
    """Estimate a state by playing it out, with the same shuffles for both decisions."""
    run = loops(count(s.deck))
    points = np.array([rules.value(s.options.top, card) for card in members(s.deck)], np.int64)

    def mean(lead: int, risked: int) -> Worth:
        won, drawn = run.play_many(points, lead, risked, seed, games)
        return (2 * won + drawn) / games - 1, drawn / games

    if s.phase == DRAW:
        worth, draw = mean(-lead, 0)
        found = {CHANCE: (-worth, draw)}
    elif s.phase == DECIDE:
        found = {KEEP: mean(after, 0), DISCARD: mean(lead, 1)}
    else:
        found = {CHANCE: mean(lead, 1)}
    worst = max(1 - draw - worth**2 for worth, draw in found.values())
    return Judged(found, 1.96 * sqrt(worst / games + THUMB**2))


def decide(s: State, judged: Judged) -> int:
    """Return the better decision; where both are worth the same, to keep the card."""
    more = judged.worth[KEEP][0] - judged.worth[DISCARD][0]
    if judged.within and abs(more) < 2 * judged.within:
        # So small a difference may be due to the shuffles: the rule of thumb itself is as good a judge.
        points = [rules.value(s.options.top, card) for card in members(s.deck)]
        sums = sum(points), sum(point**2 for point in points)
        lead = rules.score(s, s.seat) - rules.score(s, 1 - s.seat)
        more = kernels.thumb_keeps(len(points), *sums, lead, rules.value(s.options.top, s.card)) - 0.5
    return KEEP if more >= -kernels.TIE else DISCARD


def chances(worth: float, draw: float) -> Chances:
    draw = min(draw, 1 - abs(worth))  # draws are kept with 7 digits: no chance may come out below 0
    return Chances((1 - draw + worth) / 2, draw, (1 - draw - worth) / 2)


def evaluate(known: InformationSet, progress: Progress = quiet) -> Evaluation:
    """Say what a position is worth to a seat that knows so much of it.

    A watcher is told about the one whose turn it is, and not which decision suits a card that nobody else sees.
    """
    states: dict[State, float] = dict(known.belief.states)
    some = next(iter(states))
    seat = some.seat if known.seat == SPECTATOR else known.seat
    worth, draw, within = 0.0, 0.0, 0.0
    choices: tuple[Choice, ...] = ()
    for s, likely in states.items():
        judged = judge(s, progress)
        best = decide(s, judged) if s.phase == DECIDE else CHANCE
        worth += likely * judged.worth[best][0] * (1 if s.seat == seat else -1)
        draw += likely * judged.worth[best][1]
        within = max(within, judged.within)
        if s.phase == DECIDE and s.seat == known.seat:
            choices = tuple(
                Choice(action, chances(*judged.worth[action]), float(action == best)) for action in (KEEP, DISCARD)
            )
    return Evaluation(
        seat, chances(worth, draw), choices, ESTIMATED if within else EXACT, within / 2, told(some, within)
    )


def told(s: State, within: float) -> str:
    """Say how a verdict is known."""
    if s.phase == DONE:
        return "The game is over."
    left = counted(count(s.deck), "card")
    if within:
        return f"Mean of {GAMES} games played out by a rule of thumb: {left} in the deck are too many to solve."
    return f"Summed over every order in which {left} can still come, with the best decision at each."
