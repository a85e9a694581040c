"""How much time has really passed, where the wall clock may be wrong.

A clock that is set a month ahead makes every table look old. The monotonic clock of a running computer cannot be set,
but it does not count while the computer is off. So what the wall clock did beyond that is noted as a jump, and the
age of a table is counted without the jumps after it.
"""

from __future__ import annotations

import json
import secrets
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

DAY_S = 86400.0
MAX_UNSEEN_S = DAY_S  # time that may pass unseen at each stop or sleep of the computer
MAX_JUMPS = 64


class Jump(NamedTuple):
    """After `at`, the wall clock went `by` seconds too far."""

    at: float
    by: float  # below 0: it was set back


class Elapsed(NamedTuple):
    """The last reading of the clocks, and the jumps of the wall clock before it."""

    wall: float
    ticks: float  # seconds of the monotonic clock
    boot: str  # id of the boot; ticks of another boot cannot be compared
    jumps: tuple[Jump, ...] = ()

    def advance(self, wall: float, ticks: float, boot: str) -> Elapsed:
        """Return the reading of now; what the wall clock did without evidence is a jump."""
        passed = wall - self.wall
        seen = max(0.0, ticks - self.ticks) if boot == self.boot else 0.0
        believed = min(max(passed, seen), seen + MAX_UNSEEN_S)
        jumps = self.jumps if abs(passed - believed) < 1.0 else (*self.jumps, Jump(self.wall, passed - believed))
        return Elapsed(wall, ticks, boot, jumps[-MAX_JUMPS:])

    def age(self, touched: float) -> float:
        """Return the time since the last change, without jumps."""
        return self.wall - touched - sum(jump.by for jump in self.jumps if jump.at >= touched)

    @property
    def ahead(self) -> float:
        """The sum of all jumps forward."""
        return sum(max(0.0, jump.by) for jump in self.jumps)

    def text(self) -> bytes:
        return json.dumps(self._asdict()).encode()


def read(text: bytes | None, last: float, now: float) -> Elapsed:
    """Return the stored reading; without one, a reading at the time of the last change."""
    try:
        data: dict[str, Any] = json.loads(text or b"")
        jumps = tuple(Jump(float(at), float(by)) for at, by in data["jumps"])
        return Elapsed(float(data["wall"]), float(data["ticks"]), str(data["boot"]), jumps)
    except (ValueError, TypeError, KeyError):
        return Elapsed(min(last, now) if last else now, 0.0, "")


@cache
def boot() -> str:
    """Return the id of this boot; where there is none, one of this process."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return secrets.token_hex(16)
