"""The balance report of a game with some options: fairness, length, stakes of decisions, value of skill."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from piste import bots
from piste.analysis.arena.match import Result, ladder, pairings, with_turn_limit
from piste.analysis.balance import skill
from piste.analysis.balance.estimates import SURE, Estimate, about, sure
from piste.analysis.balance.pace import Pace, Stage
from piste.analysis.balance.random_play import PlayStatistics, random_play
from piste.analysis.balance.self_play import StakesSummary, play_itself
from piste.analysis.engine import Engine, open_engine
from piste.core.errors import is_interrupt
from piste.core.evaluation import Evaluation, Progress, quiet
from piste.core.extras import has, missing, solver_of, solving
from piste.core.game import Game
from piste.core.information_set import InformationSet
from piste.core.position import Position

DEFAULT_SEED = "scales"
DEFAULT_GAMES = 1000
"""Of each match and of each level against itself, unless the game's `balance_config` or the caller says otherwise."""

RANDOM_FACTOR = 100
"""Random play is quick, so this many times as many games of it are played."""

MIN_SELF_PLAY_GAMES = 20
"""A level that plays fewer games by default does not play itself: the interval would be too wide."""

BEST, ANY = "best play", "random"

Truth = tuple[str, str]
"""A sentence about the game that may be unkind, and how it is known."""


class Report(NamedTuple):
    """The balance report of a game with one set of options."""

    game: Game
    options: Any
    changed: dict[str, str]  # the options that are not the sheet's
    first: int  # the seat that begins
    seed: str
    best: Evaluation | None  # of the start, for the player who begins
    statistics: dict[str, PlayStatistics]  # by who played: the levels, strongest first, then random play
    stakes: StakesSummary | None
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
        there = {spec for match in self.matches for spec in match.specs} | set(self.statistics)
        return [level for level in bots.LEVELS if level in there]

    def shown(self, who: str) -> str:
        """Return the display name of a player; in documents a level keeps its id."""
        return bots.shown(self.game, who, self.options) if who in bots.LEVELS else who

    def described(self) -> str:
        """Return the levels that played with how the play of each is known."""
        return ", ".join(bots.described(self.game, level, self.options) for level in self.levels)

    @property
    def shares(self) -> dict[str, Estimate]:
        """What the player who begins gets, by who plays; a draw is an equal part of a win."""
        shares = {who: stats.points for who, stats in self.statistics.items()}
        if self.best is None:
            return shares
        win, draw, _ = self.best.chances
        return {BEST: as_estimate(self.best, win + draw / self.game.rules.seats(self.options))} | shares

    @property
    def payoffs(self) -> dict[str, Estimate]:
        """What the player who begins is paid, by who plays; nothing where wins and draws say it all."""
        if self.best is None or self.best.payoff is None:
            return {}
        mean, off = self.best.payoff.mean, 2 * self.best.within * self.best.payoff.largest
        best = Estimate(mean, mean - off, mean + off, self.best.known)
        return {BEST: best} | {who: stats.payoff for who, stats in self.statistics.items() if stats.payoff}

    @property
    def draws(self) -> dict[str, Estimate]:
        best = {} if self.best is None else {BEST: as_estimate(self.best, self.best.chances.draw)}
        return best | {who: stats.draws for who, stats in self.statistics.items()}


def as_estimate(evaluation: Evaluation, value: float) -> Estimate:
    known = evaluation.known
    return sure(value, known) if known in SURE else about(value, evaluation.within, known)


def evaluate_start(game: Game, options: Any, seat: int, progress: Progress = quiet) -> Evaluation:
    """Return what the start of a game is worth to a seat."""
    known = InformationSet.common(Position(game, game.rules.start(options)), seat)
    evaluation: Evaluation = solver_of(game, options).evaluate(known, progress)
    return evaluation


def fix_first_seat(game: Game, given: Mapping[str, int | str]) -> tuple[dict[str, int | str], int]:
    """Return the options with a first player, and the seat: where a toss would decide, the first seat begins."""
    who = getattr(game.options(given), "first", 1)
    return ({**given, "first": 1}, 0) if who == 0 else (dict(given), who - 1)


def balance_report(
    game: Game,
    given: Mapping[str, int | str] | None = None,
    *,
    games: int | None = None,
    seed: str = DEFAULT_SEED,
    processes: int = 1,
    progress: Progress = quiet,
    engine: str | None = None,
) -> Report:
    """Measure a game with these options; Ctrl-C ends it early with the results so far.

    `games` is how many each match and each level against itself has; without it `balance_config` says so, by level.
    `engine` says where they are played, as with `piste tournament`.
    """
    changed = game.option_texts(game.options(given), changed_only=True)
    fixed, first = fix_first_seat(game, given or {})
    options, bounded = game.options(fixed), with_turn_limit(game, fixed)
    with open_engine(engine, processes) as used:
        work = _Measurement(game, options, bounded, first, games, seed, used, progress)
        work.run()
    played = tuple(work.matches)
    return Report(
        game, options, changed, first, seed, work.best, work.statistics, work.stakes, played, skill.table(played),
        skill.better(played, bots.LEVELS, seed), skill.split(played, seed),
        tuple(work.truths), tuple(work.notes), work.stopped,
    )  # fmt: skip


