"""A client of `piste mcp`, on the SDK's own: it calls tools and plays whole games by what their texts say."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple, TypeVar

from mcp import Client
from mcp_types import TextContent

from piste.cli.commands.mcp.seated_game import NUMBERED, Naming
from piste.cli.commands.mcp.server import GameServer
from tests.limits import PATIENCE_S

T = TypeVar("T")

SHORT: dict[str, dict[str, int]] = {"mccoy-duel": {"rounds": 1}, "zero-sum-grid": {"turns": 30}}
"""Options with which a game is soon over."""


class Answer(NamedTuple):
    """What a tool returned."""

    text: str
    refused: bool


async def call(client: Client, tool: str, /, **arguments: Any) -> Answer:
    result = await client.call_tool(tool, arguments)
    (content,) = result.content
    assert isinstance(content, TextContent)
    return Answer(content.text, bool(result.is_error))


async def ask(client: Client, tool: str, /, **arguments: Any) -> str:
    """Return what a tool answers; it may not refuse."""
    answer = await call(client, tool, **arguments)
    assert not answer.refused, answer.text
    return answer.text


async def refusal(client: Client, tool: str, /, **arguments: Any) -> str:
    """Return why a tool refuses."""
    answer = await call(client, tool, **arguments)
    assert answer.refused, answer.text
    return answer.text


def game_id(text: str) -> str:
    found = re.search(r"^([a-z-]+-[a-z0-9]+): .*You are", text, re.MULTILINE)
    assert found is not None, text
    return found[1]


def open_decisions(text: str) -> list[str]:
    """Return the decisions that a text lists: in one line, or each in a line of its own with its meaning."""
    _, found, rest = text.partition("? One of:")
    if not found:
        return []
    if rest.startswith(" "):
        return rest.strip().split(", ")
    return [line.split()[0] for line in rest.strip().splitlines()]


async def play(client: Client, game: str, /, **arguments: Any) -> tuple[str, str]:
    """Play a whole game, as a model does that reads texts, and return its name and the last text."""
    text = await ask(client, "new_game", game=game, options=SHORT.get(game, {}), **arguments)
    name = game_id(text)
    for turn in range(1000):
        if "The game is over." in text:
            return name, text
        decisions = open_decisions(text)
        assert decisions, text
        text = await ask(client, "decide", game_id=name, decision=decisions[turn % len(decisions)])
    raise AssertionError(f"the game goes on for ever: {text}")


def with_client(use: Callable[[Client, GameServer], Awaitable[T]], naming: Naming = NUMBERED) -> T:
    """Connect a client to a server in this process."""

    async def run() -> T:
        server = GameServer(naming)
        try:
            async with asyncio.timeout(PATIENCE_S), Client(server) as client:
                return await use(client, server)
        finally:
            server.close()

    return asyncio.run(run())
