"""What whoever runs the server can choose. docs/hosting.md says the same for people."""

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
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Settings(NamedTuple):
    """How one server runs."""

    db: Path  # the file that holds all tables; `default_db()` where nobody says otherwise
    host: str = ALL_INTERFACES
    port: int = PORT
    behind_proxy: str = ""  # the proxy's address, whose word on who calls is taken; "" if there is none
    keep_days: int = 30  # how long a table is kept after the last thing that happened there; 0: for ever
    patience: float = 60.0  # seconds until an absent player's turn can be claimed
    max_rooms: int = 5000  # live in memory
    max_sockets: int = 4000
    thinkers: int = max(1, cores() - 1)  # processes in which bots think
    max_queued_per_network: int = 50  # of one network that may wait for a thinker
    public: str = ""  # what links begin with, such as https://cards.example; "" takes what the browser asked for
    prepare: bool = False  # whether what strong bots need is made in the background from the start
    ping: float = 20.0  # seconds from one ping of a websocket to the next, and for its answer
    max_connections_per_network: int = 600  # of one network, websockets included, unless it is the proxy's
    max_silent_connections: int = 1000  # of all networks, without a request yet; the next one replaces one of them
    slowest_head: float = 10.0  # seconds in which the head of a request must have arrived
    open_metrics: bool = False  # whether others than this computer may read /metrics
    limits: bool = True  # whether rates are limited; off only for measuring


def default_db() -> Path:
    """Return where tables are kept: below PISTE_HOME, or in the place the system has for such files."""
    from piste.core.paths import data_folder

    return data_folder() / "tables.db"


def read_public(text: str) -> str:
    """Return a public address without a slash at its end, or refuse it."""
    found = urlsplit(text.strip())
    try:
        whole = found.scheme in ("http", "https") and bool(found.hostname) and (found.port or 1) > 0
    except ValueError:
        whole = False
    if not whole or found.path.strip("/") or found.query or found.fragment or found.username is not None:
        raise OptionError(
            f"--public is the address people type, such as https://cards.example, without anything after it; "
            f"{quoted(text)} is not."
        )
    return f"{found.scheme}://{found.netloc}"
