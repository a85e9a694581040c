"""What people see who have installed less: everything runs, or says in one sentence which extra it needs."""

from __future__ import annotations

import json
import pickle
import tomllib
from pathlib import Path

import pytest

from piste.core import extras
from piste.core.errors import MissingExtraError
from piste.core.game import find
from tests import ROOT
from tests.hidden_libraries import Said, commands, run

WEB = extras.SERVE.libraries
LEARNERS = ("gymnasium", "pettingzoo", "pyspiel", "open_spiel", "shimmy")
BARE = ("numpy", "numba", "matplotlib", "mcp", *LEARNERS, *WEB)
FAST, RL, OPENSPIEL, PLOT, SERVER, MCP = (
    f"Install it with: pip install 'piste[{extra}]'" for extra in ("fast", "rl", "openspiel", "plot", "web", "mcp")
)


def refused(said: Said, sentence: str) -> bool:
    """Say whether a command ended with one sentence, which is this, and with a code that says that it failed."""
    return said.code in (1, 2) and said.err.rstrip().endswith(sentence) and len(said.err.strip().splitlines()) == 1


# Nothing but piste


def test_a_plain_install_runs_or_names_what_to_install(tmp_path: Path) -> None:
    needy = {
        "solve zero-sum-duel": FAST,
        "solve positive-negative": FAST,
        "solve prime-duel": FAST,
        "solve mccoy-duel": FAST,
        "solve zero-sum-grid --set variant=harvest": FAST,
        "puzzle prime-duel": FAST,
        "puzzle --print": FAST,
        "review last": FAST,
        "review last --plot a.png": PLOT,
        "progress": FAST,
        "match prime-duel strong novice": FAST,
        "play zero-sum-duel --vs strong": FAST,
        "play zero-sum-grid --set variant=harvest --vs strong": FAST,
        "serve": SERVER,
        "mcp": MCP,
        "mcp --http": MCP,
        "bench --serve": SERVER,
        "bench --batch": FAST,
        "bench --compile": FAST,
        "bench --solve": FAST,
    }
    able = (
        "games", "bots", "where", "rules zero-sum-duel", "completion bash", "games --played",
        "solve zero-sum-grid", "puzzle zero-sum-grid --level easy --seed 1 --json",
        "simulate prime-duel --games 2", "match prime-duel steady novice --games 2 --processes 1",
        "match zero-sum-duel --all --games 2 --processes 1", "balance zero-sum-duel --games 1 --processes 1",
        "replay last",
    )  # fmt: skip
    said = commands(
        BARE, tmp_path, ("play positive-negative --vs strong --seed 1", "hint\nk\nhint\n" + "d\n" * 60), *needy, *able
    )
    played = said.pop("play positive-negative --vs strong --seed 1")
    assert played.code == 0, played
    assert played.out.count("The bot strong") >= 2  # both hints, and the game goes on
    assert f"A review of Positive-Negative needs the extra 'fast'. {FAST}" in played.out
    assert not {words: one for words, one in said.items() if words in able and one.code != 0}
    assert not {words: said[words] for words, wanted in needy.items() if not refused(said[words], wanted)}
    assert f"The value of best play of Zero Sum Duel needs the extra 'fast'. {FAST}" in str(
        said["balance zero-sum-duel --games 1 --processes 1"]
    )
    assert "Needs the extra 'fast'" in said["bots"].out


def test_a_game_against_a_level_that_is_missing_now_can_be_taken_up_with_another(tmp_path: Path) -> None:
    commands((), tmp_path, ("play zero-sum-grid --set variant=harvest --vs perfect --seed 1", "quit\n"))
    said = commands(BARE, tmp_path, "resume", ("resume --vs steady", "quit\n"))
    assert said["resume"].code == 1
    assert f"The bot perfect of Zero-Sum Grid needs the extra 'fast'. {FAST}" in said["resume"].err
    assert "--vs steady" in said["resume"].err
    assert said["resume --vs steady"].code == 0, said


def test_adapters_for_learners_are_import_errors_with_a_sentence(tmp_path: Path) -> None:
    code = """
for name in ("openspiel", "openspiel_policy", "pettingzoo", "gymnasium", "vector_env"):
    try:
        __import__(f"piste.rl.{name}")
    except ImportError as e:
        print(type(e).__name__, e)
"""
    lines = run(code, BARE, tmp_path).splitlines()
    ends = (OPENSPIEL, OPENSPIEL, RL, RL, FAST)
    assert len(lines) == len(ends)
    assert all(
        line.startswith("MissingExtraError") and line.endswith(end) for line, end in zip(lines, ends, strict=True)
    )


