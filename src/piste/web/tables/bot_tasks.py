"""Tasks of bots and of the coach: to decide, to give a hint, to review a finished game.

A task names what is to be done, so that any process can do it. It is done here, with the bot workers of this process,
or it becomes a job that any process takes from a queue. Whoever does it reads the room, computes from a seat's view
alone, and stores what came of it; everybody else hears of it as of any other change.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple, Protocol

from piste.bots import stream_name
from piste.core.errors import MissingExtraError, PisteError
from piste.core.protocols import SPECTATOR
from piste.web import logging as logs
from piste.web.metrics import Metrics
from piste.web.middleware.fair_queue import NETWORK
from piste.web.storage.jobs import DECISION, HINT, REVIEW, PutJob, QueueFullError
from piste.web.storage.schema import ConflictError, PartialReviewRow, ReviewRow, delete, put
from piste.web.storage.storage import Storage
from piste.web.tables.registry import BOT_TAKEOVER_S, TableRegistry
from piste.web.tables.room import Room
from piste.web.workers.worker_pool import (
    INSTANT_LEVELS,
    BotWorkers,
    PreparationTimeoutError,
    WorkerFailureError,
    WorkersBusyError,
    WorkerTimeoutError,
    seed_of_bots,
)

if TYPE_CHECKING:
    from piste.analysis.coach.timeline import Evaluations

MAX_CONFLICTS = 10  # changes by other processes, one after another, before a task is given back
PARTIAL_REVIEW_INTERVAL_S = 2.0  # time between two times that a partial review is stored
REVIEW_LOOKS, REVIEW_LOOK_S = 10, 0.2
SHOW_INTERVAL_S = 0.5  # time between two times that other processes are told how far a bot is prepared
HASHED = "#"  # begins the hash that stands for a network in the queue, and no network
LOST = "The work on this was begun several times and ended each time with its process. Try again later."


class BotTask(NamedTuple):
    """What is to be task about. It holds numbers and names, and nothing that is secret."""

    kind: str  # DECISION, HINT or REVIEW
    room: str
    number: int = 0  # of the question
    seat: int = SPECTATOR
    level: str = ""  # of the bot that decides

    @property
    def lock(self) -> str:
        """The same for the same question, whoever asks and however often."""
        return f"{self.kind} {self.room} {self.number} {self.seat}"


class LostTaskError(WorkerTimeoutError):
    """A task whose process ended again and again."""


class TaskExecutor(Protocol):
    """Has tasks done: by this process, or by whoever takes them from a queue."""

    async def decide(self, task: BotTask) -> bool:
        """Have a bot decide; return whether that is done, so that the next one may have to."""

    async def hint(self, task: BotTask) -> str:
        """Have a hint noted, and return it; "" if its question is no longer open."""

    async def review(self, task: BotTask) -> None:
        """Have a review made and stored."""


@dataclass(eq=False)
class LocalExecutor:
    """Does tasks with the bot workers of this process."""

    _registry: TableRegistry
    _bot_workers: BotWorkers
    _storage: Storage
    _metrics: Metrics
    _ticks: Callable[[], float]  # monotonic
    reviewing: dict[str, PartialReviewRow] = field(default_factory=dict)  # as far as they go

    async def decide(self, task: BotTask) -> bool:
        code, seat, level = task.room, task.seat, task.level
        room = await self._read(task)
        if room.table is None or room.table.number != task.number or room.bot_to_act() != (seat, level):
            return True  # it has been answered, or somebody else plays there now
        table, view = room.table, room.table.view(seat)
        began = time.perf_counter()
        try:
            action = await self._bot_workers.choose(
                room.game.name, level, view, seed_of_bots(room.head), stream_name(view), self._preparing(code)
            )
        except WorkersBusyError:
            raise
        except PisteError as e:
            await self.fail(task, e)
            return isinstance(e, WorkerTimeoutError | MissingExtraError) and level not in INSTANT_LEVELS
        self._metrics.thoughts.labels(level).observe(time.perf_counter() - began)

        def decides(room: Room) -> bool:
            # If an earlier change could not be stored, the room was loaded again: ask the bot again.
            known = room.table is table or self._storage.shared
            return known and room.bot_to_act() == (seat, level) and room.bot_decides(seat, action, view.number)

        if await self._change(code, decides):
            self._metrics.decisions_of(room.game.name).inc()
        return True

    async def fail(self, task: BotTask, error: PisteError) -> None:
        """Note that a task came to nothing: an easier bot plays on, or the reason is shown."""
        code, number, seat = task.room, task.number, task.seat
        if task.kind == HINT:
            self._registry.show_everywhere(code, seat=seat, number=number, no_hint=f"There is no hint: {error}")
        elif task.kind == REVIEW:
            row = await self._storage.read(self._storage.partial_review, code) or PartialReviewRow(code)
            row.failed = str(error)
            await asyncio.wrap_future(self._storage.write(put(row)))
        else:
            replaceable = isinstance(error, WorkerTimeoutError | MissingExtraError)
            logs.warning("bot tired" if replaceable else "bot failed", bot=task.level)
            if not replaceable or task.level in INSTANT_LEVELS:
                # The next player who arrives lets it try again.
                self._registry.show_everywhere(code, number=number, stuck=str(error))
                return

            def replaces(room: Room) -> bool:
                waits = room.table is not None and room.table.number == number
                if waits and room.bot_to_act() == (seat, task.level):
                    room.replace_bot(seat, why_replaced(error))
                    return True
                return False

            await self._change(code, replaces)

    async def hint(self, task: BotTask) -> str:
        code, seat, number = task.room, task.seat, task.number
        room = await self._read(task)
        if room.table is None or room.table.number != number or room.to_act != seat:
            return ""
        if (seat, number) in room.hints:
            return room.hints[seat, number]
        began = time.perf_counter()
        try:
            level, action = await self._bot_workers.hint(
                room.game.name, room.table.view(seat), seed_of_bots(room.head), f"hint {seat} {number}",
                self._preparing(code),
            )  # fmt: skip
        except PisteError as e:  # the request may not wait any more: the reason is shown at the table, too
            await self.fail(task, e)
            raise
        self._metrics.thoughts.labels("hint").observe(time.perf_counter() - began)
        hint = ""

        def gives(room: Room) -> bool:
            nonlocal hint
            known = (seat, number) in room.hints
            hint = room.give_hint(seat, number, level, action)
            return bool(hint) and not known

        await self._change(code, gives)
        return hint

    async def review(self, task: BotTask) -> None:
        from piste.analysis.coach.timeline import evaluations_text, read_evaluations

        code = task.room
        if await self._storage.read(self._storage.review, code) is not None:
            return
        record = (await self._read(task)).record()
        row = await self._storage.read(self._storage.partial_review, code) or PartialReviewRow(code)
        evaluations = read_evaluations(row.evaluations)
        row.failed, stored = "", self._ticks()
        began = time.perf_counter()

        def note(
            done: int, total: int, _what: str, partial_review: str = "", news: Evaluations | None = None
        ) -> None:
            nonlocal stored
            row.done, row.total, row.text = done, total, partial_review or row.text
            evaluations.update(news or {})
            self.reviewing[code] = PartialReviewRow(code, done, total, row.text)
            if self._storage.shared and self._ticks() - stored >= PARTIAL_REVIEW_INTERVAL_S:
                stored = self._ticks()
                row.evaluations = evaluations_text(evaluations)
                self._storage.write(put(row))

        try:
            review = await self._bot_workers.review(record, dict(evaluations), note)
            self._metrics.thoughts.labels("review").observe(time.perf_counter() - began)
        except (WorkersBusyError, WorkerFailureError) as e:
            if evaluations or not isinstance(e, WorkersBusyError):  # else the next request begins again
                row.evaluations, row.failed = evaluations_text(evaluations), str(e)
                await asyncio.wrap_future(self._storage.write(put(row)))
            return
        except PisteError as e:
            review = failed_review(e)
        finally:
            self.reviewing.pop(code, None)
        kept = self._storage.write(put(ReviewRow(code, review)), delete(PartialReviewRow, room=code))
        await asyncio.wrap_future(kept)

    async def _read(self, task: BotTask) -> Room:
        """Return a room in which the question of a task has been asked; what it is now, it need not stay."""
        for _ in range(2):
            async with self._registry.room(task.room) as room:
                if room.table is not None and room.table.number >= task.number:
                    break
                room.stale = self._storage.shared  # the job was quicker than the notice of what it is about
        return room

    async def _change(self, code: str, change: Callable[[Room], bool]) -> bool:
        """Change a room and store that, unless the change says that there is nothing to change any more."""
        for _ in range(MAX_CONFLICTS):
            try:
                async with self._registry.room(code) as room:
                    if not change(room):
                        return False
                    await self._registry.save(room)
                    return True
            except ConflictError:  # another process was first: look again
                continue
        raise PisteError("Very much happens at this table just now.")

    def _preparing(self, code: str) -> Callable[[int, int, str], None]:
        """Return what shows at a table how far a bot that is being prepared has come, a percent at a time."""
        shown, told = None, self._ticks() - SHOW_INTERVAL_S

        def report(done: int, total: int, _what: str) -> None:
            nonlocal shown, told
            percent = None if done >= total else 100 * done // total
            if percent == shown:
                return
            everywhere = percent is None or self._ticks() - told >= SHOW_INTERVAL_S
            if everywhere:
                told = self._ticks()
            shown = percent
            (self._registry.show_everywhere if everywhere else self._registry.show_here)(code, preparing=percent)

        return report


@dataclass(eq=False)
class QueueExecutor:
    """Puts tasks into the queue of a database that several processes share."""

    _registry: TableRegistry
    _storage: Storage
    _max_per_network: int

    def __post_init__(self) -> None:
        self._network_key = self._storage.secret("networks")

    async def decide(self, task: BotTask) -> bool:
        await self._put(task)
        return False

    async def hint(self, task: BotTask) -> str:
        """Wait for the hint as everybody else at the table does; put it in again in case that it was lost."""
        code, key = task.room, (task.seat, task.number)
        subscription = self._registry.subscribe(code, SPECTATOR)
        try:
            while True:
                async with self._registry.room(code) as room:
                    if key in room.hints:
                        return room.hints[key]
                    if key in room.no_hints:
                        raise PisteError(room.no_hints[key].removeprefix("There is no hint: "))
                    if room.table is None or room.table.number != task.number:
                        return ""
                await self._put(task)
                subscription.changed.clear()
                waiting = asyncio.ensure_future(subscription.changed.wait())
                await asyncio.wait({waiting}, timeout=BOT_TAKEOVER_S)
                waiting.cancel()
        finally:
            self._registry.unsubscribe(code, SPECTATOR, subscription)

    async def review(self, task: BotTask) -> None:
        """Put it in, and wait a moment for it, so that whoever asks meanwhile need not put it in again."""
        await self._put(task)
        for _ in range(REVIEW_LOOKS):
            await asyncio.sleep(REVIEW_LOOK_S)
            if await self._storage.read(self._storage.review, task.room) is not None:
                return

    async def _put(self, task: BotTask) -> None:
        network = NETWORK.get()
        if network and not network.startswith(HASHED):
            network = HASHED + blake2b(network.encode(), key=self._network_key, digest_size=12).hexdigest()
        ids = {name: value for name, value in task._asdict().items() if name != "kind"}
        try:
            await asyncio.wrap_future(
                self._storage.write(PutJob(task.kind, task.lock, ids, network, self._max_per_network))
            )
        except QueueFullError as e:
            raise WorkersBusyError(str(e)) from None


def next_decision(room: Room) -> BotTask | None:
    """Return the decision that a bot is to take next in a room."""
    to_act = room.bot_to_act()
    if room.table is None or to_act is None or room.stuck:
        return None
    return BotTask(DECISION, room.code, room.table.number, *to_act)


def failed_review(error: PisteError) -> str:
    return json.dumps({"failed": str(error)})


def why_replaced(error: PisteError) -> str:
    """Return why a bot is replaced, as the end of a sentence about it."""
    if isinstance(error, MissingExtraError):
        return f"cannot play on this server without the extra '{error.extra}'"
    if isinstance(error, PreparationTimeoutError):
        return "could not be made ready for these options"
    return "took too long to decide"
