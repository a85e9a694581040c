"""Balance reports: numbers agree with the solvers, and every form of the command says the same."""

from __future__ import annotations

import csv
import io
import json
import os
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest

from piste.analysis.balance import report as balance
from piste.analysis.balance.report import BEST, balance_report
from piste.analysis.balance.self_play import play_itself
from piste.analysis.balance.svg import page
from piste.analysis.engine import open_engine
from piste.cli.commands import balance as balancing
from piste.cli.main import main
from piste.cli.terminal import Terminal
from piste.core.evaluation import quiet
from piste.core.game import find, names
from tests.game_setups import games
from tests.sizes import slow_if

# Small enough that everything of them is weighed in a moment; a game that is new in the tree is weighed as it is.
SMALL: dict[str, dict[str, int | str]] = {
    "zero-sum-duel": {"top": 3, "hand": 2, "turns": 20},
    "positive-negative": {"top": 3},
    "zero-sum-grid": {"top": 1, "turns": 8},
    "prime-duel": {"top": 3, "copies": 2, "target": 9, "turns": 30},
    "mccoy-duel": {"rounds": 1, "powers": "05*"},
}


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    from piste.games.mccoy_duel.solver import solver

    monkeypatch.setattr(solver, "LEAD_PASSES", 20_000)
    solver.lead_chance.cache_clear()
    monkeypatch.setattr(balance, "RANDOM_FACTOR", 5)


def weighed(name: str, given: dict[str, int | str] | None = None, **more: Any) -> balance.Report:
    return balance_report(find(name), SMALL.get(name, {}) if given is None else given, **{"games": 4, **more})


@pytest.mark.parametrize("name", slow_if(lambda name: name == "mccoy-duel", names()))
def test_every_game_can_be_weighed_and_shown_in_every_form(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    report = weighed(name)
    assert not report.stopped
    assert report.levels == ["novice", "steady", "strong", "perfect"]
    assert set(report.statistics) == {*report.levels, "random"}
    for share in (*report.shares.values(), *report.draws.values(), *report.points.values()):
        assert 0 <= share.low <= share.value <= share.high <= 1
    ElementTree.fromstring(page([report]))
    document = json.loads(json.dumps(balancing.document(report)))
    assert document["first"][BEST]["known"] in ("proven", "exact", "within", "estimated")
    balancing.show(report.game, [report], 1, Terminal(colour=False))
    assert "First player's share" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("positive-negative", {"top": 3}),
        ("zero-sum-duel", {"top": 3, "hand": 2, "turns": 40}),
        ("prime-duel", {"top": 3, "copies": 2, "target": 9, "turns": 30}),
        ("zero-sum-grid", {"top": 1, "turns": 8}),
    ],
)
def test_the_first_players_share_of_perfect_games_is_the_solvers(name: str, given: dict[str, int | str]) -> None:
    game = find(name)
    fixed, first = balance.fix_first_seat(game, given)
    told = balance_report(game, given, games=1).shares[BEST]
    assert told.known in ("exact", "proven")
    played = play_itself(
        game, game.options(fixed), "perfect", min(games(400), 5000), "exact", first=first
    ).statistics()
    assert abs(played.points.value - told.value) <= 1.5 * played.points.half + 1e-9


def test_what_best_play_comes_to_is_the_solvers_verdict_and_says_so() -> None:
    report = weighed("positive-negative", {"top": 5}, games=1)
    assert report.shares[BEST].value == pytest.approx(0.498131 + 0.056222 / 2, abs=1e-5)  # docs/solve
    assert report.shares[BEST].known == "exact"
    grid = weighed("zero-sum-grid", {"turns": 20}, games=1)
    assert grid.draws[BEST].value == 1.0
    assert grid.draws[BEST].known == "proven"


def test_whoever_is_named_to_begin_is_the_first_player() -> None:
    one, two = (weighed("zero-sum-duel", SMALL["zero-sum-duel"] | {"first": who}, games=1) for who in "ab")
    assert (one.first, two.first) == (0, 1)
    assert one.shares[BEST].value == pytest.approx(two.shares[BEST].value)
    assert weighed("zero-sum-duel", games=1).first == 0  # instead of the toss


