"""Prime Duel: what is kept of a full solution, and the bots that decide by it."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import piste
from piste.compiled import table_cache
from piste.core.dealer import Dealer, RandomStream
from piste.core.evaluation import ESTIMATED, EXACT, WITHIN, quiet
from piste.core.game import find, members
from piste.core.information_set import InformationSet
from piste.core.protocols import HIDDEN, OVER
from piste.games.prime_duel import guarantees, rules
from piste.games.prime_duel.bots import novice, perfect, strong
from piste.games.prime_duel.rules import DISCARD, DRAW, KEEP, Options, State
from piste.games.prime_duel.solver import solver, tablebase
from piste.games.prime_duel.solver.score_pairs import EmptyDeckValues, solve_order
from piste.games.prime_duel.solver.value_sources import LookAhead, load_kernels
from tests.game_setups import games
from tests.games.solver import prime_duel_losses as prime_losses

GAME = find("prime-duel")
MEDIUM = Options(0, 0, 5, 3, 14)
BOTS = {"novice": novice.choose, "strong": strong.choose, "perfect": perfect.choose}

ODD: tuple[dict[str, int | str], ...] = (
    {},
    {"turns": 9},
    {"turns": 300},
    {"top": 15, "copies": 15, "target": 1000},
    {"top": 15, "copies": 15, "target": 1000, "turns": 40},
    {"top": 1, "copies": 1, "target": 1},
    {"top": 1, "copies": 3, "target": 40, "first": 2},
    {"top": 15, "copies": 1, "target": 3},
    {"top": 2, "copies": 1, "target": 4, "turns": 6},
    {"top": 3, "copies": 15, "target": 200, "turns": 1},
)


@pytest.fixture(autouse=True)
def private_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Full solutions of a person who runs the tests must not change them."""
    monkeypatch.setattr(table_cache, "folder", lambda: tmp_path / "solved")
    monkeypatch.setattr(tablebase, "SAMPLES_PER_BIN", 400)
    monkeypatch.setattr(solver, "EVALUATION_WORK_FACTOR", 1)


