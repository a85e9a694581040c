"""Matches: two bots, many deals, every deal played from every seat.

A deal has a number. The cards and the random choices of the bots come from the seed and that number alone, so any
number of processes plays the same games, and results are returned in the order of the deals.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from itertools import combinations, permutations
from time import monotonic, process_time
from typing import TYPE_CHECKING, Any, NamedTuple

from piste import bots
from piste.bots.base import Plain
from piste.compiled.simulate import Share, share
from piste.core.dealer import Dealer
from piste.core.errors import OptionError, PisteError, is_interrupt
from piste.core.evaluation import Progress, quiet
from piste.core.game import Game, find
from piste.core.table import Table

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

DEFAULT_SEED = "match"
DEFAULT_TURN_LIMIT = 200
"""Of games that could otherwise be endless (G2)."""

STOP_POLL_INTERVAL_S = 0.2
"""How often a worker process checks, before a decision, whether it has to stop."""

STOP_TIMEOUT_S = 5.0
"""How long a worker process has to stop before it is terminated."""

TERMINATE_TIMEOUT_S = 5.0
"""How long a terminated process has to end its bot programs before it is killed."""


class Outcome(NamedTuple):
    """How one game ended."""

    deal: int
    seat: int  # of the first player
    winner: int | None  # a seat, or None for a draw
    rounds: tuple[int, ...]  # won by each seat, where a game has rounds


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
NO_TIME: Times = (Time(), Time())


class Score(NamedTuple):
    """The result of a match for one of the two players; shares have Wilson's 95 % interval."""

    won: Share
    drawn: Share
    lost: Share
    rounds: Share | None  # won, of all rounds that were won


@dataclass(frozen=True)
class Result:
    """A match. Two are equal if the same games ended in the same way; how long it took does not count."""

    game: str
    options: Any
    specs: tuple[str, str]
    seats: int
    seed: str
    asked: int
    """How many games were asked for; fewer were played if the match was interrupted."""
    outcomes: tuple[Outcome, ...]
    times: Times = field(default=NO_TIME, compare=False)

    @property
    def games(self) -> int:
        return len(self.outcomes)

    @property
    def stopped(self) -> bool:
        return self.games < self.asked

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
    match = _Match(game, options, pair, seed)
    played: list[_Deal] = []
    try:
        match.prepare(progress)  # also fills the caches for all processes, and refuses bots that cannot play
        progress(0, deals * seats, "playing")
        alone = min(processes, deals) == 1
        with closing(match.deals(range(deals)) if alone else _in_processes(match, deals, processes)) as source:
            for deal in source:
                played.append(deal)
                progress(len(played) * seats, deals * seats, "playing")
    except (KeyboardInterrupt, SystemError) as e:
        if not is_interrupt(e):
            raise  # otherwise the games so far are returned
    return Result(
        game.name, options, pair, seats, seed, deals * seats,
        tuple(outcome for deal in played for outcome in deal.outcomes), _sum_times(deal.times for deal in played),
    )  # fmt: skip


