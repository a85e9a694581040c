"""What the server keeps: all of it, in order, once, and still there after a crash."""

from __future__ import annotations

import sqlite3
import threading
import traceback
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import fields, replace
from pathlib import Path

import pytest
from sqlalchemy import Connection, Engine, event

from piste.core.errors import PisteError
from piste.web.storage import schema
from piste.web.storage import storage as storage_module
from piste.web.storage.schema import (
    ConflictError,
    PlayerRow,
    ReviewRow,
    RoomRow,
    RoomUpdate,
    SeatRow,
    SitterRow,
    StorageError,
    StoredTable,
    add_lines,
    delete,
    put,
)
from piste.web.storage.storage import Storage
from piste.web.storage.writing import Writing
from tests.limits import PATIENCE_S
from tests.web.failing_storage import room_count

ROW = RoomRow("ROOM", "prime-duel", '{"target": "50"}', "ann", False, 100.0, 200.0)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "tables.db"


@pytest.fixture
def storage(db: Path | str) -> Iterator[Storage]:
    with Storage(db) as opened:
        yield opened


def kept(storage: Storage, code: str = "ROOM") -> StoredTable:
    found = storage.room(code)
    assert found is not None
    return found


def update_room(code: str, version: int = 0, **values: object) -> RoomUpdate:
    return RoomUpdate(code, version, values)


def rooms(storage: Storage, *codes: str) -> None:
    storage.write(*(put(replace(ROW, code=code)) for code in codes)).result()


class Gate:
    """Lets the writer finish one transaction only when it is told to, and counts those that follow."""

    def __init__(self) -> None:
        self.reached, self.go = threading.Event(), threading.Event()
        self.commits = 0

    def commit(self, _: Connection) -> None:
        if threading.current_thread().name == "piste-writer":
            self.reached.set()
            self.go.wait(PATIENCE_S)
            self.commits += 1


@contextmanager
def held(storage: Storage) -> Iterator[Gate]:
    """Hold the writer in the middle of a write, so that whatever is written meanwhile has to wait."""
    gate = Gate()
    event.listen(Engine, "commit", gate.commit)
    try:
        first = storage.write(put(PlayerRow("first", "First", 0.0)))
        gate.reached.wait(PATIENCE_S)
        yield gate
        gate.go.set()
        first.result()
        storage.write().result()  # done after all that was waiting
    finally:
        gate.go.set()
        event.remove(Engine, "commit", gate.commit)


def test_a_room_comes_back_as_it_was_put(storage: Storage) -> None:
    row = RoomRow("ROOM", "mccoy-duel", '{"players": "3"}', "ann", True, 1.25, 1763270000.123456, 9.5, "OLD", "NEW")
    seats = (SeatRow("ROOM", 0, "person", "Ånn 🂡", "", "steady"), SeatRow("ROOM", 1, "bot", "", "strong"))
    storage.write(
        put(row),
        put(seats[1]),
        put(seats[0]),
        put(SitterRow("ROOM", 0, "phone")),
        put(SitterRow("ROOM", 0, "laptop")),
        add_lines("ROOM", 0, ["head", "one"]),
        add_lines("ROOM", 2, ["two"]),
    ).result()
    expected = StoredTable(row, seats, ((0, "laptop"), (0, "phone")), ("head", "one", "two"))
    assert storage.room("ROOM") == expected
    assert kept(storage).room.listed is True


def test_rows_have_the_fields_of_their_tables_in_their_order() -> None:
    for kind in (RoomRow, SeatRow):
        assert [field.name for field in fields(kind)] == list(schema.metadata.tables[kind.__tablename__].c.keys())


def test_what_was_never_kept_is_none(storage: Storage) -> None:
    assert storage.room("ROOM") is None
    assert storage.player("ann") is None
    assert storage.review("ROOM") is None
    assert storage.rooms_of("ann") == []
    assert storage.listed() == []


def test_putting_a_room_again_changes_it_and_loses_nothing_that_belongs_to_it(storage: Storage) -> None:
    storage.write(put(ROW), put(SeatRow("ROOM", 0, "open")), add_lines("ROOM", 0, ["head"])).result()
    storage.write(put(replace(ROW, options="{}")), put(SeatRow("ROOM", 0, "person", "Ann"))).result()
    expected = StoredTable(replace(ROW, options="{}"), (SeatRow("ROOM", 0, "person", "Ann"),), (), ("head",))
    assert storage.room("ROOM") == expected


def test_each_small_change_changes_its_own_field_of_its_own_room(storage: Storage) -> None:
    rooms(storage, "ROOM", "OTHER")
    changes = (
        update_room("ROOM", 0, touched=300.5),
        update_room("ROOM", 1, ended=301.5),
        update_room("ROOM", 2, successor="NEXT"),
        update_room("ROOM", 3, listed=True),
    )
    storage.write(*changes).result()
    expected = replace(ROW, touched=300.5, ended=301.5, successor="NEXT", listed=True, version=4)
    assert kept(storage).room == expected
    assert kept(storage, "OTHER").room == replace(ROW, code="OTHER")
    storage.write(update_room("ROOM", 4, listed=False)).result()
    assert kept(storage).room.listed is False


