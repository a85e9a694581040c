"""Games against bots of one client: kept after every decision, opened again by name, limited in number."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import Mapping
from pathlib import Path

from piste import bots
from piste.bots import tasks
from piste.cli.commands.mcp.jobs import Jobs, Report
from piste.cli.commands.mcp.seat_text import event_lines, position_text
from piste.cli.commands.mcp.seated_game import RESIGN, Naming
from piste.cli.players import YOU
from piste.cli.saved_games import RecordFile, path_of
from piste.core.dealer import Dealer
from piste.core.errors import IllegalDecisionError, OptionError, PisteError, UnknownNameError
from piste.core.game import Game, find, listed, quoted, tidy
from piste.core.marks import Hint
from piste.core.paths import MCP_GAMES, data_folder
from piste.core.record import Head, Record, Recorder
from piste.core.replay import new_head, replay, seated
from piste.core.table import Table
from piste.core.views import SeatView

SEAT = 0
"""The client's seat in a game against bots."""

MAX_GAMES = 200
"""How many games are kept. Then the oldest that has ended makes room for a new one."""

MAX_IDLE_DAYS = 30
"""A running game that was not touched for so long makes room too."""


def kept_games_folder() -> Path:
    return data_folder() / MCP_GAMES


class LocalGame:
    """A game in which the client has one seat and bots have the others."""

    def __init__(
        self, name: str, head: Head, table: Table, recorder: Recorder, file: RecordFile | None, jobs: Jobs
    ) -> None:
        self.name = name
        self.lock = asyncio.Lock()  # one call at a time
        self.game = head.game
        self.table = table
        self.seats = head.seats
        self._levels = [head.notes.get(f"seat {seat}", bots.USUAL) for seat in range(1, table.seats + 1)]
        self._recorder = recorder
        self._file = file
        self._jobs = jobs
        self._dealer = Dealer(head.seed if head.seed is not None else "given")
        self._hinted = -1  # the number of the question for which a hint is on record

    @property
    def over(self) -> bool:
        return self.table.to_act is None

    @property
    def view(self) -> SeatView:
        return self.table.view(SEAT)

    async def record(self) -> Record:
        if not self.over:
            raise IllegalDecisionError(
                f"{self.name} is not over: a review would tell what is still secret. It can be reviewed at its end."
            )
        return Record.parse(self.table.record())

    def close(self) -> None:
        if self._file is not None:
            self._file.close()

    # What the client does

    async def decide(self, decision: str, question: int | None, /) -> None:
        if tidy(decision) == RESIGN:
            self.table.resign(SEAT)
        else:
            self.table.decide(SEAT, decision, question)
        if self.over:
            self.close()

    async def advance(self, report: Report, seconds: float | None = None, /) -> str:
        while self.table.to_act not in (None, SEAT):
            actor = self.table.to_act
            assert actor is not None
            view = self.table.view(actor).complete()
            level = self._levels[actor]
            key = (self.name, "bot", view.number)
            job = self._jobs.job(
                key, f"{self.seats[actor]} is thinking", tasks.choose,
                self.game.name, level, view, self._dealer.stream(bots.stream_name(view)),
                quick=not bots.asks_solver(level, self.game),
            )  # fmt: skip
            if not await self._jobs.finished(key, report, seconds):
                return job.state
            action = self._jobs.result(key)
            self._jobs.forget(key)
            self.table.decide(actor, action, view.number)
            if self.over:
                self.close()
        return ""

    async def hint(self, report: Report, /) -> str:
        view = self.view.complete()
        if not view.actions:
            raise IllegalDecisionError("There is nothing to decide for you now, so there is no hint.")
        level = bots.best(self.game, view.options, bots.MAX_DECISION_S).name
        key = (self.name, "hint", view.number)
        job = self._jobs.job(
            key, f"{bots.shown(self.game, level, view.options)} is thinking", tasks.choose,
            self.game.name, level, view, self._dealer.stream(f"hint {view.seat} {view.number}"),
            quick=not bots.asks_solver(level, self.game),
        )  # fmt: skip
        if not await self._jobs.finished(key, report):
            return f"There is no hint yet ({job.state}). Ask again to go on waiting, or decide without it."
        action = self._jobs.result(key)
        decision = view.decisions[view.actions.index(action)]
        if self._hinted != view.number:
            self._hinted = view.number
            self._recorder.mark(Hint(SEAT, decision))
        who = bots.described(self.game, level, view.options)
        return f"The bot {who} would choose {decision}. The record says that you asked."

    # What the client is told

    def look(self, thinking: str = "", /, *, whole_log: bool = False) -> str:
        others = [
            f"{self.seats[seat]} is the bot {bots.described(self.game, level, self.table.options)}"
            for seat, level in enumerate(self._levels)
            if seat != SEAT
        ]
        view = self.view
        lines = [f"{self.name}: {self.game.notation.TITLE}. You are {self.seats[SEAT]}; {listed(others, 'and')}."]
        if thinking:
            lines.append(f"{thinking}. Look again to go on waiting.")
        if whole_log:
            lines += ["The whole log:", *(f"  {line}" for line in event_lines(self.game, view, self.seats))]
        lines.append(position_text(self.game, view, self.seats, self._last_decision()))
        if self._file is not None and self._file.error:
            lines.append(self._file.error)
        if self.over:
            lines.append(f'What each decision cost: review(game_id="{self.name}").')
        return "\n".join(lines)

    def _last_decision(self) -> int:
        """Return the step of the client's last decision; 0 if it has not decided yet."""
        steps = [step for step, actor in enumerate(self.table.actors()) if actor == SEAT]
        return steps[-1] if steps else 0

    def introduction(self) -> str:
        """Return what is said once, before the first decision."""
        options = self.table.options
        slow = [
            f"{bots.shown(self.game, level, options)} may think for {slow} a decision."
            for level in dict.fromkeys(self._levels[SEAT + 1 :])
            if (slow := bots.slowness(level, self.game, options))
        ]
        return "\n".join([*self.game.tips(options), *self.game.changes(options), *slow])


