"""Zero-Sum Grid, harvest (ruling R5): another game on the same grid; the sheet's game knows nothing of it."""

from __future__ import annotations

from itertools import product
from math import comb

import pytest

import piste
from piste.core.errors import DealError, IllegalDecisionError, OptionError, PositionError
from piste.core.game import find
from piste.core.observation import indices
from piste.core.presentation import EventContext, Prompt
from piste.games.zero_sum_grid import observation, rules
from piste.games.zero_sum_grid import text as words
from piste.games.zero_sum_grid.rules import HARVEST, MOVE, Cells, Options, State

NAMES = ("Player 1", "Player 2")
LINES = ("R1", "R2", "R3", "C1", "C2", "C3")
STUCK = "5 -5 0 / 0 5 -5 / -5 0 5"  # every line has a 5 and a -5

# Played before there was a harvest.
OLD = (
    '{"piste": 1, "game": "zero-sum-grid", "rules": 1, "options": {"first": "toss", "turns": "3", "top": "1", '
    '"deal": "winnable"}, "seats": ["Player 1", "Player 2"], "commitment": '
    '"fc9e18d438252ac739af8c73b4600445b729d49008b283cceb0b2b54817c046c", "salt": '
    '"17dc9f08242f9ae054c81d7c23acce1e3e38e9d926872c1b00dec0546fc8db7d", "seed": "b0", "counts": false, '
    '"named": true, "check": "0144da5a"}\n'
    '{"n": 1, "chance": "deal", "outcome": "-1", "check": "39f0995e"}\n'
    '{"n": 2, "chance": "deal", "outcome": "1", "check": "642620a3"}\n'
    '{"n": 3, "chance": "deal", "outcome": "-1", "check": "96241011"}\n'
    '{"n": 4, "chance": "deal", "outcome": "-1", "check": "92d74c92"}\n'
    '{"n": 5, "chance": "deal", "outcome": "-1", "check": "d15f2fd6"}\n'
    '{"n": 6, "chance": "toss", "outcome": "2", "check": "b68b8946"}\n'
    '{"n": 7, "seat": "2", "move": "C1+", "check": "81146fe1"}\n'
    '{"n": 8, "seat": "1", "move": "C1+", "check": "659e69f8"}\n'
    '{"n": 9, "seat": "2", "move": "R1+", "check": "037d02d4"}\n'
    '{"n": 10, "ending": "turn limit", "winner": null, "payoffs": [0, 0], '
    '"checksum": "d54d006ab3c12cbeacfbdd5fcc4147ca", "check": "729e80e7"}\n'
)


def laid(grid: str, first: int = 1, **options: int | str) -> piste.Table:
    return piste.open_table("zero-sum-grid", {"first": first, "variant": "harvest", **options}, laid=grid)


def play(table: piste.Table, *moves: str) -> None:
    for move in moves:
        assert table.to_act is not None
        table.decide(table.to_act, move)


def points(table: piste.Table) -> tuple[int, int]:
    found: tuple[int, int] = table.view().position.points
    return found


# The ruling


def test_r5_a_move_scores_the_zeros_then_in_the_line_it_moved_and_no_others() -> None:
    table = laid("1 2 1 / 0 0 0 / 3 0 -1")
    play(table, "R1-")  # 0 1 0; the zeros of row 2 and of the columns are not counted
    assert points(table) == (2, 0)
    play(table, "C3+")  # 1 1 0 downwards
    assert points(table) == (2, 1)
    play(table, "R2+")  # the zeros that were there are gone
    assert points(table) == (2, 1)


def test_r5_the_line_the_opponent_has_just_moved_may_not_be_moved() -> None:
    table = laid("1 2 1 / 2 1 2 / 3 1 -1")
    assert len(table.view(0).decisions) == 12
    play(table, "R2+")
    assert {name[:2] for name in table.view(1).decisions} == set(LINES) - {"R2"}
    with pytest.raises(IllegalDecisionError, match="R2 was just moved by the other player"):
        table.decide(1, "R2-")
    play(table, "C1-")
    assert {"R2+", "R2-"} <= set(table.view(0).decisions)  # only what was moved just now; one's own line is free
    assert not {"C1+", "C1-"} & set(table.view(0).decisions)


