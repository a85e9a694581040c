"""Solver tables on disk, in the user's cache: arrays with checksums.

A table is one folder: the arrays, in blocks with a checksum each, and a manifest that is written last. The folder is
named after the table and its stamp (the versions of rules and solver), so an old table is never read as a new one. A
block that does not match its checksum is noticed when it is read, and the table is deleted.
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
BLOCK_BYTES = 1 << 20
MANIFEST = "manifest.json"


class DamagedTableError(PisteError):
    """A stored table is not what was written."""


class CacheUnusableError(PisteError):
    """The cache cannot be written to."""

    def __init__(self, text: str, error: OSError) -> None:
        super().__init__(text)
        self.error = error

    def __reduce__(self) -> tuple[type[CacheUnusableError], tuple[str, OSError]]:
        return type(self), (str(self), self.error)  # so that it survives pickling by a worker


_warned: set[str] = set()

loaded: set[tuple[str, str]] = set()
"""The tables that were read or written in this process, as (name, stamp): a worker that does the same needs them."""


def warn_not_cached(folder: Path, error: OSError) -> None:
    """Warn once for each folder that nothing can be cached there, and say what can be done."""
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


class CachedTable:
    """A table on disk; arrays are read when they are asked for, whole or some rows of them."""

    def __init__(self, folder: Path, manifest: dict[str, Any]) -> None:
        self.folder = folder
        self._manifest = manifest

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._manifest["arrays"])

    @property
    def size(self) -> int:
        """The size on disk in bytes."""
        return sum(file.stat().st_size for file in self.folder.iterdir())

    def row_count(self, name: str) -> int:
        return int(self._manifest["arrays"][name]["shape"][0])

    def read(self, name: str) -> Array:
        """Return an array, all of it checked."""
        return self.read_rows(name, 0, self.row_count(name))

    def read_rows(self, name: str, start: int, stop: int) -> Array:
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
        """Read everything once; raise DamagedTableError if anything is not what was written."""
        for name in self.names:
            entry = self._manifest["arrays"][name]
            for at in range(0, int(entry["bytes"]), BLOCK_BYTES):
                self._bytes(name, entry, at, min(at + BLOCK_BYTES, entry["bytes"]))

    def _bytes(self, name: str, entry: dict[str, Any], begin: int, end: int) -> bytes:
        first = begin // BLOCK_BYTES
        data = bytearray()
        try:
            with (self.folder / f"{name}.bin").open("rb") as file:
                file.seek(first * BLOCK_BYTES)
                for number in range(first, -(-end // BLOCK_BYTES)):
                    block = file.read(BLOCK_BYTES)
                    if _checksum(block) != entry["checks"][number]:
                        raise DamagedTableError(f"Block {number} of {name} is not what was written.")
                    data += block
        except OSError as e:
            raise DamagedTableError(f"{name} cannot be read: {e.strerror or e}.") from None
        return bytes(data[begin - first * BLOCK_BYTES : end - first * BLOCK_BYTES])


def folder() -> Path:
    """Return the folder of all tables."""
    from piste.compiled.compiler import cache_folder

    return cache_folder().parent / "solved"


def exists(name: str, stamp: str) -> bool:
    """Say whether a table is there; its contents are not checked."""
    return (_place(name, stamp) / MANIFEST).is_file()


def last_modified() -> int:
    """Return when a table was last added or deleted, in nanoseconds: another number means another set of tables."""
    try:
        return folder().stat().st_mtime_ns
    except OSError:
        return 0


def load(name: str, stamp: str) -> CachedTable | None:
    """Return a table, or None if there is none. A damaged or foreign one is deleted."""
    place = _place(name, stamp)
    there = place.exists()  # asked first: what another process puts there from now on is complete
    try:
        manifest = json.loads((place / MANIFEST).read_text(encoding="utf-8"))
        body = {key: manifest[key] for key in ("format", "name", "stamp", "arrays")}
        fits = manifest["check"] == _checksum(_canonical(body)) and (body["format"], body["name"], body["stamp"]) == (
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
    loaded.add((name, stamp))
    return CachedTable(place, body)


def save(name: str, stamp: str, arrays: Mapping[str, Array]) -> CachedTable:
    """Write a table and delete the scratch folder; raise CacheUnusableError if it cannot be written."""
    place = _place(name, stamp)
    # Two processes may solve the same game at the same time: each writes a folder of its own.
    making = place.with_name(f"{place.name}.{os.getpid()}-{get_ident()}.part")
    try:
        body = _write(making, name, stamp, arrays)
        _publish(making, place, lambda: _is_complete(name, stamp, body))
    except OSError as e:
        raise _unusable(place, e) from None
    finally:
        shutil.rmtree(making, ignore_errors=True)
    shutil.rmtree(_scratch(name, stamp), ignore_errors=True)
    loaded.add((name, stamp))
    return CachedTable(place, body)


def pack(name: str, stamp: str, max_bytes: int) -> bytes:
    """Return a whole table as bytes, to be sent to another machine; refuse one that is larger than this."""
    import io
    import tarfile

    place = _place(name, stamp)
    size = sum(file.stat().st_size for file in place.iterdir())
    if size > max_bytes:
        raise PisteError(
            f"A worker lacks the table '{name}', which is too large to be sent ({size >> 20} MB). Compute it there "
            "with `piste solve GAME --full`, or copy the folder that `piste where` names."
        )
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz", compresslevel=1) as archive:
        for file in sorted(place.iterdir()):
            archive.add(file, file.name)
    return packed.getvalue()


def unpack(name: str, stamp: str, data: bytes) -> None:
    """Write a table that was packed elsewhere into the cache; what does not match its checksums is deleted."""
    import io
    import tarfile

    place = _place(name, stamp)
    making = place.with_name(f"{place.name}.{os.getpid()}-{get_ident()}.part")
    try:
        making.mkdir(parents=True, exist_ok=True)
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:gz") as archive:
            for member in archive:
                content = archive.extractfile(member)
                if content is not None:
                    (making / Path(member.name).name).write_bytes(content.read())
        _publish(making, place, lambda: load(name, stamp) is not None)
    except OSError as e:
        warn_not_cached(folder(), e)
    finally:
        shutil.rmtree(making, ignore_errors=True)


def try_save(name: str, stamp: str, arrays: Mapping[str, Array]) -> None:
    """Write a table if possible, for a caller that has it in memory; else warn once."""
    try:
        save(name, stamp, arrays)
    except CacheUnusableError as e:
        warn_not_cached(folder(), e.error)


def _is_complete(name: str, stamp: str, body: dict[str, Any]) -> bool:
    """Say whether the same table is there already and undamaged; a process may be reading it, so it stays."""
    table = load(name, stamp)
    if table is None or table._manifest != body:
        return False
    try:
        table.check()
    except DamagedTableError:
        return False
    return True


def _publish(making: Path, place: Path, is_there: Callable[[], bool]) -> None:
    """Rename a folder to its final name; one that is there already is replaced only if it is not the same table.

    The rename comes before the check: another process may publish the table in between, and a third one read it.
    """
    try:
        making.rename(place)
    except OSError:
        if is_there():
            return
        shutil.rmtree(place, ignore_errors=True)
        making.rename(place)


def _write(making: Path, name: str, stamp: str, arrays: Mapping[str, Array]) -> dict[str, Any]:
    """Write a table into a new folder, its manifest last, and return the manifest."""
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
            for at in range(0, len(data), BLOCK_BYTES):
                block = bytes(data[at : at + BLOCK_BYTES])
                checks.append(_checksum(block))
                file.write(block)
        kind, shape = flat.dtype.str, list(flat.shape)
        entries[array] = {"dtype": kind, "shape": shape, "bytes": len(data), "checks": checks}
    body = {"format": FORMAT, "name": name, "stamp": stamp, "arrays": entries}
    (making / MANIFEST).write_text(json.dumps({**body, "check": _checksum(_canonical(body))}), encoding="utf-8")
    return body


def _unusable(place: Path, error: OSError) -> CacheUnusableError:
    """Return the error that says what can be done if the cache cannot be written to."""
    return CacheUnusableError(
        f"What was solved cannot be kept in {place.parent}: {error.strerror or error}. Free some space there, make "
        "it a folder that you may write to, or set XDG_CACHE_HOME to another one.",
        error,
    )


def delete(name: str, stamp: str) -> None:
    """Delete a table and its scratch folder."""
    shutil.rmtree(_place(name, stamp), ignore_errors=True)
    shutil.rmtree(_scratch(name, stamp), ignore_errors=True)


def scratch_folder(name: str, stamp: str) -> Path:
    """Return a folder for the checkpoints of a long solve; `save` deletes it."""
    place = _scratch(name, stamp)
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as e:
        raise _unusable(place, e) from None
    return place


def _place(name: str, stamp: str) -> Path:
    return folder() / f"{name.split(maxsplit=1)[0]}-{_checksum(f'{name} {stamp}'.encode())}"


def _scratch(name: str, stamp: str) -> Path:
    place = _place(name, stamp)
    return place.with_name(place.name + ".scratch")


def _canonical(body: dict[str, Any]) -> bytes:
    return json.dumps(body, sort_keys=True).encode()


def _checksum(block: bytes) -> str:
    return blake2b(block, digest_size=8).hexdigest()