class _Measurement:
    """The measurement in progress: its fields hold the results so far."""

    def __init__(
        self, game: Game, options: Any, bounded: Any, first: int, games: int | None, seed: str, engine: Engine,
        progress: Progress,
    ) -> None:  # fmt: skip
        self.game, self.options, self.bounded, self.first = game, options, bounded, first
        self.games, self.seed, self.engine = games, seed, engine
        self.config = game.balance_config
        self.best: Evaluation | None = None
        self.statistics: dict[str, PlayStatistics] = {}
        self.stakes: StakesSummary | None = None
        self.matches: list[Result] = []
        self.truths: list[Truth] = []
        self.stopped = False
        self.sizes: Mapping[str, int] = self.ask_config("sizes") or {}
        playable, refused = bots.playable(game, bounded)
        able = [level for level in playable if level in bots.LEVELS]
        self.levels = [level for level in able if self.size(level)]
        itself = [level for level in self.levels if games is not None or self.size(level) >= MIN_SELF_PLAY_GAMES]
        self.itself = {level: Stage((level,), self.size(level)) for level in reversed(itself)}  # strongest first
        self.pairs = {pair: Stage(pair, self.rounded(pair)) for pair in pairings(game, bounded, self.levels)}
        # Each stage reports its progress to this object, which reports that of the whole measurement.
        self.progress = Pace([*self.itself.values(), *self.pairs.values()], bots.LEVELS, progress)
        self.notes = [str(why) for why in refused]
        left = [bots.shown(game, level, options) for level in able if level not in self.levels]
        self.notes += [
            f"{name} is left out, because it takes long over a game; --games N lets it play." for name in left
        ]
        if bounded != options:
            self.notes.append(f"Games that are played out here end as a draw after {bounded.turns} turns.")

    def run(self) -> None:
        for part in (self.evaluate_start, self.collect_truths, self.play_random, self.play_levels, self.play_matches):
            try:
                part()
            except (KeyboardInterrupt, SystemError) as e:
                if not is_interrupt(e):
                    raise
                self.stopped = True
                break
        order = [*reversed(bots.LEVELS), ANY]
        self.statistics = {who: self.statistics[who] for who in order if who in self.statistics}

    def size(self, *levels: str) -> int:
        """Return how many games these play: as many as the one of them that plays fewest."""
        if self.games is not None:
            return self.games
        return min(self.sizes.get(level, DEFAULT_GAMES) for level in levels)

    def rounded(self, pair: tuple[str, str]) -> int:
        """Return how many games a match has: each deal is played from every seat."""
        seats: int = self.game.rules.seats(self.bounded)
        return -(-self.size(*pair) // seats) * seats

    def evaluate_start(self) -> None:
        """Ask the solver what the start is worth to the player who begins."""
        refused = missing(solving(self.game, self.options, "The value of best play"))
        if refused is not None:
            self.notes.append(str(refused))
            return
        self.best = evaluate_start(self.game, self.options, self.first, self.progress)

    def collect_truths(self) -> None:
        """Take the sentences of the game's `balance_config`; some of them need the solver."""
        if has(solving(self.game, self.options)):
            self.truths = self.ask_config("truths") or []

    def ask_config(self, what: str) -> Any:
        """Return what the game's `balance_config` answers, or None if a library for it is missing."""
        answer: Callable[[Any], Any] | None = getattr(self.config, what, None)
        try:
            return None if answer is None else answer(self.options)
        except ImportError:
            return None

    def play_random(self) -> None:
        """Play at random."""
        wanted = RANDOM_FACTOR * (DEFAULT_GAMES if self.games is None else self.games)
        stats = random_play(
            self.game, self.bounded, self.first, wanted, self.seed, self.engine,
            lambda done, whole: self.progress(done, whole, "random play"),
        )  # fmt: skip
        if stats.decisions.of or stats.decisions.known in SURE:
            self.statistics[ANY] = stats
        if stats.unfinished:
            self.notes.append(f"{stats.unfinished} games of random play were given up and are not counted.")
        if stats.stopped:
            raise KeyboardInterrupt

    def play_levels(self) -> None:
        """Let each level play itself; the solver evaluates decisions of the strongest one."""
        weigh = has(solving(self.game, self.bounded))
        for level, stage in self.itself.items():
            self.progress.begin(stage)
            played = play_itself(
                self.game, self.bounded, level, self.size(level), self.seed, first=self.first, weigh=weigh,
                rate=getattr(self.config, "RATE", 1.0), progress=self.progress, beside=self.progress.beside,
                engine=self.engine,
            )  # fmt: skip
            weigh = False
            if played.games:
                self.statistics[level] = played.statistics()
                self.stakes = played.stakes() or self.stakes
            if played.stopped:
                raise KeyboardInterrupt

    def play_matches(self) -> None:
        """Let each level play each other."""

        def begin(one: str, two: str) -> int:
            self.progress.begin(self.pairs[one, two])
            return self.size(one, two)

        results = ladder(
            self.game, self.bounded, self.levels, begin, self.seed, progress=self.progress, engine=self.engine
        )
        self.matches = [result for result in results if result.games]
        self.stopped = any(result.stopped for result in results)