@pytest.fixture
def everything_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Treat small games as those that cannot be held whole, so that what is kept has to serve."""
    monkeypatch.setattr(solver, "work_limits", lambda: solver.WorkLimits(0, 4000, 200_000_000))
    monkeypatch.setattr(tablebase, "DECK_SHARE_BINS", (0.2, 0.5, 0.65, 0.825))  # more decks by the formula


def arrays() -> dict[str, Any]:
    stored = table_cache.load(guarantees.name(MEDIUM), guarantees.stamp())
    assert stored is not None
    return {name: stored.read(name) for name in stored.names}


def test_an_interrupted_solve_goes_on_to_the_same_result() -> None:
    tablebase.solve(MEDIUM, load_kernels(), quiet)
    once = arrays()
    table_cache.delete(guarantees.name(MEDIUM), guarantees.stamp())
    began: list[int] = []

    def interrupting(at: int) -> Any:
        def progress(done: int, *_: object) -> None:
            began.append(done)
            if done == at:
                raise KeyboardInterrupt

        return progress

    for at in (30, 80):
        with pytest.raises(KeyboardInterrupt):
            tablebase.solve(MEDIUM, load_kernels(), interrupting(at))
        assert tablebase.load(MEDIUM) is None
    began.clear()
    assert "kept in" in tablebase.solve(MEDIUM, load_kernels(), interrupting(-1))
    assert began[0] == 80  # it went on, it did not begin again
    twice = arrays()
    assert all((once[name] == twice[name]).all() for name in once)
    assert (
        not table_cache.scratch_folder(guarantees.name(MEDIUM), guarantees.stamp())
        .joinpath("checkpoint.json")
        .exists()
    )


def test_a_solution_that_another_process_made_is_found_by_one_that_looked_before() -> None:
    tablebase.solve(MEDIUM, load_kernels(), quiet)
    elsewhere = table_cache.folder().rename(table_cache.folder().with_name("elsewhere"))
    assert tablebase.load(MEDIUM) is None
    elsewhere.rename(table_cache.folder())
    assert tablebase.load(MEDIUM) is not None


def put_work_away(after: int) -> None:
    """Interrupt a solve after so many steps."""

    def progress(done: int, *_: object) -> None:
        if done == after:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tablebase.solve(MEDIUM, load_kernels(), progress)


def first_step_solved() -> int:
    """Solve, and return with which step that began."""
    began: list[int] = []
    tablebase.solve(MEDIUM, load_kernels(), lambda done, *_: began.append(done))
    return began[0]


def test_work_put_away_and_damaged_is_not_taken_up() -> None:
    put_work_away(60)
    file = table_cache.scratch_folder(guarantees.name(MEDIUM), guarantees.stamp()) / "rows.bin"
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)
    assert first_step_solved() == 0


def test_work_put_away_is_taken_up_in_the_same_order_only(monkeypatch: pytest.MonkeyPatch) -> None:
    put_work_away(60)
    assert first_step_solved() == 60
    order = solve_order(MEDIUM)
    with monkeypatch.context() as patch:
        patch.setattr(tablebase, "solve_order", lambda _: [*order[:-2], order[-1], order[-2]])
        put_work_away(60)
    assert first_step_solved() == 0


def test_where_iteration_begins_does_not_change_the_solution(monkeypatch: pytest.MonkeyPatch) -> None:
    tablebase.solve(MEDIUM, load_kernels(), quiet)
    once = arrays()
    table_cache.delete(guarantees.name(MEDIUM), guarantees.stamp())
    monkeypatch.setattr(tablebase, "first_guess", lambda *_: lambda _: EmptyDeckValues(0.01, 0.99))
    tablebase.solve(MEDIUM, load_kernels(), quiet)
    assert np.abs(arrays()["empty"] - once["empty"]).max() < 1e-7


def test_a_damaged_table_is_noticed() -> None:
    tablebase.solve(MEDIUM, load_kernels(), quiet)
    stored = table_cache.load(guarantees.name(MEDIUM), guarantees.stamp())
    assert stored is not None
    file = stored.folder / "formula.bin"
    data = bytearray(file.read_bytes())
    data[100] ^= 1
    file.write_bytes(data)
    tablebase._opened.cache_clear()
    assert tablebase.load(MEDIUM) is None
    assert table_cache.load(guarantees.name(MEDIUM), guarantees.stamp()) is None


@pytest.mark.usefixtures("everything_is_large")
def test_what_is_kept_gives_the_values_of_the_whole_game() -> None:
    tablebase.solve(MEDIUM, load_kernels(), quiet)
    source, chooser = solver.solved_game(MEDIUM), random.Random(3)
    known: dict[str, int] = {}
    for _ in range(games(40) // 20 + 4):
        s = rules.start(MEDIUM._replace(first=1))
        while rules.to_act(s) != OVER:
            if rules.to_act(s) >= 0:
                selected = solver.select_source(s, work_factor=chooser.choice((1, 100)))
                true = solver.decision_chances(s, source)
                by_source = solver.decision_chances(s, selected.source)
                off = max(abs(true[a][0] - pair[0]) for a, pair in by_source.items())
                assert off <= (tablebase.ROUNDING_ERROR if selected.known == WITHIN else 0.1), (s, selected.how)
                known[selected.how] = known.get(selected.how, 0) + 1
                s = rules.apply(s, chooser.choice((KEEP, DISCARD)))
            else:
                s = rules.apply(s, chooser.choice(members(rules.outcomes(s))))
    assert len(known) == 3, known  # read, worked out, and by the formula


@pytest.mark.parametrize("options", [Options(), MEDIUM], ids=["sheet", "terms that depend on each other"])
def test_the_formula_fits_as_well_as_any(options: Options) -> None:
    """Against numpy's own solver, which takes the terms apart."""
    decks = np.concatenate([tablebase.sample_decks(options, which) for which in range(3)])
    terms = tablebase.features(options, decks)
    odds = decks / decks.sum(axis=1, keepdims=True)
    values = np.array([np.tanh(odds[:, 0] + odds[:, -1] ** 2), 1 / (2 + odds[:, 1])], np.float32)
    factors, errors = tablebase.least_squares(terms, values)
    expected = np.linalg.lstsq(terms, values.T.astype(np.float64), rcond=None)[0].T
    assert factors @ terms.T == pytest.approx(expected @ terms.T, abs=1e-9)
    assert errors == pytest.approx(np.std(expected @ terms.T - values, axis=1), abs=1e-7)


@pytest.mark.usefixtures("everything_is_large")
def test_a_solution_kept_by_an_earlier_version_is_still_read() -> None:
    """Such a one does not say how far its formula is off."""
    tablebase.solve(MEDIUM, load_kernels(), quiet)
    older = {name: array for name, array in arrays().items() if name != "errors"}
    table_cache.delete(guarantees.name(MEDIUM), guarantees.stamp())
    table_cache.save(guarantees.name(MEDIUM), guarantees.stamp(), older)
    s = State(MEDIUM, DRAW, 0, (0, 0), 0x11221, HIDDEN, 0, 0, HIDDEN, 0)
    selected = solver.select_source(s)
    assert (selected.known, type(selected.source)) == (ESTIMATED, LookAhead)
    assert 0 < selected.within < 0.1


