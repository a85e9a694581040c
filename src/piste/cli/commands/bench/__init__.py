"""`piste bench`: the speed of rules, batches, compilers, solvers, start-up and server."""

from __future__ import annotations

import argparse
from importlib import import_module

from piste.cli.terminal import Terminal
from piste.core.extras import SERVE, need

BENCHMARKS = {
    "batch": "batch",
    "compile": "compile_time",
    "serve": "serve",
    "solve": "solve_time",
    "startup": "startup",
}
"""The option that asks for a benchmark, and its module."""


def run(args: argparse.Namespace, terminal: Terminal) -> int:
    name = next((name for name in BENCHMARKS if getattr(args, name)), None)
    if name == "serve":
        need(SERVE)
    module = import_module(f"{__name__}.{'rules_speed' if name is None else BENCHMARKS[name]}")
    return int(module.bench(args, terminal))
