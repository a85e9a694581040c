"""Everything a client may do at a table: open, sit, decide, resign, ask for a hint or a rematch, come and go."""

from __future__ import annotations

import contextlib
import hmac
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from piste import bots
from piste.core.errors import IllegalDecisionError, OptionError, PisteError, StaleDecisionError, UnknownNameError
from piste.core.game import Game, find, quoted
from piste.core.protocols import SPECTATOR
from piste.web import logging as logs
from piste.web.metrics import Metrics
from piste.web.middleware.rate_limits import Limits
from piste.web.network import Root
from piste.web.settings import Settings
from piste.web.storage.schema import SEAT_LINKS, Change, ConflictError, PlayerRow, put
from piste.web.storage.storage import Storage
from piste.web.storage.writing import UncertainError
from piste.web.tables import lessons
from piste.web.tables.again import decision_after, try_again
from piste.web.tables.bot_runner import BotRunner
from piste.web.tables.bot_tasks import LocalExecutor, QueueExecutor
from piste.web.tables.levels import check_level
from piste.web.tables.peers import Peers
from piste.web.tables.programs import ProgramQuota, code_for, random_number
from piste.web.tables.registry import TableNotFoundError, TableRegistry
from piste.web.tables.rematch import rematch
from piste.web.tables.retention import Retention
from piste.web.tables.room import MAX_DECISIONS, Opener, Room
from piste.web.tables.room_storage import unsaved
from piste.web.tables.seats import PERSON, RESERVED, Seat, clean_name
from piste.web.tables.tokens import TokenFactory, player_of, seat_bearer, seat_token
from piste.web.views.view_models import RenderContext, TableViewModel, view_model, viewer_of
from piste.web.workers.job_consumer import JobConsumer
from piste.web.workers.worker_pool import BotWorkers, WorkersBusyError

VERBS = frozenset((
    "sit", "decide", "resign", "hint", "claim", "stand-in", "return", "fill", "rematch", "list", "unlist", "delete",
    "new-link", "again", "skip",
))  # fmt: skip
VERBS_WITHOUT_SEAT = ("sit", "fill", "list", "unlist", "delete")  # for those, too, who have no seat at the table


class ActionResult(NamedTuple):
    """The result of an action."""

    message: str = ""
    redirect: str = ""  # an address to go to


MAX_STORED_ANSWERS = 4096
MAX_CONFLICTS = 10  # changes by other processes, one after another, before a request is refused
T = TypeVar("T")


class TableBusyError(WorkersBusyError):
    """Other processes change a table so often that a request never gets its turn."""

    def __init__(self) -> None:
        super().__init__("Very much happens at this table just now. Try again in a moment.")


