"""Metrics of the server for Prometheus. Nothing here names a player or a room."""

from __future__ import annotations

import os
from functools import cache
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

from piste.web.storage.jobs import QUEUES, JobCount
from piste.web.supervisor import METRICS_FOLDER

_THOUGHT_BUCKETS_S = (0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0)
_COMMIT_BUCKETS_S = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 1.0, 5.0)


class Metrics:
    """The metrics of one server, in a registry of their own.

    Processes that a supervisor has started on one socket answer for all of them together: who asks cannot choose one.
    """

    def __init__(self) -> None:
        own = self.registry = CollectorRegistry()
        self._together = METRICS_FOLDER in os.environ
        ProcessCollector(registry=own)  # memory, CPU time and open files, where the system tells them
        self.rooms = Gauge("piste_rooms_live", "Tables held in memory", registry=own, multiprocess_mode="livesum")
        self.sockets = Gauge("piste_sockets_open", "Open websockets", registry=own, multiprocess_mode="livesum")
        # To find the counter of a game takes longer than to count.
        self.decisions_of = cache(Counter("piste_decisions", "Decisions taken", ["game"], registry=own).labels)
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
        # Of a database that several processes share: each of them reads the same numbers from it.
        jobs: Any = {"registry": own, "multiprocess_mode": "mostrecent"}
        self._jobs = Gauge("piste_jobs", "Slow decisions, hints and reviews", ["kind", "state"], **jobs)
        self._retried = Gauge("piste_jobs_retried", "Jobs there that were begun before", ["kind"], **jobs)
        self._oldest = Gauge("piste_jobs_oldest_seconds", "Age of the oldest job", ["kind", "state"], **jobs)
        self._takers = Gauge("piste_job_takers", "How often a queue is being read, by all processes", **jobs)

    def note_jobs(self, counts: list[JobCount], takers: int) -> None:
        """Take the numbers of jobs as they are now."""
        self._takers.set(takers)
        for kind in QUEUES:
            of_kind = {count.state: count for count in counts if count.kind == kind}
            self._retried.labels(kind).set(sum(count.retried for count in of_kind.values()))
            for state in ("waiting", "running", "failed"):
                count = of_kind.get(state, JobCount(kind, state, 0, 0, 0.0))
                self._jobs.labels(kind, state).set(count.jobs)
                self._oldest.labels(kind, state).set(count.oldest_s)

    def text(self) -> bytes:
        """Return all metrics in the text format of /metrics."""
        if not self._together:
            return generate_latest(self.registry)
        collected = CollectorRegistry()
        MultiProcessCollector(collected)  # type: ignore[no-untyped-call]
        return generate_latest(collected)
