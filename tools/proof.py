"""Run the checks at full size and write what was found, with date and commit, to docs/proof/rules.md.

make proof                       # 100 000 games of each kind, a million fuzzed inputs: over an hour on two cores
make proof GAMES=1000 INPUTS=10000
"""

from __future__ import annotations

import datetime
import os
import platform
import re
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parent.parent
GAMES = int(os.environ.get("GAMES", "100000"))
INPUTS = int(os.environ.get("INPUTS", "1000000"))
# What is shown, the file, which of its tests, and one game in how many is played.
SUITES = (
    ("Random games are sound; record, replay and position text are exact", "tests/test_every_game.py", "sound", 1),
    ("Interpreted and compiled games are equal", "tests/test_twin.py", "", 1),
    ("Secrecy: retold histories look the same", "tests/test_secrecy.py", "", 1),
    ("A second, independent implementation agrees at every step", "tests/test_reference.py", "", 20),
    ("Fuzzed records, positions, knowledge, decisions, options, deals", "tests/test_fuzz.py", "", 1),
)


def run(*command: str) -> str:
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip()


def write_page(rows: list[str], commit: str) -> None:
    """Write what is known so far, so that an interrupted proof loses nothing."""
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    page = [
        "# The rulebook at full size",
        "",
        "Written by `make proof`; do not edit.",
        "",
        f"- date: {today}",
        f"- commit: {commit}",
        "- size: games of each of the five kinds (those of Duel with 2, 3 and 4 players together; secrecy compares",
        "  at one cut in a hundred games for each seat), or fuzzed inputs in all",
        f"- Python {platform.python_version()} on {platform.machine()}, 2 processes",
        "",
        "| check | file | size | result | minutes |",
        "| --- | --- | --- | --- | --- |",
        *rows,
        "",
    ]
    folder = ROOT / "docs" / "proof"
    folder.mkdir(exist_ok=True)
    (folder / "rules.md").write_text("\n".join(page), encoding="utf-8")


def main() -> int:
    commit = run("git", "rev-parse", "--short=12", "HEAD")
    if run("git", "status", "--porcelain", "--", "src", "tests"):
        commit += " with uncommitted changes"
    rows, worst = [], 0
    for title, path, chosen, share in SUITES:
        print(f"{title} ...", flush=True)
        games = GAMES // share
        environment = {**os.environ, "PISTE_GAMES": str(games), "PISTE_INPUTS": str(INPUTS)}
        began = time.monotonic()
        command = [sys.executable, "-m", "pytest", "-n", "2", "--dist", "worksteal", path]
        command += ["-k", chosen] if chosen else []
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
        counts = ", ".join(re.findall(r"\d+ (?:passed|failed|error)", done.stdout)) or "no result"
        minutes = (time.monotonic() - began) / 60
        print(f"  {counts} in {minutes:.1f} min", flush=True)
        if done.returncode:
            print(done.stdout[-4000:], file=sys.stderr)
        worst = max(worst, done.returncode)
        size = f"{INPUTS:,} inputs" if "fuzz" in path else f"{games:,} games"
        rows.append(f"| {title} | `{path}` | {size} | {counts} | {minutes:.1f} |")
        write_page(rows, commit)
    print(f"{'All held' if worst == 0 else 'Something FAILED'}; see docs/proof/rules.md")
    return worst


if __name__ == "__main__":
    sys.exit(main())
