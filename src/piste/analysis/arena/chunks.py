"""Chunks of deals: how many an engine is given at once. No result depends on it."""

from __future__ import annotations

from collections.abc import Iterator
from time import monotonic

from piste.analysis.engine import Engine

MAX_CHUNK = 256
FIRST_CHUNK = 2


class Pace:
    """Sizes chunks by how quickly deals came back so far."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._start = monotonic()
        self._deals = 0

    def done(self, deals: int) -> None:
        self._deals += deals

    @property
    def size(self) -> int:
        """How many deals the next chunk has; one where Ctrl-C would lose those of a chunk that is not finished."""
        if self._engine.inline:
            return 1
        if not self._deals:
            return FIRST_CHUNK
        each = (monotonic() - self._start) * self._engine.workers / self._deals
        return max(1, min(MAX_CHUNK, int(self._engine.chunk_s / max(each, 1e-9))))

    def next_size(self, left: int) -> int:
        """Return the size of the next chunk when so many deals are left: the last ones leave no worker idle."""
        return max(1, min(self.size, -(-left // (2 * self._engine.workers))))

    def chunks(self, numbers: range) -> Iterator[range]:
        """Yield all numbers in chunks, each sized when it is asked for."""
        at = 0
        while at < len(numbers):
            size = self.next_size(len(numbers) - at)
            yield numbers[at : at + size]
            at += size
