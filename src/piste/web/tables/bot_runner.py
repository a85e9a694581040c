"""Bots at the tables: they decide when it is their turn and give hints; and the coach, who looks back."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any, NamedTuple, TypeVar

from piste.bots import asks_solver, stream_name
from piste.core.errors import IllegalDecisionError, MissingExtraError, PisteError
from piste.core.extras import missing, solving
from piste.core.protocols import SPECTATOR
from piste.web import logging as logs
from piste.web.metrics import Metrics
from piste.web.middleware.fair_queue import NETWORK
from piste.web.settings import Settings
from piste.web.storage.storage import Change, PutReview, PutSeat, SeatRow, Storage
from piste.web.tables.registry import ActionResult, TableRegistry
from piste.web.tables.room import Room
from piste.web.workers.worker_pool import (
    QUICK,
    READY,
    BotExecutor,
    PreparationTimeoutError,
    WorkersBusyError,
    WorkerTimeoutError,
    seed_of_bots,
)

PATIENT = 3.0
"""Seconds that whoever asks for a hint waits for it; after that it comes by itself."""

T = TypeVar("T")


class ReviewStatus(NamedTuple):
    """How far the coach is with a game."""

    done: int = 0
    whole: int = 1
    found: str = ""  # the review as far as it goes, as JSON; "" before the first decision is judged

    @property
    def part(self) -> float:
        """From 0 to 1."""
        return self.done / max(1, self.whole)


class BotRunner(TableRegistry):
    """Rooms in which bots play."""

    def __init__(
        self,
        storage: Storage,
        bot_workers: BotExecutor,
        settings: Settings,
        metrics: Metrics,
        clock: Callable[[], float],
        ticks: Callable[[], float],
    ) -> None:
        super().__init__(storage, settings, metrics, clock, ticks)
        self.bot_workers = bot_workers
        self._tasks: set[asyncio.Task[Any]] = set()
        self._thinking: set[str] = set()
        self._hinting: set[str] = set()
        self._reviewing: dict[str, ReviewStatus] = {}
        self._unreviewed: dict[str, str] = {}  # games whose review was given up, and why; forgotten with the process

    def woken(self, room: Room) -> None:
        self.think(room)

    def in_use(self, code: str) -> bool:
        return code in self._thinking or super().in_use(code)

    @staticmethod
    def seat_rows(room: Room) -> list[Change]:
        return [
            PutSeat(SeatRow(room.code, i, seat.kind, seat.name, seat.bot, seat.stand_in, seat.link))
            for i, seat in enumerate(room.seats)
        ]

    def think(self, room: Room) -> None:
        """Let a bot decide, if it is for one to decide; one thought a room."""
        if room.bot_to_act() is not None and room.code not in self._thinking:
            self._thinking.add(room.code)
            self._start(self._bots_play(room.code))

    def _start(self, work: Coroutine[None, None, T]) -> asyncio.Task[T]:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        task.add_done_callback(lambda done: done.cancelled() or done.exception())  # perhaps nobody else asks
        return task

    async def _bots_play(self, code: str) -> None:
        try:
            while True:
                async with self.room(code) as room:
                    due = room.bot_to_act()
                    if room.table is None or due is None or room.stuck:
                        return
                    seat, level = due
                    NETWORK.set(room.network)
                    view = room.table.view(seat)
                    seed = seed_of_bots(room.head.seed if room.head else None)
                    game, asked = room.game.name, room
                began = time.perf_counter()
                telling = partial(self._tell_preparing, code)
                try:
                    chosen = await self.bot_workers.choose(game, level, view, seed, stream_name(view), telling)
                except WorkersBusyError:
                    await asyncio.sleep(1.0)
                    continue
                except (WorkerTimeoutError, MissingExtraError) as e:
                    logs.warning("bot tired", game=game, bot=level)
                    if level in QUICK:
                        await self._stick(code, str(e))
                        return
                    async with self.room(code) as room:
                        if room is asked and room.bot_to_act() == due:
                            room.relieve(seat, why_not(e))
                            await self.keep(room, *self.seat_rows(room))
                            self.wake(code)
                except PisteError as e:
                    logs.warning("bot failed", game=game, bot=level)
                    await self._stick(code, str(e))
                    return
                else:
                    self.metrics.thought(level, time.perf_counter() - began)
                    async with self.room(code) as room:
                        # If what it thought of could not be kept, the room was read again: think again.
                        if room is asked and room.bot_decides(seat, chosen, view.number):
                            self.metrics.decided(game)
                            await self.keep(room)
                            self.wake(code)
        except PisteError:
            pass  # it could not be kept, or the room is gone: whoever looks next begins again
        finally:
            self._tell_preparing(code, *READY)
            self._thinking.discard(code)

    def _tell_preparing(self, code: str, done: int, whole: int, _what: str) -> None:
        """Show at a table how far a bot that is being prepared has come, a percent at a time."""
        room = self.rooms.get(code)
        if room is None:
            return
        percent = None if done >= whole else 100 * done // whole
        if room.preparing != percent:
            room.preparing = percent
            room.version += 1
            self.wake(code)

    def prepare(self, room: Room) -> None:
        """Begin to make what the bots at a table will need: people may play on meanwhile."""
        NETWORK.set(room.network)
        options = room.game.options(room.options)
        for level in sorted({seat.bot for seat in room.seats if asks_solver(seat.bot, room.game)}):
            self._start(self._prepared(room.game.name, level, options))

    async def _prepared(self, game: str, level: str, options: Any) -> None:
        with contextlib.suppress(PisteError):  # told when the bot has to decide
            await self.bot_workers.prepare(game, level, options)

    async def _stick(self, code: str, why: str) -> None:
        """Say at the table that a bot could not answer; whoever comes next lets it try again."""
        async with self.room(code) as room:
            room.stuck = why
            room.version += 1
            self.wake(code)

    async def hint(self, code: str, player: str) -> ActionResult:
        if code in self._hinting:
            raise IllegalDecisionError("A hint is on its way. One moment.")
        self._hinting.add(code)
        task = self._start(self._given_hint(code, player))
        done, _ = await asyncio.wait({task}, timeout=PATIENT)
        return task.result() if done else ActionResult("The hint is being prepared. It will stand here by itself.")

    async def _given_hint(self, code: str, player: str) -> ActionResult:
        try:
            return await self._thought_hint(code, player)
        finally:
            self._tell_preparing(code, *READY)
            self._hinting.discard(code)

    async def _thought_hint(self, code: str, player: str) -> ActionResult:
        async with self.room(code) as room:
            seat = room.seat_of(player)
            if seat == SPECTATOR:
                raise IllegalDecisionError("You look on here: hints are for those who play.")
            number = room.hinted(seat)
            NETWORK.set(room.network)
            if (seat, number) in room.hints:
                return ActionResult(room.hints[seat, number])
            assert room.table is not None
            view = room.table.view(seat)
            seed = seed_of_bots(room.head.seed if room.head else None)
            game = room.game.name
        began = time.perf_counter()
        telling = partial(self._tell_preparing, code)
        try:
            level, chosen = await self.bot_workers.hint(game, view, seed, f"hint {seat} {number}", telling)
        except PisteError as e:  # whoever asked may not wait for the answer any more: it stands at the table, too
            async with self.room(code) as room:
                room.no_hints[seat, number] = f"There is no hint: {e}"
                room.version += 1
                self.wake(code)
            raise
        self.metrics.thought("hint", time.perf_counter() - began)
        async with self.room(code) as room:
            said = room.give_hint(seat, number, level, chosen)
            if said:
                await self.keep(room)
                self.wake(code)
        return ActionResult(said)

    async def review(self, code: str, network: str = "") -> str | None:
        """Return the coach's review, or None while it is being made, in the turn of the network that asks."""
        NETWORK.set(network)
        async with self.room(code) as room:
            record = room.record()
            kept = await asyncio.to_thread(self.storage.review, code)
            kept = kept or self._unreviewed.get(code)
            if kept is None and code not in self._reviewing:
                kept = await asyncio.to_thread(_at_once, record)
            refused = missing(solving(room.game, room.game.options(room.options), "A review"))
            if kept is None and refused is not None:
                return json.dumps({"failed": str(refused)})  # not kept: it may be installed later
            if kept is None and code not in self._reviewing:
                self._reviewing[code] = ReviewStatus()
                self._start(self._make_review(code, record))
            return kept

    def review_status(self, code: str) -> ReviewStatus:
        """Return how far the coach is with a game that has no review yet."""
        return self._reviewing.get(code, ReviewStatus())

    def _tell_looking(self, code: str, done: int, whole: int, _what: str, found: str = "", /) -> None:
        if code in self._reviewing:
            self._reviewing[code] = ReviewStatus(done, whole, found or self._reviewing[code].found)

    async def _make_review(self, code: str, record: str) -> None:
        began = time.perf_counter()
        try:
            found = await self.bot_workers.review(record, partial(self._tell_looking, code))
            self.metrics.thought("review", time.perf_counter() - began)
        except WorkersBusyError:
            self._reviewing.pop(code, None)
            return  # whoever asks again begins again
        except WorkerTimeoutError as e:
            self._unreviewed[code] = json.dumps({"failed": str(e)})
            self._reviewing.pop(code, None)
            return
        except PisteError as e:
            found = json.dumps({"failed": str(e)})
        try:
            await asyncio.wrap_future(self.storage.write(PutReview(code, found)))
        except PisteError:
            logs.warning("review not kept", room=logs.room_hash(code))
        finally:
            self._reviewing.pop(code, None)

    async def close(self) -> None:
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self.bot_workers.close()


def why_not(error: PisteError) -> str:
    """Return why a bot does not play on, as the end of a sentence about it."""
    if isinstance(error, MissingExtraError):
        return f"cannot play on this server without the extra '{error.extra}'"
    if isinstance(error, PreparationTimeoutError):
        return "could not be made ready for these options"
    return "took too long to decide"


def _at_once(record: str) -> str | None:
    """Return the review of a game in which nobody had anything to decide: nobody has to wait for that."""
    from piste.analysis.coach.review import certainty, document, undecided
    from piste.core.record import Record

    found = undecided(Record.parse(record))
    return None if found is None else json.dumps({**document(found, ()), "certainty": certainty(found)})
