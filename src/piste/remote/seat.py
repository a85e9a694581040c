"""A seat at a table of another computer: what it sees as a `SeatView`, and a bot or a program that plays there."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

from piste import bots
from piste.bots.messages import PROTOCOL, typed
from piste.core.dealer import Dealer
from piste.core.errors import BotError, PositionError
from piste.core.game import Game, find
from piste.core.protocols import HIDDEN, Event
from piste.core.views import Ending, LogEntry, SeatView
from piste.remote.client import Client, ConnectionLostError, Json, RemoteError, backoff


class RemoteSeat:
    """One seat. It keeps the log that it was told, so that each answer brings only what is new."""

    def __init__(self, client: Client, code: str, *, sleep: Callable[[float], None] = time.sleep) -> None:
        self.client = client
        self.code = code
        self._sleep = sleep
        self._log: list[LogEntry] = []
        self._hello: Json | None = None

    def hello(self) -> Json:
        """Return where the seat is, once the game has begun."""
        if self._hello is None:
            hello = self.client.see(self.code)["hello"]
            if hello is None:
                raise RemoteError("The game has not begun: somebody is still missing.")
            if hello.get("piste") != PROTOCOL:
                raise self._other_version()
            self._hello = hello
        return self._hello

    @property
    def game(self) -> Game:
        return find(str(self.hello()["game"]))

    def view(self) -> SeatView:
        """Return what the seat has before it, as a bot of this package is given it."""
        hello, rules = self.hello(), self.game.rules
        seats = list(hello["seats"])
        try:
            while True:
                answer = self.client.history(self.code, len(self._log))
                for entry in answer["entries"]:
                    self._log.append(LogEntry(Event(*entry["event"]), typed(rules.View, entry["view"])))
                if len(self._log) >= answer["length"]:
                    break
            position = typed(rules.View, answer["view"])
            return SeatView(
                game=self.game.name,
                options=position.options,
                seat=seats.index(hello["seat"]),
                number=answer["number"],
                kind=HIDDEN if answer["kind"] is None else answer["kind"],
                position=position,
                decisions=tuple(answer["decisions"]),
                actions=tuple(answer["actions"]),
                opening=typed(rules.View, answer["opening"]),
                log=tuple(self._log),
                origin=hello["origin"],
                counts=answer["counts"],
                ending=_ending(answer["ending"]),
            )
        except (PositionError, KeyError, TypeError, ValueError):
            raise self._other_version() from None

    def _other_version(self) -> RemoteError:
        return RemoteError(
            f"The server at {self.client.server} plays by another version of piste than this one. Use the same one."
        )

    def events(self, lost: Callable[[RemoteError], None] = lambda _: None) -> Iterator[Json]:
        """Yield what happens until the game is over, connecting again for as long as it takes.

        `lost` is called when a connection was lost, once until the next one.
        """
        waits, connected = backoff(), True
        while True:
            try:
                for message in self.client.events(self.code, len(self._log)):
                    waits, connected = backoff(), True
                    if message.get("type") == "bye" and message.get("reason") == "gone":
                        raise RemoteError("The table is gone: it was closed, or not used for too long.")
                    yield message
                    if message.get("type") == "end":
                        return
                raise ConnectionLostError(f"The server at {self.client.server} has closed the connection.")
            except RemoteError as e:
                if not e.temporary:
                    raise
                if connected:
                    lost(e)
                connected = False
                self._sleep(max(e.wait, next(waits)))


def play(
    seat: RemoteSeat,
    make_bot: Callable[[Game, Any], bots.Bot],
    tell: Callable[[Json], None] = lambda _: None,
    lost: Callable[[RemoteError], None] = lambda _: None,
) -> Ending:
    """Let a bot play a remote seat to the end of the game, and return how it ended.

    `make_bot` is called with the game and its options once these are known; `tell` with each message, `lost` when the
    connection was lost. A bot that fails resigns the game, and its error is raised. Whatever ends the play, the bot
    is closed.
    """
    bot: bots.Bot | None = None
    try:
        for message in seat.events(lost):
            tell(message)
            kind = message.get("type")
            if kind == "table":
                _take_back(seat, message["table"])
            elif kind in ("decide", "end"):
                view = seat.view()
                bot = bot or make_bot(seat.game, view.options)
                if view.ending is not None:
                    bots.finish(bot, view)
                    return view.ending
                _decide(seat, bot, view, int(message.get("random", 0)))
    except BotError:
        _resign(seat)
        raise
    finally:
        if bot is not None:
            bot.close()
    raise RemoteError("The game ended without a result.")


def _decide(seat: RemoteSeat, bot: bots.Bot, view: SeatView, random: int) -> None:
    """Let a bot decide, if it is still asked; what it leaves to chance comes from the number of the question."""
    if not view.actions:
        return
    action = bot.choose(view, Dealer(f"{seat.code} {random}").stream(bots.stream_name(view)))
    if action not in view.actions:
        raise BotError(f"The bot {bot.name} chose {action!r}, which is not one of its decisions.")
    try:
        seat.client.decide(seat.code, view.number, view.decisions[view.actions.index(action)])
    except RemoteError as e:
        if e.kind not in ("stale-decision", "not-now"):
            raise
        now = seat.client.see(seat.code, len(view.log))["now"]
        if now["type"] == "decide" and now["number"] == view.number:  # else the table has moved on meanwhile
            raise


def _take_back(seat: RemoteSeat, table: Json) -> None:
    """Take the seat back if a bot of the server stands in for it."""
    own = next((one for one in table["people"] if one["seat"] == table["seat"]), None)
    if own is not None and own["bot"] and table["stage"] == "playing":
        seat.client.take_back(seat.code)


def _resign(seat: RemoteSeat) -> None:
    with suppress(RemoteError):  # it is over, or the server is away: why the bot failed is what has to be said
        seat.client.resign(seat.code)


def _ending(data: Json | None) -> Ending | None:
    return None if data is None else Ending(data["winner"], data["reason"], tuple(data["payoffs"]))
