"""Matches: two bots, many deals, every deal played from every seat.

A deal has a number. The cards and the random choices of the bots come from the seed and that number alone, so any
number of processes plays the same games, and results are returned in the order of the deals.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass, field
from itertools import combinations, permutations
from typing import Any, NamedTuple

from piste import bots
from piste.analysis.arena.chunks import Pace
from piste.analysis.arena.game_play import BeforeDecision, Time, play_game, play_out
from piste.analysis.engine import Engine, checkpoint, open_engine
from piste.compiled.simulate import Share, share
from piste.core.errors import OptionError, PisteError, is_interrupt
from piste.core.evaluation import Progress, quiet
from piste.core.game import Game
from piste.core.worker_process import WorkerDiedError

__all__ = ["BeforeDecision", "Match", "Outcome", "Result", "Time", "ladder", "play", "play_out"]

DEFAULT_SEED = "match"
DEFAULT_TURN_LIMIT = 200
"""Of games that could otherwise be endless (G2)."""


Times = tuple[Time, Time]


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one game ended. How long it took does not count in comparisons."""

    deal: int
    seat: int  # of the first player
    winner: int | None  # a seat, or None for a draw
    rounds: tuple[int, ...]  # won by each seat, where a game has rounds
    turns: int = 0
    times: Times = field(default=(Time(), Time()), compare=False)
    payoffs: tuple[int, ...] = ()  # of each seat

    @property
    def decisions(self) -> int:
        return sum(time.decisions for time in self.times)


Deal = tuple[Outcome, ...]
"""A deal, played from every seat."""


class Score(NamedTuple):
    """The result of a match for one of the two players; shares have Wilson's 95 % interval."""

    won: Share
    drawn: Share
    lost: Share
    rounds: Share | None  # won, of all rounds that were won


@dataclass(frozen=True)
class Result:
    """A match. Two are equal if the same games ended in the same way."""

    game: str
    options: Any
    specs: tuple[str, str]
    seats: int
    seed: str
    asked: int
    """How many games were asked for; fewer were played if the match was interrupted."""
    outcomes: tuple[Outcome, ...]

    @property
    def games(self) -> int:
        return len(self.outcomes)

    @property
    def stopped(self) -> bool:
        return self.games < self.asked

    @property
    def times(self) -> Times:
        one, two = (sum((game.times[player] for game in self.outcomes), Time()) for player in (0, 1))
        return one, two

    def score(self, player: int) -> Score:
        """Return the score of a player: 0 is the first, 1 the second or, at a larger table, all its copies."""
        first = sum(game.winner == game.seat for game in self.outcomes)
        drawn = sum(game.winner is None for game in self.outcomes)
        won = (first, self.games - drawn - first)
        counts = (won[player], drawn, won[1 - player])
        whole = sum(sum(game.rounds) for game in self.outcomes)
        own = sum(game.rounds[game.seat] for game in self.outcomes if game.rounds)
        rounds = share(own if player == 0 else whole - own, whole) if whole else None
        one, two, three = (share(count, self.games) for count in counts)
        return Score(one, two, three, rounds)


def with_turn_limit(game: Game, given: dict[str, int | str], turns: int = DEFAULT_TURN_LIMIT) -> Any:
    """Return the options, with a turn limit where a game could otherwise be endless."""
    if "turns" not in given and getattr(game.rules.Options(), "turns", 1) == 0:
        given = {**given, "turns": turns}
    return game.options(given)


