"""Lets bots decide at the tables when it is their turn, and has hints and reviews made when somebody asks."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from piste.bots import asks_solver
from piste.core.errors import IllegalDecisionError, PisteError
from piste.core.extras import missing, solving
from piste.core.protocols import SPECTATOR
from piste.web import logging as logs
from piste.web.middleware.fair_queue import NETWORK
from piste.web.storage.jobs import HINT, REVIEW
from piste.web.storage.schema import PartialReviewRow, put
from piste.web.storage.storage import Storage
from piste.web.tables.bot_tasks import BotTask, LocalExecutor, TaskExecutor, failed_review, next_decision
from piste.web.tables.registry import BOT_TAKEOVER_S, TableRegistry
from piste.web.tables.room import Room
from piste.web.workers.worker_pool import INSTANT_LEVELS, BotWorkers, WorkersBusyError, start_task

HINT_WAIT_S = 3.0  # a request for a hint waits this long for it; after that the hint appears by itself
BUSY_RETRY_S = 1.0  # a bot for which there is no worker tries again after this time


class ReviewStatus(NamedTuple):
    """Progress of a review that is being made."""

    done: int = 0
    total: int = 1
    partial_review: str = ""  # JSON; "" before the first decision is judged

    @property
    def fraction(self) -> float:
        """From 0 to 1."""
        return self.done / max(1, self.total)


@dataclass(eq=False)
class BotRunner:
    """Knows what is to be task about in the rooms of a registry, and has it done."""

    _registry: TableRegistry
    _bot_workers: BotWorkers
    _storage: Storage
    _here: LocalExecutor  # for bots that answer at once
    _slow: TaskExecutor  # for all else: here, too, or in a queue
    _ticks: Callable[[], float]  # monotonic
    tasks: set[asyncio.Task[Any]] = field(default_factory=set)
    _looking_again: set[str] = field(default_factory=set)  # rooms whose bots should decide in another process
    _hinting: set[str] = field(default_factory=set)
    _reviewing: dict[str, asyncio.Task[None]] = field(default_factory=dict)

    def play(self, room: Room) -> None:
        """Let a bot decide if it is its turn; one task for a room."""
        if room.bot_to_act() is None or room.stuck or room.code in self._registry.pinned:
            return
        wait = room.bots_elsewhere - self._ticks()
        if wait <= 0:
            start_task(self.tasks, self.play_on(room.code))
            self._registry.pinned.add(room.code)
        elif room.code not in self._looking_again:
            self._looking_again.add(room.code)
            asyncio.get_running_loop().call_later(wait, self._look_again, room.code)

    def _look_again(self, code: str) -> None:
        """Let a bot decide that another process should have let decide, and did not."""
        self._looking_again.discard(code)
        room = self._registry.rooms.get(code)
        if room is not None:
            self.play(room)

    async def play_on(self, code: str) -> None:
        """Have bots decide in a room until it is a person's turn, or a decision is left to others."""
        self._registry.pinned.add(code)
        try:
            while await self._play_once(code):
                pass
        except PisteError:
            pass  # it could not be stored, or the room is gone: the next request for the room begins again
        finally:
            self._registry.pinned.discard(code)
            if self._slow is self._here:
                self._registry.show_here(code, preparing=None)
            elif code in self._registry.rooms:
                # What is in the queue may be lost: look again, as every process does that has the table open.
                self._registry.rooms[code].bots_elsewhere = self._ticks() + BOT_TAKEOVER_S
                self.play(self._registry.rooms[code])

    async def _play_once(self, code: str) -> bool:
        """Have one decision taken; return False when no bot can decide here."""
        async with self._registry.room(code) as room:
            task = next_decision(room)
            NETWORK.set(room.network)
        if task is None:
            return False
        try:
            return await (self._here if task.level in INSTANT_LEVELS else self._slow).decide(task)
        except WorkersBusyError:
            await asyncio.sleep(BUSY_RETRY_S)
            return True

    def prepare(self, room: Room) -> None:
        """Begin to compute what the bots at a table will need; people may play meanwhile.

        A failure is shown when the bot has to decide.
        """
        if not self._bot_workers.size:
            return  # it is done elsewhere, when a bot has to decide
        NETWORK.set(room.network)
        options = room.game.options(room.options)
        for level in sorted({seat.bot for seat in room.seats if asks_solver(seat.bot, room.game)}):
            start_task(self.tasks, self._bot_workers.prepare(room.game.name, level, options))

    async def hint(self, code: str, player: str) -> str:
        """Return a hint for a player, or a sentence that it will follow."""
        if code in self._hinting:
            raise IllegalDecisionError("A hint is on its way. One moment.")

        def finish(_task: asyncio.Task[str]) -> None:
            self._registry.show_here(code, preparing=None)
            self._hinting.discard(code)

        self._hinting.add(code)
        task = start_task(self.tasks, self._hint(code, player))
        task.add_done_callback(finish)
        done, _ = await asyncio.wait({task}, timeout=HINT_WAIT_S)
        return task.result() if done else "The hint is being prepared. It will stand here by itself."

    async def _hint(self, code: str, player: str) -> str:
        async with self._registry.room(code) as room:
            seat = room.seat_of(player)
            if seat == SPECTATOR:
                raise IllegalDecisionError("You look on here: hints are for those who play.")
            number = room.hint_question(seat)
            NETWORK.set(room.network)
            room.no_hints.pop((seat, number), None)
            if (seat, number) in room.hints:
                return room.hints[seat, number]
        return await self._slow.hint(BotTask(HINT, code, number, seat))

    async def review(self, code: str, network: str = "", wait_s: float = 0.0) -> str | None:
        """Return the coach's review as JSON, or None while it is being made for the network that asks.

        One that begins now is waited for so long.
        """
        review = await self._review(code, network)
        if review is None and wait_s and code in self._reviewing:
            await asyncio.wait({self._reviewing[code]}, timeout=wait_s)
            review = await self._review(code, network)
        return review

    async def _review(self, code: str, network: str) -> str | None:
        NETWORK.set(network)
        async with self._registry.room(code) as room:
            record = room.record()
            review = await self._storage.read(self._storage.review, code)
            if review is not None:
                return review
            row = await self._storage.read(self._storage.partial_review, code)
            if row is not None and row.failed:
                return stopped_review(row)
            if code in self._reviewing:
                return None
            review = await asyncio.to_thread(_review_without_decisions, record)
            if review is None and self._slow is self._here:
                refused = missing(solving(room.game, room.game.options(room.options), "A review"))
                review = failed_review(refused) if refused else None  # not stored: it may be installed later
            if review is None:
                self._begin_review(code)
            return review

    async def resume_review(self, code: str, network: str) -> None:
        """Go on with a review that was given up, from what it had evaluated; nothing happens if there is none."""
        NETWORK.set(network)
        async with self._registry.room(code) as room:
            room.record()  # which a game that is not over refuses
            row = await self._storage.read(self._storage.partial_review, code)
            if row is not None and row.failed:
                row.failed = ""
                await asyncio.wrap_future(self._storage.write(put(row)))
                self._begin_review(code)

    def _begin_review(self, code: str) -> None:
        self._reviewing[code] = start_task(self.tasks, self._make_review(code))

    async def _make_review(self, code: str) -> None:
        try:
            await self._slow.review(BotTask(REVIEW, code))
        except WorkersBusyError:
            pass  # the next request begins again
        except PisteError:
            logs.warning("review not kept", room=logs.room_hash(code))
        finally:
            self._reviewing.pop(code, None)

    async def review_status(self, code: str) -> ReviewStatus:
        """Return the progress of a review that is not there yet."""
        row = self._here.reviewing.get(code) or await self._storage.read(self._storage.partial_review, code)
        return ReviewStatus() if row is None else ReviewStatus(row.done, row.total, row.text)

    async def close(self) -> None:
        for task in list(self.tasks):
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)
        self._bot_workers.close()


def stopped_review(row: PartialReviewRow) -> str:
    """Return a review as far as it goes, with why it does not go on."""
    return json.dumps({**json.loads(row.text or "{}"), "failed": row.failed, "resumable": True})


def _review_without_decisions(record: str) -> str | None:
    """Return the review of a game in which nobody had anything to decide; that takes no time."""
    from piste.analysis.coach.review import certainty, document, review_without_decisions
    from piste.core.record import Record

    review = review_without_decisions(Record.parse(record))
    return None if review is None else json.dumps({**document(review, ()), "certainty": certainty(review)})