@pytest.mark.slow
def test_the_same_seed_gives_the_same_numbers_with_any_number_of_processes() -> None:
    alone, together = (
        balancing.document(weighed("zero-sum-grid", games=6, processes=processes)) for processes in (1, 2)
    )
    assert alone == together
    other = balancing.document(weighed("zero-sum-grid", games=6, seed="another"))
    assert other != alone
    assert other["first"][BEST] == alone["first"][BEST]


class After:
    """Progress that is stopped when something is told for the first time."""

    def __init__(self, word: str) -> None:
        self.word = word

    def __call__(self, done: int, whole: int, what: str) -> None:
        assert done <= whole
        if self.word in what:
            raise KeyboardInterrupt


def test_ctrl_c_leaves_what_there_is_so_far() -> None:
    whole = weighed("positive-negative")
    early = weighed("positive-negative", progress=After("steady against itself"))
    assert early.stopped
    assert early.shares[BEST] == whole.shares[BEST]
    assert list(early.statistics) == ["perfect", "strong", "random"]
    assert early.statistics["perfect"] == whole.statistics["perfect"]
    random = weighed("zero-sum-grid", {"turns": 30}, games=2000, progress=After("random play"))  # more than a block
    assert random.stopped
    assert 0 < random.statistics["random"].decisions.of < 10_000
    assert list(random.statistics) == ["random"]
    late = weighed("positive-negative", progress=After("3/6"))
    assert late.stopped
    assert len(late.matches) == 2
    assert late.statistics == whole.statistics
    balancing.show(late.game, [late], 2, Terminal(io.StringIO(), colour=False))


@pytest.mark.usefixtures("worker_here")
def test_ctrl_c_in_the_command_shows_what_there_is_and_returns_130(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(balancing, "balance_report", lambda game, given, **more: balance_report(
        game, given, **(more | {"progress": After("strong against itself")})
    ))  # fmt: skip
    assert main(["balance", "positive-negative", "--set", "top=3", "--versus", "sheet", "--games", "2"]) == 130
    out = capsys.readouterr().out
    assert out.startswith("Stopped in column 1 of 2")
    assert "57.22 % exact" in out


def told(words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["balance", *words, "--games", "4", "--processes", "1"]) == 0
    return capsys.readouterr().out


def test_columns_stand_side_by_side(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    out = told(["positive-negative", "--set", "top=2", "--versus", "top=3", "--versus", "top=4"], capsys)
    head = next(line for line in out.splitlines() if line.split() == ["top=2", "top=3", "top=4"])
    best = next(line for line in out.splitlines() if line.startswith("  best play"))
    assert [best.index(word) for word in ("45.83", "57.22", "53.94")] == [head.index(f"top={n}") for n in (2, 3, 4)]
    assert max(map(len, out.splitlines()[:40])) <= 80


@pytest.mark.slow
def test_the_sheets_options_can_be_a_column(capsys: pytest.CaptureFixture[str]) -> None:
    document = json.loads(told(["zero-sum-grid", "--set", "turns=6", "--versus", "sheet", "--json"], capsys))
    assert [column["title"] for column in document["columns"]] == ["turns=6", "sheet"]
    assert document["version"] == 1
    assert document["columns"][1]["options"]["turns"] == find("zero-sum-grid").options().turns
    said = [truth["sentence"] for truth in document["columns"][0]["truths"]]
    assert any("only one player can ever win" in sentence for sentence in said)


def test_csv_has_a_line_for_every_number_and_parses(capsys: pytest.CaptureFixture[str]) -> None:
    out = told(["positive-negative", "--set", "top=2", "--versus", "top=3", "--csv"], capsys)
    rows = list(csv.DictReader(io.StringIO(out)))
    assert {row["options"] for row in rows} == {"top=2", "top=3"}
    best = [row for row in rows if row["part"] == "first" and row["name"] == BEST]
    assert [float(row["value"]) for row in best] == pytest.approx([0.4583333, 0.5722222])
    for row in rows:
        assert float(row["low"]) <= float(row["value"]) <= float(row["high"])
    shares = [float(row["value"]) for row in rows if row["part"] == "length, random" and row["options"] == "top=3"]
    assert sum(shares) == pytest.approx(1)


def test_the_picture_is_written_beside_whatever_is_printed(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    target = tmp_path / "scales.svg"
    out = told(["positive-negative", "--set", "top=2", "--json", "--plot", str(target)], capsys)
    assert json.loads(out)["game"] == "positive-negative"
    root = ElementTree.parse(target).getroot()
    words = [node.text for node in root.iter() if node.text]
    assert "Positive-Negative" in words
    assert {"novice", "steady", "strong", "perfect", BEST, "random"} <= set(words)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["positive-negatif"], "Did you mean positive-negative?"),
        (["positive-negative", "--set", "top=99"], "whole number from 1 to 30"),
        (["positive-negative", "--versus", "height=2"], "has no option 'height'"),
        (["positive-negative", "--versus", "top"], "not written as option=value"),
        (["positive-negative", "--games", "0"], "--games cannot be '0'"),
        (["positive-negative", "--processes", "none"], "--processes cannot be 'none'"),
        (["positive-negative", "--plot", "scales.png"], "--plot writes an SVG picture"),
        (["positive-negative", "--plot", "no/such/folder/a.svg"], "there is no folder"),
    ],
)
def test_what_cannot_be_weighed_is_refused_with_a_sentence(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["balance", *words]) == 2
    captured = capsys.readouterr()
    assert said in captured.err
    assert captured.out == ""


