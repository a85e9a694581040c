"""What leaves the server for a seat is the same, byte for byte, in games that the seat cannot tell apart.

Everything is played through the application: pages, sockets, polling, lists, refusals. Codes, tokens, clock, bots and
the commitment are given, and the same; seed and salt differ. Which histories a seat cannot tell apart is said by
tests/test_secrecy.py, from the rules alone.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pytest

from piste.core.dealer import ChanceSource, Commitment
from piste.core.errors import IllegalDecisionError, PisteError
from piste.core.game import find
from piste.core.protocols import CHANCE, SPECTATOR
from piste.core.record import Head
from piste.core.views import SeatView
from piste.web.storage.schema import PlayerRow, put
from piste.web.tables.room import Room, default_opener
from piste.web.tables.tokens import player_of
from piste.web.views import view_models
from tests.game_setups import FULL, ODD, Kind, games, walked
from tests.sizes import sized, slow_if
from tests.test_secrecy import HIDING, OPEN, GoesOn, another_history, prefixes
from tests.web.in_process_server import CountedTokens, Device, InProcessServer

NAMES = ("Ada", "Ben", "Cleo", "Dan")
LONGEST = 24
"""Decisions of a history that are played here; the screens of longer ones are compared without a server."""

Heard = dict[int, list[bytes]]
"""What each audience was sent, in order."""


def seats_of(kind: Kind) -> int:
    return find(kind.game).rules.seats(find(kind.game).options(kind.options))


class Episode:
    """One history played at a table of a house, and all that was sent meanwhile."""

    def __init__(self, house: InProcessServer, kind: Kind, steps: tuple[int, ...], people: int, secret: str) -> None:
        rules = find(kind.game).rules
        taken = [(rules.to_act(s), step) for s, step in walked(kind, steps) if step is not None]
        self.house, self.kind, self.steps, self.secret = house, kind, steps, secret
        self.chance = [step for actor, step in taken if actor == CHANCE]
        self.decided = [(actor, step) for actor, step in taken if actor >= 0]
        self.devices = {at: Device(house, f"{at:p>43}") for at in range(people)}
        self.watcher = Device(house)
        self.heard: Heard = {at: [] for at in (*range(people), SPECTATOR)}

    def opened(self, room: Room) -> tuple[Head, ChanceSource]:
        head, _ = default_opener(room)
        salt = blake2b(self.secret.encode()).hexdigest()[:64]
        return head._replace(seed=self.secret, commitment=Commitment("c" * 64, salt)), GoesOn(
            self.chance, self.secret
        )

    async def think(self, _game: str, _level: str, view: SeatView) -> int:
        if view.number >= len(self.decided):
            raise PisteError("The bot has stopped here.")
        return self.decided[view.number][1]

    async def run(self, moments: random.Random) -> Heard:
        house, everybody = self.house, {**self.devices, SPECTATOR: self.watcher}
        house.service.tokens = CountedTokens()
        house.opener, house.bot_workers.choosing = self.opened, self.think
        known = [put(PlayerRow(player_of(one.token), NAMES[at], 1.0)) for at, one in self.devices.items()]
        house.storage.write(*known).result()
        options = {f"option-{key}": str(value) for key, value in self.kind.options.items()}
        code = await self.devices[0].opens(self.kind.game, name=NAMES[0], **options)
        await self.say(0, "list", code)
        sockets = {
            SPECTATOR: await self.watcher.connect(code, step=0),
            0: await self.devices[0].connect(code, step=0),
        }
        for at, device in self.devices.items():
            if at:
                await self.ask(at, f"/t/{code}")  # at the door
                await self.say(at, "sit", code, name=NAMES[at])
                sockets[at] = await device.connect(code, step=0)
        if len(self.devices) < seats_of(self.kind):
            await self.say(0, "fill", code, bot="steady")
        await self.play(code, moments)
        table = house.room(code).table
        assert table is not None
        assert table.history() == self.steps
        for at in everybody:
            await self.look(at, code)
        await self.afterwards(code)
        for at, socket in sockets.items():
            await socket.leave()
            self.heard[at] += [text.encode() for text in socket.sent]
        await house.service.registry.delete(code)
        return self.heard

    async def afterwards(self, code: str) -> None:
        """Whatever else is to be done at the table before it is closed."""

    async def play(self, code: str, moments: random.Random) -> None:
        for number, (actor, step) in enumerate(self.decided):
            room = self.house.room(code)
            assert room.table is not None
            if moments.random() < 0.3:
                await self.meddle(moments.choice(sorted(self.heard)), code, number, moments)
            if actor in self.devices:
                view = room.table.view(actor)
                name = view.decisions[view.actions.index(step)]
                await self.say(actor, "decide", code, decision=name, number=str(number))
                if moments.random() < 0.1:  # sent again
                    await self.say(actor, "decide", code, decision=name, number=str(number))

    async def meddle(self, at: int, code: str, number: int, moments: random.Random) -> None:
        """Ask for what is refused, and look around."""
        for decision, question in (("keep", number + 1), ("no such", number), ("", number - 1), ("*", number)):
            await self.say(at, "decide", code, decision=f"{decision}!", number=str(question))
        await self.say(at, moments.choice(("claim", "stand-in", "rematch", "fill", "delete", "hint")), code)
        await self.say(at, "again", code, **{moments.choice(("number", "step")): str(moments.randrange(number + 2))})
        await self.ask(at, f"/t/{code}/news?since={moments.randrange(9)}&step={moments.randrange(-1, 9)}")

    async def look(self, at: int, code: str) -> None:
        for what in ("", "/news", "/qr.svg", "/record", "/replay?step=2&seat=0", "/review", "/socket", "/decide"):
            await self.ask(at, f"/t/{code}{what}")
        await self.ask(at, f"/t/{code}/analyse?step={len(self.decided)}&seat={max(at, 0)}")
        around = ("/", "/watch", "/games", f"/g/{self.kind.game}", "/puzzles", "/analysis", "/progress")
        for page in (*around, "/readyz", "/healthz"):
            await self.ask(at, page)
        await self.meddle(at, code, len(self.decided), random.Random(at))

    async def ask(self, at: int, path: str) -> None:
        got = await (self.devices | {SPECTATOR: self.watcher})[at].get(path)
        await self.house.settle()
        self.heard[at].append(repr(got).encode())

    async def say(self, at: int, verb: str, code: str, **fields: str) -> None:
        got = await (self.devices | {SPECTATOR: self.watcher})[at].post(f"/t/{code}/{verb}", fields)
        await self.house.settle()
        self.heard[at].append(repr(got).encode())


async def heard(
    house: InProcessServer, kind: Kind, steps: tuple[int, ...], people: int, secret: str, case: object,
    episode: type[Episode] = Episode,
) -> Heard:  # fmt: skip
    return await episode(house, kind, steps, people, secret).run(random.Random(repr(case)))


def cut(kind: Kind, seed: object, chooser: random.Random) -> tuple[int, ...]:
    """Return a random game up to one of its first decisions."""
    for more in range(1000):
        found = prefixes(kind, f"{seed} {more}")[:LONGEST]
        if found:  # some are over with their deal
            return chooser.choice(found)
    raise AssertionError(f"{kind} has no decisions")


async def retold(
    house: InProcessServer, kind: Kind, seed: int, episode: type[Episode] = Episode
) -> tuple[int, list[int]]:
    """Play a history and retellings of it; return how many there were, and who could tell one from the first."""
    chooser = random.Random(f"{kind} {seed}")
    steps = cut(kind, f"web secrets {seed}", chooser)
    people = chooser.choice((1, *[seats_of(kind)] * 3))
    case = (str(kind), seed, people)
    found, first, caught = 0, None, []
    for audience in (SPECTATOR, *range(people)):
        other = another_history(kind, steps, audience, chooser)
        if other is not None:
            found += 1
            first = first or await heard(house, kind, steps, people, "one", case, episode)
            again = await heard(house, kind, other, people, "another", case, episode)
            if first[audience] != again[audience]:
                caught.append(audience)
    return found, caught


@pytest.mark.parametrize("kind", HIDING, ids=str)
async def test_what_is_sent_to_a_seat_is_the_same_in_games_it_cannot_tell_apart(
    house: InProcessServer, kind: Kind
) -> None:
    found = 0
    wanted = games(2) // 100 + sized(1, 2)
    for seed in range(40 * wanted):
        more, caught = await retold(house, kind, seed)
        assert not caught, f"{kind} {seed}: {caught} can tell them apart"
        found += more
        if found >= wanted:
            return
    assert found, "no second history was ever found: the test would show nothing"


@pytest.mark.parametrize("kind", slow_if(lambda kind: kind in ODD, [*FULL, *ODD]), ids=str)
async def test_nothing_is_sent_of_the_seed_or_of_what_it_will_bring(house: InProcessServer, kind: Kind) -> None:
    assert kind in (*HIDING, *OPEN)
    for seed in range(games(1) // 100 + 1):
        chooser = random.Random(f"{kind} {seed}")
        steps, people = cut(kind, f"web future {seed}", chooser), chooser.choice((1, seats_of(kind)))
        first, second = [
            await heard(house, kind, steps, people, future, (str(kind), seed)) for future in ("one", "another")
        ]
        assert first == second
        assert min(map(len, first.values())) > 10


# The test itself must be able to fail: each of these lets something out that it must notice.


def position(room: Room) -> str:
    assert room.table is not None
    return room.table.position_text()


def in_status(monkeypatch: pytest.MonkeyPatch) -> None:
    right = view_models.status
    monkeypatch.setattr(
        view_models, "status", lambda room, *more: right(room, *more) + (position(room) if room.table else "")
    )


def in_scene(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draws the table as its second seat sees it, for everybody."""
    right: Callable[..., Any] = view_models.view_model

    def leaky(room: Room, who: view_models.Viewer, house: view_models.RenderContext) -> Any:
        drawn = right(room, who, house)
        other = (who.seat + 1) % len(room.seats)
        if room.table is None:
            return drawn
        view = view_models.untouchable(room.table.view(other))
        return drawn._replace(areas=view_models.scene(room.game, view, room.names()))

    monkeypatch.setattr("piste.web.tables.service.view_model", leaky)


