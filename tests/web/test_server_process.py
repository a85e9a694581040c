"""The server as a process: whom it believes, how it begins and how it stops."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx2 as httpx
import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from tests.limits import PATIENCE_S, PATIENT

ALONE = {key: value for key, value in os.environ.items() if key != "WEB_CONCURRENCY"}


class Running:
    """A server in a process of its own."""

    def __init__(self, home: Path, *words: str) -> None:
        self.process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "piste",
                "serve",
                "--port",
                "0",
                "--host",
                "127.0.0.1",
                "--no-open",
                "--no-prepare",
                *words,
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**ALONE, "PISTE_HOME": str(home), "PYTHONUNBUFFERED": "1"},
        )
        assert self.process.stdout is not None
        lines = []
        self.address = ""
        for line in self.process.stdout:
            lines.append(line)
            found = re.search(r"http://127\.0\.0\.1:\d+", line)
            if found:
                self.address = found[0]
            if "To stop" in line:
                break
        if not self.address:
            out, err = self.process.communicate(timeout=PATIENCE_S)
            raise AssertionError("".join(lines) + out + err)

    def stop(self, number: signal.Signals) -> tuple[int, str, str]:
        self.process.send_signal(number)
        out, err = self.process.communicate(timeout=PATIENCE_S)
        return self.process.returncode, out, err


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture
def server(home: Path) -> Iterator[Running]:
    running = Running(home)
    yield running
    if running.process.poll() is None:
        running.process.kill()
        running.process.communicate()


posix = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")


@posix
def test_on_the_way_out_open_pages_are_told_to_come_back(server: Running, home: Path) -> None:
    with httpx.Client(
        base_url=server.address, headers={"origin": server.address}, trust_env=False, timeout=PATIENCE_S
    ) as client:
        assert client.get("/healthz").status_code == client.get("/readyz").status_code == 200
        made = client.post("/new", data={"game": "prime-duel", "versus": "friend", "name": "Ann"})
        assert made.status_code == 303, made.text
        place = made.headers["location"]
        cookie = f"piste={client.cookies['piste']}"
    socket_address = f"ws{server.address.removeprefix('http')}{place}/socket?since=0"
    ours = {"Cookie": cookie, "Origin": server.address}
    with connect(socket_address, additional_headers=ours, proxy=None, **PATIENT) as page:
        assert json.loads(page.recv())["n"] == 1
        server.process.send_signal(signal.SIGTERM)
        with contextlib.suppress(ConnectionClosed):
            while True:
                last = json.loads(page.recv())
        assert page.close_code == 1012
    assert last["bye"] == "restart"
    out, err = server.process.communicate(timeout=PATIENCE_S)
    assert server.process.returncode == 0
    assert "All tables are kept" in out
    events = [json.loads(line) for line in err.splitlines()]
    assert [line["level"] for line in events if line["level"] != "info"] == []
    assert events[-1]["event"] == "stopped"
    assert place.rpartition("/")[2] not in err
    assert (home / "tables.db").exists()


@posix
@pytest.mark.parametrize("number", [signal.SIGINT, getattr(signal, "SIGHUP", signal.SIGINT)])
def test_to_stop_it_is_no_failure(server: Running, number: signal.Signals) -> None:
    code, _, err = server.stop(number)
    assert code == 0
    assert "Traceback" not in err


def test_two_servers_do_not_share_a_file(server: Running, home: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "piste", "serve", "--port", "0", "--no-open"],
        env={**ALONE, "PISTE_HOME": str(home)},
        capture_output=True, text=True, timeout=PATIENCE_S, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert done.stderr.startswith("piste: ")
    assert "Traceback" not in done.stderr
    assert httpx.get(f"{server.address}/healthz", trust_env=False, timeout=PATIENCE_S).status_code == 200


@pytest.mark.parametrize(("words", "status"), [(["--behind-proxy"], 303), ([], 403)])
def test_only_a_proxy_that_was_named_is_believed(words: list[str], status: int, tmp_path: Path) -> None:
    """Through a proxy people come by https; who only claims so is told apart by the origin, which then differs."""
    running = Running(tmp_path, *words)
    try:
        host = running.address.removeprefix("http://")
        made = httpx.post(
            f"{running.address}/new",
            data={"game": "prime-duel", "versus": "friend", "name": "Ann"},
            headers={"origin": f"https://{host}", "x-forwarded-proto": "https", "x-forwarded-for": "203.0.113.9"},
            trust_env=False,
            timeout=PATIENCE_S,
        )
        assert made.status_code == status
        assert "server" not in made.headers
        if status == 303:
            assert "Secure" in made.headers["set-cookie"]
            assert "HttpOnly" in made.headers["set-cookie"]
    finally:
        running.process.kill()
        running.process.communicate()


STARTS_BADLY = """
import contextlib, pathlib, sys
from starlette.applications import Starlette
from piste.core.errors import PisteError
from piste.web import logging as logs, server
from piste.web.settings import Settings

@contextlib.asynccontextmanager
async def lifespan(app):
    raise {error}
    yield

logs.configure()
listener = server.listen("127.0.0.1", 0)
print(server.run_app(Starlette(lifespan=lifespan), Settings(pathlib.Path("x")), listener))
"""


@pytest.mark.parametrize(
    ("error", "said"),
    [("PisteError('The file is full.')", "The file is full."), ("KeyError('secret')", "with the id")],
)
def test_an_application_that_cannot_begin_says_why_in_a_sentence(error: str, said: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", STARTS_BADLY.format(error=error)],
        capture_output=True, text=True, timeout=PATIENCE_S, check=False,
    )  # fmt: skip
    assert said in done.stdout
    assert "Traceback" not in done.stdout + done.stderr
    assert "secret" not in done.stdout + done.stderr
    assert all(json.loads(line)["level"] == "error" for line in done.stderr.splitlines())
