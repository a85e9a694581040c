"""What docs/agents.md has to paste into clients is run as they would run it."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters

from piste.cli.commands.mcp.seated_game import NUMBERED
from piste.cli.commands.mcp.server import GameServer
from piste.cli.parser import make_parser
from tests import ROOT
from tests.cli.mcp_client import ask, with_client
from tests.limits import PATIENCE_S

PAGE = (ROOT / "docs" / "agents.md").read_text(encoding="utf-8")
MCP = PAGE.partition("\n## A language model, over MCP\n")[2].partition("\n## ")[0]
ADDRESS = "http://127.0.0.1:8001/mcp"


def pasted() -> list[dict[str, Any]]:
    """Return the entries of the JSON blocks, each for one client."""
    blocks = [json.loads(block) for block in re.findall(r"^```json\n(.*?)^```", MCP, re.MULTILINE | re.DOTALL)]
    assert [list(block) for block in blocks] == [["mcpServers"], ["servers"], ["mcpServers"]]
    return [entry for block in blocks for servers in block.values() for entry in servers.values()]


def test_a_server_starts_as_clients_are_told_to_start_it(tmp_path: Path) -> None:
    started = {json.dumps([entry["command"], *entry["args"]]) for entry in pasted() if "command" in entry}
    assert started == {'["piste", "mcp"]'}
    found = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}

    async def use() -> None:
        command, *args = json.loads(started.pop())
        server = StdioServerParameters(command=command, args=args, env={**found, "PISTE_HOME": str(tmp_path)})
        async with asyncio.timeout(PATIENCE_S), Client(server) as client:
            assert "prime-duel: " in await ask(client, "list_games")

    asyncio.run(use())


def test_the_address_to_paste_is_the_one_that_is_served_by_default() -> None:
    entries = [entry for entry in pasted() if "url" in entry]
    assert [entry["url"] for entry in entries] == [ADDRESS]
    args = make_parser().parse_args(["mcp", "--http"])
    assert f"http://127.0.0.1:{args.http}/mcp" == ADDRESS


def test_the_commands_of_the_page_can_be_typed() -> None:
    lines = [shlex.split(line) for line in re.findall(r"^    ((?:piste|claude) .*)$", MCP, re.MULTILINE)]
    assert len(lines) == 4
    for words in lines:
        typed = words[words.index("--") + 1 :] if "--" in words else words
        if typed[0] == "claude":
            assert typed[-1] == ADDRESS
        else:
            assert make_parser().parse_args(typed[1:]).command == "mcp"


def test_the_page_lists_every_tool_with_what_it_takes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PISTE_HOME", str(tmp_path))
    rows = re.findall(r"^\| `(\w+)` \| (.*?) \|", MCP, re.MULTILINE)

    async def use(client: Client, _: GameServer) -> dict[str, list[str]]:
        return {tool.name: list(tool.input_schema["properties"]) for tool in (await client.list_tools()).tools}

    assert {name: re.findall(r"`(\w+)`", takes) for name, takes in rows} == with_client(use)


def test_the_position_of_the_page_is_one_that_a_tool_returns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PISTE_HOME", str(tmp_path))
    (shown,) = re.findall(r"^```text\n(.*?)\n```", MCP, re.MULTILINE | re.DOTALL)

    async def use(client: Client, _: GameServer) -> str:
        await ask(client, "new_game", game="prime-duel", options={"first": "1"}, seed="told 1")
        return await ask(client, "decide", game_id="prime-duel-1", decision="keep")

    assert with_client(use, NUMBERED) == shown
