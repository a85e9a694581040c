"""What people and bots do in the rooms: sit down, decide, resign, ask for a hint or a rematch, come and go."""

from __future__ import annotations

import asyncio
import hashlib
import json
import secrets
import time
from collections.abc import Callable, Coroutine, Mapping
from typing import NamedTuple

from piste.bots import stream_name
from piste.core.contract import WATCHER
from piste.core.errors import NotOpen, PisteError, UnknownName
from piste.core.game import find, quoted
from piste.web import logs
from piste.web.metrics import Metrics
from piste.web.minds import Busy, Thinking, seed_of_bots
from piste.web.room import PERSON, Opener, Room, Seat, called, levels, usual_opener
from piste.web.rooms import CODE, LETTERS, Rooms
from piste.web.settings import Settings
from piste.web.store import (
    Change,
    DropSitter,
    PutPlayer,
    PutReview,
    PutRoom,
    PutSeat,
    PutSitter,
    RoomRow,
    SeatRow,
    SetListed,
    SetSuccessor,
    Store,
)

VERBS = frozenset(
    ("sit", "decide", "resign", "hint", "claim", "stand-in", "return", "fill", "rematch", "list", "unlist", "delete")
)


class Lots:
    """Where codes and tokens come from."""

    def code(self) -> str:
        """Return a code for a room: 80 bits."""
        return "".join(secrets.choice(LETTERS) for _ in range(CODE))

    def token(self) -> str:
        """Return a token for a device: 256 bits."""
        return secrets.token_urlsafe(32)


class Answer(NamedTuple):
    """What came of a request."""

    said: str = ""
    go: str = ""  # an address to go to


def player_of(token: str) -> str:
    """Return by what a device is known here: its token is not kept."""
    return hashlib.sha256(token.encode()).hexdigest()


