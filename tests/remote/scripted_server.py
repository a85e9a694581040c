"""A server on the loopback that answers what a test says, one answer after another, and keeps what it was asked."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple


class Answer(NamedTuple):
    """One answer. Without a status the connection is cut."""

    status: int = 200
    body: bytes = b"{}"
    headers: tuple[tuple[str, str], ...] = ()
    length: int | None = None  # what is said of the body, if that is not true


def problem(status: int, kind: str, **headers: str) -> Answer:
    body = {"type": f"/api/v1/problems#{kind}", "detail": f"It is {kind}.", "hint": "Do something.", "status": status}
    return Answer(status, json.dumps(body).encode(), tuple((k.replace("_", "-"), v) for k, v in headers.items()))


class Asked(NamedTuple):
    method: str
    path: str
    headers: dict[str, str]
    body: bytes


class ScriptedServer(ThreadingHTTPServer):
    answers: list[Answer]
    asked: list[Asked]

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    server: ScriptedServer

    def do_GET(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", "0")))
        self.server.asked.append(Asked(self.command, self.path, dict(self.headers), body))
        answer = self.server.answers.pop(0)
        if not answer.status:
            return
        self.send_response(answer.status)
        for name, value in answer.headers:
            self.send_header(name, value)
        self.send_header("content-length", str(len(answer.body) if answer.length is None else answer.length))
        self.end_headers()
        self.wfile.write(answer.body)

    do_POST = do_GET  # noqa: N815

    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def scripted(*answers: Answer) -> Iterator[ScriptedServer]:
    server = ScriptedServer(("127.0.0.1", 0), Handler)
    server.answers, server.asked = list(answers), []
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
