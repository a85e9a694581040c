"""Servers and workers as processes of their own, with bots that do what a test wants.

A bot looks into the folder of the test: while there is a file `hang`, it notes its process there and does not answer;
with a file `die` it kills its process.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from piste.core.evaluation import Progress, quiet
from piste.core.views import SeatView
from piste.web import logging as logs
from piste.web.app import make_app
from piste.web.job_worker import run_worker
from piste.web.server import run_app
from piste.web.settings import Settings
from tests import ROOT
from tests.limits import PATIENCE_S, until
from tests.web.in_process_server import QUICK_JOBS, FirstMind


class FolderMind(FirstMind):
    """Thinks as files in a folder say."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder

    async def choose(
        self, game: str, level: str, view: SeatView, seed: str, stream: str, progress: Progress = quiet
    ) -> int:
        await self._think()
        return await super().choose(game, level, view, seed, stream, progress)

    async def hint(
        self, game: str, view: SeatView, seed: str, stream: str, progress: Progress = quiet
    ) -> tuple[str, int]:
        await self._think()
        return await super().hint(game, view, seed, stream, progress)

    async def review(self, record: str, evaluations: Any, progress: Callable[..., None]) -> str:
        await self._think()
        return await super().review(record, evaluations, progress)

    async def _think(self) -> None:
        if (self._folder / "die").exists():
            os.kill(os.getpid(), signal.SIGKILL)
        if (self._folder / "hang").exists():
            (self._folder / f"thinking-{os.getpid()}").touch()
            await until(lambda: not (self._folder / "hang").exists())


@contextmanager
def process(kind: str, address: str, folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Run a server or a worker with bots of the test; it has said that it is ready."""
    running = subprocess.Popen(
        [sys.executable, "-m", "tests.web.job_processes", kind, address, str(folder)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT,
    )  # fmt: skip
    try:
        assert running.stdout is not None
        line = running.stdout.readline()
        assert line.startswith("ready"), line + running.communicate(timeout=PATIENCE_S)[1]
        running.address = line.split()[-1]  # type: ignore[attr-defined]
        yield running
    finally:
        if running.poll() is None:
            running.kill()
        running.communicate(timeout=PATIENCE_S)


def thinking(folder: Path) -> list[int]:
    """Return the processes that think and do not answer."""
    return [int(path.name.partition("-")[2]) for path in folder.glob("thinking-*")]


def main(kind: str, address: str, folder: str) -> None:
    logs.configure()
    mind = FolderMind(Path(folder))
    settings = Settings(db=address, limits=False, thinkers=0 if kind == "server" else 1, jobs=QUICK_JOBS)
    if kind == "worker":
        run_worker(settings, lambda: print("ready", flush=True), mind)
        return
    listener = socket.create_server(("127.0.0.1", 0))
    where = f"http://127.0.0.1:{listener.getsockname()[1]}"
    error = run_app(
        make_app(settings, bot_workers=mind), settings, listener, lambda: print(f"ready {where}", flush=True)
    )
    assert error is None, error


if __name__ == "__main__":
    main(*sys.argv[1:])