def test_r5_cells_stay_in_the_range_of_the_deal() -> None:
    table = laid("5 2 1 / 2 1 2 / 3 -5 -1")
    assert set(table.view(0).decisions) == {
        "R1-", "R2+", "R2-", "R3+", "C1-", "C2+", "C3+", "C3-",
    }  # fmt: skip
    with pytest.raises(IllegalDecisionError, match="You cannot play R1\\+ now: a cell would leave -5 to 5"):
        table.decide(0, "row 1 add")
    small = laid("2 1 1 / 1 1 1 / 1 1 1", top=2)
    assert not {"R1+", "C1+"} & set(small.view(0).decisions)
    with pytest.raises(DealError, match="from -2 to 2"):
        laid("3 1 1 / 1 1 1 / 1 1 1", top=2)


def test_r5_nine_zeros_do_not_end_the_game() -> None:
    table = laid("1 1 1 / 0 0 0 / 0 0 0")
    play(table, "R1-")
    assert table.to_act == 1
    assert points(table) == (3, 0)
    assert not any(table.view().position.cells)
    assert laid("0 0 0 / 0 0 0 / 0 0 0").to_act == 0  # and they may be laid


@pytest.mark.parametrize("first", [1, 2])
def test_r5_after_sixteen_turns_the_higher_score_wins_and_level_goes_to_the_second_player(first: int) -> None:
    table = laid("5 5 5 / 5 5 5 / 5 5 5", first)
    starter, second = first - 1, 2 - first
    play(table, *["R1-", "R2-", "R1+", "R2+"] * 3, "R1-", "R2-", "R1+")
    assert table.ending() is None
    play(table, "R2+")
    assert table.ending() == piste.Ending(second, "level score", (1, -1) if second == 0 else (-1, 1))
    table = laid("1 1 1 / 5 5 5 / 5 5 5", first)
    play(table, *["R1-", "R2-", "R3-", "R2+", "R3+", "R2-", "R3-", "R2+"], *["R3+", "R2-", "R3-", "R2+"] * 2)
    assert points(table)[starter] == 3
    assert table.ending() == piste.Ending(starter, "higher score", (1, -1) if starter == 0 else (-1, 1))
    table = laid("5 5 5 / 1 1 1 / 5 5 5", first)
    play(table, *["R1-", "R2-", "R1+", "R3-"] * 1, *["R1-", "R3+", "R1+", "R3-"] * 3)
    assert table.ending() == piste.Ending(second, "higher score", (1, -1) if second == 0 else (-1, 1))


def test_r5_the_number_of_turns_is_sixteen_unless_another_is_asked_for() -> None:
    game = find("zero-sum-grid")
    assert (
        game.options({"variant": "harvest"}).turns == game.options({"variant": "harvest", "turns": 200}).turns == 16
    )
    assert game.options({"variant": "harvest", "turns": 7}).turns == 7
    assert game.options().turns == 200
    for turns in (0, 65, 1000):
        with pytest.raises(OptionError, match="1 to 64 turns, 16 if nothing is said"):
            game.options({"variant": "harvest", "turns": turns})
    table = laid("1 2 1 / 2 1 2 / 3 1 -1", turns=1)
    play(table, "R1-")
    assert table.ending() == piste.Ending(0, "higher score", (1, -1))


def grids(top: int) -> list[Cells]:
    """Return every grid that can be zeroed with cells from -top to top, zeros among them."""
    cells = range(-top, top + 1)
    found = []
    for a, b, c, d, g in product(cells, repeat=5):
        whole = (a, b, c, d, b + d - a, c + d - a, g, b + g - a, c + g - a)
        if max(map(abs, whole)) <= top:
            found.append(whole)
    return found


@pytest.mark.parametrize("top", [1, 2, 3, 5])
def test_r5_on_a_grid_that_can_be_zeroed_two_lines_are_always_open(top: int) -> None:
    options = Options(top=top, variant=HARVEST)
    for cells in grids(top):
        open_now = rules.legal(State(options, MOVE, 0, cells, 9, 0, -1, 0))
        lines = [line for line in range(6) if open_now >> 2 * line & 3]
        assert len(lines) >= 3  # so two at least, when one of them was just moved
    assert len(grids(top)) == 36 * comb(2 * top + 3, 5) + 12 * comb(2 * top + 2, 3) + 2 * top + 1


