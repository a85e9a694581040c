"""A wire to a database that falls silent, or breaks, when a test says so."""

from __future__ import annotations

import contextlib
import socket
import threading
from urllib.parse import urlsplit


class StallingProxy:
    """Passes on what comes, in threads of its own; stalled, it passes nothing on and tells nobody."""

    def __init__(self, address: str) -> None:
        self._target = urlsplit(address)
        self._asks, self._answers = threading.Event(), threading.Event()
        self._commit_of = b""
        self._lock = threading.Lock()
        self._ends: set[socket.socket] = set()
        self._threads: list[threading.Thread] = []
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port: int = self._listener.getsockname()[1]
        self.flow()

    def __enter__(self) -> StallingProxy:
        self._start(self._accept)
        return self

    def _start(self, target: object, *args: object) -> None:
        self._threads.append(threading.Thread(target=target, args=args, daemon=True))  # type: ignore[arg-type]
        self._threads[-1].start()

    @property
    def url(self) -> str:
        return self._target._replace(netloc=f"{self._target.username}@127.0.0.1:{self.port}").geturl()

    def stall(self, *, asks: bool = True) -> None:
        """Let no answer through; and nothing that is asked, unless told otherwise."""
        self._answers.clear()
        if asks:
            self._asks.clear()

    def stall_commit_of(self, text: str) -> None:
        """Let no answer through once a transaction that writes this text was told to commit."""
        self._commit_of = text.encode()

    def flow(self) -> None:
        self._commit_of = b""
        self._asks.set()
        self._answers.set()

    def cut(self) -> None:
        """Break every connection; new ones are passed on."""
        with self._lock:
            for end in self._ends:
                with contextlib.suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)

    def _accept(self) -> None:
        with contextlib.suppress(OSError):  # the listener is closed
            while True:
                near, _ = self._listener.accept()
                far = socket.create_connection((str(self._target.hostname), self._target.port or 0))
                with self._lock:
                    self._ends |= {near, far}
                self._start(self._carry, near, far, self._asks)
                self._start(self._carry, far, near, self._answers)

    def _carry(self, source: socket.socket, target: socket.socket, flows: threading.Event) -> None:
        writes = awaited = False
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                if flows is self._asks:
                    writes = writes or b"INTO processes" in data  # others only read
                    awaited = awaited or (writes and bool(self._commit_of) and self._commit_of in data)
                    if awaited and b"COMMIT" in data:
                        awaited, self._commit_of = False, b""
                        self.stall(asks=False)
                flows.wait()
                target.sendall(data)
        for end in (source, target):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def __exit__(self, *_: object) -> None:
        self.flow()
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.cut()
        for thread in self._threads:
            thread.join()
        for end in self._ends:
            end.close()
