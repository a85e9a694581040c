"""A clock that was set, a row that is damaged, a file that is gone, and requests that would be dear."""

from __future__ import annotations

import re
import sqlite3
import threading
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from piste.core.errors import PisteError
from piste.web.middleware.rate_limits import RATES, Limits, Rate
from piste.web.server import check_libraries
from piste.web.storage.elapsed_time import DAY_S, Elapsed
from piste.web.storage.storage import Storage
from piste.web.tables.room import Room
from tests import ROOT
from tests.web.guarded_app import overheard
from tests.web.in_process_server import Clock, Device, InProcessServer, actor, one_decision, table_for

# The clock


@pytest.fixture(name="real")
def _real(house: InProcessServer) -> InProcessServer:
    """A house where time passes by another clock than the one on the wall."""
    house.ticks = Clock()
    return house


async def test_a_restart_with_a_clock_a_month_ahead_deletes_nothing(real: InProcessServer) -> None:
    code, people = await table_for(real, "prime-duel")
    with overheard() as noted:
        real.clock.now += 31 * DAY_S
        await real.restart()
        assert await real.service.expire() == 0
    assert "clock jumped" in noted.getvalue()
    assert (await people[0].get(f"/t/{code}")).status == 200


async def test_a_table_is_deleted_when_its_time_has_been_seen_to_pass(real: InProcessServer) -> None:
    assert real.ticks is not None
    old, _ = await table_for(real, "prime-duel")
    real.clock.now += 31 * DAY_S  # not so
    await real.restart()
    for _ in range(2):
        real.clock.now += 16 * DAY_S
        real.ticks.now += 16 * DAY_S
        await real.service.expire()
    assert real.storage.room(old) is None


async def test_a_clock_that_is_set_back_again_takes_nothing_with_it(real: InProcessServer) -> None:
    code, _ = await table_for(real, "prime-duel")
    for jump in (31 * DAY_S, -31 * DAY_S):
        real.clock.now += jump
        await real.service.expire()
    assert real.storage.room(code) is not None


async def test_a_clock_that_is_set_ahead_makes_nobody_claimable(real: InProcessServer) -> None:
    assert real.ticks is not None
    code, people = await table_for(real, "prime-duel")
    here = people[1 - actor(real, code)]
    real.clock.now += real.settings.patience + 60
    assert "Nobody is away" in (await here.do(code, "claim"))["said"]
    real.ticks.now += real.settings.patience + 60
    assert (await here.do(code, "claim"))["ok"]


def test_age_is_counted_without_jumps() -> None:
    then = Elapsed(1000.0, 50.0, "a")
    assert then.advance(1000.0 + 40 * DAY_S, 50.0 + 40 * DAY_S, "a").age(1000.0) == 40 * DAY_S
    assert then.advance(1000.0 + 40 * DAY_S, 50.0, "a").age(1000.0) == DAY_S  # asleep, perhaps
    assert then.advance(1000.0 + 40 * DAY_S, 7.0, "b").age(1000.0) == DAY_S  # switched off, perhaps
    assert then.advance(1000.0 + 3600, 7.0, "b").age(1000.0) == 3600
    assert then.advance(0.0, 50.0 + 10 * DAY_S, "a").age(1000.0) == 10 * DAY_S


# Damaged rows


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE rooms SET game = 'no-such-game' WHERE code = ?",
        "UPDATE rooms SET touched = 'soon' WHERE code = ?",
        "UPDATE rooms SET touched = 1e300 WHERE code = ?",
        "UPDATE seats SET name = CAST(X'ff41' AS TEXT) WHERE room = ?",
    ],
)
async def test_one_table_that_cannot_be_shown_hides_no_other(house: InProcessServer, damage: str) -> None:
    person = Device(house)
    codes = [await person.opens("prime-duel", name="Ada") for _ in range(2)]
    for code in codes:
        assert (await person.do(code, "list"))["ok"]
    bad, good = codes
    with sqlite3.connect(house.settings.db) as raw:
        raw.execute(damage, [bad])
    raw.close()
    house.service.registry.rooms.clear()
    for page in ("/", "/watch", "/games"):
        got = await person.get(page)
        assert got.status == 200
        assert f"/t/{good}" in got.text
        assert f"/t/{bad}" in got.text
    assert (await person.get(f"/t/{good}")).status == 200
    assert (await person.get(f"/t/{bad}")).status in (200, 404, 409)


# The file


async def test_a_file_that_is_removed_is_noticed_and_nothing_is_said_to_be_kept(house: InProcessServer) -> None:
    code, people = await table_for(house, "prime-duel")
    db = Path(house.settings.db)
    db.rename(db.with_suffix(".away"))
    assert (await people[0].get("/readyz")).status == 503
    got = await people[actor(house, code)].do(code, "resign")
    assert not got["ok"]
    assert "could not be kept" in got["said"]
    assert (await people[0].post("/new", {"game": "prime-duel"}, accept="application/json")).json["ok"] is False
    db.with_suffix(".away").rename(db)
    assert (await people[0].get("/readyz")).status == 200
    assert (await people[0].get(f"/t/{code}")).status == 200
    await one_decision(house, code, people)


