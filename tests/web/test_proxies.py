"""What docs/hosting.md gives to copy is so: its proxies, its unit and its backups, taken from the page and run."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import json
import os
import re
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import NamedTuple

import pytest
from websockets.exceptions import InvalidStatus

from piste.cli.commands.bench.serve_clients import BUTTON, NUMBER
from piste.web.middleware.guard import HEADERS, MAX_BODY_BYTES
from piste.web.middleware.rate_limits import RATES, REFUSALS
from piste.web.network import qr_svg
from piste.web.storage.schema import StorageAwayError
from piste.web.supervisor import STOP_TIMEOUT_S
from tests.limits import PATIENCE_S, wait_until
from tests.postgres_server import PostgresServer, needed_programs, postgres_server
from tests.system_packages import needed, without
from tests.web import proxied_server as proxied
from tests.web import syscall_filter as filtered
from tests.web.proxied_server import ASKED, PUBLIC, ActionResult, Line, Proxy, Served, Visitor

pytestmark = [
    pytest.mark.proxy,
    pytest.mark.skipif(sys.platform != "linux", reason="the page is about Debian and its like"),
]

TOGETHER = ("nginx-light", "caddy", "openssl", "sqlite3", "systemd")
"""What the build machine installs in one go as soon as one of them is missing."""

JSON = {"Content-Type": "application/json"}
NEW = {"game": "prime-duel", "versus": "friend", "name": "Ada"}


def program(name: str, package: str, request: pytest.FixtureRequest) -> str:
    return needed(name, package, request, skipped=f"tests of hosting with {name} are", along=TOGETHER)


class Place(NamedTuple):
    """A server and the proxy before it."""

    served: Served
    proxy: Proxy


@pytest.fixture(scope="module", params=["nginx", "caddy"])
def place(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    if request.param == "nginx":
        found, openssl = program("nginx", "nginx-light", request), program("openssl", "openssl", request)
    else:
        found, openssl = program("caddy", "caddy", request), ""
    folder = tmp_path_factory.mktemp(request.param)
    served = proxied.unit_server(tmp_path_factory.mktemp("served") / "tables.db")
    try:
        if openssl:
            proxy = proxied.nginx(found, openssl, folder, served)
        else:
            proxy = proxied.caddy(found, folder, served.port)
        try:
            yield Place(served, proxy)
        finally:
            proxy.stop()
        assert served.stop() == 0
        assert [event for event in served.events() if event["level"] == "error"] == []
    finally:
        served.stop()


def table_for_two(proxy: Proxy) -> tuple[str, Visitor, Visitor]:
    """Open a table through the proxy and let a friend sit down."""
    ada, ben = Visitor(proxy), Visitor(proxy)
    table = ada.do("/new", **NEW)
    ben.do(f"{table}/sit", name="Ben")
    return table, ada, ben


def by_turn(one: Line, other: Line) -> tuple[Line, Line]:
    """Return first the one who is asked."""
    assert bool(one.choices) != bool(other.choices)
    return (one, other) if one.choices else (other, one)


# Proxies


def test_the_home_page_comes_with_its_headers(place: Place) -> None:
    home = Visitor(place.proxy).ask("/")
    assert home.status == 200
    assert "<h1" in home.text
    assert {name: home.headers[name] for name in HEADERS} == HEADERS
    assert home.headers["cache-control"] == "no-store"


def test_a_table_is_opened_by_https_and_the_key_stays_there(place: Place) -> None:
    made = Visitor(place.proxy).ask("/new", NEW, headers={"Accept": "text/html"})
    assert made.status == 303
    assert re.fullmatch(r"/t/\w{16}", made.headers["location"])
    words = {word.strip().lower() for word in made.headers["set-cookie"].split(";")}
    assert {"secure", "httponly", "samesite=lax"} <= words


def test_links_and_pictures_of_them_begin_with_https(place: Place) -> None:
    table, ada, _ = table_for_two(place.proxy)
    links = set(re.findall(r"https?://[^\"'<>\s]+", ada.ask(table).text)) - {"http://www.w3.org/2000/svg"}
    assert f"{PUBLIC}{table}" in links
    assert any(link.startswith(f"{PUBLIC}/s/") for link in links)
    assert {link for link in links if not link.startswith(f"{PUBLIC}/")} == set()
    assert ada.ask(f"{table}/qr.svg").text == qr_svg(f"{PUBLIC}{table}").decode()


async def test_a_decision_is_answered_and_the_news_arrive(place: Place) -> None:
    table, ada, ben = table_for_two(place.proxy)
    async with ada.watch(table) as adas, ben.watch(table) as bens:
        one, other = by_turn(adas, bens)
        before, lines = other.at, len(other.log)
        await one.decide()
        await other.hear_until(lambda message: message.get("at", before) > before)
        assert len(other.log) > lines


def test_a_program_hears_each_event_as_it_happens_and_not_when_the_answer_ends(place: Place) -> None:
    """The stream for `curl -N` never ends by itself: a proxy that collected answers would keep every line back."""
    api, program = "/api/v1/tables", Visitor(place.proxy)
    opened = program.ask(api, body=json.dumps({"game": "prime-duel", "versus": "friend"}).encode(), headers=JSON)
    assert opened.status == 201, opened
    code, token = json.loads(opened.text)["table"]["code"], json.loads(opened.text)["token"]
    with program.listening(f"{api}/{code}/events", {"Authorization": f"Bearer {token}"}) as lines:
        assert json.loads(lines.readline())["type"] == "table"
        sat = Visitor(place.proxy).ask(f"{api}/{code}/seats", body=b'{"name": "Ben"}', headers=JSON)
        assert sat.status == 201, sat
        told = [json.loads(lines.readline())["type"] for _ in range(3)]
    assert told[:2] == ["table", "hello"]
    assert told[2] in ("decide", "told")


@pytest.mark.parametrize("origin", ["https://evil.example", "http://cards.example", f"{PUBLIC}:444", "null"])
async def test_what_a_foreign_page_sends_is_refused(place: Place, origin: str) -> None:
    table, ada, ben = table_for_two(place.proxy)
    async with ada.watch(table) as adas, ben.watch(table) as bens:
        line = by_turn(adas, bens)[0]
        asked = ada if line is adas else ben
        decision = {"decision": line.choices[0], "number": line.number}
    with pytest.raises(InvalidStatus) as caught:
        async with asked.watch(table, origin=origin):
            pass
    assert caught.value.response.status_code == 403
    assert asked.ask(f"{table}/decide", decision, headers={"Origin": origin}).status == 403
    assert asked.ask(f"{table}/decide", decision).status == 200  # from a page of ours it still can be taken


def test_nobody_is_counted_as_somebody_else_by_what_they_say_of_themselves(place: Place) -> None:
    most = int(RATES["rooms"].burst)
    many = Visitor(place.proxy, "127.0.0.2")
    answers = []
    # Each of these says that it comes from somewhere else: believed, none would ever be too many.
    for i in range(20 * most):  # a slow machine may let some more in
        said = f"198.51.100.{i % 256}"
        forged = {"X-Forwarded-For": said, "X-Real-IP": said, "Forwarded": f"for={said}", "Client-IP": said}
        answers.append(many.ask("/new", NEW, headers=forged))
        if answers[-1].status == 429:
            break
    assert REFUSALS["rooms"] in answers[-1].text
    assert {answer.status for answer in answers[:-1]} == {200}
    assert len(answers) > most
    # And who comes from elsewhere is not held up, even in the name of the one who is.
    other = Visitor(place.proxy, "127.0.0.3")
    assert other.ask("/new", NEW, headers={"X-Forwarded-For": "127.0.0.2"}).status == 200


def test_how_somebody_comes_is_not_for_them_to_say(place: Place) -> None:
    forged = {"X-Forwarded-Proto": "http", "X-Forwarded-Host": "evil.example"}
    for origin in ("http://cards.example", "https://evil.example", "http://evil.example"):
        assert Visitor(place.proxy).ask("/new", NEW, headers={"Origin": origin, **forged}).status == 403
    made = Visitor(place.proxy).ask("/new", NEW, headers=forged)
    assert made.status == 200
    assert "; secure" in made.headers["set-cookie"].lower()


@pytest.mark.parametrize("path", ["/metrics", "//metrics", "/%6detrics", "/x/../metrics", "/./metrics", "/metrics?x"])
def test_counters_are_closed_however_they_are_spelt(place: Place, path: str) -> None:
    found = Visitor(place.proxy).ask(path)
    assert found.status == 404
    assert "piste_" not in found.text
    assert "piste_rooms_live" in Visitor(place.served).ask("/metrics").text


@pytest.mark.parametrize("chunked", [False, True])
def test_a_body_that_is_too_large_is_refused(place: Place, chunked: bool) -> None:
    table = Visitor(place.proxy).do("/new", **NEW)
    body = b"name=" + b"a" * MAX_BODY_BYTES
    given = iter([body[:4000], body[4000:]]) if chunked else body
    assert Visitor(place.proxy).ask(f"{table}/sit", body=given).status == 413
    assert table not in place.proxy.said.read_text()


async def test_a_server_that_stops_says_so_and_finds_everybody_again(place: Place) -> None:
    table, ada, ben = table_for_two(place.proxy)
    async with ada.watch(table) as adas, ben.watch(table) as bens:
        one, other = by_turn(adas, bens)
        before = other.at
        await one.decide()
        await other.hear_until(lambda message: message.get("at", before) > before)
        seen = adas.at, bens.at
        assert await asyncio.to_thread(place.served.stop) == 0
        for line in (adas, bens):
            assert await line.last() == ({"bye": "restart"}, 1012)
    assert ada.ask(table).status == 502
    place.served.start()
    async with ada.watch(table, seen[0]) as adas, ben.watch(table, seen[1]) as bens:
        assert (adas.at, bens.at) == seen
        assert adas.log == bens.log == []
        one, other = by_turn(adas, bens)
        await one.decide()
        await other.hear_until(lambda message: bool(message.get("log")))
    # What a proxy notes while the server is away must not lead anybody to the table.
    assert table.removeprefix("/t/") not in place.proxy.said.read_text()


def test_a_proxy_that_does_not_say_https_is_noticed_as_the_page_says(place: Place) -> None:
    assert Visitor(place.served).ask("/new", NEW, headers={"X-Forwarded-For": "203.0.113.9"}).status == 403
    assert place.served.events()[-1]["event"] == "foreign origin"
    page = " ".join(proxied.PAGE.read_text(encoding="utf-8").split())
    assert "Without `X-Forwarded-Proto` every decision is refused" in page
    assert "(`foreign origin` in the log; `--public` helps too)" in page


def sees(person: Visitor, table: str) -> tuple[str, list[str]]:
    """Return the number of the question, if this person is asked, and what the answers are."""
    choices = json.loads(person.ask(f"{table}/news").text)["parts"]["choices"]
    number = NUMBER.search(choices)
    return number[1] if number else "", [unescape(one) for one in BUTTON.findall(choices)]


# Several servers behind a balancer


class Balanced(NamedTuple):
    """Two servers on one PostgreSQL, and the nginx that balances between them."""

    servers: tuple[Served, Served]
    proxy: Proxy
    postgres: PostgresServer

    def places(self, answers: list[ActionResult]) -> set[str]:
        """Return the servers that gave these answers."""
        return {answer.headers[ASKED].rpartition(" ")[2] for answer in answers}

    def pages(self, count: int = 12) -> list[ActionResult]:
        return [Visitor(self.proxy).ask("/") for _ in range(count)]

    def both_serve(self) -> bool:
        """Whether nginx asks both, and both answer."""
        pages = self.pages()
        return {page.status for page in pages} == {200} and len(self.places(pages)) == 2


@pytest.fixture(scope="module")
def balanced(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Balanced]:
    found, openssl = program("nginx", "nginx-light", request), program("openssl", "openssl", request)
    with contextlib.ExitStack() as stack:
        postgres = stack.enter_context(postgres_server(needed_programs(request)))
        address, servers = postgres.migrated(), []
        for host in ("127.0.0.11", "127.0.0.12"):
            servers.append(proxied.balanced_server(address, tmp_path_factory.mktemp("balanced"), host))
            stack.callback(servers[-1].stop)
        proxy = proxied.nginx(found, openssl, tmp_path_factory.mktemp("balancer"), *servers)
        stack.callback(proxy.stop)
        yield Balanced((servers[0], servers[1]), proxy, postgres)


def decide_once(table: str, *people: Visitor) -> None:
    """Let whoever is asked decide, again if a server has not heard of the last decision yet."""

    def decided() -> bool:
        for person in people:
            number, choices = sees(person, table)
            if choices:
                return person.ask(f"{table}/decide", {"decision": choices[0], "number": number}).status == 200
        return False

    wait_until(decided)


async def decide_and_tell(one: Line, other: Line) -> None:
    """Let one person decide and the other one hear of it."""
    before = other.at
    await one.decide()
    await other.hear_until(lambda message: message.get("at", before) > before)


async def test_people_play_on_while_one_of_two_servers_is_stopped(balanced: Balanced) -> None:
    table, ada, ben = table_for_two(balanced.proxy)
    for server, other in (balanced.servers, balanced.servers[::-1]):
        wait_until(balanced.both_serve)
        assert await asyncio.to_thread(server.stop) == 0
        pages = balanced.pages()
        assert {page.status for page in pages} == {200}
        assert balanced.places(pages) == {other.place}
        decide_once(table, ada, ben)
        async with ada.watch(table) as adas, ben.watch(table) as bens:
            await decide_and_tell(*by_turn(adas, bens))
        server.start()


async def test_without_postgresql_either_server_says_so_and_goes_on_when_it_is_back(balanced: Balanced) -> None:
    table, ada, ben = table_for_two(balanced.proxy)
    wait_until(balanced.both_serve)
    decide_once(table, ada, ben)
    balanced.postgres.stop()
    try:
        pages = balanced.pages()
        refused = [Visitor(balanced.proxy).ask("/new", NEW) for _ in pages]
    finally:
        balanced.postgres.start()
    assert {page.status for page in pages} == {503}
    assert all(str(StorageAwayError()) in page.text for page in pages)
    assert all("This could not be kept, so it has not happened." in answer.text for answer in refused)
    assert len(balanced.places(pages)) == len(balanced.places(refused)) == 2
    wait_until(balanced.both_serve)
    decide_once(table, ada, ben)
    async with ada.watch(table) as adas, ben.watch(table) as bens:
        while adas.at != bens.at:  # one of the servers does not listen to the other again yet
            await min(adas, bens, key=lambda line: line.at).hear()


# The unit


def test_the_unit_is_understood_and_closed(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    analyze = program("systemd-analyze", "systemd", request)
    unit = tmp_path / "piste.service"
    unit.write_text(proxied.changed(proxied.block("ini"), ("/opt/piste/bin/piste", sys.executable)))
    for words in (["verify", "--man=no"], ["security", "--offline=true", "--no-pager", "--threshold=20"]):
        done = subprocess.run(
            [analyze, *words, unit], capture_output=True, text=True, timeout=PATIENCE_S, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert done.stderr == "", words
        assert done.stdout == "" or words[0] == "security"


def test_the_unit_waits_for_longer_than_the_server() -> None:
    assert int(proxied.said_of("TimeoutStopSec")) > STOP_TIMEOUT_S


@pytest.fixture
def within(request: pytest.FixtureRequest) -> tuple[str, ...]:
    """Return what runs a program with the unit's filter of system calls."""
    analyze = program("systemd-analyze", "systemd", request)
    try:
        ctypes.CDLL(filtered.LIBRARY)
    except OSError:
        without(f"no {filtered.LIBRARY} here: tests of system calls are skipped; apt install libseccomp2", request)
    groups, families = (proxied.said_of(of).split() for of in ("SystemCallFilter", "RestrictAddressFamilies"))
    return (sys.executable, "-m", filtered.__name__, analyze, ",".join(groups), ",".join(families))


