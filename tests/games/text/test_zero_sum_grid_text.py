"""Zero-Sum Grid at a screen: the sheet's turn word for word, and the house lines around it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import piste
from piste.core.game import find, tidy
from piste.core.presentation import EventContext, GameText, Key, Prompt, Row
from piste.core.protocols import SPECTATOR
from piste.games.zero_sum_grid import text as words

WORDS: GameText = words  # mypy holds the module to the contract
PLAYERS = ("Player 1", "Player 2")
SHEET = "2 -3 4 / -1 5 -2 / 3 -4 1"  # nobody can bring this one to zero
SHEETS_DEAL = [6, 2, 8, 4, 9, 3, 7, 1, 5]  # the same, as chance deals it
NOTICE = "This grid cannot be brought to zero: no move can win."

SHEETS_TURN = r"""Player 1's turn.
Current Grid:
Row\Col |  1   2   3
-----------------------
   1    |  2  -3   4
   2    | -1   5  -2
   3    |  3  -4   1

Select a line type:
[R] Row
[C] Column
Enter choice (R/C): R

Enter the line number (1-3): 2

Choose an operation:
[A] Add 1
[S] Subtract 1
Enter choice (A/S): A

Updated Grid:
Row\Col |  1   2   3
-----------------------
   1    |  2  -3   4
   2    |  0   6  -1
   3    |  3  -4   1"""

QUESTIONS = r"""
Select a line type:
[R] Row
[C] Column
Enter choice (R/C): C

Enter the line number (1-3): 1

Choose an operation:
[A] Add 1
[S] Subtract 1
Enter choice (A/S): S
"""


def laid(grid: str, first: int = 1, **options: int | str) -> piste.Table:
    return piste.open_table("zero-sum-grid", {"first": first, **options}, laid=grid)


def answered(prompt: Prompt, typed: str) -> Key:
    """Return the one key that a person means."""
    found = [key for key in prompt.keys if tidy(typed) in map(tidy, (key.key, *key.also))]
    assert len(found) == 1
    return found[0]


def shown(
    table: piste.Table, people: tuple[int, ...], steps: list[str], names: tuple[str, str] = PLAYERS
) -> list[str]:
    """Play and return the screen: a step is what a person types at each question, or the name of a bot's move."""
    view = table.view(people[0] if people else SPECTATOR)
    screen = list(words.welcome(view, names))
    told = 0

    def tell() -> None:
        nonlocal told
        for at in range(told, len(table.view().log)):
            about = table.view().log[at].event.seat
            seat = about if about in people else people[0] if people else SPECTATOR
            own = table.view(seat)
            screen.extend(words.lines(EventContext(seat, names, own.opening, own.log[: at + 1])))
        told = len(table.view().log)

    tell()
    for step in steps:
        seat = table.to_act
        assert seat is not None
        if step == "resign":
            table.resign(seat)
        elif seat in people:
            table.decide(seat, typed_in(screen, words.ask(table.view(seat), names), step.split()))
        else:
            table.decide(seat, step)
        tell()
    ending = table.ending()
    if ending is not None:
        screen += words.farewell(table.view(people[0] if people else SPECTATOR), names, ending)
    return screen


def typed_in(screen: list[str], asked: Prompt | int, answers: list[str]) -> int:
    for answer in answers:
        assert isinstance(asked, Prompt)
        screen += asked.text.split("\n")
        screen[-1] += answer
        asked = answered(asked, answer).then
    assert isinstance(asked, int)
    return asked


def grid_of(*rows: str) -> list[str]:
    return [r"Row\Col |  1   2   3", "-" * 23, *(f"   {i}    |{row}" for i, row in enumerate(rows, 1))]


def test_the_sheets_turn_comes_out_word_for_word() -> None:
    assert "\n".join(shown(laid(SHEET), (0, 1), ["R 2 A"])) == f"{SHEETS_TURN}\n\n{NOTICE}"