# numpy and no compiler, as `[rl]` and `[openspiel]` bring it


def test_with_numpy_alone_small_games_are_solved_and_large_ones_name_the_compiler(tmp_path: Path) -> None:
    large = ("solve zero-sum-duel", "puzzle --print", "solve prime-duel", "puzzle prime-duel", "solve mccoy-duel")
    small = (
        "solve zero-sum-duel --set top=3 --set hand=2", "solve positive-negative --set top=2",
        "solve prime-duel --set target=10 --set top=4 --set copies=2", "solve zero-sum-grid --set variant=harvest",
    )  # fmt: skip
    said = commands(("numba",), tmp_path, *large, *small)
    assert not {words: said[words] for words in large if not refused(said[words], FAST)}
    assert not {words: said[words] for words in small if said[words].code != 0}


def test_with_numpy_alone_a_worker_decides_for_bots_in_small_games(tmp_path: Path) -> None:
    code = """
import piste
from piste.bots import tasks
from piste.core.dealer import Dealer
table = piste.open_table("positive-negative", {"top": 2}, seed="a")
view = table.view(table.to_act)
print(tasks.choose("positive-negative", "perfect", view, Dealer("b").stream("bot")) in view.actions)
"""
    assert run(code, ("numba",), tmp_path) == "True\n"


def test_a_compiler_that_is_there_but_broken_is_named_with_the_reason(tmp_path: Path) -> None:
    broken = tmp_path / "numba"
    broken.mkdir()
    (broken / "__init__.py").write_text("raise ImportError('Numba needs NumPy 1.0 or less')")
    said = commands(
        (),
        tmp_path,
        "solve zero-sum-duel",
        "simulate prime-duel --games 2",
        "play prime-duel --vs strong --first 2 --seed a",
    )
    for one in said.values():
        assert one.code == 1, one
        assert "numba is installed but broken (Numba needs NumPy 1.0 or less)" in one.err
        assert "pip install --force-reinstall 'piste[fast]'" in one.err


# The server alone


def test_with_the_web_alone_nothing_is_offered_that_cannot_play(tmp_path: Path) -> None:
    code = """
import json
from piste.core.game import find, names
from piste.web.views.rendering import levels
from piste.web.tables.levels import check_level
from piste.web.tables.levels import levels as open_levels

def why(game, level):
    try:
        check_level(level, find(game), find(game).options())
    except Exception as e:
        return str(e)

print(json.dumps({
    "levels": {name: open_levels(find(name)) for name in names()},
    "shown": {name: [level[0] for level in levels(name)] for name in names()},
    "refused": why("prime-duel", "strong"),
}))
"""
    found = json.loads(run(code, ("numpy", "numba", "matplotlib", *LEARNERS), tmp_path))
    easy = ["random", "novice", "steady"]
    assert found["levels"] == found["shown"] == {
        "zero-sum-duel": easy, "prime-duel": easy, "mccoy-duel": easy,
        "positive-negative": [*easy, "strong"], "zero-sum-grid": [*easy, "strong", "perfect"],
    }  # fmt: skip
    assert found["refused"].endswith(FAST)


# The declarations


def test_every_extra_that_is_named_is_one_that_can_be_installed() -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    optional = tomllib.loads(text)["project"]["optional-dependencies"]
    features = [value for value in vars(extras).values() if isinstance(value, extras.Feature)]
    assert len(features) >= 7
    assert {feature.extra for feature in features} == set(optional) - {"dev", "docs"}


def test_the_sheets_grid_needs_nothing_and_other_solvers_say_what_they_need() -> None:
    needs = {name: extras.solving(find(name)).libraries for name in ("zero-sum-grid", "zero-sum-duel", "mccoy-duel")}
    assert needs == {"zero-sum-grid": (), "zero-sum-duel": extras.NUMBA, "mccoy-duel": extras.NUMBA}
    grid = find("zero-sum-grid")
    assert extras.solving(grid, grid.options({"variant": "harvest"})).libraries == extras.NUMPY


def test_a_missing_extra_comes_back_from_another_process_as_it_was() -> None:
    error = MissingExtraError("fast", "This", "numba is broken")
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.extra) == (str(error), "fast")
    with pytest.raises(ImportError):
        raise again
