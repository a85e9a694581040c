"""`piste serve` in a process of its own, on whichever storage."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest

from tests.limits import PATIENCE_S, wait_until

posix = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
ENV = {key: value for key, value in os.environ.items() if not key.startswith("PISTE_") and key != "WEB_CONCURRENCY"}
WORDS = ("serve", "--port", "0", "--host", "127.0.0.1", "--no-open", "--no-prepare", "--bot-workers", "1")


class ServerProcess:
    """`piste serve` in a process of its own; what it logs is read as it comes."""

    def __init__(self, home: Path, *words: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "piste", *WORDS, *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**ENV, "PISTE_HOME": str(home), "PYTHONUNBUFFERED": "1"},
        )
        self.out: list[str] = []
        self.err: list[str] = []
        self._reading = [
            threading.Thread(target=self._read, args=(self.process.stdout, self.out)),
            threading.Thread(target=self._read, args=(self.process.stderr, self.err)),
        ]
        for thread in self._reading:
            thread.start()

    def _read(self, stream: Any, lines: list[str]) -> None:
        with stream:
            lines.extend(stream)  # one after another, as they come

    @property
    def text(self) -> str:
        return "".join([*self.out, *self.err])

    def ready(self) -> ServerProcess:
        wait_until(
            lambda: "To stop" in "".join(self.out) or self.process.poll() is not None,
            lambda: f"no start: {self.text}",
        )
        assert self.process.poll() is None, self.text
        return self

    @property
    def address(self) -> str:
        found = re.search(r"http://127\.0\.0\.1:\d+", "".join(self.out))
        assert found is not None
        return found[0]

    def events(self, event: str) -> list[dict[str, Any]]:
        lines = [json.loads(line) for line in self.err if line.startswith("{") and line.endswith("\n")]
        return [line for line in lines if line["event"] == event]

    def get(self, path: str) -> httpx.Response:
        return httpx.get(f"{self.address}{path}", trust_env=False, timeout=PATIENCE_S)

    def get_page(self, code: str, token: str) -> str:
        """Return the page of a table as the device with this token is shown it."""
        cookie = {"cookie": f"piste={token}"}
        return httpx.get(f"{self.address}/t/{code}", headers=cookie, trust_env=False, timeout=PATIENCE_S).text

    def children(self) -> dict[str, int]:
        """Return the processes that run now, by what they are for."""
        return {event["process"]: event["pid"] for event in self.events("process started")}

    def wait(self) -> int:
        self.process.wait(PATIENCE_S)
        for thread in self._reading:
            thread.join(PATIENCE_S)
        return self.process.returncode

    def stop(self, number: int = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.wait()


@contextmanager
def serving(home: Path, *words: str) -> Iterator[ServerProcess]:
    server = ServerProcess(home, *words)
    try:
        yield server
    finally:
        if server.process.poll() is None:
            server.process.terminate()
        server.wait()