def play(
    game: Game,
    options: Any,
    specs: Sequence[str],
    games: int,
    seed: str = DEFAULT_SEED,
    processes: int = 1,
    progress: Progress = quiet,
    engine: Engine | None = None,
) -> Result:
    """Let two bots play `games` games, rounded up to whole deals; Ctrl-C ends it early with the games so far.

    Each deal is played once for every seat that the first bot can have; the second has all the others. Without an
    engine it is played in so many processes.
    """
    if len(specs) != 2:
        raise OptionError(f"A match is played by two bots, and {len(specs)} were given.")
    if games < 1 or processes < 1:
        raise OptionError("A match has at least one game and one process.")
    pair = (specs[0].strip(), specs[1].strip())
    seats = game.rules.seats(options)
    deals = -(-games // seats)
    match = Match(game, options, pair, seed)
    outcomes: list[Outcome] = []
    try:
        match.prepare(progress)  # also fills the caches for all processes, and refuses bots that cannot play
        progress(0, deals * seats, "playing")
        with open_engine(None, min(processes, deals)) if engine is None else nullcontext(engine) as used:
            used.send_tables()
            pace = Pace(used)
            tasks = ((match, numbers) for numbers in pace.chunks(range(deals)))
            with closing(used.in_order(play_deals, tasks)) as source:
                for chunk in source:
                    pace.done(len(chunk))
                    for deal in chunk:
                        outcomes += deal
                        progress(len(outcomes), deals * seats, "playing")
    except WorkerDiedError:
        raise PisteError("One of the processes that played ended before its deals were done.") from None
    except (KeyboardInterrupt, SystemError) as e:
        if not is_interrupt(e):
            raise  # otherwise the games so far are returned
    return Result(game.name, options, pair, seats, seed, deals * seats, tuple(outcomes))


def ladder(
    game: Game,
    options: Any,
    levels: Sequence[str],
    games: int | Callable[[str, str], int],
    seed: str = DEFAULT_SEED,
    processes: int = 1,
    progress: Progress = quiet,
    engine: Engine | None = None,
) -> list[Result]:
    """Let every level play every other and return the matches; `games` is a number, or is asked before each match.

    Ctrl-C ends it early; the last match may then be short, and those that were not begun are left out.
    """
    pairs = pairings(game, options, levels)
    results: list[Result] = []
    with open_engine(None, processes) if engine is None else nullcontext(engine) as used:
        for number, (one, two) in enumerate(pairs, 1):

            def tell(
                done: int, whole: int, what: str = "", head: str = f"{number}/{len(pairs)} {one}, {two}:"
            ) -> None:
                progress(done, whole, f"{head} {what}")

            wanted = games if isinstance(games, int) else games(one, two)
            results.append(play(game, options, (one, two), wanted, seed, processes, tell, used))
            if results[-1].stopped:
                break
    return results


def pairings(game: Game, options: Any, levels: Sequence[str]) -> list[tuple[str, str]]:
    """Return the pairs that play each other.

    At a table for two each pair has one match. At a larger one it matters which of the two is alone among copies of
    the other, so each pair has two.
    """
    return list((combinations if game.rules.seats(options) == 2 else permutations)(levels, 2))


def against(results: Iterable[Result]) -> dict[tuple[str, str], Score]:
    """Return every level's score against every other, both ways round."""
    scores: dict[tuple[str, str], Score] = {}
    for result in results:
        one, two = result.specs
        if not result.games:
            continue
        scores[one, two] = result.score(0)
        if result.seats == 2:
            scores[two, one] = result.score(1)
    return scores


def effort(results: Iterable[Result], level: str) -> Time:
    """Return the CPU time of a level's decisions in all its matches."""
    own = (time for result in results for spec, time in zip(result.specs, result.times, strict=True) if spec == level)
    return sum(own, Time())


class Match(NamedTuple):
    """Two bots at a table of any size: plays any deal by its number."""

    game: Game
    options: Any
    specs: tuple[str, str]
    seed: str

    def prepare(self, progress: Progress = quiet) -> None:
        """Let the bots load or compute what they need before their first decision."""
        for spec in dict.fromkeys(self.specs):
            bot = bots.find(spec, self.game, self.options)
            try:
                bots.prepare(bot, self.options, progress)
            finally:
                bot.close()

    def deals(self, numbers: Iterable[int], before: BeforeDecision | None = None) -> Generator[Deal, None, None]:
        """Play these deals, each from every seat."""
        for number in numbers:
            yield tuple(self.play(number, seat, before) for seat in range(self.game.rules.seats(self.options)))

    def play(self, deal: int, own: int, before: BeforeDecision | None = None) -> Outcome:
        """Play one game, with the first bot in this seat."""
        specs = [self.specs[seat != own] for seat in range(self.game.rules.seats(self.options))]
        played = play_game(self.game, self.options, specs, f"{self.seed} {deal}", before)
        one, two = (
            Time.of([seconds for seat, seconds in played.spent if (seat == own) == first]) for first in (True, False)
        )
        return Outcome(deal, own, played.winner, played.rounds, played.turns, (one, two), played.payoffs)


def play_deals(match: Match, numbers: range) -> list[Deal]:
    """Play some deals; an engine calls it wherever it works."""
    match.prepare()
    return list(match.deals(numbers, lambda _: checkpoint()))
