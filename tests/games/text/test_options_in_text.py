"""Every line follows the options: what the sheet's number would make wrong does not say the sheet's number."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest

import piste
from piste.cli.rules_page import plain, rules_text
from piste.cli.session import PlayerLeftError
from piste.core.game import Game, Option, find, names
from piste.core.presentation import EventContext
from piste.core.replay import new_head
from tests.cli.terminal_user import session_of

SPELLED = {2: "two", 3: "three", 4: "four", 5: "five", 10: "ten", 50: "fifty"}

# A number of the sheet that stays true, whatever the option says.
STAYS = (find("mccoy-duel").notation.LINE, "R2+ adds in row 2, C3- subtracts in column 3.")


def cases() -> list[tuple[str, str]]:
    """Every option that is a number, where the sheet's number says something: 0 stands for none."""
    return [
        (name, option.name)
        for name in names()
        for option in find(name).notation.OPTIONS
        if not option.names and option.read is None and getattr(find(name).rules.Options(), option.name)
    ]


def other_value(game: Game, option: Option) -> int:
    """Return some value other than the sheet's that the rules take."""
    usual: int = getattr(game.rules.Options(), option.name)
    for value in (usual - 1, usual - 2, usual + 1, usual + 2):
        try:
            game.options({option.name: value})
        except piste.PisteError:
            continue
        return value
    raise AssertionError(f"{game.name} takes no other {option.name}")


def said_before_a_decision(game: Game, options: dict[str, Any]) -> list[str]:
    """Return what is said of a game before anything was decided."""
    table = piste.open_table(game.name, options, seed="words")
    people = ("Ann", "Bob", "Cid", "Dee")[: table.seats]
    view = table.view(0)
    return [game.line(view.options), *game.tips(view.options), *game.text.welcome(view, people)]


@pytest.mark.parametrize(("name", "option"), cases())
def test_no_text_says_the_number_of_the_sheet_where_an_option_changed_it(name: str, option: str) -> None:
    game = find(name)
    known = next(one for one in game.notation.OPTIONS if one.name == option)
    usual = getattr(game.rules.Options(), option)
    wrong = re.compile(rf"(?<![\w-]){usual}(?![\w-])|\b{SPELLED.get(usual, usual)}\b")
    for line in said_before_a_decision(game, {option: other_value(game, known)}):
        assert line in STAYS or not wrong.search(line), f"{option} is changed, and yet: {line}"


def test_the_lines_before_a_game_do_say_the_numbers_of_the_sheet() -> None:
    # Without this the test above could not fail.
    assert any("50" in line for line in said_before_a_decision(find("prime-duel"), {}))
    assert any("three" in line for line in said_before_a_decision(find("zero-sum-duel"), {}))
    assert any("5 rounds" in line for line in said_before_a_decision(find("mccoy-duel"), {}))


def test_tips_of_duel_name_no_card_that_is_not_in() -> None:
    game = find("mccoy-duel")
    assert "*" in " ".join(game.tips(game.options()))
    assert "*" not in " ".join(game.tips(game.options({"powers": "01234567"})))


def test_line_of_the_grid_is_that_of_its_variant() -> None:
    game = find("zero-sum-grid")
    assert "wins" in game.line(game.options())
    assert "wins" not in game.line(game.options({"variant": "harvest"}))


def test_whole_games_of_prime_duel_to_thirty_never_speak_of_fifty() -> None:
    game, chooser = find("prime-duel"), random.Random("thirty")
    players = ("Player 1", "Player 2")
    for seed in range(10):
        table = piste.open_table("prime-duel", {"target": 30}, seed=f"thirty {seed}")
        found: list[str] = []
        while table.ending() is None:
            seat = 1 if table.view(1).decisions else 0
            view = table.view(seat)
            found += [game.text.ask(view, players).text, *map(str, game.text.picture(view, players))]
            table.decide(seat, chooser.choice(view.decisions))
        for seat in (piste.SPECTATOR, 0, 1):
            view = table.view(seat)
            for at in range(len(view.log)):
                found += game.text.lines(EventContext(seat, players, view.opening, view.log[: at + 1]))
            ending = table.ending()
            assert ending is not None
            found += game.text.farewell(view, players, ending)
        assert not [line for line in found if re.search(r"\b50\b", line)]
        assert any("30" in line for line in found)


@pytest.mark.parametrize(("options", "otherwise"), [({"target": 30, "first": 1}, True), ({}, False)])
def test_rules_asked_for_in_a_game_say_what_is_otherwise_in_it(options: dict[str, Any], otherwise: bool) -> None:
    answers = iter(["rules\n", "quit\n"])
    head = new_head("prime-duel", options, seed="rules")
    session, page = session_of(head, ["you", "you"], lambda _: next(answers), brief=True)
    with pytest.raises(PlayerLeftError):
        session.run()
    assert ("target is 30 instead of 50: the score that wins." in page.getvalue()) is otherwise


# The page itself, at a terminal


@pytest.mark.parametrize("width", [40, 80, 100])
@pytest.mark.parametrize("name", names())
def test_pages_fit_the_screen_and_break_no_paragraph(name: str, width: int) -> None:
    lines = rules_text(find(name), width, whole=True).split("\n")
    fixed = ("    ", "table", "print(", "import", "for ", "http", "<http")
    assert not [line for line in lines if len(line) > width and not line.startswith(fixed) and " " in line.strip()]


def test_a_number_that_opens_a_line_of_a_paragraph_begins_no_list() -> None:
    assert plain("Both players start at\n0. A coin decides.", 80) == "Both players start at 0. A coin decides."
    assert plain("- They start at\n  0. A coin decides.", 80) == "- They start at 0. A coin decides."
    assert plain("1. One\n2. two\n   3. and on", 80) == "1. One\n2. two 3. and on"


def test_tables_are_columns_where_they_fit_and_lists_where_not() -> None:
    wide = rules_text(find("prime-duel"), 80, whole=True)
    assert "Option  Values        Default  Meaning\n" in wide
    assert "target  1 to 1000     50       the score that wins\n" in wide
    assert "; default" not in wide
    narrow = rules_text(find("prime-duel"), 40, whole=True)
    assert "- target\n  values: 1 to 1000\n  default: 50\n  meaning: the score that wins\n" in narrow


def test_lists_inside_lists_keep_their_place() -> None:
    page = rules_text(find("positive-negative"), 80)
    assert "\n2. Say whether you keep it.\n   - Keep: show the card" in page
