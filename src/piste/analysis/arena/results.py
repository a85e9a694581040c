"""The results file of a tournament: JSON lines that are only ever appended, so that nothing that was played is lost.

The first line is the plan. Each further line is one deal in all its games, or the coach's review of one. A last line
that was cut off by a crash or a full disk is left out when the file is read, and overwritten when it is gone on with.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from piste.analysis.arena.game_play import Forfeit, Played, Time
from piste.analysis.arena.plan import Plan, read_plan
from piste.analysis.engine import version_stamp
from piste.core.errors import PisteError
from piste.core.game import quoted


class ResultsError(PisteError):
    """A results file that cannot be read, written or gone on with."""


class GameResult(NamedTuple):
    """One game of a deal."""

    seats: tuple[int, ...]  # the entrant in each seat
    winner: int | None  # a seat, or None for a draw
    began: int | None  # the seat that decided first
    turns: int
    moves: tuple[int, ...]
    forfeits: tuple[Forfeit, ...]
    times: tuple[Time, ...]  # of each seat
    rounds: tuple[int, ...] = ()

    @staticmethod
    def of(seats: tuple[int, ...], played: Played) -> GameResult:
        spent = [[seconds for own, seconds in played.spent if own == seat] for seat in range(len(seats))]
        times = tuple(Time(len(own), round(sum(own), 6), round(max(own, default=0.0), 6)) for own in spent)
        return GameResult(
            seats, played.winner, played.began, played.turns, played.moves, played.forfeits, times, played.rounds
        )

    def points(self, seat: int) -> float:
        """Return what a seat got: 1 for a win, an equal part of it for a draw."""
        return 1 / len(self.seats) if self.winner is None else float(self.winner == seat)


class DealResult(NamedTuple):
    """One deal, played from every order of seats."""

    lineup: int
    number: int
    games: tuple[GameResult, ...]

    def points(self, entrant: int) -> tuple[float, int]:
        """Return what an entrant got in all games of the deal, and in how many seats it sat."""
        own = [game.points(seat) for game in self.games for seat, who in enumerate(game.seats) if who == entrant]
        return sum(own), len(own)


class DecisionReview(NamedTuple):
    """What the coach says of one decision."""

    number: int  # which decision of the game, counted from 0
    seat: int
    kind: int
    loss: float
    known: str


class GameReview(NamedTuple):
    """What the coach says of one game."""

    luck: tuple[float, ...]  # of each seat, in chances to win
    exact: bool  # whether luck is exact, and nothing on average whoever plays
    decisions: tuple[DecisionReview, ...]  # those in which there was a choice


class DealReview(NamedTuple):
    """The reviews of one deal's games."""

    lineup: int
    number: int
    games: tuple[GameReview, ...]


Key = tuple[int, int]
"""A lineup and the number of a deal."""


class Results:
    """What a tournament has come to so far, and the file that it is kept in, if any."""

    def __init__(self, plan: Plan, path: Path | None = None, file: BinaryIO | None = None) -> None:
        self.plan, self.path = plan, path
        self.deals: dict[Key, DealResult] = {}
        self.reviews: dict[Key, DealReview] = {}
        self._file = file
        self._length = 0  # of what the file has in whole lines
        self._written_by = version_stamp()

    def reopen(self) -> None:
        """Open the file to go on behind its last whole line, if nobody else does and this is the same piste."""
        assert self.path is not None
        if self._written_by != version_stamp():
            raise ResultsError(
                f"{quoted(self.path, 200)} was begun by piste {self._written_by}, and this is piste "
                f"{version_stamp()}: they may not play alike. Go on with that one, or begin anew."
            )
        try:
            self._file = self.path.open("r+b", buffering=0)
            _lock(self._file, self.path)
            self._file.truncate(self._length)
            self._file.seek(self._length)
        except OSError as e:
            raise ResultsError(
                f"The results cannot be written to {quoted(self.path, 200)}: {e.strerror or e}."
            ) from None

    def _take(self, one: DealResult | DealReview) -> None:
        if isinstance(one, DealResult):
            self.deals[one.lineup, one.number] = one
        else:
            self.reviews[one.lineup, one.number] = one

    def add(self, found: Iterable[DealResult | DealReview]) -> None:
        """Take results in, and append them to the file."""
        lines = []
        for one in found:
            self._take(one)
            lines.append(_line(deal_document(one) if isinstance(one, DealResult) else review_document(one)))
        self._write(b"".join(lines))

    def _write(self, data: bytes) -> None:
        if self._file is None:
            return
        try:
            while data:  # a disk that is nearly full takes a part of it
                data = data[self._file.write(data) :]
            os.fsync(self._file.fileno())
        except OSError as e:
            with contextlib.suppress(OSError):
                self._file.close()
            self._file = None
            raise ResultsError(
                f"The results cannot be written to {quoted(self.path, 200)}: {e.strerror or e}. What it has is kept; "
                f"when there is room again, go on with: piste tournament --resume {self.path}"
            ) from None

    def close(self) -> None:
        if self._file is not None:
            with contextlib.suppress(OSError):
                self._file.close()
            self._file = None


