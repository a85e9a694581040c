"""The server process: its listening socket, the configuration of uvicorn, and shutdown."""

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

INSTALL_ADVICE = "Install the versions that were tested: pip install -c constraints.txt 'piste[fast,web]'"
NOTICE_TIMEOUT_S = 2.0  # time in which open pages are told that the server stops and to come back
SHUTDOWN_TIMEOUT_S = 5
MAX_MESSAGE_BYTES = 4096
MAX_HEAD_BYTES = 16384
MAX_OPEN_FILES = 16_384  # open files to request from the system: every connection is one, also a silent one
# Open files that are not for connections: storage, workers, and new connections until another one is closed.
RESERVED_FILES = 48
RESERVED_FILES_PER_WORKER = 4
MIN_CONNECTIONS = 16  # accepted even where the system allows hardly any open files


def check_libraries() -> None:
    """Refuse a version of uvicorn that lacks what the server uses."""
    try:
        from piste.web.middleware.connections import check_uvicorn

        check_uvicorn()
    except ImportError as e:
        raise PisteError(f"This uvicorn is not one that the server can be built on ({e}). {INSTALL_ADVICE}") from None


def listen(host: str, port: int, command: str = "piste serve --port") -> socket.socket:
    """Return a socket that listens there, or say why that is not possible; `command` takes another port."""
    try:
        return socket.create_server(
            (host, port),
            family=socket.AF_INET6 if ":" in host else socket.AF_INET,
            backlog=1024,
            dualstack_ipv6=host == "::" and socket.has_dualstack_ipv6(),
        )
    except OverflowError:
        raise OptionError(f"There is no port {port}.") from None
    except OSError as e:
        raise PisteError(listen_error(host, port, e, command)) from None


def listen_error(host: str, port: int, error: OSError, command: str) -> str:
    """Return why the server cannot listen there, and what to do."""
    if error.errno == errno.EADDRINUSE:
        return (
            f"Port {port} is taken: another program listens there, perhaps piste in another window. Stop that one, "
            f"or choose another port: {command} {port + 1 if port < 65535 else port - 1}"
        )
    if error.errno in (errno.EACCES, errno.EPERM):
        return f"Port {port} may not be used by this user. Choose one above 1023: {command} {PORT}"
    if isinstance(error, socket.gaierror) or error.errno == errno.EADDRNOTAVAIL:
        return (
            f"{quoted(host)} is no address of this computer. Leave --host out, or use {LOOPBACK} for this computer "
            "only."
        )
    return f"The server cannot listen at {host}, port {port}: {error.strerror or error}."


def run_app(
    app: Any, settings: Settings, listener: socket.socket, ready: Callable[[], None] | None = None
) -> PisteError | None:
    """Serve an application until a signal; return why it could not start, if it could not.

    `app.state.service.registry.close_subscriptions()` is called while all sockets are still open.
    """
    wrapped = StartupErrorCatcher(app)
    service = getattr(app.state, "service", None)
    before_shutdown = (lambda: None) if service is None else service.registry.close_subscriptions
    server = make_server(wrapped, settings, before_shutdown, ready)
    # Loaded modules stay for good, and tables are freed by reference counts: frequent cyclic GC costs only time.
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 20, 50)
    with hangup_handler(server), contextlib.suppress(SystemExit):  # raised when the application could not start
        server.run(sockets=[listener])
    if not server.started and wrapped.error is None:
        return PisteError("The server could not begin. The lines above say why.")
    return wrapped.error


class StartupErrorCatcher:
    """Passes everything on, and keeps the error with which an application refuses to start."""

    def __init__(self, app: Any) -> None:
        self._app = app
        self.error: PisteError | None = None

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "lifespan":
            await self._app(scope, receive, send)
            return

        async def send_without_traceback(message: Any) -> None:
            if message["type"].endswith(".failed"):
                message = {**message, "message": ""}
            await send(message)

        try:
            await self._app(scope, receive, send_without_traceback)
        except PisteError as e:
            self.error = e
        except Exception as e:
            from piste.web import logging as logs

            error_id = logs.error("could not begin or end", e)
            self.error = PisteError(f"The server failed; the line with the id {error_id} above says where.")


def make_server(
    app: Any, settings: Settings, before_shutdown: Callable[[], None], ready: Callable[[], None] | None
) -> uvicorn.Server:
    """Return a uvicorn server: one process, no server header, small messages, a proxy only if named."""
    import uvicorn

    from piste.web import logging as logs
    from piste.web.middleware.connections import Connections, HttpProtocol, WebSocketProtocol

    class Protocol(HttpProtocol):
        proxy = settings.behind_proxy
        server_connections: ClassVar = Connections(
            max_open=max(
                MIN_CONNECTIONS, raise_file_limit() - RESERVED_FILES - RESERVED_FILES_PER_WORKER * settings.thinkers
            ),
            max_per_network=settings.max_connections_per_network if settings.limits else math.inf,
            max_silent=settings.max_silent_connections if settings.limits else math.inf,
        )
        head_timeout_s = settings.head_timeout_s

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets=sockets)
            if self.started and ready is not None:
                ready()

        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            # Whoever comes back must reach another process, if there is one, and not this one again.
            for listening in (*self.servers, *(sockets or ())):
                listening.close()
            # uvicorn closes every websocket first and the application after that: this is the last moment to send.
            try:
                before_shutdown()
                if self.server_state.tasks:  # wait until everybody was told, but not for long
                    await asyncio.wait(self.server_state.tasks, timeout=NOTICE_TIMEOUT_S)
            except Exception as e:
                logs.error("goodbye failed", e)
            await super().shutdown(sockets=sockets)

        def handle_exit(self, sig: int, frame: FrameType | None) -> None:
            super().handle_exit(sig, frame)
            self._captured_signals.clear()  # or it would be raised again: to stop is no failure

    config = uvicorn.Config(
        app,
        workers=1,
        http=Protocol,  # whatever else is installed: it limits the size and the time of request heads
        ws=WebSocketProtocol,
        ws_max_size=MAX_MESSAGE_BYTES,
        # Messages are a few kilobytes: compression costs more than it saves, and its size would reveal content.
        ws_per_message_deflate=False,
        ws_ping_interval=settings.ping,
        ws_ping_timeout=settings.ping,
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=bool(settings.behind_proxy),
        forwarded_allow_ips=settings.behind_proxy or [],
        timeout_graceful_shutdown=SHUTDOWN_TIMEOUT_S,
        h11_max_incomplete_event_size=MAX_HEAD_BYTES,
    )
    return Server(config)


@contextlib.contextmanager
def hangup_handler(server: uvicorn.Server) -> Iterator[None]:
    """Stop properly when the terminal is closed, too, unless SIGHUP is ignored."""
    number = getattr(signal, "SIGHUP", None)
    if number is None or signal.getsignal(number) is signal.SIG_IGN:
        yield
        return
    before = signal.signal(number, server.handle_exit)
    try:
        yield
    finally:
        signal.signal(number, before)


def raise_file_limit(wanted: int = 0) -> float:
    """Ask the system for this many open files; it grants what it allows. Return how many there may be now."""
    try:
        import resource
    except ImportError:  # not on this system
        return math.inf
    unlimited = resource.RLIM_INFINITY
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != unlimited and soft < wanted:
        granted = wanted if hard == unlimited else min(wanted, hard)
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (granted, hard))
            soft = granted
    return math.inf if soft == unlimited else soft
