"""Engines: where pieces of work are done. Each is a `concurrent.futures.Executor` behind one function.

`local` is this process or some of its own, `local-cluster` a Dask cluster on this machine, `tcp://HOST:PORT` the
scheduler of any Dask cluster (extra `cluster`). What comes out must not depend on the engine: a piece of work is a
function of a module and its arguments, and is given to another worker if the one that had it died.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import FIRST_COMPLETED, CancelledError, Executor, Future, wait
from contextlib import suppress
from functools import cache
from hashlib import blake2b
from pathlib import Path
from time import monotonic
from types import TracebackType
from typing import Any, NamedTuple, TypeVar

from piste import __version__
from piste.bots.isolated import end_idle_processes
from piste.compiled import table_cache
from piste.core.errors import OptionError, PisteError
from piste.core.extras import CLUSTER, load
from piste.core.worker_process import Worker, WorkerDiedError

R = TypeVar("R")

LOCAL, LOCAL_CLUSTER = "local", "local-cluster"
ADDRESSES = ("tcp://", "tls://", "ws://", "wss://")

MAX_DEATHS = 8
"""So many workers in a row may die over one piece of work while no other is finished: then it is what kills them.

Where others are finished in between, somebody else may be killing workers, and it is tried again.
"""

STOP_TIMEOUT_S = 15.0
"""How long a process has to stop before it is killed: longer than a bot program may take for an answer."""

CONNECT_TIMEOUT_S = 20.0
"""How long a scheduler may take to answer, and a first worker to come."""

COUNT_INTERVAL_S = 5.0
"""How often the workers of a cluster are counted."""

MAX_TABLE_BYTES = 1 << 28
"""Larger tables are not sent to a worker that lacks them: it has to compute them itself."""

PLAYING_PARTS = ("core", "games", "compiled", "bots", "analysis")
"""The parts of the package that decide what comes out of a piece of work."""


class EngineError(PisteError):
    """The engine cannot work, or no longer."""


class WorkerVersionError(EngineError):
    """A worker runs another piste."""


# In the worker


@cache
def version_stamp() -> str:
    """Return the version with a digest of the sources that play: two that are equal play the same games."""
    package = Path(__file__).parent.parent
    digest = blake2b(digest_size=6)
    for part in PLAYING_PARTS:
        for path in sorted((package / part).rglob("*.py")):
            digest.update(f"{path.relative_to(package).as_posix()}\n".encode() + path.read_bytes())
    return f"{__version__} ({digest.hexdigest()})"


_tell: Callable[..., None] | None = None
_one_at_a_time = threading.Lock()


def checkpoint() -> None:
    """Let whoever waits for this work stop it here: to be called now and then, such as before every decision."""
    if _tell is not None:
        _tell(0, 1)


def _in_process(work: Callable[..., R], args: tuple[Any, ...], progress: Callable[..., None]) -> R:
    global _tell  # noqa: PLW0603
    _tell = progress
    try:
        return work(*args)
    finally:
        _tell = None


def _in_cluster(stamp: str, work: Callable[..., R], args: tuple[Any, ...]) -> R:
    """Work in a Dask worker; one with several threads does one piece at a time, since bots share their tables."""
    if stamp != version_stamp():
        raise WorkerVersionError(other_version(stamp, version_stamp()))
    with _one_at_a_time:
        return work(*args)


def other_version(ours: str, theirs: str) -> str:
    return (
        f"A worker runs piste {theirs}, and this is piste {ours}: they may not play alike. Install the same piste on "
        "all machines and start the workers again."
    )


def lacking_tables(wanted: tuple[tuple[str, str], ...]) -> list[tuple[str, str]]:
    """Return which of these solved tables are not in the cache here."""
    return [table for table in wanted if not table_cache.exists(*table)]


# Executors


class _Task(NamedTuple):
    """A piece of work, and how many workers in a row have died over it while no other was finished."""

    future: Future[Any]
    work: Callable[..., Any]
    args: tuple[Any, ...]
    deaths: int = 0
    finished: int = 0  # how many others were when the last worker died

    def died(self, finished: int) -> _Task:
        return self._replace(deaths=self.deaths + 1 if finished == self.finished else 1, finished=finished)


class InlineExecutor(Executor):
    """Does the work at once, in this process; Ctrl-C comes out of `submit`."""

    def submit(self, fn: Callable[..., R], /, *args: Any, **named: Any) -> Future[R]:
        future: Future[R] = Future()
        try:
            future.set_result(fn(*args, **named))
        except Exception as e:
            if isinstance(e, SystemError):
                raise  # this may be Ctrl-C that comes out of compiled code
            future.set_exception(e)
        return future


class ProcessExecutor(Executor):
    """Some processes of `core.worker_process`. What a process was doing when it died is given to another one."""

    def __init__(self, processes: int) -> None:
        self._lock = threading.Lock()
        self._idle = [Worker() for _ in range(processes)]
        self._busy: dict[Worker, Future[Any]] = {}
        self._waiting: deque[_Task] = deque()
        self._closed = False
        self._finished = 0

    def submit(self, fn: Callable[..., R], /, *args: Any) -> Future[R]:  # type: ignore[override]
        future: Future[R] = Future()
        self._waiting.append(_Task(future, fn, args))
        self._feed()
        return future

    def _feed(self) -> None:
        """Give waiting work to idle processes. The lock is not held while a worker is called, which has its own."""
        while True:
            with self._lock:
                if self._closed or not self._idle or not self._waiting:
                    return
                task = self._waiting.popleft()
                future = task.future
                if not future.running() and not future.set_running_or_notify_cancel():
                    continue
                worker = self._idle.pop()
                self._busy[worker] = future
            try:
                inner = worker.submit(_in_process, task.work, task.args, progress=_ignore)
            except Exception as e:  # no process can be started, or the work cannot be packed
                with self._lock:
                    self._idle.append(worker)
                    del self._busy[worker]
                future.set_exception(e)
                continue
            inner.add_done_callback(lambda inner, worker=worker, task=task: self._done(worker, task, inner))  # type: ignore[misc]

    def _done(self, worker: Worker, task: _Task, inner: Future[Any]) -> None:
        future, error = task.future, inner.exception()
        died = isinstance(error, WorkerDiedError)
        with self._lock:
            self._busy.pop(worker, None)
            self._idle.append(worker)
            task = task.died(self._finished)
            self._finished += not died
            again = died and not self._closed and task.deaths < MAX_DEATHS
            if again:
                self._waiting.appendleft(task)
        if again:
            pass
        elif died:
            future.set_exception(WorkerDiedError("A process ended before its work was done."))
        elif error is not None:
            future.set_exception(error)
        else:
            future.set_result(inner.result())
        self._feed()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: ARG002
        """Ask what is running to stop, wait for it, and end the processes."""
        with self._lock:
            self._closed = True
            waiting, self._waiting = list(self._waiting), deque()
            busy = dict(self._busy)
        for future, *_ in waiting:
            future.cancel()
        for worker in busy:
            worker.interrupt()
        _wait_for(busy.values())
        for worker in (*self._idle, *busy):
            worker.kill()


def _wait_for(futures: Iterable[Future[Any]]) -> None:
    wait(list(futures), STOP_TIMEOUT_S)


def _ignore(*_: object) -> None:
    """Take a report of progress: only that it was made matters, since there the work learns that it has to stop."""


# The seam


class Engine:
    """An executor, and how many pieces of work to keep it busy with. Use it with `with`."""

    chunk_s = 0.5
    """About how long a piece of work is to take: handing it out costs next to nothing, and little is lost with it."""

    def __init__(self, executor: Executor, workers: int, name: str) -> None:
        self.executor, self.workers, self.name = executor, workers, name

    def __enter__(self) -> Engine:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self.executor.shutdown(cancel_futures=True)

    def submit(self, work: Callable[..., R], *args: Any) -> Future[R]:
        return self.executor.submit(work, *args)

    def send_tables(self) -> None:
        """Give the solved tables that were loaded here to workers that lack them, to each of them once."""

    def refused(self, error: BaseException) -> BaseException:
        """Return why a piece of work failed, as a person is told it."""
        return error

    @property
    def inline(self) -> bool:
        """Whether work is done in this process, so that Ctrl-C can come between any two of its steps."""
        return isinstance(self.executor, InlineExecutor)

    def results(
        self, work: Callable[..., R], tasks: Iterable[tuple[Any, ...]]
    ) -> Generator[tuple[int, R], None, None]:
        """Yield each task's number and result as they come; tasks are taken from the iterator only when needed."""
        source = enumerate(tasks)
        running: dict[Future[R], tuple[int, tuple[Any, ...], int, int]] = {}
        more, finished = True, 0
        try:
            while True:
                while more and len(running) < self.ahead():
                    try:
                        number, args = next(source)
                    except StopIteration:
                        more = False
                        break
                    running[self.submit(work, *args)] = number, args, 0, 0
                if not running:
                    return
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    number, args, deaths, before = running.pop(future)
                    try:
                        found = future.result()
                    except (Exception, CancelledError) as e:
                        deaths = deaths + 1 if finished == before else 1
                        if not self._died(e) or deaths >= MAX_DEATHS:
                            raise self.refused(e) from (e if isinstance(e, Exception) else None)
                        running[self.submit(work, *args)] = number, args, deaths, finished
                        continue
                    finished += 1
                    yield number, found
        finally:
            for future in running:
                future.cancel()

    def ahead(self) -> int:
        """Return how many pieces of work to have handed out, so that no worker waits."""
        return 1 if self.inline else 2 * self.workers

    def in_order(self, work: Callable[..., R], tasks: Iterable[tuple[Any, ...]]) -> Generator[R, None, None]:
        """Yield the results of the tasks in their order."""
        early: dict[int, R] = {}
        due = 0
        for number, found in self.results(work, tasks):
            early[number] = found
            while due in early:
                yield early.pop(due)
                due += 1

    def _died(self, error: BaseException) -> bool:
        """Say whether a worker died, and the work is to be given to another one; processes do that themselves."""
        del error
        return False


