"""What the programs that write pages share: tables, marked parts of a page, its date and commit, measured JSON."""

from __future__ import annotations

import datetime
import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"


def row(*cells: object) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def table(head: list[str], rows: Iterable[Iterable[object]]) -> str:
    return "\n".join([row(*head), row(*["---"] * len(head)), *(row(*cells) for cells in rows)])


def rate(steps: float) -> str:
    return f"{steps / 1e6:.3g} M" if steps >= 1e6 else f"{steps / 1e3:.3g} k"


def percent(middle: float, low: float, high: float, digits: int = 1) -> str:
    """Return a share and its interval in percent."""
    return f"{100 * middle:.{digits}f} % ({100 * low:.{digits}f} to {100 * high:.{digits}f})"


def replace_part(page: str, name: str, text: str) -> str:
    """Return a page with another text between `<!-- name -->` and `<!-- /name -->`."""
    before, begin, rest = page.partition(f"<!-- {name} -->")
    _, end, after = rest.partition(f"<!-- /{name} -->")
    if not end:
        raise SystemExit(f"The page has no {begin or f'<!-- {name} -->'} with a <!-- /{name} --> after it.")
    return f"{before}{begin}\n\n{text}\n\n{end}{after}"


def today() -> str:
    return datetime.datetime.now(datetime.UTC).date().isoformat()


def git(*words: str) -> str:
    return subprocess.run(("git", *words), cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip()


def written_by(tool: str, *words: str) -> str:
    """Return by which command and when a part was written, and which commit last changed the program by then."""
    command = shlex.join(["python", "-m", f"tools.{tool}", *(words or sys.argv[1:])])
    commit = git("log", "-1", "--format=%h", "--abbrev=12", "--", "src")
    return f"Written by `{command}` on {today()}, commit {commit or 'unknown'}"


def piste(*words: str, cache: str | None = None, through: tuple[str, ...] = ()) -> dict[str, Any]:
    """Run a command and return its JSON; with a cache of its own, or through another program, if those are given."""
    environment = os.environ if cache is None else {**os.environ, "XDG_CACHE_HOME": cache}
    command = [*through, sys.executable, "-m", "piste", *words, "--json"]
    done = subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, check=True)
    document: dict[str, Any] = json.loads(done.stdout)
    return document