class Hall(Rooms):
    """Everything that may be done in a room, by people and by bots."""

    def __init__(
        self,
        store: Store,
        minds: Thinking,
        settings: Settings,
        *,
        metrics: Metrics | None = None,
        clock: Callable[[], float] = time.time,
        lots: Lots | None = None,
        opener: Opener = usual_opener,
    ) -> None:
        super().__init__(store, settings, metrics or Metrics(), clock)
        self.minds = minds
        self.lots = lots or Lots()
        self.opener = opener
        self._tasks: set[asyncio.Task[None]] = set()
        self._thinking: set[str] = set()
        self._reviewing: set[str] = set()

    def woken(self, room: Room) -> None:
        self._think(room)

    def in_use(self, code: str) -> bool:
        return code in self._thinking or super().in_use(code)

    # Doing

    async def open(self, player: str, game: str, given: Mapping[str, str], name: str, versus: str) -> Room:
        """Open a room: against bots of a level, or with free seats for friends."""
        found = find(game)
        options = found.options(given)
        count = found.rules.seats(options)
        if versus != "friend" and versus not in levels(found):
            known = ", ".join(levels(found))
            raise UnknownName(f"There is no bot {quoted(versus)} for {found.notation.TITLE}. There are: {known}.")
        named = called(name) if name.strip() else ""
        seats = [Seat(PERSON, players=frozenset({player})), *[Seat()] * (count - 1)]
        room = Room(self.lots.code(), found.name, given, seats, host=player, now=self.clock())
        if named:
            room.place(0, seats[0]._replace(name=room.free_name(named)))  # a seat without a name has one too
        if versus != "friend":
            room.fill(player, versus)
        await self._begin(room, player, named)
        return room

    async def _begin(self, room: Room, player: str, named: str) -> None:
        self.hold(room)
        async with self.lock(room.code):
            room.seen = dict.fromkeys(room.people, self.clock())
            row = RoomRow(
                room.code, room.game.name, json.dumps(room.options), room.host, room.listed,
                room.created, room.touched, None, room.previous or None, room.successor or None,
            )  # fmt: skip
            changes: list[Change] = [PutRoom(row), *self._seat_rows(room)]
            changes += [PutSitter(room.code, i, p) for i, seat in enumerate(room.seats) for p in sorted(seat.players)]
            if named:
                changes += [PutPlayer(player, named, self.clock())]
            if room.full:
                room.deal(self.opener)
            await self.keep(room, *changes)
        logs.say("table opened", room=logs.room(room.code), game=room.game.name)
        self._think(room)

    @staticmethod
    def _seat_rows(room: Room) -> list[Change]:
        return [
            PutSeat(SeatRow(room.code, i, seat.kind, seat.name, seat.bot, seat.stand_in))
            for i, seat in enumerate(room.seats)
        ]

    async def do(self, code: str, player: str, verb: str, fields: Mapping[str, str]) -> Answer:
        """Carry out what somebody asks for in a room, and say what came of it."""
        if verb not in VERBS:
            raise UnknownName(f"{quoted(verb)} is nothing that can be done at a table.")
        if not player:
            raise NotOpen("This device is not known here yet. Reload the page, then sit down.")
        if verb == "hint":
            return await self._hint(code, player)
        async with self.room(code) as room:
            seat = room.seat_of(player)
            answer = await self._done(room, seat, player, verb, fields)
            self.wake(code)
        self._think(room)
        return answer

    async def _done(self, room: Room, seat: int, player: str, verb: str, fields: Mapping[str, str]) -> Answer:
        now, patience = self.clock(), self.settings.patience
        if verb == "sit":
            return await self._sit(room, player, fields.get("name", ""))
        if verb == "fill":
            level = fields.get("bot", "steady")
            if level not in levels(room.game):
                raise UnknownName(f"There is no bot {quoted(level)} for {room.game.notation.TITLE}.")
            room.fill(player, level)
            await self._deal_if_full(room)
            return Answer()
        if verb in ("list", "unlist"):
            room.set_listed(player, verb == "list")
            await self.keep(room, SetListed(room.code, room.listed))
            return Answer()
        if verb == "delete":
            return await self._delete(room, seat, player)
        if seat == WATCHER:
            raise NotOpen("You look on here: only those who sit at the table can do that.")
        self.seen(room, seat)
        if verb == "rematch":
            return await self._rematch(room, seat, player)
        changes: list[Change] = []
        said = ""
        if verb == "decide":
            before = room.version
            said = room.decide(seat, fields.get("decision", ""), read_number(fields.get("number", "")))
            if room.version == before:
                return Answer(said)  # sent twice, taken once
            self.metrics.decided(room.game.name)
        elif verb == "resign":
            room.resign(seat)
        elif verb == "claim":
            room.claim(seat, now, patience)
        elif verb == "stand-in":
            room.stand_in(seat, now, patience)
            changes = self._seat_rows(room)
        elif verb == "return":
            room.come_back(seat)
            changes = self._seat_rows(room)
        await self.keep(room, *changes)
        return Answer(said)

    async def _sit(self, room: Room, player: str, name: str) -> Answer:
        at = room.sit(player, name)
        self.seen(room, at)
        changes: list[Change] = [PutSitter(room.code, at, player)]
        if name.strip():
            changes += [PutPlayer(player, called(name), self.clock())]
        await self._deal_if_full(room, *changes)
        return Answer()

    async def _deal_if_full(self, room: Room, *changes: Change) -> None:
        if room.full and room.table is None:
            room.deal(self.opener)
        await self.keep(room, *self._seat_rows(room), *changes)

    async def arrive(self, room: Room, player: str) -> None:
        """Note that somebody is at the table; who had a place kept takes it. The caller holds the room."""
        seat = room.seat_of(player)
        self.seen(room, seat)
        if seat != WATCHER and room.arrive(seat):
            await self._deal_if_full(room)
            self.wake(room.code)
        room.stuck = ""  # who comes to a table where a bot could not answer lets it try again
        self._think(room)

    async def bind(self, code: str, seat: int, token: str, player: str) -> None:
        """Let another device have a seat, through the seat's private link."""
        async with self.room(code) as room:
            self.check_link(room, seat, token)
            if player in room.seats[seat].players:
                return
            if room.seat_of(player) != WATCHER:
                raise NotOpen("On this device you have another seat at this table.")
            room.place(seat, room.seats[seat]._replace(players=room.seats[seat].players | {player}))
            await self.keep(room, PutSitter(code, seat, player))

    async def _rematch(self, room: Room, seat: int, player: str) -> Answer:
        if not room.successor:
            following = Room(
                self.lots.code(), room.game.name, room.options, room.successors(seat),
                host=player, now=self.clock(), listed=room.listed, previous=room.code,
            )  # fmt: skip
            await self._begin(following, player, "")
            room.successor = following.code
            room.version += 1
            await self.keep(room, SetSuccessor(room.code, following.code))
        return Answer(go=f"/t/{room.successor}")

    async def _delete(self, room: Room, seat: int, player: str) -> Answer:
        """Take a game off somebody's list; when the last one has done that, it is gone."""
        if room.table is None and not room.is_host(player):
            raise NotOpen("Only whoever opened this table can close it.")
        if room.table is not None and seat == WATCHER:
            raise NotOpen("Only those who played can delete a game.")
        if room.running:
            raise NotOpen("The game goes on. Resign first, then it can be deleted.")
        others = [i for i, one in enumerate(room.seats) if i != seat and one.players]
        if room.table is None or not others:
            await self.drop(room.code)
            return Answer(go="/")
        gone = sorted(room.seats[seat].players)
        room.place(seat, room.seats[seat]._replace(players=frozenset()))
        await self.keep(room, *(DropSitter(room.code, seat, one) for one in gone))
        return Answer(go="/")

    # Thinking

    def _think(self, room: Room) -> None:
        """Let a bot decide, if it is for one to decide; one thought a room."""
        if room.thinker() is not None and room.code not in self._thinking:
            self._thinking.add(room.code)
            self._start(self._bots_play(room.code))

    def _start(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _bots_play(self, code: str) -> None:
        try:
            while True:
                async with self.room(code) as room:
                    due = room.thinker()
                    if room.table is None or due is None or room.stuck:
                        return
                    seat, level = due
                    view = room.table.view(seat)
                    seed = seed_of_bots(room.head.seed if room.head else None)
                    game, asked = room.game.name, room
                began = time.perf_counter()
                try:
                    chosen = await self.minds.choose(game, level, view, seed, stream_name(view))
                except Busy:
                    await asyncio.sleep(1.0)
                    continue
                except PisteError as e:
                    logs.warn("bot failed", game=game, level=level)
                    async with self.room(code) as room:
                        room.stuck = str(e)
                        room.version += 1
                        self.wake(code)
                    return
                self.metrics.thought(level, time.perf_counter() - began)
                async with self.room(code) as room:
                    # If what it thought of could not be kept, the room was read again: think again.
                    if room is asked and room.bot_decides(seat, chosen, view.number):
                        self.metrics.decided(game)
                        await self.keep(room)
                        self.wake(code)
        except PisteError:
            pass  # it could not be kept, or the room is gone: whoever looks next begins again
        finally:
            self._thinking.discard(code)

    async def _hint(self, code: str, player: str) -> Answer:
        async with self.room(code) as room:
            seat = room.seat_of(player)
            if seat == WATCHER:
                raise NotOpen("You look on here: hints are for those who play.")
            number = room.hinted(seat)
            if (seat, number) in room.hints:
                return Answer(room.hints[seat, number])
            assert room.table is not None
            view = room.table.view(seat)
            seed = seed_of_bots(room.head.seed if room.head else None)
            game = room.game.name
        began = time.perf_counter()
        level, chosen = await self.minds.hint(game, view, seed, f"hint {seat} {number}")
        self.metrics.thought("hint", time.perf_counter() - began)
        async with self.room(code) as room:
            said = room.give_hint(seat, number, level, chosen)
            if said:
                await self.keep(room)
                self.wake(code)
        return Answer(said)

    async def review(self, code: str) -> str | None:
        """Return the coach's review, or None while it is being made."""
        async with self.room(code) as room:
            record = room.record()
            kept = await asyncio.to_thread(self.store.review, code)
            if kept is None and code not in self._reviewing:
                self._reviewing.add(code)
                self._start(self._make_review(code, record))
            return kept

    async def _make_review(self, code: str, record: str) -> None:
        began = time.perf_counter()
        try:
            found = await self.minds.review(record)
            self.metrics.thought("review", time.perf_counter() - began)
        except Busy:
            self._reviewing.discard(code)
            return  # whoever asks again begins again
        except PisteError as e:
            found = json.dumps({"failed": str(e)})
        try:
            await asyncio.wrap_future(self.store.write(PutReview(code, found)))
        except PisteError:
            logs.warn("review not kept", room=logs.room(code))
        finally:
            self._reviewing.discard(code)

    # Old rooms, and the end

    async def expire(self) -> int:
        """Delete rooms that nobody has touched for as long as the setting says; return how many."""
        if not self.settings.keep_days:
            return 0
        old = await asyncio.to_thread(self.store.expired, self.clock() - 86400.0 * self.settings.keep_days)
        for code in old:
            await self.drop(code)
        if old:
            logs.say("old tables deleted", count=len(old))
        return len(old)

    def say_goodbye(self) -> None:
        """Tell everybody that the server stops and to come back."""
        for ears in self.ears.values():
            for ear in ears:
                ear.closing = True
                ear.wake()

    async def close(self) -> None:
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self.minds.close()


def read_number(text: str) -> int:
    """Return the number of a question as a client gave it."""
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise NotOpen("A decision must name the number of the question it answers. Look at the table again.")
    return int(text)
