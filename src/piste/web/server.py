"""The server as one process: its socket, uvicorn set up for it, and how it stops."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import gc
import math
import signal
import socket
from collections.abc import Callable, Iterator
from types import FrameType
from typing import TYPE_CHECKING, Any, ClassVar

from piste.core.errors import OptionError, PisteError
from piste.core.game import quoted
from piste.web.settings import LOOPBACK, PORT, Settings

if TYPE_CHECKING:
    import uvicorn

TESTED = "Install the versions that were tested: pip install -c constraints.txt 'piste[fast,web]'"
GOODBYE = 2.0
"""Seconds in which the pages that are open are told to come back."""

GRACE = 5
LARGEST_MESSAGE = 4096
LARGEST_HEAD = 16384
MAX_OPEN_FILES = 16_384
"""Open files that are asked for: every socket is one, and so is everybody who connects and says nothing."""

RESERVE = 48
RESERVE_A_THINKER = 4
"""Open files that are not for connections: the storage, workers, and newcomers until another one is closed."""

FEWEST = 16
"""Connections that are tried even where the system allows hardly any open files."""


def check_libraries() -> None:
    """Refuse a uvicorn that the server cannot be built on."""
    try:
        from piste.web.middleware.connections import check_uvicorn

        check_uvicorn()
    except ImportError as e:
        raise PisteError(f"This uvicorn is not one that the server can be built on ({e}). {TESTED}") from None


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens there, or say why it cannot."""
    six = ":" in host
    try:
        return socket.create_server(
            (host, port),
            family=socket.AF_INET6 if six else socket.AF_INET,
            backlog=1024,
            dualstack_ipv6=host == "::" and socket.has_dualstack_ipv6(),
        )
    except OverflowError:
        raise OptionError(f"There is no port {port}.") from None
    except OSError as e:
        raise PisteError(listen_error(host, port, e)) from None


def listen_error(host: str, port: int, error: OSError) -> str:
    """Return why nobody can be heard there, and what to do."""
    if error.errno == errno.EADDRINUSE:
        return (
            f"Port {port} is taken: another program listens there, perhaps piste in another window. Stop that one, "
            f"or choose another port: piste serve --port {port + 1 if port < 65535 else port - 1}"
        )
    if error.errno in (errno.EACCES, errno.EPERM):
        return f"Port {port} may not be used by this user. Choose one above 1023: piste serve --port {PORT}"
    if isinstance(error, socket.gaierror) or error.errno == errno.EADDRNOTAVAIL:
        return (
            f"{quoted(host)} is no address of this computer. Leave --host out, or use {LOOPBACK} for this computer "
            "only."
        )
    return f"The server cannot listen at {host}, port {port}: {error.strerror or error}."


def run_app(
    app: Any, settings: Settings, listener: socket.socket, ready: Callable[[], None] | None = None
) -> PisteError | None:
    """Serve an application until a signal comes; return why it could not begin, if it could not.

    `app.state.service.registry.close_subscriptions()` is called while all sockets are still open.
    """
    watched = Watched(app)
    service = getattr(app.state, "service", None)
    goodbye = (lambda: None) if service is None else service.registry.close_subscriptions
    server = make_server(watched, settings, goodbye, ready)
    # What is loaded stays for good, and tables are let go without help: looking for rubbish often costs only time.
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
    with hangups(server), contextlib.suppress(SystemExit):  # raised where the application could not begin
        server.run(sockets=[listener])
    if not server.started and watched.trouble is None:
        return PisteError("The server could not begin. The lines above say why.")
    return watched.trouble


class Watched:
    """Passes everything on, and keeps the sentence with which an application refuses to begin."""

    def __init__(self, app: Any) -> None:
        self._app = app
        self.trouble: PisteError | None = None

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "lifespan":
            await self._app(scope, receive, send)
            return

        async def silent(message: Any) -> None:
            if message["type"].endswith(".failed"):
                message = {**message, "message": ""}  # a traceback is not for people
            await send(message)

        try:
            await self._app(scope, receive, silent)
        except PisteError as e:
            self.trouble = e
        except Exception as e:
            from piste.web import logging as logs

            mark = logs.error("could not begin or end", e)
            self.trouble = PisteError(f"The server failed; the line with the id {mark} above says where.")


def make_server(
    app: Any, settings: Settings, goodbye: Callable[[], None], ready: Callable[[], None] | None
) -> uvicorn.Server:
    """Return uvicorn, set up for us: one process, no word about itself, small messages, a proxy only if named."""
    import uvicorn

    from piste.web import logging as logs
    from piste.web.middleware.connections import Connections, HttpProtocol, WebSocketProtocol

    class Line(HttpProtocol):
        proxy = settings.behind_proxy
        all_connections: ClassVar = Connections(
            most=max(FEWEST, file_limit() - RESERVE - RESERVE_A_THINKER * settings.thinkers),
            of_one=settings.max_connections_per_network if settings.limits else math.inf,
            silent=settings.max_silent_connections if settings.limits else math.inf,
        )
        slowest_head = settings.slowest_head

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets=sockets)
            if self.started and ready is not None:
                ready()

        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            # uvicorn closes every websocket first and ends the application after that: this is the last moment at
            # which a page can still be told something.
            try:
                goodbye()
                await self._said()
            except Exception as e:
                logs.error("goodbye failed", e)
            await super().shutdown(sockets=sockets)

        async def _said(self) -> None:
            """Wait until everybody was told, but not for long."""
            loop = asyncio.get_running_loop()
            end = loop.time() + GOODBYE
            while self.server_state.tasks and loop.time() < end:
                await asyncio.sleep(0.02)

        def handle_exit(self, sig: int, frame: FrameType | None) -> None:
            super().handle_exit(sig, frame)
            self._captured_signals.clear()  # the signal is done with: to stop is no failure

    config = uvicorn.Config(
        app,
        workers=1,
        http=Line,  # whatever else is installed: it holds heads to a size and a time
        ws=WebSocketProtocol,
        ws_max_size=LARGEST_MESSAGE,
        # News of a table is a few kilobytes: packing it costs more than it spares, and its size would tell of it.
        ws_per_message_deflate=False,
        ws_ping_interval=settings.ping,
        ws_ping_timeout=settings.ping,
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=bool(settings.behind_proxy),
        forwarded_allow_ips=settings.behind_proxy or [],
        timeout_graceful_shutdown=GRACE,
        h11_max_incomplete_event_size=LARGEST_HEAD,
    )
    return Server(config)


@contextlib.contextmanager
def hangups(server: uvicorn.Server) -> Iterator[None]:
    """Stop properly when the window is closed, too, unless whoever started us wants hang-ups ignored."""
    number = getattr(signal, "SIGHUP", None)
    if number is None or signal.getsignal(number) is signal.SIG_IGN:
        yield
        return
    before = signal.signal(number, server.handle_exit)
    try:
        yield
    finally:
        signal.signal(number, before)


def raise_file_limit(wanted: int) -> None:
    """Ask the system for as many open files as there may be sockets; it grants what it allows."""
    try:
        import resource
    except ImportError:  # not on this system
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    unlimited = resource.RLIM_INFINITY
    if soft != unlimited and soft < wanted:
        most = wanted if hard == unlimited else min(wanted, hard)
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def file_limit() -> float:
    """Return how many files this process may have open."""
    try:
        import resource
    except ImportError:  # not on this system
        return math.inf
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return math.inf if soft == resource.RLIM_INFINITY else soft
