"""Attackers beside innocents: what one network asks for within its limits, and how long somebody else then waits.

Attackers call from 127.0.1.x, innocents from 127.0.0.2 and 127.0.0.3: different networks to the server. Each attack
is run beside two people who play on; how long they wait is told in rounds of the loop (`piste bench`) and as a ratio
to the same without the attack. Size 1 is that at which the attacks were first made:

    python -m tests.web.attacks [SIZE [ATTACK ...]]
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from html import unescape
from pathlib import Path
from statistics import median
from typing import Any

from piste.cli.commands.bench.harness import calibration
from piste.cli.commands.bench.serve_clients import BUTTON, NUMBER
from piste.web.server import raise_file_limit
from tests.limits import PATIENCE_S, wait_until
from tests.web.attack_client import LOOPBACK, Client, Line, Server, frame, serving

SIZE = float(os.environ.get("PISTE_ATTACK", "1"))
ADA, BEN = "127.0.0.2", "127.0.0.3"
PACE = 0.25
"""Seconds from one decision of the innocents to the next."""


def many(full: int) -> int:
    return max(4, round(full * SIZE))


def network(at: int) -> str:
    """Return one of nine networks of attackers."""
    return f"127.0.1.{1 + at % 9}"


class Innocents:
    """Two people at a table, each with a line, who decide in turn."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._open()

    def _open(self) -> None:
        code, ada = self._server.open(ADA, "zero-sum-grid", turns="2000")
        ben = self._server.sit(BEN, code)
        self._lines = [self._server.line(ADA, code, ada), self._server.line(BEN, code, ben)]
        self._parts: list[dict[str, str]] = [{}, {}]
        for at in (0, 1):
            self._hear(at)

    def _hear(self, at: int) -> None:
        """Wait until a line has told what there is to decide now."""
        message = self._lines[at].until(lambda message: "choices" in message.get("parts", ()))
        self._parts[at] |= message["parts"]

    def decide(self) -> float:
        """Take one decision; return the seconds until the other one was told."""
        if not any(BUTTON.search(part) for parts in self._parts for part in parts.values()):
            self._open()
        mover = 0 if any(BUTTON.search(part) for part in self._parts[0].values()) else 1
        decisions = [unescape(text) for part in self._parts[mover].values() for text in BUTTON.findall(part)]
        number = NUMBER.search(self._parts[mover]["choices"])
        assert number
        began = time.perf_counter()
        self._lines[mover].send({"id": number[1], "do": "decide", "decision": decisions[0], "number": int(number[1])})
        self._hear(1 - mover)
        spent = time.perf_counter() - began
        self._hear(mover)
        return spent

    def play(self, during: Callable[[], bool], least: int) -> list[float]:
        """Play while something is so, and so many decisions at least."""
        times: list[float] = []
        while during() or len(times) < least:
            times.append(self.decide())
            time.sleep(PACE)
        return times


def p99(times: list[float]) -> float:
    return sorted(times)[math.ceil(0.99 * len(times)) - 1]


def beside(server: Server, attack: Callable[[Client], None]) -> dict[str, object]:
    """Let innocents play without and with an attack, and return how long they waited."""
    innocents = Innocents(server)
    least = 8 if SIZE < 1 else 40
    before = innocents.play(lambda: False, least)
    with begun(server, attack) as attacking:
        under = innocents.play(lambda: attacking.poll() is None, least)
        assert attacking.wait(PATIENCE_S) == 0
    loop = calibration()
    return {
        "attack": attack.__name__,
        "decisions": len(under),
        "median_ms": 1000 * median(under),
        "p99_ms": 1000 * p99(under),
        "p99_rounds": p99(under) * loop,
        "ratio": p99(under) / p99(before),
    }


def begun(server: Server, attack: Callable[[Client], None]) -> subprocess.Popen[str]:
    """Begin an attack in a process of its own: its work must not keep the innocents' clients from their clock."""
    return subprocess.Popen(
        [sys.executable, "-m", "tests.web.attacks", "--attack", attack.__name__, str(server.port)],
        env={**os.environ, "PISTE_ATTACK": str(SIZE)},
        stdout=subprocess.PIPE,
        text=True,
    )