def create(plan: Plan, path: Path) -> Results:
    """Begin a results file; one that is there is not overwritten."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("xb", buffering=0)
    except FileExistsError:
        raise ResultsError(
            f"{quoted(path, 200)} is there already. Go on with it: piste tournament --resume {path}"
        ) from None
    except OSError as e:
        raise ResultsError(f"The results cannot be written to {quoted(path, 200)}: {e.strerror or e}.") from None
    _lock(file, path)
    results = Results(plan, path, file)
    try:
        results._write(_line({**plan.document(), "piste": version_stamp()}))
    except ResultsError as e:
        path.unlink(missing_ok=True)  # without its plan it could not be gone on with
        raise ResultsError(str(e).partition(" What it has is kept")[0]) from None
    return results


def read(path: Path) -> Results:
    """Return what a results file has. `reopen` goes on with it."""
    try:
        data = path.read_bytes()
    except OSError as e:
        raise ResultsError(f"The results {quoted(path, 200)} cannot be read: {e.strerror or e}.") from None
    length = data.rfind(b"\n") + 1  # a line without its end was cut off
    lines = data[:length].splitlines()
    try:
        head = json.loads(lines[0])
        results = Results(read_plan(head), path)
    except (IndexError, KeyError, TypeError, ValueError, PisteError):
        raise ResultsError(f"{quoted(path, 200)} does not begin with the plan of a tournament.") from None
    for number, line in enumerate(lines[1:], 2):
        try:
            results._take(_read_line(json.loads(line), results.plan))
        except (KeyError, TypeError, ValueError, IndexError):
            if number == len(lines):
                length -= len(line) + 1  # the end of what was cut off
                break
            raise ResultsError(
                f"Line {number} of {quoted(path, 200)} is damaged. Delete that line and go on: its deal is played "
                "again."
            ) from None
    results._length, results._written_by = length, str(head.get("piste"))
    return results


def _lock(file: BinaryIO, path: Path) -> None:
    """Refuse a file that another process writes to, where the system can tell."""
    try:
        import fcntl
    except ImportError:
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        raise ResultsError(f"Another tournament is writing to {quoted(path, 200)}.") from None
    except OSError:
        pass  # a file system without locks


def _line(document: dict[str, Any]) -> bytes:
    return json.dumps(document, separators=(",", ":")).encode() + b"\n"


def deal_document(deal: DealResult) -> dict[str, Any]:
    return {
        "deal": [deal.lineup, deal.number],
        "games": [game_document(game) for game in deal.games],
    }


def game_document(game: GameResult) -> dict[str, Any]:
    return {
        "seats": game.seats,
        "winner": game.winner,
        "began": game.began,
        "turns": game.turns,
        "rounds": game.rounds,
        "moves": game.moves,
        "forfeits": [list(forfeit) for forfeit in game.forfeits],
        "cpu": [list(time) for time in game.times],
    }


def read_game(game: dict[str, Any]) -> GameResult:
    """Return the game that a document describes."""
    return GameResult(
        tuple(game["seats"]), game["winner"], game["began"], game["turns"], tuple(game["moves"]),
        tuple(Forfeit(*one) for one in game["forfeits"]), tuple(Time(*one) for one in game["cpu"]),
        tuple(game["rounds"]),
    )  # fmt: skip


def review_document(review: DealReview) -> dict[str, Any]:
    return {
        "review": [review.lineup, review.number],
        "games": [
            {
                "luck": game.luck,
                "exact": game.exact,
                "decisions": [list(one) for one in game.decisions],
            }
            for game in review.games
        ],
    }


def _read_line(document: dict[str, Any], plan: Plan) -> DealResult | DealReview:
    lineup, number = document["deal"] if "deal" in document else document["review"]
    if not (0 <= lineup < len(plan.lineups) and 0 <= number < plan.deals[lineup]):
        raise ValueError("not of this tournament")
    if "review" in document:
        reviews = tuple(
            GameReview(
                tuple(game["luck"]), bool(game["exact"]), tuple(DecisionReview(*one) for one in game["decisions"])
            )
            for game in document["games"]
        )
        return DealReview(lineup, number, reviews)
    games = tuple(read_game(game) for game in document["games"])
    if sorted(game.seats for game in games) != sorted(plan.orders(lineup)):
        raise ValueError("not every order of the seats, each once")
    return DealResult(lineup, number, games)
