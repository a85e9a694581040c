"""Measure with `piste bench` and write docs/speed.md: the table, how it was measured, the command.

python tools/speed_page.py
"""

from __future__ import annotations

import datetime
import json
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent

# Millions of steps a second of hand-written C for the same rules on one idle core, and their ratio to the loop there.
C_STEPS = {"prime-duel": (190, 46), "zero-sum-duel": (118, 29)}

PAGE = """\
# How fast the rules run

Written by `python tools/speed_page.py` on {date}, commit {commit}: Python {python}, numba {numba}, {cores} cores, {machine}.

The rules that people play are the rules that run in bulk: the same source, interpreted or compiled (with the extra
`fast`). A step is one decision or one chance outcome of random play, with the sheets' options. Each number is the median
of {runs} runs, per CPU second of this process; "x loop" is the ratio to a fixed loop of plain Python
([below](#the-loop)), timed before and after each run in the same process. Here the loop did {before:.2f} M rounds a second at the
beginning and {after:.2f} M at the end: the machine is shared, so trust the ratios more than the rates.

    piste bench [GAME ...] [--json]

| game | interpreted | x loop | compiled | x loop | games | all threads | x loop | {side} together | x loop |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
{rows}

*compiled* plays whole games one after the other on one thread; *all threads* shares them among {threads}, and says what one
CPU second of them does; *together* keeps {side} games in arrays and steps them all, one decision and the chance after it at a time,
with decisions picked and checked in between.

For comparison: hand-written C for the same rules was measured elsewhere, on an idle core, at 190 M steps a second for Prime
Duel (46 times the loop) and 118 M for Zero Sum Duel (29 times). {compared}

## Compiling

    piste bench --compile [GAME ...] [--json]

CPU seconds beyond importing numba until the first answer, with an empty cache and from it:

| game | {kernels} |
| --- | {lines} |
{compiles}

Compiled code is kept in the user's cache (`piste where`), in a folder named after a digest of every source that goes in:
the contract, the helpers, the rules, the policies, the kernels, what is written from the game's types, and the compiler's
own module. An edited rule is never answered by an old kernel.

## What makes it fast

- States are small tuples of whole numbers, and every rule is compiled into the loop that calls it: a state then stays in
  the machine's registers.
- Drawing is most of the work. Rules say how many equally likely cards there are (`spread`) and which one is number n
  (`drawn`). Where a deck is a set, that is to find the n-th bit; in Prime Duel, where it is counts, `lane_at` adds up all
  counts at once and has no loop.
- Counting bits is Python's own `int.bit_count`: one instruction when compiled (`compiled/numba_ext.py` teaches numba), one quick
  call when interpreted.
- Each game has a generator of its own, made from the seed and the game's number. So threads never change a result.

## Many games at once

    piste simulate GAME --games N [--set OPTION=VALUE] [--policy NAME] [--threads T] [--json]

```python
>>> from piste import find
>>> from piste.compiled.simulate import simulate
>>> from piste.compiled.vector_games import VectorGames
>>> game = find("prime-duel")
>>> tally = simulate(game, game.options(), 10_000, policies=["primes", "random"], threads=2)
>>> tally.games, tally.wins[0] > tally.wins[1]
(10000, True)
>>> many = VectorGames(game, game.options(), 1000)
>>> many.step(many.pick())
>>> many.actors.shape, int(many.choices[0])
((1000,), 3)

```

A policy is a function of what the seat sees, the set of its decisions and 32 random bits; a game's own stand in its
`policies.py`, and one of your own may be given in place of a name.

## Many games for learners

    piste bench --batch [GAME ...] [--json]

Steps a second of `piste.rl.vector_env`, which adds to each step what the next seat sees as numbers, its mask, rewards and new
games. A step is here one decision with the chance that follows, as simulators count it. "PettingZoo" is our environment
with one game at a time; "x it" says how many times as fast a CPU second of one thread is.

| game | PettingZoo | {batch_sizes} |
| --- | --- | {batch_lines} |
{batch_rows}

With {threads} threads, by the clock on the wall, at 16384 games: {batch_threads}.
For comparison, the best public simulator for CPUs was measured elsewhere at 2.9 M steps a second with 1024 games of
comparable size (0.9 times the loop), and at 16.7 M with 16384 of its smallest kind (5.2 times).

## The loop

400 000 rounds of this, with `helper` a function of one line:

    x = (x * 1103515245 + 12345) & 0x7FFFFFFF
    table[x & 63] += 1
    if x & 64:
        total += helper(x)
"""