def stopping(server: Server) -> dict[str, object]:
    """A server that is told to stop in the middle of unreadable decisions ends."""
    innocents = Innocents(server)
    times = [innocents.decide() for _ in range(5)]
    with begun(server, unreadable) as attacking:
        assert attacking.stdout is not None
        assert attacking.stdout.readline() == SENT
        began = time.perf_counter()
        ended = server.stop(signal.SIGTERM)
        spent = time.perf_counter() - began
    return {"attack": "stopping", "decisions": len(times), "stopping_ms": 1000 * spent, "ended": ended}


def unreadable(server: Client) -> None:
    """Many sockets of one network, each with as many decisions at once as one may send, that nobody can read."""
    lines = many_lines(server)
    for wave in range(3):
        for line in lines:
            with contextlib.suppress(OSError):
                line.socket.sendall(WAVE)
        if wave == 0:
            print(SENT, end="", flush=True)
        time.sleep(1.0)


SENT = "sent\n"
"""What an attacker says whose decisions are on their way."""

WAVE = b"".join(
    frame(json.dumps({"id": f"{at}", "do": "decide", "decision": f"qw{at}ertzui", "number": 0})) for at in range(38)
)
"""As many decisions as a socket may send at once."""


def many_lines(server: Client) -> list[Line]:
    """Return many sockets of one network at one table."""
    source, count = "127.0.1.1", many(490)
    code, cookie = server.open(source, "mccoy-duel")
    other = server.sit(source, code)
    lines: list[Line] = []
    while len(lines) < count:
        line = server.line(source, code, cookie if len(lines) % 2 else other)
        if line.status == 101:
            lines.append(line)
        else:
            time.sleep(1.0)  # so many a second
    return lines


def resets(server: Client) -> None:
    """Sockets from nine networks that break without a word."""
    code, _ = server.open("127.0.1.1", "prime-duel")
    for at in range(many(4000)):
        Line(server.port, network(at), code).reset()


def pictures(server: Client) -> None:
    """QR codes for hosts of every kind, and whole pages."""
    source = "127.0.1.1"
    code, _ = server.open(source, "prime-duel")
    for at in range(many(800)):
        server.ask("GET", f"/t/{code}/qr.svg", source, host=f"{at:a>90}.example")
        server.ask("GET", f"/t/{code}?log=all", source)


def rematches(server: Client) -> None:
    """One rematch after another, over a websocket."""
    source = "127.0.1.1"
    code, cookie = server.open(source, "prime-duel", "steady")
    for _ in range(many(800)):
        line = server.line(source, code, cookie)
        if line.status != 101:
            return
        line.send({"id": "a", "do": "resign"}, {"id": "b", "do": "rematch"})
        answer = line.until(lambda message: message.get("re") == "b")
        line.close()
        if not answer["ok"]:
            return
        code = answer["go"].rpartition("/")[2]


def silent(server: Client) -> None:
    """Connections of several networks that say nothing, or begin to say something and go on byte by byte."""
    raise_file_limit(16_384)
    held = []
    for at in range(many(5000)):
        with contextlib.suppress(OSError):
            held.append(socket.create_connection((LOOPBACK, server.port), 5.0, (network(at), 0)))
            if at % 2:
                held[-1].sendall(b"GET / HTTP/1.1\r\nHost: a\r\nX: ")
    time.sleep(2.0)
    for one in held:
        one.close()


class Versus:
    """Somebody who plays Prime Duel against a bot, and hears of its decisions at once."""

    def __init__(self, server: Client, source: str, level: str, **options: str) -> None:
        self.server, self.source = server, source
        self.code, self.cookie = server.open(source, "prime-duel", level, **options)
        self._line = server.line(source, self.code, self.cookie)
        self._choices = ""
        self._wait_for_turn()

    def _wait_for_turn(self) -> None:
        def comes(message: dict[str, Any]) -> bool:
            self._choices = message.get("parts", {}).get("choices", self._choices)
            return self.over or bool(BUTTON.search(self._choices))

        self._line.until(comes)

    @property
    def over(self) -> bool:
        return 'class="panel"' in self._choices

    @property
    def _number(self) -> int:
        number = NUMBER.search(self._choices)
        assert number
        return int(number[1])

    def thought(self) -> float | None:
        """Decide; return the seconds that the bot took for each of its decisions, or None if it had none."""
        before, button = self._number, BUTTON.search(self._choices)
        assert button
        began = time.perf_counter()
        self._line.send({"id": f"{before}", "do": "decide", "decision": unescape(button[1]), "number": before})
        self._choices = ""
        self._wait_for_turn()
        spent = time.perf_counter() - began
        many_decisions = self._number - before - 1  # it may go again
        return spent / many_decisions if many_decisions > 0 else None

    def ask_review(self) -> bool:
        """Say whether the game's review is made; it is begun for whoever asks first."""
        if not self.over:
            assert self.server.ask("POST", f"/t/{self.code}/resign", self.source, {}, self.cookie).status == 200
            self._choices = 'class="panel"'
        got = self.server.ask("GET", f"/t/{self.code}/review", self.source, cookie=self.cookie)
        return got.status != 202

    def review(self) -> float:
        """Return the seconds until the game's review is made."""
        began = time.perf_counter()
        wait_until(self.ask_review)
        return time.perf_counter() - began


