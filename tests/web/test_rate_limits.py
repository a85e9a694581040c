"""How much one address may do, and what is noted and counted of it."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from piste.web import logging as logs
from piste.web.metrics import Metrics
from piste.web.middleware.rate_limits import RATES, REFUSALS, Limits, Rate, TokenBucket, network_of
from tests.web.guarded_app import FORM, OURS, SECRET, SETTINGS, Clock, ask, connect, guarded, overheard


@pytest.fixture(name="noted")
def _noted() -> Iterator[io.StringIO]:
    with overheard() as out:
        yield out


# Rates


def test_a_bucket_gives_what_it_holds_and_then_what_time_brings() -> None:
    bucket = TokenBucket(Rate(3, 0.5), 10.0)
    assert [bucket.take(10.0) for _ in range(4)] == [0, 0, 0, 2.0]
    assert bucket.take(11.0) == 1.0
    assert bucket.take(12.0) == 0
    assert bucket.take(12.0) > 0
    assert [bucket.take(1e9) for _ in range(4)][2:] == [0, 2.0]  # never more than it can hold


def test_a_clock_that_goes_back_gives_nothing_away() -> None:
    bucket = TokenBucket(Rate(1, 1), 10.0)
    assert bucket.take(10.0) == 0
    assert bucket.take(5.0) == 1.0
    assert bucket.take(10.5) == 0.5


@given(
    some.lists(some.floats(0, 100), max_size=60).map(sorted), some.integers(1, 5), some.floats(0.1, 3)
)  # fmt: skip
def test_a_bucket_never_gives_more_than_its_rate(times: list[float], burst: int, a_second: float) -> None:
    bucket = TokenBucket(Rate(burst, a_second), 0.0)
    given_at = [time for time in times if bucket.take(time) == 0]
    for first in range(len(given_at)):
        for last in range(first, len(given_at)):
            assert last - first + 1 <= burst + (given_at[last] - given_at[first]) * a_second + 1e-6


def test_too_many_requests_are_answered_with_when_to_come_back() -> None:
    clock = Clock()
    metrics = Metrics()
    app = guarded(Limits(clock, {**RATES, "requests": Rate(2, 0.1)}), metrics)
    assert [ask(app).status for _ in range(3)] == [200, 200, 429]
    found = ask(app)
    assert found.headers["retry-after"] == "10"
    assert REFUSALS["requests"] in found.text
    assert found.headers["content-security-policy"]
    assert ask(app, client="203.0.113.6").status == 200
    clock.now += 10
    assert ask(app).status == 200
    text = metrics.text().decode()
    assert 'piste_refusals_total{kind="requests"} 2.0' in text
    assert 'piste_requests_total{status="2xx"} 4.0' in text
    assert 'piste_requests_total{status="4xx"} 2.0' in text


def test_whoever_asks_for_json_is_refused_in_json() -> None:
    app = guarded(Limits(Clock(), {**RATES, "posts": Rate(1, 1)}))
    headers = {**FORM, "accept": "application/json"}
    assert ask(app, "POST", "/", headers, b"a=1").status == 200
    found = ask(app, "POST", "/", headers, b"a=1")
    assert found.status == 429
    assert json.loads(found.text) == {"ok": False, "said": REFUSALS["posts"]}


def test_sockets_are_limited_in_rate_in_number_and_in_all() -> None:
    def refused(app: Any) -> int:
        sent = connect(app, OURS)
        return int(sent[0].get("status", 0))

    app = guarded(Limits(Clock(), {**RATES, "sockets": Rate(2, 1)}))
    assert [refused(app) for _ in range(3)] == [0, 0, 429]
    assert refused(guarded(Limits(Clock(), max_sockets=0))) == 429
    assert refused(guarded(settings=SETTINGS._replace(max_sockets=0))) == 503


def test_a_socket_that_ended_is_held_against_nobody() -> None:
    limits = Limits(Clock(), max_sockets=1)
    metrics = Metrics()
    app = guarded(limits, metrics, SETTINGS._replace(max_sockets=1))
    for _ in range(3):
        assert connect(app, OURS)[0]["type"] == "websocket.accept"
    assert "piste_sockets_open 0.0" in metrics.text().decode()


def test_each_socket_has_its_own_count_of_messages() -> None:
    clock = Clock()
    limits = Limits(clock, {**RATES, "messages": Rate(2, 1)})
    one, other = limits.message_limiter("here"), limits.message_limiter("here")
    assert [one(), one(), one()] == [0, 0, 1.0]
    assert other() == 0
    clock.now += 1
    assert one() == 0


def test_the_sockets_of_a_network_share_what_it_may_send() -> None:
    limits = Limits(Clock(), {**RATES, "traffic": Rate(3, 1)})
    many = [limits.message_limiter("one") for _ in range(10)]
    assert [socket() > 0 for socket in many] == [False] * 3 + [True] * 7
    assert limits.message_limiter("another")() == 0


def test_however_many_addresses_come_few_are_remembered() -> None:
    limits = Limits(Clock(), {**RATES, "requests": Rate(1, 0.001)}, max_networks=100)
    assert limits.take("requests", "steady") == 0
    for number in range(1000):
        limits.take("requests", f"stranger {number}")
        assert limits.take("requests", "steady") > 0  # who keeps asking is not forgotten
    assert len(limits._buckets["requests"]) == 100


def test_a_household_with_a_whole_network_counts_as_one() -> None:
    def of(client: str) -> str:
        return network_of({"client": (client, 1)})

    assert of("2001:db8:1:2:3:4:5:6") == of("2001:db8:1:2::1") != of("2001:db8:1:3::1")
    assert of("::ffff:203.0.113.5") == of("203.0.113.5") != of("203.0.113.6")
    assert of("fe80::1%eth0") == of("fe80::2")
    assert network_of({"client": None}) == network_of({}) == ""
    assert len(of("x" * 1000)) <= 64


def test_without_limits_everything_passes() -> None:
    limits = Limits.off()
    assert all(limits.take(kind, "one") == 0 for kind in RATES for _ in range(2000))
    assert limits.message_limiter()() == 0


# Logs and metrics


def test_a_line_of_the_log_is_one_object_and_holds_nothing_private(noted: io.StringIO) -> None:
    logs.info(
        "table opened",
        room=logs.room_hash("ABCDEFGH12345678"),
        seats=2,
        name="Éva",
        code="ABCDEFGH12345678\n",
        at=None,
    )
    logging.getLogger("uvicorn.error").warning('%s - "WebSocket %s" 403', "203.0.113.5:4000", "/t/ABCDEFGH12345678")
    logging.getLogger("asyncio").error(f"Task exception was never retrieved\nfuture: <{SECRET}>")
    lines = [json.loads(line) for line in noted.getvalue().splitlines()]
    assert [line["event"] for line in lines] == ["table opened", "uvicorn.error", "asyncio"]
    assert lines[0]["seats"] == 2
    assert lines[0]["at"] is None
    assert lines[0]["time"].endswith("Z")
    for secret in ("ABCDEFGH12345678", "Éva", "203.0.113.5", SECRET):
        assert secret not in noted.getvalue()


def test_a_room_is_known_by_the_same_short_name_in_all_lines() -> None:
    assert logs.room_hash("A") == logs.room_hash("A") != logs.room_hash("B")
    assert len(logs.room_hash("A" * 16)) == 12


def test_what_is_counted_can_be_read() -> None:
    metrics = Metrics()
    metrics.rooms.set(3)
    metrics.decisions_of("prime-duel").inc()
    metrics.thoughts.labels("steady").observe(0.3)
    metrics.commits.observe(0.004)
    metrics.sockets.inc()
    text = metrics.text().decode()
    for line in (
        "piste_rooms_live 3.0",
        'piste_decisions_total{game="prime-duel"} 1.0',
        'piste_thought_seconds_count{kind="steady"} 1.0',
        'piste_commit_seconds_bucket{le="0.005"} 1.0',
        "piste_sockets_open 1.0",
    ):
        assert line in text.splitlines()
    Metrics()  # another one does not meet the first
