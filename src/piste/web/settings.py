"""The settings of a server; docs/hosting.md describes them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from piste.core.errors import OptionError
from piste.core.game import quoted

PORT = 8000
ALL_INTERFACES = "0.0.0.0"
LOOPBACK = "127.0.0.1"


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class JobTimes(NamedTuple):
    """How processes that take jobs from a queue watch over each other, in seconds."""

    heartbeat_s: float = 2.0  # from one heartbeat to the next
    gone_after_s: float = 10.0  # without a heartbeat: then others do its jobs
    check_s: float = 3.0  # from one look for such jobs to the next
    poll_s: float = 2.0  # from one look for any job to the next, beside what is notified
    grace_s: float = 10.0  # `piste worker` goes on so long with what it has begun when it is to end


class Settings(NamedTuple):
    """The settings of one server."""

    db: Path | str  # the file of all tables, `default_db()` unless named; or the address of a PostgreSQL
    host: str = ALL_INTERFACES
    port: int = PORT
    behind_proxy: str = ""  # the address of a proxy whose headers are trusted; "" without one
    keep_days: int = 30  # a table is kept this long after its last change; 0: for ever
    patience: float = 60.0  # seconds until an absent player's turn can be claimed
    max_rooms: int = 5000  # live in memory
    max_sockets: int = 4000
    thinkers: int = max(1, cores() - 1)  # worker processes for bots; 0: slow decisions are left to `piste worker`
    workers: int = 1  # server processes on one socket; more than one need PostgreSQL
    max_queued_per_network: int = 50  # tasks of one network that may wait for a worker
    public: str = ""  # the base of links, such as https://cards.example; "": the address that the browser used
    prepare: bool = False  # whether strong bots are prepared in the background from the start
    ping: float = 20.0  # seconds from one ping of a websocket to the next, and for its answer
    max_connections_per_network: int = 600  # websockets included; the proxy's own network is not limited
    max_silent_connections: int = 1000  # of all networks, without a request yet; the next one replaces one of them
    head_timeout_s: float = 10.0  # for the head of a request to arrive
    open_metrics: bool = False  # whether other computers may read /metrics
    program_games: int = 200  # games without a person that may run at once; a network has a quarter of them at most
    limits: bool = True  # whether rates are limited; off only for measuring
    jobs: JobTimes = JobTimes()  # with a database that several processes share


def default_db() -> Path:
    """Return the default database: below PISTE_HOME, or in the system's folder for such files."""
    from piste.core.paths import data_folder

    return data_folder() / "tables.db"


def read_public(text: str, where: str = "--public") -> str:
    """Return a public address without a slash at its end, or refuse it; `where` says what asked for it."""
    url = urlsplit(text.strip())
    try:
        valid = url.scheme in ("http", "https") and bool(url.hostname) and (url.port or 1) > 0
    except ValueError:
        valid = False
    if not valid or url.path.strip("/") or url.query or url.fragment or url.username is not None:
        raise OptionError(
            f"{where} is the address people type, such as https://cards.example, without anything after it; "
            f"{quoted(text)} is not."
        )
    return f"{url.scheme}://{url.netloc}"
