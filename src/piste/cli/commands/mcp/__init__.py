"""`piste mcp`: the games as tools of the Model Context Protocol, for language models and other clients."""

from __future__ import annotations

import argparse

from piste.cli.arguments import whole_number
from piste.cli.terminal import Terminal, complain
from piste.core.errors import OptionError
from piste.core.extras import MCP, load


def run(args: argparse.Namespace, terminal: Terminal) -> int:
    """Serve one client on the standard input and output, or several over HTTP, until they have left."""
    if args.http is None and (args.host is not None or args.public is not None):
        raise OptionError("--host and --public belong to --http: without it, a client starts `piste mcp` itself.")
    port = None if args.http is None else whole_number("http", args.http, 0, 65535)
    load(MCP)
    if port is not None:
        from piste.cli.commands.mcp.http import serve_http

        return serve_http(args.host or "127.0.0.1", port, args.public or "", terminal)
    if terminal.person:
        complain(
            "piste: this speaks the Model Context Protocol on its input and output, for a client that starts it: "
            "docs/agents.md has what to paste there. To stop: Ctrl-D."
        )
    from piste.cli.commands.mcp.stdio import serve_stdio

    return serve_stdio()
