"""Seats at tables of piste servers, over their API. The token of each is kept, so that it outlives this process."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
from pathlib import Path
from time import monotonic
from typing import Any

from piste.cli.commands.mcp.jobs import Jobs, Report
from piste.cli.commands.mcp.seat_text import event_lines, position_text
from piste.cli.commands.mcp.seated_game import RESIGN, Naming
from piste.core.errors import IllegalDecisionError, PisteError, StaleDecisionError, UnknownNameError
from piste.core.game import find, listed, quoted, tidy
from piste.core.paths import MCP_GAMES, data_folder
from piste.core.record import Record
from piste.core.views import SeatView
from piste.remote.client import Client, Json, read_link
from piste.remote.seat import RemoteSeat

PREFIX = "table"
PATIENCE_S = 20.0
"""For how long a request is sent again where a server is away or busy."""

FIRST_POLL_S, MAX_POLL_S = 0.25, 2.0
"""How often a server is asked whether it is the client's turn."""

MAX_TABLES = 100
"""How many seats are kept. Then the one that was taken first is forgotten."""

MAX_NAME = 24
KINDS = {"person": "a person", "program": "a program", "bot": "a bot"}


class RemoteGame:
    """A seat at a table of a server."""

    def __init__(self, name: str, client: Client, code: str, jobs: Jobs) -> None:
        self.name = name
        self.lock = asyncio.Lock()
        self._client, self._code, self._jobs = client, code, jobs
        self._seat = RemoteSeat(client, code)
        self._table: Json = {}
        self._view: SeatView | None = None
        self._decided = 0  # the step of the last decision that was taken here

    @property
    def view(self) -> SeatView:
        if self._view is None:
            raise IllegalDecisionError("The game has not begun: somebody is still missing at the table.")
        return self._view

    async def advance(self, report: Report, seconds: float | None = None, /) -> str:
        bound = self._jobs.wait_s if seconds is None else seconds
        began, pause = monotonic(), FIRST_POLL_S
        while True:
            await asyncio.to_thread(self._update)
            waiting = self._waiting_for()
            left = bound - (monotonic() - began)
            if not waiting or left <= 0:
                return waiting
            await asyncio.sleep(min(pause, left))
            pause = min(2 * pause, MAX_POLL_S)
            await report(round(monotonic() - began, 1), bound, waiting)

    async def decide(self, decision: str, question: int | None, /) -> None:
        if tidy(decision) == RESIGN:
            await asyncio.to_thread(self._client.resign, self._code)
        else:
            view = self.view
            await asyncio.to_thread(self._client.decide, self._code, view.number, self._read(decision, question))
            self._decided = len(view.log)

    def _read(self, decision: str, question: int | None) -> str:
        """Return the name of a decision, or refuse it as a table here would: the server's words are for programs."""
        view = self.view
        if view.ending is not None:
            raise IllegalDecisionError("You cannot decide: the game is over.")
        if question is not None and question != view.number:
            raise StaleDecisionError(
                f"That decision answers question {question}, but question {view.number} is open. Look again."
            )
        if not view.actions:
            raise IllegalDecisionError(f"You cannot decide now: {self._waiting_for()}.")
        legal = sum(1 << action for action in view.actions)
        action = find(view.game).read_decision(view.position, view.kind, legal, decision)
        return view.decisions[view.actions.index(action)]

    async def hint(self, _report: Report, /) -> str:
        raise IllegalDecisionError("There are no hints at a table of a server: others play there, too.")

    async def record(self) -> Record:
        if self.view.ending is None:
            raise IllegalDecisionError(f"{self.name} is not over: it can be reviewed at its end.")
        return Record.parse(await asyncio.to_thread(self._client.record, self._code))

    def look(self, thinking: str = "", /, *, whole_log: bool = False) -> str:
        game, own = find(str(self._table["game"])), self._table["seat"]
        # What others call themselves is quoted once: it must not be taken for what the game says.
        others = [
            f"{self._called(one)} is {KINDS.get(one['kind'], 'nobody yet')}"
            + (f" who says to be called {quoted(one['name'], MAX_NAME)}" if one["name"] else "")
            for one in self._table["people"]
            if one["seat"] != own
        ]
        seats = tuple(self._called(one) for one in self._table["people"])
        where = f"{game.notation.TITLE} at a table of {self._client.server}"
        lines = [f"{self.name}: {where}. You are {seats[own]}; {listed(others, 'and')}."]
        if thinking:
            lines.append(f"{thinking}. Look again to go on waiting.")
        if self._view is not None:
            if whole_log:
                lines += ["The whole log:", *(f"  {line}" for line in event_lines(game, self._view, seats))]
            lines.append(position_text(game, self._view, seats, self._decided))
            if self._view.ending is not None:
                lines.append(f'What each decision cost: review(game_id="{self.name}").')
        return "\n".join(lines)

    def _called(self, one: Json) -> str:
        return f"Player {find(str(self._table['game'])).seat_name(int(one['seat']))}"

    def _waiting_for(self) -> str:
        """Return who is waited for; "" if it is the client's turn, or nobody's any more."""
        if self._view is None:
            return "Somebody is still missing at the table"
        if self._view.ending is not None or self._view.actions:
            return ""
        actors = [self._called(one) for one in self._table["people"] if one["turn"]]
        return f"{listed(actors, 'and') or 'Somebody'} is thinking"

    def _update(self) -> None:
        """Ask the server what is there now."""
        before = (self._table.get("number"), self._table.get("stage"))
        self._table = self._client.see(self._code)["table"]
        if self._table["seat"] is None:
            raise PisteError("This seat is no longer yours: somebody else has taken it, or the table has begun anew.")
        own = next(one for one in self._table["people"] if one["seat"] == self._table["seat"])
        if own["bot"] and self._table["stage"] == "playing":  # a bot stood in while the client was away
            self._table = self._client.take_back(self._code)["table"]
        now = (self._table["number"], self._table["stage"])
        if self._table["stage"] != "waiting" and (self._view is None or now != before):
            self._view = self._seat.view()


