"""Metrics of the server for Prometheus. Nothing here names a player or a room."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest

_THOUGHT_BUCKETS_S = (0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0)
_COMMIT_BUCKETS_S = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 1.0, 5.0)


class Metrics:
    """The metrics of one server, in a registry of their own."""

    def __init__(self) -> None:
        own = self.registry = CollectorRegistry()
        ProcessCollector(registry=own)  # memory, CPU time and open files, where the system tells them
        self.rooms = Gauge("piste_rooms_live", "Tables held in memory", registry=own)
        self.sockets = Gauge("piste_sockets_open", "Open websockets", registry=own)
        self.decisions = Counter("piste_decisions", "Decisions taken", ["game"], registry=own)
        # Kinds of refusals are few and written in the program, never taken from a message.
        self.refusals = Counter("piste_refusals", "Requests and messages refused", ["kind"], registry=own)
        self.thoughts = Histogram(
            "piste_thought_seconds", "How long bots, hints and reviews took", ["kind"],
            buckets=_THOUGHT_BUCKETS_S, registry=own,
        )  # fmt: skip
        self.commits = Histogram(
            "piste_commit_seconds", "From a decision to its being durable", buckets=_COMMIT_BUCKETS_S, registry=own
        )
        self.requests = Counter("piste_requests", "Requests answered", ["status"], registry=own)

    def text(self) -> bytes:
        """Return all metrics in the text format of /metrics."""
        return generate_latest(self.registry)
