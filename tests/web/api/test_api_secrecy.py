"""What the API sends to a seat is the same, byte for byte, in games that the seat cannot tell apart.

The same histories as in tests/web/test_web_secrecy.py, played by programs: answers, lines, sockets and refusals.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from piste.core.errors import IllegalDecisionError
from piste.core.protocols import SPECTATOR
from piste.web import logging as logs
from piste.web.api import documents, events
from piste.web.tables.programs import random_number
from piste.web.tables.room import Room
from piste.web.views import view_models
from tests.game_setups import FULL, ODD, Kind, games
from tests.sizes import sized, slow_if
from tests.test_secrecy import HIDING
from tests.web.api.program_client import Program, two_programs
from tests.web.in_process_server import CountedTokens, Got, InProcessServer
from tests.web.server_process import serving
from tests.web.test_web_secrecy import NAMES, Episode, Heard, cut, heard, position, retold, seats_of


class ApiEpisode(Episode):
    """One history played by programs over the API, and all that was sent meanwhile."""

    async def run(self, moments: random.Random) -> Heard:
        house, kind, people = self.house, self.kind, len(self.devices)
        house.service.tokens = CountedTokens()
        house.opener, house.bot_workers.choosing = self.opened, self.think
        self.programs = {at: Program(house) for at in (*range(people), SPECTATOR)}
        versus = "friend" if people == seats_of(kind) else "steady"
        fields = {"game": kind.game, "versus": versus, "name": NAMES[0], "options": dict(kind.options)}
        got = await self.sent(0, "/tables", fields)
        code = got.json["table"]["code"]
        sockets = {at: await self.programs[at].connect(code) for at in (0, SPECTATOR)}
        lines = {SPECTATOR: await self.programs[SPECTATOR].listens(code)}
        for at in range(1, people):
            await self.seen(at, f"/tables/{code}")
            await self.sent(at, f"/tables/{code}/seats", {"name": NAMES[at]})
            sockets[at], lines[at] = await self.programs[at].connect(code), await self.programs[at].listens(code)
        await self.play(code, moments)
        table = house.room(code).table
        assert table is not None
        assert table.history() == self.steps
        for at in self.programs:
            await self.look(at, code)
        for at, socket in sockets.items():
            await socket.leave()
            self.heard[at] += [text.encode() for text in socket.sent]
        for at, stream in lines.items():
            await stream.leave()
            self.heard[at].append(stream.sent)
        await house.service.registry.delete(code)
        return self.heard

    async def say(self, at: int, verb: str, code: str, **fields: str) -> None:
        """Decide as a program does; what pages alone can do is left out."""
        if verb == "decide":
            body = {"decision": fields["decision"], "number": int(fields["number"])}
            await self.sent(at, f"/tables/{code}/decisions", body)
        elif verb in ("claim", "return"):
            await self.sent(at, f"/tables/{code}/{verb}", None)

    async def ask(self, at: int, path: str) -> None:
        pass  # pages are asked for elsewhere

    async def look(self, at: int, code: str) -> None:
        table = f"/tables/{code}"
        for what in ("", "?since=2", "/history", "/history?since=1", "/record", "/seats", "/nothing"):
            await self.seen(at, table + what)
        for path in ("", "/games", f"/games/{self.kind.game}", "/problems"):
            await self.seen(at, path)
        await self.sent(at, f"{table}/tokens", {"unknown": 1})
        await self.meddle(at, code, len(self.decided), random.Random(at))

    async def seen(self, at: int, path: str) -> None:
        got = await self.programs[at].get(path)
        await self.house.settle()
        self.heard[at].append(repr(got).encode())

    async def sent(self, at: int, path: str, fields: Any) -> Got:
        got = await self.programs[at].post(path, fields)
        self.heard[at].append(repr(got).encode())
        return got


@pytest.mark.parametrize("kind", slow_if(lambda kind: "players" in kind.options, HIDING), ids=str)
async def test_what_the_api_sends_to_a_seat_is_the_same_in_games_it_cannot_tell_apart(
    house: InProcessServer, kind: Kind
) -> None:
    found, wanted = 0, games(2) // 100 + sized(1, 2)
    for seed in range(40 * wanted):
        more, caught = await retold(house, kind, seed, ApiEpisode)
        assert not caught, f"{kind} {seed}: {caught} can tell them apart"
        found += more
        if found >= wanted:
            return
    assert found, "no second history was ever found: the test would show nothing"


@pytest.mark.parametrize("kind", slow_if(lambda kind: kind in ODD, [*FULL, *ODD]), ids=str)
async def test_the_api_sends_nothing_of_the_seed_or_of_what_it_will_bring(house: InProcessServer, kind: Kind) -> None:
    chooser = random.Random(f"{kind} api")
    steps, people = cut(kind, "api future", chooser), chooser.choice((1, seats_of(kind)))
    first, second = [
        await heard(house, kind, steps, people, future, str(kind), ApiEpisode) for future in ("one", "another")
    ]
    assert first == second
    assert min(map(len, first.values())) > 10


# The test itself must be able to fail: each of these lets something out that it must notice.


def in_status(monkeypatch: pytest.MonkeyPatch) -> None:
    right = view_models.status
    monkeypatch.setattr(
        documents, "status", lambda room, *more: right(room, *more) + (position(room) if room.table else "")
    )


def in_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tells every seat what the next one is told."""
    right: Callable[..., Any] = documents.now_document

    def leaky(room: Room, seat: int, *more: Any) -> Any:
        return right(room, (seat + 1) % len(room.seats), *more)

    monkeypatch.setattr(events, "now_document", leaky)
    monkeypatch.setattr(documents, "now_document", leaky)