def test_the_sheets_six_turns_come_out_with_its_six_grids() -> None:
    turns = {
        "R 1 A": ("  3  -2   5", " -1   5  -2", "  3  -4   1"),
        "C 2 S": ("  3  -3   5", " -1   4  -2", "  3  -5   1"),
        "R 2 A": ("  3  -3   5", "  0   5  -1", "  3  -5   1"),
        "C 1 S": ("  2  -3   5", " -1   5  -1", "  2  -5   1"),
        "C 3 S": ("  2  -3   4", " -1   5  -2", "  2  -5   0"),
        "R 3 A": ("  2  -3   4", " -1   5  -2", "  3  -4   1"),
    }
    screen = shown(laid(SHEET), (0, 1), list(turns))
    after = [screen[at + 1 : at + 6] for at, line in enumerate(screen) if line == "Updated Grid:"]
    assert after == [grid_of(*rows) for rows in turns.values()]


def test_r6_the_notice_stands_once_between_the_first_turn_and_the_next_heading() -> None:
    after = grid_of("  2  -3   4", "  0   6  -1", "  3  -4   1")
    last = grid_of("  1  -3   4", " -1   6  -1", "  2  -4   1")
    second = ["Player 2's turn.", "Current Grid:", *after, *QUESTIONS.split("\n"), "Updated Grid:", *last]
    expected = [*SHEETS_TURN.split("\n"), "", NOTICE, "", *second]
    assert shown(laid(SHEET), (0, 1), ["R 2 A", "C 1 S"]) == expected
    screen = shown(laid(SHEET), (0, 1), ["R 2 A", "C 1 S", "R 2 A", "C 1 S", "R 2 A"])
    assert screen.count(NOTICE) == 1


def test_r6_a_grid_that_can_be_zeroed_has_no_notice() -> None:
    assert NOTICE not in shown(laid("1 2 1 / 1 2 1 / 1 2 1"), (0, 1), ["R 2 A", "C 1 S", "resign"])


@pytest.mark.parametrize("people", [(0,), (1,), ()])
def test_r6_the_notice_is_told_whoever_moves_first(people: tuple[int, ...]) -> None:
    steps = ["R 2 A" if 0 in people else "R2+", "C 1 S" if 1 in people else "C1-"]
    screen = shown(laid(SHEET), people, steps)
    assert screen.count(NOTICE) == 1
    at = screen.index(NOTICE)
    assert screen[at - 6 : at + 2] == [*grid_of("  2  -3   4", "  0   6  -1", "  3  -4   1"), "", NOTICE, ""]


def test_r6_the_notice_is_told_even_if_nobody_moves() -> None:
    assert shown(laid(SHEET), (0, 1), ["resign"]) == ["", NOTICE, "", "Player 1 resigned. Player 2 wins!"]


def test_r6_the_notice_is_told_even_if_the_first_turn_is_the_last() -> None:
    screen = shown(laid(SHEET, turns=1), (0, 1), ["R 2 A"])
    assert screen[-4:] == ["", NOTICE, "", "Draw by turn limit."]
    assert screen.count(NOTICE) == 1


def test_r4_columns_widen_together_and_the_dashes_with_them() -> None:
    table = laid("-10 -11 1 / 2 1 13 / 0 -1 11")
    assert words.grid(table.view().position.cells) == [
        r"Row\Col |   1    2    3",
        "-" * 26,
        "   1    | -10  -11    1",
        "   2    |   2    1   13",
        "   3    |   0   -1   11",
    ]


def test_r4_two_characters_still_fit_the_sheets_grid() -> None:
    assert words.grid((10, -9, 99, 1, 2, 3, 4, 5, 6)) == grid_of(" 10  -9  99", "  1   2   3", "  4   5   6")


def test_g1_a_toss_is_told_before_the_first_turn() -> None:
    table = piste.open_table("zero-sum-grid", {"deal": "any"}, outcomes=[*SHEETS_DEAL, 1])
    screen = shown(table, (0, 1), ["R 2 A"])
    assert screen == ["Player 2 will go first.", "", *SHEETS_TURN.replace("1's", "2's").split("\n"), "", NOTICE]


def test_g1_a_named_starter_is_not_announced() -> None:
    assert shown(laid(SHEET, first=2), (0, 1), []) == []


