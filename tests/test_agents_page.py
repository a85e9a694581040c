"""Every command on the page for programs runs, as it stands there."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from piste import bots
from piste.cli.main import main
from piste.remote.client import Client
from piste.remote.seat import RemoteSeat, play
from piste.web.api.openapi import openapi
from tests import ROOT
from tests.limits import PATIENCE_S
from tests.system_packages import needed
from tests.web.server_process import ServerProcess, posix, serving

TEXT = (ROOT / "docs" / "agents.md").read_text(encoding="utf-8")
ADDRESS = "http://localhost:8000"
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```", TEXT, re.M | re.S)
SHELL = [block for kind, block in BLOCKS if kind == "sh"]
PISTE = re.findall(r"^    (piste (?:join|check-bot) .*)$", TEXT, re.M)
PROGRAM = re.findall(r"```python\n(#!.*?)```", (ROOT / "docs" / "bots.md").read_text(encoding="utf-8"), re.DOTALL)[0]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    with serving(tmp_path_factory.mktemp("home"), "--log", "json") as running:
        yield running.ready()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    program = tmp_path / "mybot"
    program.write_text(PROGRAM.replace("/usr/bin/env python3", sys.executable))
    program.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PISTE_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("PISTE_TOKEN", raising=False)
    monkeypatch.setattr("piste.bots.conformance.EXIT_TIMEOUT_S", PATIENCE_S)
    return tmp_path


@posix
def test_the_lines_for_curl_run_one_after_another(
    server: ServerProcess, folder: Path, request: pytest.FixtureRequest
) -> None:
    for program in ("curl", "jq", "bash"):
        needed(program, program, request, skipped="the lines of docs/agents.md are")
    lines = "".join(f"echo '# {number}'\n{block}" for number, block in enumerate(SHELL))
    script = f"set -eu\n{lines.replace(ADDRESS, server.address)}"  # no pipefail: `head` closes streams early
    done = subprocess.run(
        ["bash", "-c", script], capture_output=True, text=True, timeout=PATIENCE_S, check=False, cwd=folder
    )
    assert done.returncode == 0, done.stdout + done.stderr
    out = re.split(r"^# \d+\n", done.stdout, flags=re.M)[1:]
    assert len(out) == len(SHELL)
    by_word = {name: out[next(i for i, block in enumerate(SHELL) if name in block)] for name in (
        "/rules", "echo \"$TABLE\" | jq .now", "{taken, now}", '"discard"', "/events", "/resign", '"Ben"', "attempt",
    )}  # fmt: skip
    assert "prime-duel" in by_word["/rules"]
    assert "# Prime Duel" in by_word["/rules"]
    now = json.loads(by_word['echo "$TABLE" | jq .now'])
    assert (now["type"], now["number"]) == ("decide", 0)
    assert '"decision": "keep"' in by_word["{taken, now}"]
    (shown,) = (block for kind, block in BLOCKS if kind == "json" and "/problems#" in block)
    assert json.loads(by_word['"discard"']) == json.loads(shown)
    assert by_word["/events"].split()[:2] == ['"table"', '"hello"']
    assert '"resigned"' in by_word["/resign"] or "reason" in by_word["/resign"]
    assert json.loads(by_word['"Ben"']) == {"seat": 1, "people": ["Ada", "Ben"]}
    first, second = by_word["attempt"].split()
    assert first == second
    assert (folder / "game.jsonl").read_text(encoding="utf-8").startswith("{")


@posix
def test_the_lines_of_piste_run(server: ServerProcess, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert len(PISTE) == 4
    for line in PISTE:
        _, *words = shlex.split(line)
        if words[0] == "check-bot":
            assert main([*words, "--limit", str(PATIENCE_S)]) == 0, line
            continue
        host = Client(server.address, patience=PATIENCE_S)
        code = host.open("prime-duel", {"target": 20}, versus="friend")["table"]["code"]
        thread = threading.Thread(
            target=play, args=(RemoteSeat(host, code), lambda game, _: bots.find("random", game))
        )
        thread.start()
        typed = [word.replace(f"{ADDRESS}/t/CODE", f"{server.address}/t/{code}") for word in words]
        assert main([*typed, "--limit", str(PATIENCE_S)]) == 0, line
        thread.join(PATIENCE_S)
        assert "The game is over." in capsys.readouterr().out
    assert folder.is_dir()


def test_the_python_runs(server: ServerProcess, capsys: pytest.CaptureFixture[str]) -> None:
    (code,) = (block for kind, block in BLOCKS if kind == "python")
    exec(code.replace(ADDRESS, server.address), {})
    assert re.search(r"\(-?1, -?1\)$", capsys.readouterr().out.strip())


def test_the_page_names_every_address() -> None:
    table = TEXT.partition("### Everything else")[2]
    named = set()
    for method, paths in re.findall(r"^\| `(GET|POST) (.*?)` \|", table, re.M):
        first, *others = re.split(r"`, `", paths)
        named.add((method, first))
        for other in others:
            base = "" if other.startswith("/games") else first.rpartition("/")[0]
            named.add((method, base + other))
    served = {
        (method.upper(), re.sub(r"\{(\w+)\}", lambda name: name[1].upper(), path).removeprefix("/api/v1"))
        for path, item in openapi()["paths"].items()
        for method in item
    }
    assert named == served - {("GET", ""), ("GET", "/openapi.json"), ("GET", "/problems")}
