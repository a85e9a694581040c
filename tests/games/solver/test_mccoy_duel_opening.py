"""Duel's first plays: how well they do by long sampled play, and what is kept of that."""

from __future__ import annotations

from pathlib import Path

import pytest

from piste.compiled import table_cache
from piste.core.evaluation import quiet
from piste.core.protocols import HIDDEN, SPECTATOR, Event
from piste.games.mccoy_duel import notation, rules
from piste.games.mccoy_duel.solver import infoset_kernels, infosets, solutions, solver
from piste.games.mccoy_duel.solver.infoset_kernels import KEY_COLUMN
from tests.game_setups import games
from tests.games.solver import mccoy_duel_opening
from tests.games.solver.mccoy_duel_plain_cfr import show
from tools import duel_adversary, duel_exploitability, duel_openings

SMALL = rules.Options(powers=notation.read_powers("05*"))
SMALL_SOLVED = rules.Options(powers=notation.read_powers("0136*"))


@pytest.mark.slow
def test_a_variant_of_the_opening_that_is_damaged_or_missing_is_worked_out_again_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(table_cache, "folder", lambda: tmp_path)
    whole = solver.opening(SMALL, quiet, 1000)
    name, stamp = (
        f"mccoy-duel opening fair powers={SMALL.powers},passes=1000",
        f"rules {rules.VERSION}, solver {solver.VERSION}",
    )
    for junk in (None, b"", b"junk", bytes(8 * solver.OPENING_VALUES)):
        table = table_cache.load(name, stamp)
        assert table is not None
        if junk is None:
            table_cache.delete(name, stamp)
        else:
            (table.folder / "shares.bin").write_bytes(junk)
        reports: list[int] = []
        again = solver.opening(SMALL, lambda done, *_, reports=reports: reports.append(done), 1000)
        assert all((again[way] == whole[way]).all() for way in solver.VARIANTS)
        assert reports == [1000]  # the second of three variants of 1000 passes each begins there


def test_rows_after_a_lead_are_those_that_the_events_leave() -> None:
    options = rules.Options(2, 1, 1)
    told = tuple(infosets.Observed(Event(rules.BURY, seat, HIDDEN, HIDDEN), None) for seat in range(2))
    dealt = infosets.possible_states(rules.start(options), told, SPECTATOR)
    states = mccoy_duel_opening.after(options, dealt, 0)
    played = infosets.Observed(Event(rules.PLAY, 0, 0, infoset_kernels.UNKNOWN), None)
    expected = infosets.possible_states(rules.start(options), (*told, played), SPECTATOR)
    both = slice(KEY_COLUMN + 2)  # what the two seats were told; there are no others
    assert {tuple(row[both]) for row in states.rows} == {tuple(row[both]) for row in expected.rows if row[1] == 1}
    # Whoever has buried the own 0 has no answer to a 0.
    assert abs(states.weights.sum() - 8 / 9) < 1e-9
    assert len(set(states.rows[:, KEY_COLUMN + 1])) == 8


def test_the_value_of_the_lead_says_how_far_off_it_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    """A short search is off, and its interval has to cover a longer one."""
    solver.lead_chance.cache_clear()
    monkeypatch.setattr(solver, "LEAD_PASSES", 100_000)
    short, off = solver.lead_chance(rules.Options())
    solver.lead_chance.cache_clear()
    assert abs(short - 0.64) <= off + 0.02
    assert 0.005 < off < 0.3


def test_first_plays_give_little_away(capsys: pytest.CaptureFixture[str]) -> None:
    whole = games(1) >= 50
    options = rules.Options() if whole else SMALL
    gains = mccoy_duel_opening.gains(
        options, passes=mccoy_duel_opening.LONG if whole else 3000, seeds=mccoy_duel_opening.SEEDS if whole else 1
    )
    show(
        capsys,
        f"first plays: the best reply gains {gains.reply:.2%}, leads lose {gains.lead:.2%}, "
        f"together at most {gains.most:.2%} by {mccoy_duel_opening.LONG} passes",
    )
    assert 0 <= gains.reply + gains.lead <= gains.most
    assert gains.most <= (0.10 if whole else 0.5)


@pytest.mark.slow
def test_an_adversary_gains_little_from_a_solution_and_much_from_a_habit() -> None:
    start = solutions.start_state(SMALL_SOLVED.powers, picking=False)
    solved = duel_openings.way("solution", start.options, 1)

    def habit(start: rules.State, events: duel_openings.Events, seat: int) -> dict[int, float]:
        return {duel_openings.at(start, events, seat)[1][0]: 1.0}  # always the first card

    little, much = (
        duel_adversary.gains(
            start.options,
            (duel_exploitability.mixes(start, 0, ask, 1), duel_exploitability.mixes(start, 1, ask, 2)),
            20_000,
            1,
        )
        for ask in (solved, habit)
    )
    assert little.from_leader + little.from_other < 0.05 < much.from_leader + much.from_other
