"""A server for these tests, as `piste serve` runs it, with deals that are always the same and little patience.

python -m tests.browser.launch_server FILE PORT PATIENCE [PUBLIC]

FILE may be the address of a PostgreSQL, too.
"""

from __future__ import annotations

import itertools
import sys
from pathlib import Path

from piste.cli.commands.serve import create_database_file
from piste.core.dealer import ChanceSource, Commitment
from piste.core.record import Head
from piste.core.replay import new_head
from piste.web.app import make_app
from piste.web.server import listen, run_app
from piste.web.settings import LOOPBACK, Settings
from piste.web.tables import registry, room
from piste.web.tables.room import Room
from piste.web.tables.tokens import TokenFactory

READY = "piste is ready."


def opener(of: Room) -> tuple[Head, ChanceSource | None]:
    """Deal by who sits there: a test that names its people always plays the same game."""
    seed = " ".join((of.game.name, *of.names()))
    head = new_head(of.game.name, of.options, seed=seed, seats=of.names())
    return head._replace(named=False, commitment=Commitment.to(seed, bytes(32))), None


class Counted(TokenFactory):
    """Codes and tokens in a row: for pictures that are the same every time, and for nothing else."""

    def __init__(self) -> None:
        self._count = itertools.count(1)

    def code(self) -> str:
        return f"picture{next(self._count):09b}".replace("0", "a").replace("1", "b").replace("i", "j")

    def token(self) -> str:
        return f"{next(self._count):043d}"


def main(file: str, port: str, patience: str, public: str = "") -> None:
    waits = float(patience)
    db = file if "://" in file else Path(file)
    settings = Settings(db, LOOPBACK, int(port), patience=waits, thinkers=1, limits=False, public=public)
    if waits < room.AWAY_AFTER_S:  # who may be claimed is away
        for module in (room, registry):
            setattr(module, "AWAY_AFTER_S", waits / 2)  # noqa: B010  (it is no part of the settings)
    if isinstance(db, Path):
        create_database_file(db)
    with listen(settings.host, settings.port) as listener:
        settings = settings._replace(port=listener.getsockname()[1])
        app = make_app(settings, opener=opener, tokens=Counted() if public else None)
        run_app(app, settings, listener, lambda: print(READY, settings.port, flush=True))


if __name__ == "__main__":
    main(*sys.argv[1:])
