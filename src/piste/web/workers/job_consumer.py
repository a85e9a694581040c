"""Takes jobs from the queue and does them: in a server that has bot workers, or in a process of its own.

Procrastinate keeps the queue: it hands a job to one process at a time, and knows the last heartbeat of each process.
A job that is run again finds its question answered, or answers it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from piste.core.errors import PisteError
from piste.web import logging as logs
from piste.web.middleware.fair_queue import NETWORK
from piste.web.settings import Settings
from piste.web.storage.jobs import DECISION, HINT, QUEUES, REVIEW
from piste.web.storage.postgresql import STATEMENT_TIMEOUT_MS, PostgresDatabase
from piste.web.storage.storage import Storage
from piste.web.tables.bot_runner import BotRunner
from piste.web.tables.bot_tasks import LOST, BotTask, LocalExecutor, LostTaskError
from piste.web.tables.registry import TableNotFoundError, TableRegistry

if TYPE_CHECKING:
    from procrastinate import App, JobContext
    from procrastinate.jobs import Job
    from procrastinate.retry import BaseRetryStrategy

MAX_ATTEMPTS = 4  # a job that was begun so often is given up
MAX_WAIT_S = 8.0  # before it is begun again
# More jobs than bot workers: a bot that is being prepared, perhaps for minutes, does not keep a bot worker idle.
EXTRA_JOBS = 2
CONNECTIONS = 4
POOL_TIMEOUT_S = 5.0
KEEP_FAILED_HOURS = 24  # jobs that were given up stay so long, to be counted and looked at
RESTART_INTERVAL_S = 1.0
CANCEL_INTERVAL_S = 5.0


class GivenUpError(Exception):
    """A job was begun too often; what it was for has been told so."""


@dataclass(eq=False)
class JobConsumer:
    """Does jobs until it is stopped; then it gives back what it has not finished."""

    _storage: Storage
    _registry: TableRegistry
    _here: LocalExecutor
    _bot_runner: BotRunner
    _settings: Settings
    grace_s: float = 0.0  # how long it goes on with what it has begun when it is to end
    keeps_rooms: bool = True  # whether the registry hears of what others change; else each job reads its room anew
    _running: asyncio.Task[None] | None = field(default=None, init=False)
    _parts: list[asyncio.Task[None]] = field(default_factory=list, init=False)  # of what is running

    @property
    def takes_jobs(self) -> bool:
        """Whether there is a queue, and bot workers here: a server without them leaves jobs to other processes."""
        return self._storage.shared and self._settings.thinkers > 0

    def start(self) -> None:
        if self.takes_jobs:
            self._running = asyncio.ensure_future(self._run())

    async def stop(self) -> None:
        """Give back the jobs that are not finished."""
        cancelled = [] if self._running is None else [self._running]
        while self._running is not None and not self._running.done():
            for task in cancelled:
                task.cancel()
            await asyncio.wait({self._running}, timeout=self.grace_s + CANCEL_INTERVAL_S)
            # Python 3.11 loses a cancellation that comes while a group of tasks is ending, or when what is waited for
            # with a timeout comes at the same time. A group cancels its tasks only once, so they are cancelled here.
            cancelled = [self._running, *self._parts]

    async def _run(self) -> None:
        silence_libraries()
        works = True
        while True:
            try:
                async with self._app().open_async() as app, asyncio.TaskGroup() as group:
                    works = True
                    self._parts = [
                        group.create_task(self._take(app, QUEUES[DECISION], self._settings.thinkers + EXTRA_JOBS)),
                        group.create_task(self._take(app, QUEUES[REVIEW], 1)),
                        group.create_task(self._give_back(app)),
                    ]
            except Exception as e:  # the database is away, or was; the libraries have many errors for that
                if works:
                    logs.error("no jobs are taken", e)
                works = False
            await asyncio.sleep(RESTART_INTERVAL_S)

    def _app(self) -> App:
        from procrastinate import App, PsycopgConnector

        database = self._storage.database
        assert isinstance(database, PostgresDatabase)
        app = App(
            connector=PsycopgConnector(
                conninfo=database.conninfo,
                min_size=1,
                max_size=CONNECTIONS,
                timeout=POOL_TIMEOUT_S,
                kwargs={"options": f"-c statement_timeout={STATEMENT_TIMEOUT_MS}"},
            )
        )
        for kind, queue in QUEUES.items():
            app.task(name=kind, queue=queue, retry=retry_strategy(), pass_context=True)(self._task(kind))
        return app

    async def _take(self, app: App, queue: str, concurrency: int) -> None:
        """Take jobs from a queue; it ends when the database is away."""
        times = self._settings.jobs
        await app.run_worker_async(
            queues=[queue],
            name=queue,
            concurrency=concurrency,
            fetch_job_polling_interval=times.poll_s,
            update_heartbeat_interval=times.heartbeat_s,
            stalled_worker_timeout=times.gone_after_s,
            shutdown_graceful_timeout=self.grace_s,
            delete_jobs="successful",
            install_signal_handlers=False,
        )
        raise PisteError("The queue cannot be read just now.")

    async def _give_back(self, app: App) -> None:
        """Give the jobs of workers that are gone to others, again and again; every process does so."""
        from procrastinate.exceptions import ConnectorException

        times = self._settings.jobs
        while True:
            await app.job_manager.prune_stalled_workers(times.gone_after_s)
            for job in await app.job_manager.get_stalled_jobs(seconds_since_heartbeat=times.gone_after_s):
                try:
                    await app.job_manager.retry_job(job)
                except ConnectorException:  # another process was quicker
                    continue
                logs.warning("a job was left behind", kind=job.task_name, attempts=job.attempts + 1)
            await app.job_manager.delete_old_jobs(
                KEEP_FAILED_HOURS, include_failed=True, include_cancelled=True, include_aborted=True
            )
            await asyncio.sleep(times.check_s)

    def _task(self, kind: str) -> Callable[..., Awaitable[None]]:
        async def task(context: JobContext, *, network: str = "", **ids: Any) -> None:
            await self._do(BotTask(kind, **ids), network, context.job.attempts)

        return task

    async def _do(self, task: BotTask, network: str, attempts: int) -> None:
        NETWORK.set(network)
        try:
            async with self._registry.room(task.room) as room:
                room.network = room.network or network
            if attempts >= MAX_ATTEMPTS:
                await self._here.fail(task, LostTaskError(LOST))
                logs.warning("a job was given up", kind=task.kind)
                raise GivenUpError
            if task.kind == HINT:
                await self._here.hint(task)
            elif task.kind == REVIEW:
                await self._here.review(task)
            else:
                await self._here.decide(task)
                await self._bot_runner.play_on(task.room)
        except TableNotFoundError:
            pass
        except PisteError as e:
            if task.kind != HINT:  # why there is no hint is shown, and whoever asked asks again
                logs.error("a job failed", e, kind=task.kind, attempts=attempts)
                raise
        except (GivenUpError, asyncio.CancelledError):
            raise
        except Exception as e:
            logs.error("a job failed", e, kind=task.kind, attempts=attempts)
            raise
        finally:
            if not self.keeps_rooms:
                self._registry.rooms.pop(task.room, None)


def retry_strategy() -> BaseRetryStrategy:
    from procrastinate.retry import BaseRetryStrategy, RetryDecision

    class Retry(BaseRetryStrategy):
        """Begin a job again after a growing time; at once where it was only given back."""

        def get_retry_decision(self, *, exception: BaseException, job: Job) -> RetryDecision | None:
            if isinstance(exception, GivenUpError):
                return None
            wait = 0.0 if isinstance(exception, asyncio.CancelledError) else min(MAX_WAIT_S, 2.0**job.attempts)
            return RetryDecision(retry_at=datetime.now(UTC) + timedelta(seconds=wait))

    return Retry()


def silence_libraries() -> None:
    """Keep what libraries would log out of the log: it names rooms. What matters is logged here."""
    for name in ("procrastinate", "psycopg.pool"):
        logger = logging.getLogger(name)
        logger.propagate = False
        if not logger.handlers:
            logger.addHandler(logging.NullHandler())
