"""A worker process returns results and errors as they were; what it died of is a sentence."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from piste.core.errors import OptionError
from piste.core.worker_process import RemoteTraceback, Worker, WorkerDiedError, _send
from tests.limits import PATIENCE_S


@pytest.fixture
def worker() -> Iterator[Worker]:
    worker = Worker()
    yield worker
    worker.kill()


def refuse(text: str) -> None:
    raise OptionError(text)


def test_results_and_refusals_come_back_as_they_were(worker: Worker) -> None:
    assert worker.submit(divmod, 7, 2).result(PATIENCE_S) == (3, 1)
    with pytest.raises(OptionError, match="no such option"):
        worker.submit(refuse, "no such option").result(PATIENCE_S)


def test_an_error_of_the_system_keeps_its_file_and_reason(worker: Worker, tmp_path: Path) -> None:
    missing = tmp_path / "missing"
    with pytest.raises(FileNotFoundError) as error:
        worker.submit(missing.read_text).result(PATIENCE_S)
    assert (error.value.filename, error.value.strerror) == (str(missing), "No such file or directory")


def test_any_other_error_comes_as_words_with_the_place(worker: Worker) -> None:
    with pytest.raises(RuntimeError, match="ZeroDivisionError: ") as error:
        worker.submit(divmod, 1, 0).result(PATIENCE_S)
    assert isinstance(error.value.__cause__, RemoteTraceback)


def test_a_process_that_ends_by_itself_is_told_and_replaced(worker: Worker) -> None:
    with pytest.raises(WorkerDiedError):
        worker.submit(os._exit, 1).result(PATIENCE_S)
    assert worker.submit(abs, -1).result(PATIENCE_S) == 1


def test_a_process_whose_owner_is_gone_ends_without_a_word() -> None:
    """It shares the standard error of its owner, whose log would else end with a traceback."""
    code = "from piste.core.worker_process import serve; serve(0)"
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdin
    assert process.stdout
    assert process.stderr
    process.stdout.close()
    _send(process.stdin, pickle.dumps((0, dict(os.environ), False, pickle.dumps((abs, (-1,))))))
    process.wait(PATIENCE_S)  # although nothing has closed its standard input
    with process.stdin, process.stderr:
        assert process.stderr.read() == b""
