"""The strongest bots with an empty cache and with a full one, and what is told while they compile."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import piste
from piste.bots import tasks
from piste.cli.background import WorkMessages
from piste.core.dealer import RandomStream
from piste.core.game import names
from piste.core.views import SeatView
from tests.sizes import slow_if

ANSWERS = """
import json, sys
import piste
from piste import bots
from piste.core.evaluation import quiet
name, decisions = sys.argv[1], int(sys.argv[2])
game = piste.find(name)
bot = bots.find("perfect", game)
said = []
for seed in range(2):
    table = piste.open_table(name, seed=f"cold {seed}")
    for _ in range(decisions):
        if table.to_act is None:
            break
        view = table.view(table.to_act)
        if seed == 0 and not said:
            bots.prepare(bot, view.options, quiet)
        said.append(bot.choose(view, piste.Dealer("cold").stream(bots.stream_name(view))))
        table.decide(table.to_act, said[-1])
print(json.dumps(said))
"""


def answers(game: str, cache: Path) -> list[int]:
    environment = os.environ | {"XDG_CACHE_HOME": str(cache)}
    done = subprocess.run(
        [sys.executable, "-c", ANSWERS, game, "12"], env=environment, capture_output=True, text=True, check=True
    )
    said: list[int] = json.loads(done.stdout)
    return said


@pytest.mark.parametrize(
    "game", slow_if(lambda game: game in ("mccoy-duel", "positive-negative", "prime-duel"), list(names()))
)
def test_a_bot_answers_the_same_with_an_empty_cache_as_with_a_full_one(game: str, tmp_path: Path) -> None:
    """The same questions and streams; the second process finds what the first has compiled and worked out."""
    cold = answers(game, tmp_path)
    assert cold
    assert answers(game, tmp_path) == cold


def test_a_decision_that_compiles_reports_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    event = pytest.importorskip("numba.core.event")

    class Compiling:
        """Compiles at each decision, as far as numba's listeners can tell."""

        name = "perfect"

        def choose(self, view: SeatView, stream: RandomStream) -> int:  # noqa: ARG002
            for function in ("add_roots", "run_cfr"):
                with event.trigger_event("numba:run_pass", data={"name": f"native_lowering [module.{function}]"}):
                    pass
            return view.actions[0]

        def close(self) -> None:
            pass

    table = piste.open_table("mccoy-duel", seed="late")
    assert table.to_act is not None
    view = table.view(table.to_act)
    monkeypatch.setitem(tasks._ready, ("mccoy-duel", "perfect", view.options), Compiling())
    reports: list[tuple[int, int]] = []
    stream = piste.Dealer("late").stream("bot")
    tasks.choose("mccoy-duel", "perfect", view, stream, lambda done, total, _: reports.append((done, total)))
    assert len(reports) == 3
    assert reports == sorted(reports)
    assert reports[0][0] > 0
    assert reports[-1] == (1000, 1000)


def test_thinking_is_called_preparing_once_something_compiles() -> None:
    messages = WorkMessages("expert is thinking", "Preparing expert for Duel, first time only")
    assert messages.label("", 0) == "expert is thinking"
    assert messages.label("", 1000) == "Preparing expert for Duel, first time only"
    assert WorkMessages("expert is thinking").label("", 1000) == "expert is thinking"
    assert messages.label("solving", 10) == "solving"