class LocalGames:
    """The games of one server process, and those kept from earlier ones."""

    def __init__(self, jobs: Jobs, naming: Naming) -> None:
        self._jobs = jobs
        self._naming = naming
        self._open: dict[str, LocalGame] = {}

    def close(self) -> None:
        for game in self._open.values():
            game.close()
        self._open.clear()

    def begin(self, game: str, opponent: str, options: Mapping[str, int | str], seed: str | None) -> LocalGame:
        """Begin a game; its first line is on the disk before anything is told."""
        kind = find(game)
        settings = kind.options(options)
        level = read_level(kind, opponent)
        why = bots.refused(level, kind, settings)
        if why is not None:
            raise why
        head = new_head(kind, settings, seed=seed)
        notes = {f"seat {seat}": YOU if seat == SEAT + 1 else level for seat in range(1, len(head.seats) + 1)}
        head = head._replace(notes=notes)
        self._make_room()
        file = self._new_file(kind)
        table, recorder = seated(head, file.write)
        return self._seated(file.name, head, table, recorder, file)

    def get(self, name: str) -> LocalGame:
        """Return a game by name, opened again if it was kept."""
        name = name.strip()
        if name in self._open:
            return self._open[name]
        folder = kept_games_folder()
        if not self._naming.fits(name) or not path_of(name, folder).exists():
            raise UnknownNameError(f"There is no game {quoted(name)}.{self._advice()}")
        file = RecordFile(name, again=True, folder=folder)
        try:
            record = load_record(file.path)
            table, recorder = replay(record)
            file.go_on_after(len(record.text.encode()))
            recorder.attach(file.write, len(record.lines))
        except BaseException:
            file.close()
            raise
        return self._seated(name, record.head, table, recorder, file)

    def _seated(self, name: str, head: Head, table: Table, recorder: Recorder, file: RecordFile) -> LocalGame:
        game = self._open[name] = LocalGame(name, head, table, recorder, file, self._jobs)
        if game.over:
            game.close()
        return game

    def running(self) -> list[str]:
        """Return the names of the games that go on, where a client may know them."""
        return [name for name in self._names() if self._naming.listed and not is_over(name)]

    def _advice(self) -> str:
        running = self.running()
        return f" These are running: {', '.join(running)}." if running else " Begin one with new_game."

    def _names(self) -> list[str]:
        """Return the games that are kept for this kind of server, the oldest first."""
        with contextlib.suppress(OSError):
            paths = [path for path in kept_games_folder().glob("*.jsonl") if self._naming.fits(path.stem)]
            return [path.stem for path in sorted(paths, key=lambda path: (path.stat().st_mtime, path.stem))]
        return []

    def _new_file(self, kind: Game) -> RecordFile:
        """Return the file of a new game, under the next name that is free."""
        number = 1
        taken = set(self._names())
        while True:
            name = self._naming.candidate(kind.name, number)
            if name not in taken:
                try:
                    return RecordFile(name, folder=kept_games_folder())
                except FileExistsError:  # another process was quicker
                    pass
            number += 1

    def _make_room(self) -> None:
        """Delete the oldest games that have ended or were left, if there are too many."""
        kept = self._names()
        limit = time.time() - MAX_IDLE_DAYS * 86_400
        for name in kept:
            if len(kept) < MAX_GAMES:
                return
            path = path_of(name, kept_games_folder())
            if is_over(name) or path.stat().st_mtime < limit:
                game = self._open.pop(name, None)
                if game is not None:
                    game.close()
                path.unlink(missing_ok=True)
                kept = [other for other in kept if other != name]
        if len(kept) >= MAX_GAMES:
            raise PisteError(
                f"There are {MAX_GAMES} games that go on, and no room for another. Finish some of yours, or resign "
                'them: decide(game_id, decision="resign").'
            )


def load_record(path: Path) -> Record:
    from piste.api import load

    return load(path, mend=True)


def is_over(name: str) -> bool:
    """Say whether a kept game has ended, by the last line of its record."""
    try:
        *_, last = path_of(name, kept_games_folder()).read_bytes().splitlines() or [b""]
        return "ending" in json.loads(last)
    except (OSError, ValueError):  # a line that a crash cut off
        return False


def read_level(game: Game, opponent: str) -> str:
    """Return the level that is asked for. Programs and other code are not for a client to start."""
    if not bots.is_own(opponent, game):
        able = [bots.shown(game, level) for level in bots.playable(game)[0]]
        raise OptionError(
            f"There is no opponent {quoted(opponent)} in {game.notation.TITLE}. It is {listed(able, 'or')}."
        )
    return bots.level_of(opponent)
