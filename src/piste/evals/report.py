"""What logs of Inspect come to: runs, a leaderboard for each task and game, the costliest decisions; and as JSON.

Everything is in the logs: nothing is evaluated again. Of a run that was retried the last log counts.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from inspect_ai.log import EvalLog, list_eval_logs, read_eval_log

from piste.analysis.arena.losses import Loss
from piste.analysis.arena.pairs import Interval
from piste.analysis.arena.report import interval_document
from piste.bots.answers import FAULTS
from piste.core.errors import PisteError
from piste.core.evaluation import ESTIMATED
from piste.core.game import quoted
from piste.evals.metrics import BEST, Document, Summary, summarise

VERSION = 1
TASKS = ("piste/decisions", "piste/games")
STYLE = ("legal", "rules", "notation", "memory", "retries")
"""The arguments of a task that change what a model is asked; rows with different ones stand apart."""
MAX_COSTLY = 5
"""How many decisions are shown of each model."""
ALL_GAMES = "all games"


class ReportError(PisteError):
    """Logs that no report can be made of."""


class Run(NamedTuple):
    """One log: a model and a task."""

    model: str
    task: str
    style: tuple[tuple[str, str], ...]
    seed: str
    status: str  # as Inspect has it: success, error, cancelled, started
    error: str  # why the run ended early, if it did
    samples: int  # that the task has
    documents: dict[tuple[str, int], Document]  # of graded samples, by id and epoch
    failed: int  # samples that ended with an error of the provider or of a limit
    tokens: tuple[int, int]  # read and written
    cost: float | None
    log: str


class Row(NamedTuple):
    """A model in a group."""

    model: str
    summary: Summary
    documents: tuple[Document, ...]


GroupKey = tuple[str, str, str, str, tuple[tuple[str, str], ...]]
"""Task, game, opponent, sizes and style."""


class Group(NamedTuple):
    """Models that were asked the same: a task, a game, an opponent, sizes and a style of prompts."""

    task: str
    game: str  # or ALL_GAMES
    opponent: str  # "" where single positions were asked
    sizes: str
    style: tuple[tuple[str, str], ...]
    rows: tuple[Row, ...]  # the best first


class Report(NamedTuple):
    """All that some logs say."""

    runs: tuple[Run, ...]
    leaders: tuple[Group, ...]  # over all games of a task, where there are several
    groups: tuple[Group, ...]


def read_runs(paths: Sequence[str]) -> tuple[Run, ...]:
    """Return the runs in these logs and folders of logs; those of other tasks are left out."""
    found: dict[str, tuple[str, EvalLog, str]] = {}
    for path in log_files(paths):
        try:
            log = read_eval_log(path)
        except Exception as e:  # whatever the reader raises for a file that is none of its own
            raise ReportError(f"{quoted(path, 200)} is no log of Inspect that can be read: {_line(e)}") from e
        if log.eval.task.removesuffix("@") not in TASKS:
            continue
        before = found.get(log.eval.task_id)
        if before is None or before[0] <= log.eval.created:  # a retry has the id of the task that it goes on with
            found[log.eval.task_id] = log.eval.created, log, path
    if not found:
        raise ReportError("These logs have no run of piste/decisions or piste/games.")
    return tuple(_run(log, path) for _, log, path in sorted(found.values(), key=lambda one: one[0]))


def log_files(paths: Sequence[str]) -> list[str]:
    found: list[str] = []
    for path in paths:
        if not os.path.exists(path):
            raise ReportError(f"There is no log {quoted(path, 200)}.")
        found += [one.name for one in list_eval_logs(path)] if Path(path).is_dir() else [path]
    if not found:
        raise ReportError(f"There is no log in {quoted(', '.join(paths), 200)}.")
    return sorted(found)


def _run(log: EvalLog, path: str) -> Run:
    arguments = log.eval.task_args
    documents: dict[tuple[str, int], Document] = {}
    failed = 0
    for sample in log.samples or []:
        document = next((one.metadata for one in (sample.scores or {}).values() if one.metadata), None)
        if document is None or sample.error is not None:
            failed += 1
        else:
            documents[str(sample.id), sample.epoch] = document
    usage = list(log.stats.model_usage.values())
    costs = [one.total_cost for one in usage if one.total_cost is not None]
    return Run(
        log.eval.model, log.eval.task, tuple((name, str(arguments.get(name))) for name in STYLE),
        str(arguments.get("seed")), log.status, "" if log.error is None else _line(log.error.message),
        (log.eval.dataset.samples or 0) * (log.eval.config.epochs or 1), documents, failed,
        (sum(one.input_tokens for one in usage), sum(one.output_tokens for one in usage)),
        sum(costs) if costs else None, path,
    )  # fmt: skip


def make_report(paths: Sequence[str]) -> Report:
    """Read logs and work out what they come to."""
    runs = read_runs(paths)
    lots: dict[GroupKey, dict[str, dict[Any, Document]]] = {}
    for run in runs:
        for sample, document in run.documents.items():
            key = (run.task, document["game"], document.get("opponent", ""), document["sizes"], run.style)
            # A sample that was run twice by the same model counts once, as it came out last.
            lots.setdefault(key, {}).setdefault(run.model, {})[run.seed, *sample] = document
    groups = tuple(_group(key, rows) for key, rows in sorted(lots.items()))
    joined: dict[GroupKey, dict[str, dict[Any, Document]]] = {}
    for (task, game, opponent, sizes, style), rows in sorted(lots.items()):
        together = joined.setdefault((task, ALL_GAMES, opponent, sizes, style), {})
        for model, documents in rows.items():
            together.setdefault(model, {}).update({(game, *sample): one for sample, one in documents.items()})
    leaders = tuple(_group(key, rows) for key, rows in joined.items() if _games(rows.values()) > 1)
    return Report(runs, leaders, groups)


def _games(rows: Iterable[dict[Any, Document]]) -> int:
    return len({one["game"] for documents in rows for one in documents.values()})


def _group(key: GroupKey, rows: dict[str, dict[Any, Document]]) -> Group:
    found = [Row(model, summarise(list(lot.values())), tuple(lot.values())) for model, lot in rows.items()]
    return Group(*key, tuple(sorted(found, key=_place)))


def _place(row: Row) -> tuple[float, float, float, str]:
    """Return what rows are ordered by: the loss that is known, then points, then the loss that is estimated."""
    one = row.summary
    known, points, estimated = one.known, one.points, one.estimated
    return (
        float("inf") if known is None else known.mean.value,
        0.0 if points is None else -points.value,
        float("inf") if estimated is None else estimated.mean.value,
        row.model,
    )


def models(report: Report) -> list[str]:
    return list(dict.fromkeys(run.model for run in report.runs))


def costliest(report: Report, model: str, most: int = MAX_COSTLY) -> list[tuple[Document, Document]]:
    """Return the decisions of a model that cost most, with their samples; estimated values never come first."""
    found = [
        (one, document)
        for group in report.groups
        for row in group.rows
        if row.model == model
        for document in row.documents
        for one in document.get("decisions", ())
        if one["loss"] > BEST
    ]
    found.sort(key=lambda pair: (pair[0]["known"] == ESTIMATED, -pair[0]["loss"], pair[0]["position"]))
    return list({one["position"]: (one, document) for one, document in reversed(found)}.values())[::-1][:most]


def _line(error: object) -> str:
    return " ".join(str(error).split())[:200]


# JSON


def document(report: Report) -> dict[str, Any]:
    """Return the report as JSON data."""
    return {
        "runs": [
            {
                "model": run.model,
                "task": run.task,
                "style": dict(run.style),
                "seed": run.seed,
                "status": run.status,
                "error": run.error or None,
                "samples": run.samples,
                "graded": len(run.documents),
                "failed": run.failed,
                "tokens": {"input": run.tokens[0], "output": run.tokens[1]},
                "cost": run.cost,
                "log": run.log,
            }
            for run in report.runs
        ],
        "leaderboards": [_group_document(group) for group in (*report.leaders, *report.groups)],
        "costliest": [
            {"model": model, **_costly_document(*pair)}
            for model in models(report)
            for pair in costliest(report, model)
        ],
    }


def _group_document(group: Group) -> dict[str, Any]:
    return {
        "task": group.task,
        "game": group.game,
        "opponent": group.opponent or None,
        "sizes": group.sizes,
        "style": dict(group.style),
        "models": [{"model": row.model, **summary_document(row.summary)} for row in group.rows],
    }


def summary_document(one: Summary) -> dict[str, Any]:
    """Return a summary as JSON data; losses are chances, not percent."""
    return {
        "samples": one.samples,
        "unfinished": one.unfinished,
        "loss": _loss_document(one.known),
        "estimated_loss": _loss_document(one.estimated),
        "loss_by_phase": {phase: _loss_document(loss) for phase, loss in one.phases.items()},
        "random_loss": one.random_loss,
        "best": _interval(one.best),
        "accuracy": one.accuracy,
        "games": one.games,
        "points": _interval(one.points),
        "pairs": None if one.pairs is None else list(one.pairs.counts),
        "luck_adjusted": None if one.adjusted is None else {
            "used": one.adjusted.used,
            "points": _interval(one.adjusted.adjusted),
            "worth_times_as_many_games": one.adjusted.factor,
        },
        "decisions_asked": one.asked,
        "faults": {kind: one.faults.get(kind, 0) for kind in FAULTS},
        "forfeits": one.forfeits,
        "calibration": None if one.calibration is None else one.calibration._asdict(),
        "asked_twice": None if one.noise is None else {"prompts": one.noise.asked, "same": _interval(one.noise.same)},
    }  # fmt: skip


def _interval(interval: Interval | None) -> dict[str, float | None] | None:
    return None if interval is None else interval_document(interval)


def _loss_document(loss: Loss | None) -> dict[str, Any] | None:
    return None if loss is None else {"decisions": loss.decisions, **interval_document(loss.mean)}


def _costly_document(decision: Document, sample: Document) -> dict[str, Any]:
    kept = ("position", "board", "decision", "best", "loss", "known", "within", "why", "best_why", "answer")
    return {"game": sample["game"], "sizes": sample["sizes"], **{key: decision.get(key) for key in kept}}
