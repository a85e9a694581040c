"""A process that works for this one: it tells how far it is, can be killed at any moment, and ends with its owner.

What compiles, solves or searches runs there, so that neither Ctrl-C nor a time limit ever tears it apart in here. The
process is an ordinary child with two pipes, not one of `multiprocessing`: it never loads the caller's main module.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import pickle
import queue
import signal
import struct
import subprocess
import sys
import threading
import traceback
import warnings
import weakref
from collections.abc import Callable
from concurrent.futures import Future
from itertools import count
from time import monotonic
from typing import IO, Any, NoReturn, TypeVar

from piste.core.errors import CacheWarning, PisteError, is_interrupt, tell_cache_warnings

T = TypeVar("T")

PROGRESS_INTERVAL_S = 0.05
"""Seconds between two messages about the progress of the same thing."""

LENGTH = struct.Struct("!Q")
PROGRESS, DONE, FAILED, WARNED = "progress", "done", "failed", "warned"


class WorkerDiedError(PisteError):
    """The process ended, or was killed, before the work was done."""


class WorkerMemoryError(PisteError):
    """The work needed more memory than its process may take."""


class RemoteTraceback(Exception):  # noqa: N818 (never raised: it is the cause of another error, as in multiprocessing)
    """Where in the worker an error came from, as text."""


_workers: weakref.WeakSet[Worker] = weakref.WeakSet()


@atexit.register
def _kill_all() -> None:
    for worker in list(_workers):
        worker.kill()


class Worker:
    """One process, started when there is work, that does one piece of work at a time."""

    def __init__(self, *, nice: int = 0, memory: int = 0) -> None:
        """Give the process a niceness, and at most this many bytes of memory; 0 for no limit."""
        self._nice = nice
        self._memory = memory
        self._lock = threading.RLock()
        self._process: subprocess.Popen[bytes] | None = None
        self._numbers = count()
        self._pending: dict[int, tuple[Future[Any], Callable[..., None] | None]] = {}
        _workers.add(self)

    def submit(self, work: Callable[..., T], *args: Any, progress: Callable[..., None] | None = None) -> Future[T]:
        """Have a function of a module called there, after whatever was submitted before.

        With `progress` the function gets a `progress` of its own; what it is called with arrives here, in another
        thread. If the process is killed or dies, the future ends with WorkerDiedError.
        """
        future: Future[T] = Future()
        future.set_running_or_notify_cancel()  # it ends by itself or with its process; it cannot be called off
        with self._lock:
            process = self._process or self._start()
            number = next(self._numbers)
            data = pickle.dumps((number, dict(os.environ), progress is not None, pickle.dumps((work, args))))
            self._pending[number] = future, progress
            assert process.stdin is not None
            try:
                _send(process.stdin, data)
            except OSError:  # it has just died
                self._end(process)
        return future

    def kill(self) -> None:
        """End the process, whatever it does, and with it what its work has started. The next work starts another."""
        with self._lock:
            if self._process is not None:
                self._end(self._process)

    def interrupt(self) -> None:
        """Ask the work to stop: the next time it tells of its progress, KeyboardInterrupt is raised there.

        Work that is made for it ends with what it has; for all other work its future ends with KeyboardInterrupt.
        """
        with self._lock:
            if self._process is not None and self._process.stdin is not None:
                with contextlib.suppress(OSError):
                    _send(self._process.stdin, b"")

    def _start(self) -> subprocess.Popen[bytes]:
        # In a process group of its own Ctrl-C at the terminal does not reach it, and what it starts ends with it.
        group = {"process_group": 0} if hasattr(os, "setpgid") else {}
        call = f"serve({self._nice}, {self._memory})"
        code = f"import sys; sys.path[:] = {sys.path!r}; from piste.core.worker_process import serve; {call}"
        try:
            process: subprocess.Popen[bytes] = subprocess.Popen(  # type: ignore[call-overload]
                [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, **group
            )
        except OSError as e:
            raise PisteError(f"No process can be started for this: {e.strerror or e}.") from e
        self._process = process
        threading.Thread(target=self._listen, args=(process,), daemon=True).start()
        return process

    def _end(self, process: subprocess.Popen[bytes]) -> None:
        """End a process that nobody has waited for yet, and all that waits for it. The caller holds the lock."""
        if self._process is not process:
            return
        self._process = None
        with contextlib.suppress(OSError):
            if hasattr(os, "killpg"):
                os.killpg(process.pid, signal.SIGKILL)
        process.kill()
        pending, self._pending = self._pending, {}
        for future, _ in pending.values():
            future.set_exception(WorkerDiedError("The work was stopped before it was done."))

    def _listen(self, process: subprocess.Popen[bytes]) -> None:
        """Take what the process sends, until it ends."""
        assert process.stdout is not None
        while (data := _receive(process.stdout)) is not None:
            number, kind, packed = pickle.loads(data)
            if kind == WARNED:
                with contextlib.suppress(CacheWarning):  # where warnings are errors, nobody here could catch it
                    warnings.warn(pickle.loads(packed), CacheWarning, stacklevel=1)
                continue
            with self._lock:
                pending = self._pending.get(number) if self._process is process else None
                if pending is not None and kind != PROGRESS:
                    del self._pending[number]
            if pending is not None:
                _pass_on(*pending, kind, packed)
        with self._lock:
            self._end(process)
        process.wait()
        for pipe in (process.stdin, process.stdout):
            with contextlib.suppress(OSError):
                if pipe is not None:
                    pipe.close()


def _pass_on(future: Future[Any], progress: Callable[..., None] | None, kind: str, packed: bytes) -> None:
    try:
        what = pickle.loads(packed)
    except Exception as e:
        kind, what = FAILED, (e, "")
    if kind == DONE:
        future.set_result(what)
    elif kind == FAILED:
        error, trace = what
        error.__cause__ = RemoteTraceback(trace) if trace else None
        future.set_exception(error)
    elif progress is not None:
        progress(*what)


def _send(pipe: IO[bytes], data: bytes) -> None:
    pipe.write(LENGTH.pack(len(data)) + data)
    pipe.flush()


def _receive(pipe: IO[bytes]) -> bytes | None:
    """Return the next message; None if the other side is gone, perhaps in the middle of one."""
    try:
        head = pipe.read(LENGTH.size)
        if len(head) < LENGTH.size:
            return None
        (length,) = LENGTH.unpack(head)
        data = pipe.read(length)
    except (OSError, ValueError):
        return None
    return data if len(data) == length else None


# In the worker

_stop = threading.Event()
"""Set when the work is to stop."""


def serve(nice: int, memory: int = 0) -> None:
    """Do what is asked for on the standard input until it is closed, then end at once, with all that was started."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _limit_memory(memory)
    if nice and hasattr(os, "nice"):
        os.nice(nice)
    # What the work prints must not get between the messages.
    requests, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(2, 1)
    # The owner of this process knows whom to tell, and how.
    tell_cache_warnings(lambda text: _send(replies, pickle.dumps((-1, WARNED, pickle.dumps(text)))))
    tasks: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(requests, tasks), daemon=True).start()
    while True:
        packed_task = tasks.get()
        _stop.clear()
        number, environment, telling, packed = pickle.loads(packed_task)
        if os.environ != environment:  # where the cache is, for one
            os.environ.clear()
            os.environ.update(environment)
        named = {"progress": _ProgressSender(replies, number)} if telling else {}
        answer = pickle.dumps((number, *_outcome(packed, named)))
        try:
            _send(replies, answer)
        except OSError:  # the owner is gone
            _end_all()