class DaskEngine(Engine):
    """A Dask cluster. Its scheduler gives work of dead workers to others; what it gives up is handed in again."""

    chunk_s = 2.0  # it takes several messages between three processes to hand one out

    def __init__(self, client: Any, name: str) -> None:
        self._client, self._cluster = client, client.cluster
        super().__init__(client.get_executor(pure=False), self._connected(), name)
        self._stamp, self._counted = version_stamp(), monotonic()
        self._refuse_other_versions()

    def _connected(self) -> int:
        try:
            self._client.wait_for_workers(1, timeout=CONNECT_TIMEOUT_S)
        except TimeoutError:
            where = self._client.scheduler.address
            self._client.close()
            raise EngineError(
                f"No worker is connected to the scheduler {where}. Start some: dask worker {where}"
            ) from None
        return len(self._client.nthreads())

    def _refuse_other_versions(self) -> None:
        try:
            stamps = self._client.run(version_stamp)
        except Exception as e:
            self.close()
            raise WorkerVersionError(
                f"A worker of {self.name} cannot be asked for its version of piste ({type(e).__name__}: {e}). "
                f"Install piste {self._stamp} on all machines and start the workers again."
            ) from e
        for stamp in stamps.values():
            if stamp != self._stamp:
                self.close()
                raise WorkerVersionError(other_version(self._stamp, stamp))

    def ahead(self) -> int:
        """Look now and then how many workers there are: some come later, some go."""
        if monotonic() - self._counted > COUNT_INTERVAL_S:
            with suppress(Exception):  # a scheduler that is gone is noticed elsewhere
                self.workers = max(1, len(self._client.nthreads()))
            self._counted = monotonic()
        return super().ahead()

    def submit(self, work: Callable[..., R], *args: Any) -> Future[R]:
        try:
            return self.executor.submit(_in_cluster, self._stamp, work, args)
        except Exception as e:
            raise self._lost() from e

    def send_tables(self) -> None:
        wanted = tuple(sorted(table for table in table_cache.loaded if table_cache.exists(*table)))
        lacking = {table for some in self._client.run(lacking_tables, wanted).values() for table in some}
        if lacking:
            packed = {(name, stamp): table_cache.pack(name, stamp, MAX_TABLE_BYTES) for name, stamp in lacking}
            self._client.register_plugin(_tables_plugin(packed), name="piste tables")

    def refused(self, error: BaseException) -> BaseException:
        if isinstance(error, PisteError):
            return error
        if isinstance(error, CancelledError | OSError):
            return self._lost()
        if self._died(error):
            return EngineError(f"{MAX_DEATHS} workers died over the same piece of work, perhaps for want of memory.")
        if isinstance(error, ImportError | AttributeError):  # the work itself could not be unpacked
            return WorkerVersionError(
                f"A worker cannot load what it is to do ({error}). Install piste {self._stamp} on all machines and "
                "start the workers again."
            )
        return error

    def _lost(self) -> EngineError:
        return EngineError(f"The scheduler of {self.name} is gone, or has given up this work.")

    def _died(self, error: BaseException) -> bool:
        return type(error).__name__ == "KilledWorker"

    def close(self) -> None:
        with suppress(Exception):
            if self._client.status == "running":  # workers of others go on: no bot's process is left there
                self._client.run(end_idle_processes, wait=False)
        with suppress(Exception):
            self._client.close(timeout=5)
        if self._cluster is not None:
            with suppress(Exception):
                self._cluster.close(timeout=5)


