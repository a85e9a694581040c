"""Whether a program keeps to the protocol: it plays every game and kind of decision, and its manners are tried.

What a program does wrong is told by the same sentences as at a table (`bots/program.py`). Times are of the wall
clock: they are reported, and only an answer that takes longer than the limit is a failure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, NamedTuple

from piste import bots
from piste.bots.program import EXIT_TIMEOUT_S, ProgramBot, quoted_bytes
from piste.core.dealer import Dealer, RandomStream
from piste.core.errors import BotError
from piste.core.game import Game, counted, listed
from piste.core.replay import new_head, seated
from piste.core.table import Table
from piste.core.views import SeatView

GAMES = 2  # of each game and number of players, at least
MAX_GAMES = 12  # until every kind of decision has been asked for
MAX_DECISIONS = 300  # of one game
SAMPLES = 12  # games at random that show which kinds of decisions there are
HANDSHAKE_DECISIONS = 3  # that a program takes where its manners are tried


class Check(NamedTuple):
    """One thing that was tried, and what came of it."""

    name: str
    passed: bool
    detail: str  # a sentence
    game: str = ""  # "" for what does not depend on the game


@dataclass
class GameReport:
    """How a program played one game, with these options."""

    game: str
    options: dict[str, str]  # that differ from the sheet's
    seats: int
    games: int = 0
    asked: dict[str, int] = field(default_factory=dict)  # how often, by kind of decision
    missing: list[str] = field(default_factory=list)  # kinds that it was never asked
    starts: list[float] = field(default_factory=list)  # seconds until the first answer of each process
    seconds: list[float] = field(default_factory=list)  # of each other answer

    def document(self) -> dict[str, Any]:
        times = self.seconds
        return {
            "game": self.game,
            "options": self.options,
            "seats": self.seats,
            "games": self.games,
            "asked": self.asked,
            "missing": self.missing,
            "answers": len(self.starts) + len(times),
            "start_s": max(self.starts, default=None),
            "mean_s": sum(times) / len(times) if times else None,
            "worst_s": max(times, default=None),
        }


class Report(NamedTuple):
    """All that was tried."""

    bot: str
    checks: list[Check]
    games: list[GameReport]

    @property
    def passed(self) -> bool:
        return all(check.passed for check in self.checks)

    def document(self) -> dict[str, Any]:
        return {
            "bot": self.bot,
            "passed": self.passed,
            "checks": [check._asdict() for check in self.checks],
            "games": [game.document() for game in self.games],
        }


class TriedProgram(ProgramBot):
    """A program that is told more than it needs to know, and whose answers are timed."""

    def __init__(self, command: str, game: Game, *, limit: float, grace: float, unknown: bool = False) -> None:
        super().__init__(command, game, limit=limit, grace=grace)
        self.starts: list[float] = []  # seconds until the first answer, in which the program starts
        self.seconds: list[float] = []  # of the other answers
        self._unknown = unknown

    def choose(self, view: SeatView, stream: RandomStream) -> int:
        began = perf_counter()
        action = super().choose(view, stream)
        (self.seconds if self.starts else self.starts).append(perf_counter() - began)
        return action

    def _send(self, message: dict[str, Any]) -> None:
        if self._unknown:
            super()._send({"type": "a type that is not known", "number": 0})
            message = {**message, "a field that is not known": {"decisions": []}}
        super()._send(message)


class Conformance:
    """Tries one program."""

    def __init__(self, command: str, *, limit: float, seed: str = "check", grace: float | None = None) -> None:
        self._command, self._limit, self._seed = command, limit, seed
        self._grace = EXIT_TIMEOUT_S if grace is None else grace

    def run(self, games: list[Game], tell: Callable[[str], None] = lambda _: None) -> Report:
        """Try everything; `tell` is called with what is tried next."""
        checks: list[Check] = []
        reports: list[GameReport] = []
        tell("its manners")
        checks += self._manners(games[0])
        for game in games:
            for options in sizes(game):
                chosen = game.options(options)
                changed = game.option_texts(chosen, changed_only=True)
                report = GameReport(game.name, changed, game.rules.seats(chosen))
                tell(game.notation.TITLE)
                checks.append(self._whole_games(game, options, report))
                reports.append(report)
        return Report(f"{bots.PROGRAM}{self._command}", checks, reports)

    # Manners: with one game, since they do not depend on it

    def _manners(self, game: Game) -> Iterator[Check]:
        tries: list[tuple[str, Callable[[Game], str]]] = [
            ("handshake", self._handshake),
            ("unknown messages", self._unknown),
            ("taken up again", self._taken_up_again),
            ("two at once", self._two_at_once),
            ("end of the game", self._end_of_game),
            ("input closed", self._input_closed),
        ]
        for name, attempt in tries:
            try:
                yield Check(name, True, attempt(game))
            except BotError as e:
                yield Check(name, False, str(e))

    @contextmanager
    def _trial(self, game: Game, *, unknown: bool = False) -> Iterator[TriedProgram]:
        """Lend a program, and end it; one that has sent more than it was asked for has failed."""
        program = TriedProgram(self._command, game, limit=self._limit, grace=self._grace, unknown=unknown)
        with closing(program):
            yield program
        if program.last_words:
            raise BotError(
                f"The bot {program.name} sent {quoted_bytes(program.last_words[0])} when nothing was asked. Each "
                "question wants one answer, and the end of a game none."
            )

    def _table(self, game: Game, options: Any, number: object) -> Table:
        return seated(new_head(game.name, options, seed=f"{self._seed} {game.name} {number}"))[0]

    def _handshake(self, game: Game) -> str:
        with self._trial(game) as program:
            table = self._table(game, turn_limit(game), "handshake")
            asked = self._play(table, 0, program, HANDSHAKE_DECISIONS)
        return f"It started, said nothing before it was asked, and answered {counted(asked, 'question')}."

    def _unknown(self, game: Game) -> str:
        with self._trial(game, unknown=True) as program:
            table = self._table(game, turn_limit(game), "unknown")
            self._play(table, 0, program, HANDSHAKE_DECISIONS)
        return "It skipped messages of a type, and fields, that it does not know."

    def _taken_up_again(self, game: Game) -> str:
        table = self._table(game, turn_limit(game), "again")
        random = bots.find("random", game)
        for _ in range(2 * HANDSHAKE_DECISIONS):
            if table.to_act is not None:
                self._decide(table, random)
        with self._trial(game) as program:
            self._play(table, 0, program, HANDSHAKE_DECISIONS)
        return "It plays on in a game whose whole log comes with the first question."

    def _two_at_once(self, game: Game) -> str:
        with self._trial(game) as one, self._trial(game) as two:
            tables = [self._table(game, turn_limit(game), number) for number in ("one", "two")]
            for _ in range(HANDSHAKE_DECISIONS):
                for table, program in zip(tables, (one, two), strict=True):
                    self._play(table, 0, program, 1)
        return "Two of it play side by side."

    def _end_of_game(self, game: Game) -> str:
        with self._trial(game) as program:
            table = self._table(game, turn_limit(game), "end")
            self._play(table, 0, program, HANDSHAKE_DECISIONS)
            if table.to_act is not None:
                table.resign(0)
            program.end(table.view(0))
        return self._left(program, "It was told how the game ended, and left")

    def _input_closed(self, game: Game) -> str:
        with self._trial(game) as program:
            table = self._table(game, turn_limit(game), "closed")
            self._play(table, 0, program, 1)
        return self._left(program, "When its input was closed in the middle of a game, it left")

    def _left(self, program: TriedProgram, what: str) -> str:
        if program.ended_by:
            raise BotError(
                f"The bot {program.name} did not leave within {self._grace:g} seconds when its input was closed, "
                "and had to be ended. It should leave when there is nothing more to read."
            )
        return f"{what} by itself."

    # Whole games

    def _whole_games(self, game: Game, options: dict[str, int | str], report: GameReport) -> Check:
        """Play from every seat, until every kind of decision was asked for."""
        name = " ".join(["whole games", *(f"{key}={text}" for key, text in report.options.items())])
        wanted = self._kinds(game, options)
        try:
            for number in range(MAX_GAMES):
                report.missing = [kind for kind in wanted if kind not in report.asked]
                if number >= max(GAMES, report.seats) and not report.missing:
                    break
                self._whole_game(game, options, number, report)
            report.missing = [kind for kind in wanted if kind not in report.asked]
        except BotError as e:
            return Check(name, False, str(e), game.name)
        kinds = listed(list(report.asked), "and")
        answers = counted(sum(report.asked.values()), "answer")
        detail = f"{counted(report.games, 'game')}, {answers}; asked for {kinds}."
        if report.missing:
            detail += f" Never asked for {listed(report.missing, 'and')}: its own play did not lead there."
        return Check(name, True, detail, game.name)

    def _whole_game(self, game: Game, options: dict[str, int | str], number: int, report: GameReport) -> None:
        seat = number % report.seats
        table = self._table(game, options, number)
        with self._trial(game) as program:
            try:
                self._play(table, seat, program, MAX_DECISIONS, report)
            finally:
                report.starts += program.starts
                report.seconds += program.seconds
            if table.to_act is not None:
                table.resign(seat)
            program.end(table.view(seat))
        report.games += 1

    def _kinds(self, game: Game, options: dict[str, int | str]) -> list[str]:
        """Return the kinds of decisions that games at random come to, the usual ones first."""
        found: dict[str, int] = {}
        random = bots.find("random", game)
        for number in range(SAMPLES):
            table = self._table(game, options, f"sample {number}")
            for _ in range(MAX_DECISIONS):
                if table.to_act is None:
                    break
                kind = game.kind_name(table.view(table.to_act).kind)
                found[kind] = found.get(kind, 0) + 1
                self._decide(table, random)
        return sorted(found, key=found.__getitem__, reverse=True)

    def _play(
        self, table: Table, seat: int, program: TriedProgram, most: int, report: GameReport | None = None
    ) -> int:
        """Play on until the program has taken so many decisions, or the game is over; return how many it took."""
        random, taken = bots.find("random", table.game), 0
        for _ in range(MAX_DECISIONS * table.seats):
            if table.to_act is None or taken >= most:
                break
            if table.to_act != seat:
                self._decide(table, random)
                continue
            if report is not None:
                kind = table.game.kind_name(table.view(seat).kind)
                report.asked[kind] = report.asked.get(kind, 0) + 1
            self._decide(table, program)
            taken += 1
        return taken

    def _decide(self, table: Table, bot: bots.Bot) -> None:
        assert table.to_act is not None
        view = table.view(table.to_act)
        stream = Dealer(self._seed).stream(bots.stream_name(view))
        table.decide(table.to_act, bot.choose(view, stream), view.number)


def sizes(game: Game) -> list[dict[str, int | str]]:
    """Return the options to play with: once for each number of players and each variant."""
    kinds = [option for option in game.notation.OPTIONS if option.name in ("players", "variant")]
    ways = [{option.name: value} for option in kinds for value in range(option.low, option.high + 1)]
    return [{**turn_limit(game), **way} for way in ways or [{}]]


def turn_limit(game: Game) -> dict[str, int | str]:
    """Return a limit for games that could go on for ever."""
    limited = any(option.name == "turns" for option in game.notation.OPTIONS)
    return {"turns": 60} if limited else {}
