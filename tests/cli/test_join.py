"""`piste join`: a bot or a program of this computer plays at a table of another one, leaves and comes back."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from piste import bots
from piste.cli.commands.join import name_of
from piste.cli.main import main
from piste.remote.client import Client
from piste.remote.seat import RemoteSeat, play
from tests.limits import PATIENCE_S, wait_until
from tests.remote.scripted_server import Answer, scripted
from tests.web.server_process import ENV, ServerProcess, posix, serving

PROGRAM = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "decide":
        print(json.dumps({"decision": message["decisions"][0]}), flush=True)
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    with serving(tmp_path_factory.mktemp("home"), "--log", "json", "--no-limits") as running:
        yield running.ready()


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PISTE_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("PISTE_TOKEN", raising=False)
    monkeypatch.setenv("COLUMNS", "200")
    return tmp_path / "home"


class Host:
    """Somebody who has opened a table and plays there, in a thread."""

    def __init__(self, server: ServerProcess, game: str = "prime-duel") -> None:
        self.client = Client(server.address, patience=PATIENCE_S)
        options = {"target": 20} if game == "prime-duel" else {}
        table = self.client.open(game, options, versus="friend", name="Host")["table"]
        self.code, self.link = table["code"], f"{server.address}/t/{table['code']}"

    @contextmanager
    def playing(self) -> Iterator[None]:
        seat = RemoteSeat(self.client, self.code)
        thread = threading.Thread(target=play, args=(seat, lambda game, _: bots.find("random", game)))
        thread.start()
        yield
        thread.join(PATIENCE_S)
        assert not thread.is_alive(), "the game never ends"


@pytest.mark.parametrize("bot", ["novice", "cmd"])
def test_a_bot_or_a_program_plays_to_the_end(
    server: ServerProcess, tmp_path: Path, bot: str, capsys: pytest.CaptureFixture[str], home: Path
) -> None:
    (tmp_path / "mine.py").write_text(PROGRAM)
    spec = bot if bot == "novice" else f"cmd:{sys.executable} {tmp_path / 'mine.py'}"
    host = Host(server)
    with host.playing():
        assert main(["join", host.link, "--bot", spec, "--limit", str(PATIENCE_S)]) == 0
    out, err = capsys.readouterr()
    name = "Novice" if bot == "novice" else "Mine"
    assert out.splitlines()[0] == f"{name} sits on seat 2 of Prime Duel: {host.link}"
    assert "The game has begun, against Host." in out
    assert re.search(rf"The game is over\. ({name}|Host) has won: .+\.", out)
    assert err == ""
    assert not list((home / "remote seats").iterdir())


def test_a_private_link_or_a_token_is_a_seat(
    server: ServerProcess, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    host, guest = Host(server), Client(server.address)
    guest.sit(host.code, "Guest")
    page = server.get_page(host.code, guest.token)
    (link,) = set(re.findall(rf"/s/{host.code}/1/[\w-]+", page))
    with host.playing():
        assert main(["join", f"{server.address}{link}", "--quiet"]) == 0
    assert capsys.readouterr().out == ""
    host = Host(server)
    guest.token = ""
    guest.sit(host.code, "Guest")
    monkeypatch.setenv("PISTE_TOKEN", guest.new_seat_token(host.code))
    with host.playing():
        assert main(["join", host.link]) == 0
    assert "Guest sits on seat 2" in capsys.readouterr().out
    other = Host(server)
    assert main(["join", other.link]) == 1
    assert "PISTE_TOKEN has no seat at this table" in capsys.readouterr().err


def test_a_program_that_fails_resigns_with_a_sentence(
    server: ServerProcess, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "bad.py").write_text("import sys\nsys.stdin.readline(); sys.stdin.readline(); print('nonsense')")
    host = Host(server)
    with host.playing():
        assert main(["join", host.link, "--bot", f"cmd:{sys.executable} {tmp_path / 'bad.py'}"]) == 1
    assert re.search(r"sent 'nonsense', which is not JSON\..* The seat has resigned\.", capsys.readouterr().err)
    assert host.client.see(host.code)["now"]["reason"] == "resigned"


@pytest.mark.parametrize(
    ("words", "sentence", "code"),
    [
        (["join", "nowhere"], "is not the link of a table", 2),
        (["join", "{server}/t/2222222222222222"], "There is no such table", 1),
        (["join", "http://127.0.0.1:9/t/2222222222222222"], "cannot be reached", 1),
        (["join", "{link}", "--bot", "nobody"], "There is no bot 'nobody'", 2),
        (["join", "{link}", "--bot", "cmd:./no-such-program"], "is not there, or may not be run", 1),
        (["join", "{link}", "--limit", "never"], "--limit cannot be 'never'", 2),
        (["join", "{link}", "--resume"], "left no such seat", 2),
        (["join", "{link}", "--name", "n" * 30], "A name has 1 to 24 letters", 1),
    ],
)
def test_what_cannot_be_joined_is_told_in_a_sentence(
    server: ServerProcess, words: list[str], sentence: str, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    host = Host(server)
    typed = [word.format(server=server.address, link=host.link) for word in words]
    assert main(typed) == code
    err = capsys.readouterr().err
    assert sentence in err
    assert "Traceback" not in err
    assert host.client.see(host.code)["table"]["people"][1]["kind"] == "open"  # nobody has sat down


def test_a_table_that_is_full_is_told(server: ServerProcess, capsys: pytest.CaptureFixture[str]) -> None:
    host = Host(server)
    Client(server.address).sit(host.code)
    assert main(["join", host.link]) == 1
    assert "The game has begun, and every seat is taken." in capsys.readouterr().err


def test_what_is_no_piste_server_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with scripted(Answer(404, b"<html>")) as other:
        assert main(["join", f"{other.address}/t/2222222222222222"]) == 1
    assert "There is no API for programs" in capsys.readouterr().err


@posix
def test_ctrl_c_leaves_cleanly_and_the_seat_is_taken_up_again(server: ServerProcess, home: Path) -> None:
    host = Host(server, "zero-sum-grid")
    words = [sys.executable, "-m", "piste", "join", host.link, "--bot", "steady"]
    environment = {**ENV, "PISTE_HOME": str(home), "PYTHONUNBUFFERED": "1", "COLUMNS": "200"}
    joined = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
    wait_until(lambda: host.client.see(host.code)["table"]["people"][1]["kind"] == "program")
    assert joined.stdout is not None
    assert "Steady sits on seat 2" in joined.stdout.readline()
    joined.send_signal(signal.SIGINT)
    _, err = joined.communicate(timeout=PATIENCE_S)
    assert joined.returncode == 130
    again = re.search(r"to go on: piste (join .*)\n", err)
    assert again is not None, err
    assert "Traceback" not in err
    (kept,) = (home / "remote seats").iterdir()
    assert kept.stat().st_mode & 0o777 == 0o600
    assert kept.read_text().strip() not in err
    with host.playing():
        done = subprocess.run(
            [sys.executable, "-m", "piste", *again[1].split()], capture_output=True, text=True, env=environment,
            timeout=PATIENCE_S, check=False,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "The game is over." in done.stdout
    assert not kept.exists()


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        ("steady", "Steady"), ("mymodule:careful", "Careful"), ("cmd:./no/such/bot --deep", "Bot"),
        (f"cmd:{sys.executable} {__file__}", "Test_join"), ("cmd:./" + "x" * 60, "X" + "x" * 23),
    ],
)  # fmt: skip
def test_a_bot_is_called_after_itself(spec: str, name: str) -> None:
    assert name_of(spec) == name
