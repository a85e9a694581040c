"""`piste serve --workers`: several server processes on one socket, and what the supervisor does when one ends."""

from __future__ import annotations

import os
import re
import signal
from pathlib import Path

import pytest

from tests.limits import wait_until
from tests.postgres_server import PostgresServer
from tests.web.server_process import posix, serving


def gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


@posix
def test_two_processes_share_a_socket_and_stop_together(postgres: PostgresServer, tmp_path: Path) -> None:
    with serving(tmp_path, "--db", postgres.database(), "--workers", "2") as server:
        server.ready()
        children = server.children()
        assert {"server 1", "server 2"} <= set(children)
        assert server.get("/readyz").status_code == 200
        assert server.stop() == 0
        assert "Traceback" not in server.text
        assert "All tables are kept" in server.text
        assert all(map(gone, children.values()))
        assert server.events("process ended") == []


@posix
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_process_that_ends_is_replaced(postgres: PostgresServer, tmp_path: Path, number: int) -> None:
    with serving(tmp_path, "--db", postgres.database(), "--workers", "2") as server:
        server.ready()
        before = server.children()
        os.kill(before["server 1"], number)
        wait_until(lambda: server.children()["server 1"] != before["server 1"], lambda: server.text)
        assert server.children().items() - before.items() == {("server 1", server.children()["server 1"])}
        (ended,) = server.events("process ended")
        assert ended["exit_code"] == (-number if number == signal.SIGKILL else 0)
        assert server.get("/readyz").status_code == 200
        assert server.stop() == 0


@posix
def test_a_supervisor_that_is_killed_leaves_no_process_behind(postgres: PostgresServer, tmp_path: Path) -> None:
    with serving(tmp_path, "--db", postgres.database(), "--workers", "2") as server:
        children = server.ready().children()
        server.process.kill()
        wait_until(lambda: all(map(gone, children.values())))


@posix
def test_one_scrape_answers_for_all_processes(postgres: PostgresServer, tmp_path: Path) -> None:
    with serving(tmp_path, "--db", postgres.database(), "--workers", "2") as server:
        server.ready()
        for _ in range(20):  # each on a connection of its own, so on either process
            assert server.get("/").status_code == 200
        scrapes = [server.get("/metrics").text for _ in range(8)]
        counts = [float(re.findall(r'piste_requests_total\{status="2xx"\} (\S+)', text)[0]) for text in scrapes]
        assert counts == sorted(counts)
        assert counts[0] >= 20
        assert all("piste_sockets_open 0.0" in text for text in scrapes)
        assert server.stop() == 0


def test_a_server_that_finds_no_database_says_so_and_ends(postgres: PostgresServer, tmp_path: Path) -> None:
    away = postgres.database().replace(str(postgres.port), "9").replace("piste@", "piste:s3cret@")  # nobody is there
    for words in ((), ("--workers", "2")):
        with serving(tmp_path, "--db", away, *words) as server:
            assert server.wait() == 1
            said = [line for line in server.err if line.startswith("piste: ")]
            assert len(said) == 1, server.text
            assert said[0].startswith("piste: The database postgresql://piste:***@127.0.0.1:9/"), said
            assert "cannot be opened" in said[0]
            assert "Traceback" not in server.text
            assert "s3cret" not in server.text