class RemoteGames:
    """The seats that this server process, or an earlier one, has taken for its clients."""

    def __init__(self, jobs: Jobs, naming: Naming) -> None:
        self._jobs = jobs
        self._naming = naming
        self._open: dict[str, RemoteGame] = {}

    async def join(self, link: str, name: str) -> RemoteGame:
        """Take a seat at the table of a link."""
        found = read_link(link)
        client = Client(found.server, patience=PATIENCE_S)
        if found.seat is None:
            await asyncio.to_thread(client.sit, found.code, name)
        else:
            await asyncio.to_thread(client.take, found)
        kept = self._keep({"server": found.server, "code": found.code, "token": client.token})
        return self._seated(kept, client, found.code)

    def get(self, name: str) -> RemoteGame:
        """Return a seat by name, taken again if it was kept."""
        if name in self._open:
            return self._open[name]
        with contextlib.suppress(OSError, ValueError, KeyError):
            if self._naming.fits(name):
                kept: dict[str, Any] = json.loads(self._path(name).read_text(encoding="utf-8"))
                return self._seated(name, Client(kept["server"], kept["token"], patience=PATIENCE_S), kept["code"])
        raise UnknownNameError(f"There is no game {quoted(name)}. Take a seat with join.")

    def _seated(self, name: str, client: Client, code: str) -> RemoteGame:
        game = self._open[name] = RemoteGame(name, client, code, self._jobs)
        return game

    def _path(self, name: str) -> Path:
        return data_folder() / MCP_GAMES / f"{name}.json"

    def _keep(self, seat: dict[str, str]) -> str:
        """Write what names a seat into a file that only this user can read, and return its name."""
        folder = data_folder() / MCP_GAMES
        folder.mkdir(parents=True, exist_ok=True)
        number = 1
        while True:
            name = self._naming.candidate(PREFIX, number)
            with contextlib.suppress(FileExistsError):
                file = os.open(self._path(name), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
                with os.fdopen(file, "w", encoding="utf-8") as out:
                    json.dump(seat, out)
                break
            number += 1
        kept = sorted(folder.glob(f"{PREFIX}-*.json"), key=lambda path: (path.stat().st_mtime, path.stem))
        for old in kept[:-MAX_TABLES]:
            self._open.pop(old.stem, None)
            old.unlink(missing_ok=True)
        return name
