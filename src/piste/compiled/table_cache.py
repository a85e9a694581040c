"""Tables on disk: what a solver computed once, in the user's cache.

A table is one folder: the arrays, each in blocks with a check of its own, and a manifest that is written last. The
folder is named after the table and its stamp (the versions of rules and solver), so an old one is never read as a new
one; a block that does not fit its check is noticed when it is read, and the table is taken away.
"""

from __future__ import annotations

import json
import os
import shutil
import warnings
from collections.abc import Callable, Mapping
from hashlib import blake2b
from pathlib import Path
from threading import get_ident
from typing import TYPE_CHECKING, Any

from piste.core.errors import CacheWarning, PisteError

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, np.dtype[Any]]

FORMAT = 1
BLOCK = 1 << 20
MANIFEST = "manifest.json"


class DamagedTableError(PisteError):
    """A stored table is not what was written."""


class CacheUnusableError(PisteError):
    """The cache cannot be written to."""

    def __init__(self, text: str, error: OSError) -> None:
        super().__init__(text)
        self.error = error

    def __reduce__(self) -> tuple[type[CacheUnusableError], tuple[str, OSError]]:
        return type(self), (str(self), self.error)  # so that it comes back from a worker as it was


_warned: set[str] = set()


def warn_unkept(folder: Path, error: OSError) -> None:
    """Say once for a folder that nothing can be kept there, and what can be done. Nothing ends for it."""
    if str(folder) in _warned:
        return
    _warned.add(str(folder))
    warnings.warn(
        f"What was computed cannot be kept in {folder}: {error.strerror or error}. Everything goes on without; it is "
        "computed again the next time. To keep it, free some space there, make it a folder that you may write to, or "
        "set XDG_CACHE_HOME to another one.",
        CacheWarning,
        stacklevel=3,
    )


