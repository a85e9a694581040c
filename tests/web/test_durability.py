"""The server is killed hard while people and bots play: whatever anybody was told has happened, and games go on.

PISTE_KILLS says how often it is killed.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
import sys
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidMessage

from piste.cli.commands.bench.serve_clients import BUTTON, NUMBER, request
from piste.core.record import Record
from piste.core.replay import replay
from piste.web.settings import LOOPBACK
from tests.limits import PATIENCE_S, PATIENT

KILLS = int(os.environ.get("PISTE_KILLS", "3"))
LINK = re.compile(r"/s/\w+/\d/[\w-]+")

TABLES: tuple[tuple[str, dict[str, str]], ...] = (
    ("prime-duel", {}),
    ("zero-sum-duel", {}),
    ("positive-negative", {}),
    ("zero-sum-grid", {"option-turns": "24"}),
    ("mccoy-duel", {"option-rounds": "3"}),
    ("mccoy-duel", {"option-rounds": "3", "players": "3"}),
)


class Server:
    """A server in a process of its own, on a file that stays; killed hard at the end, if not before."""

    WORDS: tuple[str, ...] = ("serve", "--host", LOOPBACK, "--port", "0", "--no-limits", "--no-open")
    READY = "serving"

    def __init__(self, db: Path | str) -> None:
        self._db = db
        self.port = 0
        self.said = ""
        self._killed = False

    async def __aenter__(self) -> Server:
        self._process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "piste", *self.WORDS, "--db", str(self._db), "--no-prepare", "--quiet",
            stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip
        assert self._process.stderr is not None
        async with asyncio.timeout(PATIENCE_S):
            while line := await self._process.stderr.readline():
                self.said += line.decode()
                if f'"{self.READY}"' in self.said:
                    self.port = json.loads(line).get("port", 0)
                    break
            else:
                raise AssertionError(self.said)
        self._rest = asyncio.ensure_future(self._process.stderr.read())
        return self

    def kill(self) -> None:
        if not self._killed:
            self._killed = True
            self._process.kill()

    async def __aexit__(self, *_: object) -> None:
        self.kill()
        async with asyncio.timeout(PATIENCE_S):
            killed = await self._process.wait()
            # All that it started writes to the same standard error: that ends only when the last of them has.
            self.said += (await self._rest).decode()
        assert killed == (1 if sys.platform == "win32" else -9), self.said


class Player:
    """Somebody's page: it comes back, sends again what was not answered, and believes what it was told."""

    def __init__(self, code: str, cookie: str, chooser: random.Random) -> None:
        self.code = code
        self.over = False
        self.acknowledged: dict[int, str] = {}  # by the number of the question
        self.log: dict[int, list[Any]] = {}
        self._link = ""  # the private one of the seat
        self._cookie = cookie
        self._chooser = chooser
        self._asked: dict[str, Any] | None = None  # what was not answered yet
        self._parts: dict[str, str] = {}

    async def play(self, port: int, told: Callable[[], None]) -> None:
        """Play until the game is over or the server is gone."""
        address = f"{LOOPBACK}:{port}"
        try:
            async with connect(
                f"ws://{address}/t/{self.code}/socket?since=0",
                origin=f"http://{address}",  # type: ignore[arg-type]
                additional_headers={"cookie": self._cookie},
                proxy=None,
                **PATIENT,
            ) as socket:
                await self._sit_again(socket)
                while not self.done:
                    await self._decide(socket)
                    async with asyncio.timeout(PATIENCE_S):
                        message = json.loads(await socket.recv())
                    told_before = len(self.acknowledged)
                    self._hear(message)
                    if len(self.acknowledged) > told_before:
                        told()
        except (ConnectionClosed, ConnectionError, InvalidMessage):
            pass  # the server is gone

    async def _sit_again(self, socket: ClientConnection) -> None:
        """Compare what is there with what was told, and ask again for what was not answered."""
        async with asyncio.timeout(PATIENCE_S):
            first = json.loads(await socket.recv())
        assert first["n"] == 1
        known = {line[0]: line for line in first["log"]}
        assert all(known.get(number) == line for number, line in self.log.items())
        self._parts.clear()
        self._hear(first)
        link = LINK.search(self._parts["offers"])
        assert link is not None  # and so there is a seat, the same as before
        assert (self._link or link[0]) == link[0]
        self._link = link[0]
        assert self._question() > max(self.acknowledged, default=-1)
        if self._asked is not None:
            await socket.send(json.dumps(self._asked))

    def _hear(self, message: dict[str, Any]) -> None:
        assert "bye" not in message
        assert "gone" not in message
        self._parts.update(message.get("parts", {}))
        for line in message.get("log", ()):
            assert self.log.setdefault(line[0], line) == line
        if "re" in message:
            assert self._asked is not None
            assert (message["re"], message["ok"]) == (self._asked["id"], True), message
            assert message["said"] == self._asked["decision"]
            self.acknowledged[self._asked["number"]] = self._asked["decision"]
            self._asked = None
        self.over = 'class="result' in self._parts["status"]

    @property
    def done(self) -> bool:
        """Whether the game is over and all that was asked is answered: the server may die between the two."""
        return self.over and self._asked is None

    def _question(self) -> int:
        found = NUMBER.search(self._parts["choices"])
        assert found is not None
        return int(found[1])

    async def _decide(self, socket: ClientConnection) -> None:
        """Decide something if there is something to decide that was not decided yet."""
        number = self._question()
        choices = [unescape(found) for part in self._parts.values() for found in BUTTON.findall(part)]
        if choices and self._asked is None and number not in self.acknowledged:
            decision = self._chooser.choice(choices)
            self._asked = {"id": f"q{number}", "do": "decide", "decision": decision, "number": number}
            await socket.send(json.dumps(self._asked))