def test_what_the_unit_does_not_allow_kills(within: tuple[str, ...]) -> None:
    for forbidden, code in (
        ("os.chroot('.')", -signal.SIGSYS),
        ("socket.socket(socket.AF_NETLINK)", -signal.SIGSYS),
        ("0", 0),
    ):
        words = [sys.executable, "-c", f"import os, socket; {forbidden}"]
        assert subprocess.run([*within, *words], timeout=PATIENCE_S, check=False).returncode == code


def test_a_bot_is_played_within_what_the_unit_allows(within: tuple[str, ...], tmp_path: Path) -> None:
    served = proxied.unit_server(tmp_path / "tables.db", public=True, within=within)
    try:
        ada = Visitor(served)
        table = ada.do("/new", **{**NEW, "versus": "steady"})
        asked: set[str] = set()

        def again() -> bool:
            number, choices = sees(ada, table)
            if choices and number not in asked:
                asked.add(number)
                ada.do(f"{table}/decide", decision=choices[0], number=number)
            return len(asked) == 3  # so the bot has answered in between

        wait_until(again, served.said.read_text)
        assert served.stop() == 0
        assert [event for event in served.events() if event["level"] != "info"] == []
    finally:
        served.stop()


# Backups


def play_on(table: str, *people: Visitor) -> list[tuple[str, list[str]]]:
    """Let whoever is asked decide; return what everybody sees then."""
    for person in people:
        number, choices = sees(person, table)
        if choices:
            person.do(f"{table}/decide", decision=choices[0], number=number)
            return [sees(each, table) for each in people]
    raise AssertionError("nobody is asked")


