"""Forged, stale, foreign, oversized and out-of-turn messages change nothing, and their answers tell nothing.

Each batch is sent in two games that the forger cannot tell apart: every answer must be the same in both, to the byte.
"""

from __future__ import annotations

import json
import os
import random
import re
from hashlib import blake2b
from typing import Any
from urllib.parse import quote

import pytest

from piste.check.formats import mangled
from piste.core.game import find
from piste.core.protocols import SPECTATOR
from piste.web.tables.service import VERBS
from tests.game_setups import Kind, walked
from tests.test_secrecy import HIDING, another_history
from tests.web.in_process_server import FORM, HOST, OURS, Device, Got, InProcessServer, Socket, scope_of
from tests.web.test_web_secrecy import Episode, cut, seats_of

INPUTS = int(os.environ.get("PISTE_INPUTS", "2000"))
BATCH = 72
ROUNDS = max(1, -(-INPUTS // (BATCH * 2 * len(HIDING))))
"""So many batches for each kind of game; each is sent twice."""

FORBIDDEN = re.compile(
    r"traceback|site-packages|piste/web|\.py\b|sqlite|tables\.db|/tmp/|\bline \d+, in\b", re.IGNORECASE
)
SENTENCE = re.compile(r"[a-z]{2,}[^<>]*[.?]", re.IGNORECASE)
NO_DECISIONS = (
    "no such", "", " ", "!", "x" * 41, "x" * 900, "٣٣", "<script>", "resigns", "99999", "+999", "\x00", "nan", "None",
    "'; drop table rooms; --", "../..", "{{7*7}}", "%s%n", "\u202e", "0x10", "1e3", "[]",
)  # fmt: skip
NO_TABLES = (
    b"option-top=99999999999", b"players=9", b"option-first=%00", b"option-nothing=1", b"versus=god", b"versus=",
    b"name=" + b"x" * 25, b"option-rounds=-1", b"option-powers=x",
)  # fmt: skip
NUMBERS = ("-1", "", "x", "1.0", "1e3", "٣", "0x0", " 1", "9" * 30, "9" * 9, "999999999", "null", "True", "+0")
JUNK: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    -1,
    1.5,
    10**30,
    10**300,
    [],
    {},
    ["decide"],
    {"do": "decide"},
    "",
    "x",
)
ORIGINS = (
    "",
    "null",
    "http://evil.example",
    f"https://{HOST}",
    f"http://{HOST}:81",
    f"http://{HOST}.evil.example",
    "x",
)


def actor(kind: Kind, steps: tuple[int, ...]) -> int:
    """Return who is to act after a history."""
    last = next(state for state, step in walked(kind, steps) if step is None)
    return find(kind.game).rules.to_act(last)


class Forging(Episode):
    """A game with somebody in it, or beside it, who tries everything."""

    def __init__(
        self, house: InProcessServer, kind: Kind, steps: tuple[int, ...], secret: str, forger: int, case: str
    ) -> None:
        super().__init__(house, kind, steps, seats_of(kind), secret)
        self.forger = forger
        self.case = case
        self.answers: list[str] = []
        self.sockets: dict[int, Socket] = {}

    async def look(self, at: int, code: str) -> None:
        if at != self.forger:
            return
        self.code = code
        elsewhere = Device(self.house, "e" * 43)
        self.other = await elsewhere.opens("prime-duel", name="Eve")
        mine = self.watcher if at == SPECTATOR else self.devices[at]
        self.callers = [mine, mine, mine, Device(self.house), elsewhere, Device(self.house, "w" * 43)]
        self.callers += [Device(self.house, token) for token in ("short", "ü" * 43, "a" * 5000, "=;,\t")]
        room = self.house.room(code)
        assert room.table is not None
        self.number, self.view = room.table.number, room.table.view(at)
        before, kept = room.table.record(), self.house.storage.room(code)
        chooser = random.Random(self.case)
        for _ in range(BATCH):
            which = 0 if chooser.random() < 0.4 else chooser.randrange(len(self.callers))
            send = chooser.choices((self.framed, self.requested, self.programmed), (50, 35, 15))[0]
            said = await send(which, chooser)
            self.answers.append(said)
            assert self.house.room(code) is room
            assert room.table.record() == before, said
            assert self.house.storage.room(code) == kept, said
            assert not FORBIDDEN.search(said), said
            assert self.secret not in said, said
            assert blake2b(self.secret.encode()).hexdigest()[:64] not in said
        for socket in self.sockets.values():
            await socket.leave()
        await self.house.service.registry.delete(self.other)

    async def afterwards(self, code: str) -> None:
        """The game can still be finished."""
        room = self.house.room(code)
        while room.table is not None and room.table.to_act is not None:
            seat = room.table.to_act
            view = room.table.view(seat)
            if view.number >= len(self.decided) + 8:
                assert (await self.devices[seat].do(code, "resign"))["ok"]
            else:
                assert (await self.devices[seat].decide(code, view.decisions[0], view.number))["ok"]
        assert (await self.watcher.get(f"/t/{code}/record")).status == 200

    # What is sent

    def seated(self, which: int) -> bool:
        return which < 3 and self.forger != SPECTATOR

    def verb(self, which: int, chooser: random.Random) -> str:
        """Return something that this caller cannot do now."""
        cannot = set(VERBS) - {"decide"}
        if self.seated(which):
            cannot -= {"sit", "resign", "return", "new-link"} | ({"list", "unlist"} if self.forger == 0 else set())
        return chooser.choice(sorted(cannot))

    def decision(self, which: int, chooser: random.Random) -> tuple[str, str]:
        """Return a decision that must not be taken, with the number of a question."""
        good = list(self.view.decisions) if self.view.decisions else ["keep", "5", "yes"]
        if self.seated(which) and self.view.decisions:
            if chooser.random() < 0.5:
                return chooser.choice(NO_DECISIONS), str(self.number)
        elif chooser.random() < 0.4:
            return chooser.choice(good), str(self.number)  # another's turn, or nobody's
        stale = [str(self.number + chooser.randrange(1, 50)), chooser.choice(NUMBERS)]
        if self.number:
            past = chooser.randrange(self.number)
            if self.decided[past][0] != self.forger:
                return chooser.choice(good), str(past)
            stale.append(str(past))
        number = chooser.choice(stale)
        early = number.isascii() and number.isdigit() and len(number) < 9 and int(number) < self.number
        return chooser.choice(NO_DECISIONS if early else good), number

    def frame(self, which: int, chooser: random.Random) -> str | bytes:
        decision, number = self.decision(which, chooser)
        request: dict[str, Any] = {"id": chooser.choice(("a", "b", "c")), "do": "decide"}
        request |= {"decision": decision, "number": int(number) if re.fullmatch("[0-9]+", number) else number}
        match chooser.randrange(16):
            case 0:
                request = {"id": "v", "do": self.verb(which, chooser), "name": "Eve", "bot": "steady"}
            case 1:
                request["do"] = chooser.choice(
                    ("", "Decide", "decide ", "__class__", "deal", "seed", "record", "x" * 99)
                )
            case 2:
                request[chooser.choice(("do", "decision", "number", "id"))] = chooser.choice(JUNK[:-1])
                if request["do"] == "decide" and request["number"] == self.number:
                    request["number"] = None
            case 3:
                deep = chooser.choice((3, 90, 400, 1000))
                opening, closing = chooser.choice((("[", "]"), ('{"do":', "}"), ('[{"a":', "}]")))
                return (opening * deep + "1" + closing * deep)[: chooser.choice((99, 5000))]
            case 4:
                return json.dumps(request | {"decision": "x" * chooser.choice((1025, 5000, 70_000))})
            case 5:
                half = chooser.choice(("\ud800", "\udfff", "a\ud83d"))
                return json.dumps(request | {chooser.choice(("decision", "id", "do", half)): half, "number": None})
            case 6:
                return mangled(json.dumps({"id": "p", "do": "ping"}), chooser).encode("utf-8", "replace").decode()
            case 7:
                return chooser.choice((b"", b"\x00\xff" * 9, json.dumps(request).encode()))
            case 8:
                request |= {f"more{i}": i for i in range(chooser.choice((1, 6, 60)))}
            case 9:
                return chooser.choice(
                    ("", "null", "1", '"decide"', "{", "NaN", "{}", "[]", '{"do":"decide"}', "\x00")
                )
        return json.dumps(request)

    async def framed(self, which: int, chooser: random.Random) -> str:
        """Send a frame through somebody's socket, or ask for a socket that nobody gets."""
        frame = self.frame(which, chooser)
        if chooser.random() < 0.05:
            origin = chooser.choice(ORIGINS)
            socket = await self.callers[which].connect(self.code, origin=origin)
            assert socket.refused
            assert not socket.sent
            await socket.leave()
            return repr(socket.refused)
        socket = self.sockets.get(which) or await self.callers[which].connect(self.code)
        self.sockets[which] = socket
        said = await socket.raw(frame)
        for text in said:
            answer = json.loads(text)
            repeated = answer.get("said") in self.view.decisions or "ping" in str(frame)
            assert repeated or (not answer["ok"] and SENTENCE.search(answer["said"])), (frame, answer)
        if socket.closed is not None:
            await socket.leave()
            del self.sockets[which]
        else:
            assert said
        return repr((said, socket.closed))

    def address(self, chooser: random.Random) -> str:
        """Return an address where nothing of the running game can be had."""
        link = (
            f"/s/{self.code}/{chooser.choice((0, 1, 2, 9, 10**20, -1))}/{'A' * chooser.choice((0, 1, 32, 33, 4000))}"
        )
        wrong = (
            mangled(self.code, chooser).replace("/", "").replace("?", "").replace("#", "").encode("utf-8", "replace")
        )
        path = chooser.choice(("", "/record", "/replay", "/review", "/news", "/decide", "/qr.svg", "/nothing"))
        return chooser.choice(
            (
                link, f"/t/{quote(wrong)}{path}", f"/t/{self.code.upper()}{path}", f"/t/{self.code}/record",
                f"/t/{self.code}/replay?step={chooser.choice(NUMBERS)}&seat=1", f"/t/{self.code}/review",
                f"/t/{self.code}/analyse?step={chooser.choice(NUMBERS)}&seat=1",
                f"/t/{self.code}/%2e%2e/record", f"//t/{self.code}/record", f"/t/{self.code}/record/",
                f"/t/{self.code}/record%00", "/static/../app.py", "/static/%2e%2e/%2e%2e/web/storage/storage.py",
                "/static/..%2f..%2fapp.py", "/static/%00", "/static/" + "a" * 3000, "/static/", "/static//etc/passwd",
                "/rules/..%2f..%2fpyproject", "/rules/nothing", "/g/nothing", "/g/%ff", "/tables.db", "/.git/config",
                "/puzzles/nothing/easy/1", "/puzzles/prime-duel/%ff/1", "/puzzles/prime-duel/easy/%00",
                "/analysis/nothing", "/analysis/prime-duel?position=%00%ff", "/analysis?position=" + "x" * 3000,
                "/t/", "/t", "/s/", "/%0d%0aset-cookie:a=b", "/t/" + "2" * 5000,
            )
        )  # fmt: skip

    def form(self, which: int, chooser: random.Random) -> tuple[str, bytes, dict[str, str]]:
        """Return an address, a body and headers that must not be accepted."""
        decision, number = self.decision(which, chooser)
        body = f"decision={quote(decision)}&number={quote(number)}".encode()
        verb, more = "decide", dict(OURS)
        match chooser.randrange(13):
            case 0:
                more["origin"] = chooser.choice(ORIGINS)
            case 1:
                more = chooser.choice(({}, {"sec-fetch-site": "cross-site"}, {"sec-fetch-site": "same-site"}))
            case 2:
                body = b"decision=" + b"x" * chooser.choice((9000, 100_000))
            case 3:
                more["content-type"] = chooser.choice(
                    ("application/json", "text/plain", "multipart/form-data; boundary=x")
                )
            case 4:
                wild = (
                    b"%ff=%fe",
                    b"a=1&a=2",
                    b"&".join(b"f%d=1" % i for i in range(99)),
                    b"\xff\x00",
                    b"decision=%ED%A0%80",
                )
                body = chooser.choice(wild)
            case 5:
                more["content-length"] = chooser.choice(("-1", "abc", "9" * 30, "99999"))
            case 6:
                verb = chooser.choice(("seed", "deal", "__init__", "Decide", "x" * 2000, "decide%00", "%2e%2e"))
            case 7:
                verb, body = self.verb(which, chooser), b"name=Eve&bot=steady"
            case 8:
                return "/new", b"game=mccoy-duel&" + chooser.choice(NO_TABLES), more
        return f"/t/{chooser.choice((self.code, self.code, self.code, 'z' * 16))}/{verb}", body, more

    async def requested(self, which: int, chooser: random.Random) -> str:
        """Send a request and look at the answer."""
        caller = self.callers[which]
        headers = caller.headers()
        if headers.get("cookie"):
            headers["cookie"] = headers["cookie"].encode().decode("latin-1")
        if chooser.random() < 0.2:
            headers["accept"] = "application/json"
        if chooser.random() < 0.4:
            method = chooser.choice(
                ("GET", "GET", "GET", "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "HEAD")
            )
            path, body, more = self.address(chooser), b"", dict(OURS)
        else:
            method = "POST"
            path, body, more = self.form(which, chooser)
        more = {"content-type": FORM, "content-length": str(len(body)), **more}
        got = await self.house.http(scope_of("http", path, headers | more, method), body)
        await self.house.settle()
        self.judge(method, path, got)
        return repr(got)

    async def programmed(self, which: int, chooser: random.Random) -> str:
        """Send a request to the API for programs, which knows a caller by the token in a header."""
        decision, number = self.decision(which, chooser)
        fields: Any = {"decision": decision, "number": int(number) if re.fullmatch("[0-9]+", number) else number}
        body = json.dumps(fields).encode()
        path, method, token = f"/tables/{self.code}/decisions", "POST", self.callers[which].token
        headers = {"host": HOST, "content-type": "application/json", "authorization": f"Bearer {token}"}
        match chooser.randrange(10):
            case 0:
                wrong = (
                    "",
                    "Bearer",
                    f"Basic {token}",
                    f"Bearer seat_{token}",
                    f"Bearer {token}, {token}",
                    "x" * 5000,
                )
                headers["authorization"] = chooser.choice(wrong)
            case 1:
                del headers["authorization"]
                headers["cookie"] = f"piste={token}"
            case 2:
                junk: Any = chooser.choice((None, True, 1.5, -1, 10**300, [], {}, "x"))
                body = json.dumps(fields | {chooser.choice(("number", "seat", "seed", "deal")): junk}).encode()
            case 3:
                wild = (
                    b"",
                    b"[]",
                    b"{",
                    b"NaN",
                    b'{"number":0}',
                    b"\xff\x00",
                    b"[" * 9000,
                    b'{"decision":"\\ud800"}',
                )
                body = chooser.choice((*wild, b'{"decision":"' + b"x" * 100_000 + b'"}'))
            case 4:
                headers["content-type"] = chooser.choice((FORM, "text/plain", "multipart/form-data; boundary=x"))
            case 5:
                verb = self.verb(which, chooser)
                path, body = f"/tables/{self.code}/{verb}", b"{}"
            case 6:
                path, body = "/tables", json.dumps({"game": "prime-duel", "options": {"top": "x" * 99}}).encode()
            case 7:
                path = f"/tables/{self.code}/seats"
                body = json.dumps({"seat": chooser.choice((0, 1, -1, 10**20)), "link": "A" * 32}).encode()
            case 8:
                method, body = "GET", b""
                path = chooser.choice((
                    f"/tables/{self.code}/record", f"/tables/{self.code.upper()}/record", "/tables", "/games/%ff",
                    f"/tables/{self.code}/tokens", "/games/../../app.py", f"/tables/{self.code}/nothing",
                ))  # fmt: skip
        headers["content-length"] = str(len(body))
        headers = {name: value.encode().decode("latin-1") for name, value in headers.items() if value}
        got = await self.house.http(scope_of("http", f"/api/v1{path}", headers, method), body)
        await self.house.settle()
        assert 400 <= got.status < 500, (method, path, body[:200], got)
        assert got.header("set-cookie") == ""
        assert got.header("content-type") == "application/problem+json", (path, got)
        assert SENTENCE.search(got.json["detail"]), got
        assert got.json["hint"]
        return repr(got)

    def judge(self, method: str, path: str, got: Got) -> None:
        shown = method in ("GET", "HEAD") and got.status == 200
        if got.status == 307:  # the same address without a slash at its end
            assert got.header("location").startswith(f"http://{HOST}/"), (method, path, got)
            return
        assert 400 <= got.status < 500 or shown, (method, path, got)
        assert got.header("set-cookie") == ""
        assert got.header("content-security-policy")
        if got.header("content-type").startswith("application/json") and got.body:
            assert SENTENCE.search(got.json.get("said", "")) or shown, got
        elif method != "HEAD":
            said = re.sub(
                r"<(script|style|title)\b.*?</\1>|<header.*?</header>|<[^>]*>", "\n", got.text, flags=re.DOTALL
            )
            assert shown or SENTENCE.search(said), (method, path, got)


@pytest.mark.parametrize("kind", HIDING, ids=str)
async def test_nothing_that_is_forged_changes_or_tells_anything(house: InProcessServer, kind: Kind) -> None:
    house.clock.now += 0.5
    for part in range(ROUNDS):
        chooser = random.Random(f"{kind} {part}")
        steps, other = cut(kind, f"forged {part}", chooser), None
        seats = [SPECTATOR, *range(seats_of(kind))]
        chooser.shuffle(seats)
        if chooser.random() < 0.5:  # whoever is to act can do the most
            seats.sort(key=lambda seat: seat != actor(kind, steps))
        for forger in seats:
            other = another_history(kind, steps, forger, chooser)
            if other is not None:
                break
        case = f"{kind} {part} {forger}"
        told = []
        for secret, history in (("quite-a-secret", steps), ("something-secret", other or steps)):
            play = Forging(house, kind, history, secret, forger, case)
            await play.run(random.Random(case))
            told.append(play.answers)
        assert len(told[0]) == BATCH
        assert told[0] == told[1]


@pytest.mark.parametrize("versus", ["friend", "steady"])
async def test_after_a_game_only_its_players_go_on_and_with_what_there_is(
    house: InProcessServer, versus: str
) -> None:
    """Forged requests for a rematch, a level or another try open no table, through forms and through a socket."""
    ada, eve = Device(house), Device(house, "e" * 43)
    code = await ada.opens("prime-duel", versus, name="Ada")
    people = [ada]
    if versus == "friend":
        people.append(Device(house, "f" * 43))
        await people[1].do(code, "sit", name="Ben")
    table = house.room(code).table
    assert table is not None
    assert table.to_act == 0
    assert (await ada.decide(code, table.view(0).decisions[0], table.number))["ok"]
    await ada.do(code, "resign")
    assert house.room(code).over
    before, rooms = house.storage.room(code), set(house.service.registry.rooms)
    cannot: list[tuple[Device, str, dict[str, str]]] = [
        (eve, "rematch", {}), (eve, "rematch", {"bot": "novice"}), (eve, "again", {"number": "0"}),
        (eve, "again", {"step": "1"}), (ada, "rematch", {"bot": "god"}), (ada, "rematch", {"bot": "cmd:sh"}),
        (ada, "rematch", {"bot": "<script>"}), *((ada, "again", {"number": number}) for number in NUMBERS),
        *((ada, "again", {"step": number}) for number in NUMBERS), (ada, "again", {}), (ada, "again", {"step": "0"}),
    ]  # fmt: skip
    if versus == "friend":
        cannot += [(one, "again", {field: "0"}) for one in people for field in ("number", "step")]
        cannot += [(one, "rematch", {"bot": "novice"}) for one in people]
    sockets = {one.token: await one.connect(code) for one in (ada, eve)}
    for device, verb, fields in cannot:
        got = await device.do(code, verb, **fields)
        said = got if device.token not in sockets else await sockets[device.token].ask(verb, **fields)
        for answer in (got, said):
            assert not answer["ok"], (verb, fields)
            assert SENTENCE.search(answer["said"])
            assert not FORBIDDEN.search(answer["said"])
        assert got["status"] in (404, 409), (verb, fields, got)
    assert set(house.service.registry.rooms) == rooms
    assert house.storage.room(code) == before
    for socket in sockets.values():
        await socket.leave()
