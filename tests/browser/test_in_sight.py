"""Whatever can be pressed in a turn is in the window without scrolling: every game and phase, laptops and phones."""

from __future__ import annotations

import pytest

from tests.browser.browser_user import Person, play
from tests.browser.conftest import Invite
from tests.browser.server_process import ServerProcess
from tests.browser.visibility import SIZES, out_of_sight

GAMES: dict[str, tuple[str, dict[str, int | str]]] = {
    "zero-sum-duel": ("zero-sum-duel", {"top": 12, "turns": 16}),
    "long hands": ("zero-sum-duel", {"top": 15, "hand": 8, "turns": 30}),
    "positive-negative": ("positive-negative", {}),
    "zero-sum-grid": ("zero-sum-grid", {"turns": 8}),
    "harvest": ("zero-sum-grid", {"variant": "harvest"}),
    "prime-duel": ("prime-duel", {}),
    "duel for two": ("mccoy-duel", {"rounds": 1}),
    "duel for three": ("mccoy-duel", {"players": 3, "rounds": 1}),
    "duel for four": ("mccoy-duel", {"players": 4, "rounds": 1}),
}

# What a hint says takes room beside the question, too.
ADVICE = """() => document.querySelector("#decide").insertAdjacentHTML("beforebegin",
  '<p class="advice">perfect would choose R2+. <small>Row 2: Add 1</small></p>')"""
NO_ADVICE = "() => document.querySelector('.advice').remove()"


def seen(one: Person) -> list[str]:
    return [wrong for size in SIZES for wrong in out_of_sight(one.page, size)]


@pytest.mark.parametrize("name", GAMES)
def test_everything_to_press_is_in_the_window_at_every_turn(name: str, house: ServerProcess, person: Invite) -> None:
    game, options = GAMES[name]
    ada = person(house, f"Ada sees {name}", reduced_motion="reduce")
    ada.open(game, "steady", **options)
    asked: list[str] = []

    def looked() -> bool:
        """Look at the question before it is answered: as it is, with a card chosen, and the first with a hint."""
        if not ada.to_play:
            return False
        wrong = seen(ada)
        if not asked:
            ada.page.evaluate(ADVICE)
            wrong += seen(ada)
            ada.page.evaluate(NO_ADVICE)
        if ada.sees(".pick"):
            ada.click(ada.offered()[-1])
            wrong += seen(ada)
            ada.page.keyboard.press("Escape")
        question = str(ada.page.locator("#question").text_content())
        asked.append(question)
        assert not wrong, f"turn {len(asked)}, {question}: {wrong}"
        return False

    play([ada], bots=True, until=looked)
    assert asked or game == "zero-sum-duel"  # which may be over before there is anything to decide