def test_a_change_to_another_version_is_refused_and_nothing_of_its_call_is_written(storage: Storage) -> None:
    rooms(storage, "ROOM")
    storage.write(RoomUpdate("ROOM", 0, {"listed": True}, 0, ["head", "one"])).result()
    late = storage.write(RoomUpdate("ROOM", 0, {"listed": False}, 0, ["other"]), put(SeatRow("ROOM", 0, "open")))
    with pytest.raises(ConflictError, match="changed meanwhile"):
        late.result()
    assert storage.room("ROOM") == StoredTable(replace(ROW, listed=True, version=1), (), (), ("head", "one"))
    storage.write(RoomUpdate("ROOM", 1, {}, 2, ["two"])).result()
    assert kept(storage).lines == ("head", "one", "two")


def test_a_conflict_does_not_touch_the_calls_that_are_written_with_it(storage: Storage) -> None:
    rooms(storage, "A", "B", "C")
    with held(storage):
        waiting = [
            storage.write(update_room(code, version, listed=True))
            for code, version in zip("ABC", (0, 7, 0), strict=True)
        ]
    assert [type(future.exception()) for future in waiting] == [type(None), ConflictError, type(None)]
    assert [kept(storage, code).room.listed for code in "ABC"] == [True, False, True]


def test_a_change_to_a_room_that_is_gone_is_refused(storage: Storage) -> None:
    for change in (
        update_room("ROOM", touched=1.0),
        update_room("ROOM", ended=1.0),
        update_room("ROOM", successor="X"),
        update_room("ROOM", listed=True),
    ):
        with pytest.raises(ConflictError, match="changed meanwhile"):
            storage.write(change).result()
    for lost in (put(SeatRow("ROOM", 0, "open")), add_lines("ROOM", 0, ["head"]), put(ReviewRow("ROOM", "{}"))):
        with pytest.raises(StorageError, match="does not fit"):
            storage.write(lost).result()


def test_a_sitter_can_be_put_twice_and_taken_away_twice(storage: Storage) -> None:
    rooms(storage, "ROOM")
    storage.write(
        put(SeatRow("ROOM", 0, "person")), put(SitterRow("ROOM", 0, "ann")), put(SitterRow("ROOM", 0, "ben"))
    ).result()
    storage.write(put(SitterRow("ROOM", 0, "ann"))).result()
    assert kept(storage).sitters == ((0, "ann"), (0, "ben"))
    for _ in range(2):
        storage.write(delete(SitterRow, room="ROOM", seat=0, player="ann")).result()
        assert kept(storage).sitters == ((0, "ben"),)


def test_nobody_sits_on_a_seat_that_is_not_there(storage: Storage) -> None:
    rooms(storage, "ROOM")
    with pytest.raises(StorageError, match="does not fit"):
        storage.write(put(SitterRow("ROOM", 3, "ann"))).result()


def test_a_line_is_never_written_over(storage: Storage) -> None:
    rooms(storage, "ROOM")
    storage.write(add_lines("ROOM", 0, ["head", "one"])).result()
    with pytest.raises(StorageError, match="Line 1 of this record is kept already"):
        storage.write(add_lines("ROOM", 1, ["another", "two"])).result()
    assert kept(storage).lines == ("head", "one")


def test_no_line_is_left_out(storage: Storage) -> None:
    rooms(storage, "ROOM")
    with pytest.raises(StorageError, match="Line 1 of this record cannot be kept before line 0 is"):
        storage.write(add_lines("ROOM", 1, ["one"])).result()
    assert kept(storage).lines == ()


def test_all_changes_of_a_call_are_made_or_none(storage: Storage) -> None:
    rooms(storage, "ROOM")
    with pytest.raises(StorageError):
        storage.write(
            update_room("ROOM", listed=True), add_lines("ROOM", 0, ["head"]), update_room("NOWHERE", touched=1.0)
        ).result()
    assert storage.room("ROOM") == StoredTable(ROW, (), (), ())


def test_dropping_a_room_forgets_all_that_belongs_to_it_and_nothing_else(storage: Storage, path: Path) -> None:
    rooms(storage, "ROOM", "OTHER")
    for code in ("ROOM", "OTHER"):
        storage.write(
            put(SeatRow(code, 0, "person")),
            put(SitterRow(code, 0, "ann")),
            add_lines(code, 0, ["head"]),
            put(ReviewRow(code, "{}")),
        ).result()
    storage.write(delete(RoomRow, code="ROOM"), delete(RoomRow, code="NEVER")).result()
    assert storage.room("ROOM") is None
    assert room_count(storage) == 1
    storage.close()
    connection = sqlite3.connect(path)
    for table in ("seats", "sitters", "lines", "reviews"):
        assert connection.execute(f"SELECT room FROM {table}").fetchall() == [("OTHER",)]
    connection.close()


