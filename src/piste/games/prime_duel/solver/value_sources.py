"""Prime Duel: what positions are worth, by the rules and one of several sources for positions before a draw.

Everything between one draw and the next follows from the rules: `chances` walks it. What remains is a *source*: it
says what a position before a draw is worth to the player who is to draw.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

import numpy as np

from piste.core.bits import lane, lane_one
from piste.core.game import members
from piste.core.protocols import OVER
from piste.games.prime_duel import rules
from piste.games.prime_duel.rules import DECIDE, DRAW, Options, State
from piste.games.prime_duel.solver import kernels
from piste.games.prime_duel.solver.kernels import Array
from piste.games.prime_duel.solver.score_pairs import Decks, Empty, Line, Pool, follows, needed, steps

Pair = tuple[float, float]
"""The chances to win and to lose."""


class Source(Protocol):
    """Says what positions before a draw are worth."""

    def draw(self, s: State) -> Pair:
        """Return the chances of the player who is to draw."""


def turned(pair: Pair) -> Pair:
    return (pair[1], pair[0])


def chances(s: State, seat: int, source: Source, turns: int = 0) -> Pair:
    """Return a seat's chances; through so many draws at the beginning of a turn before the source is asked."""
    if rules.to_act(s) == OVER:
        paid = rules.payoff(s, seat)
        return (float(paid > 0), float(paid < 0))
    if s.phase == DECIDE:
        found = [chances(rules.apply(s, action), s.seat, source, turns) for action in members(rules.legal(s))]
        best = max(found, key=lambda pair: pair[0] - pair[1])
        return best if s.seat == seat else turned(best)
    if s.phase == DRAW:
        if turns == 0:
            pair = source.draw(s)
            return pair if s.seat == seat else turned(pair)
        turns -= 1
    win = loss = total = 0.0
    for outcome in members(rules.outcomes(s)):
        many = rules.weight(s, outcome)
        pair = chances(rules.apply(s, outcome), seat, source, turns)
        win, loss, total = win + many * pair[0], loss + many * pair[1], total + many
    return (win / total, loss / total)


def loops() -> Any:
    """Return the solver's loops, compiled if that is possible."""
    from piste.compiled.compiler import link_modules

    return link_modules(rules, kernels)


def is_compiled(code: Any) -> bool:
    return hasattr(code.model, "py_func")


def counts(options: Options, deck: int) -> list[int]:
    return [lane(deck, i) for i in range(options.top)]


def line_of(s: State) -> Line:
    return (s.scores[s.seat], s.scores[1 - s.seat])


def primes(target: int) -> Array:
    return np.array([rules.is_prime(n) for n in range(target + 1)], np.int64)


class Model:
    """A small model: as if every card had the same odds for ever, most of them those of the deck as it is."""

    MIX = 0.1
    """How much a whole deck counts beside the deck that is there; it is what comes after it."""

    def __init__(self, code: Any, options: Options, deck: int, least: int, left: int) -> None:
        """`left` is how many turns are left, 0 if there is no limit."""
        self.options = options
        whole = counts(options, rules.whole_deck(options))
        mixed = np.array(counts(options, deck), np.float64) + self.MIX * np.array(whole)
        odds, prime, target = mixed / mixed.sum(), primes(options.target), options.target
        self.left = left
        if left:
            self.wins: Array = np.zeros((2, target, target))
            self.losses: Array = np.zeros((2, target, target))
            code.limited_model(odds, prime, least, left, self.wins, self.losses)
        else:
            self.values: Array = np.zeros((target, target))
            code.model(odds, prime, least, self.values, np.zeros((target, target + 1)))

    def draw(self, s: State) -> Pair:
        a, b = line_of(s)
        if self.left:
            left = (self.options.turns - s.turns) % 2
            return (float(self.wins[left, a, b]), float(self.losses[left, a, b]))
        win = float(self.values[a, b])
        return (win, 1.0 - win)


