"""The questions before a game, where nothing was said on the command line."""

from __future__ import annotations

import pytest

from piste.cli.menu import choose_game
from piste.cli.terminal import Terminal
from tests.cli.terminal_user import Keyboard, Page


def chosen(*answers: str) -> tuple[dict[str, object], str]:
    """Answer the questions; return what was chosen, and the page."""
    page, left = Page(), iter(answers)
    given = choose_game(Terminal(page, Keyboard(lambda: next(left) + "\n"), colour=False))
    assert not list(left)
    return vars(given), page.getvalue()


def test_d22_whoever_plays_duel_chooses_a_colour() -> None:
    given, page = chosen("duel", "3", "steady", "blue")
    assert given["set"] == ["colours=blue"]
    assert "Your colour (amber, blue, crimson, dun; Enter for amber): " in page


def test_d22_people_at_one_keyboard_choose_one_after_the_other() -> None:
    given, page = chosen("duel", "", "friend", "crimson", "crimson", "")
    assert given["set"] == ["colours=crimson,amber"]
    assert "Player 2's colour (amber, blue, dun; Enter for amber): " in page
    assert "Type amber, blue or dun; quit leaves." in page


@pytest.mark.parametrize("game", ["prime-duel", "zero-sum-grid"])
def test_no_colour_is_asked_for_where_there_is_none(game: str) -> None:
    given, _ = chosen(game, "")
    assert given["set"] == []


def test_levels_have_the_words_that_people_use_and_can_be_typed_by_them() -> None:
    given, page = chosen("prime-duel", "hard")
    assert given["vs"] == "strong"
    assert "  steady (rule of thumb)  Medium. " in page
    assert "  friend                  People at this keyboard." in page
    assert page.startswith("piste: duels of numbers and cards\n")
