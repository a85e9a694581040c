"""Zero-Sum Grid: the sheet's example, and rulings R1 to R7 (R5, harvest, has tests of its own)."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import product

import pytest

import piste
from piste.core.errors import DealError, IllegalDecisionError, OptionError, PositionError, UnreadableDecisionError
from piste.games.zero_sum_grid import rules

Grid = tuple[int, ...]

SHEET = "2 -3 4 / -1 5 -2 / 3 -4 1"
MOVES = tuple(f"{line}{sign}" for line in ("R1", "R2", "R3", "C1", "C2", "C3") for sign in "+-")
ZERO: Grid = (0,) * 9


# The game once more, written for these tests alone, so that a slip in the rules cannot hide in the test.


def moved(grid: Grid, move: str) -> Grid:
    kind, line, sign = move[0], int(move[1]) - 1, 1 if move[2] == "+" else -1
    return tuple(v + sign * ((at // 3 if kind == "R" else at % 3) == line) for at, v in enumerate(grid))


def rows_differ_by_constants(grid: Grid) -> bool:
    rows = (grid[:3], grid[3:6], grid[6:])
    return all(len({b - a for a, b in zip(rows[0], row, strict=True)}) == 1 for row in rows)


def made_of_moves(top: int) -> set[Grid]:
    """Return the grids a deal may hold that some moves make out of zeros: undoing those moves zeroes them.

    Moves commute, so only the net count of each line matters. One line's count can be taken as 0 (adding to all
    rows and subtracting from all columns changes nothing); then the others are at most 2 * top.
    """
    counts = range(-2 * top, 2 * top + 1)
    grids = (
        tuple(r + c for r in (r1, r2, r3) for c in (0, c2, c3)) for r1, r2, r3, c2, c3 in product(counts, repeat=5)
    )
    return {grid for grid in grids if all(v and abs(v) <= top for v in grid)}


@cache
def distances(most: int) -> dict[Grid, int]:
    """Return the distance to zero of each grid that is at most so far away, by breadth-first search."""
    found = {ZERO: 0}
    edge = [ZERO]
    for far in range(1, most + 1):
        after = {moved(grid, move) for grid in edge for move in MOVES} - found.keys()
        found |= dict.fromkeys(after, far)
        edge = list(after)
    return found


def spread(grid: Grid) -> int:
    """Return the distance of a grid that can be zeroed: six numbers must meet, each move shifts one by 1."""
    six = sorted([grid[0], grid[3], grid[6], *(grid[0] - v for v in grid[:3])])
    return sum(six[3:]) - sum(six[:3])


def text(grid: Grid) -> str:
    return "/".join(",".join(map(str, grid[row : row + 3])) for row in (0, 3, 6))


def at(grid: Grid, options: str = "", *, to: str = "1", turns: int = 0) -> piste.Position:
    return piste.Position.parse(f"zero-sum-grid{options} cells={text(grid)} to={to} phase=move turns={turns}")


def grid_of(table: piste.Table) -> Grid:
    return tuple(table.view().position.cells)


def dealt(options: dict[str, int | str]) -> Iterator[tuple[Grid, Fraction]]:
    """Walk the whole chance tree of a deal; yield each grid with its exact probability."""
    open_ = [(piste.Position.start("zero-sum-grid", {**options, "first": 1}), Fraction(1))]
    while open_:
        position, chance = open_.pop()
        if position.to_act != piste.CHANCE:
            yield tuple(position.state.cells), chance
        open_ += [(position.after(name), chance * p) for name, p in position.outcomes().items()]


def test_the_sheets_six_turns_come_back_to_where_they_began() -> None:
    table = piste.open_table("zero-sum-grid", {"first": 1}, laid=SHEET)
    seen = [grid_of(table)]
    for turn, move in enumerate(("R1+", "C2-", "R2+", "C1-", "C3-", "R3+")):
        table.decide(turn % 2, move)
        seen.append(grid_of(table))
    assert seen == [
        (2, -3, 4, -1, 5, -2, 3, -4, 1),
        (3, -2, 5, -1, 5, -2, 3, -4, 1),
        (3, -3, 5, -1, 4, -2, 3, -5, 1),
        (3, -3, 5, 0, 5, -1, 3, -5, 1),
        (2, -3, 5, -1, 5, -1, 2, -5, 1),
        (2, -3, 4, -1, 5, -2, 2, -5, 0),
        (2, -3, 4, -1, 5, -2, 3, -4, 1),
    ]
    assert table.to_act == 0
    assert table.view().position.turns == 6


def test_the_sheets_prompt_adds_one_to_row_two() -> None:
    table = piste.open_table("zero-sum-grid", {"first": 1}, laid=SHEET)
    table.decide(0, "R2A")
    assert grid_of(table) == (2, -3, 4, 0, 6, -1, 3, -4, 1)


def test_the_move_that_leaves_only_zeros_wins_for_whoever_made_it() -> None:
    for first in (1, 2):
        table = piste.open_table("zero-sum-grid", {"first": first}, laid="0 1 0 / 0 1 0 / 0 1 0")
        table.decide(first - 1, "C2-")
        ending = table.ending()
        assert ending is not None
        assert (ending.winner, ending.reason) == (first - 1, "grid is zero")
        assert ending.payoffs[first - 1] == 1
        assert sum(ending.payoffs) == 0


def test_r1_the_default_deal_is_uniform_over_exactly_the_winnable_grids() -> None:
    values = [v for v in range(-5, 6) if v]
    shifts = range(-10, 11)
    expected = {
        tuple(v + k for k in (0, down, far) for v in row)
        for row in product(values, repeat=3)
        for down in shifts
        if all(v + down in values for v in row)
        for far in shifts
        if all(v + far in values for v in row)
    }
    leaves = list(dealt({}))
    assert len(leaves) == 18_982  # as many leaves as grids: none comes up twice
    assert {grid for grid, _ in leaves} == expected
    assert {chance for _, chance in leaves} == {Fraction(1, 18_982)}
    assert all(rows_differ_by_constants(grid) for grid, _ in leaves)
    assert all(v in values for grid, _ in leaves for v in grid)


@pytest.mark.parametrize("top", [1, 2])
def test_r1_small_deals_agree_with_a_look_at_every_grid(top: int) -> None:
    values = [v for v in range(-top, top + 1) if v]
    winnable = made_of_moves(top)
    every = {grid for grid in product(values, repeat=9) if rows_differ_by_constants(grid)}
    assert every == winnable
    leaves = list(dealt({"top": top}))
    assert len(leaves) == len(winnable)
    assert {grid for grid, _ in leaves} == winnable
    assert {chance for _, chance in leaves} == {Fraction(1, len(winnable))}


def test_r1_the_rules_tell_winnable_grids_from_the_others() -> None:
    winnable = made_of_moves(1)
    for a, b, c, d, e, f, g, h, i in product((-1, 1), repeat=9):
        grid = (a, b, c, d, e, f, g, h, i)
        assert rules.winnable(grid) == (grid in winnable)
    assert not rules.winnable((2, -3, 4, -1, 5, -2, 3, -4, 1))  # the sheet's own


def test_r1_deal_any_gives_every_grid_the_same_chance() -> None:
    small = list(dealt({"deal": "any", "top": 1}))
    assert {grid for grid, _ in small} == set(product((-1, 1), repeat=9))
    assert {chance for _, chance in small} == {Fraction(1, 512)}
    # At full size the tree has a thousand million leaves: follow some paths, and see each cell dealt evenly.
    evenly = {str(v): Fraction(1, 10) for v in range(-5, 6) if v}
    for pick in range(10):
        position = piste.Position.start("zero-sum-grid", {"deal": "any", "first": 1})
        for cell in range(9):
            assert position.outcomes() == evenly
            position = position.after(list(evenly)[(pick * (cell + 3) + cell) % 10])
        assert position.to_act == 0
    # So the chance of a winnable grid is their number over 10 to the ninth: one in 52 681.
    assert int(1 / Fraction(18_982, 10**9)) == 52_681


def test_r1_deal_any_does_deal_grids_that_cannot_be_zeroed() -> None:
    tables = [piste.open_table("zero-sum-grid", {"deal": "any"}, seed=f"any {n}") for n in range(20)]
    assert not any(rows_differ_by_constants(grid_of(table)) for table in tables)
    tables = [piste.open_table("zero-sum-grid", seed=f"any {n}") for n in range(20)]
    assert all(rows_differ_by_constants(grid_of(table)) for table in tables)
    assert len({grid_of(table) for table in tables}) > 15


def test_r2_each_move_changes_the_distance_by_exactly_one() -> None:
    found = distances(6)
    assert len(found) > 5_000
    for grid, far in found.items():
        assert far == spread(grid)
        assert far % 2 == sum(grid) % 2  # each move changes the sum of the cells by 3
        if far < 6:
            assert all(abs(found[moved(grid, move)] - far) == 1 for move in MOVES)
    for grid, far in found.items():
        if 0 < far <= 2:  # the rules make the same moves as these tests
            for move in MOVES:
                assert tuple(at(grid).after(move).state.cells) == moved(grid, move)


@pytest.mark.parametrize(("grid", "last"), [((1,) * 9, 0), ((1, 2, 1) * 3, 1)])
def test_r2_only_one_player_can_ever_make_the_last_move(grid: Grid, last: int) -> None:
    assert spread(grid) % 2 == 1 - last
    layer = {at(grid, "{first=1}")}
    winners = set()
    for _ in range(4):
        after = {position.after(move) for position in layer for move in MOVES}
        winners |= {ending.winner for position in after if (ending := position.ending())}
        layer = {position for position in after if position.decisions()}
    assert winners == {last}


def test_r3_two_hundred_turns_are_a_draw_by_default_and_turns_0_takes_the_limit_off() -> None:
    limited, free = (
        piste.open_table("zero-sum-grid", {"first": 1, **more}, laid=SHEET) for more in ({}, {"turns": 0})
    )
    for turn in range(200):
        assert limited.ending() is None
        for table in (limited, free):
            table.decide(turn % 2, "R1+")
    ending = limited.ending()
    assert ending is not None
    assert (ending.winner, ending.reason, ending.payoffs) == (None, "turn limit", (0, 0))
    for turn in range(200, 1000):
        free.decide(turn % 2, "R1+")
    assert free.to_act == 0
    assert grid_of(free)[0] == 1002  # new grids all the way: the states are not finitely many


@pytest.mark.parametrize(("grid", "chaser"), [((1,) * 9, 0), ((1, 2, 1) * 3, 1), ((5, 4, 5, 1, 0, 1, 2, 1, 2), 0)])
def test_r3_who_cannot_win_can_avoid_losing_for_ever(grid: Grid, chaser: int) -> None:
    table = piste.open_table("zero-sum-grid", {"first": 1}, laid=text(grid))
    assert spread(grid) % 2 == 1 - chaser
    for turn in range(200):
        seat = turn % 2
        choose = min if seat == chaser else max  # one heads for zero, the other away from it
        table.decide(seat, choose(MOVES, key=lambda move: spread(moved(grid_of(table), move))))
    ending = table.ending()
    assert ending is not None
    assert (ending.winner, ending.reason) == (None, "turn limit")


def test_r4_cells_have_no_bound() -> None:
    table = piste.open_table("zero-sum-grid", {"first": 1, "turns": 0}, laid="5 5 5 / 5 5 5 / 5 5 -5")
    for turn in range(60):
        table.decide(turn % 2, "R1+" if turn % 2 == 0 else "C3-")
    assert grid_of(table) == (35, 35, 5, 5, 5, -25, 5, 5, -35)
    assert len(table.view(0).decisions) == 12


def test_r4_a_position_past_the_largest_grid_that_can_be_laid_reads_back() -> None:
    table = piste.open_table("zero-sum-grid", {"first": 1}, laid="1000000000 0 0 / 0 0 0 / 0 0 0")
    table.decide(0, "R1+")
    written = table.position_text()
    assert str(piste.Position.parse(written)) == written


def test_r6_an_explicit_grid_is_played_as_it_was_laid() -> None:
    grids = {SHEET: (2, -3, 4, -1, 5, -2, 3, -4, 1), "+9,0,0\n0,0,0\n0,0,−12": (9, 0, 0, 0, 0, 0, 0, 0, -12)}
    for laid, grid in grids.items():
        table = piste.open_table("zero-sum-grid", {"first": 2}, laid=laid)
        assert grid_of(table) == grid
        assert table.to_act == 1
        assert not table.counts


@pytest.mark.parametrize(
    ("laid", "why"),
    [
        ("0 0 0 / 0 0 0 / 0 0 0", "all zeros already"),
        ("1 2 3 / 4 5 6", "nine cells, not 6"),
        ("1 2 3 / 4 5 6 / 7 8 9 10", "nine cells, not 10"),
        ("1 2 3 / 4 x 6 / 7 8 9", "cell 5 cannot be 'x'"),
        ("1 2 3 / 4 1.5 6 / 7 8 9", "cell 5 cannot be '1.5'"),
    ],
)
def test_r6_a_grid_that_cannot_be_laid_is_refused_with_the_reason(laid: str, why: str) -> None:
    with pytest.raises(DealError, match=why):
        piste.open_table("zero-sum-grid", laid=laid)


def test_r7_no_move_makes_a_hopeless_grid_winnable_or_a_winnable_one_hopeless() -> None:
    for laid, winnable in ((SHEET, False), ("1 2 1 / 3 4 3 / -2 -1 -2", True)):
        table = piste.open_table("zero-sum-grid", {"first": 1}, laid=laid)
        for turn in range(36):
            table.decide(turn % 2, MOVES[turn * 5 % 12])
            assert rules.winnable(table.view().position.cells) is winnable


def test_r7_a_turn_cannot_be_passed() -> None:
    table = piste.open_table("zero-sum-grid", {"first": 1}, laid=SHEET)
    assert table.view(0).decisions == MOVES
    for nothing in ("pass", "", "R1", "R1+0"):
        with pytest.raises(UnreadableDecisionError, match="is not a decision here"):
            table.decide(0, nothing)
    assert table.to_act == 0


def test_r7_coming_back_to_an_earlier_grid_ends_nothing() -> None:
    table = piste.open_table("zero-sum-grid", {"first": 1}, laid=SHEET)
    for turn in range(198):
        table.decide(turn % 2, ("R1+", "R1-")[turn % 2])
    assert table.ending() is None
    assert grid_of(table) == (2, -3, 4, -1, 5, -2, 3, -4, 1)


@pytest.mark.parametrize(
    ("forms", "move"),
    [
        (("R2+", "r2+", "R2A", "r2a", "R2+1", "r 2 +1", "row 2 +1", "Row 2 add", "row 2 add 1", "row2a"), "R2+"),
        (("C3-", "c3−", "C3S", "c3s", "c3-1", "column 3 -1", "COLUMN 3 subtract", "column 3 subtract 1"), "C3-"),
    ],
)
def test_a_move_may_be_typed_in_any_of_its_forms(forms: tuple[str, ...], move: str) -> None:
    grid = (2, -3, 4, -1, 5, -2, 3, -4, 1)
    for form in forms:
        assert tuple(at(grid).after(form).state.cells) == moved(grid, move)


@pytest.mark.parametrize("typed", ["R4+", "C0-", "X1+", "R2", "+", "R2++", "2", "row", "R2+2", "\x1b[31m", "R²+"])
def test_what_is_no_move_is_refused_and_the_moves_are_named(typed: str) -> None:
    table = piste.open_table("zero-sum-grid", {"first": 1}, laid=SHEET)
    with pytest.raises(UnreadableDecisionError, match=r"You can choose R1\+, .* or C3-\.") as refused:
        table.decide(0, typed)
    assert str(refused.value).isprintable()
    assert grid_of(table) == (2, -3, 4, -1, 5, -2, 3, -4, 1)


def test_a_move_out_of_turn_or_after_the_end_is_refused_with_the_reason() -> None:
    table = piste.open_table("zero-sum-grid", {"first": 1}, laid="1 1 1 / 0 0 0 / 0 0 0")
    with pytest.raises(IllegalDecisionError, match="it is for Player 1"):
        table.decide(1, "R1-")
    with pytest.raises(IllegalDecisionError, match="no decision number 12"):
        table.decide(0, 12)
    table.decide(0, "R1-")
    with pytest.raises(IllegalDecisionError, match="the game is over"):
        table.decide(1, "R1-")


def test_positions_read_back_all_the_way_through_a_game() -> None:
    position = piste.Position.start("zero-sum-grid", {"turns": 8})
    steps = 0
    while position.to_act is not None:
        assert piste.Position.parse(str(position)) == position
        position = position.after(list(position.outcomes() or position.decisions())[steps % 2])
        steps += 1
    assert piste.Position.parse(str(position)) == position
    assert steps == 5 + 1 + 8


@pytest.mark.parametrize(
    ("position", "why"),
    [
        ("cells=0,0,0/0,0,0/0,0,0 to=1 phase=move turns=4", "all zeros: the game is over"),
        ("cells=1,1,1/0,0,0/0,0 to=1 phase=move turns=4", "nine cells, not 8"),
        ("cells=1,1,1/0,0,0/0,0,z to=1 phase=move turns=4", "cell 9 cannot be 'z'"),
        ("cells=1,1,1/0,0,0/0,0,0 to=3 phase=move turns=4", "'to' cannot be '3'"),
        ("cells=1,1,1/0,0,0/0,0,0 to=1 phase=move turns=200", "turn limit of 200 is reached"),
        ("cells=1,1,1/0,0,0/0,0,0 to=1 phase=move turns=-1", "'turns' cannot be '-1'"),
        ("cells=1,1,1/0,0,0/0,0,0 to=1 phase=toss turns=2", "before the first turn"),
        ("cells=1,1,1/0,0,0/0,0,0 to=1 phase=move", "'turns' is missing"),
        ("cells=1,1,1/0,0,0/0,0,0 to=1 phase=move turns=1 score=3", "'score' does not belong here"),
        ("cells=1,1,1/0,0,0/0,0,0 to=1 phase=over turns=3 winner=1 reason=grid-is-zero", "grid is not zero"),
        ("cells=0,0,0/0,0,0/0,0,0 to=1 phase=over turns=3 winner=2 reason=grid-is-zero", "another one won"),
        (
            "cells=1,1,1/0,0,0/0,0,0 to=1 phase=over turns=3 winner=none reason=turn-limit",
            "as many turns as the limit",
        ),
        ("cells=1,1,1/0,0,0/0,0,0 to=1 phase=over turns=3 winner=none reason=resigned", "must be a winner"),
        ("phase=deal dealt=0", "cell 0 cannot be dealt"),
        ("phase=deal dealt=6", "cell cannot be '6'"),
        ("phase=deal dealt=5,-5,1,2", "cell 2 cannot be dealt"),
        ("phase=deal dealt=1,1,1,1,1", "deal is complete"),
    ],
)
def test_a_position_that_breaks_the_rules_is_refused_with_the_reason(position: str, why: str) -> None:
    with pytest.raises(PositionError, match=why):
        piste.Position.parse(f"zero-sum-grid {position}")


def test_a_position_must_fit_who_started() -> None:
    with pytest.raises(PositionError, match="cannot be Player 1 after 3 turns"):
        at((1,) * 9, "{first=1}", to="1", turns=3)
    assert at((1,) * 9, "{first=1}", to="2", turns=3).to_act == 1


@pytest.mark.parametrize(
    ("option", "why"),
    [
        ({"deal": "fair"}, "winnable or any"),
        ({"top": 16}, "1 to 15"),
        ({"first": 3}, "toss, 1 or 2"),
        ({"size": 4}, "has no option"),
    ],
)
def test_an_option_that_cannot_be_is_refused_with_the_reason(option: dict[str, int | str], why: str) -> None:
    with pytest.raises(OptionError, match=why):
        piste.open_table("zero-sum-grid", option)


def test_r8_a_laid_board_stays_far_below_what_compiled_numbers_hold() -> None:
    huge = 10**15
    table = piste.open_table("zero-sum-grid", {"first": 1}, laid=f"{huge} 0 0 / 0 0 0 / 0 0 {-huge}")
    table.decide(0, "R1+")
    assert piste.Position.parse(table.position_text()).state.cells[0] == huge + 1
    with pytest.raises(DealError, match="cell 9"):
        piste.open_table("zero-sum-grid", laid=f"1 1 1 1 1 1 1 1 {huge + 1}")
