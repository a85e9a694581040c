"""The client of the API: what it sends, what it makes of answers, and when it asks again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from piste.core.errors import OptionError
from piste.remote.client import Client, ConnectionLostError, RemoteError, TableLink, backoff, read_link
from tests.limits import PATIENCE_S
from tests.remote.scripted_server import Answer, problem, scripted
from tests.web.server_process import ServerProcess, serving

CODE = "23456789abcdefgh"
TOKEN = "t" * 43


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    with serving(tmp_path_factory.mktemp("home"), "--log", "json") as running:
        yield running.ready()


class Waits:
    """A clock that a client's own waits move."""

    def __init__(self) -> None:
        self.now = 0.0
        self.waited: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.waited.append(seconds)
        self.now += seconds


def patient(address: str, waits: Waits, patience: float = 100.0) -> Client:
    return Client(address, TOKEN, patience=patience, sleep=waits.sleep, clock=lambda: waits.now)


@pytest.mark.parametrize(
    ("text", "link"),
    [
        (f"http://localhost:8000/t/{CODE}", TableLink("http://localhost:8000", CODE)),
        (f" https://cards.example/t/{CODE}/ ", TableLink("https://cards.example", CODE)),
        (f"https://cards.example/t/{CODE}?log=all#x", TableLink("https://cards.example", CODE)),
        (f"http://[::1]:8000/s/{CODE}/1/se-cr_et", TableLink("http://[::1]:8000", CODE, 1, "se-cr_et")),
    ],
)
def test_the_link_of_a_table_is_read(text: str, link: TableLink) -> None:
    assert read_link(text) == link


@pytest.mark.parametrize(
    "text",
    ["", "nothing", CODE, f"ftp://x/t/{CODE}", "http://localhost:8000", "http://x/t/", f"http:///t/{CODE}",
     f"http://x:99999/t/{CODE}", f"http://x/t/{CODE}/replay", f"http://x/s/{CODE}/one/secret-of-mine"],
)  # fmt: skip
def test_what_is_no_link_of_a_table_is_refused_and_no_secret_is_repeated(text: str) -> None:
    with pytest.raises(OptionError, match="is not the link of a table") as refused:
        read_link(text)
    assert "secret-of-mine" not in str(refused.value)


def test_a_program_plays_a_whole_game_against_a_bot(server: ServerProcess) -> None:
    client = Client(server.address, patience=PATIENCE_S)
    assert [game["name"] for game in client.games()][-1] == "zero-sum-grid"
    assert client.rules("prime-duel").startswith("# Prime Duel")
    table = client.open("prime-duel", {"target": 20}, versus="novice", name="Mine")
    assert len(client.token) == 43
    code = table["table"]["code"]
    for message in client.events(code):
        if message["type"] == "decide":
            client.decide(code, message["number"], message["decisions"][0])
        if message["type"] == "end":
            break
    assert client.see(code)["now"]["type"] == "end"
    assert client.record(code).count("\n") > 3
    assert client.token not in server.text


def test_two_programs_meet_at_a_table(server: ServerProcess) -> None:
    one, two = Client(server.address), Client(server.address)
    code = one.open("zero-sum-grid", versus="friend", name="One")["table"]["code"]
    assert two.sit(code, "Two")["table"]["seat"] == 1
    assert two.sit(code, "Two")["table"]["seat"] == 1  # asked again
    third = Client(server.address)
    with pytest.raises(RemoteError, match="The game has begun"):
        third.sit(code)
    seat = Client(server.address, two.new_seat_token(code))
    assert seat.see(code)["table"]["seat"] == 1
    with pytest.raises(RemoteError) as refused:
        two.claim(code)
    assert refused.value.kind == "not-now"
    assert seat.resign(code)["now"]["winner"] == "1"


def test_a_refusal_says_what_is_wrong_and_what_can_be_done(server: ServerProcess) -> None:
    client = Client(server.address)
    with pytest.raises(RemoteError) as refused:
        client.open("poker")
    assert (refused.value.status, refused.value.kind) == (404, "no-such-name")
    assert "GET /api/v1/games lists games" in str(refused.value)
    with pytest.raises(RemoteError, match="There is no such table") as missing:
        list(client.events(CODE))
    assert missing.value.kind == "no-such-table"
    assert not missing.value.temporary


def test_the_token_is_sent_in_a_header_and_nowhere_else() -> None:
    with scripted(*[Answer()] * 4) as server:
        client = Client(server.address, TOKEN)
        client.see(CODE)
        client.decide(CODE, 3, "keep")
        client.take(TableLink(server.address, CODE, 1, "private"))
        client.open("prime-duel")
        for asked in server.asked:
            assert asked.headers["Authorization"] == f"Bearer {TOKEN}"
            assert TOKEN not in asked.path
            assert TOKEN.encode() not in asked.body
            assert "private" not in asked.path
        assert server.asked[1].method == "POST"
        assert json.loads(server.asked[1].body) == {"number": 3, "decision": "keep"}
        assert server.asked[3].headers["Idempotency-Key"]


