"""How long tables are kept, by the time that was seen to pass."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import dataclass, field

from piste.web import logging as logs
from piste.web.settings import Settings
from piste.web.storage import elapsed_time
from piste.web.storage.schema import ConflictError, KeyRow, delete_players, put
from piste.web.storage.storage import Storage
from piste.web.tables.registry import TableRegistry


@dataclass(eq=False)
class Retention:
    """Deletes tables that nobody has used for long."""

    storage: Storage
    registry: TableRegistry
    _settings: Settings
    clock: Callable[[], float]  # wall time
    ticks: Callable[[], float]  # monotonic
    _clock_lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def expire(self) -> int:
        """Delete rooms without a change for as long as the setting says; return their number."""
        passed = await self._measure_elapsed()
        if not self._settings.keep_days:
            return 0
        keep = elapsed_time.DAY_S * self._settings.keep_days
        candidates = await self.storage.read(self.storage.expired, passed.wall - keep)
        old = [(code, version) for code, touched, version in candidates if passed.age(touched) >= keep]
        for code, version in old:
            with contextlib.suppress(ConflictError):  # it has just been used, or another process has deleted it
                await self.registry.delete(code, version)
        await asyncio.wrap_future(self.storage.write(delete_players(passed.wall - keep - passed.ahead)))
        if old:
            logs.info("old tables deleted", count=len(old))
        return len(old)

    async def _measure_elapsed(self) -> elapsed_time.Elapsed:
        """Store how much time has passed; a clock that was set is no reason to delete anything."""
        async with self._clock_lock:  # two at once would each take the other's time for a jump
            wall, ticks = self.clock(), self.ticks()
            kept, last = await self.storage.read(lambda: (self.storage.key("elapsed"), self.storage.last_touched()))
            before = elapsed_time.read(kept, last, wall)
            passed = before.advance(wall, ticks, elapsed_time.boot())
            if passed.jumps and passed.jumps != before.jumps:
                # The operator can set it right before anything is deleted.
                logs.warning("clock jumped", days=round(passed.jumps[-1].by / elapsed_time.DAY_S, 2))
            await asyncio.wrap_future(self.storage.write(put(KeyRow("elapsed", passed.text()))))
            return passed