class Stored:
    """A table that was kept; arrays are read when they are asked for, whole or some rows of them."""

    def __init__(self, folder: Path, manifest: dict[str, Any]) -> None:
        self.folder = folder
        self._manifest = manifest

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._manifest["arrays"])

    @property
    def size(self) -> int:
        """How many bytes it takes on the disk."""
        return sum(file.stat().st_size for file in self.folder.iterdir())

    def rows_of(self, name: str) -> int:
        return int(self._manifest["arrays"][name]["shape"][0])

    def whole(self, name: str) -> Array:
        """Return an array, all of it checked."""
        return self.rows(name, 0, self.rows_of(name))

    def rows(self, name: str, start: int, stop: int) -> Array:
        """Return some rows; only the blocks that they touch are read and checked."""
        import numpy as np

        entry = self._manifest["arrays"][name]
        shape, kind = entry["shape"], np.dtype(entry["dtype"])
        row = kind.itemsize
        for length in shape[1:]:
            row *= length
        begin, end = start * row, stop * row
        data = self._bytes(name, entry, begin, end)
        return np.frombuffer(data, kind).reshape(stop - start, *shape[1:]).copy()

    def check(self) -> None:
        """Read everything once; raise Damaged if anything is not what was written."""
        for name in self.names:
            entry = self._manifest["arrays"][name]
            for at in range(0, int(entry["bytes"]), BLOCK):
                self._bytes(name, entry, at, min(at + BLOCK, entry["bytes"]))

    def _bytes(self, name: str, entry: dict[str, Any], begin: int, end: int) -> bytes:
        first = begin // BLOCK
        found = bytearray()
        try:
            with (self.folder / f"{name}.bin").open("rb") as file:
                file.seek(first * BLOCK)
                for number in range(first, -(-end // BLOCK)):
                    block = file.read(BLOCK)
                    if _check(block) != entry["checks"][number]:
                        raise DamagedTableError(f"Block {number} of {name} is not what was written.")
                    found += block
        except OSError as e:
            raise DamagedTableError(f"{name} cannot be read: {e.strerror or e}.") from None
        return bytes(found[begin - first * BLOCK : end - first * BLOCK])


def folder() -> Path:
    """Return where solved tables are kept."""
    from piste.compiled.compiler import cache_folder

    return cache_folder().parent / "solved"


def is_kept(name: str, stamp: str) -> bool:
    """Say whether a table seems to be there; it is not opened, so nothing is known of its health."""
    return (_place(name, stamp) / MANIFEST).is_file()


def changed() -> int:
    """Return a number that is another one when a table has come or gone, for one look at the disk."""
    try:
        return folder().stat().st_mtime_ns
    except OSError:
        return 0


def load(name: str, stamp: str) -> Stored | None:
    """Return a kept table, or None if there is none like it. One that is damaged or foreign is taken away."""
    place = _place(name, stamp)
    there = place.exists()  # asked first: what another process puts there from now on is whole
    try:
        manifest = json.loads((place / MANIFEST).read_text(encoding="utf-8"))
        body = {key: manifest[key] for key in ("format", "name", "stamp", "arrays")}
        fits = manifest["check"] == _check(_plain(body)) and (body["format"], body["name"], body["stamp"]) == (
            FORMAT,
            name,
            stamp,
        )
        sizes = {array: (place / f"{array}.bin").stat().st_size for array in body["arrays"]}
        fits = fits and all(sizes[array] == entry["bytes"] for array, entry in body["arrays"].items())
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        fits = False
    if not fits:
        if there:
            shutil.rmtree(place, ignore_errors=True)
        return None
    return Stored(place, body)


def save(name: str, stamp: str, arrays: Mapping[str, Array]) -> Stored:
    """Keep a table, and drop what an interrupted solve had left of it; raise Unusable if it cannot be kept."""
    place = _place(name, stamp)
    # Two processes may solve the same at the same time: each writes a folder of its own.
    making = place.with_name(f"{place.name}.{os.getpid()}-{get_ident()}.part")
    try:
        body = _write(making, name, stamp, arrays)
        _put(making, place, lambda: _is_kept(name, stamp, body))
    except OSError as e:
        raise _unusable(place, e) from None
    finally:
        shutil.rmtree(making, ignore_errors=True)
    shutil.rmtree(_scratch(name, stamp), ignore_errors=True)
    return Stored(place, body)


def keep(name: str, stamp: str, arrays: Mapping[str, Array]) -> None:
    """Keep a table if that can be done, for whoever has it in memory and goes on with it; else say so once."""
    try:
        save(name, stamp, arrays)
    except CacheUnusableError as e:
        warn_unkept(folder(), e.error)


def _is_kept(name: str, stamp: str, body: dict[str, Any]) -> bool:
    """Say whether the same table is there already and whole; somebody may be reading it, so it is left alone."""
    kept = load(name, stamp)
    if kept is None or kept._manifest != body:
        return False
    try:
        kept.check()
    except DamagedTableError:
        return False
    return True


def _put(making: Path, place: Path, is_there: Callable[[], bool]) -> None:
    """Give a folder its name at once; what is there already is taken away only if it is not the same and whole.

    Nothing is looked at before: another process may put it there in between, and somebody may read it by then.
    """
    try:
        making.rename(place)
    except OSError:
        if is_there():
            return
        shutil.rmtree(place, ignore_errors=True)
        making.rename(place)


def _write(making: Path, name: str, stamp: str, arrays: Mapping[str, Array]) -> dict[str, Any]:
    """Write a table into a new folder, its manifest last, and return what stands in it."""
    import numpy as np

    shutil.rmtree(making, ignore_errors=True)
    making.mkdir(parents=True)
    entries: dict[str, Any] = {}
    for array, values in arrays.items():
        flat = np.ascontiguousarray(values)
        raw: Any = flat.reshape(-1).view(np.uint8)
        data = memoryview(raw)
        checks = []
        with (making / f"{array}.bin").open("wb") as file:
            for at in range(0, len(data), BLOCK):
                block = bytes(data[at : at + BLOCK])
                checks.append(_check(block))
                file.write(block)
        kind, shape = flat.dtype.str, list(flat.shape)
        entries[array] = {"dtype": kind, "shape": shape, "bytes": len(data), "checks": checks}
    body = {"format": FORMAT, "name": name, "stamp": stamp, "arrays": entries}
    (making / MANIFEST).write_text(json.dumps({**body, "check": _check(_plain(body))}), encoding="utf-8")
    return body


def _unusable(place: Path, error: OSError) -> CacheUnusableError:
    """Say what can be done if the cache cannot be written to."""
    return CacheUnusableError(
        f"What was solved cannot be kept in {place.parent}: {error.strerror or error}. Free some space there, make "
        "it a folder that you may write to, or set XDG_CACHE_HOME to another one.",
        error,
    )


def drop(name: str, stamp: str) -> None:
    """Take a table away, and what an interrupted solve had left of it."""
    shutil.rmtree(_place(name, stamp), ignore_errors=True)
    shutil.rmtree(_scratch(name, stamp), ignore_errors=True)


def scratch(name: str, stamp: str) -> Path:
    """Return a folder for what a solve has so far, so that it can be interrupted; `save` takes it away."""
    place = _scratch(name, stamp)
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as e:
        raise _unusable(place, e) from None
    return place


def _place(name: str, stamp: str) -> Path:
    return folder() / f"{name.split(maxsplit=1)[0]}-{_check(f'{name} {stamp}'.encode())}"


def _scratch(name: str, stamp: str) -> Path:
    place = _place(name, stamp)
    return place.with_name(place.name + ".scratch")


def _plain(body: dict[str, Any]) -> bytes:
    return json.dumps(body, sort_keys=True).encode()


def _check(block: bytes) -> str:
    return blake2b(block, digest_size=8).hexdigest()
