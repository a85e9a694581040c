"""Runs bots at the tables: their decisions, hints, and the coach's reviews of finished games."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

from piste.bots import asks_solver, stream_name
from piste.core.errors import IllegalDecisionError, MissingExtraError, PisteError
from piste.core.extras import missing, solving
from piste.core.protocols import SPECTATOR
from piste.web import logging as logs
from piste.web.metrics import Metrics
from piste.web.middleware.fair_queue import NETWORK
from piste.web.storage.schema import ReviewRow, put
from piste.web.storage.storage import Storage
from piste.web.tables.registry import TableRegistry
from piste.web.tables.room import Room
from piste.web.workers.worker_pool import (
    INSTANT_LEVELS,
    READY,
    BotWorkers,
    PreparationTimeoutError,
    WorkersBusyError,
    WorkerTimeoutError,
    seed_of_bots,
    start_task,
)

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
    """Lets bots decide in the rooms of a registry; bot workers do the computing."""

    _registry: TableRegistry
    _bot_workers: BotWorkers
    _storage: Storage
    _metrics: Metrics
    tasks: set[asyncio.Task[Any]] = field(default_factory=set)
    _hinting: set[str] = field(default_factory=set)
    _reviewing: dict[str, ReviewStatus] = field(default_factory=dict)
    _failed_reviews: dict[str, str] = field(default_factory=dict)  # that were given up, and why; not stored

    def play(self, room: Room) -> None:
        """Let a bot decide if it is its turn; one task for a room."""
        if room.bot_to_act() is not None and not room.stuck and room.code not in self._registry.pinned:
            self._registry.pinned.add(room.code)
            start_task(self.tasks, self._play(room.code))

    async def _play(self, code: str) -> None:
        """Take decisions in a room until it is a person's turn."""
        try:
            while await self._play_once(code):
                pass
        except PisteError:
            pass  # it could not be stored, or the room is gone: the next request for the room begins again
        finally:
            self._show_preparing(code, *READY)
            self._registry.pinned.discard(code)

    async def _play_once(self, code: str) -> bool:
        """Take one decision; return False when no bot can decide."""
        async with self._registry.room(code) as asked:
            to_act = asked.bot_to_act()
            if asked.table is None or to_act is None or asked.stuck:
                return False
            seat, level = to_act
            NETWORK.set(asked.network)
            view, seed, game = asked.table.view(seat), seed_of_bots(asked.head), asked.game.name
        began = time.perf_counter()
        try:
            action = await self._bot_workers.choose(
                game, level, view, seed, stream_name(view), partial(self._show_preparing, code)
            )
        except WorkersBusyError:
            await asyncio.sleep(BUSY_RETRY_S)
            return True
        except PisteError as e:
            replaceable = isinstance(e, WorkerTimeoutError | MissingExtraError)
            logs.warning("bot tired" if replaceable else "bot failed", game=game, bot=level)
            async with self._registry.room(code) as room:
                if not replaceable or level in INSTANT_LEVELS:
                    room.stuck = str(e)  # the next player who arrives lets it try again
                    self._registry.show(room)
                    return False
                if room is asked and room.bot_to_act() == to_act:
                    room.replace_bot(seat, why_replaced(e))
                    await self._registry.save(room)
            return True
        self._metrics.thoughts.labels(level).observe(time.perf_counter() - began)
        async with self._registry.room(code) as room:
            # If an earlier change could not be stored, the room was loaded again: ask the bot again.
            if room is asked and room.bot_decides(seat, action, view.number):
                self._metrics.decisions.labels(game).inc()
                await self._registry.save(room)
        return True

    def _show_preparing(self, code: str, done: int, total: int, _what: str) -> None:
        """Show at a table how far a bot that is being prepared has come, a percent at a time."""
        room = self._registry.rooms.get(code)
        percent = None if done >= total else 100 * done // total
        if room is not None and room.preparing != percent:
            room.preparing = percent
            self._registry.show(room)

    def prepare(self, room: Room) -> None:
        """Begin to compute what the bots at a table will need; people may play meanwhile.

        A failure is shown when the bot has to decide.
        """
        NETWORK.set(room.network)
        options = room.game.options(room.options)
        for level in sorted({seat.bot for seat in room.seats if asks_solver(seat.bot, room.game)}):
            start_task(self.tasks, self._bot_workers.prepare(room.game.name, level, options))

    async def hint(self, code: str, player: str) -> str:
        """Return a hint for a player, or a sentence that it will follow."""
        if code in self._hinting:
            raise IllegalDecisionError("A hint is on its way. One moment.")

        def finish(_task: asyncio.Task[str]) -> None:
            self._show_preparing(code, *READY)
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
            if (seat, number) in room.hints:
                return room.hints[seat, number]
            assert room.table is not None
            view, seed, game = room.table.view(seat), seed_of_bots(room.head), room.game.name
        began = time.perf_counter()
        try:
            level, action = await self._bot_workers.hint(
                game, view, seed, f"hint {seat} {number}", partial(self._show_preparing, code)
            )
        except PisteError as e:  # the request may not wait any more: the reason is shown at the table, too
            async with self._registry.room(code) as room:
                room.no_hints[seat, number] = f"There is no hint: {e}"
                self._registry.show(room)
            raise
        self._metrics.thoughts.labels("hint").observe(time.perf_counter() - began)
        async with self._registry.room(code) as room:
            hint = room.give_hint(seat, number, level, action)
            if hint:
                await self._registry.save(room)
        return hint

    async def review(self, code: str, network: str = "") -> str | None:
        """Return the coach's review as JSON, or None while it is being made for the network that asks."""
        NETWORK.set(network)
        async with self._registry.room(code) as room:
            record = room.record()
            review = await asyncio.to_thread(self._storage.review, code) or self._failed_reviews.get(code)
            if review is not None or code in self._reviewing:
                return review
            review = await asyncio.to_thread(_review_without_decisions, record)
            refused = missing(solving(room.game, room.game.options(room.options), "A review"))
            if review is None and refused is not None:
                review = failed_review(refused)  # not stored: the extra may be installed later
            if review is None:
                self._reviewing[code] = ReviewStatus()
                start_task(self.tasks, self._make_review(code, record))
            return review

    def review_status(self, code: str) -> ReviewStatus:
        """Return the progress of a review that is not there yet."""
        return self._reviewing.get(code, ReviewStatus())

    def _note_review(self, code: str, done: int, total: int, _what: str, partial_review: str = "") -> None:
        if code in self._reviewing:
            self._reviewing[code] = ReviewStatus(done, total, partial_review or self._reviewing[code].partial_review)

    async def _make_review(self, code: str, record: str) -> None:
        began = time.perf_counter()
        try:
            try:
                review = await self._bot_workers.review(record, partial(self._note_review, code))
                self._metrics.thoughts.labels("review").observe(time.perf_counter() - began)
            except WorkersBusyError:
                return  # the next request begins again
            except WorkerTimeoutError as e:
                self._failed_reviews[code] = failed_review(e)
                return
            except PisteError as e:
                review = failed_review(e)
            await asyncio.wrap_future(self._storage.write(put(ReviewRow(code, review))))
        except PisteError:
            logs.warning("review not kept", room=logs.room_hash(code))
        finally:
            self._reviewing.pop(code, None)

    async def close(self) -> None:
        for task in list(self.tasks):
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)
        self._bot_workers.close()


def failed_review(error: PisteError) -> str:
    return json.dumps({"failed": str(error)})


def why_replaced(error: PisteError) -> str:
    """Return why a bot is replaced, as the end of a sentence about it."""
    if isinstance(error, MissingExtraError):
        return f"cannot play on this server without the extra '{error.extra}'"
    if isinstance(error, PreparationTimeoutError):
        return "could not be made ready for these options"
    return "took too long to decide"


def _review_without_decisions(record: str) -> str | None:
    """Return the review of a game in which nobody had anything to decide; that takes no time."""
    from piste.analysis.coach.review import certainty, document, review_without_decisions
    from piste.core.record import Record

    review = review_without_decisions(Record.parse(record))
    return None if review is None else json.dumps({**document(review, ()), "certainty": certainty(review)})
