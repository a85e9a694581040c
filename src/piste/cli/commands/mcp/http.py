"""Several clients, over streamable HTTP. Who began a game is the only one who knows its name."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit

import uvicorn
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette

from piste.cli.commands.mcp.seated_game import UNGUESSABLE
from piste.cli.commands.mcp.server import GameServer
from piste.cli.terminal import Terminal
from piste.core.errors import OptionError
from piste.core.game import quoted
from piste.web.network import ALL_HOSTS, link
from piste.web.server import listen
from piste.web.settings import LOOPBACK, read_public

PATH = "/mcp"
MAX_BODY_BYTES = 64 << 10
MAX_SESSIONS = 200
MAX_CONNECTIONS = 400


def serve_http(host: str, port: int, public: str, terminal: Terminal) -> int:
    """Serve until it is stopped."""
    if public:
        public = read_public(public, "--public")
    elif not is_own_computer(host):
        raise OptionError(
            f"--host {quoted(host)} lets other computers in: say with --public by which address they reach it, such "
            "as --public http://192.168.1.5:8001, so that requests under any other name can be refused."
        )
    listener = listen(host, port, "piste mcp --http")
    server = GameServer(UNGUESSABLE, joins=not public)
    try:
        port = listener.getsockname()[1]
        terminal.line("piste mcp is ready, for clients over streamable HTTP.")
        terminal.line(f"  On this computer:  {link(LOOPBACK if host in ALL_HOSTS else host, port)}{PATH}")
        if public:
            terminal.line(f"  For others:        {public}{PATH}")
        terminal.line("To stop: Ctrl-C. Games are kept, and go on when it is started again.")
        config = uvicorn.Config(
            make_app(server, port, public),
            log_level="warning", limit_concurrency=MAX_CONNECTIONS, timeout_graceful_shutdown=1,
        )  # fmt: skip
        uvicorn.Server(config).run(sockets=[listener])
    except KeyboardInterrupt:
        terminal.note("Stopped. The games are kept.")
    finally:
        listener.close()
        server.close()
    return 0


def make_app(server: GameServer, port: int, public: str = "") -> Starlette:
    """Return the application, which answers under these names only: a page elsewhere cannot reach it by its own."""
    names = [f"127.0.0.1:{port}", f"localhost:{port}", f"[::1]:{port}"]
    origins = [f"http://{name}" for name in names]
    if public:
        names.append(urlsplit(public).netloc)
        origins.append(public)
    return server.streamable_http_app(
        streamable_http_path=PATH,
        max_request_body_size=MAX_BODY_BYTES,
        max_sessions=MAX_SESSIONS,
        transport_security=TransportSecuritySettings(allowed_hosts=names, allowed_origins=origins),
    )


def is_own_computer(host: str) -> bool:
    """Say whether only programs of this computer reach a server that listens there; at 0.0.0.0 others do, too."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