def test_copies_made_in_the_middle_of_a_game_hold_it(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    program("sqlite3", "sqlite3", request)
    db, copy = tmp_path / "served" / "tables.db", tmp_path / "copies" / "piste.db"
    for folder in (db.parent, copy.parent):
        folder.mkdir()
    commands = proxied.commands("/var/backups/piste.db")
    assert [re.findall(r"sqlite3 /|python3 -c", one) for one in commands] == [["sqlite3 /"], ["python3 -c"]]
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    served = proxied.unit_server(db, public=True)
    try:
        people = Visitor(served), Visitor(served)
        table = people[0].do("/new", **NEW)
        people[1].do(f"{table}/sit", name="Ben")
        copies = []
        for i, command in enumerate(commands):
            seen = play_on(table, *people)
            places = ("/var/lib/piste/tables.db", str(db)), ("/var/backups/piste.db", str(copy))
            ours = proxied.changed(command, *places)
            subprocess.run(["sh", "-c", ours], check=True, timeout=PATIENCE_S, env={**os.environ, "PATH": path})
            assert stat.S_IMODE(copy.stat().st_mode) == 0o600
            copies.append((copy.rename(copy.with_name(f"{i}.db")), seen))
        now = play_on(table, *people)
        for kept, seen in copies:
            assert seen != now
            assert served.stop() == 0
            kept.replace(db)
            for rest in ("tables.db-wal", "tables.db-shm"):
                (db.parent / rest).unlink(missing_ok=True)
            served.start()
            assert [sees(each, table) for each in people] == seen
            assert play_on(table, *people) != seen
    finally:
        served.stop()
