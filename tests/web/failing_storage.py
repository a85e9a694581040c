"""Storage that fails, or takes as long as a test wants, and what it holds."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import func, select

from piste.web.storage.schema import Change, RoomRow, StorageError
from piste.web.storage.storage import Storage
from piste.web.storage.writing import Writing
from tests.limits import PATIENCE_S
from tests.web.in_process_server import InProcessServer


def room_count(storage: Storage) -> int:
    return storage._scalar(select(func.count()).select_from(RoomRow)) or 0


@contextmanager
def storage_fails(house: InProcessServer) -> Iterator[None]:
    """Let nothing be written for a while."""
    storage, right = house.storage, house.storage.write

    def refuses(*_: Change) -> Writing:
        done = Writing()
        done.set_exception(StorageError("This could not be kept (disk full)."))
        return done

    storage.write = refuses  # type: ignore[method-assign]
    try:
        yield
    finally:
        storage.write = right  # type: ignore[method-assign]


class Held:
    """Holds back every write until it is told to go on."""

    def __init__(self, house: InProcessServer) -> None:
        self._store, self._right = house.storage, house.storage.write
        self._go, self.begun = threading.Event(), 0

    def __enter__(self) -> Held:
        self._store.write = self._write  # type: ignore[method-assign]
        return self

    def _write(self, *changes: Change) -> Writing:
        self.begun += 1
        done = Writing()

        def later() -> None:
            self._go.wait(PATIENCE_S)
            self._right(*changes).add_done_callback(lambda found: done.set_result(found.result()))

        threading.Thread(target=later, daemon=True).start()
        return done

    def __exit__(self, *_: object) -> None:
        self._go.set()
        self._store.write = self._right  # type: ignore[method-assign]