class Tables:
    """Every game, against a bot and between people; a new one for each that is over."""

    def __init__(self, seed: str) -> None:
        self.chooser = random.Random(seed)
        self.open: dict[tuple[int, str], list[Player]] = {}
        self.done: list[list[Player]] = []

    async def fill(self, port: int) -> None:
        """Begin a game wherever there is none."""
        for at, (game, fields) in enumerate(TABLES):
            for versus in ("steady", "friend"):
                if (at, versus) not in self.open:
                    begun = await asyncio.to_thread(self._begin, port, {"game": game, "versus": versus, **fields})
                    self.open[at, versus] = begun

    def _begin(self, port: int, fields: dict[str, str]) -> list[Player]:
        text, cookie = request(port, "POST", "/new", {"name": "Ada", **fields})
        code = json.loads(text)["go"].rpartition("/")[2]
        cookies = [cookie]
        if fields["versus"] == "friend":
            for n in range(1, int(fields.get("players", "2"))):
                cookies.append(request(port, "POST", f"/t/{code}/sit", {"name": f"Bob {n}"})[1])
        return [Player(code, cookie, self.chooser) for cookie in cookies]

    async def play(self, port: int, told: Callable[[], None]) -> None:
        """Let everybody play until all is over or the server is gone, and put away what is over."""
        players = [player for game in self.open.values() for player in game if not player.done]
        await asyncio.gather(*(player.play(port, told) for player in players))
        for place, game in list(self.open.items()):
            if all(player.done for player in game):
                self.done.append(self.open.pop(place))


def check(record: str, players: list[Player]) -> None:
    """See that a record is one of a game that could have been played, with every decision that was acknowledged."""
    table, _ = replay(Record.parse(record))
    assert table.ending() is not None
    steps = [json.loads(line) for line in record.splitlines()]
    decided = [
        next(step[key] for key in step if key not in ("n", "seat", "check")) for step in steps if "seat" in step
    ]
    seats = [step["seat"] for step in steps if "seat" in step]
    for player in players:
        assert {number: decided[number] for number in player.acknowledged} == player.acknowledged
        assert len({seats[number] for number in player.acknowledged}) <= 1
    if len(players) > 1:  # nobody but these decided, and each decision was acknowledged
        assert sum(len(player.acknowledged) for player in players) == len(decided)


@pytest.mark.slow
async def test_whatever_was_acknowledged_is_there_after_the_server_was_killed(db: Path | str) -> None:
    tables = Tables("durability")
    for _ in range(KILLS):
        async with Server(db) as server:
            await tables.fill(server.port)
            await tables.play(server.port, countdown(tables.chooser.randint(1, 80), server.kill))
        assert '"error"' not in server.said, server.said
    async with Server(db) as server:
        await tables.play(server.port, lambda: None)
        assert not tables.open
        for players in tables.done:
            text, _ = await asyncio.to_thread(request, server.port, "GET", f"/t/{players[0].code}/record")
            check(text, players)


def countdown(left: int, then: Callable[[], None]) -> Callable[[], None]:
    """Return what does something when it is called for the last of so many times."""

    def count() -> None:
        nonlocal left
        left -= 1
        if left == 0:
            then()

    return count
