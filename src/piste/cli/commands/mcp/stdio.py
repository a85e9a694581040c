"""One client that started this process, over its standard input and output."""

from __future__ import annotations

import os
import signal

import anyio

from piste.cli.commands.mcp.seated_game import NUMBERED
from piste.cli.commands.mcp.server import GameServer


def serve_stdio() -> int:
    """Serve until the client closes the input. The SDK keeps the standard output for the protocol alone."""
    # The SDK waits for a thread that reads the input, which no exception ends. Every decision is on the disk already.
    signal.signal(signal.SIGINT, lambda *_: os._exit(130))
    server = GameServer(NUMBERED)
    try:
        anyio.run(server.run_stdio_async)
    finally:
        server.close()
    return 0
