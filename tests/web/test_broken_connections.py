"""Lines that break without a word: a reset, silence, a client that goes while it is being answered."""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.limits import PATIENCE_S, wait_until
from tests.web.attack_client import LOOPBACK, Line, Server, serving

ADA, BEN = "127.0.0.2", "127.0.0.3"


def is_away(server: Server, code: str, who: str) -> bool:
    """Whether the other player is told that whoever is to decide can be claimed."""
    got = server.ask("GET", f"/t/{code}/news", BEN, cookie=who)
    return 'data-do="claim"' in json.loads(got.text)["parts"]["offers"]


def to_act(server: Server, code: str, cookie: str) -> bool:
    got = server.ask("GET", f"/t/{code}/news", BEN, cookie=cookie)
    return "Your turn" in json.loads(got.text)["parts"]["status"]


def reset(line: Line) -> None:
    line.reset()


def vanish(_line: Line) -> None:
    """Say nothing more, not even the answer to a ping."""


@pytest.mark.parametrize("breaks", [reset, vanish])
def test_a_broken_line_frees_its_place_and_its_counts(breaks, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    with serving(tmp_path, patience=0.5, ping=0.5) as server:
        code, ada = server.open(ADA, "zero-sum-grid")
        ben = server.sit(BEN, code)
        gone, stays = (ada, ben) if to_act(server, code, ada) else (ben, ada)
        line = server.line(ADA, code, gone)
        assert line.heard()
        assert server.metric("piste_sockets_open") == 1
        breaks(line)
        wait_until(lambda: server.metric("piste_sockets_open") == 0, lambda: "the socket never ends")
        wait_until(lambda: is_away(server, code, stays), lambda: "nobody can claim the turn")


def test_many_broken_lines_lock_nobody_out(tmp_path: Path) -> None:
    with serving(tmp_path, max_sockets=40) as server:
        code, ada = server.open(ADA, "prime-duel")
        for _ in range(3):
            lines = [server.line("127.0.1.1", code) for _ in range(40)]
            assert {line.status for line in lines} == {101}
            for line in lines:
                line.heard()
                line.reset()
            wait_until(lambda: server.metric("piste_sockets_open") == 0)
        assert server.line(ADA, code, ada).status == 101


@pytest.mark.parametrize("head", [b"", b"GET / HTTP/1.1\r\nHost: a\r\nX-Slow: "])
def test_who_sends_no_request_or_half_of_one_is_cut_off(head: bytes, tmp_path: Path) -> None:
    with serving(tmp_path, head_timeout_s=0.5) as server:
        with socket.create_connection(("127.0.0.1", server.port), PATIENCE_S, (ADA, 0)) as silent:
            silent.sendall(head)
            with contextlib.suppress(ConnectionError):
                assert silent.recv(1) == b""
        assert server.ask("GET", "/healthz", BEN).status == 200


@contextlib.contextmanager
def silence(server: Server, sources: list[str]) -> Iterator[list[socket.socket]]:
    """Hold connections from these addresses that say nothing."""
    with ExitStack() as held:
        yield [
            held.enter_context(socket.create_connection((LOOPBACK, server.port), PATIENCE_S, (source, 0)))
            for source in sources
        ]


def is_cut_off(line: socket.socket) -> bool:
    line.setblocking(False)
    try:
        return line.recv(1) == b""
    except BlockingIOError:
        return False
    except ConnectionError:
        return True


def test_one_network_holds_so_many_silent_connections_and_no_more(tmp_path: Path) -> None:
    with serving(tmp_path, max_connections_per_network=20, head_timeout_s=10 * PATIENCE_S) as server:
        with silence(server, ["127.0.1.1"] * 60) as lines:
            wait_until(lambda: sum(map(is_cut_off, lines)) == 40)
            assert server.ask("GET", "/healthz", ADA).status == 200
            with pytest.raises((ConnectionError, http.client.HTTPException)):
                server.ask("GET", "/healthz", "127.0.1.1")
            assert sum(map(is_cut_off, lines)) == 40
        # Whoever lets go may come again, as soon as the server has seen it.
        wait_until(lambda: answered(server, "127.0.1.1"))


def answered(server: Server, source: str) -> bool:
    with contextlib.suppress(ConnectionError, http.client.HTTPException):
        return server.ask("GET", "/healthz", source).status == 200
    return False


def test_silent_connections_of_many_networks_do_not_keep_the_descriptors(tmp_path: Path) -> None:
    # While there is no descriptor left nobody can be answered; but it does not last, though nobody lets go.
    with serving(tmp_path, files=100, head_timeout_s=1.0) as server:
        with silence(server, [f"127.0.1.{1 + at % 9}" for at in range(180)]) as lines:
            wait_until(lambda: all(map(is_cut_off, lines)))
            wait_until(lambda: answered(server, ADA))
        code, _ = server.open(ADA, "prime-duel")
        assert server.ask("GET", f"/t/{code}", BEN).status == 200


@pytest.mark.parametrize("bound", [{"files": 100, "thinkers": 1}, {"max_silent_connections": 48}])
def test_a_newcomer_takes_the_place_of_who_is_silent_longest_in_the_network_with_most(
    bound: dict[str, int], tmp_path: Path
) -> None:
    # Nobody is too slow here, and no network has more than it may: either bound leaves 48 places.
    networks = [f"127.0.1.{1 + at % 9}" for at in range(180)]
    with (
        serving(tmp_path, head_timeout_s=10 * PATIENCE_S, **bound) as server,
        silence(server, [ADA]) as ours,
        silence(server, networks) as lines,
    ):
        assert server.ask("GET", "/healthz", BEN).status == 200
        wait_until(lambda: sum(map(is_cut_off, lines)) == len(lines) + 2 - 48)
        assert not any(map(is_cut_off, lines[-9:]))
        ours[0].sendall(b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n")
        ours[0].settimeout(PATIENCE_S)
        assert ours[0].recv(15) == b"HTTP/1.1 200 OK"
        code, _ = server.open(BEN, "prime-duel")
        assert server.line(BEN, code).status == 101