def test_a_client_without_a_token_gets_one_first_so_that_it_can_ask_again() -> None:
    waits = Waits()
    token = Answer(201, json.dumps({"token": TOKEN}).encode())
    with scripted(token, Answer(0), Answer(201)) as server:
        client = patient(server.address, waits)
        client.token = ""
        client.open("prime-duel")
        first, second = server.asked[1:]
        assert first.headers["Idempotency-Key"] == second.headers["Idempotency-Key"]
        assert second.headers["Authorization"] == f"Bearer {TOKEN}"
        assert len(waits.waited) == 1


def test_what_the_server_wants_waited_for_is_waited_for() -> None:
    waits = Waits()
    answers = (
        problem(429, "too-many", retry_after="7"), problem(429, "too-many"), problem(503, "busy", retry_after="soon"),
        Answer(502, b"<html>"), Answer(200, b'{"now": 1}'),
    )  # fmt: skip
    with scripted(*answers) as server:
        assert patient(server.address, waits).see(CODE) == {"now": 1}
    assert waits.waited[0] == 7
    assert all(0 < wait < 5 for wait in waits.waited[1:])
    assert len(waits.waited) == 4


def test_without_patience_a_refusal_is_raised_at_once() -> None:
    with scripted(problem(429, "too-many", retry_after="7")) as server:
        with pytest.raises(RemoteError, match=r"It is too-many\. Do something\.") as refused:
            Client(server.address).see(CODE)
        assert refused.value.wait == 7
        assert refused.value.temporary


def test_patience_ends() -> None:
    waits = Waits()
    with scripted(*[problem(503, "busy", retry_after="30")] * 9) as server, pytest.raises(RemoteError):
        patient(server.address, waits, patience=100).see(CODE)
    assert waits.waited == [30, 30, 30]


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (Answer(404, b"<html>"), "There is no API for programs at"),
        (Answer(500, b""), "answered with status 500 and no reason"),
        (Answer(400, b"[]"), "answered with status 400"),
        (Answer(301, b"", (("location", "https://new.example/x"),)), "is at https://new.example now"),
        (Answer(302, b""), "is elsewhere now"),
        (Answer(200, b"<html>"), "sent something that is no answer"),
        (Answer(200, b"[1]"), "sent something that is no answer"),
        (Answer(200, b"[" * 100_000), "sent something that is no answer"),
        (Answer(200, b" " * 8_000_001), "sent more than 8,000,000 bytes"),
        (Answer(200, b"{", length=50), "cannot be reached: "),
        (Answer(0), "cannot be reached: "),
    ],
)
def test_an_answer_that_is_none_of_the_api_is_told_in_a_sentence(answer: Answer, sentence: str) -> None:
    with scripted(answer) as server, pytest.raises(RemoteError, match=sentence) as refused:
        Client(server.address, TOKEN).see(CODE)
    assert str(refused.value).endswith((".", "?"))
    assert TOKEN not in str(refused.value)


def test_a_redirect_is_not_followed_with_the_token() -> None:
    with scripted(Answer()) as thief, scripted(Answer(307, b"", (("location", thief.address),))) as server:
        with pytest.raises(RemoteError):
            Client(server.address, TOKEN).see(CODE)
        assert not thief.asked


def test_a_server_that_is_not_there_is_told_in_a_sentence() -> None:
    with scripted() as server:
        address = server.address
    with pytest.raises(ConnectionLostError, match="cannot be reached: Connection refused"):
        Client(address).games()
    with pytest.raises(RemoteError, match="cannot be reached"):
        Client("http://no such host").games()


def test_a_stream_that_is_cut_ends() -> None:
    lines = b'{"type": "ping"}\n{"type": "pi'
    with scripted(Answer(200, lines)) as server:
        assert list(Client(server.address).events(CODE, since=3)) == [{"type": "ping"}]
        assert server.asked[0].path == f"/api/v1/tables/{CODE}/events?since=3"


def test_attempts_come_further_and_further_apart() -> None:
    waits = backoff()
    found = [next(waits) for _ in range(12)]
    assert all(wait <= 30 for wait in found)
    assert found[0] <= 0.5
    assert found[-1] >= 15


def test_it_needs_nothing_but_the_standard_library() -> None:
    source = (Path(__file__).parents[2] / "src" / "piste" / "remote" / "client.py").read_text(encoding="utf-8")
    outside = [line for line in source.splitlines() if line.startswith(("import ", "from ")) and "piste" in line]
    assert outside == [
        "from piste import __version__", "from piste.core.errors import OptionError, PisteError",
        "from piste.core.game import quoted",
    ]  # fmt: skip