@pytest.mark.usefixtures("everything_is_large")
def test_without_the_full_solution_the_answer_says_that_it_is_an_estimate() -> None:
    s = rules.apply(rules.start(MEDIUM._replace(first=1)), 2)
    assert solver.select_source(s).known == ESTIMATED
    tablebase.solve(MEDIUM, load_kernels(), quiet)
    assert solver.select_source(s).known == WITHIN
    assert solver.select_source(s, use_tablebase=False).known == ESTIMATED


def test_a_game_that_is_too_large_says_so() -> None:
    with pytest.raises(piste.PisteError, match="too large"):
        solver.solve_fully(Options(0, 0, 15, 15, 1000), quiet)


def test_a_small_game_needs_nothing_kept() -> None:
    assert "nothing has to be kept" in solver.solve_fully(Options(0, 0, 3, 2, 9), quiet)


def test_the_perfect_bot_takes_the_solvers_best_decision() -> None:
    table = piste.open_table("prime-duel", {"top": 5, "copies": 2, "target": 20}, seed="best")
    decided = 0
    while table.to_act is not None:
        view = table.view(table.to_act)
        verdict = solver.evaluate(InformationSet.of(GAME, view))
        assert verdict.known == EXACT
        assert verdict.best.chances == verdict.chances
        action = perfect.choose(view, Dealer("any").stream("bot"))
        assert verdict.best.action == action or verdict.choices[0].chances.value == verdict.choices[1].chances.value
        table.decide(table.to_act, action)
        decided += 1
    assert decided > 5


@pytest.mark.parametrize("given", ODD, ids=str)
def test_every_level_plays_every_option_to_the_end(given: dict[str, int | str]) -> None:
    """Or for as many decisions as a test has time for."""
    table = piste.open_table("prime-duel", given, seed=f"odd {given}")
    for number in range(24):
        if table.to_act is None:
            break
        view = table.view(table.to_act)
        choose = list(BOTS.values())[number % 3]
        action = choose(view, Dealer("odd").stream(f"{number}"))
        assert action in view.actions
        verdict = solver.evaluate(InformationSet.of(GAME, view)) if number % 5 == 0 else None
        table.decide(table.to_act, action)
        if verdict is None:
            continue
        assert sum(verdict.chances) == pytest.approx(1.0, abs=1e-9)
        assert [choice.action for choice in verdict.choices] == list(view.actions)


@pytest.mark.parametrize("name", BOTS)
def test_a_bot_answers_the_same_whatever_the_dealer_has_in_store(name: str) -> None:
    """Nothing is hidden in this game but the future: games that agree so far are answered alike."""
    choose = BOTS[name]
    for seed in range(4):
        laid = " ".join(map(str, random.Random(seed).sample([n for n in range(1, 11) for _ in range(4)], 12)))
        answers = []
        for dealer in ("one", "two", "three"):
            table = piste.open_table("prime-duel", {"first": 1}, seed=dealer, laid=laid)
            given = []
            for _ in range(4):
                assert table.to_act is not None
                view = table.view(table.to_act)
                given.append(choose(view, RandomStream(b"same", f"{view.number}")))
                table.decide(table.to_act, given[-1])
            answers.append(given)
        assert answers[0] == answers[1] == answers[2]


def test_a_won_card_is_kept_and_a_verdict_names_both_seats() -> None:
    text = "prime-duel 1=46 2=38 deck=2,1,2,3,2,1,2,2,1,2 to=1 phase=draw turns=14"
    for seat, win in (("1", 1.0), ("2", 0.0)):
        verdict = solver.evaluate(InformationSet.parse(f"{text} | {seat} | draw@1:4 | 1"))
        assert verdict.chances.win == pytest.approx(win, abs=1e-12)
        assert len(verdict.choices) == (2 if seat == "1" else 0)


def test_losses_to_perfect_play_in_a_game_small_enough_to_know() -> None:
    """The measure that is used at full size: each level loses more than the one above, and perfect nothing."""
    measured = prime_losses.measure(Options(0, 0, 5, 2, 18), games(120) // 10 + 60)
    loss = {name: mean for name, (mean, _, _) in measured.items()}
    assert loss["perfect, with the full solution"] < 1e-6
    assert 1e-4 < loss["strong"] < loss["novice"]
    assert 1e-4 < loss["steady"] < loss["novice"]


if games(0) >= 100_000:  # only in a proof: it takes 4 GB and a quarter of an hour

    def test_losses_to_perfect_play_at_the_sheets_size(
        capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(tablebase, "SAMPLES_PER_BIN", 12_000)
        tablebase.solve(Options(), load_kernels(), quiet)
        measured = prime_losses.measure(Options(), 200)
        with capsys.disabled():
            print(measured)
        loss = {name: mean + half for name, (mean, half, _) in measured.items()}
        assert loss["perfect, with the full solution"] < 1e-4
        assert loss["perfect, without the full solution"] < 0.0015
        assert loss["perfect, without the full solution"] < loss["strong"] < loss["steady"] < loss["novice"]
