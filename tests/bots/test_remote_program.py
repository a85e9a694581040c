"""A program on another computer takes a seat: it plays as it would here, and whatever goes wrong is a sentence."""

from __future__ import annotations

import json
import shlex
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from piste import bots
from piste.analysis.arena.game_play import Played, play_game
from piste.bots.program import program_words
from piste.bots.remote_program import ProgramServer
from piste.cli.main import main
from piste.core.errors import BotError
from piste.core.game import find
from tests.limits import PATIENCE_S

GAME = find("positive-negative")
CHANCE = """\
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "decide":
        names = message["decisions"]
        print(json.dumps({"decision": names[message["random"] % len(names)]}), flush=True)
"""


def command(tmp_path: Path, code: str = CHANCE) -> str:
    path = tmp_path / "bot.py"
    path.write_text(code, encoding="utf-8")
    return shlex.join([sys.executable, "-I", "-S", str(path)])


@contextmanager
def served(words: str, most: int = 8) -> Iterator[tuple[str, list[str]]]:
    """Yield the address of a program that is served, and what its server tells."""
    told: list[str] = []
    server = ProgramServer(program_words(words), "127.0.0.1", 0, most, told.append)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"127.0.0.1:{server.server_address[1]}", told
    finally:
        server.shutdown()
        server.server_close()
        thread.join(PATIENCE_S)
        assert not thread.is_alive()


@contextmanager
def answering(answer: Callable[[socket.socket], None]) -> Iterator[str]:
    """Yield the address of something that answers one connection in its own way, after its first question."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            connection = listener.accept()[0]
            with connection, connection.makefile("rb") as lines:
                while json.loads(lines.readline())["type"] != "decide":
                    pass
                answer(connection)
                lines.read()

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"127.0.0.1:{listener.getsockname()[1]}"
        thread.join(PATIENCE_S)
        assert not thread.is_alive(), "the connection was not closed"


def played(*specs: str, limit: float = PATIENCE_S) -> Played:
    return play_game(GAME, GAME.options({"top": 4}), specs, "remote", limit=limit)._replace(spent=())


def test_a_program_elsewhere_plays_the_very_games_that_it_plays_here(tmp_path: Path) -> None:
    here = f"cmd:{command(tmp_path)}"
    with served(command(tmp_path)) as (address, told):
        there = f"remote:{address}"
        assert played(there, "steady") == played(here, "steady")
        assert played("steady", there) == played("steady", here)
        assert played(there, there) == played(here, here)  # two connections at once
    assert told == []


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (lambda connection: connection.shutdown(socket.SHUT_RDWR), "ended the connection."),
        (lambda connection: connection.sendall(b"GET / HTTP/1.1\n"), "which is not JSON."),
        (lambda connection: connection.sendall(b"x" * 10_000), "sent a line of more than 4096 bytes"),
        (lambda connection: connection.sendall(b'{"decision": "up"}\n'), "chose 'up', which is not open"),
    ],
)
def test_whatever_goes_wrong_in_a_game_forfeits_it(answer: Callable[[socket.socket], None], why: str) -> None:
    with answering(answer) as address:
        found = played(f"remote:{address}", "random")
    (forfeit,) = found.forfeits
    assert found.winner == 1
    assert why in forfeit.why


def test_no_answer_in_time_forfeits_a_game() -> None:
    with answering(lambda _: None) as address:
        found = played(f"remote:{address}", "random", limit=0.2)
    assert "gave no answer within 0.2 seconds" in found.forfeits[0].why


def test_what_cannot_be_reached_is_an_error_and_no_forfeit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(BotError, match=f"'remote:127.0.0.1:{port}' cannot be reached: "):
        played(f"remote:127.0.0.1:{port}", "random")
    monkeypatch.setenv("PISTE_HOME", str(tmp_path))
    assert main(["tournament", "prime-duel", f"remote:127.0.0.1:{port}", "random", "--games", "2"]) == 1
    assert "cannot be reached" in capsys.readouterr().err
    for wrong in ("", "localhost", "localhost:", "localhost:x", "localhost:70000", ":8003"):
        with pytest.raises(BotError, match="A bot on another computer is remote:HOST:PORT"):
            bots.find(f"remote:{wrong}", GAME)


def test_who_does_not_begin_as_a_game_does_starts_no_program(tmp_path: Path) -> None:
    mark = tmp_path / "started"
    with served(command(tmp_path, f"open({str(mark)!r}, 'w')")) as (address, _):
        host, port = address.split(":")
        for sent in (b"POST / HTTP/1.1\r\nHost: x\r\n\r\n", b"[1]\n", b'{"type": "decide"}\n', b""):
            with socket.create_connection((host, int(port)), PATIENCE_S) as stranger:
                stranger.sendall(sent)
                stranger.shutdown(socket.SHUT_WR)
                assert _rest(stranger) == b""
    assert not mark.exists()


def _rest(connection: socket.socket) -> bytes:
    try:
        return connection.recv(1000)
    except ConnectionResetError:  # it was closed before all was read
        return b""


def test_no_more_games_than_allowed_go_on_at_once_and_their_programs_end_with_the_server(tmp_path: Path) -> None:
    left = tmp_path / "left"
    code = f"import sys\nprint('began', flush=True)\nsys.stdin.read()\nopen({str(left)!r}, 'w')\n"
    hello = b'{"type": "hello"}\n'
    with served(command(tmp_path, code), most=1) as (address, told):
        host, port = address.split(":")
        first = socket.create_connection((host, int(port)), PATIENCE_S)
        first.sendall(hello)
        assert first.recv(100) == b"began\n"
        with socket.create_connection((host, int(port)), PATIENCE_S) as second:
            second.sendall(hello)
            assert _rest(second) == b""
        assert told == ["A game was turned away: as many as may be are going on."]
    assert left.exists()
    first.close()


@pytest.mark.parametrize(
    ("words", "said", "code"),
    [
        (["steady"], "is no program", 2),
        (["cmd:./no-such-program"], "is not there, or may not be run", 1),
        ([f"cmd:{sys.executable}", "--port", "99999"], "port", 2),
        ([f"cmd:{sys.executable}", "--host", "192.0.2.1", "--port", "0"], "cannot be listened at", 1),
    ],
)
def test_what_cannot_be_served_is_refused_with_a_sentence(
    words: list[str], said: str, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["serve-bot", *words]) == code
    assert said in capsys.readouterr().err