class Alone:
    """A rougher model, for high targets with a turn limit: each player for himself against the clock."""

    def __init__(self, code: Any, options: Options, deck: int, left: int) -> None:
        self.options = options
        mixed = np.array(counts(options, deck or rules.whole_deck(options)), np.float64)
        self.reach: Array = np.zeros((left // 2 + 2, options.target))
        code.alone(mixed / mixed.sum(), primes(options.target), left // 2 + 1, self.reach)

    def draw(self, s: State) -> Pair:
        (a, b), left = line_of(s), self.options.turns - s.turns
        mine, others = float(self.reach[(left + 1) // 2, a]), float(self.reach[left // 2, b])
        return (mine * (1 - others / 2), others * (1 - mine / 2))  # as if either could be the first


class Whole:
    """All positions of a game that is small enough to be held."""

    def __init__(self, options: Options, decks: Decks, place: Mapping[Line, int], values: Array) -> None:
        self.options, self.decks, self.place, self.values = options, decks, place, values

    def draw(self, s: State) -> Pair:
        win = float(self.values[self.place[line_of(s)], self.decks.number(counts(self.options, s.deck))])
        return (win, 1.0 - win)


class Limited:
    """All positions of a small game with a turn limit, by how many turns are left."""

    def __init__(self, code: Any, options: Options, left: int) -> None:
        self.options, copies = options, np.array(counts(options, rules.whole_deck(options)), np.int64)
        self.decks = Decks(copies)
        self.lines = [line for step in steps(options, needed(options, [(0, 0)])) for line in step]
        self.place = {line: i for i, line in enumerate(self.lines)}
        n = len(self.lines)
        self.wins: Array = np.zeros(((left + 1) * n, self.decks.total))
        self.losses: Array = np.zeros(((left + 1) * n, self.decks.total))
        second = np.zeros((2, self.decks.total))
        for t in range(1, left + 1):
            for line in self.lines:
                after = [follows(options, line, i) for i in range(options.top)]
                slots = [self._slot(to, t - 1 if passed else t) for to, passed in after]
                past = [line[0] + i + 1 > options.target for i in range(options.top)]
                code.limited_line(
                    self.wins, self.losses, self._slot(line, t), np.array(slots, np.int64),
                    np.array([passed for _, passed in after], np.int64), np.array(past, np.int64), copies, second,
                )  # fmt: skip

    def _slot(self, line: Line | None, left: int) -> int:
        if line is None:
            return -1
        return left * len(self.lines) + self.place[line] if left else -2

    def draw(self, s: State) -> Pair:
        slot = self._slot(line_of(s), self.options.turns - s.turns)
        number = self.decks.number(counts(self.options, s.deck))
        return (float(self.wins[slot, number]), float(self.losses[slot, number]))


class Tail:
    """What is left of a deck, worked out to its last card; another source knows what comes after the reshuffle."""

    def __init__(
        self,
        code: Any,
        options: Options,
        deck: int,
        roots: Iterable[Line],
        beyond: Source,
        empties: Callable[[Iterable[Line]], Mapping[Line, Empty]],
        *,
        grain: int = kernels.FINE,
        progress: Callable[[int, int], None] = lambda *_: None,
    ) -> None:
        self.options, self.decks, self.beyond = options, Decks(counts(options, deck)), beyond
        self.roots = set(roots)
        lines = needed(options, self.roots)
        order = list(steps(options, lines))
        pool = Pool(code, options, self.decks, order, keep=False, grain=grain, empty=empties(lines))
        self.found: dict[Line, Array] = {}

        def look(line: Line, slot: int, _: Array) -> None:
            if line in self.roots:
                high = pool.high[slot].astype(np.float64)
                self.found[line] = high if grain == kernels.FINE else (high * 256.0 + pool.low[slot]) / pool.one

        for number in range(len(order)):
            pool.work(number, look)
            progress(number + 1, len(order))

    def draw(self, s: State) -> Pair:
        left = np.array(counts(self.options, s.deck))
        if (left > self.decks.counts).any():
            return self.beyond.draw(s)  # there was a reshuffle on the way
        win = float(self.found[line_of(s)][self.decks.number(left)])
        return (win, 1.0 - win)


def next_lines(s: State) -> set[Line]:
    """Return the lines of the positions before a draw that come next."""
    if rules.to_act(s) == OVER:
        return set()
    if s.phase == DRAW:
        return {line_of(s)}
    actions = rules.legal(s) if s.phase == DECIDE else rules.outcomes(s)
    return {line for action in members(actions) for line in next_lines(rules.apply(s, action))}


def empties_from(options: Options, source: Source) -> Callable[[Iterable[Line]], dict[Line, Empty]]:
    """Return a function that says what lines are worth with an empty deck, if this source knows whole decks."""

    def at(line: Line, deck: int) -> float:
        return source.draw(State(options, DRAW, 0, line, deck, -1, 0, 0, -1, 0))[0]

    def empties(lines: Iterable[Line]) -> dict[Line, Empty]:
        whole = rules.whole_deck(options)
        each = [(i, whole - lane_one(i)) for i in range(options.top)]
        found = {}
        for line in lines:
            second = 0.0
            for i, deck in each:
                to, other = follows(options, line, i)
                chance = 1.0 if to is None else at(to, deck)
                second += (1.0 - chance if other else chance) / options.top
            found[line] = Empty(at(line, whole), second)
        return found

    return empties
