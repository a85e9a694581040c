"""Every command on the page of the laboratory runs, as it stands there."""

from __future__ import annotations

import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from piste.cli.main import main
from tests import ROOT
from tests.analysis.dask_cluster import Cluster
from tests.limits import PATIENCE_S
from tests.sizes import slow_if

TEXT = (ROOT / "docs" / "laboratory.md").read_text(encoding="utf-8")
COMMANDS = [line for block in re.findall(r"^```sh\n(.*?)^```", TEXT, re.M | re.S) for line in block.splitlines()]
SCHEDULER = "tcp://scheduler:8786"
SERVED, AGAINST_SERVED = [command for command in COMMANDS if "8003" in command]
ELSEWHERE = ("--engine tcp", "dask ", "8003")
HERE = [command for command in COMMANDS if not any(word in command for word in ELSEWHERE)]
PROGRAM = """\
#!/usr/bin/env python3
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "decide":
        print(json.dumps({"decision": message["decisions"][0]}), flush=True)
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with what the page speaks of."""
    (policy,) = re.findall(r"^```python\n(.*?)^```", TEXT, re.M | re.S)
    (tmp_path / "mypolicy.py").write_text(policy)
    program = tmp_path / "mybot"
    program.write_text(PROGRAM.replace("/usr/bin/env python3", sys.executable))
    program.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])  # the policy is found in the folder in which the command is run
    monkeypatch.setenv("PISTE_HOME", str(tmp_path / "home"))
    yield tmp_path
    sys.modules.pop("mypolicy", None)


def run(command: str) -> None:
    program, *words = shlex.split(command)
    assert program == "piste"
    assert main(words) == 0, command


def test_the_page_has_commands_of_every_kind() -> None:
    assert len(COMMANDS) >= 12
    for word in ("--gauntlet", "--sprt", "--review", "--resume", "--html", "--engine", "cmd:", "players=3"):
        assert any(word in command for command in COMMANDS)


@pytest.mark.skipif(sys.platform == "win32", reason="programs are started as on POSIX")
@pytest.mark.parametrize("command", slow_if(lambda command: bool(re.search("cluster|--review", command)), HERE[2:]))
def test_a_command_runs(command: str, folder: Path) -> None:
    run(command)
    assert folder.is_dir()


def test_the_first_two_belong_together(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(HERE[0])
    first = capsys.readouterr().out
    run(HERE[1])
    assert capsys.readouterr().out.splitlines()[1:] == first.splitlines()[2:]  # the first line names the file
    page = (folder / "levels.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert "http" not in page  # nothing is fetched


@pytest.mark.skipif(sys.platform == "win32", reason="processes are interrupted as on POSIX")
def test_a_program_that_is_served_elsewhere_plays(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = shlex.split(SERVED.replace("8003", "0"))
    command = [sys.executable, "-m", "piste", *words[1:]]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            (port,) = re.findall(r"^Here it is remote:127\.0\.0\.1:(\d+)\. ", server.stdout.readline())
            run(AGAINST_SERVED.replace("8003", port))
        finally:
            server.send_signal(signal.SIGINT)
            assert server.wait(PATIENCE_S) == 0
    assert re.search(
        r"^ *\d far .* 0  +-$", capsys.readouterr().out, re.M
    )  # no forfeit, and CPU time that is not seen


@pytest.mark.slow
def test_commands_for_a_cluster_run(folder: Path, tmp_path: Path) -> None:
    started = [command for command in COMMANDS if command.startswith("dask")]
    assert started == ["dask scheduler", f"dask worker {SCHEDULER} --nthreads 1"]  # as the cluster here is started
    cluster = Cluster(tmp_path)
    try:
        cluster.start_worker("worker")
        for command in COMMANDS:
            if f"--engine {SCHEDULER}" in command:
                run(command.replace(SCHEDULER, cluster.address))
    finally:
        cluster.close()
    assert folder.is_dir()
