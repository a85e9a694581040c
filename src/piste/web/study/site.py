"""The addresses of puzzles, progress and the analysis board, and their handlers."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote, urlencode

from starlette.requests import HTTPConnection, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from piste.analysis.coach.progress import GameProgress, game_progress
from piste.core.errors import MissingExtraError, OptionError, PisteError, PositionError, UnknownNameError
from piste.core.extras import missing, solving
from piste.core.game import Game, find, listed, names
from piste.core.protocols import HIDDEN, SPECTATOR
from piste.web.middleware.guard import read_form
from piste.web.middleware.rate_limits import RateLimitError, network_of
from piste.web.requests import int_param, parse_int, requested_game
from piste.web.storage.schema import Listing as StoredTable
from piste.web.study import tasks
from piste.web.study.runner import Pending, StudyRunner
from piste.web.study.tasks import LEVELS, SolvedPuzzle
from piste.web.tables.results import result_text
from piste.web.tables.service import TableService
from piste.web.views.rendering import PageRenderer
from piste.web.views.study import (
    GAVE_UP,
    PlayedGame,
    Streak,
    Value,
    analysis_model,
    day_number,
    decision_values,
    game_charts,
    known_text,
    puzzle_model,
    solver_names,
    study_model,
    told_lines,
    verdict,
    worth_text,
)
from piste.web.workers.worker_pool import WorkersBusyError

COOKIE = "piste-puzzles"
COOKIE_MAX_AGE_S = 365 * 86400
MAX_STREAKS = 60  # in a cookie
MAX_NUMBER = 999_999  # of a puzzle
MAX_POSITION_CHARS = 6000  # in an address; what a program sends may be longer, and `piste solve` takes that
MAX_PROGRESS_GAMES = 100  # the newest ones
MAX_REVIEWS_BEGUN = 3  # by one request for the page of progress
MAX_ROWS_KEPT = 8192
TODAY = "today"
MAX_NAMES, MAX_NAME_CHARS = 4, 40  # in an address of the analysis board
REPLAY = re.compile(r"[a-z0-9]{1,40}\.[0-9]{1,6}")  # the code of a table and a step


@dataclass(eq=False)
class StudySite:
    """Handles requests for puzzles, progress and the analysis board."""

    service: TableService
    pages: PageRenderer
    runner: StudyRunner
    player: Callable[[HTTPConnection], str]
    secure: Callable[[Request], bool]  # whether cookies are for https alone
    _rows: dict[tuple[str, str], PlayedGame] = field(default_factory=dict)  # reviewed games by code and seat

    # Puzzles

    async def puzzles(self, request: Request) -> Response:
        """Every game with its levels, or one of them."""
        one = "game" in request.path_params
        games = [requested_game(request)] if one else [find(name) for name in names()]
        streaks = read_streaks(request)
        entries = [
            (
                game,
                refusal(game, "A puzzle"),
                [(level, streaks.get(f"{game.name}.{level}", Streak())) for level in levels_of(game)],
            )
            for game in games
        ]
        day = day_number(self.service.clock())
        page = self.pages.page(
            "puzzles", entries=entries, one=one, today=self.game_of_the_day(day), date=date_text(day),
            daily=current(streaks.get(TODAY, Streak()), day), answered=streaks.get(TODAY, Streak()).last == day,
        )  # fmt: skip
        return HTMLResponse(page)

    def game_of_the_day(self, day: int) -> Game | None:
        """Return the game of the puzzle of the day: each in turn."""
        games = [find(name) for name in names() if not refusal(find(name), "A puzzle")]
        return games[day % len(games)] if games else None

    async def next_puzzle(self, request: Request) -> Response:
        """Lead to the first puzzle of a level that the device has not answered."""
        game, level = requested_game(request), requested_level(request)
        last = read_streaks(request).get(f"{game.name}.{level}", Streak()).last
        return RedirectResponse(f"/puzzles/{game.name}/{level}/{min(last + 1, MAX_NUMBER)}", 303)

    async def puzzle(self, request: Request) -> Response:
        game, level = requested_game(request), requested_level(request)
        number = parse_int(request.path_params["number"], len(str(MAX_NUMBER)), 0)
        if not 1 <= number <= MAX_NUMBER:
            raise UnknownNameError(f"Puzzles have numbers from 1 to {MAX_NUMBER}.")
        network = network_of(request.scope)
        try:
            made = await self.runner.ask(network, tasks.puzzle, game.name, level, number)
        except (WorkersBusyError, RateLimitError):
            raise
        except (OptionError, MissingExtraError) as e:  # there is no such puzzle
            return HTMLResponse(
                self.pages.page("no_puzzle", game=game, level=level, levels=levels_of(game), error=str(e)), 404
            )
        title = f"Puzzle {number}"
        context = {"game": game, "title": title, "level": level, "next": f"/puzzles/{game.name}/{level}/{number + 1}"}
        if not isinstance(made, Pending):
            self.runner.ahead(network, tasks.puzzle, game.name, level, number + 1)
        return await self._puzzle(request, made, f"{game.name}.{level}", number, context)

    async def today(self, request: Request) -> Response:
        day = day_number(self.service.clock())
        game = self.game_of_the_day(day)
        if game is None:
            raise PisteError("No game here can make puzzles: the extra 'fast' is not installed.")
        made = await self.runner.ask(network_of(request.scope), tasks.puzzle_of_the_day, game.name, date_text(day))
        context = {"game": game, "title": f"Puzzle of {date_text(day)}", "level": "", "next": "/puzzles"}
        return await self._puzzle(request, made, TODAY, day, context)

    async def _puzzle(
        self, request: Request, made: SolvedPuzzle | Pending, key: str, number: int, context: dict[str, object]
    ) -> Response:
        """Show a puzzle, take an answer, or show the answer; `number` tells it from others of the same key."""
        path, daily = request.url.path, key == TODAY
        if isinstance(made, Pending):
            if request.method == "POST":
                return RedirectResponse(path, 303)
            return HTMLResponse(self.pages.page("pending", **context, pending=made))
        streaks = read_streaks(request)
        streak = streaks.get(key, Streak())
        if request.method == "POST":
            form = await read_form(request)
            chosen = form.get("decision", "")
            action = read_answer(made, chosen) if chosen else HIDDEN
            response = RedirectResponse(f"{path}?{urlencode({'answer': chosen or GAVE_UP})}", 303)
            if number > streak.last:  # each counts once
                right = made.evaluation.best.action == action
                self.keep_streaks(request, response, {**streaks, key: streak.after(number, right, every=daily)})
            return response
        shown = current(streak, number) if daily else streak
        context |= {"streak": shown, "daily": daily, "path": path, "level": made.level, "number": number}
        answer = request.query_params.get("answer", "")
        if not answer:
            model = puzzle_model(made, path)
            told = told_lines(find(made.game), made.view) if made.secrets else ()
            parts = self.pages.parts(model, only=("people", "scene", "choices", "notes"))
            counted = number > streak.last
            page = self.pages.page("puzzle", **context, model=model, parts=parts, told=told, counts=counted)
            return HTMLResponse(page)
        action = HIDDEN if answer == GAVE_UP else read_answer(made, answer)
        shown_model = study_model(
            find(made.game), made.view, SPECTATOR, names=solver_names(find(made.game), made.view)
        )
        people = solver_names(find(made.game), made.view)
        analyse = analysis_address(made.game, made.position, [("name", name) for name in people])
        parts = self.pages.parts(shown_model, only=("people",))
        page = self.pages.page(
            "answer", **context, model=shown_model, parts=parts, verdict=verdict(made, action), analyse=analyse
        )
        return HTMLResponse(page)

    def keep_streaks(self, request: Request, response: Response, streaks: dict[str, Streak]) -> None:
        text = "_".join(".".join([key, *map(str, streak)]) for key, streak in streaks.items())
        response.set_cookie(
            COOKIE, text, max_age=COOKIE_MAX_AGE_S, path="/puzzles", httponly=True, samesite="lax",
            secure=self.secure(request),
        )  # fmt: skip

    async def today_alias(self, _request: Request) -> Response:
        return RedirectResponse("/puzzles/today", 303)

    # The analysis board

    async def analysis_games(self, request: Request) -> Response:
        """Ask for a position, or lead to the game of the one that was given."""
        text = request.query_params.get("position", "").strip()
        if text:
            name = text.split()[0].partition("{")[0]
            if name in names():
                return RedirectResponse(analysis_address(name, text), 303)
            error = f"A position begins with the name of its game: {listed(list(names()), 'or')}."
            return HTMLResponse(self.analysis_page(None, text, error=error), 422)
        return HTMLResponse(self.analysis_page(None, ""))

    async def analysis(self, request: Request) -> Response:
        game, network = requested_game(request), network_of(request.scope)
        text = " ".join(request.query_params.get("position", "").split())
        step = request.query_params.get("decision", "")
        more = passed_on(request)
        people = [value for key, value in more if key == "name"]
        try:
            if len(text) > MAX_POSITION_CHARS:
                raise PositionError(
                    f"A position has at most {MAX_POSITION_CHARS} characters here; this one has {len(text)}."
                )
            if not text:
                first = await self.runner.ask(network, tasks.first_position, game.name)
                if isinstance(first, Pending):
                    return self.pending_page(game, first)
                text = first
            if step:
                after = await self.runner.ask(network, tasks.follow, text, step[:80])
                if isinstance(after, Pending):
                    return self.pending_page(game, after)
                return RedirectResponse(analysis_address(game.name, after, more), 303)
            board = await self.runner.ask(network, tasks.board, text)
        except (WorkersBusyError, RateLimitError):
            raise
        except PisteError as e:
            return HTMLResponse(self.analysis_page(game, text, error=str(e)), 422)
        if isinstance(board, Pending):
            return self.pending_page(game, board)
        if board.game != game.name:
            return RedirectResponse(analysis_address(board.game, board.position, more), 303)
        shown = analysis_model(board, people)
        values: tuple[Value, ...] = ()
        known = how = chances = ""
        pending: Pending | None = None
        if not shown.over:
            try:
                worth = await self.runner.ask(network, tasks.evaluate, board.position)
            except PisteError as e:  # the position is shown all the same
                how = str(e)
            else:
                if isinstance(worth, Pending):
                    pending = worth
                else:
                    evaluation = worth.evaluation
                    values = decision_values(game, board.view, evaluation, worth.reasons, names=people)
                    known, how, chances = known_text(evaluation), evaluation.how, worth_text(evaluation)
        parts = self.pages.parts(shown.model, only=("people",))
        page = self.analysis_page(
            game, board.position, shown=shown, parts=parts, values=values, known=known, how=how, pending=pending,
            chances=chances, more=more, back=replay_address(more),
        )  # fmt: skip
        return HTMLResponse(page)

    def pending_page(self, game: Game, pending: Pending) -> Response:
        return HTMLResponse(self.pages.page("pending", game=game, title="Analysis", level="", pending=pending))

    def analysis_page(self, game: Game | None, text: str, *, error: str = "", **context: Any) -> str:
        games = [find(name) for name in names()] if game is None else [game]
        examples = [(one.notation.TITLE, f"/analysis/{one.name}") for one in games]
        context = {"shown": None, "pending": None, "more": [], "back": "", **context}
        return self.pages.page("analysis", game=game, text=text, error=error, examples=examples, **context)

    async def analyse(self, request: Request) -> Response:
        """Lead from a step of a finished game to its position."""
        code, network = request.path_params["code"], network_of(request.scope)
        async with self.service.room(code) as room:
            room.record()  # refuses a running game
            assert room.table is not None
            at = max(0, min(int_param(request, "step", 0), len(room.table.history())))
            actors = room.table.actors()
            chosen = int_param(request, "seat", SPECTATOR)
            if not 0 <= chosen < room.table.seats:
                # Whoever decides next knows the position best.
                chosen = next((actor for actor in actors[at:] if actor >= 0), 0)
            game, view = room.game, room.table.view(chosen).at_step(at).complete()
            own = room.seat_of(self.player(request))
            people = ["You" if i == own else name for i, name in enumerate(room.names())]
        text = await self.runner.ask(network, tasks.position_of, game.name, view, key=(code, at, chosen))
        if isinstance(text, Pending):
            return self.pending_page(game, text)
        more = [*(("name", name) for name in people), ("replay", f"{code}.{at}")]
        return RedirectResponse(analysis_address(game.name, text, more), 303)

    # Progress

    async def progress(self, request: Request) -> Response:
        player, network = self.player(request), network_of(request.scope)
        stored = (
            await self.service.storage.read(self.service.storage.rooms_of, player, MAX_PROGRESS_GAMES)
            if player
            else []
        )
        # As `piste progress` does: finished games with one seat of one's own.
        own = [one for one in stored if one.room.ended is not None and len(one.yours) == 1]
        own = [one for one in own if one.room.game in names()]
        heads = await self.service.storage.read(self.service.storage.heads, [one.room.code for one in own])
        own = [one for one in own if counts(heads.get(one.room.code, ""))]
        unread = [one for one in own if (one.room.code, seat_of(one)) not in self._rows]
        reviews = await self.service.storage.read(self.service.storage.reviews, [one.room.code for one in unread])
        begun = 0
        played = []
        for one in reversed(own):
            row = self._rows.get((one.room.code, seat_of(one)))
            if row is None:
                review = reviews.get(one.room.code)
                if review is None and begun < MAX_REVIEWS_BEGUN:
                    review = await self.service.bot_runner.review(one.room.code, network)
                    begun += review is None
                row = self.played_game(one, review)
            played.append(row)
        waiting = sum(row.progress is None and not row.note for row in played)
        page = self.pages.page("progress", charts=game_charts(played), played=played, waiting=waiting)
        return HTMLResponse(page)

    def played_game(self, stored: StoredTable, review: str | None) -> PlayedGame:
        """Return a game with how well it was played; kept once it is reviewed."""
        room = stored.room
        document = json.loads(review) if review else {}
        progress: GameProgress | None = None
        if "decisions" in document and "failed" not in document:
            progress = game_progress(document, seat_of(stored))
        when, result = float(room.ended or room.touched), result_text(stored)
        row = PlayedGame(room.code, room.game, when, result, progress, str(document.get("failed", "")))
        if progress is not None:
            self._rows[room.code, seat_of(stored)] = row
            if len(self._rows) > MAX_ROWS_KEPT:
                del self._rows[next(iter(self._rows))]
        return row

    def routes(self) -> list[Route]:
        both = ["GET", "POST"]
        return [
            Route("/puzzle/today", self.today_alias),
            Route("/puzzles", self.puzzles),
            Route("/puzzles/today", self.today, methods=both),
            Route("/puzzles/{game}", self.puzzles),
            Route("/puzzles/{game}/{level}", self.next_puzzle),
            Route("/puzzles/{game}/{level}/{number}", self.puzzle, methods=both),
            Route("/analysis", self.analysis_games),
            Route("/analysis/{game}", self.analysis),
            Route("/t/{code}/analyse", self.analyse),
            Route("/progress", self.progress),
        ]


def counts(head: str) -> bool:
    """Say whether a game counts (G8): lessons, and games that were tried again, do not. What is damaged does not."""
    try:
        return json.loads(head)["counts"] is True
    except (ValueError, KeyError, TypeError):
        return False


def seat_of(stored: StoredTable) -> str:
    """Return the one seat of the player who asked, as the game calls it."""
    return find(stored.room.game).seat_name(stored.yours[0])


def analysis_address(game: str, position: str, more: Sequence[tuple[str, str]] = ()) -> str:
    return f"/analysis/{game}?position={quote(position, safe='')}{'&' if more else ''}{urlencode(more)}"


def passed_on(request: Request) -> list[tuple[str, str]]:
    """Return what an address of the board says besides the position: people's names, and the replay it came from."""
    given = request.query_params.multi_items()
    people = [(key, tidy_line(value)[:MAX_NAME_CHARS]) for key, value in given if key == "name"][:MAX_NAMES]
    return people + [(key, value) for key, value in given if key == "replay" and REPLAY.fullmatch(value)][:1]


