"""`piste solve` and the levels of bots, as somebody uses them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import piste
from piste import bots
from piste.cli.commands.bench import solve_time
from piste.cli.main import main
from piste.compiled import table_cache
from piste.core.errors import MissingExtraError
from piste.core.evaluation import quiet
from piste.core.extras import solver_of
from piste.core.game import find, names
from piste.core.information_set import InformationSet
from tests.limits import PATIENCE_S
from tests.sizes import slow_if

FIVE = pytest.mark.parametrize("name", names())
FOUR = pytest.mark.parametrize("name", slow_if(lambda name: name == "mccoy-duel", names()))
"""The same, without Duel in the quick run: compiling its solver takes half a minute."""


def answered(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    assert main((*words, "--json")) == 0
    return json.loads(capsys.readouterr().out)


SMALL = {
    "zero-sum-duel": "top=3 hand=2",
    "positive-negative": "top=3",
    "prime-duel": "top=3 copies=2 target=8",
    "zero-sum-grid": "top=2",
    "mccoy-duel": "powers=0* rounds=1",
}


@FOUR
def test_solve_says_what_the_start_is_worth(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = [word for pair in SMALL[name].split() for word in ("--set", pair)]
    found = answered(capsys, "solve", name, *words)
    assert found["known"] in ("proven", "exact", "within", "estimated")
    assert found["chances"]["win"] + found["chances"]["draw"] + found["chances"]["loss"] == pytest.approx(1, abs=1e-6)
    assert found["chances"]["value"] == pytest.approx(found["chances"]["win"] - found["chances"]["loss"])
    assert main(("solve", name, *words)) == 0
    assert found["how"] in capsys.readouterr().out.replace("\n", " ")


@FOUR
def test_every_level_takes_a_seat_and_two_of_a_kind_finish_a_game(name: str) -> None:
    game = find(name)
    options = dict(pair.split("=") for pair in SMALL[name].split())
    if "turns" in game.rules.Options._fields:
        options["turns"] = "30"
    for level in bots.LEVELS:
        table = piste.open_table(name, options, seed=f"levels {level}")
        seated = [bots.find(level, game) for _ in range(table.seats)]
        bots.prepare(seated[0], table.view(0).options, quiet)
        while (seat := table.to_act) is not None:
            view = table.view(seat)
            chosen = seated[seat].choose(view, piste.Dealer("x").stream(bots.stream_name(view)))
            again = seated[seat].choose(view, piste.Dealer("x").stream(bots.stream_name(view)))
            assert chosen == again  # reproducible, whatever was remembered in between
            table.decide(seat, chosen, view.number)
        assert table.ending() is not None


@pytest.mark.slow
def test_a_later_round_of_duel_can_be_judged_from_the_whole_log() -> None:
    game = find("mccoy-duel")
    solver = solver_of(game)
    table = piste.open_table("mccoy-duel", {"powers": "0*", "rounds": 5}, seed="a later round")
    judged = 0
    while table.to_act is not None:
        view = table.view(table.to_act)
        if any(told.event.kind == game.rules.NEXT for told in view.log):  # type: ignore[attr-defined]
            verdict = solver.evaluate(InformationSet.told(game, view))
            assert {choice.action for choice in verdict.choices} == set(view.actions)
            judged += 1
        table.decide(view.seat, view.actions[0], view.number)
    assert judged > 2


def test_a_position_and_its_decisions(capsys: pytest.CaptureFixture[str]) -> None:
    text = "positive-negative{top=3} 1=- 2=- pile=- to=1 phase=decide card=3"
    found = answered(capsys, "solve", "positive-negative", "--position", text)
    assert found["seat"] == "1"
    assert [row["name"] for row in found["decisions"]] == ["keep", "discard"]
    best = max(found["decisions"], key=lambda row: row["value"])
    assert best["name"] == "keep"
    assert best["value"] == pytest.approx(found["chances"]["value"])
    assert main(("solve", "positive-negative", "--position", text)) == 0
    out = capsys.readouterr().out
    assert "(exact)" in out
    assert "  keep: wins " in out
    assert "points less" in out


def test_what_a_seat_knows_can_be_asked_about(capsys: pytest.CaptureFixture[str]) -> None:
    base = "zero-sum-duel{top=3,hand=2,first=a} A=- B=- pile=- to=A phase=draw turns=0"
    text = f"{base} | A | draw@A:+1 draw@B:? draw@A:+2 draw@B:? draw@A:+3 | A"
    found = answered(capsys, "solve", "zero-sum-duel", "--position", text)
    assert {row["name"] for row in found["decisions"]} == {"+1", "+2", "+3"}
    assert sum(row["mix"] for row in found["decisions"]) == pytest.approx(1)


@FIVE
def test_a_seat_at_a_table_can_be_judged_from_its_log_alone(name: str) -> None:
    game = find(name)
    options = dict(pair.split("=") for pair in SMALL[name].split())
    if "turns" in game.rules.Options._fields:
        options["turns"] = "12"
    solver = solver_of(game)
    table = piste.open_table(name, options, seed="judged")
    for number in range(6):
        seat = table.to_act
        if seat is None:
            break
        view = table.view(seat)
        known = InformationSet.told(game, view)
        verdict = solver.evaluate(known)
        assert verdict.seat == seat
        assert {choice.action for choice in verdict.choices} == set(view.actions)
        assert sum(choice.mix for choice in verdict.choices) == pytest.approx(1, abs=1e-6)
        assert verdict.best.chances.value >= verdict.chances.value - 1e-6 - 2 * verdict.within
        table.decide(seat, view.actions[number % len(view.actions)], view.number)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("prime-duel", "--position", "positive-negative 1=- 2=- pile=- to=1 phase=draw"), "a position of Positive"),
        (("prime-duel", "--position", "nonsense"), "There is no game"),
        (("prime-duel", "--seat", "7"), "There is no seat '7' here; the seats are 1, 2."),
        (("prime-duel", "--full", "--position", "prime-duel"), "leave --position out"),
        (("prime-duel", "--set", "target=abc"), "target"),
        (("prime-duel", "--set", "top=5", "--position", "prime-duel"), "leave --set out"),
        (("prime",), "prime-duel"),
    ],
)
def test_bad_requests_get_a_sentence(
    words: tuple[str, ...], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(("solve", *words)) in (1, 2)
    assert sentence in capsys.readouterr().err


@pytest.mark.usefixtures("worker_here")
def test_full_says_where_nothing_is_to_be_kept(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(table_cache, "folder", lambda: tmp_path)
    assert answered(capsys, "solve", "zero-sum-grid", "--full")["full"].startswith("Nothing to compute")
    words = ("solve", "zero-sum-duel", "--set", "top=3", "--set", "hand=2", "--full")
    assert answered(capsys, *words)["full"].startswith("Nothing to keep")
    assert not list(tmp_path.iterdir())


@pytest.mark.usefixtures("worker_here")
@pytest.mark.parametrize("under", ["file", "file/deeper"])
def test_a_cache_that_cannot_be_used_is_named_with_what_can_be_done(
    under: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setattr(table_cache, "folder", lambda: tmp_path / under)
    monkeypatch.setattr(table_cache, "_warned", set())
    np = pytest.importorskip("numpy")
    solver: Any = find("zero-sum-grid").solver
    evaluate, table = solver.evaluate, ("game", "stamp", {"rows": np.zeros(3)})

    def keeping(*asked: Any) -> Any:
        table_cache.try_save(*table)
        return evaluate(*asked)

    monkeypatch.setattr(solver, "evaluate", keeping)
    monkeypatch.setattr(solver, "solve_fully", lambda *_: str(table_cache.save(*table)))
    assert main(("solve", "zero-sum-grid")) == 0  # it goes on without
    out, said = capsys.readouterr()
    assert "Player 1" in out
    assert said.count(f"cannot be kept in {tmp_path / under}: ") == 1
    assert "set XDG_CACHE_HOME to another one" in said
    assert main(("solve", "zero-sum-grid", "--full")) == 1
    assert f"cannot be kept in {tmp_path / under}: " in capsys.readouterr().err  # here it was asked for
    with pytest.raises(table_cache.CacheUnusableError, match="XDG_CACHE_HOME"):
        table_cache.scratch_folder("game", "stamp")


def test_a_file_that_cannot_be_used_is_named(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> int:
        raise PermissionError(13, "Permission denied", "/some/where")

    monkeypatch.setattr("piste.cli.commands.solve.run", broken)
    assert main(("solve", "zero-sum-grid")) == 1
    assert capsys.readouterr().err == "piste: /some/where: Permission denied\n"


@pytest.mark.usefixtures("worker_here")
def test_ctrl_c_in_a_full_solve_says_how_to_go_on(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from piste.games.zero_sum_grid.solver import solver as solve

    def stopped(*_: Any) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr(solve, "solve_fully", stopped)
    assert main(("solve", "zero-sum-grid", "--full")) == 130
    assert "the same command goes on" in capsys.readouterr().err

    def wrapped(*_: Any) -> str:
        raise SystemError("returned a result with an exception set") from KeyboardInterrupt()

    monkeypatch.setattr(solve, "solve_fully", wrapped)
    assert main(("solve", "zero-sum-grid", "--full")) == 130
    monkeypatch.setattr(solve, "evaluate", wrapped)
    assert main(("solve", "zero-sum-grid")) == 130


def test_a_bot_that_needs_more_than_is_installed_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numba", None)
    with pytest.raises(MissingExtraError, match=r"The bot (expert|perfect) of Prime Duel needs the extra 'fast'"):
        bots.find("perfect", find("prime-duel"))
    assert bots.best(find("prime-duel")).name == "steady"
    assert bots.best(find("zero-sum-grid")).name == "perfect"


def test_the_levels_stand_in_their_order() -> None:
    for name in names():
        assert bots.names(find(name))[:5] == ("random", *bots.LEVELS)
        assert bots.best(find(name)).name == "perfect"


def test_bench_measures_a_solve(capsys: pytest.CaptureFixture[str]) -> None:
    row = answered(capsys, "bench", "--solve", "zero-sum-grid")["solves"]["zero-sum-grid"]
    assert row["mib"] > 5
    assert row["seconds"] >= 0
    assert [name for name in names() if solve_time.is_heavy(name)] == ["prime-duel"]


SAVES = """
import sys
from pathlib import Path
import numpy as np
from piste.compiled import table_cache
place = Path(sys.argv[1])
table_cache.folder = lambda: place
sys.stdin.readline()
for _ in range(30):
    kept = table_cache.save("game", "stamp", {f"rows{n}": np.full(1000, n) for n in range(20)})
    assert all((kept.read(f"rows{n}") == n).all() for n in range(20))
    found = table_cache.load("game", "stamp")
    assert found is not None and (found.read("rows19") == 19).all()
