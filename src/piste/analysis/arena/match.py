"""Matches: two bots, many deals, every deal played from every seat.

A deal has a number. The cards and the random choices of the bots come from the seed and that number alone, so any
number of processes plays the same games, and results are returned in the order of the deals.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import Future, wait
from contextlib import closing
from dataclasses import dataclass, field
from itertools import combinations, groupby, permutations
from queue import SimpleQueue
from time import process_time
from typing import Any, NamedTuple

from piste import bots
from piste.bots import Plain
from piste.compiled.simulate import Share, share
from piste.core.dealer import Dealer
from piste.core.errors import OptionError, PisteError, is_interrupt
from piste.core.evaluation import Progress, quiet
from piste.core.game import Game
from piste.core.table import Table
from piste.core.views import SeatView
from piste.core.worker_process import Worker, WorkerDiedError

DEFAULT_SEED = "match"
DEFAULT_TURN_LIMIT = 200
"""Of games that could otherwise be endless (G2)."""

STOP_TIMEOUT_S = 15.0
"""How long a worker process has to stop before it is killed: longer than a bot program may take for an answer."""


class Time(NamedTuple):
    """The CPU time of a player's decisions."""

    decisions: int = 0
    seconds: float = 0.0
    worst: float = 0.0

    def __add__(self, other: object) -> Time:
        assert isinstance(other, Time)
        worst = max(self.worst, other.worst)
        return Time(self.decisions + other.decisions, self.seconds + other.seconds, worst)

    @property
    def mean(self) -> float:
        return self.seconds / self.decisions if self.decisions else 0.0


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

    @property
    def decisions(self) -> int:
        return sum(time.decisions for time in self.times)


Deal = tuple[Outcome, ...]
"""A deal, played from every seat."""

BeforeDecision = Callable[[SeatView], object]
"""Called with the view before every decision; it may raise."""


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


def with_turn_limit(game: Game, given: dict[str, int | str]) -> Any:
    """Return the options, with a turn limit where a game could otherwise be endless."""
    if "turns" not in given and getattr(game.rules.Options(), "turns", 1) == 0:
        given = {**given, "turns": DEFAULT_TURN_LIMIT}
    return game.options(given)


def play(
    game: Game,
    options: Any,
    specs: Sequence[str],
    games: int,
    seed: str = DEFAULT_SEED,
    processes: int = 1,
    progress: Progress = quiet,
) -> Result:
    """Let two bots play `games` games, rounded up to whole deals; Ctrl-C ends it early with the games so far.

    Each deal is played once for every seat that the first bot can have; the second has all the others.
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
        n = min(processes, deals)
        with closing(match.deals(range(deals)) if n == 1 else _in_processes(match, deals, n)) as source:
            for deal in source:
                outcomes += deal
                progress(len(outcomes), deals * seats, "playing")
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
) -> list[Result]:
    """Let every level play every other and return the matches; `games` is a number, or is asked before each match.

    Ctrl-C ends it early; the last match may then be short, and those that were not begun are left out.
    """
    pairs = pairings(game, options, levels)
    results: list[Result] = []
    for number, (one, two) in enumerate(pairs, 1):

        def tell(done: int, whole: int, what: str = "", head: str = f"{number}/{len(pairs)} {one}, {two}:") -> None:
            progress(done, whole, f"{head} {what}")

        wanted = games if isinstance(games, int) else games(one, two)
        results.append(play(game, options, (one, two), wanted, seed, processes, tell))
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
        dealer = Dealer(f"{self.seed} {deal}")
        table = Table(self.game, self.options, dealer, counts=False)
        seated: list[bots.Bot] = []
        try:
            for seat in range(table.seats):
                seated.append(bots.find(self.specs[seat != own], self.game, self.options))
                if not isinstance(seated[-1], Plain):  # a bot of the package is prepared once for all games
                    bots.prepare(seated[-1], self.options, quiet)
            spent = play_out(table, dealer, seated, before)
            for seat, bot in enumerate(seated):
                bots.finish(bot, table.view(seat))
        finally:
            for bot in seated:
                bot.close()
        ending, position = table.ending(), table.view().position
        assert ending is not None
        # A game that counts its turns says how many there were; elsewhere a turn is what one seat decides in a row.
        turns = getattr(position, "turns", len(list(groupby(seat for seat, _ in spent))))
        by_player = [[seconds for seat, seconds in spent if (seat == own) == first] for first in (True, False)]
        one, two = (Time(len(seconds), sum(seconds), max(seconds, default=0.0)) for seconds in by_player)
        rounds = tuple(getattr(position, "wins", ()))[: table.seats]
        return Outcome(deal, own, ending.winner, rounds, turns, (one, two))


def play_out(
    table: Table, dealer: Dealer, players: Sequence[bots.Bot], before: BeforeDecision | None = None
) -> list[tuple[int, float]]:
    """Let bots play to the end, and return the seat and the CPU time of each decision."""
    spent = []
    while (seat := table.to_act) is not None:
        view = table.view(seat).complete()
        if before is not None:
            before(view)
        stream = dealer.stream(bots.stream_name(view))
        began = process_time()
        decision = players[seat].choose(view, stream)
        spent.append((seat, process_time() - began))
        table.decide(seat, decision, view.number)
    return spent


def _in_processes(match: Match, deals: int, processes: int) -> Generator[Deal, None, None]:
    """Play all deals in several processes, each of them every n-th deal, and yield them in order."""
    messages: SimpleQueue[Deal | Future[None]] = SimpleQueue()
    workers = [Worker() for _ in range(processes)]
    early: dict[int, Deal] = {}
    futures = []

    def receive(done: int, whole: int, what: str, *played: Deal) -> None:  # noqa: ARG001
        for deal in played:
            messages.put(deal)

    try:
        for first, worker in enumerate(workers):
            futures.append(worker.submit(_play_deals, match, range(first, deals, processes), progress=receive))
            futures[-1].add_done_callback(messages.put)
        due = 0
        while due < deals:
            message = messages.get()
            if not isinstance(message, Future):
                early[message[0].deal] = message
            elif isinstance(message.exception(), WorkerDiedError):
                raise PisteError("One of the processes that played ended before its deals were done.")
            else:
                message.result()  # raises what went wrong
            while due in early:
                yield early.pop(due)
                due += 1
    finally:
        for worker in workers:
            worker.interrupt()
        wait(futures, STOP_TIMEOUT_S)
        for worker in workers:
            worker.kill()


def _play_deals(match: Match, numbers: range, progress: Callable[..., None]) -> None:
    """Play some deals in a worker process, and send each when it is done."""
    match.prepare()
    # Progress is reported before each decision too: there the worker learns that it has to stop.
    for done, deal in enumerate(match.deals(numbers, lambda _: progress(0, len(numbers)))):
        progress(done, len(numbers), "", deal)