def test_r5_a_game_in_which_no_move_is_open_is_over() -> None:
    table = laid(STUCK)
    assert table.ending() == piste.Ending(1, "level score", (-1, 1))
    tossed = piste.open_table("zero-sum-grid", {"variant": "harvest"}, seed="x", laid=STUCK)
    assert tossed.ending() is not None
    # Only row 1 can be moved, and then nothing: the other player may not move it back.
    table = laid("4 -4 0 / 5 5 -5 / -5 -5 5", deal="any")
    assert table.view(0).decisions == ("R1+", "R1-")
    play(table, "R1+")
    assert points(table) == (0, 0)
    assert table.ending() == piste.Ending(1, "level score", (-1, 1))


def test_r5_who_resigns_loses_whatever_the_score_is() -> None:
    table = laid("1 1 1 / 0 0 0 / 0 0 0")
    play(table, "R1-")
    table.resign(0)
    assert table.ending() == piste.Ending(1, "resigned", (-1, 1))
    assert str(piste.Position.parse(table.position_text())) == table.position_text()


# Positions


HEAD = "zero-sum-grid{first=1,turns=16,variant=harvest}"


def test_positions_of_harvest_read_back() -> None:
    for text in (
        f"{HEAD} cells=1,2,1/0,0,0/3,0,-1 to=1 phase=move turns=0 points=0,0 moved=-",
        f"{HEAD} cells=0,0,0/0,0,0/0,0,0 to=2 phase=move turns=3 points=6,1 moved=C2",
        f"{HEAD} cells=1,2,1/0,0,0/3,0,-1 to=1 phase=over turns=16 points=9,7 moved=R1 winner=1 reason=higher-score",
        f"{HEAD} cells=1,2,1/0,0,0/3,0,-1 to=1 phase=over turns=16 points=7,7 moved=R1 winner=2 reason=level-score",
    ):
        assert str(piste.Position.parse(text)) == text


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ("to=1 phase=move turns=0 points=0,0", "'moved' is missing"),
        ("to=1 phase=move turns=0 moved=-", "'points' is missing"),
        ("to=1 phase=move turns=0 points=0 moved=-", "two numbers"),
        ("to=1 phase=move turns=0 points=0,0 moved=R1", "is - before the first one"),
        ("to=2 phase=move turns=1 points=0,0 moved=-", "names the line of the last turn"),
        ("to=2 phase=move turns=1 points=4,0 moved=R1", "more than 3 points"),
        ("to=2 phase=move turns=1 points=0,1 moved=R1", "more than 0 points"),
        ("to=2 phase=move turns=2 points=0,1 moved=R1", "cannot be Player 2 after 2 turns"),
        ("to=1 phase=move turns=16 points=0,1 moved=R1", "No turn or no move is left"),
        ("to=1 phase=over turns=16 points=0,1 moved=R1 winner=1 reason=higher-score", "say otherwise who won"),
        ("to=1 phase=over turns=14 points=2,1 moved=R1 winner=1 reason=higher-score", "not over yet"),
        ("to=1 phase=over turns=14 points=2,1 moved=R1 winner=none reason=resigned", "must be a winner"),
        ("to=1 phase=over turns=16 points=2,1 moved=R1 winner=none reason=turn-limit", "'reason' cannot be"),
        ("to=1 phase=toss turns=0 points=0,0 moved=-", "A toss comes before"),
    ],
)
def test_positions_of_harvest_that_cannot_be_are_refused(fields: str, why: str) -> None:
    with pytest.raises(PositionError, match=why):
        piste.Position.parse(f"{HEAD} cells=1,2,1/0,0,0/3,0,-1 {fields}")


def test_a_cell_out_of_the_range_is_refused() -> None:
    with pytest.raises(PositionError, match="from -5 to 5"):
        piste.Position.parse(f"{HEAD} cells=6,2,1/0,0,0/3,0,-1 to=1 phase=move turns=0 points=0,0 moved=-")


# The screen


