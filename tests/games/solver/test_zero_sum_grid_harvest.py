"""Harvest, solved: against plain search through the rules, against a second table, and by play."""

from __future__ import annotations

import random
import subprocess
import sys
from functools import cache
from itertools import product

import numpy as np
import pytest

import piste
from piste import bots
from piste.core.belief import Belief
from piste.core.evaluation import ESTIMATED, EXACT, Evaluation
from piste.core.game import find, members
from piste.core.information_set import InformationSet
from piste.core.protocols import HIDDEN, OVER
from piste.games.zero_sum_grid import rules
from piste.games.zero_sum_grid.bots import steady
from piste.games.zero_sum_grid.rules import HARVEST, MOVE, Cells, Options, State
from piste.games.zero_sum_grid.solver import harvest, harvest_tables, solver
from tests import ROOT
from tests.game_setups import games

GAME = find("zero-sum-grid")
PAGE = ROOT / "docs" / "solve" / "zero-sum-grid.md"
Grid = tuple[int, ...]


def judged(s: State, seat: int = 0) -> Evaluation:
    return solver.evaluate(InformationSet(seat, piste.Position(GAME, s), (), Belief(GAME, s, seat)))


def searched(s: State) -> int:
    """Return by how many points seat 0 ends ahead with best play, by looking at everything through the rules."""
    if rules.to_act(s) == OVER:
        return s.points[0] - s.points[1]
    found = [searched(rules.apply(s, move)) for move in members(rules.legal(s))]
    return max(found) if s.seat == 0 else min(found)


def some_state(chooser: random.Random, left: int, *, winnable: bool, top: int = 5) -> State:
    """Return a position with so many turns left."""
    options = Options(top=top, turns=16, deal=0 if winnable else 1, variant=HARVEST)
    while True:
        s = rules.start(options._replace(first=1))
        while s.phase == rules.DEAL:
            s = rules.apply(s, rules.drawn(s, chooser.randrange(rules.spread(s))))
        cells = tuple(chooser.randrange(-top, top + 1) for _ in range(9)) if chooser.random() < 0.3 else s.cells
        if winnable:
            a, b, c, d, _, _, g, _, _ = cells
            cells = (a, b, c, d, b + d - a, c + d - a, g, b + g - a, c + g - a)
        if max(map(abs, cells)) > top:
            continue
        a, b, c, d, e, f, g, h, i = cells
        points = (chooser.randrange(5), chooser.randrange(5))
        line, seat = chooser.randrange(6), chooser.randrange(2)
        s = State(options, MOVE, seat, (a, b, c, d, e, f, g, h, i), 9, 16 - left, HIDDEN, 0, points, line)
        if rules.legal(s):
            return s


@pytest.mark.parametrize("winnable", [True, False])
def test_what_a_position_is_worth_is_what_plain_search_finds(winnable: bool) -> None:
    chooser = random.Random(f"plain {winnable}")
    for left, many in ((1, 60), (2, 40), (3, games(8) if winnable else 8), (4, 1)):
        for _ in range(many):
            s = some_state(chooser, left, winnable=winnable, top=chooser.choice([1, 2, 5]) if left < 4 else 1)
            found = harvest_tables.margin(s)
            assert (found if s.seat == 0 else -found) == searched(s)


# The whole length of the game, by a plain table of its own that knows no symmetry.