def ladder(
    game: Game,
    options: Any,
    levels: Sequence[str],
    games: int | Callable[[str, str], int],
    seed: str = DEFAULT_SEED,
    processes: int = 1,
    progress: Progress = quiet,
) -> list[Result]:
    """Let every level play every other and return the matches; `games` is a number, or says it for two levels.

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


class _Deal(NamedTuple):
    """A deal, played from every seat."""

    outcomes: tuple[Outcome, ...]
    times: Times


class _Match:
    """A match: plays any deal by its number."""

    def __init__(self, game: Game, options: Any, specs: tuple[str, str], seed: str) -> None:
        self.game = game
        self.options = options
        self.specs = specs
        self.seed = seed
        self.seats: int = game.rules.seats(options)

    def prepare(self, progress: Progress = quiet) -> None:
        """Let both bots load or compute what they need before their first decision."""
        for spec in self.specs:
            bot = bots.find(spec, self.game, self.options)
            try:
                bots.prepare(bot, self.options, progress)
            finally:
                bot.close()

    def deals(
        self, numbers: Iterable[int], check_stop: Callable[[], None] = lambda: None
    ) -> Generator[_Deal, None, None]:
        """Play these deals; `check_stop` is called before every decision and may raise."""
        for number in numbers:
            played = [self._game(number, seat, check_stop) for seat in range(self.seats)]
            yield _Deal(tuple(outcome for outcome, _ in played), _sum_times(times for _, times in played))

    def _game(self, deal: int, own: int, check_stop: Callable[[], None]) -> tuple[Outcome, Times]:
        dealer = Dealer(f"{self.seed} {deal}")
        table = Table(self.game, self.options, dealer, counts=False)
        spent: list[list[float]] = [[], []]
        seated: list[bots.Bot] = []
        try:
            for seat in range(self.seats):
                seated.append(bots.find(self.specs[seat != own], self.game, self.options))
                if not isinstance(seated[-1], Plain):  # a bot of the package is prepared once for all games
                    bots.prepare(seated[-1], self.options, quiet)
            while (seat_ := table.to_act) is not None:
                check_stop()
                view = table.view(seat_)
                stream = dealer.stream(bots.stream_name(view))
                before = process_time()
                decision = seated[seat_].choose(view, stream)
                spent[seat_ != own].append(process_time() - before)
                table.decide(seat_, decision, view.number)
            for seat, bot in enumerate(seated):
                bots.finish(bot, table.view(seat))
        finally:
            for bot in seated:
                bot.close()
        ending = table.ending()
        assert ending is not None
        rounds = tuple(getattr(table.view().position, "wins", ()))[: self.seats]
        one, two = (Time(len(times), sum(times), max(times, default=0.0)) for times in spent)
        return Outcome(deal, own, ending.winner, rounds), (one, two)


def _sum_times(times: Iterable[Times]) -> Times:
    one = two = Time()
    for first, second in times:
        one, two = one + first, two + second
    return one, two


# Worker processes. Each plays every n-th deal and sends the results; a closed pipe tells it to stop.


class _Stop(Exception):
    """No more deals are wanted."""


def _in_processes(match: _Match, deals: int, processes: int) -> Generator[_Deal, None, None]:
    """Play all deals in several processes, and yield them in order."""
    from multiprocessing import get_context

    n = min(processes, deals)
    context = get_context("spawn")  # the same on every system, and safe whatever threads there are
    running = []
    lines: list[Connection[Any, Any]] = []
    early: dict[int, _Deal] = {}
    try:
        for first in range(n):
            ours, theirs = context.Pipe()
            lines.append(ours)
            args = (theirs, match.game.name, match.options, match.specs, match.seed, range(first, deals, n))
            running.append(context.Process(target=_work, args=args, daemon=True))
            with _without_interrupts():  # Ctrl-C is for this process, which stops the workers
                running[-1].start()
            theirs.close()
        due = 0
        while due < deals:
            for line in _ready(lines):
                try:
                    message = line.recv()
                except (EOFError, OSError):
                    raise PisteError("One of the processes that played ended before its deals were done.") from None
                if isinstance(message, str):
                    raise PisteError(message)
                if message is None:
                    lines.remove(line)
                    continue
                early[message.outcomes[0].deal] = message
            while due in early:
                yield early.pop(due)
                due += 1
    finally:
        for line in lines:
            line.close()
        end = monotonic() + STOP_TIMEOUT_S
        for process in running:
            process.join(max(0.0, end - monotonic()))
        late = [process for process in running if process.is_alive()]
        for process in late:
            process.terminate()  # it waits for a bot program, which it ends first
        for process in late:
            process.join(TERMINATE_TIMEOUT_S)
            process.kill()
            process.join()


def _ready(lines: list[Connection[Any, Any]]) -> list[Connection[Any, Any]]:
    """Wait for messages, and return the pipes that have one, in order."""
    from multiprocessing.connection import wait

    ready = wait(lines)
    return [line for line in lines if line in ready]


def _work(
    line: Connection[Any, Any], name: str, options: Any, specs: tuple[str, str], seed: str, numbers: range
) -> None:
    """Play some deals in a process of its own, and send each when it is done."""
    match = _Match(find(name), options, specs, seed)
    next_check = 0.0

    def check_stop() -> None:
        nonlocal next_check
        now = monotonic()
        if now >= next_check:
            next_check = now + STOP_POLL_INTERVAL_S
            if line.poll():
                raise _Stop

    def stop(*_: object) -> None:
        raise _Stop

    try:
        signal.signal(signal.SIGTERM, stop)
        try:
            match.prepare()
            for deal in match.deals(numbers, check_stop):
                line.send(deal)
            line.send(None)
        except ConnectionError:
            raise
        except (PisteError, OSError) as e:
            line.send(str(e))
    except (_Stop, ConnectionError):
        pass  # the parent closed the pipe: another worker failed, or the match was stopped


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Start processes that ignore Ctrl-C."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