def _limit_memory(memory: int) -> None:
    """Take no more memory than this, where the system can see to it."""
    try:
        import resource
    except ImportError:  # not on this system
        return
    if memory:
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))


def _read(requests: IO[bytes], tasks: queue.SimpleQueue[bytes]) -> None:
    while (data := _receive(requests)) is not None:
        if data:
            tasks.put(data)
        else:
            _stop.set()
    _end_all()


def _end_all() -> NoReturn:
    """End this process without a word, and what its work has started."""
    if hasattr(os, "killpg") and os.getpgrp() == os.getpid():
        os.killpg(os.getpid(), signal.SIGKILL)
    os._exit(0)


def _outcome(packed: bytes, named: dict[str, Any]) -> tuple[str, bytes]:
    """Return what came of it, packed: a result, a refusal, or an error with its traceback as text."""
    try:
        work, args = pickle.loads(packed)
        return DONE, pickle.dumps(work(*args, **named))
    except (PisteError, OSError, KeyboardInterrupt) as e:
        return FAILED, pickle.dumps((e, ""))
    except MemoryError:
        return FAILED, pickle.dumps((WorkerMemoryError("There is not enough memory for this."), ""))
    except Exception as e:
        if is_interrupt(e):
            return FAILED, pickle.dumps((KeyboardInterrupt(), ""))
        # Not every error can be packed: it travels as words.
        return FAILED, pickle.dumps((RuntimeError(f"{type(e).__name__}: {e}"), traceback.format_exc()))


class _ProgressSender:
    """Sends how far the work is, not too often."""

    def __init__(self, replies: IO[bytes], number: int) -> None:
        self._replies, self._number = replies, number
        self._last, self._what = 0.0, ""

    def __call__(self, done: int, whole: int, what: str = "", *results: Any) -> None:
        """Tell how far it is; what was results meanwhile is never held back."""
        if _stop.is_set():
            _stop.clear()
            raise KeyboardInterrupt
        now = monotonic()
        if not results and what == self._what and done < whole and now - self._last < PROGRESS_INTERVAL_S:
            return
        self._last, self._what = now, what
        _send(self._replies, pickle.dumps((self._number, PROGRESS, pickle.dumps((done, whole, what, *results)))))