@cache
def neighbours(grid: Grid, top: int) -> tuple[tuple[str, Grid, int], ...]:
    found = []
    for line, by in product(("R0", "R1", "R2", "C0", "C1", "C2"), (1, -1)):
        at = int(line[1])
        moved = tuple(
            cell + by if (i // 3 if line[0] == "R" else i % 3) == at else cell for i, cell in enumerate(grid)
        )
        if max(map(abs, moved)) <= top:
            zeros = sum(cell == 0 for i, cell in enumerate(moved) if (i // 3 if line[0] == "R" else i % 3) == at)
            found.append((line, moved, zeros))
    return tuple(found)


@cache
def plain(grid: Grid, line: str, left: int, top: int) -> int:
    if left == 0:
        return 0
    found = [
        zeros - plain(moved, name, left - 1, top) for name, moved, zeros in neighbours(grid, top) if name != line
    ]
    return max(found, default=0)


def deals(top: int) -> list[Cells]:
    cells = [cell for cell in range(-top, top + 1) if cell]
    found: list[Cells] = []
    for a, b, c, d, g in product(cells, repeat=5):
        whole = (a, b, c, d, b + d - a, c + d - a, g, b + g - a, c + g - a)
        if all(0 < abs(cell) <= top for cell in whole):
            found.append(whole)
    return found


@pytest.mark.parametrize("top", [1, 2])
def test_whole_games_of_small_sizes_agree_with_a_plain_table(top: int) -> None:
    options = Options(first=1, top=top, variant=HARVEST)
    found = {grid: plain(grid, "", 16, top) for grid in deals(top)}
    for grid, margin in found.items():
        assert harvest.final_lead(State(options, MOVE, 0, grid, 9, 0, HIDDEN, 0)) == margin
    tally = harvest_tables.tally(options)
    assert tally.deals == len(found)
    assert tally.first == sum(margin > 0 for margin in found.values())
    assert tally.level == sum(margin == 0 for margin in found.values())


def test_a_table_without_symmetry_agrees_on_every_grid_of_the_usual_size() -> None:
    table = harvest_tables.family_table((0, 0, 0, 0), 5, 16)
    assert len(table.keys) == 48_983
    assert len(harvest_tables.ordered_table(5, 16).keys) == 3_003
    options = Options(variant=HARVEST)
    wins = level = 0
    for grid in deals(5):
        rows, columns = [grid[0], grid[3], grid[6]], [0, grid[1] - grid[0], grid[2] - grid[0]]
        at = np.searchsorted(table.keys, harvest_tables.key(rows, columns, 5))
        worth = int(table.values[16, at, harvest_tables.ANY_LINE])
        assert worth == harvest_tables.margin(State(options, MOVE, 0, grid, 9, 0, HIDDEN, 0))
        wins, level = wins + (worth > 0), level + (worth == 0)
    assert (wins, level) == (9_560, 7_164)


def test_the_table_knows_the_line_just_moved_at_every_stage() -> None:
    table, chooser = harvest_tables.family_table((0, 0, 0, 0), 5, 16), random.Random("stages")
    for _ in range(500):
        s = some_state(chooser, chooser.randrange(1, 17), winnable=True)
        rows, columns = [s.cells[0], s.cells[3], s.cells[6]], [0, s.cells[1] - s.cells[0], s.cells[2] - s.cells[0]]
        at = np.searchsorted(table.keys, harvest_tables.key(rows, columns, 5))
        so_far = s.points[s.seat] - s.points[1 - s.seat]
        assert harvest_tables.margin(s) == so_far + int(table.values[16 - s.turns, at, s.line])


# What all deals come to


def test_the_page_and_the_command_say_how_many_deals_the_first_player_wins() -> None:
    found = harvest_tables.tally(Options(variant=HARVEST))
    assert (found.first, found.level, found.second, found.deals) == (9_560, 7_164, 2_258, 18_982)
    said = solver.solve_fully(Options(variant=HARVEST))
    page = PAGE.read_text(encoding="utf-8")
    for text in ("9 560", "18 982", "50.36 %", "7 164"):
        assert text in said
        assert text in page
    for margin, many in found.margins.items():
        assert f"| {margin:+d} | {harvest.spaced(many)} |".replace("+0", "0") in page


def test_the_start_is_worth_the_share_of_deals() -> None:
    start = rules.start(Options(first=1, variant=HARVEST))
    assert judged(start).chances.win == pytest.approx(9_560 / 18_982, abs=1e-12)
    assert judged(start, 1).chances.win == pytest.approx(1 - 9_560 / 18_982, abs=1e-12)
    assert judged(start).known == EXACT
    # The same from the next chance nodes, one by one.
    small = rules.start(Options(first=2, top=2, variant=HARVEST))
    whole = judged(small, 1).chances.win
    outcomes = members(rules.outcomes(small))
    weights = [rules.weight(small, outcome) for outcome in outcomes]
    parts = [judged(rules.apply(small, outcome), 1).chances.win for outcome in outcomes]
    mean = sum(w * p for w, p in zip(weights, parts, strict=True)) / sum(weights)
    assert whole == pytest.approx(mean, abs=1e-12)


def test_before_a_toss_both_are_even() -> None:
    for deal in (0, 1):
        found = judged(rules.start(Options(deal=deal, variant=HARVEST)))
        assert (found.chances.win, found.known) == (0.5, EXACT)


def test_deals_of_any_grid_are_counted_where_they_are_few_and_else_estimated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(harvest, "MAX_SAMPLED_DEALS", 20)
    found = judged(rules.start(Options(first=1, deal=1, variant=HARVEST)))
    assert found.known == ESTIMATED
    assert 0.1 < found.within < 0.25
    s = rules.start(Options(first=1, deal=1, top=1, turns=4, variant=HARVEST))
    for _ in range(5):
        s = rules.apply(s, 0)
    assert judged(s).known == EXACT


def test_a_laid_grid_that_is_too_large_is_only_estimated() -> None:
    options = Options(first=1, top=15, deal=1, variant=HARVEST)
    s = State(options, MOVE, 0, (1, 0, 0, 0, 0, 0, 0, 0, 0), 9, 0, HIDDEN, 0)
    found = judged(s)
    assert (found.known, found.within) == (ESTIMATED, 0.5)
    assert found.chances == found.best.chances


# Decisions and play


def test_the_best_decision_has_the_value_of_the_position() -> None:
    chooser = random.Random("best")
    for _ in range(60):
        s = some_state(chooser, chooser.randrange(1, 17), winnable=chooser.random() < 0.9)
        found = judged(s, s.seat)
        assert found.best.chances == found.chances
        assert {choice.action for choice in found.choices} == set(members(rules.legal(s)))
        assert sum(choice.mix for choice in found.choices) == pytest.approx(1)
        assert all(choice.chances == found.chances for choice in found.choices if choice.mix > 0)
        other = judged(s, 1 - s.seat)
        assert (other.chances.win, other.choices) == (found.chances.loss, ())


@pytest.mark.parametrize("level", ["random", "novice", "steady", "strong", "perfect"])
def test_the_perfect_bot_wins_every_deal_that_is_won(level: str) -> None:
    perfect, other = bots.find("perfect", GAME), bots.find(level, GAME)
    for number in range(games(6)):
        table = piste.open_table("zero-sum-grid", {"variant": "harvest"}, seed=f"won {number}")
        assert table.to_act is not None
        verdict = solver.evaluate(InformationSet.told(GAME, table.view(table.to_act)))
        winner = table.to_act if verdict.chances.win == 1 else 1 - table.to_act
        while (seat := table.to_act) is not None:
            view = table.view(seat)
            bot = perfect if seat == winner or level == "perfect" else other
            table.decide(seat, bot.choose(view, piste.Dealer("x").stream(bots.stream_name(view))))
        ending = table.ending()
        assert ending is not None
        assert ending.winner == winner


def test_looking_ahead_is_the_search_it_says_it_is() -> None:
    def whole(s: State, turns: int) -> int:
        if turns == 0 or rules.to_act(s) == OVER:
            return 0
        found = []
        for move in members(rules.legal(s)):
            after = rules.apply(s, move)
            found.append(after.points[s.seat] - s.points[s.seat] - whole(after, turns - 1))
        return max(found)

    chooser = random.Random("ahead")
    for _ in range(12):
        s = some_state(chooser, chooser.choice([1, 2, 9]), winnable=True)
        for turns in (1, 2, 3):
            assert steady.best_gain(s, turns) == whole(s, turns)


def test_better_levels_win_more() -> None:
    def won(one: str, two: str, deals: int) -> int:
        seated = (bots.find(one, GAME), bots.find(two, GAME))
        found = 0
        for number in range(deals):
            for swap in (0, 1):
                table = piste.open_table("zero-sum-grid", {"variant": "harvest", "first": 1}, seed=f"levels {number}")
                while (seat := table.to_act) is not None:
                    view = table.view(seat)
                    stream = piste.Dealer(f"{number}").stream(bots.stream_name(view))
                    table.decide(seat, seated[seat ^ swap].choose(view, stream))
                ending = table.ending()
                assert ending is not None
                found += ending.winner == swap
        return found

    assert won("novice", "random", 15) > 18
    assert won("steady", "novice", 15) > 18
    assert won("strong", "steady", 40) > 44
    assert won("perfect", "steady", 15) > 18


def test_without_numpy_harvest_asks_for_the_extra_and_the_sheets_game_needs_none() -> None:
    code = (
        "import sys; sys.modules['numpy'] = None\n"
        "from piste.games.zero_sum_grid.solver import solver\n"
        "from piste.games.zero_sum_grid.rules import Options\n"
        "solver.prepare(Options()); solver.solve_fully(Options())\n"
        "try:\n    solver.prepare(Options(variant=1))\n"
        "except Exception as e:\n    print(type(e).__name__, e)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("MissingExtraError Solving harvest needs the extra 'fast'")
