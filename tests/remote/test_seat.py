"""A remote seat sees what a seat at the table itself sees, and any bot or program plays there."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from piste import bots
from piste.core.errors import BotError
from piste.core.game import Game, find, names
from piste.core.views import SeatView
from piste.remote.client import Client, Json, RemoteError, TableLink
from piste.remote.seat import RemoteSeat, play
from tests.limits import PATIENCE_S
from tests.remote.scripted_server import Answer, scripted
from tests.web.api.program_client import Program, two_programs
from tests.web.in_process_server import InProcessServer
from tests.web.server_process import ServerProcess, serving


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    with serving(tmp_path_factory.mktemp("home"), "--log", "json", "--no-limits") as running:
        yield running.ready()


def client_of(server: ServerProcess) -> Client:
    return Client(server.address, patience=PATIENCE_S)


class Fetched(Client):
    """A client that has all answers already."""

    def __init__(self, seen: Json, histories: list[Json]) -> None:
        super().__init__("http://nowhere.example")
        self._seen, self._histories = seen, histories

    def see(self, _code: str, since: int = 0) -> Json:  # noqa: ARG002
        return self._seen

    def history(self, _code: str, since: int = 0) -> Json:
        return next(one for one in self._histories if one["since"] == since)


async def fetched(program: Program, code: str) -> SeatView:
    """Return the view that is made of what a program gets over the API."""
    histories = [(await program.get(f"/tables/{code}/history")).json]
    while len(histories[-1]["entries"]) + histories[-1]["since"] < histories[-1]["length"]:
        since = histories[-1]["since"] + len(histories[-1]["entries"])
        histories.append((await program.get(f"/tables/{code}/history?since={since}")).json)
    return RemoteSeat(Fetched(await program.sees(code), histories), code).view()


@pytest.mark.parametrize(
    ("game", "options"),
    [*((game, {}) for game in names()), ("mccoy-duel", {"players": 3}), ("zero-sum-grid", {"turns": 260})],
    ids=str,
)
async def test_a_view_over_the_network_is_the_one_at_the_table(
    house: InProcessServer, game: str, options: dict[str, Any]
) -> None:
    code, programs = await two_programs(house, game, options=options)
    while len(programs) < len(house.room(code).seats):
        programs.append(Program(house))
        await programs[-1].sits(code)
    chooser, often = random.Random(f"{game} {options}"), 4 if "turns" not in options else 60
    table = house.room(code).table
    assert table is not None
    for step in range(options.get("turns", 30)):
        if step % often == 0 or table.to_act is None:
            for seat, program in enumerate(programs):
                assert await fetched(program, code) == table.view(seat)
        if table.to_act is None:
            break
        decision = chooser.choice(table.view(table.to_act).decisions)
        assert (await programs[table.to_act].decides(code, decision, table.number)).status == 200
    await programs[0].post(f"/tables/{code}/resign")
    assert await fetched(programs[1], code) == table.view(1)


@pytest.mark.parametrize("game", names())
def test_a_bot_of_this_computer_plays_a_seat_there(server: ServerProcess, game: str) -> None:
    client = client_of(server)
    options = {"turns": 12} if any(option.name == "turns" for option in find(game).notation.OPTIONS) else {}
    code = client.open(game, options, versus="random", name="Far")["table"]["code"]
    heard: list[str] = []
    ending = play(RemoteSeat(client, code), found("steady"), lambda message: heard.append(message["type"]))
    end = client.see(code)["now"]
    assert end["type"] == "end"
    assert list(ending.payoffs) == end["payoffs"]
    assert heard[-1] == "end"
    assert heard.count("hello") == 1


def found(spec: str) -> Any:
    return lambda game, options: bots.find(spec, game, options)


def test_a_program_plays_a_seat_of_a_private_link(server: ServerProcess, tmp_path: Path) -> None:
    program = tmp_path / "first.py"
    program.write_text(
        "import json, sys\nfor line in sys.stdin:\n    message = json.loads(line)\n"
        "    if message['type'] == 'decide':\n"
        "        print(json.dumps({'decision': message['decisions'][0]}), flush=True)\n"
    )
    host = client_of(server)
    code = host.open("prime-duel", {"target": 10}, versus="random")["table"]["code"]
    with pytest.raises(RemoteError, match="does not fit any seat"):
        client_of(server).take(TableLink(server.address, code, 0, "wrong"))
    seat = RemoteSeat(Client(server.address, host.new_seat_token(code)), code)
    ending = play(seat, lambda game, _: bots.find(f"cmd:{sys.executable} {program}", game, limit=PATIENCE_S))
    assert ending.reason in find("prime-duel").notation.REASONS.values()


class Broken:
    """A bot that fails."""

    name = "broken"
    closed = False

    def choose(self, _view: SeatView, _stream: object) -> int:
        raise BotError("The bot broken has failed.")

    def close(self) -> None:
        self.closed = True


def test_a_bot_that_fails_resigns_and_is_closed(server: ServerProcess) -> None:
    client, bot = client_of(server), Broken()
    code = client.open("prime-duel", versus="random")["table"]["code"]
    with pytest.raises(BotError, match="has failed"):
        play(RemoteSeat(client, code), lambda _game, _options: bot)
    assert bot.closed
    assert client.see(code)["now"]["reason"] == "resigned"


class Hasty(Broken):
    """A bot whose table moves on while it thinks."""

    def __init__(self, client: Client, code: str) -> None:
        self._client, self._code = client, code

    def choose(self, view: SeatView, _stream: object) -> int:
        self._client.decide(self._code, view.number, view.decisions[0])
        return view.actions[-1]


def test_a_decision_that_came_too_late_ends_nothing(server: ServerProcess) -> None:
    client = client_of(server)
    code = client.open("prime-duel", {"target": 10}, versus="random")["table"]["code"]
    assert play(RemoteSeat(client, code), lambda _game, _options: Hasty(client, code)).payoffs


@pytest.mark.slow
def test_it_goes_on_where_the_server_was_restarted(tmp_path: Path) -> None:
    def restart(game: Game, options: Any) -> bots.Bot:
        """Stop the server before the first decision, and start it again at the same port."""
        first.stop()
        port = first.address.rpartition(":")[2]
        second.append(stack.enter_context(serving(tmp_path, "--port", port)).ready())
        return bots.find("steady", game, options)

    second: list[ServerProcess] = []
    with ExitStack() as stack:
        first = stack.enter_context(serving(tmp_path)).ready()
        client, lost = client_of(first), list[RemoteError]()
        code = client.open("prime-duel", {"target": 20}, versus="random")["table"]["code"]
        ending = play(RemoteSeat(client, code), restart, lost=lost.append)
        assert ending.payoffs
        assert second


def test_a_table_that_is_gone_is_told(server: ServerProcess) -> None:
    bye = Answer(200, b'{"type": "bye", "reason": "gone"}\n')
    with scripted(bye) as gone, pytest.raises(RemoteError, match="The table is gone"):
        list(RemoteSeat(Client(gone.address), "23456789abcdefgh").events())
    missing = RemoteSeat(client_of(server), "2" * 16)
    with pytest.raises(RemoteError, match="There is no such table"):
        list(missing.events())


def test_a_lost_connection_is_told_once_and_opened_again() -> None:
    told, waited = list[RemoteError](), list[float]()
    lines = [b'{"type": "ping"}\n', b'{"type": "end"}\n']
    answers = (Answer(200, lines[0]), Answer(0), Answer(503, b""), Answer(200, lines[0]), Answer(200, lines[1]))
    with scripted(*answers) as server:
        seat = RemoteSeat(Client(server.address), "23456789abcdefgh", sleep=waited.append)
        assert [message["type"] for message in seat.events(told.append)] == ["ping", "ping", "end"]
    assert len(told) == 2
    assert len(waited) == 4


@pytest.mark.parametrize("change", [{"piste": 2}, {"seat": "9"}, {"game": "prime-duel", "seats": []}])
def test_a_server_of_another_version_is_told(change: Json) -> None:
    hello = {"piste": 1, "game": "prime-duel", "seat": "1", "seats": ["1", "2"], "origin": ""} | change
    history = {"since": 0, "length": 0, "entries": [], "view": {"new": 1}, "opening": {}, "number": 0}
    with pytest.raises(RemoteError, match="plays by another version of piste"):
        RemoteSeat(Fetched({"hello": hello}, [history]), "c").view()


def test_a_game_that_has_not_begun_is_told() -> None:
    with pytest.raises(RemoteError, match="has not begun"):
        RemoteSeat(Fetched({"hello": None}, []), "c").hello()
