"""An interpreter in which some libraries are not installed: for what people see who have fewer than we have."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

from tests.limits import PATIENCE_S

HIDING = """
import os, sys
from importlib.machinery import PathFinder

HIDDEN = os.environ["PISTE_TEST_HIDDEN"].split()

class Hiding(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name.partition(".")[0] in HIDDEN else super().find_spec(name, path, target)

sys.meta_path[sys.meta_path.index(PathFinder)] = Hiding
"""

# Each command as the program runs it, one after the other: a traceback is the answer of one that fails.
EACH = """
import contextlib, io, json, sys, traceback
from piste.cli.main import main

found = []
for words, typed in json.load(sys.stdin):
    out, err, code = io.StringIO(), io.StringIO(), None
    sys.stdin = io.StringIO(typed)
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main(words)
        except SystemExit as e:
            code = e.code
        except BaseException:
            traceback.print_exc()
    found.append([code, out.getvalue(), err.getvalue()])
json.dump(found, sys.__stdout__)
"""


class Said(NamedTuple):
    """What a command answered; the code is None if it failed with a traceback."""

    code: int | None
    out: str
    err: str


def environment(hidden: tuple[str, ...], folder: Path) -> dict[str, str]:
    """Return the environment of a Python that does not find these libraries, with homes of its own."""
    hiding = folder / "hiding"
    hiding.mkdir(exist_ok=True)
    (hiding / "sitecustomize.py").write_text(HIDING)
    before = os.environ.get("PYTHONPATH", "")
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(hiding), *([before] if before else [])]),
        "PISTE_TEST_HIDDEN": " ".join(hidden),
        "PISTE_HOME": str(folder / "home"),
        "XDG_CACHE_HOME": str(folder / "cache"),
    }


def run(code: str, hidden: tuple[str, ...], folder: Path, given: Any = None) -> str:
    """Return what some code prints in such a Python."""
    done = subprocess.run(
        [sys.executable, "-c", code], input=json.dumps(given), env=environment(hidden, folder), cwd=folder,
        capture_output=True, text=True, timeout=PATIENCE_S, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def commands(hidden: tuple[str, ...], folder: Path, *given: str | tuple[str, str]) -> dict[str, Said]:
    """Run commands one after the other, each perhaps with what is typed, and return what each said."""
    asked = [(one, "") if isinstance(one, str) else one for one in given]
    found = json.loads(run(EACH, hidden, folder, [[words.split(), typed] for words, typed in asked]))
    return {words: Said(*one) for (words, _), one in zip(asked, found, strict=True)}