def test_g6_the_deal_is_shown_by_the_first_grid_only() -> None:
    table = piste.open_table("zero-sum-grid", {"first": 1, "deal": "any"}, outcomes=SHEETS_DEAL)
    assert len(table.view().log) == 9
    assert shown(table, (0, 1), []) == []
    assert words.ask(table.view(0), PLAYERS).text == SHEETS_TURN.partition("R\n\nEnter")[0]


def test_a_bots_move_is_told_in_third_person_with_the_new_grid() -> None:
    screen = shown(laid("1 2 1 / 1 2 1 / 1 2 1"), (0,), ["C 1 S", "R2+"])
    own = screen.index("Updated Grid:")
    assert screen[own:] == [
        "Updated Grid:",
        *grid_of("  0   2   1", "  0   2   1", "  0   2   1"),
        "",
        "Player 2 adds 1 to Row 2.",
        "Updated Grid:",
        *grid_of("  0   2   1", "  1   3   2", "  0   2   1"),
    ]


def test_a_bot_that_begins_shows_the_deal_before_its_move() -> None:
    assert shown(laid("1 2 1 / 1 2 1 / 1 2 1", first=2), (0,), ["C3-"]) == [
        "Current Grid:",
        *grid_of("  1   2   1", "  1   2   1", "  1   2   1"),
        "",
        "Player 2 subtracts 1 from Column 3.",
        "Updated Grid:",
        *grid_of("  1   2   0", "  1   2   0", "  1   2   0"),
    ]


def test_a_turn_after_a_bots_begins_with_a_blank_line_and_the_heading() -> None:
    table = laid("1 2 1 / 1 2 1 / 1 2 1", first=2)
    table.decide(1, "C3-")
    assert words.ask(table.view(0), PLAYERS).text.startswith("\nPlayer 1's turn.\nCurrent Grid:\n")


ZEROS = grid_of("  0   0   0", "  0   0   0", "  0   0   0")


def test_a_win_is_told_once_after_the_last_grid() -> None:
    screen = shown(laid("1 0 0 / 1 0 0 / 1 0 0"), (0, 1), ["C 1 S"])
    assert screen[-9:] == ["", "Updated Grid:", *ZEROS, "", "Player 1 wins!"]
    assert screen.count("Player 1 wins!") == 1


def test_a_bots_win_is_told_once() -> None:
    screen = shown(laid("1 0 0 / 1 0 0 / 1 0 0", first=2), (0,), ["C1-"])
    assert screen[-9:] == ["Player 2 subtracts 1 from Column 1.", "Updated Grid:", *ZEROS, "", "Player 2 wins!"]
    assert sum("wins" in line for line in screen) == 1


def test_r3_the_turn_limit_is_told_as_a_draw() -> None:
    screen = shown(laid("1 2 1 / 1 2 1 / 1 2 1", turns=2), (0, 1), ["C 1 S", "C 1 A"])
    last = grid_of("  1   2   1", "  1   2   1", "  1   2   1")
    assert screen[-8:] == ["Updated Grid:", *last, "", "Draw by turn limit."]
    assert not any("wins" in line for line in screen)


def test_g5_a_win_on_the_last_turn_is_told_as_a_win() -> None:
    screen = shown(laid("1 0 0 / 1 0 0 / 1 0 0", turns=1), (0, 1), ["C 1 S"])
    assert screen[-2:] == ["", "Player 1 wins!"]


def test_g3_a_resignation_names_who_left_and_who_wins() -> None:
    table = laid("1 2 1 / 1 2 1 / 1 2 1")
    table.resign(1)  # in the other's turn
    assert shown(table, (0, 1), []) == ["", "Player 2 resigned. Player 1 wins!"]
    assert shown(laid("1 2 1 / 1 2 1 / 1 2 1"), (1,), ["resign"]) == ["", "Player 1 resigned. Player 2 wins!"]


def test_a_watcher_reads_the_whole_game_in_third_person() -> None:
    assert shown(laid("1 1 1 / 1 1 1 / 0 0 0"), (), ["R1-", "R2-"]) == [
        "Current Grid:",
        *grid_of("  1   1   1", "  1   1   1", "  0   0   0"),
        "",
        "Player 1 subtracts 1 from Row 1.",
        "Updated Grid:",
        *grid_of("  0   0   0", "  1   1   1", "  0   0   0"),
        "",
        "Player 2 subtracts 1 from Row 2.",
        "Updated Grid:",
        *ZEROS,
        "",
        "Player 2 wins!",
    ]