def test_json_and_csv_are_not_asked_for_together(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["balance", "positive-negative", "--json", "--csv"])
    assert stopped.value.code == 2
    assert "not allowed with" in capsys.readouterr().err


class TtyOutput(io.StringIO):
    """A page that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("columns", [40, 80])
def test_nothing_is_wider_than_the_terminal(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    reports = [weighed("zero-sum-grid"), weighed("zero-sum-grid", {"top": 2, "turns": 6, "deal": "any"})]
    for shown in (reports[:1], reports):
        out = TtyOutput()
        balancing.show(reports[0].game, shown, len(shown), Terminal(out, colour=False))
        assert max(map(len, out.getvalue().splitlines())) <= columns
        assert "a draw" in out.getvalue()


def test_a_level_that_takes_long_is_left_out_unless_games_are_asked_for() -> None:
    game = find("mccoy-duel")
    usual = balance._Measurement(game, game.options(), game.options(), 0, None, "seed", open_engine(), quiet)
    assert usual.levels == ["novice", "steady", "strong"]
    assert any(note.startswith("expert is left out") for note in usual.notes)
    asked = balance._Measurement(game, game.options(), game.options(), 0, 2, "seed", open_engine(), quiet)
    assert asked.levels[-1] == "perfect"


def test_in_duel_the_lead_is_told_with_how_it_is_known() -> None:
    from piste.games.mccoy_duel import balance_config

    ((sentence, how),) = balance_config.truths(find("mccoy-duel").options())
    assert "a large edge" in sentence
    assert how.startswith("estimated")


def test_more_than_two_players_share_by_seats() -> None:
    report = weighed("mccoy-duel", {"players": 3, "rounds": 1, "powers": "05*"}, games=3)
    assert report.matches[0].seats == 3
    assert len(report.points) == 12
    out = Terminal(io.StringIO(), colour=False)
    balancing.show(report.game, [report], 1, out)


def test_other_commands_do_not_load_the_balance_report() -> None:
    import subprocess
    import sys

    code = "import sys, piste.cli.main; print([m for m in sys.modules if 'balance' in m or 'numpy' in m])"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={**os.environ}
    )
    assert done.stdout.strip() == "[]"