def in_refusals(monkeypatch: pytest.MonkeyPatch) -> None:
    def leaky(room: Room, *_: Any) -> str:
        raise IllegalDecisionError(f"That cannot be decided at {position(room)}.")

    right = Room.decide
    monkeypatch.setattr(
        Room, "decide", lambda room, seat, said, number: (leaky if "!" in said else right)(room, seat, said, number)
    )


@pytest.mark.parametrize("leak", [in_status, in_scene, in_refusals], ids=lambda leak: leak.__name__)
@pytest.mark.parametrize("game", ["zero-sum-duel", "positive-negative", "mccoy-duel"])
async def test_a_leak_is_noticed(
    house: InProcessServer, game: str, leak: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    leak(monkeypatch)
    kind = next(kind for kind in HIDING if kind.game == game)
    for seed in range(40):
        if (await retold(house, kind, seed))[1]:
            return
    raise AssertionError("a leak went unnoticed")


@pytest.mark.parametrize("what", ["seed", "salt"])
async def test_a_seed_or_salt_that_is_shown_too_early_is_noticed(
    tmp_path: Path, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = view_models.status

    def leaky(room: Room, *more: Any) -> str:
        if room.head is None or room.head.commitment is None:
            return right(room, *more)
        return str(room.head.seed if what == "seed" else room.head.commitment.salt)

    monkeypatch.setattr(view_models, "status", leaky)
    kind = FULL[0]
    async with InProcessServer(tmp_path / "leaky.db") as house:
        steps = cut(kind, "early", random.Random(1))
        first, second = [await heard(house, kind, steps, 2, secret, 0) for secret in ("one", "another")]
        assert all(first[at] != second[at] for at in first)
