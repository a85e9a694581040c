"""Other processes that serve the same tables: hears of what they change, and tells them that this one is running.

docs/architecture.md says how processes work together, and what happens when one of them fails.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from piste.core.errors import PisteError
from piste.web import logging as logs
from piste.web.storage import schema
from piste.web.storage.storage import Storage
from piste.web.tables.notices import RoomNotice
from piste.web.tables.registry import TableRegistry
from piste.web.tables.room_storage import FOLLOWED_FIELDS
from piste.web.workers.worker_pool import start_task

if TYPE_CHECKING:
    from psycopg import AsyncConnection

RENEWAL_INTERVAL_S = 5.0
GONE_AFTER_S = 20.0  # a process that has not renewed itself for this time is gone
SILENT_AFTER_S = 15.0  # a listener that has not heard its own process for this time connects again
RECONNECT_INTERVAL_S = 1.0


@dataclass(eq=False)
class Peers:
    """Follows the notices of other processes until it is cancelled."""

    _storage: Storage
    _registry: TableRegistry
    _reread_key: Callable[[], Coroutine[None, None, None]]  # when the key of private links was replaced
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)
    _heard_own: float = 0.0  # when, monotonic

    async def run(self) -> None:
        try:
            await asyncio.gather(self._renew(), self._listen())
        finally:
            await self.leave()

    async def leave(self) -> None:
        """Say that this process ends, or the others would believe for a while that its players are here."""
        await self._storage.finish(schema.end_process(self._storage.process))

    async def _renew(self) -> None:
        """Say that this process is running."""
        while True:
            with contextlib.suppress(PisteError):  # the next one may get through
                await asyncio.wrap_future(
                    self._storage.write(schema.renew_process(self._storage.process, GONE_AFTER_S))
                )
            await asyncio.sleep(RENEWAL_INTERVAL_S)

    async def _listen(self) -> None:
        """Hear of changes; after every loss of the connection, look what was missed."""
        connected = True
        while True:
            try:
                async with self._connection() as connection:
                    await connection.execute(f"LISTEN {schema.CHANNEL}")
                    await self._registry.compare_versions()
                    await self._reread_key()
                    self._registry.announce_all()
                    if not connected:
                        logs.info("listening again")
                    connected = True
                    await self._hear(connection)
            except Exception as e:  # whatever it is: without notices, tables here would stand still
                if connected:
                    logs.error("not listening", e)
                connected = False
            await asyncio.sleep(RECONNECT_INTERVAL_S)

    @asynccontextmanager
    async def _connection(self) -> AsyncIterator[AsyncConnection]:
        from psycopg import AsyncConnection

        from piste.web.storage.postgresql import PostgresDatabase

        assert isinstance(self._storage.database, PostgresDatabase)
        connecting = asyncio.ensure_future(AsyncConnection.connect(self._storage.database.conninfo, autocommit=True))
        try:
            yield await asyncio.shield(connecting)
        finally:  # also if this was cancelled before there was a connection
            with contextlib.suppress(Exception):
                await (await connecting).close()

    async def _hear(self, connection: AsyncConnection) -> None:
        """Take notices until the connection is lost, or has been silent for too long."""
        loop = asyncio.get_running_loop()
        self._heard_own = loop.time()
        while loop.time() - self._heard_own < SILENT_AFTER_S:
            async for notify in connection.notifies(timeout=RENEWAL_INTERVAL_S):
                self.take(notify.payload)
        logs.warning("no notices arrive")

    def take(self, text: str) -> None:
        """Take one notice: who sent it, of which kind it is, and what it says."""
        sender, _, rest = text.partition(" ")
        kind, _, details = rest.partition(" ")
        own = sender == self._storage.process
        if own:
            self._heard_own = asyncio.get_running_loop().time()
        try:
            match kind:
                case "room" if not own:
                    code, version, change = details.split(" ", 2)
                    if self._registry.holds(code):  # or there is nothing to be told
                        self._registry.tell(code, read_notice(int(version), change))
                case "show" if not own:
                    code, shown = details.split(" ", 1)
                    if code in self._registry.rooms:
                        self._registry.show_here(code, **json.loads(shown))
                case "gone" if not own:
                    self._registry.remove(details)
                    self._registry.read_again(details)  # where it is being read just now
                case "here" if not own:
                    code, seat, sockets = details.split(" ")
                    self._registry.tell_presence(sender, code, int(seat), int(sockets))
                case "key":
                    start_task(self._tasks, self._reread_key())
                case "left":
                    self._registry.forget_process(details)
                case "began" if own:  # also where others took this process for gone
                    self._registry.announce_all()
        except ValueError as e:
            logs.error("notice cannot be read", e)


def read_notice(version: int, change: str) -> RoomNotice:
    """Return what a notice says; one of another version of the server may say more than can be followed."""
    match json.loads(change) if change else None:
        case [dict(values), list(lines), *shown] if values.keys() <= FOLLOWED_FIELDS:
            return RoomNotice(version, values, tuple(map(str, lines)), *shown[:1])
    return RoomNotice(version)
