"""Simulation of many games, in threads: counts of results with their intervals.

The games of a seed are numbered, and each has a generator of its own, so any number of threads plays the same games
and gives the same counts.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
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
MAX_STEPS = 1_000_000
"""A game that has not ended after so many steps is counted as unfinished."""

BLOCK_GAMES, BLOCK_GAMES_INTERPRETED = 4096, 16
"""Games played in one call of a kernel, between two reports of progress."""

SPREAD_BLOCKS = 16
"""So many of these are one piece of work where they are played elsewhere."""

MAX_LENGTH = 4096
"""Longer games, in decisions, are counted together."""

MAX_REASONS = 16
COUNTER_SIZES = (k.N_COUNTS, 4, MAX_REASONS, MAX_LENGTH)

Z_95 = 1.959964
"""Standard deviations on either side of the mean that hold 95 % of a normal distribution."""


Spread = Callable[[Callable[..., Any], Iterable[tuple[Any, ...]]], Iterator[Any]]
"""Has a function called with each of some arguments, wherever that is, and yields what it returns, in order."""

Counts = list[Any]
"""Sums, wins, reasons and lengths: integer arrays, or lists where numpy is missing."""


class Share(NamedTuple):
    """A count out of a number of games, with its 95 % interval (Wilson's)."""

    of: int
    share: float
    low: float
    high: float


class Tally(NamedTuple):
    """The counts of many games."""

    games: int
    unfinished: int
    wins: tuple[int, ...]  # for each seat
    draws: int
    reasons: dict[int, int]
    steps: int
    decisions: int
    length_sum: int  # decisions in finished games
    squares: int  # the sum of the squares of their numbers of decisions
    lengths: dict[int, int]  # finished games by number of decisions; the last entry counts longer ones too
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
        """Return the length that a share `part` of the finished games do not exceed."""
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
    """Return a count as a share of all games, with its 95 % interval."""
    p = count / games if games else 0.0
    return Share(count, p, *wilson_interval(p, p * (1 - p), games))


def wilson_interval(mean: float, variance: float, n: int) -> tuple[float, float]:
    """Return Wilson's 95 % interval for a mean between 0 and 1.

    Wilson's formula is that of wins and losses alone, where the variance is mean * (1 - mean). Draws make the
    variance smaller, and with it the interval.
    """
    if n == 0:
        return 0.0, 1.0
    middle = (mean + Z_95 * Z_95 / (2 * n)) / (1 + Z_95 * Z_95 / n)
    half = Z_95 * sqrt(variance / n + Z_95 * Z_95 / (4 * n * n)) / (1 + Z_95 * Z_95 / n)
    low = 0.0 if mean == 0.0 else min(mean, max(0.0, middle - half))
    return low, 1.0 if mean == 1.0 else max(mean, min(1.0, middle + half))


def seed_number(seed: str) -> int:
    """Return the seed of the generators from the text of a seed."""
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
    most: int = MAX_STEPS,
    progress: Callable[[int, int], None] | None = None,
    spread: Spread | None = None,
) -> Tally:
    """Play many games and return their counts; Ctrl-C ends it early with the counts so far.

    A policy is a name, or a function in the part of Python that numba compiles; seats without one play at random.
    `progress` is called with the games done and the games in all. `spread` has large blocks of games played
    elsewhere, instead of in threads.
    """
    if games < 0 or threads < 1 or most < 1:
        raise OptionError("Games cannot be fewer than 0, and there must be at least one thread and one step.")
    player = _Player(game, options, policies, seed, compiled, most)

    def tell(done: int) -> None:
        if progress is not None:
            progress(done, games)

    block = BLOCK_GAMES if compiled else BLOCK_GAMES_INTERPRETED
    blocks = range(0, games, block)
    total = _counts(compiled)
    try:
        if spread is not None:
            size = block * SPREAD_BLOCKS
            tasks = (
                (game, options, tuple(policies), seed, compiled, most, first, min(first + size, games))
                for first in range(0, games, size)
            )
            for done, part in enumerate(spread(play_block, tasks), 1):
                total = [_added(sums, more) for sums, more in zip(total, part, strict=True)]
                tell(min(done * size, games))
        elif threads == 1 or not compiled:
            for done, first in enumerate(blocks, 1):
                player.play(first, min(first + block, games), total)
                tell(min(done * block, games))
        else:

            def play(first: int) -> Counts:
                return player.play(first, min(first + block, games), _counts(compiled))

            with ThreadPoolExecutor(threads) as pool:
                left = iter(blocks)
                waiting = deque(pool.submit(play, first) for first in islice(left, 2 * threads))
                done = 0
                while waiting:
                    total = [sums + part for sums, part in zip(total, waiting.popleft().result(), strict=True)]
                    waiting.extend(pool.submit(play, first) for first in islice(left, 1))
                    done += 1
                    tell(min(done * block, games))
    except KeyboardInterrupt:
        pass  # the counts so far are returned
    return _tally([[int(value) for value in counts] for counts in total], game.rules.seats(options))


class _Player:
    """Plays the games of a seed by their numbers, and adds up what came of them."""

    def __init__(
        self, game: Game, options: Any, policies: Sequence[str | Policy], seed: str, compiled: bool, most: int
    ) -> None:
        own = tuple(policy for policy in policies if callable(policy))
        self._numbers = _policy_numbers(game, options, policies)
        fixed = options if compiled and options == game.options() else None  # what most people play has its own code
        self._space = game_kernels(game, compiled=compiled, own=own, options=fixed)
        self._options, self._seed, self._most = options, seed_number(seed), most
        plain = game_kernels(game, compiled=False)  # compiling what runs once would take longer
        self._opening = _zeros(plain.opening_size(options), compiled)
        plain.fill_opening(options, self._opening)

    def play(self, first: int, last: int, counts: Counts) -> Counts:
        self._space.play_games(
            self._options, self._numbers, self._seed, first, last, self._most, self._opening, *counts
        )
        return counts


def play_block(
    game: Game, options: Any, policies: Sequence[str], seed: str, compiled: bool, most: int, first: int, last: int
) -> Counts:
    """Play the games from one number to another, wherever this is called, and return their counts."""
    return _Player(game, options, policies, seed, compiled, most).play(first, last, _counts(compiled))


def _added(one: Any, two: Any) -> Any:
    return [a + b for a, b in zip(one, two, strict=True)] if isinstance(one, list) else one + two


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


def _policy_numbers(game: Game, options: Any, policies: Sequence[str | Policy]) -> tuple[int, ...] | None:
    """Return the number of each seat's policy, 0 for random play; None if all play at random."""
    known: list[str | Policy] = [RANDOM, *policy_names(game), *(policy for policy in policies if callable(policy))]
    seats = game.rules.seats(options)
    if len(policies) > seats:
        raise OptionError(f"{game.notation.TITLE} has {seats} seats here, and {len(policies)} policies were given.")
    for policy in policies:
        if policy not in known:
            names = ", ".join((RANDOM, *policy_names(game)))
            raise UnknownNameError(
                f"There is no policy {quoted(str(policy))} for {game.notation.TITLE}. There are: {names}."
            )
    numbers = [known.index(policy) for policy in policies]
    return (*numbers, *[0] * (4 - len(numbers))) if any(numbers) else None


def _counts(compiled: bool) -> Counts:
    return [_zeros(n, compiled) for n in COUNTER_SIZES]


def _zeros(n: int, compiled: bool) -> Any:
    if not compiled:
        return [0] * n
    import numpy as np

    return np.zeros(n, np.int64)
