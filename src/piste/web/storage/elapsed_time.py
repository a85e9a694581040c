"""How much time has really passed, where the clock of the wall may be wrong.

A clock that is set a month ahead makes every table look old. What a computer counts while it runs cannot be set; what
it was switched off for, nobody has seen. So whatever the wall's clock did beyond that is noted as a jump, and the age
of a table is counted without the jumps that came after it.
"""

from __future__ import annotations

import json
import secrets
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

DAY = 86400.0
UNSEEN = DAY
"""Seconds that may have passed without having been seen, at each stop or sleep of the computer."""

MOST_JUMPS = 64


class Jump(NamedTuple):
    """The wall's clock stood at `at` when it was last believed, and has gone `by` seconds too far since."""

    at: float
    by: float  # below 0: it was set back


class Elapsed(NamedTuple):
    """When time was looked at last, and each jump of the wall's clock before that."""

    wall: float
    ticks: float  # seconds of a clock that cannot be set
    boot: str  # of which run of the computer; ticks of another one mean nothing
    jumps: tuple[Jump, ...] = ()

    def go_on(self, wall: float, ticks: float, boot: str) -> Elapsed:
        """Return the same as of now; what the wall's clock did without evidence is a jump."""
        passed = wall - self.wall
        seen = max(0.0, ticks - self.ticks) if boot == self.boot else 0.0
        believed = min(max(passed, seen), seen + UNSEEN)
        jumps = self.jumps if abs(passed - believed) < 1.0 else (*self.jumps, Jump(self.wall, passed - believed))
        return Elapsed(wall, ticks, boot, jumps[-MOST_JUMPS:])

    def age(self, touched: float) -> float:
        """Return for how long nothing has happened, as far as time was seen to pass."""
        return self.wall - touched - sum(jump.by for jump in self.jumps if jump.at >= touched)

    @property
    def ahead(self) -> float:
        """By how much the wall's clock has gone too far in all, at most."""
        return sum(max(0.0, jump.by) for jump in self.jumps)

    def text(self) -> bytes:
        return json.dumps(self._asdict()).encode()


def read(text: bytes | None, last: float, now: float) -> Elapsed:
    """Return what was noted; without a note, as of the last thing that was written down."""
    try:
        found: dict[str, Any] = json.loads(text or b"")
        jumps = tuple(Jump(float(at), float(by)) for at, by in found["jumps"])
        return Elapsed(float(found["wall"]), float(found["ticks"]), str(found["boot"]), jumps)
    except (ValueError, TypeError, KeyError):
        return Elapsed(min(last, now) if last else now, 0.0, "")


@cache
def boot() -> str:
    """Return what names this run of the computer; where it has no name, this process."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return secrets.token_hex(16)
