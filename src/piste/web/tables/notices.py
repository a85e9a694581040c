"""What processes that share a database tell each other about a room."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple


class RoomNotice(NamedTuple):
    """What another process has changed."""

    version: int  # that the room has now
    values: Mapping[str, Any] | None = None  # of the fields that are stored; None: it must be read again
    lines: tuple[str, ...] = ()  # that were added to the record
    shown: Mapping[str, Any] = {}  # what else is shown at the table since then
