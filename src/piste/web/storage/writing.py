"""Changes on their way into the database."""

from __future__ import annotations

import asyncio
import contextlib
import math
import threading
from concurrent.futures import Future

from piste.web.storage.schema import Change, StorageError


class Writing(Future[None]):
    """Changes to be made together; done when they are on the disk. They can be given up until a writer takes them."""

    def __init__(self, changes: tuple[Change, ...] = ()) -> None:
        super().__init__()
        self.changes = changes
        self.set_running_or_notify_cancel()  # it is written even if nobody waits for it any more
        self._lock = threading.Lock()
        self._taken = self._given_up = False

    def take(self) -> bool:
        """Let the writer have it, unless it was given up."""
        with self._lock:
            self._taken = not self._given_up
            return self._taken

    def give_up(self) -> bool:
        """Return whether it will never be written."""
        with self._lock:
            self._given_up = not self._taken
            return self._given_up

    async def wait(self, deadline: float) -> bool:
        """Wait until it is done, at most until a time of the loop; return whether it is.

        As `asyncio.wrap_future` does it, with less work.
        """
        loop = asyncio.get_running_loop()
        waiting = loop.create_future()

        def wake() -> None:
            if not waiting.done():
                waiting.set_result(None)

        def written(_: object) -> None:
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
                loop.call_soon_threadsafe(wake)

        timer = None if deadline == math.inf else loop.call_at(deadline, wake)
        self.add_done_callback(written)
        try:
            await waiting
        finally:
            if timer is not None:
                timer.cancel()
        return self.done()


class UncertainError(StorageError):
    """Changes that were sent to a database that did not answer."""

    def __init__(self, writing: Writing | None = None) -> None:
        super().__init__(
            "The database does not answer, so it is not known yet whether this was kept. Look again in a moment: the "
            "table shows it as soon as it can."
        )
        self.writing = writing  # if it may still come to an end