def test_a_players_rooms_come_with_their_seats_and_the_last_one_played_first(storage: Storage) -> None:
    for code, touched in (("A", 1.0), ("B", 3.0), ("C", 2.0), ("D", 4.0)):
        storage.write(
            put(replace(ROW, code=code, touched=touched)),
            put(SeatRow(code, 0, "person", "Ann")),
            put(SeatRow(code, 1, "person", "Ben")),
            put(SitterRow(code, 1, "ben")),
        ).result()
    storage.write(
        put(SitterRow("A", 0, "ann")), put(SitterRow("B", 0, "ann")), put(SitterRow("B", 1, "ann"))
    ).result()
    storage.write(put(SitterRow("C", 1, "ann"))).result()
    assert [(listing.room.code, listing.yours) for listing in storage.rooms_of("ann")] == [
        ("B", (0, 1)),
        ("C", (1,)),
        ("A", (0,)),
    ]
    assert [seat.name for seat in storage.rooms_of("ann")[0].seats] == ["Ann", "Ben"]
    assert [listing.room.code for listing in storage.rooms_of("ben", limit=2)] == ["D", "B"]


def test_rooms_that_are_listed_and_running_can_be_found(storage: Storage) -> None:
    for code, listed, touched, ended in (("A", True, 1, None), ("B", False, 2, None), ("C", True, 3, 3.5)):
        storage.write(put(replace(ROW, code=code, listed=listed, touched=float(touched), ended=ended))).result()
    storage.write(put(replace(ROW, code="D", listed=True, touched=9.0)), put(SeatRow("D", 0, "open"))).result()
    found = storage.listed()
    assert [listing.room.code for listing in found] == ["D", "A"]
    assert found[0].seats == (SeatRow("D", 0, "open"),)
    assert [listing.room.code for listing in storage.listed(1)] == ["D"]


def test_rooms_that_nobody_touched_since_are_named_the_oldest_first(storage: Storage) -> None:
    for code, touched in (("A", 20.0), ("B", 10.0), ("C", 30.0)):
        storage.write(put(replace(ROW, code=code, touched=touched))).result()
    assert [code for code, *_ in storage.expired(30.0)] == ["B", "A"]
    storage.write(update_room("B", touched=50.0)).result()
    assert [code for code, *_ in storage.expired(30.0)] == ["A"]


def test_players_and_reviews_are_kept_and_can_be_changed(storage: Storage) -> None:
    rooms(storage, "ROOM")
    for name in ("Ann", "Anna"):
        storage.write(put(PlayerRow("ann", name, 5.0)), put(ReviewRow("ROOM", f"of {name}"))).result()
        assert (storage.player("ann"), storage.review("ROOM")) == (name, f"of {name}")


def test_a_secret_is_made_once_and_survives(path: Path) -> None:
    with Storage(path) as storage, ThreadPoolExecutor(8) as pool:
        made = set(pool.map(storage.secret, ["seats"] * 40))
        other = storage.secret("other")
    with Storage(path) as storage:
        assert made == {storage.secret("seats")}
    assert len(next(iter(made))) == 32
    assert other not in made


def test_ready_is_silent_while_the_storage_works_and_raises_when_it_does_not(path: Path) -> None:
    storage = Storage(path)
    with pytest.raises(PisteError, match="closed"):
        storage.ready()
    storage.open()
    storage.ready()
    storage.close()
    with pytest.raises(PisteError, match="closed"):
        storage.ready()


def test_ready_notices_a_storage_that_can_no_longer_be_written(storage: Storage, path: Path) -> None:
    storage.ready()
    connection = sqlite3.connect(path)
    connection.execute("CREATE TRIGGER no BEFORE UPDATE ON keys BEGIN SELECT RAISE(ABORT, 'no'); END")
    connection.close()
    with pytest.raises(PisteError, match="could not be kept"):
        storage.ready()


def test_a_write_is_on_the_disk_for_everybody_when_its_future_is_done(storage: Storage, path: Path) -> None:
    rooms(storage, "ROOM")
    other = sqlite3.connect(path)
    for n in range(50):
        storage.write(add_lines("ROOM", n, [str(n)])).result()
        assert other.execute("SELECT count(*) FROM lines").fetchone() == (n + 1,)
    assert other.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    other.close()


