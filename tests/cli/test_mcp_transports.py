"""`piste mcp` as clients meet it: a process on its standard input and output, and streamable HTTP."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters

from piste.cli.commands.mcp.http import MAX_BODY_BYTES
from piste.cli.main import main
from piste.core.game import names
from tests.cli.mcp_client import ask, game_id, play, refusal
from tests.limits import PATIENCE_S

PISTE = [sys.executable, "-m", "piste"]


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return {**os.environ, "PISTE_HOME": str(tmp_path / "home"), "PYTHONUNBUFFERED": "1"}


# Standard input and output


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_client_that_starts_the_process_plays_a_game_of_each_kind(mode: str, environment: dict[str, str]) -> None:
    started = StdioServerParameters(command=PISTE[0], args=[*PISTE[1:], "mcp"], env=environment)

    async def use() -> None:
        async with asyncio.timeout(PATIENCE_S), Client(started, mode=mode) as client:
            for game in names() if mode == "auto" else ["prime-duel"]:
                name, text = await play(client, game, opponent="random", seed=f"{mode} {game}")
                assert name == f"{game}-1"
                assert "The game is over." in text
            assert "There is no game" in await refusal(client, "rules", game="chess")

    asyncio.run(use())


def messages(method: str, number: int, **params: Any) -> str:
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}) + "\n"


def test_the_standard_output_carries_the_protocol_alone(environment: dict[str, str]) -> None:
    """Also while a worker process is started, and when what comes in is no message at all."""
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    new = {
        "name": "new_game",
        "arguments": {"game": "zero-sum-grid", "opponent": "perfect", "options": {"first": "2"}},
    }
    with subprocess.Popen(
        [*PISTE, "mcp"], env=environment, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(messages("initialize", 1, **hello))
        process.stdin.write('{"jsonrpc": "2.0", "method": "notifications/initialized"}\n')
        process.stdin.write("garbage\n")
        process.stdin.write(messages("tools/call", 2, **new))
        process.stdin.flush()
        lines: list[dict[str, Any]] = []
        while not any(line.get("id") == 2 for line in lines):
            lines.append(json.loads(process.stdout.readline()))
        assert all(line["jsonrpc"] == "2.0" for line in lines)
        assert "perfect (proven)" in lines[-1]["result"]["content"][0]["text"]
        rest, errors = process.communicate(timeout=PATIENCE_S)  # closes its input
        assert rest == ""
        assert "Traceback" not in errors
    assert process.returncode == 0


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
def test_ctrl_c_ends_it_at_once_and_the_game_is_kept(environment: dict[str, str]) -> None:
    started = [*PISTE, "mcp"]
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    with subprocess.Popen(
        started, env=environment, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(messages("initialize", 1, **hello))
        process.stdin.write('{"jsonrpc": "2.0", "method": "notifications/initialized"}\n')
        process.stdin.write(messages("tools/call", 2, name="new_game", arguments={"game": "prime-duel"}))
        process.stdin.flush()
        while json.loads(process.stdout.readline()).get("id") != 2:
            pass
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE_S) == 130
        assert process.stderr is not None
        assert process.stderr.read() == ""

    async def use() -> None:
        again = StdioServerParameters(command=PISTE[0], args=[*PISTE[1:], "mcp"], env=environment)
        async with asyncio.timeout(PATIENCE_S), Client(again) as client:
            assert "prime-duel-1: Prime Duel." in await ask(client, "look", game_id="prime-duel-1")

    asyncio.run(use())


# HTTP


@contextmanager
def http_server(environment: dict[str, str], *words: str) -> Iterator[str]:
    """Start a server at a free port and give its address."""
    with subprocess.Popen(
        [*PISTE, "mcp", "--http", "0", *words], env=environment, text=True, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        try:
            assert process.stdout is not None
            said = "".join(process.stdout.readline() for _ in range(2))
            found = re.search(r"On this computer: +(http://127.0.0.1:\d+/mcp)$", said.strip())
            assert found is not None, said
            yield found[1]
        finally:
            process.send_signal(signal.SIGINT)
            out, errors = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0
    assert out.endswith("Stopped. The games are kept.\n")
    assert "Traceback" not in errors


def test_clients_over_http_play_games_that_nobody_else_can_see(environment: dict[str, str]) -> None:
    async def use(address: str) -> tuple[str, str]:
        async with (
            asyncio.timeout(PATIENCE_S),
            Client(address) as ann,
            Client(address, mode="legacy") as bo,
        ):
            for client, games in ((ann, names()), (bo, ["prime-duel"])):
                for game in games:
                    _, text = await play(client, game, opponent="random", seed=game)
                    assert "The game is over." in text
            name = game_id(await ask(ann, "new_game", game="prime-duel"))
            assert name not in await ask(bo, "list_games")
            assert "There is no game" in await refusal(bo, "look", game_id="prime-duel-1")
            return name, await ask(ann, "look", game_id=name)

    async def go_on(address: str, name: str) -> str:
        async with asyncio.timeout(PATIENCE_S), Client(address) as client:
            return await ask(client, "look", game_id=name)

    with http_server(environment) as address:
        name, text = asyncio.run(use(address))
    with http_server(environment) as address:  # another process, at another port
        assert asyncio.run(go_on(address, name)) == text


def test_requests_under_other_names_from_other_pages_or_too_large_are_refused(environment: dict[str, str]) -> None:
    request = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    headers = {"accept": "application/json, text/event-stream"}
    with http_server(environment, "--public", "https://cards.example") as address:

        def status(**named: str) -> int:
            sent = {**headers, **{name.replace("_", "-"): value for name, value in named.items()}}
            return httpx.post(address, json=request, headers=sent, timeout=PATIENCE_S).status_code

        for modern in ({}, {"mcp_protocol_version": "2026-07-28"}):
            assert status(host="evil.example", **modern) == 421
            assert status(host="127.0.0.1.evil.example", **modern) == 421
            assert status(origin="http://evil.example", **modern) == 403
            assert status(origin="null", **modern) == 403
            assert status(host="cards.example", origin="https://cards.example", **modern) not in (403, 421)
            assert status(**modern) not in (403, 421)
        large = httpx.post(
            address, content=b"[" * (MAX_BODY_BYTES + 1), timeout=PATIENCE_S,
            headers={**headers, "content-type": "application/json"},
        )  # fmt: skip
        assert large.status_code == 413


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("mcp --host 0.0.0.0", "--host and --public belong to --http"),
        ("mcp --http many", "--http cannot be 'many': it is a whole number from 0 to 65535."),
        ("mcp --http 0 --host 0.0.0.0", "--host '0.0.0.0' lets other computers in: say with --public"),
        ("mcp --http 0 --public cards", "--public is the address people type"),
    ],
)
def test_arguments_that_do_not_fit_get_a_sentence(
    words: str, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words.split()) == 2
    assert sentence in capsys.readouterr().err.replace("\n", " ")


def test_a_port_that_is_taken_is_told_with_what_to_type(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert main(["mcp", "--http", str(port)]) == 1
    assert f"Port {port} is taken" in capsys.readouterr().err.replace("\n", " ")
