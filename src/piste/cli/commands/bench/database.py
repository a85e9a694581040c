"""`piste bench --database URL`: how many changes and notices a PostgreSQL carries, and at what cost.

What is written is what a decision at a table writes: the next version of a room, a line of its record, and a notice
to the other processes. Listeners are connections that hear everything, as servers do.
"""

from __future__ import annotations

import argparse
import threading
from contextlib import ExitStack
from time import perf_counter
from typing import Any, NamedTuple

from piste.cli.commands.bench.harness import calibration
from piste.cli.commands.bench.serve_clients import database_cpu, find_database
from piste.cli.progress_bar import ProgressBar
from piste.cli.terminal import Terminal
from piste.core.extras import SERVE, need

SECONDS = 3.0
LINE = '{"n": 12, "seat": "1", "choose": "keep", "check": "0123abcd"}'
NOTICE_BYTES = 120


class Setting(NamedTuple):
    """One way to write."""

    writers: int  # connections that write at once
    batch: int  # changes in one transaction
    listeners: int  # connections that hear of every change; 0: no notices at all


SETTINGS = (
    Setting(1, 1, 0), Setting(1, 1, 2), Setting(8, 1, 0), Setting(8, 1, 2), Setting(2, 16, 2), Setting(2, 16, 16),
)  # fmt: skip


def measure_all(args: argparse.Namespace, bar: ProgressBar) -> dict[str, Any]:
    need(SERVE)
    main = find_database(args.database)
    loop = calibration()
    rows = []
    for at, setting in enumerate(SETTINGS):
        bar(at, len(SETTINGS), f"{setting.writers} connections, {setting.batch} changes a transaction")
        rows.append(setting._asdict() | measure(args.database, main, setting))
    for row in rows:
        row["database_rounds"] = loop * row["database_cpu_us"] / 1e6
    return {"seconds": SECONDS, "loop": loop, "rows": rows}


def show(document: dict[str, Any], terminal: Terminal) -> None:
    terminal.line(
        "writing connections, changes a transaction, listeners: changes and commits a second, database's CPU"
    )
    for row in document["rows"]:
        terminal.line(
            f"{row['writers']:3} {row['batch']:3} {row['listeners']:3}: {row['changes']:7.0f} {row['commits']:7.0f}  "
            f"{row['database_cpu_us']:5.0f} us or {row['database_rounds'] / 1000:.1f} k rounds of the loop a change"
        )


def measure(address: str, main: int, setting: Setting) -> dict[str, float]:
    """Write for some seconds, and return changes and commits a second and the CPU time of the database a change."""
    from piste.web.storage.schema import RoomRow, delete, put
    from piste.web.storage.storage import Storage

    codes = [[f"bench-{writer}-{at}" for at in range(setting.batch)] for writer in range(setting.writers)]
    stop = threading.Event()
    with Storage(address) as storage, ExitStack() as listening:
        rooms = [RoomRow(code, "prime-duel", "{}", "bench", False, 0.0, 0.0) for group in codes for code in group]
        storage.write(*map(put, rooms)).result()
        for _ in range(setting.listeners):
            thread = threading.Thread(target=listen, args=(address, stop), daemon=True)
            thread.start()
            listening.callback(thread.join)
        commits = [0] * setting.writers
        writers = [
            threading.Thread(target=write, args=(address, group, setting, commits, at, stop))
            for at, group in enumerate(codes)
        ]
        spent, began = database_cpu(main), perf_counter()
        for writer in writers:
            writer.start()
        stop.wait(SECONDS)
        stop.set()
        for writer in writers:
            writer.join()
        passed, spent = perf_counter() - began, database_cpu(main) - spent
        storage.write(*(delete(RoomRow, code=room.code) for room in rooms)).result()
    done = sum(commits)
    changes = done * setting.batch
    return {"changes": changes / passed, "commits": done / passed, "database_cpu_us": 1e6 * spent / max(1, changes)}


def write(
    address: str, codes: list[str], setting: Setting, commits: list[int], at: int, stop: threading.Event
) -> None:
    """Write the next version of these rooms again and again, in one transaction each time."""
    from piste.web.storage.postgresql import PostgresDatabase
    from piste.web.storage.schema import RoomUpdate

    engine = PostgresDatabase(address).engine(writes=True)
    notice = "x" * NOTICE_BYTES
    while not stop.is_set():
        version = commits[at]
        with engine.begin() as connection:
            for code in codes:
                # PostgreSQL sends equal notices of one transaction once.
                told = f"{notice} {code} {version}" if setting.listeners else ""
                RoomUpdate(code, version, {}, version, [LINE], told)(connection)
        commits[at] += 1
    engine.dispose()


def listen(address: str, stop: threading.Event) -> None:
    """Hear of every change."""
    import psycopg

    from piste.web.storage.postgresql import PostgresDatabase
    from piste.web.storage.schema import CHANNEL

    with psycopg.connect(PostgresDatabase(address).conninfo, autocommit=True) as connection:
        connection.execute(f"LISTEN {CHANNEL}")
        while not stop.is_set():
            for _ in connection.notifies(timeout=0.5):
                pass
