"""`piste eval`: language models are evaluated on Inspect, and logs become a report."""

from __future__ import annotations

import argparse
import contextlib
import json
from pathlib import Path
from typing import Any

from piste.cli.arguments import option_pairs, whole_number
from piste.cli.commands.tournament import write_page
from piste.cli.output import print_json
from piste.cli.terminal import Terminal
from piste.core.errors import OptionError, PisteError
from piste.core.extras import MODELS, load
from piste.core.game import quoted
from piste.core.paths import EVALUATIONS, data_folder

REPORT = "report"
TASKS = ("decisions", "games")


def run(args: argparse.Namespace, terminal: Terminal) -> int:
    load(MODELS)
    if args.words[:1] == [REPORT]:
        if not args.words[1:]:
            raise OptionError("Name the logs, or the folder that they are in: piste eval report logs")
        return show(args.words[1:], args, terminal)
    if args.words:
        raise OptionError(f"piste eval {quoted(args.words[0])} is not known: `piste eval report LOGS...` shows logs.")
    if not args.model:
        raise OptionError(
            "Name a model as Inspect does: piste eval --model openai/NAME; or a bot: --model piste/steady"
        )
    logs = evaluate(args, terminal)
    return show([log.location for log in logs], args, terminal) or int(any(log.status != "success" for log in logs))


def evaluate(args: argparse.Namespace, terminal: Terminal) -> list[Any]:
    """Run the tasks and return their logs."""
    from inspect_ai import eval as inspect_eval

    from piste.evals.decisions_task import decisions
    from piste.evals.games_task import games

    common: dict[str, Any] = {
        "game": ",".join(args.game or ["all"]), "sizes": args.sizes, "seed": args.seed,
        "options": ",".join(f"{key}={value}" for key, value in option_pairs(args.set).items()) or None,
        "max_cost": None if args.max_cost is None else dollars(args.max_cost),
    }  # fmt: skip
    wanted = args.task or TASKS
    unknown = next((one for one in wanted if one not in TASKS), None)
    if unknown is not None:
        raise OptionError(f"--task cannot be {quoted(unknown)}: it is {' or '.join(TASKS)}.")
    tasks = []
    if "decisions" in wanted:
        say(args, terminal, "Preparing positions...")
        tasks.append(decisions(**common, positions=whole_number("positions", args.positions, 1, 10_000)))
    if "games" in wanted:
        deals = whole_number("deals", args.deals, 1, 100_000)
        tasks.append(games(**common, opponent=args.opponent, deals=deals))
    if args.prices:
        set_prices(args.prices)
    folder = args.logs or str(data_folder() / EVALUATIONS)
    say(args, terminal, f"Logs: {folder}")
    try:
        return list(
            inspect_eval(
                tasks, model=args.model, model_base_url=args.base_url, log_dir=folder,
                display="none" if args.json else "plain",
                max_tasks=1, log_buffer=1,
            )
        )  # fmt: skip
    except PisteError:
        raise
    except Exception as e:  # what Inspect refuses: an unknown model, a missing key, a library that is not installed
        raise PisteError(f"Inspect cannot run this: {plain(e)}") from e


def say(args: argparse.Namespace, terminal: Terminal, text: str) -> None:
    if not args.json:
        terminal.note(text)


def set_prices(path: str) -> None:
    """Tell Inspect what tokens cost, also of models that it does not know."""
    from inspect_ai.model import ModelCost, ModelInfo, get_model_info, set_model_info

    try:
        prices = json.loads(Path(path).read_text(encoding="utf-8"))
        for name, price in prices.items():
            cost = ModelCost(**{"input_cache_write": price["input"], "input_cache_read": price["input"], **price})
            set_model_info(name, (get_model_info(name) or ModelInfo()).model_copy(update={"cost": cost}))
    except OSError as e:
        raise OptionError(f"The prices {quoted(path, 200)} cannot be read: {e.strerror or e}.") from None
    except (ValueError, TypeError, KeyError, AttributeError):
        raise OptionError(
            f"The prices {quoted(path, 200)} are not written as "
            '{"openai/NAME": {"input": 1.25, "output": 10}}, in dollars for a million tokens.'
        ) from None


def plain(error: Exception) -> str:
    """Return what Inspect says without the marks of its own screens."""
    from rich.errors import MarkupError
    from rich.text import Text

    text = str(error)
    with contextlib.suppress(MarkupError):  # what only looks like marks
        text = Text.from_markup(text).plain
    return " ".join(text.split()) or type(error).__name__


def show(paths: list[str], args: argparse.Namespace, terminal: Terminal) -> int:
    """Print the report of logs, and write the page if one is asked for."""
    from piste.evals.report import VERSION, document, make_report
    from piste.evals.report_page import page
    from piste.evals.report_text import text

    report = make_report(paths)
    if args.html:
        write_page(Path(args.html), page(report))
    if args.json:
        return print_json(terminal, document(report), version=VERSION)
    for line in text(report, terminal.width if terminal.out.isatty() else None):
        terminal.line(line)
    return 0


def dollars(text: str) -> float:
    try:
        amount = float(text)
    except ValueError:
        amount = 0.0
    if not 0 < amount < 1e9:
        raise OptionError(f"--max-cost cannot be {quoted(text)}: it is an amount of dollars, such as 2.50.")
    return amount