def _tables_plugin(packed: dict[tuple[str, str], bytes]) -> Any:
    """Return a plugin that writes tables into the cache of each worker when it starts, or now."""
    from distributed import WorkerPlugin

    class Tables(WorkerPlugin):
        def setup(self, worker: Any) -> None:  # noqa: ARG002
            for (name, stamp), data in packed.items():
                if not table_cache.exists(name, stamp):
                    table_cache.unpack(name, stamp, data)

    return Tables()


def open_engine(spec: str | None = None, processes: int = 1) -> Engine:
    """Return the engine that is asked for: `local`, `local-cluster`, or the address of a Dask scheduler."""
    if spec in (None, LOCAL):
        executor = InlineExecutor() if processes == 1 else ProcessExecutor(processes)
        return Engine(executor, processes, LOCAL)
    assert spec is not None
    if spec != LOCAL_CLUSTER and not spec.startswith(ADDRESSES):
        raise OptionError(
            f"There is no engine {spec!r}. There are: {LOCAL}, {LOCAL_CLUSTER}, and the address of a Dask scheduler "
            "such as tcp://10.0.0.5:8786."
        )
    load(CLUSTER)
    return _connect(spec, processes)


def _connect(spec: str, processes: int) -> Engine:
    import logging
    import warnings

    import dask
    import distributed

    library: Any = distributed  # its functions have no types

    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # what matters is told as a sentence
    # Nobody looks at the dashboard here, so nothing is watched for it.
    settings = {
        "distributed.comm.timeouts.connect": f"{CONNECT_TIMEOUT_S}s",
        "distributed.worker.profile.enabled": False,
        "distributed.worker.http.routes": [],
        "distributed.scheduler.http.routes": [],
        "distributed.scheduler.active-memory-manager.start": False,
        "distributed.client.scheduler-info-interval": "60s",
        "distributed.admin.tick.interval": "1s",
        "distributed.admin.system-monitor.interval": "5s",
    }
    with dask.config.set(settings), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if spec == LOCAL_CLUSTER:
            cluster = library.LocalCluster(
                n_workers=processes, threads_per_worker=1, processes=True, dashboard_address=None,
                silence_logs=logging.CRITICAL, host="127.0.0.1", memory_limit=0,
            )  # fmt: skip
            return DaskEngine(library.Client(cluster), spec)
        try:
            return DaskEngine(library.Client(spec, timeout=CONNECT_TIMEOUT_S), spec)
        except (OSError, TimeoutError) as e:
            raise EngineError(f"No scheduler answers at {spec}: {e}. Start one: dask scheduler") from None
