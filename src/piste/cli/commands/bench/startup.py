"""How long starting takes: CPU time of the help and of the way to the first prompt, as ratios to a bare Python."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile

from piste.cli.output import print_json
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
HELP = "from piste.cli.parser import make_parser; make_parser().format_help()"


def bench(args: argparse.Namespace, terminal: Terminal) -> int:
    """Measure in one run, the cases in turn, and print the least CPU time of each and their ratios."""
    cases = {"bare": "pass", "help": HELP, "prompt": FIRST_PROMPT}
    least = dict.fromkeys(cases, float("inf"))
    with tempfile.TemporaryDirectory() as home:
        for _ in range(RUNS):
            for name, code in cases.items():
                least[name] = min(least[name], cpu_seconds(code, home))
    ratios = {name: round(least[name] / least["bare"], 2) for name in ("help", "prompt")}
    if args.json:
        milliseconds = {name: round(1000 * seconds, 1) for name, seconds in least.items()}
        return print_json(terminal, {"cpu_ms": milliseconds, "ratio": ratios, "runs": RUNS})
    terminal.line(f"python -c pass     {1000 * least['bare']:6.1f} ms of CPU (least of {RUNS})")
    terminal.line(f"piste --help       {1000 * least['help']:6.1f} ms, {ratios['help']} times")
    terminal.line(f"to the first prompt{1000 * least['prompt']:6.1f} ms, {ratios['prompt']} times")
    return 0


def cpu_seconds(code: str, home: str) -> float:
    """Return the CPU time of a fresh interpreter that runs some code with nothing to read."""
    before = children_seconds()
    subprocess.run(
        [sys.executable, "-c", code],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PISTE_HOME": home},
        check=False,
    )
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
