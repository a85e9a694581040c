"""Colours: around the words of the rule sheets, never in place of them, and readable on any background."""

from __future__ import annotations

import random
import re

import pytest

from piste.cli.styles import STYLES, game_marker, painted, styled
from piste.core.game import find, names
from piste.core.presentation import Mark
from piste.core.replay import new_head
from tests.cli.terminal_user import ESCAPES, any_decision, clean, session_of

TWO = ("Player 1", "Player 2")


def marked(game: str, line: str, seat: int = 0) -> dict[str, str]:
    """Return the parts of a line that are coloured, with their tones."""
    marks = game_marker(find(game), find(game).options({}), TWO, lambda: seat)(line)
    return {line[mark.start : mark.end]: mark.tone for mark in marks}


@pytest.mark.parametrize(
    ("game", "line", "tones"),
    [
        ("zero-sum-duel", "Your hand: [+3, -5, 0]", {"+3": "plus", "-5": "minus", "0": "zero"}),
        ("zero-sum-duel", "Player B discards +4.", {"+4": "plus"}),
        ("positive-negative", "You have drawn: -2", {"-2": "minus"}),
        ("positive-negative", "Player 1 discarded -2.", {"-2": "minus"}),
        ("positive-negative", "Pile: -8 -1 (2 cards)", {"-8": "minus", "-1": "minus"}),
        ("zero-sum-grid", "   1    | -1   0  12", {"-1": "minus", "0": "zero", "12": "plus"}),
        ("zero-sum-grid", "Row\\Col |  1   2   3", {}),
        ("prime-duel", "Card drawn: 7", {"7": "plus"}),
        ("prime-duel", "Prime number! You get an extra turn.", {"Prime number!": "good"}),
        ("duel", "Player 2 has blue (b).", {"blue": "b"}),
        ("duel", "Your hand: 0 5b *", {"0": "a", "5b": "b", "*": "a"}),
        ("duel", "Player 2 plays 3, Feint:", {"3": "b"}),
        ("duel", "You give 4 to Player 2.", {"4": "a"}),
        ("duel", "Player 2 gives you 6.", {"6": "a"}),
        ("duel", "Player 2's 3 is played. Its ability is ignored.", {"3": "b"}),
        ("duel", "Player 2: 3 cards (0 rounds won)", {}),
        ("duel", "Player 2: 3 (revealed)", {"3": "b"}),
        ("duel", "Buried: 2 cards (you know 3c)", {"3c": "c"}),
        ("duel", "  The next card played must be greater than 5.", {}),
    ],
)
def test_cards_and_numbers_have_their_colours(game: str, line: str, tones: dict[str, str]) -> None:
    assert marked(game, line) == tones


@pytest.mark.parametrize("game", names())
def test_a_game_in_colour_has_the_same_lines_as_one_without(game: str) -> None:
    pages = []
    for colour in (False, True):
        head = new_head(game, {}, seed="in colour")
        session, page = session_of(head, ["you", "random"], any_decision(random.Random("in colour")))
        session.terminal.colour = colour
        session.run()
        pages.append(page.getvalue())
    assert "\x1b" not in pages[0]
    assert "\x1b[" in pages[1]
    assert clean(pages[1]) == pages[0]


def test_a_broken_line_keeps_its_colours() -> None:
    text = "  Tower: 3a 2b 1a"
    first, second = painted(
        text, ["  Tower: 3a", "  2b 1a"], [Mark(9, 11, "a"), Mark(12, 14, "b"), Mark(15, 17, "a")]
    )
    assert ESCAPES.split(first) == ["  Tower: ", "3a", ""]
    assert ESCAPES.split(second) == ["  ", "2b", " ", "1a", ""]


def test_the_result_is_good_or_bad_for_the_one_person_who_plays() -> None:
    game = find("zero-sum-grid")
    winner, loser = (game_marker(game, game.options({}), TWO, own=[seat]) for seat in (1, 0))
    assert winner("Player 2 wins!") == [Mark(0, 14, "good")]
    assert loser("Player 1 resigned. Player 2 wins!") == [Mark(19, 33, "bad")]
    for heading in ("Player 1's turn.", "[Player 1's Turn]", "Player 1 Extra Turn:", "Player 1's Turn:"):
        assert loser(heading) == [Mark(0, len(heading), "heading")]


def luminance(number: int) -> float:
    """Return how light one of the upper 240 colours is, as the guidelines for accessibility compute it."""
    steps = (0, 95, 135, 175, 215, 255)
    grey, cube = (8 + 10 * (number - 232),) * 3, number - 16
    shades = grey if number >= 232 else (steps[cube // 36], steps[cube // 6 % 6], steps[cube % 6])
    linear = [v / 12.92 if v <= 0.03928 else ((v + 0.055) / 1.055) ** 2.4 for v in (shade / 255 for shade in shades)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("tone", STYLES)
def test_every_colour_can_be_read_on_dark_and_light_backgrounds(tone: str) -> None:
    colours = {kind: int(number) for kind, number in re.findall(r"([34]8);5;(\d+)", STYLES[tone][0])}
    behind = (
        [colours["48"]] if "48" in colours else [16, 231, 234]
    )  # a tile has its own; else black, white, dark grey
    for one in behind if "38" in colours else ():
        low, high = sorted((luminance(colours["38"]), luminance(one)))
        assert (high + 0.05) / (low + 0.05) >= 3, "bold text needs 3 to 1"


def test_eight_colours_are_used_where_the_terminal_has_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLORTERM", raising=False)
    for term, code in (("linux", "30;43"), ("tmux-256color", "48;5;214")):
        monkeypatch.setenv("TERM", term)
        assert code in styled("5a", "a")