"""


def test_processes_that_keep_the_same_table_at_the_same_time_do_not_disturb_each_other(tmp_path: Path) -> None:
    saving = [
        subprocess.Popen(
            [sys.executable, "-c", SAVES, str(tmp_path)], stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for _ in range(3)
    ]
    for process in saving:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    said = [process.communicate(timeout=PATIENCE_S)[1] for process in saving]
    assert said == ["", "", ""]
    assert [process.returncode for process in saving] == [0, 0, 0]
    assert not list(tmp_path.glob("*.part"))


def test_a_table_is_read_back_and_a_damaged_or_foreign_one_is_taken_away(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    np = pytest.importorskip("numpy")
    monkeypatch.setattr(table_cache, "folder", lambda: tmp_path)
    rows = np.arange(3_000_000, dtype=np.int32).reshape(3000, 1000)
    kept = table_cache.save("game a=1", "rules 1 solver 1", {"rows": rows, "none": np.zeros((0, 3))})
    assert (kept.read("rows") == rows).all()
    found = table_cache.load("game a=1", "rules 1 solver 1")
    assert found is not None
    assert (found.read_rows("rows", 2990, 3000) == rows[2990:]).all()
    assert found.read("none").shape == (0, 3)
    found.check()
    assert table_cache.load("game a=1", "rules 1 solver 2") is None  # another version is another table
    file = found.folder / "rows.bin"
    data = bytearray(file.read_bytes())
    data[-5] ^= 1
    file.write_bytes(data)
    assert (found.read_rows("rows", 0, 10) == rows[:10]).all()  # the damage is elsewhere
    with pytest.raises(table_cache.DamagedTableError, match="not what was written"):
        found.read_rows("rows", 2990, 3000)
    file.write_bytes(data[:-1])
    assert table_cache.load("game a=1", "rules 1 solver 1") is None  # noticed by its size, and gone
    assert not found.folder.exists()
    table_cache.save("game a=1", "rules 1 solver 1", {"rows": rows[:2]})
    manifest = found.folder / "manifest.json"
    manifest.write_text(manifest.read_text().replace("solver 1", "solver 9"))
    assert table_cache.load("game a=1", "rules 1 solver 1") is None
    scratch = table_cache.scratch_folder("game a=1", "v")
    (scratch / "part").write_text("x")
    table_cache.save("game a=1", "v", {"rows": rows[:2]})
    assert not scratch.exists()
    table_cache.delete("game a=1", "v")
    assert table_cache.load("game a=1", "v") is None
