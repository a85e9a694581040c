"""What a decision costs is estimated from the options: a level that would take minutes is not offered."""

from __future__ import annotations

from typing import Any

import pytest

from piste import bots
from piste.core.errors import OptionError
from piste.core.game import find, names
from piste.web.tables.levels import OFFERED, check_level, levels
from piste.web.views.rendering import levels as shown_levels
from tests.web.in_process_server import Device, InProcessServer

DEAR: list[tuple[str, dict[str, str], str]] = [
    ("prime-duel", {"top": "15", "copies": "2", "target": "500", "turns": "1999"}, "strong"),
    ("prime-duel", {"top": "2", "copies": "1", "target": "1000"}, "steady"),
    ("zero-sum-duel", {"top": "15", "hand": "14"}, "steady"),
]
"""Options with which the top level takes half a minute and more, and the best one that is left."""


@pytest.mark.parametrize("game", names())
def test_with_the_sheets_options_every_level_is_offered(game: str) -> None:
    found = find(game)
    able = [level for level in bots.playable(found)[0] if level in OFFERED]
    assert list(levels(found)) == list(levels(found, found.options())) == able
    for level in able:
        check_level(level, found, found.options())
    assert bots.best(found, None, bots.MAX_DECISION_S).name == able[-1]


@pytest.mark.parametrize(("game", "given", "left"), DEAR)
def test_a_level_that_would_think_for_minutes_is_not_offered(game: str, given: dict[str, str], left: str) -> None:
    found = find(game)
    options = found.options(given)
    assert levels(found, options)[-1] == left
    assert [one.level for one in shown_levels(game, tuple(given.items()))] == list(levels(found, options))
    assert bots.best(found, options, bots.MAX_DECISION_S).name == left  # who is asked for a hint
    check_level(left, found, options)
    with pytest.raises(
        OptionError, match=r"With these options \w+ would think for .* a decision.* Choose Random, Easy"
    ):
        check_level("perfect", found, options)
    bots.find("perfect", found, options)  # whoever plays alone may wait


def test_what_costs_more_is_said_to_cost_more() -> None:
    def cost(game: str, **given: Any) -> float:
        return bots.cost("perfect", find(game), find(game).options(given))

    assert cost("prime-duel", target=50) < cost("prime-duel", target=100) < cost("prime-duel", target=1000)
    assert cost("prime-duel", target=1000, turns=100) < bots.MAX_DECISION_S  # near the limit a small model is enough
    assert cost("zero-sum-duel", top=10, hand=4) < cost("zero-sum-duel", top=12, hand=8)
    assert cost("zero-sum-duel", top=12, hand=8) < bots.MAX_DECISION_S < cost("zero-sum-duel", top=15, hand=14)
    assert all(bots.cost("steady", find(game)) == 0 for game in names())


@pytest.mark.parametrize(("game", "given", "left"), DEAR)
async def test_no_way_to_a_table_leads_round_it(
    house: InProcessServer, game: str, given: dict[str, str], left: str
) -> None:
    options = {f"option-{name}": value for name, value in given.items()}
    ada = Device(house)
    refused = await ada.post("/new", {"game": game, "versus": "expert", **options})
    assert refused.status == 422
    assert "would think for" in refused.text
    assert not house.service.registry.rooms

    code = await ada.opens(game, **options)
    assert 'value="perfect"' not in await ada.page(code)
    answer = await ada.do(code, "fill", bot="perfect")
    assert not answer["ok"]
    assert "would think for" in answer["said"]
    assert (await ada.do(code, "fill", bot=left))["ok"]

    # A table of an earlier version, at which such a bot already sits.
    room = house.room(code)
    room.place(1, room.seats[1]._replace(bot="perfect"))
    await ada.do(code, "resign")
    assert room.over
    answer = await ada.do(code, "rematch")
    assert "would think for" in answer["said"]
    assert not room.successor