def asked(table: piste.Table) -> list[str]:
    assert table.to_act is not None
    return words.ask(table.view(table.to_act), NAMES).text.split("\n")


def test_the_question_has_the_score_and_says_what_is_not_open_and_why() -> None:
    table = laid("5 1 1 / 4 0 0 / 4 0 0")
    assert asked(table)[8:11] == [
        "Turn 1 of 16. Score: Player 1 0, Player 2 0.",
        "Would leave -5 to 5: R1+, C1+.",
        "",
    ]
    play(table, "R2-")
    text = asked(table)
    assert "Row 2 was just moved: not this turn." in text
    prompt = words.ask(table.view(1), NAMES)
    rows = prompt.keys[0].then
    assert isinstance(rows, Prompt)
    assert [key.key for key in rows.keys] == ["1", "3"]
    assert rows.text == "\nEnter the line number (1/3): "
    subtract = rows.keys[0].then
    assert isinstance(subtract, Prompt)
    assert [key.key for key in subtract.keys] == ["S"]
    assert subtract.text.endswith("Enter choice (S): ")


def test_every_open_decision_of_harvest_can_be_typed_and_no_other() -> None:
    def leaves(prompt: Prompt) -> list[int]:
        return [a for key in prompt.keys for a in ([key.then] if isinstance(key.then, int) else leaves(key.then))]

    for seed in range(20):
        table = piste.open_table("zero-sum-grid", {"variant": "harvest", "top": 2}, seed=f"typed {seed}")
        while table.to_act is not None:
            view = table.view(table.to_act)
            assert sorted(leaves(words.ask(view, NAMES))) == sorted(view.actions)
            assert max(map(len, words.ask(view, NAMES).text.split("\n"))) <= 80
            table.decide(view.seat, view.actions[seed % len(view.actions)])


def told(table: piste.Table) -> list[str]:
    log = table.view().log
    return words.lines(EventContext(-1, NAMES, table.view().opening, log))


def test_a_move_is_told_with_its_zeros_and_the_score_and_the_end_with_who_won() -> None:
    table = laid("1 1 1 / 4 0 0 / 4 0 0", turns=2)
    assert words.welcome(table.view(0), NAMES)[0] == "This is harvest: a move scores the zeros in the line it moved."
    play(table, "R1-")
    assert told(table)[-1] == "Row 1 has 3 zeros. Score: Player 1 3, Player 2 0."
    assert [str(row) for row in words.picture(table.view(0), NAMES)][-3:] == [
        "Player 1: 3 points", "Player 2: 0 points", "Moved last: Row 1",
    ]  # fmt: skip
    play(table, "C1-")
    ending = table.ending()
    assert ending is not None
    assert words.farewell(table.view(), NAMES, ending) == ["", "Player 1 wins, 3 to 0!"]
    table = laid(STUCK)
    ending = table.ending()
    assert ending is not None
    assert words.farewell(table.view(), NAMES, ending) == [
        "", "No move is open.", "The score is level, which goes to the second player. Player 2 wins!",
    ]  # fmt: skip


# What the sheet's game keeps


def test_records_from_before_harvest_replay_to_the_byte() -> None:
    assert piste.replay(OLD).record() == OLD


def test_the_sheets_game_says_nothing_of_a_variant() -> None:
    table = piste.open_table("zero-sum-grid", {"first": 1}, seed="plain")
    play(table, "R1+", "R1+", "R1-")
    assert "variant" not in table.record()
    assert "points" not in table.position_text()
    assert "variant" not in table.position_text()
    assert table.view().position.line == -1
    harvest = piste.open_table("zero-sum-grid", {"first": 1, "variant": "harvest"}, seed="plain")
    assert '"turns": "16", "top": "5", "deal": "winnable", "variant": "harvest"' in harvest.record()
    assert piste.replay(harvest.record()).record() == harvest.record()


def test_a_learner_sees_points_and_the_line_only_in_harvest() -> None:
    sheet, harvest = (indices(observation.LAYOUT, Options(variant=variant)) for variant in (0, 1))
    assert [index[0].name for index in harvest[: len(sheet)]] == [index[0].name for index in sheet]
    assert len(sheet) == 16
    assert [index.name for index in harvest[16:]] == ["own", "the other's", *LINES]
