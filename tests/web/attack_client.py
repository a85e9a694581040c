"""A server in a process of its own, and clients that are not kind to it. All of it stays on the loopback.

A client is given the address from which it calls: 127.0.0.2 and 127.0.1.7 are different networks to the server.
"""

from __future__ import annotations

import base64
import contextlib
import http.client
import json
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode

from tests.limits import PATIENCE_S

LOOPBACK = "127.0.0.1"
SERVE = """
import json, pathlib, sys
from piste.cli.commands.serve import Manner, serve
from piste.cli.terminal import Terminal
from piste.web.server import listen
from piste.web.settings import Settings

given = json.loads(sys.argv[1])
if "files" in given:
    import resource

    resource.setrlimit(resource.RLIMIT_NOFILE, (given["files"], given["files"]))
listener = listen("127.0.0.1", 0)
known = {name: value for name, value in given.items() if name in Settings._fields}
settings = Settings(pathlib.Path(given["file"]), host="127.0.0.1", port=listener.getsockname()[1])._replace(**known)
sys.exit(serve(settings, listener, Terminal(), Manner(quiet=True, browse=False)))
"""


class Client:
    """Whoever asks a server for something, from any address."""

    def __init__(self, port: int) -> None:
        self.port = port
        self._lines: list[Line] = []

    def metric(self, name: str) -> float:
        """Return a number that the server tells about itself."""
        found = re.search(rf"^{re.escape(name)} (\S+)$", self.ask("GET", "/metrics", LOOPBACK).text, re.MULTILINE)
        assert found, name
        return float(found[1])

    def ask(
        self,
        method: str,
        path: str,
        source: str,
        fields: dict[str, str] | None = None,
        cookie: str = "",
        **headers: str,
    ) -> Got:
        """Ask for something from an address, as a program does."""
        connection = http.client.HTTPConnection(LOOPBACK, self.port, timeout=PATIENCE_S, source_address=(source, 0))
        given = {"origin": f"http://{LOOPBACK}:{self.port}", "accept": "application/json", "connection": "close"}
        given |= {"cookie": cookie} if cookie else {}
        if fields is not None:
            given["content-type"] = "application/x-www-form-urlencoded"
        with contextlib.closing(connection):
            connection.request(method, path, None if fields is None else urlencode(fields), given | headers)
            answer = connection.getresponse()
            text = answer.read().decode()
            return Got(answer.status, text, (answer.getheader("set-cookie") or "").partition(";")[0])

    def open(self, source: str, game: str, versus: str = "friend", **options: str) -> tuple[str, str]:
        """Open a table and return its code and the cookie of whoever did."""
        fields = {f"option-{name}": value for name, value in options.items()}
        got = self.ask("POST", "/new", source, {"game": game, "versus": versus, "name": "Ada", **fields})
        assert got.status == 200, got
        return json.loads(got.text)["go"].rpartition("/")[2], got.cookie

    def sit(self, source: str, code: str) -> str:
        got = self.ask("POST", f"/t/{code}/sit", source, {"name": "Ben"})
        assert got.status == 200, got
        return got.cookie

    def line(self, source: str, code: str, cookie: str = "") -> Line:
        self._lines.append(Line(self.port, source, code, cookie))
        return self._lines[-1]


class Server(Client):
    """A server that can be asked about itself, and stopped."""

    def __init__(self, folder: Path, **settings: Any) -> None:
        given = json.dumps({"file": str(folder / "tables.db"), **settings})
        self.process = subprocess.Popen(
            [sys.executable, "-c", SERVE, given], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            env={**os.environ, "PISTE_HOME": str(folder)},
        )  # fmt: skip
        assert self.process.stderr is not None
        self.log: list[str] = []
        for line in self.process.stderr:
            self.log.append(line)
            if '"serving"' in line:
                break
        else:
            raise AssertionError("".join(self.log))
        super().__init__(int(json.loads(self.log[-1])["port"]))
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stderr is not None
        self.log.extend(self.process.stderr)

    def end(self) -> None:
        """Leave nothing behind."""
        for line in self._lines:
            line.close()
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self._reader.join(PATIENCE_S)
        assert self.process.stderr is not None
        self.process.stderr.close()

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Stop it and return its exit code."""
        self.process.send_signal(number)
        return self.process.wait(PATIENCE_S)


@contextlib.contextmanager
def serving(folder: Path, **settings: Any) -> Iterator[Server]:
    server = Server(folder, **settings)
    try:
        yield server
    finally:
        server.end()


class Got(NamedTuple):
    status: int
    text: str
    cookie: str = ""


class Line:
    """A websocket by hand: it answers pings while somebody listens, closes nothing and breaks when it is told to."""

    def __init__(self, port: int, source: str, code: str, cookie: str = "", since: int = 0) -> None:
        self.socket = socket.create_connection((LOOPBACK, port), PATIENCE_S, (source, 0))
        head = (
            f"GET /t/{code}/socket?since={since} HTTP/1.1\r\nHost: {LOOPBACK}:{port}\r\nOrigin: http://{LOOPBACK}:{port}\r\n"
            "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
            f"Sec-WebSocket-Key: {base64.b64encode(os.urandom(16)).decode()}\r\n"
            + (f"Cookie: {cookie}\r\n" if cookie else "")
            + "\r\n"
        )
        self.socket.sendall(head.encode())
        self._got = b""
        while b"\r\n\r\n" not in self._got:
            more = self.socket.recv(65536)
            if not more:
                break
            self._got += more
        answer, _, self._got = self._got.partition(b"\r\n\r\n")
        self.status = int(answer.split(b" ")[1]) if answer else 0

    def send(self, *messages: dict[str, Any]) -> None:
        self.socket.sendall(b"".join(frame(json.dumps(message)) for message in messages))

    def heard(self) -> dict[str, Any] | None:
        """Return the next message, or None when the line has ended."""
        while True:
            found = self._frame()
            if found is None or found[0] == 8:
                return None
            if found[0] == 9:  # answered only by who listens
                self.socket.sendall(bytes([0x8A, 0x80 | len(found[1])]) + b"\0\0\0\0" + found[1])
            if found[0] == 1:
                message: dict[str, Any] = json.loads(found[1])
                return message

    def until(self, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """Return the first message that is wanted."""
        while True:
            message = self.heard()
            assert message is not None, "the line ended"
            if wanted(message):
                return message

    def _frame(self) -> tuple[int, bytes] | None:
        head = self._take(2)
        if head is None:
            return None
        kind, size = head[0] & 15, head[1]
        if size >= 126:
            longer = self._take(2 if size == 126 else 8)
            if longer is None:
                return None
            size = int.from_bytes(longer, "big")
        body = self._take(size)
        return None if body is None else (kind, body)

    def _take(self, size: int) -> bytes | None:
        with contextlib.suppress(ConnectionError):
            while len(self._got) < size:
                more = self.socket.recv(65536)
                if not more:
                    return None
                self._got += more
            found, self._got = self._got[:size], self._got[size:]
            return found
        return None

    def reset(self) -> None:
        """Break the line without a word, as a router that forgets does."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()

    def close(self) -> None:
        self.socket.close()


def frame(text: str) -> bytes:
    """Return a text message of a client; its mask is nought."""
    body = text.encode()
    size = bytes([0x80 | len(body)]) if len(body) < 126 else b"\xfe" + len(body).to_bytes(2, "big")
    return b"\x81" + size + b"\0\0\0\0" + body
