"""Weigh a game with some options: is it fair, how long is it, what hangs on a decision, what is skill worth."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from piste import bots
from piste.analysis.arena.match import Result, limited, pairings, play
from piste.analysis.balance import skill
from piste.analysis.balance.estimates import SURE, Estimate, about, sure
from piste.analysis.balance.pace import Pace, Stage
from piste.analysis.balance.random_play import Spread, random_play
from piste.analysis.balance.self_play import Matter, Traced, trace
from piste.core.belief import Belief
from piste.core.errors import is_interrupt
from piste.core.evaluation import Evaluation, Progress, quiet
from piste.core.extras import has, missing, solver_of, solving
from piste.core.game import Game
from piste.core.information_set import InformationSet
from piste.core.position import Position

SEED = "scales"
GAMES = 1000
"""Of each match and of each level against itself, unless the game's room or somebody says otherwise."""

RANDOM = 100
"""Random play is so quick that so many times as many games are played of it."""

FEW = 20
"""A level that plays fewer games than this by default does not play itself: that would say next to nothing."""

BEST, ANY = "best play", "random"

Truth = tuple[str, str]
"""A sentence about the game that may be unkind, and how it is known."""


class Report(NamedTuple):
    """What the scales say of a game with one set of options."""

    game: Game
    options: Any
    changed: dict[str, str]  # the options that are not the sheet's
    first: int  # the seat that begins
    seed: str
    best: Evaluation | None  # of the start, for the player who begins
    spreads: dict[str, Spread]  # by who played: the levels, strongest first, then random play
    matter: Matter | None
    matches: tuple[Result, ...]
    points: dict[tuple[str, str], Estimate]
    better: Estimate | None  # what the better of two levels gets, on average over all pairs
    split: skill.Split | None
    truths: tuple[Truth, ...]
    notes: tuple[str, ...]
    stopped: bool

    @property
    def title(self) -> str:
        return ", ".join(f"{key}={value}" for key, value in self.changed.items()) or "sheet"

    @property
    def levels(self) -> list[str]:
        """The levels that played, weakest first."""
        there = {spec for match in self.matches for spec in match.specs} | set(self.spreads)
        return [level for level in bots.LEVELS if level in there]

    def shown(self, who: str) -> str:
        """Return what people are told somebody who played is called; in documents a level keeps its id."""
        return bots.shown(self.game, who, self.options) if who in bots.LEVELS else who

    def described(self) -> str:
        """Return the levels that played with how the play of each is known."""
        return ", ".join(bots.described(self.game, level, self.options) for level in self.levels)

    @property
    def shares(self) -> dict[str, Estimate]:
        """What the player who begins gets, by who plays; a draw is an equal part of a win."""
        found = {} if self.best is None else {BEST: of_verdict(self.best, self.game.rules.seats(self.options))}
        return found | {who: spread.points for who, spread in self.spreads.items()}

    @property
    def draws(self) -> dict[str, Estimate]:
        found = {} if self.best is None else {BEST: known_as(self.best, self.best.chances.draw)}
        return found | {who: spread.draws for who, spread in self.spreads.items()}


def of_verdict(verdict: Evaluation, seats: int) -> Estimate:
    return known_as(verdict, verdict.chances.win + verdict.chances.draw / seats)


def known_as(verdict: Evaluation, value: float) -> Estimate:
    return sure(value, verdict.known) if verdict.known in SURE else about(value, verdict.within, verdict.known)


def at_the_start(game: Game, options: Any, seat: int, progress: Progress = quiet) -> Evaluation:
    """Return what the start of a game is worth to a seat."""
    start = game.rules.start(options)
    known = InformationSet(seat, Position(game, start), (), Belief(game, start, seat))
    verdict: Evaluation = solver_of(game, options).evaluate(known, progress)
    return verdict


def begun(game: Game, given: Mapping[str, int | str]) -> tuple[dict[str, int | str], int]:
    """Return the options with somebody who begins, and the seat: where chance would say, the first seat does."""
    who = getattr(game.options(given), "first", 1)
    return ({**given, "first": 1}, 0) if who == 0 else (dict(given), who - 1)


def weigh(
    game: Game,
    given: Mapping[str, int | str] | None = None,
    *,
    games: int | None = None,
    seed: str = SEED,
    processes: int = 1,
    progress: Progress = quiet,
) -> Report:
    """Weigh a game with these options; Ctrl-C ends it early with what there is so far.

    `games` is how many each match and each level against itself has; without it the game's room says so, by level.
    """
    changed = game.option_texts(game.options(given), changed_only=True)
    fixed, first = begun(game, given or {})
    options, bounded = game.options(fixed), limited(game, fixed)
    work = _Work(game, options, bounded, first, games, seed, processes, progress)
    work.run()
    played = tuple(work.matches)
    return Report(
        game, options, changed, first, seed, work.best, work.spreads, work.matter, played, skill.table(played),
        skill.better(played, bots.LEVELS, seed), skill.split(played, seed),
        tuple(work.truths), tuple(work.notes), work.stopped,
    )  # fmt: skip


class _Stopped(Exception):
    """Somebody wants no more."""


