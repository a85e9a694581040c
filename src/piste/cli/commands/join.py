"""`piste join`: a bot or a program of this computer plays at a table of another one."""

from __future__ import annotations

import argparse
import os
import shlex
from pathlib import Path
from typing import Any

from piste import bots
from piste.bots import Bot
from piste.cli.players import MAX_NAME_LENGTH, bot_spec, ready_bot
from piste.cli.terminal import Terminal, complain, printable
from piste.core.errors import BotError, OptionError
from piste.core.game import Game, find, quoted
from piste.core.paths import data_folder
from piste.core.views import Ending
from piste.remote.client import Client, Json, RemoteError, TableLink, read_link
from piste.remote.seat import RemoteSeat, play

TOKEN = "PISTE_TOKEN"
SEATS = "remote seats"  # the folder of the tokens of seats that were left
PATIENCE_S = 3600.0  # for how long a decision is sent again while the server is away
MAX_LIMIT_S = 86_400.0


def run(args: argparse.Namespace, terminal: Terminal) -> int:
    link, spec, limit = read_link(args.link), bot_spec(args.bot), read_limit(args.limit)
    token = os.environ.get(TOKEN, "").strip()
    notices = Notices()
    client = Client(link.server, token, patience=PATIENCE_S, waiting=notices.lost)
    table = Client(link.server, token).see(link.code)["table"]  # without patience: a wrong address is told at once
    game, seat_file = find(table["game"]), None
    bots.find(spec, game, game.options(table["options"]), limit=limit).close()  # refuses before it sits down
    if args.resume is not None:
        seat_file = left_seat(link, args.resume)
        client.token = seat_file.read_text(encoding="utf-8").strip()
    seen = sit(client, link, args.name if args.name is not None else name_of(spec))
    seat = int(seen["table"]["seat"])
    if not token:
        seat_file = keep_token(link, game.seat_name(seat), client.token)
    reporter = Reporter(terminal, game, seat, notices, quiet=args.quiet)
    try:
        reporter.seated(seen["table"], link)
        ending = play(RemoteSeat(client, link.code), maker(spec, limit), reporter.hear, notices.lost)
    except KeyboardInterrupt:
        again = f"piste join {link.server}/t/{link.code} --bot {shlex.quote(args.bot)}"
        more = f" --resume {game.seat_name(seat)}" if seat_file is not None else ""
        raise KeyboardInterrupt(f"Left the table. The seat is kept for a while; to go on: {again}{more}") from None
    except BotError as e:
        raise BotError(f"{e} The seat has resigned.") from None
    if seat_file is not None:
        seat_file.unlink(missing_ok=True)
    reporter.ended(ending)
    return 0


def maker(spec: str, limit: float | None) -> Any:
    """Return what makes the bot when the game has begun."""

    def make(game: Game, options: Any) -> Bot:
        return ready_bot(spec, game, options, limit=limit)

    return make


def sit(client: Client, link: TableLink, name: str) -> Json:
    """Take a seat: the one of the token, the one of the private link, or a free one."""
    if client.token:
        seen = client.see(link.code)
        if seen["table"]["seat"] is not None:
            return seen
        if client.token.startswith("seat_"):
            raise RemoteError(f"The token in {TOKEN} has no seat at this table. Make a new one at the table's page.")
    return client.sit(link.code, name) if link.seat is None else client.take(link)


def name_of(spec: str) -> str:
    """Return what a bot is called at a table: a level by its name, a program by that of its file."""
    if spec.startswith(bots.PROGRAM):
        words = shlex.split(spec.removeprefix(bots.PROGRAM))
        files = [Path(word).stem for word in words if os.path.exists(word)]
        name = files[-1] if files else Path(words[0]).stem
    else:
        name = spec.rpartition(":")[2]
    return name[:1].upper() + name[1:MAX_NAME_LENGTH]


def read_limit(text: str | None) -> float | None:
    if text is None:
        return None
    try:
        limit = float(text)
    except ValueError:
        limit = 0.0
    if not 0 < limit <= MAX_LIMIT_S:
        raise OptionError(f"--limit cannot be {quoted(text)}: it is a number of seconds, such as 10 or 0.5.")
    return limit


# The tokens of seats, for whoever leaves and comes back


def keep_token(link: TableLink, seat: str, token: str) -> Path | None:
    """Keep the token of a seat until its game is over, readable by this user only; None if that is not possible."""
    path = data_folder() / SEATS / f"{link.code}-{seat}"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            file.write(f"{token}\n")
    except OSError as e:
        complain(f"piste: The seat cannot be taken up again later: {path} cannot be written ({e.strerror or e}).")
        return None
    return path


def left_seat(link: TableLink, seat: str) -> Path:
    """Return the file of a seat that was left at a table: the one that is named, or the only one."""
    folder = data_folder() / SEATS
    files = sorted(folder.glob(f"{link.code}-*")) if folder.is_dir() else []
    found = [file for file in files if seat in ("", file.name.rpartition("-")[2])]
    if len(found) == 1:
        return found[0]
    if not found:
        raise OptionError("This computer left no such seat at that table. Leave --resume out to sit down anew.")
    names = ", ".join(file.name.rpartition("-")[2] for file in found)
    raise OptionError(f"This computer left several seats at that table: say which with --resume and one of {names}.")


class Notices:
    """Says that the server is away or wants to be waited for, once until it answers again."""

    def __init__(self) -> None:
        self.away = False

    def lost(self, error: RemoteError) -> None:
        if not self.away:
            complain(f"piste: {error} Trying again.")
        self.away = True


class Reporter:
    """Says what happens at the table, in sentences."""

    def __init__(self, terminal: Terminal, game: Game, seat: int, notices: Notices, *, quiet: bool) -> None:
        self._terminal, self._game, self._seat, self._quiet = terminal, game, seat, quiet
        self._notices, self._status = notices, ""
        self._people: list[str] = []

    def _say(self, text: str) -> None:
        if not self._quiet:
            self._terminal.line(printable(text))
            self._terminal.out.flush()

    def seated(self, table: Json, link: TableLink) -> None:
        name = table["people"][self._seat]["name"]
        where = f"{link.server}/t/{link.code}"
        self._say(f"{name} sits on seat {self._game.seat_name(self._seat)} of {self._game.notation.TITLE}: {where}")
        self._say("To leave: Ctrl-C. The seat is kept for a while.")

    def hear(self, message: Json) -> None:
        """Take in a message of the table, and say what a person wants to know of it."""
        if self._notices.away:
            self._notices.away = False
            self._say("Connected again.")
        if message.get("type") == "table":
            table = message["table"]
            self._people = [str(one["name"]) for one in table["people"]]
            if table["stage"] == "waiting" and table["status"] != self._status:
                self._status = table["status"]
                self._say(self._status)
        elif message.get("type") == "hello":
            others = [name for i, name in enumerate(self._people) if i != self._seat]
            self._say(f"The game has begun, against {' and '.join(others)}.")

    def ended(self, ending: Ending) -> None:
        who = "It is a draw" if ending.winner is None else f"{self._people[ending.winner]} has won"
        self._say(f"The game is over. {who}: {ending.reason}.")