def piste(*words: str) -> Any:
    done = subprocess.run(
        [sys.executable, "-m", "piste", *words, "--json"], cwd=ROOT, stdout=subprocess.PIPE, check=True
    )
    return json.loads(done.stdout)


def git(*words: str) -> str:
    return subprocess.run(("git", *words), cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


def rate(steps: float) -> str:
    return f"{steps / 1e6:.3g} M" if steps >= 1e6 else f"{steps / 1e3:.3g} k"


def main() -> int:
    import numba

    speeds, compiles = piste("bench"), piste("bench", "--compile")["cpu_seconds"]
    rows = []
    for name, row in speeds["games"].items():
        cells = []
        for way in ("interpreted", "compiled", "all threads", "many together"):
            cells += [rate(row[way]["steps"]), f"{row[way]['ratio']:.3g}"]
            if way == "compiled":
                cells.append(rate(row[way]["games"]))
        rows.append(f"| {name} | {' | '.join(cells)} |")
    kernels = list(next(iter(compiles.values()))["first"])
    times = [
        f"| {name} | "
        + " | ".join(f"{row['first'][k]:.1f} / {row['cached'][k]:.2f}" if k in row["first"] else "-" for k in kernels)
        + " |"
        for name, row in compiles.items()
    ]
    batch = piste("bench", "--batch")["games"]
    sizes = [key for key in next(iter(batch.values())) if key != "pettingzoo"]
    shares = []
    for name, (steps, ratio) in C_STEPS.items():
        found = speeds["games"][name]["compiled"]
        by_rate, by_loop = steps * 1e6 / found["steps"], ratio / found["ratio"]
        shares.append(f"for {name} {by_rate:.1f} times as fast as ours by the rate and {by_loop:.1f} by the loop")
    text = PAGE.format(
        date=datetime.datetime.now(datetime.UTC).date().isoformat(),
        commit=git("rev-parse", "--short=12", "HEAD"),
        python=platform.python_version(),
        numba=numba.__version__,
        cores=speeds["threads"],
        machine=platform.machine(),
        runs=speeds["runs"],
        before=speeds["calibration"]["before"] / 1e6,
        after=speeds["calibration"]["after"] / 1e6,
        side=4096,
        threads=speeds["threads"],
        rows="\n".join(rows),
        compared=f"So C is {', and '.join(shares)}.",
        kernels=" | ".join(kernels),
        lines=" | ".join("---" for _ in kernels),
        compiles="\n".join(times),
        batch_sizes=" | ".join(f"{size} games | x loop | x it" for size in sizes),
        batch_lines=" | ".join("--- | --- | ---" for _ in sizes),
        batch_rows="\n".join(
            f"| {name} | {rate(row['pettingzoo']['steps'])} | "
            + " | ".join(
                f"{rate(row[size]['steps'])} | {row[size]['ratio']:.3g} | {row[size]['times']:.0f}" for size in sizes
            )
            + " |"
            for name, row in batch.items()
        ),
        batch_threads=", ".join(
            f"{name} {rate(row[sizes[-1]]['threads']['steps'])} ({row[sizes[-1]]['threads']['ratio']:.3g} times the loop)"
            for name, row in batch.items()
        ),
    )
    (ROOT / "docs" / "speed.md").write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