class _Work:
    """The weighing as it goes on: what is done so far stands in its fields."""

    def __init__(
        self, game: Game, options: Any, bounded: Any, first: int, games: int | None, seed: str, processes: int,
        progress: Progress,
    ) -> None:  # fmt: skip
        self.game, self.options, self.bounded, self.first = game, options, bounded, first
        self.games, self.seed, self.processes = games, seed, processes
        self.room = game.balance_config
        self.best: Evaluation | None = None
        self.spreads: dict[str, Spread] = {}
        self.matter: Matter | None = None
        self.matches: list[Result] = []
        self.truths: list[Truth] = []
        self.stopped = False
        self.sizes: Mapping[str, int] = self.asked("sizes") or {}
        playable, refused = bots.playable(game, bounded)
        able = [level for level in playable if level in bots.LEVELS]
        self.levels = [level for level in able if self.size(level)]
        itself = [level for level in self.levels if games is not None or self.size(level) >= FEW]
        self.itself = {level: Stage((level,), self.size(level)) for level in reversed(itself)}  # strongest first
        self.pairs = {pair: Stage(pair, self.rounded(pair)) for pair in pairings(game, bounded, self.levels)}
        # Whatever is done tells its progress to this one, which tells that of all.
        self.progress = Pace([*self.itself.values(), *self.pairs.values()], bots.LEVELS, progress)
        self.notes = [str(why) for why in refused]
        left = [bots.shown(game, level, options) for level in able if level not in self.levels]
        self.notes += [
            f"{name} is left out, because it takes long over a game; --games N lets it play." for name in left
        ]
        if bounded != options:
            self.notes.append(f"Games that are played out here end as a draw after {bounded.turns} turns.")

    def run(self) -> None:
        for part in (self.judge, self.tell, self.wander, self.follow, self.match):
            try:
                part()
            except _Stopped:
                self.stopped = True
            except (KeyboardInterrupt, SystemError) as e:
                if not is_interrupt(e):
                    raise
                self.stopped = True
            if self.stopped:
                break
        order = [*reversed(bots.LEVELS), ANY]
        self.spreads = {who: self.spreads[who] for who in order if who in self.spreads}

    def size(self, *levels: str) -> int:
        """Return how many games these play: as many as the one of them that plays fewest."""
        if self.games is not None:
            return self.games
        return min(self.sizes.get(level, GAMES) for level in levels)

    def rounded(self, pair: tuple[str, str]) -> int:
        """Return how many games a match has: each deal is played from every seat."""
        seats: int = self.game.rules.seats(self.bounded)
        return -(-self.size(*pair) // seats) * seats

    def judge(self) -> None:
        """Ask the solver what the start is worth to the player who begins."""
        if self.game.has_solver:
            refused = missing(solving(self.game, self.options, "The value of best play"))
            if refused is not None:
                self.notes.append(str(refused))
                return
            self.best = at_the_start(self.game, self.options, self.first, self.progress)

    def solver(self) -> Any:
        """Return who prices decisions, if that can be done here."""
        able = self.game.has_solver and has(solving(self.game, self.bounded))
        return solver_of(self.game, self.bounded) if able else None

    def tell(self) -> None:
        """Let the game's room say what is true of it; it asks the solver for some of that."""
        if has(solving(self.game, self.options)):
            self.truths = self.asked("truths") or []

    def asked(self, what: str) -> Any:
        """Return what the game's room answers, or None; some of it needs what is perhaps not installed."""
        answer: Callable[[Any], Any] | None = getattr(self.room, what, None)
        try:
            return None if answer is None else answer(self.options)
        except ImportError:
            return None

    def wander(self) -> None:
        """Play at random."""
        wanted = RANDOM * (GAMES if self.games is None else self.games)
        spread = random_play(
            self.game, self.bounded, self.first, wanted, self.seed, self.processes,
            lambda done, whole: self.progress(done, whole, "random play"),
        )  # fmt: skip
        if spread.decisions.of or spread.decisions.known in SURE:
            self.spreads[ANY] = spread
        if spread.unfinished:
            self.notes.append(f"{spread.unfinished} games of random play were given up and are not counted.")
        if spread.stopped:
            raise _Stopped

    def follow(self) -> None:
        """Let each level play itself, and weigh the decisions of the best one that does."""
        for level, stage in self.itself.items():
            self.progress.begin(stage)
            strongest = level == next(iter(self.itself))
            found = self.trace(level, self.solver() if strongest else None)
            if found.games:
                self.spreads[level] = found.spread()
                self.matter = found.matter() or self.matter
            if found.stopped:
                raise _Stopped

    def trace(self, level: str, solver: Any) -> Traced:
        rate = getattr(self.room, "RATE", 1.0) if solver is not None else 0.0
        return trace(
            self.game, self.bounded, level, self.size(level), self.seed,
            first=self.first, solver=solver, rate=rate, progress=self.progress, beside=self.progress.beside,
        )  # fmt: skip

    def match(self) -> None:
        """Let each level play each other."""
        for number, ((one, two), stage) in enumerate(self.pairs.items(), 1):
            self.progress.begin(stage)

            def told(
                done: int, whole: int, what: str, head: str = f"{number}/{len(self.pairs)} {two}, {one}"
            ) -> None:
                self.progress(done, whole, f"{head}: {what}")

            size = self.size(one, two)
            result = play(self.game, self.bounded, (one, two), size, self.seed, self.processes, told)
            if result.games:
                self.matches.append(result)
            if result.stopped:
                raise _Stopped
