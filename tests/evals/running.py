"""Runs of Inspect in this process, and what their logs say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from inspect_ai import Task
from inspect_ai import eval as inspect_eval
from inspect_ai.log import EvalLog

from piste.evals.report import Report, Run, make_report, read_runs
from tests.evals.chat_server import ChatServer

LOCAL = "openai-api/local/model"
"""The model of the server on the loopback."""


def run(task: Task, folder: Path, model: str = LOCAL, server: ChatServer | None = None, **settings: Any) -> EvalLog:
    """Run a task to its end and return the log."""
    if server is not None:
        settings = {"model_base_url": server.base_url, **settings}
    (log,) = inspect_eval(task, model=model, log_dir=str(folder), display="none", log_buffer=1, **settings)
    return log


def only_run(folder: Path) -> Run:
    (found,) = read_runs([str(folder)])
    return found


def report(folder: Path) -> Report:
    return make_report([str(folder)])
