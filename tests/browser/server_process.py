"""A server in a process of its own, and a wire to it that can be cut."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

from tests import ROOT
from tests.browser.launch_server import READY
from tests.limits import PATIENCE_S


def file_in(folder: Path) -> Path | str:
    return folder / "tables.db"


new_database: Callable[[Path], Path | str] = file_in
"""Where a new server keeps its tables; conftest.py has it use a PostgreSQL where PISTE_TEST_DB says so."""


class ServerProcess:
    """One server on one file or database: it can be stopped, killed and started again at the same address."""

    def __init__(self, folder: Path, *, patience: float = 60.0, real: bool = False, public: str = "") -> None:
        self._db = new_database(folder)
        self._errors = folder / "errors"
        self._patience = patience
        self._real = real  # `piste serve` itself, limits and unforeseeable deals included
        self._public = public
        self._process: subprocess.Popen[str] | None = None
        self.port = 0
        self.start()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        python = [sys.executable, "-m"]
        if self._real:
            self.port = self.port or free_port()
            said = ["piste", "serve", "--host=127.0.0.1", f"--port={self.port}", f"--db={self._db}", "--no-open"]
            said += ["--no-prepare"]
        else:
            said = ["tests.browser.launch_server", str(self._db), str(self.port), str(self._patience), self._public]
        with self._errors.open("a") as errors:
            self._process = subprocess.Popen(
                python + said, cwd=ROOT, stdout=subprocess.PIPE, stderr=errors, text=True, env=dict(os.environ)
            )
        assert self._process.stdout is not None
        line = ""
        if select.select([self._process.stdout], [], [], PATIENCE_S)[0]:
            line = self._process.stdout.readline()
        if not line.startswith(READY):
            self.kill()
            raise AssertionError(f"the server did not begin: {line}{self._errors.read_text()[-2000:]}")
        if not self._real:
            self.port = int(line.split()[-1])

    def stop(self) -> None:
        """Stop it as an administrator does."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """End it as a power cut does."""
        self._end(signal.SIGKILL)

    def _end(self, how: signal.Signals) -> None:
        if self._process is None:
            return
        self._process.send_signal(how)
        try:
            self._process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(PATIENCE_S)
            raise
        finally:
            if self._process.stdout is not None:
                self._process.stdout.close()
            self._process = None

    def check(self) -> None:
        """The server had nothing to complain about."""
        wrong = [line for line in self._errors.read_text().splitlines() if "error" in line or "Traceback" in line]
        assert not wrong, wrong

    def __enter__(self) -> ServerProcess:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.stop()


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


class WebSocketProtocol:
    """Stands between a browser and a house: what goes through can be cut, held up, or kept free of websockets."""

    def __init__(self, to: int, *, sockets: bool = True) -> None:
        self._to = to
        self._sockets = sockets
        self._ends: set[socket.socket] = set()
        self._whole = True
        self._flows = threading.Event()
        self._flows.set()
        self._lock = threading.Lock()
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = int(self._listener.getsockname()[1])
        threading.Thread(target=self._listen, daemon=True).start()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def cut(self) -> None:
        """Break every connection, and let no new one live."""
        with self._lock:
            self._whole = False
            for end in self._ends:
                with contextlib.suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)

    def hold(self) -> None:
        """Let nothing through, and tell nobody: as a phone does that has left the house."""
        self._flows.clear()

    def mend(self) -> None:
        self._flows.set()
        with self._lock:
            self._whole = True

    def close(self) -> None:
        self._flows.set()
        self.cut()
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _listen(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._join, args=(near,), daemon=True).start()

    def _join(self, near: socket.socket) -> None:
        with near, contextlib.suppress(OSError):
            head = near.recv(65536)
            refused = not self._sockets and b"upgrade: websocket" in head.lower()
            if refused or not self._whole or not head:
                if refused:
                    near.sendall(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
                return
            if not self._sockets:  # one request a connection, so that every head is seen here
                head = head.replace(b"Connection: keep-alive", b"Connection: close")
            with socket.create_connection(("127.0.0.1", self._to)) as far:
                with self._lock:
                    self._ends |= {near, far}
                try:
                    if not self._whole:
                        return
                    far.sendall(head)
                    back = threading.Thread(target=self._carry, args=(far, near), daemon=True)
                    back.start()
                    self._carry(near, far)
                    back.join()
                finally:
                    with self._lock:
                        self._ends -= {near, far}

    def _carry(self, source: socket.socket, target: socket.socket) -> None:
        """Pass on what comes until nothing comes, then say so on the other side."""
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                self._flows.wait()
                target.sendall(data)
        for end in (source, target):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
