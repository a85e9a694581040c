"""How long starting takes: CPU time of the help and of the way to the first prompt, as ratios to a bare Python."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from typing import Any

from piste.cli.progress_bar import ProgressBar
from piste.cli.terminal import Terminal

RUNS = 20
FIRST_PROMPT = """
import os, sys
class Keyboard:
    def isatty(self): return False
    def readline(self): os._exit(0)  # the first prompt has been reached
sys.stdin = Keyboard()
from piste.cli.main import main
main(["play", "prime-duel", "--first", "1"])
"""
HELP = "from piste.cli.main import main; main(['--help'])"


def measure_all(_args: argparse.Namespace, bar: ProgressBar) -> dict[str, Any]:
    """Measure in one run, the cases in turn; return the least CPU time of each and their ratios."""
    cases = {"bare": "pass", "help": HELP, "prompt": FIRST_PROMPT}
    least = dict.fromkeys(cases, float("inf"))
    with tempfile.TemporaryDirectory() as home:
        for run in range(RUNS):
            bar(run, RUNS)
            for name, code in cases.items():
                least[name] = min(least[name], cpu_seconds(code, home))
    milliseconds = {name: round(1000 * seconds, 1) for name, seconds in least.items()}
    ratios = {name: round(least[name] / least["bare"], 2) for name in ("help", "prompt")}
    return {"cpu_ms": milliseconds, "ratio": ratios, "runs": RUNS}


def show(document: dict[str, Any], terminal: Terminal) -> None:
    least, ratios = document["cpu_ms"], document["ratio"]
    terminal.line(f"python -c pass     {least['bare']:6.1f} ms of CPU (least of {RUNS})")
    terminal.line(f"piste --help       {least['help']:6.1f} ms, {ratios['help']} times")
    terminal.line(f"to the first prompt{least['prompt']:6.1f} ms, {ratios['prompt']} times")


def cpu_seconds(code: str, home: str) -> float:
    """Return the CPU time of a fresh interpreter that runs some code with nothing to read."""
    before = children_seconds()
    nothing = subprocess.DEVNULL
    environment = {**os.environ, "PISTE_HOME": home}
    command = [sys.executable, "-c", code]
    subprocess.run(command, stdin=nothing, stdout=nothing, stderr=nothing, env=environment, check=False)
    return children_seconds() - before


def children_seconds() -> float:
    """Return the CPU time of finished child processes, as fine as the system tells it."""
    try:
        import resource
    except ImportError:
        times = os.times()
        return times.children_user + times.children_system
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