@pytest.mark.parametrize("text", [b"CREATE TABLE rooms", b"CREATE TABLE keys", b"alembic_version", b"SQLite format"])
def test_a_damaged_file_at_the_start_is_a_sentence(text: bytes, tmp_path: Path) -> None:
    path = tmp_path / "tables.db"
    with Storage(path):
        pass
    data = path.read_bytes()
    at = data.index(text) + len(text) - 4
    path.write_bytes(data[:at] + b"\xff\xba\x82\xe5" + data[at + 4 :])
    storage = Storage(path)
    with pytest.raises(PisteError, match=r"damaged|cannot be opened|another program"):
        storage.open()
    storage.close()


# Requests


async def test_a_long_game_is_read_back_in_a_thread_of_its_own(
    house: InProcessServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, people = await table_for(house, "prime-duel")
    threads = []
    right = Room.restore

    def restore(room: Room, lines: tuple[str, ...]) -> None:
        threads.append(threading.current_thread())
        right(room, lines)

    monkeypatch.setattr(Room, "restore", restore)
    await house.restart()
    assert (await people[0].get(f"/t/{code}")).status == 200
    assert threads
    assert threading.main_thread() not in threads


async def test_a_qr_code_is_drawn_once_and_not_without_end(
    house: InProcessServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = []

    def draws(text: str) -> bytes:
        drawn.append(text)
        return b"<svg/>"

    monkeypatch.setattr("piste.web.app.qr_svg", draws)
    house.limits = Limits(Clock(), {**RATES, "pictures": Rate(3, 1)})
    await house.restart()
    person = Device(house)
    code = await person.opens("prime-duel")
    for _ in range(50):
        assert (await person.get(f"/t/{code}/qr.svg")).status == 200
    assert len(drawn) == 1
    answers = [(await person.get(f"/t/{code}/qr.svg", host=f"host{at}.example")).status for at in range(5)]
    assert answers == [200, 200, 429, 429, 429]


async def test_numbers_of_any_length_are_no_seats(house: InProcessServer) -> None:
    person = Device(house)
    code = await person.opens("prime-duel")
    for seat in ("9" * 5000, "-1", "x", "00000"):
        assert (await person.get(f"/s/{code}/{seat}/x")).status == 404


async def test_metrics_are_for_this_computer_unless_a_setting_opens_them(tmp_path: Path) -> None:
    for opened, status in ((False, 404), (True, 200)):
        async with InProcessServer(tmp_path / "tables.db", open_metrics=opened) as house:
            assert (await Device(house).get("/metrics")).status == status
            assert (await Device(house, client="127.0.0.1").get("/metrics")).status == 200
            assert (await Device(house, client="::1").get("/metrics")).status == 200


async def test_a_private_link_can_be_called_in(house: InProcessServer) -> None:
    code, people = await table_for(house, "prime-duel")

    async def link() -> str:
        found = re.search(rf"/s/{code}/0/[\w-]+", await people[0].page(code))
        assert found
        return found[0]

    old = await link()
    thief, phone = Device(house), Device(house)
    assert (await thief.post(old)).status == 303
    watching = await thief.connect(code)
    assert 'data-seat="0"' in await thief.page(code)
    assert not (await Device(house, house.tokens.token()).do(code, "new-link"))["ok"]
    assert (await people[0].do(code, "new-link"))["ok"]
    assert 'data-seat="0"' not in await thief.page(code)
    assert not (await watching.ask("resign"))["ok"]
    for again in (False, True):
        if again:
            await house.restart()
        new = await link()
        assert new != old
        assert (await thief.post(old)).status == 404
    assert (await phone.post(new)).status == 303
    assert 'data-seat="0"' in await phone.page(code)
    await watching.leave()


# Libraries


def test_a_uvicorn_without_what_is_built_on_is_refused_with_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    check_libraries()
    monkeypatch.delattr(WebSocketsSansIOProtocol, "keepalive_timeout")
    with pytest.raises(PisteError, match=r"no WebSocketsSansIOProtocol.keepalive_timeout.*constraints.txt"):
        check_libraries()


def test_what_is_deployed_is_pinned_to_versions_that_are_allowed() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pinned = dict(line.split("==") for line in lines if not line.startswith("#"))
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    for text in (*extras["web"], *extras["fast"], *extras["postgres"]):
        asked = Requirement(text)
        assert asked.specifier.contains(pinned[canonicalize_name(asked.name)]), text