@dataclass(eq=False)
class TableService:
    """Everything a client may do at a table; rooms are in the registry, bots in the bot runner."""

    storage: Storage
    _bot_workers: BotWorkers
    _settings: Settings
    _limits: Limits
    clock: Callable[[], float]  # wall time
    ticks: Callable[[], float]  # monotonic
    tokens: TokenFactory
    _opener: Opener

    def __post_init__(self) -> None:
        self.metrics = Metrics()
        self.registry = TableRegistry(self.storage, self._settings, self.metrics, self.clock, self.ticks)
        here = LocalExecutor(self.registry, self._bot_workers, self.storage, self.metrics, self.ticks)
        shared, limit = self.storage.shared, self._settings.max_queued_per_network
        slow = QueueExecutor(self.registry, self.storage, limit) if shared else here
        self.bot_runner = BotRunner(self.registry, self._bot_workers, self.storage, here, slow, self.ticks)
        self.jobs = JobConsumer(self.storage, self.registry, here, self.bot_runner, self._settings)
        self.peers = Peers(self.storage, self.registry, self._reread_link_key) if self.storage.shared else None
        # The last answers, by room, player and request, for a client that repeats a request on a new connection
        # because it got no answer.
        self.answers: dict[tuple[str, str, str], dict[str, Any]] = {}
        self._retention = Retention(self.storage, self.registry, self._settings, self.clock, self.ticks)
        self._program_quota = ProgramQuota(self.registry, self._settings)
        self._link_key = self.storage.secret(SEAT_LINKS)

    async def _reread_link_key(self) -> None:
        """Use the key of private links that is stored now; pages show the links that are made of it."""
        key = await self.storage.read(self.storage.secret, SEAT_LINKS)
        if key != self._link_key:
            self._link_key = key
            for room in self.registry.rooms.values():
                self.registry.show(room)

    @asynccontextmanager
    async def room(self, code: str) -> AsyncIterator[Room]:
        """Lend a room to one caller at a time; a bot whose turn it is begins to decide."""
        async with self.registry.room(code) as room:
            self.bot_runner.play(room)
            yield room

    def keep_answer(self, code: str, player: str, request: str, answer: dict[str, Any]) -> None:
        if player and request:
            self.answers[code, player, request] = answer
        if len(self.answers) > MAX_STORED_ANSWERS:
            del self.answers[next(iter(self.answers))]

    # What a client sees

    def view_model(self, room: Room, player: str, root: Root) -> TableViewModel:
        """Return what a device is shown of a room; the caller holds the room."""
        viewer = viewer_of(room, player)
        link = ""
        if viewer.seat != SPECTATOR:
            link = f"{root.text}/s/{room.code}/{viewer.seat}/{self._seat_token(room, viewer.seat)}"
        return view_model(room, viewer, self.context(root, link))

    def context(self, root: Root, seat_link: str = "") -> RenderContext:
        """Return what the server adds to what a client sees."""
        return RenderContext(self.ticks(), self._settings.patience, root, seat_link)

    def _seat_token(self, room: Room, seat: int) -> str:
        """Return the secret part of a seat's private link."""
        return seat_token(self._link_key, room.code, seat, room.seats[seat].link)

    def check_link(self, room: Room, seat: int, token: str) -> None:
        """Refuse a private link that is not valid."""
        if (
            not 0 <= seat < len(room.seats)
            or not hmac.compare_digest(token.encode(), self._seat_token(room, seat).encode())
            or room.seats[seat].kind not in (PERSON, RESERVED)
        ):
            raise TableNotFoundError("This private link does not fit any seat. Copy it again on the other device.")

    # Actions

    async def open(
        self, player: str, game: str, chosen: Mapping[str, str], name: str, versus: str, network: str = "", *,
        program: bool = False, code: str = "",
    ) -> Room:  # fmt: skip
        """Open a room: against bots of a level, with free seats for other players, or a lesson.

        A person has its first seat, or a `program`; no other room has the `code`, if one is given.
        """
        versus = bots.level_of(versus)
        entry = find(game)
        if versus == lessons.LESSON:
            return await self._open_lesson(player, entry, name, network)
        options = entry.options(chosen)
        if getattr(options, "turns", 0) > MAX_DECISIONS:
            raise OptionError(f"A table in the browser carries up to {MAX_DECISIONS} turns; 'turns' cannot be more.")
        count = entry.rules.seats(options)
        if versus != "friend":
            check_level(versus, entry, options)
        named = clean_name(name) if name.strip() else ""
        seats = [Seat(PERSON, players=frozenset({player}), program=program), *[Seat()] * (count - 1)]
        now = self.clock()
        room = Room(code or self.tokens.code(), entry, chosen, seats, player, created=now, touched=now)
        if named:
            room.place(0, seats[0]._replace(name=room.free_name(named)))  # a seat without a name has one too
        if versus != "friend":
            room.fill(player, versus)
        await self._begin(room, player, named, network)
        return room

    async def _open_lesson(self, player: str, game: Game, name: str, network: str) -> Room:
        """Open a first game that teaches: its deal is laid, and it does not count (G8)."""
        if game.lesson is None:
            raise UnknownNameError(
                f"{game.notation.TITLE} has no first game that teaches. Its rules say how it goes."
            )
        named = clean_name(name) if name.strip() else ""
        room = lessons.new_room(self.tokens.code(), game, game.lesson.LESSON, player, named, self.clock())
        await self._begin(room, player, named, network)
        return room

    async def _skip(self, room: Room, seat: int, player: str) -> ActionResult:
        """Leave a lesson for a real game against the same bot; nothing is kept of the lesson."""
        lesson = lessons.lesson_at(room)
        if lesson is None:
            raise IllegalDecisionError("This is no first game that teaches, so there is nothing to skip.")
        following = await self.open(player, room.game.name, {}, room.seats[seat].name, lesson.bot, room.network)
        await self.registry.delete(room.code)
        return ActionResult(redirect=f"/t/{following.code}")

    async def _begin(self, room: Room, player: str, named: str, network: str, *more: Change) -> None:
        """Add and store a new room; here the rate limit of new tables applies."""
        seat = room.seat_of(player)
        if not room.attended:
            self._program_quota.require(network)
        by_program = seat != SPECTATOR and room.seats[seat].program
        self._limits.require("program rooms" if by_program else "rooms", network)
        room.network = network
        self.registry.add(room)
        async with self.registry.lock(room.code):
            room.used = self.ticks()
            room.seen = dict.fromkeys(room.people, room.used)
            await self._save(room, *self._named(player, named), *more)
        logs.info("table opened", room=logs.room_hash(room.code), game=room.game.name)
        self.bot_runner.prepare(room)
        self.bot_runner.play(room)

    async def perform(
        self,
        code: str,
        player: str,
        verb: str,
        fields: Mapping[str, str],
        network: str = "",
        *,
        program: bool = False,
    ) -> ActionResult:
        """Carry out an action of a player in a room; whoever sits down may be a program."""
        if verb not in VERBS:
            raise UnknownNameError(f"{quoted(verb)} is nothing that can be done at a table.")
        if not player:
            raise IllegalDecisionError("This device is not known here yet. Reload the page, then sit down.")
        if verb == "hint":
            return ActionResult(await self.bot_runner.hint(code, player))

        compared = not self.storage.shared

        async def carry_out(room: Room) -> ActionResult:
            nonlocal compared
            if not compared and is_behind(room, verb, fields):
                compared = True
                versions = await self.storage.read(self.storage.versions, [code])
                if versions.get(code, room.stored_version) != room.stored_version:
                    self.registry.read_again(code)
                    raise ConflictError
            seat = room.seat_of(player)
            if seat != SPECTATOR:
                room.network = network
            if program and seat == SPECTATOR and verb == "sit":
                self._program_quota.require_for(room, None, network)
            return await self._carry_out(room, seat, player, verb, fields, program=program)

        try:
            return await self._change(code, carry_out)
        finally:
            if code in self.registry.rooms:  # also when the client has disconnected meanwhile
                self.bot_runner.play(self.registry.rooms[code])

    async def _change(self, code: str, change: Callable[[Room], Awaitable[T]]) -> T:
        """Change a room. If another process was first, it is changed anew, as if this had come later."""
        for _ in range(MAX_CONFLICTS):
            try:
                async with self.registry.lock(code):  # as `room` does, with less work for every decision
                    room = await self.registry.latest(code)
                    self.bot_runner.play(room)
                    return await change(room)
            except ConflictError:
                continue
        raise TableBusyError

    async def _carry_out(
        self, room: Room, seat: int, player: str, verb: str, fields: Mapping[str, str], *, program: bool
    ) -> ActionResult:
        if verb not in VERBS_WITHOUT_SEAT:
            if seat == SPECTATOR:
                raise IllegalDecisionError("You look on here: only those who sit at the table can do that.")
            self.registry.mark_seen(room, seat)
        if verb in ("claim", "stand-in"):
            await self.registry.refresh_presence(room)
        now, patience, said = self.ticks(), self._settings.patience, ""
        changes: list[Change] = []
        if verb == "sit":
            name = fields.get("name", "")
            self.registry.mark_seen(room, room.sit(player, name, program=program))
            changes = self._named(player, clean_name(name) if name.strip() else "")
        elif verb == "fill":
            level = bots.level_of(fields.get("bot", "steady"))
            check_level(level, room.game, room.game.options(room.options))
            room.fill(player, level)
        elif verb in ("list", "unlist"):
            room.set_listed(player, verb == "list")
        elif verb == "delete":
            return await self._delete(room, seat, player)
        elif verb == "rematch":
            return await self._rematch(room, seat, player, bots.level_of(fields.get("bot", "")))
        elif verb == "again":
            return await self._try_again(room, seat, player, fields)
        elif verb == "skip":
            return await self._skip(room, seat, player)
        elif verb == "new-link":
            room.revoke_link(seat, player)
            said = "The old link is worthless now, and only this device has your seat."
        elif verb == "decide":
            before = room.version
            said = room.decide(seat, fields.get("decision", ""), read_number(fields.get("number", "")))
            if room.version == before:
                return ActionResult(said)  # sent twice, taken once
            self.metrics.decisions_of(room.game.name).inc()
        elif verb == "resign":
            room.resign(seat)
        elif "number" in fields and room.table is not None and read_number(fields["number"]) != room.table.number:
            raise StaleDecisionError("The table has moved on since then. Look again.")
        elif verb == "claim":
            room.claim(seat, now, patience)
        elif verb == "stand-in":
            room.stand_in(seat, now, patience)
        elif verb == "return":
            room.come_back(seat)
        await self._save(room, *changes)
        if verb == "fill":
            self.bot_runner.prepare(room)
        return ActionResult(said)

    def _named(self, player: str, name: str) -> list[Change]:
        """Return what stores the name of a player, if one was given."""
        return [put(PlayerRow(player, name, self.clock()))] if name else []

    async def _save(self, room: Room, *changes: Change) -> None:
        """Store a room, after the deal if its last seat was taken."""
        if room.full and room.table is None:
            room.deal(self._opener)
        await self.registry.save(room, *changes)

    @asynccontextmanager
    async def visit(self, code: str, player: str, network: str = "") -> AsyncIterator[Room]:
        """Lend a room to a player who is at the table now, and takes a seat that was reserved."""
        async with self.room(code) as held:
            room, seat = held, held.seat_of(player)
            for _ in range(MAX_CONFLICTS):
                if seat == SPECTATOR or not room.arrive(seat):
                    break
                try:
                    await self._save(room)
                except ConflictError:  # somebody else has arrived elsewhere
                    room = await self.registry.catch_up(room)
                    seat = room.seat_of(player)
            else:
                raise TableBusyError
            if seat != SPECTATOR:
                room.network = network
            self.registry.mark_seen(room, seat)
            if room.stuck:  # a bot that could not decide tries again when a player arrives
                room.stuck, room.bots_elsewhere = "", 0.0
            self.bot_runner.play(room)
            yield room

    async def bind(self, code: str, seat: int, token: str, player: str, *, program: bool = False) -> None:
        """Let another device have a seat, or a program, through the seat's private link."""

        async def bound(room: Room) -> None:
            self.check_link(room, seat, token)
            if player in room.seats[seat].players:
                return
            if room.seat_of(player) != SPECTATOR:
                raise IllegalDecisionError("On this device you have another seat at this table.")
            if program:
                self._program_quota.require_for(room, seat, room.network)
            room.admit(seat, player, program=program)
            await self.registry.save(room)

        await self._change(code, bound)

    async def connect(self, code: str, player: str) -> str:
        """Let a program have a player's seat, too; return its token, which is stored nowhere."""
        token = seat_bearer(self.tokens.token())

        async def connected(room: Room) -> None:
            seat = room.seat_of(player)
            if seat == SPECTATOR:
                raise IllegalDecisionError("You look on here: only those who sit at the table can connect a program.")
            if room.over:
                raise IllegalDecisionError("The game is over: there is nothing to decide for a program.")
            self._program_quota.require_for(room, seat, room.network)
            room.admit(seat, player_of(token), program=True)
            await self.registry.save(room)

        await self._change(code, connected)
        return token

    def random_number(self, room: Room, seat: int, number: int) -> int:
        """Return what a seat is given to take its luck from, for a question."""
        return random_number(self._link_key, room, seat, number)

    def code_for(self, player: str, request: str) -> str:
        """Return the code of the room that a player opens by this request."""
        return code_for(self._link_key, player, request)

    async def _rematch(self, room: Room, seat: int, player: str, level: str) -> ActionResult:
        if not room.successor:
            following = rematch(room, self.tokens.code(), player, seat, level, self.clock())
            # Both rooms are stored or neither, even if the client disconnects: or there could be two rematches.
            room.successor, room.rematch_by = following.code, seat
            try:
                await self._begin(following, player, "", room.network, *unsaved(room, self.storage.sender))
            except Exception as e:
                self.registry.remove(following.code)
                room.successor, room.rematch_by = None, SPECTATOR
                room.stale = isinstance(e, ConflictError | UncertainError)
                raise
            room.written(room.stored_version + 1)
            self.registry.show(room)
        return ActionResult(redirect=f"/t/{room.successor}")

    async def _try_again(self, room: Room, seat: int, player: str, fields: Mapping[str, str]) -> ActionResult:
        """Open a table with the same deal, up to a decision: the one of that `number`, or after so many `step`s."""
        if "step" in fields:
            number = decision_after(room, seat, read_number(fields["step"]))
        else:
            number = read_number(fields.get("number", ""))
        again = try_again(room, self.tokens.code(), player, seat, number, self.clock())
        for level in sorted({one.bot for one in again.seats if one.bot}):
            check_level(level, room.game, room.game.options(room.options))
        await self._begin(again, player, "", room.network)
        return ActionResult(redirect=f"/t/{again.code}")

    async def _delete(self, room: Room, seat: int, player: str) -> ActionResult:
        """Remove a game from a player's list; when the last player has done that, it is deleted."""
        if room.table is None and not room.is_host(player):
            raise IllegalDecisionError("Only whoever opened this table can close it.")
        if room.table is not None and seat == SPECTATOR:
            raise IllegalDecisionError("Only those who played can delete a game.")
        if room.to_act is not None:
            raise IllegalDecisionError("The game goes on. Resign first, then it can be deleted.")
        others = [i for i, one in enumerate(room.seats) if i != seat and one.players]
        if room.table is None or not others:
            await self.registry.delete(room.code, room.stored_version)
            if room.table is None and room.previous:
                await self._forget_rematch(room.previous, room.code)
        else:
            room.place(seat, room.seats[seat]._replace(players=frozenset()))
            if room.rematch_by == seat:  # of somebody without a seat, who reads the room again knows none
                room.rematch_by = SPECTATOR
            await self.registry.save(room)
        return ActionResult(redirect="/")

    async def _forget_rematch(self, code: str, successor: str) -> None:
        """Let the players of a game ask for a rematch again: the one that was asked for is closed."""

        async def forget(room: Room) -> None:
            if room.successor == successor:
                room.successor, room.rematch_by = None, SPECTATOR
                room.version += 1
                await self.registry.save(room)

        with contextlib.suppress(TableNotFoundError):
            await self._change(code, forget)

    async def metrics_text(self) -> bytes:
        """Return all metrics, with those of the queue as it is now."""
        if self.storage.shared:
            with contextlib.suppress(PisteError):  # the database is away: the others are told all the same
                self.metrics.note_jobs(*await self.storage.read(self.storage.jobs))
        return self.metrics.text()

    # Old rooms

    async def expire(self) -> int:
        """Delete rooms without a change for as long as the setting says; return their number."""
        return await self._retention.expire()


def is_behind(room: Room, verb: str, fields: Mapping[str, str]) -> bool:
    """Say whether a client answers a later question than this process knows: another one has shown it."""
    return verb == "decide" and room.table is not None and read_number(fields.get("number", "")) > room.table.number


def read_number(text: str) -> int:
    """Return the number of a question from a request."""
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise IllegalDecisionError(
            "A decision must name the number of the question it answers. Look at the table again."
        )
    return int(text)