def in_history(monkeypatch: pytest.MonkeyPatch) -> None:
    right: Callable[..., Any] = documents.history_document

    def leaky(view: Any, since: int) -> Any:
        return {**right(view, since), "more": view._later.func.__self__.position_text()}

    monkeypatch.setattr(documents, "history_document", leaky)


def in_refusals(monkeypatch: pytest.MonkeyPatch) -> None:
    right = Room.decide

    def leaky(room: Room, seat: int, said: str, number: int) -> str:
        if "!" in said:
            raise IllegalDecisionError(f"That cannot be decided at {position(room)}.")
        return right(room, seat, said, number)

    monkeypatch.setattr(Room, "decide", leaky)


@pytest.mark.parametrize("leak", [in_status, in_messages, in_history, in_refusals], ids=lambda leak: leak.__name__)
async def test_a_leak_of_the_api_is_noticed(
    house: InProcessServer, leak: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    leak(monkeypatch)
    kind = next(kind for kind in HIDING if kind.game == "zero-sum-duel")
    for seed in range(40):
        if (await retold(house, kind, seed, ApiEpisode))[1]:
            return
    raise AssertionError("a leak went unnoticed")


async def test_the_number_to_take_luck_from_follows_from_no_seed(tmp_path: Path) -> None:
    numbers = []
    for secret in ("one", "another"):
        async with InProcessServer(tmp_path / "tables.db") as house:
            kind = FULL[0]
            steps = cut(kind, "luck", random.Random(1))
            await heard(house, kind, steps, 2, secret, 0, ApiEpisode)
            room = Room("c" * 16, None, {}, [], "", 0.0, 0.0)  # type: ignore[arg-type]
            numbers.append([random_number(house.service._link_key, room, seat, 3) for seat in (0, 1)])
    assert numbers[0] == numbers[1]
    assert numbers[0][0] != numbers[0][1]


def test_tokens_are_private_fields_of_the_log() -> None:
    hidden = {"token", "authorization", "headers", "link", "code", "player"}
    assert set(logs.safe_fields(dict.fromkeys(hidden, "secret")).values()) == {"(withheld)"}


async def test_tokens_are_stored_nowhere(tmp_path: Path) -> None:
    path = tmp_path / "tables.db"
    async with InProcessServer(path) as house:
        code, programs = await two_programs(house, "prime-duel")
        tokens = [program.token for program in programs]
        tokens.append((await programs[0].post(f"/tables/{code}/tokens")).json["token"])
        tokens.append((await programs[0].post("/tokens")).json["token"])
        await programs[0].decides_first(code)
    stored = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert code.encode() in stored
    for token in tokens:
        assert token.encode() not in stored
        assert token.removeprefix("seat_").encode() not in stored


def test_tokens_are_in_no_line_of_a_server_whatever_is_asked(tmp_path: Path) -> None:
    """Also where a token is sent in the wrong place, and where a request fails."""
    from piste.remote.client import Client, RemoteError

    with serving(tmp_path, "--log", "json") as server:
        server.ready()
        client = Client(server.address)
        code = client.open("prime-duel", versus="random")["table"]["code"]
        tokens = [client.token, client.new_seat_token(code)]
        for token in tokens:
            for path in (f"/api/v1/tables/{code}?token={token}", f"/api/v1/{token}", f"/s/{code}/0/{token}"):
                server.get(path)
            with pytest.raises(RemoteError):
                Client(server.address, token).decide(code, 99, token)
        assert server.stop() == 0
        text = server.text
    assert "table opened" in text
    for secret in (*tokens, code):
        assert secret not in text