def test_every_commit_waits_for_the_disk(path: Path) -> None:
    found = []

    def commit(connection: Connection) -> None:
        found.append(connection.exec_driver_sql("PRAGMA synchronous").scalar())

    with Storage(path) as storage:
        event.listen(Engine, "commit", commit)
        try:
            rooms(storage, "ROOM")
        finally:
            event.remove(Engine, "commit", commit)
    assert found == [2]  # FULL


def test_what_waits_is_written_together_at_most_512_calls_at_a_time(storage: Storage) -> None:
    rooms(storage, "ROOM")
    with held(storage) as gate:
        waiting = [storage.write(add_lines("ROOM", n, [str(n)])) for n in range(1000)]
        assert not any(future.done() for future in waiting)
    assert all(future.exception() is None for future in waiting)
    assert kept(storage).lines == tuple(str(n) for n in range(1000))
    assert gate.commits in (3, 4)  # the one that was held, 512, 488, and the empty one that may go with these


def test_only_the_guilty_call_of_those_written_together_fails(storage: Storage) -> None:
    rooms(storage, "A", "B")
    with held(storage):
        good = [storage.write(add_lines("A", n, [str(n)])) for n in range(20)]
        guilty = storage.write(update_room("B", listed=True), add_lines("A", 3, ["again"]))
        foul = storage.write(put(PlayerRow("ann", "\ud800", 1.0)))
        good += [storage.write(add_lines("B", n, [str(n)])) for n in range(20)]
    assert isinstance(guilty.exception(), StorageError)
    assert isinstance(foul.exception(), StorageError)
    assert [future.exception() for future in good] == [None] * 40
    assert kept(storage, "A").lines == kept(storage, "B").lines == tuple(str(n) for n in range(20))
    assert kept(storage, "B").room.listed is False


def test_a_transaction_under_load_takes_along_what_comes_while_it_waits(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commits: list[object] = []
    monkeypatch.setattr(storage_module, "CALLS_WITHOUT_WAIT", 2)
    with Storage(path) as storage:
        rooms(storage, "A", "B")
        event.listen(storage._writer, "commit", commits.append)
        company = iter([add_lines("B", 0, ["0"])])
        also: list[Writing] = []
        monkeypatch.setattr(storage_module, "sleep", lambda _: also.extend(map(storage.write, company)))
        for n in range(4):  # the calls before have left some that do not wait
            storage.write(add_lines("A", n, [str(n)])).result(PATIENCE_S)
            if also:
                break
        also[0].result(PATIENCE_S)
        assert len(commits) == n + 1
        waits: list[float] = []
        monkeypatch.setattr(storage_module, "sleep", waits.append)
        for more in range(n + 1, n + 7):  # alone: the first waits, two do not, and so on
            storage.write(add_lines("A", more, [str(more)])).result(PATIENCE_S)
        assert len(waits) == 2


def test_a_thousand_writes_from_many_threads_are_all_there_in_order(storage: Storage) -> None:
    codes = [f"ROOM{i}" for i in range(20)]
    rooms(storage, *codes)

    def play(code: str) -> None:
        for future in [storage.write(RoomUpdate(code, n, {"touched": n}, n, [f"{code} {n}"])) for n in range(50)]:
            future.result()

    with ThreadPoolExecutor(20) as pool:
        for done in [pool.submit(play, code) for code in codes]:
            done.result()
    for code in codes:
        found = kept(storage, code)
        assert found.lines == tuple(f"{code} {n}" for n in range(50))
        assert found.room.touched == 49.0


def test_readers_see_whole_writes_only(storage: Storage) -> None:
    rooms(storage, "ROOM")
    stop = threading.Event()

    def look() -> int:
        looks = 0
        while not stop.is_set() or looks < 5:
            found = kept(storage)
            assert found.room.touched == (len(found.lines) or ROW.touched)
            looks += 1
        return looks

    with ThreadPoolExecutor(4) as pool:
        looking = [pool.submit(look) for _ in range(4)]
        wait([storage.write(RoomUpdate("ROOM", n, {"touched": n + 1}, n, ["x"])) for n in range(300)])
        stop.set()
        assert all(done.result() >= 5 for done in looking)
    assert len(kept(storage).lines) == 300


def test_a_write_that_nobody_waits_for_any_more_is_still_done(storage: Storage) -> None:
    rooms(storage, "ROOM")
    with held(storage):
        future = storage.write(add_lines("ROOM", 0, ["head"]))
        assert not future.cancel()
    assert kept(storage).lines == ("head",)


def test_no_error_tells_what_was_to_be_written(storage: Storage) -> None:
    rooms(storage, "ROOM")
    seed = "the-seed-of-this-game"
    for change in (
        add_lines("NOWHERE", 0, [seed]),
        put(ReviewRow("NOWHERE", seed)),
        add_lines("ROOM", 0, [seed + "\ud800"]),
    ):
        error = storage.write(change).exception()
        assert error is not None
        assert seed not in "".join(traceback.format_exception(error))
