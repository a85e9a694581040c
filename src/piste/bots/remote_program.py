"""A program on another computer takes a seat: the lines of `bots/program.py`, over a TCP connection for each game.

The table is here, so a seat elsewhere is dealt the same cards as any other, and is told what any program is told.
`ProgramServer` is the other side: it starts a program for each connection.
"""

from __future__ import annotations

import json
import socket
import socketserver
import threading
from collections.abc import Callable
from contextlib import suppress

from piste.bots import REMOTE
from piste.bots.program import ANSWER_TIMEOUT_S, EXIT_TIMEOUT_S, MAX_QUOTED, LineBot, Lines, RunningProgram
from piste.core.errors import BotError
from piste.core.game import Game, quoted

CONNECT_TIMEOUT_S = 10.0
SILENCE_TIMEOUT_S = 3600.0
"""After how many seconds without a question a game is given up by the side of the program."""
MAX_MESSAGE_BYTES = 1_000_000
"""How long a message to a program may be."""


class RemoteBot(LineBot):
    """A seat played by a program that waits at an address.

    It is connected to when it is made: so a program that cannot be reached is no player who loses its games, but an
    error that ends a tournament, which can be gone on with later.
    """

    def __init__(
        self, address: str, game: Game, *, limit: float = ANSWER_TIMEOUT_S, grace: float = EXIT_TIMEOUT_S
    ) -> None:
        super().__init__(f"{REMOTE}{address}", game, limit=limit, grace=grace)
        try:
            self._connection = Connection(socket.create_connection(read_address(address), CONNECT_TIMEOUT_S))
        except OSError as e:
            why = "no answer" if isinstance(e, TimeoutError) else e.strerror or str(e)
            raise BotError(f"The bot {self._who} cannot be reached: {why}.") from None

    def _start(self) -> Lines:
        return self._connection

    def close(self) -> None:
        self._running = self._running or self._connection
        super().close()


class Connection(Lines):
    """A connection to a program, and the threads that carry its lines."""

    def __init__(self, connection: socket.socket) -> None:
        self._socket = connection
        connection.settimeout(None)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        super().__init__(connection.makefile("wb"), connection.makefile("rb"))

    def code(self, seconds: float) -> str:  # noqa: ARG002
        return " the connection"

    def stop(self, grace: float) -> int:
        self._outgoing.put(None)
        self._writer.join(grace)
        for how in (socket.SHUT_WR, socket.SHUT_RDWR):  # the other side reads to the end, then it is not waited for
            hang_up(self._socket, how)
            self._reader.join(grace)
        self._socket.close()
        return 0


def hang_up(connection: socket.socket, how: int = socket.SHUT_RDWR) -> None:
    with suppress(OSError):  # the other side was first
        connection.shutdown(how)


def read_address(text: str) -> tuple[str, int]:
    """Return host and port, or refuse what is no address."""
    host, colon, port = text.strip().rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not (colon and host and port.isascii() and port.isdigit() and 0 < int(port) < 1 << 16):
        raise BotError(
            f"A bot on another computer is {REMOTE}HOST:PORT, such as {REMOTE}localhost:8003; "
            f"{quoted(f'{REMOTE}{text}', MAX_QUOTED)} is not."
        )
    return host, int(port)


class ProgramServer(socketserver.ThreadingTCPServer):
    """Lets others play against a program: one is started for each connection that begins as a game does."""

    allow_reuse_address = True

    def __init__(self, words: list[str], host: str, port: int, most: int, tell: Callable[[str], None]) -> None:
        self.words, self.tell = words, tell
        self.free = threading.Semaphore(most)
        self._connections: set[socket.socket] = set()
        if ":" in host:
            self.address_family = socket.AF_INET6
        super().__init__((host, port), _Game)

    def process_request(self, request: socket.socket, client_address: object) -> None:  # type: ignore[override]
        self._connections.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: socket.socket) -> None:  # type: ignore[override]
        self._connections.discard(request)
        super().shutdown_request(request)

    def server_close(self) -> None:
        """End all games, and wait for their programs to be gone."""
        for connection in tuple(self._connections):
            hang_up(connection)
        super().server_close()


class _Game(socketserver.StreamRequestHandler):
    """One game of a program that is served."""

    server: ProgramServer
    timeout = SILENCE_TIMEOUT_S
    disable_nagle_algorithm = True

    def handle(self) -> None:
        first = self._line()
        if not _greets(first):  # a page in a browser, or a scanner
            return
        if not self.server.free.acquire(blocking=False):
            self.server.tell("A game was turned away: as many as may be are going on.")
            return
        try:
            self._play(first)
        finally:
            self.server.free.release()

    def _play(self, first: bytes) -> None:
        try:
            program = RunningProgram(self.server.words)
        except (OSError, ValueError) as e:
            self.server.tell(f"The program cannot be started: {getattr(e, 'strerror', None) or e}.")
            return
        answers = threading.Thread(target=self._answer, args=(program,), daemon=True)
        answers.start()
        try:
            line = first
            while line.endswith(b"\n"):
                program.send_line(line)
                line = self._line()
        finally:
            program.stop(EXIT_TIMEOUT_S)
            answers.join(EXIT_TIMEOUT_S)
            if said := program.said(EXIT_TIMEOUT_S):
                self.server.tell(f"The program wrote: {quoted(said, 4 * MAX_QUOTED)}")

    def _answer(self, program: RunningProgram) -> None:
        """Send what the program says, until it has ended."""
        with suppress(OSError):
            while heard := program.heard(None):
                self.wfile.write(b"".join(heard))
                if not heard[-1].endswith(b"\n"):  # cut off, or too long: nothing comes after it
                    break
        hang_up(self.connection)

    def _line(self) -> bytes:
        try:
            return self.rfile.readline(MAX_MESSAGE_BYTES)
        except OSError:  # it is gone, or silent for too long
            return b""


def _greets(line: bytes) -> bool:
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return isinstance(message, dict) and message.get("type") == "hello"