def tidy_line(text: str) -> str:
    return " ".join("".join(letter for letter in text if letter.isprintable()).split())


def replay_address(more: Sequence[tuple[str, str]]) -> str:
    """Return the address of the step from which somebody came to the board; "" if from elsewhere."""
    code, _, step = dict(more).get("replay", "").partition(".")
    return f"/t/{code}/replay?step={step}" if code else ""


def refusal(game: Game, purpose: str) -> str:
    """Return why this game has no puzzles here, "" if it has."""
    refused = missing(solving(game, game.options(), purpose))
    return "" if refused is None else str(refused)


def levels_of(game: Game) -> tuple[str, ...]:
    """Return the levels that a game has puzzles of."""
    return tuple(getattr(game.explain, "PUZZLE_LEVELS", LEVELS))


def requested_level(request: Request) -> str:
    level = str(request.path_params["level"])
    if level not in LEVELS:
        raise UnknownNameError(f"There is no such level of puzzles. There are: {', '.join(LEVELS)}.")
    return level


def read_answer(puzzle: SolvedPuzzle, text: str) -> int:
    """Return the decision that was chosen; one that is not open belongs to another puzzle."""
    view = puzzle.view
    legal = sum(1 << action for action in view.actions)
    return find(puzzle.game).read_decision(view.position, view.kind, legal, text[:80])


def current(streak: Streak, day: int) -> Streak:
    """Return a streak of days as it stands today: a day that was left out ends it."""
    return streak if streak.last >= day - 1 else streak._replace(row=0)


def date_text(day: int) -> str:
    return datetime.fromtimestamp(day * 86400, UTC).strftime("%Y-%m-%d")


def read_streaks(request: HTTPConnection) -> dict[str, Streak]:
    """Return what a device has answered, from its cookie; what cannot be read counts as nothing."""
    streaks: dict[str, Streak] = {}
    for entry in request.cookies.get(COOKIE, "").split("_")[:MAX_STREAKS]:
        *key, asked, right, row, best, last = ["", *entry.split(".")] if entry.count(".") >= 5 else [""] * 6
        counts = [asked, right, row, best, last]
        if key[1:] and all(count.isascii() and count.isdigit() and len(count) < 8 for count in counts):
            streaks[".".join(key[1:])] = Streak(*map(int, counts))
    return streaks
