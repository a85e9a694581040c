"""`piste bench`: the speed of rules, batches, compilers, solvers, start-up and server.

A benchmark is a module with `measure_all(args, bar)`, which returns a JSON document, and `show(document, terminal)`.
"""

from __future__ import annotations

import argparse
from importlib import import_module

from piste.cli.output import print_json
from piste.cli.progress_bar import ProgressBar
from piste.cli.terminal import Terminal
from piste.core.extras import SERVE, need

BENCHMARKS = {
    "batch": "batch",
    "compile": "compile_time",
    "database": "database",
    "growth": "growth",
    "peers": "peers",
    "serve": "serve",
    "solve": "solve_time",
    "startup": "startup",
}
"""The option that asks for a benchmark, and its module."""


def run(args: argparse.Namespace, terminal: Terminal) -> int:
    name = next((name for name in BENCHMARKS if getattr(args, name)), None)
    if name == "serve":
        need(SERVE)
    benchmark = import_module(f"{__name__}.{'rules_speed' if name is None else BENCHMARKS[name]}")
    with ProgressBar("measuring") as bar:
        document = benchmark.measure_all(args, bar)
    if args.json:
        return print_json(terminal, document, version=None if name == "startup" else 1)
    benchmark.show(document, terminal)
    return 0
