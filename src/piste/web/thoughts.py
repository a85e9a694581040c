"""Bots at the tables: they decide when it is their turn and give hints; and the coach, who looks back."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Coroutine

from piste.bots import stream_name
from piste.core.contract import WATCHER
from piste.core.errors import NotOpen, PisteError
from piste.web import logs
from piste.web.metrics import Metrics
from piste.web.minds import Busy, Thinking, Tired, seed_of_bots
from piste.web.room import Room
from piste.web.rooms import Answer, Rooms
from piste.web.settings import Settings
from piste.web.store import Change, PutReview, PutSeat, SeatRow, Store

EASY = ("novice", "steady")
"""Bots that answer at once whatever the options."""


class Thoughts(Rooms):
    """Rooms in which bots play."""

    def __init__(
        self, store: Store, minds: Thinking, settings: Settings, metrics: Metrics, clock: Callable[[], float]
    ) -> None:
        super().__init__(store, settings, metrics, clock)
        self.minds = minds
        self._tasks: set[asyncio.Task[None]] = set()
        self._thinking: set[str] = set()
        self._hinting: set[str] = set()
        self._reviewing: set[str] = set()
        self._unreviewed: dict[str, str] = {}  # games whose review was given up, and why; forgotten with the process

    def woken(self, room: Room) -> None:
        self.think(room)

    def in_use(self, code: str) -> bool:
        return code in self._thinking or super().in_use(code)

    @staticmethod
    def seat_rows(room: Room) -> list[Change]:
        return [
            PutSeat(SeatRow(room.code, i, seat.kind, seat.name, seat.bot, seat.stand_in))
            for i, seat in enumerate(room.seats)
        ]

    def think(self, room: Room) -> None:
        """Let a bot decide, if it is for one to decide; one thought a room."""
        if room.thinker() is not None and room.code not in self._thinking:
            self._thinking.add(room.code)
            self._start(self._bots_play(room.code))

    def _start(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _bots_play(self, code: str) -> None:
        try:
            while True:
                async with self.room(code) as room:
                    due = room.thinker()
                    if room.table is None or due is None or room.stuck:
                        return
                    seat, level = due
                    view = room.table.view(seat)
                    seed = seed_of_bots(room.head.seed if room.head else None)
                    game, asked = room.game.name, room
                began = time.perf_counter()
                try:
                    chosen = await self.minds.choose(game, level, view, seed, stream_name(view))
                except Busy:
                    await asyncio.sleep(1.0)
                    continue
                except Tired as e:
                    logs.warn("bot tired", game=game, level=level)
                    if level in EASY:
                        await self._stick(code, str(e))
                        return
                    async with self.room(code) as room:
                        if room is asked and room.thinker() == due:
                            room.relieve(seat)
                            await self.keep(room, *self.seat_rows(room))
                            self.wake(code)
                except PisteError as e:
                    logs.warn("bot failed", game=game, level=level)
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
            self._thinking.discard(code)

    async def _stick(self, code: str, why: str) -> None:
        """Say at the table that a bot could not answer; whoever comes next lets it try again."""
        async with self.room(code) as room:
            room.stuck = why
            room.version += 1
            self.wake(code)

    async def hint(self, code: str, player: str) -> Answer:
        if code in self._hinting:
            raise NotOpen("A hint is on its way. One moment.")
        self._hinting.add(code)
        try:
            return await self._thought_hint(code, player)
        finally:
            self._hinting.discard(code)

    async def _thought_hint(self, code: str, player: str) -> Answer:
        async with self.room(code) as room:
            seat = room.seat_of(player)
            if seat == WATCHER:
                raise NotOpen("You look on here: hints are for those who play.")
            number = room.hinted(seat)
            if (seat, number) in room.hints:
                return Answer(room.hints[seat, number])
            assert room.table is not None
            view = room.table.view(seat)
            seed = seed_of_bots(room.head.seed if room.head else None)
            game = room.game.name
        began = time.perf_counter()
        level, chosen = await self.minds.hint(game, view, seed, f"hint {seat} {number}")
        self.metrics.thought("hint", time.perf_counter() - began)
        async with self.room(code) as room:
            said = room.give_hint(seat, number, level, chosen)
            if said:
                await self.keep(room)
                self.wake(code)
        return Answer(said)

    async def review(self, code: str) -> str | None:
        """Return the coach's review, or None while it is being made."""
        async with self.room(code) as room:
            record = room.record()
            kept = await asyncio.to_thread(self.store.review, code)
            kept = kept or self._unreviewed.get(code)
            if kept is None and code not in self._reviewing:
                self._reviewing.add(code)
                self._start(self._make_review(code, record))
            return kept

    async def _make_review(self, code: str, record: str) -> None:
        began = time.perf_counter()
        try:
            found = await self.minds.review(record)
            self.metrics.thought("review", time.perf_counter() - began)
        except Busy:
            self._reviewing.discard(code)
            return  # whoever asks again begins again
        except Tired as e:
            self._unreviewed[code] = json.dumps({"failed": str(e)})
            self._reviewing.discard(code)
            return
        except PisteError as e:
            found = json.dumps({"failed": str(e)})
        try:
            await asyncio.wrap_future(self.store.write(PutReview(code, found)))
        except PisteError:
            logs.warn("review not kept", room=logs.room(code))
        finally:
            self._reviewing.discard(code)

    async def close(self) -> None:
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self.minds.close()