def test_names_stand_wherever_a_player_is_named() -> None:
    names = ("Ann", "Bo")
    table = piste.open_table("zero-sum-grid", {"deal": "any"}, outcomes=[*[5] * 9, 0])  # all cells are 1
    screen = shown(table, (0,), ["R 1 S", "R2-", "R 3 S"], names)
    assert [line for line in screen if "Ann" in line or "Bo" in line] == [
        "Ann will go first.",
        "Ann's turn.",
        "Bo subtracts 1 from Row 2.",
        "Ann's turn.",
        "Ann wins!",
    ]
    assert shown(laid("1 1 1 / 1 1 1 / 0 0 0"), (0, 1), ["resign"], names)[-1] == "Ann resigned. Bo wins!"
    assert not any("Player" in line for line in screen)


def paths(asked: Prompt | int, typed: str = "") -> Iterator[tuple[str, int]]:
    if isinstance(asked, int):
        yield typed, asked
    else:
        for key in asked.keys:
            yield from paths(key.then, typed + key.key)


def test_every_way_through_the_questions_is_the_decision_it_spells() -> None:
    table = laid(SHEET)
    view, notation = table.view(0), find("zero-sum-grid").notation
    found = list(paths(words.ask(view, PLAYERS)))
    assert sorted(action for _, action in found) == list(range(12))
    for typed, action in found:
        assert tidy(typed) in map(tidy, notation.spell(view.position, action))


@pytest.mark.parametrize("typed", ["c 3 s", "Column 3 -1", "COLUMN 3 −1", "C C3 -", "col column3 subtract"])
def test_g7_answers_may_be_written_in_other_ways(typed: str) -> None:
    table = laid(SHEET)
    shown(table, (0, 1), [typed])
    assert table.history() == (11,)


def every_prompt(asked: Prompt | int) -> Iterator[Prompt]:
    if isinstance(asked, Prompt):
        yield asked
        for key in asked.keys:
            yield from every_prompt(key.then)


def test_g7_no_answer_means_two_things() -> None:
    prompts = list(every_prompt(words.ask(laid(SHEET).view(0), PLAYERS)))
    assert len(prompts) == 1 + 2 + 6
    for prompt in prompts:
        typed = [tidy(word) for key in prompt.keys for word in {key.key, *key.also}]
        assert len(typed) == len(set(typed))


def test_the_picture_shows_the_grid_and_whose_turn_it_is() -> None:
    table = laid(SHEET)
    table.decide(0, "R2+")
    rows = [
        Row("Column", ("1", "2", "3")),
        Row("Row 1", ("2", "-3", "4")),
        Row("Row 2", ("0", "6", "-1")),
        Row("Row 3", ("3", "-4", "1")),
    ]
    for seat in (0, 1, SPECTATOR):
        assert words.picture(table.view(seat), ("Ann", "Bo")) == [*rows, Row("Turn", ("Bo",), "turn 2 of 200")]
    table.resign(0)
    assert words.picture(table.view(0), ("Ann", "Bo")) == rows
    assert words.picture(laid(SHEET, turns=0).view(0), PLAYERS)[-1] == Row("Turn", ("Player 1",), "turn 1")


def test_tips_and_house_lines_are_short() -> None:
    assert find("zero-sum-grid").text.TIPS == words.TIPS
    assert len(words.TIPS) == 3
    assert all(len(line) < 60 for line in (*words.TIPS, NOTICE, words.HOPELESS))


def test_both_may_look_at_the_same_screen() -> None:
    assert words.HAND_OVER is False


def test_the_reminder_before_harvest_promises_nothing_that_harvest_does_not_keep() -> None:
    game = find("zero-sum-grid")
    assert words.tips(game.options()) == words.TIPS
    shown = words.tips(game.options({"variant": "harvest"}))
    assert len(shown) == 3
    assert not any("win at once" in line for line in shown)
