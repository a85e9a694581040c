"""The queue of slow tasks: rows of Procrastinate in the same PostgreSQL. Here they are put in and counted.

A job names what is to be task about and holds nothing else: no card, no seed, and of a network only a keyed hash.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import sqlalchemy as sa

from piste.web.storage.schema import RefusedChangeError

if TYPE_CHECKING:
    from procrastinate.manager import JobManager

DECISION, HINT, REVIEW = "decision", "hint", "review"
QUEUES = {DECISION: "decisions", HINT: "decisions", REVIEW: "reviews"}  # by the kind of a job


class QueueFullError(RefusedChangeError):
    """A network has too many jobs in the queue already."""


@dataclass(frozen=True)
class PutJob:
    """Puts a job into the queue, unless it waits there already or is being done.

    Of a network that has jobs there, each further one comes later in the queue: so networks take turns.
    """

    kind: str
    lock: str  # the same for the same task
    ids: Mapping[str, str | int]
    network: str = ""
    max_per_network: int = 50

    def __call__(self, connection: sa.Connection) -> None:
        from procrastinate.exceptions import AlreadyEnqueued
        from procrastinate.tasks import configure_task

        found = connection.exec_driver_sql(_IN_QUEUE, {"lock": self.lock, "network": self.network}).one()
        if found.there:
            return
        if found.jobs >= self.max_per_network:
            raise QueueFullError("The bots here are very busy. Wait a moment; the game is kept.")
        try:
            with connection.begin_nested():
                configure_task(
                    name=self.kind,
                    job_manager=_job_manager(),
                    queue=QUEUES[self.kind],
                    lock=self.lock,
                    queueing_lock=self.lock,
                    priority=-found.jobs,
                    connection=connection.connection.driver_connection,
                ).defer(**self.ids, network=self.network)
        except AlreadyEnqueued:  # by another process at the same moment
            pass


_IN_QUEUE = (
    "SELECT count(*) FILTER (WHERE args->>'network' = %(network)s) AS jobs, "
    "coalesce(bool_or(lock = %(lock)s), false) AS there "
    "FROM procrastinate_jobs WHERE status IN ('todo', 'doing')"
)


@cache
def _job_manager() -> JobManager:
    """Return what puts jobs in through the connections that it is given; it has none of its own."""
    from procrastinate import SyncPsycopgConnector
    from procrastinate.manager import JobManager

    return JobManager(SyncPsycopgConnector())


class JobCount(NamedTuple):
    """The jobs of a kind in one state."""

    kind: str
    state: str  # waiting, running or failed
    jobs: int
    retried: int  # how many of them were begun before
    oldest_s: float  # since the oldest of them was put in


def job_counts(connection: sa.Connection) -> list[JobCount]:
    return [JobCount(*row) for row in connection.exec_driver_sql(_COUNT)]


_COUNT = (
    "SELECT j.task_name, CASE j.status WHEN 'todo' THEN 'waiting' WHEN 'doing' THEN 'running' ELSE 'failed' END, "
    "count(*), count(*) FILTER (WHERE j.attempts > 0), "
    "coalesce(extract(epoch FROM clock_timestamp() - min(e.at)), 0)::float "
    "FROM procrastinate_jobs j LEFT JOIN procrastinate_events e ON e.job_id = j.id AND e.type = 'deferred' "
    "GROUP BY 1, 2"
)


def job_takers(connection: sa.Connection) -> int:
    """Return how many take jobs from the queue; one that has not been heard of lately is removed by the others."""
    return int(connection.exec_driver_sql("SELECT count(*) FROM procrastinate_workers").scalar() or 0)


# Procrastinate's own schema


def upgrade(connection: sa.Connection, folder: Path | None = None) -> None:
    """Make the tables of Procrastinate, or take the steps that its installed version has added.

    Its steps say when they may be taken: "pre" before the programs of that version run, "post" once those of the
    version before are gone. When that is, is not known here, so the "post" steps of a version are taken when the
    next one is installed: its programs never run beside those of the version before the last.
    """
    from procrastinate.schema import SchemaManager

    folder = folder or Path(SchemaManager.get_migrations_path())
    steps = sorted(path.name for path in folder.glob("*.sql"))
    if not connection.exec_driver_sql("SELECT to_regclass('procrastinate_jobs') IS NOT NULL").scalar():
        _execute(connection, SchemaManager.get_schema())
        _note(connection, steps[-1])
    # The comment goes with the tables into a backup, and says which of them these are.
    last = connection.exec_driver_sql("SELECT obj_description(to_regclass('procrastinate_jobs'))").scalar()
    for step in pending(steps, last or steps[-1]):
        _execute(connection, (folder / step).read_text(encoding="utf-8"))
        _note(connection, step)


def _note(connection: sa.Connection, step: str) -> None:
    _execute(connection, f"COMMENT ON TABLE procrastinate_jobs IS '{step}'")


def pending(steps: list[str], last: str) -> list[str]:
    """Return the steps to be taken after the last one that was."""
    newest = steps[-1].partition("_")[0]
    return [step for step in steps if step > last and not (step.startswith(newest) and "_post_" in step)]


def _execute(connection: sa.Connection, script: str) -> None:
    """Run several statements, in which per cent signs mean themselves."""
    connection.exec_driver_sql(script, execution_options={"no_parameters": True})
