"""A real Dask scheduler and real workers, as processes of this machine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from tests import ROOT
from tests.limits import wait_until


class Cluster:
    """A Dask scheduler and workers as processes of this machine."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.processes = folder, dict[str, subprocess.Popen[bytes]]()
        place = folder / "scheduler.json"
        self.start("scheduler", "scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard",
                   "--scheduler-file", str(place))  # fmt: skip
        wait_until(lambda: bool(address_in(place)))
        self.address = address_in(place)

    def start(self, name: str, *words: str, **environment: str) -> None:
        self.processes[name] = subprocess.Popen(
            [sys.executable, "-m", "dask", *words],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'src'}", **environment},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def start_worker(self, name: str, **environment: str) -> None:
        words = f"worker {self.address} --nthreads 1 --no-nanny --no-dashboard --host 127.0.0.1 --memory-limit 0"
        self.start(name, *words.split(), "--local-directory", str(self.folder / "space"), **environment)

    def kill(self, name: str) -> None:
        process = self.processes.pop(name)
        process.kill()
        process.wait()

    def close(self) -> None:
        for name in list(self.processes):
            self.kill(name)


def address_in(place: Path) -> str:
    """Return the address that a scheduler has written into its file, or "" if it has not written all of it."""
    try:
        return str(json.loads(place.read_text())["address"])
    except (OSError, ValueError):
        return ""
