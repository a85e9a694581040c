"""What the tasks have in common as tasks of Inspect."""

from __future__ import annotations

from collections.abc import Iterable

from inspect_ai import Task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import GenerateConfig
from inspect_ai.scorer import Score, Scorer
from inspect_ai.solver import Solver

from piste.bots.model import API_RETRIES, TIMEOUT_S


def make_task(name: str, samples: Iterable[Sample], solver: Solver, scorer: Scorer) -> Task:
    """Return a task. A sample that fails for good is left out, and the others go on."""
    return Task(
        dataset=MemoryDataset(list(samples), name=name),
        solver=solver,
        scorer=scorer,
        config=GenerateConfig(attempt_timeout=TIMEOUT_S, max_retries=API_RETRIES),
        continue_on_fail=True,
        version=1,
    )


def unfinished(facts: dict[str, object]) -> Score:
    """Return the score of a sample that a limit of Inspect ended too early."""
    return Score(value=float("nan"), metadata={**facts, "unfinished": True})
