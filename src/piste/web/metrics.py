"""Metrics of the server for Prometheus. Nothing here names a player or a room."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

CONTENT_TYPE = CONTENT_TYPE_LATEST
_THOUGHT_BUCKETS_S = (0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0)
_COMMIT_BUCKETS_S = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 1.0, 5.0)


class Metrics:
    """The metrics of one server, in a registry of their own."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        own = self.registry
        ProcessCollector(registry=own)  # memory, CPU time and open files, where the system tells them
        self._rooms = Gauge("piste_rooms_live", "Tables held in memory", registry=own)
        self._sockets = Gauge("piste_sockets_open", "Open websockets", registry=own)
        self._decisions = Counter("piste_decisions", "Decisions taken", ["game"], registry=own)
        self._refusals = Counter("piste_refusals", "Requests and messages refused", ["kind"], registry=own)
        self._thoughts = Histogram(
            "piste_thought_seconds",
            "How long bots, hints and reviews took",
            ["kind"],
            buckets=_THOUGHT_BUCKETS_S,
            registry=own,
        )
        self._commits = Histogram(
            "piste_commit_seconds", "From a decision to its being durable", buckets=_COMMIT_BUCKETS_S, registry=own
        )
        self._requests = Counter("piste_requests", "Requests answered", ["status"], registry=own)

    def rooms_live(self, count: int) -> None:
        self._rooms.set(count)

    def socket_opened(self) -> None:
        self._sockets.inc()

    def socket_closed(self) -> None:
        self._sockets.dec()

    def decided(self, game: str) -> None:
        self._decisions.labels(game).inc()

    def refused(self, kind: str) -> None:
        """Count a refusal; kinds are few and written in the program, never taken from a message."""
        self._refusals.labels(kind).inc()

    def thought(self, kind: str, seconds: float) -> None:
        self._thoughts.labels(kind).observe(seconds)

    def committed(self, seconds: float) -> None:
        self._commits.observe(seconds)

    def answered(self, status: int) -> None:
        self._requests.labels(f"{status // 100}xx").inc()

    def text(self) -> bytes:
        """Return all metrics in the text format of /metrics."""
        return generate_latest(self.registry)
