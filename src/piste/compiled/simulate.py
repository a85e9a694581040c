"""Games by the million: play them in threads, count what came of them, and say how sure the counts are.

The games of a seed are numbered, and each has a generator of its own, so any number of threads plays the same games
and the counts come out the same.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from hashlib import blake2b
from itertools import islice
from math import sqrt
from typing import Any, NamedTuple

from piste.compiled import kernels as k
from piste.compiled.compiler import Policy, game_kernels, policy_names
from piste.core.errors import OptionError, UnknownNameError
from piste.core.extras import COMPILED, has
from piste.core.game import Game, quoted

RANDOM = "random"
MOST = 1_000_000
"""A game that has not ended after so many steps is counted as unfinished."""

BLOCK = 4096
"""So many games are played in one go before progress is told."""

BLOCK_INTERPRETED = 16

LENGTHS = 4096
"""Games of so many decisions or more are counted together."""

REASONS = 16
SIZES = (k.N_COUNTS, 4, REASONS, LENGTHS)


Counts = list[Any]
"""Sums, wins, reasons and lengths: arrays of whole numbers, or lists where numpy is not there."""


class Share(NamedTuple):
    """A count out of a number of games, with its 95 % interval (Wilson's)."""

    of: int
    share: float
    low: float
    high: float


class Tally(NamedTuple):
    """What came of many games."""

    games: int
    unfinished: int
    wins: tuple[int, ...]  # for each seat
    draws: int
    reasons: dict[int, int]
    steps: int
    decisions: int
    length_sum: int  # decisions in finished games
    squares: int  # the sum of the squares of their numbers of decisions
    lengths: dict[int, int]  # how many finished games had so many decisions; the last entry stands for more, too
    turns: int = 0  # in finished games: by the game's own count, else how often the seat that decides changed
    turn_squares: int = 0

    def share(self, count: int) -> Share:
        return share(count, self.games)

    @property
    def length(self) -> tuple[float, float]:
        """The mean number of decisions in a finished game, and the half-width of its 95 % interval."""
        return _mean(self.length_sum, self.squares, self.games - self.unfinished)

    @property
    def mean_turns(self) -> tuple[float, float]:
        """The mean number of turns in a finished game, and the half-width of its 95 % interval."""
        return _mean(self.turns, self.turn_squares, self.games - self.unfinished)

    def quantile(self, part: float) -> int:
        """Return a length that this part of the finished games do not exceed."""
        wanted = part * (self.games - self.unfinished)
        seen = 0
        for length in sorted(self.lengths):
            seen += self.lengths[length]
            if seen >= wanted:
                return length
        return max(self.lengths, default=0)


def _mean(total: int, squares: int, n: int) -> tuple[float, float]:
    if n == 0:
        return 0.0, 0.0
    mean = total / n
    spread = max(squares / n - mean * mean, 0.0) * n / max(n - 1, 1)
    return mean, 1.96 * sqrt(spread / n)


def share(count: int, games: int) -> Share:
    """Return a count as a part of all games, with the interval in which the true part lies 19 times out of 20."""
    if games == 0:
        return Share(0, 0.0, 0.0, 1.0)
    z, p = 1.959964, count / games
    middle = (p + z * z / (2 * games)) / (1 + z * z / games)
    half = z * sqrt(p * (1 - p) / games + z * z / (4 * games * games)) / (1 + z * z / games)
    low = 0.0 if count == 0 else max(0.0, middle - half)
    return Share(count, p, low, 1.0 if count == games else min(1.0, middle + half))


def seed_number(seed: str) -> int:
    """Return the number that a seed's text stands for."""
    return int.from_bytes(blake2b(seed.encode(), digest_size=8).digest(), "big") >> 2


def can_compile() -> bool:
    """Say whether compiled play is installed."""
    return has(COMPILED)


def simulate(
    game: Game,
    options: Any,
    games: int,
    *,
    seed: str = "piste",
    policies: Sequence[str | Policy] = (),
    threads: int = 1,
    compiled: bool = True,
    most: int = MOST,
    progress: Callable[[int, int], None] | None = None,
) -> Tally:
    """Play many games and return what came of them; Ctrl-C ends it early with what there is so far.

    A policy is named, or is a function of one's own in the part of Python that numba compiles; seats without one
    play at random. `progress` is told how many games of how many are done.
    """
    if games < 0 or threads < 1 or most < 1:
        raise OptionError("Games cannot be fewer than 0, and there must be at least one thread and one step.")
    own = tuple(policy for policy in policies if callable(policy))
    chosen = _numbers(game, options, policies)
    space = game_kernels(game, compiled=compiled, own=own)
    number = seed_number(seed)
    opening = _opening(space, options, compiled)

    def play(first: int, counts: Counts) -> Counts:
        last = min(first + block, games)
        if any(chosen):
            space.policy_games(options, chosen, number, first, last, most, opening, *counts)
        else:
            space.random_games(options, number, first, last, most, opening, *counts)
        return counts

    def tell(done: int) -> None:
        if progress is not None:
            progress(done, games)

    block = BLOCK if compiled else BLOCK_INTERPRETED
    blocks = range(0, games, block)
    total = _counts(compiled)
    try:
        if threads == 1 or not compiled:
            for done, first in enumerate(blocks, 1):
                play(first, total)
                tell(min(done * block, games))
        else:
            with ThreadPoolExecutor(threads) as pool:
                left = iter(blocks)
                waiting = deque(pool.submit(play, first, _counts(compiled)) for first in islice(left, 2 * threads))
                done = 0
                while waiting:
                    total = [sums + part for sums, part in zip(total, waiting.popleft().result(), strict=True)]
                    waiting.extend(pool.submit(play, first, _counts(compiled)) for first in islice(left, 1))
                    done += 1
                    tell(min(done * block, games))
    except KeyboardInterrupt:
        pass  # what there is so far is worth having
    return _tally([[int(value) for value in counts] for counts in total], game.rules.seats(options))


def _tally(total: list[list[int]], seats: int) -> Tally:
    sums, wins, reasons, lengths = total
    return Tally(
        games=sums[k.N_GAMES],
        unfinished=sums[k.N_UNFINISHED],
        wins=tuple(wins[:seats]),
        draws=sums[k.N_DRAWS],
        reasons={reason: count for reason, count in enumerate(reasons) if count},
        steps=sums[k.N_STEPS],
        decisions=sums[k.N_DECISIONS],
        length_sum=sums[k.N_LENGTH],
        squares=sums[k.N_SQUARES],
        lengths={length: count for length, count in enumerate(lengths) if count},
        turns=sums[k.N_TURNS],
        turn_squares=sums[k.N_TURN_SQUARES],
    )


def _numbers(game: Game, options: Any, policies: Sequence[str | Policy]) -> tuple[int, int, int, int]:
    """Return the number of each seat's policy; 0 is random play."""
    named = policy_names(game)
    seats = game.rules.seats(options)
    if len(policies) > seats:
        raise OptionError(f"{game.notation.TITLE} has {seats} seats here, and {len(policies)} policies were given.")
    found = [0, 0, 0, 0]
    own = len(named)
    for seat, policy in enumerate(policies):
        if callable(policy):
            own += 1
            found[seat] = own
        elif policy in named:
            found[seat] = 1 + named.index(policy)
        elif policy != RANDOM:
            known = ", ".join((RANDOM, *named))
            raise UnknownNameError(
                f"There is no policy {quoted(policy)} for {game.notation.TITLE}. There are: {known}."
            )
    return (found[0], found[1], found[2], found[3])


def _opening(space: Any, options: Any, compiled: bool) -> Any:
    opening = _zeros(space.opening_size(options), compiled)
    space.fill_opening(options, opening)
    return opening


def _counts(compiled: bool) -> Counts:
    return [_zeros(n, compiled) for n in SIZES]


def _zeros(n: int, compiled: bool) -> Any:
    if not compiled:
        return [0] * n
    import numpy as np

    return np.zeros(n, np.int64)