def thoughts(server: Client, level: str, count: int = 0) -> list[float]:
    """Return how long a bot of this level takes for its decisions against Ada."""
    times: list[float] = []
    count = count or (8 if SIZE < 1 else 40)
    while len(times) < count:
        table = Versus(server, ADA, level)
        while not table.over and len(times) < count:
            spent = table.thought()
            times += [] if spent is None else [spent]
            time.sleep(PACE)
    return times


def odd(at: int) -> dict[str, str]:
    """Return options that nobody has prepared, for which the strongest bot is dearest; it begins.

    With `target=500` a decision would take minutes: such a table is refused.
    """
    return {"top": "15", "copies": "2", "target": str(149 - at), "turns": str(1999 - at), "first": "2"}


def thinkers(server: Server) -> dict[str, object]:
    """The dearest bots that are offered: how long somebody else's quick bot and strongest bot take to answer."""
    usual = {}
    for level in ("steady", "perfect"):
        thoughts(server, level, 1)  # a process has to be started, and the stronger bot prepared
        usual[level] = thoughts(server, level)
    began = time.perf_counter()
    Versus(server, "127.0.1.1", "perfect", **odd(0))
    turn = time.perf_counter() - began
    asked = [server.open("127.0.1.1", "prime-duel", "perfect", **odd(at)) for at in range(1, many(60))]
    steady, perfect = thoughts(server, "steady"), thoughts(server, "perfect")
    news = [server.ask("GET", f"/t/{code}/news", "127.0.1.1", cookie=cookie).text for code, cookie in asked]
    return {
        "attack": "thinkers",
        "decisions": len(steady) + len(perfect),
        "p99_ms": 1000 * p99(steady),
        "usual_ms": 1000 * median(usual["steady"]),
        "perfect_ms": 1000 * p99(perfect),
        "perfect_usual_ms": 1000 * median(usual["perfect"]),
        "turn_ms": 1000 * turn,  # of the attacker: what is asked for once, alone
        "unanswered": sum("Your turn" not in text for text in news),  # of the attacker, when all this was measured
    }


def reviews(server: Server) -> dict[str, object]:
    """Reviews of three games with odd options are asked for, then that of somebody else."""

    def played(source: str, **options: str) -> Versus:
        table = Versus(server, source, "steady", **options)
        for _ in range(25):
            if not table.over:
                table.thought()
        return table

    played(ADA).review()  # a process has to be started, and the usual options prepared
    ours = [played(ADA) for _ in range(6)]
    usual = [table.review() for table in ours[:3]]
    turn = played("127.0.1.1", **odd(0)).review()
    attackers = [played("127.0.1.1", **odd(at)) for at in (1, 2, 3)]
    made = [table.ask_review() for table in attackers]
    under = [table.review() for table in ours[3:]]
    return {
        "attack": "reviews",
        "decisions": sum(not done for done in made) + len(under),
        "review_ms": 1000 * max(under),
        "review_usual_ms": 1000 * max(usual),
        "turn_ms": 1000 * turn,
    }


ATTACKS = {attack.__name__: attack for attack in (unreadable, resets, pictures, rematches, silent)}
ALONE = {attack.__name__: attack for attack in (thinkers, reviews, stopping)}


def main() -> None:
    names = sys.argv[2:] or [*ATTACKS, *ALONE]
    for name in names:
        with tempfile.TemporaryDirectory() as folder, serving(Path(folder), thinkers=1) as server:
            row = ALONE[name](server) if name in ALONE else beside(server, ATTACKS[name])
            if "ended" not in row:
                row["ended"] = server.stop(signal.SIGTERM)
        print(json.dumps(row), flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--attack"]:
        ATTACKS[sys.argv[2]](Client(int(sys.argv[3])))
    else:
        SIZE = float(sys.argv[1]) if len(sys.argv) > 1 else SIZE
        main()
