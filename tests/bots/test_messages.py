"""Views go through JSON and come back as they were."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

import piste
from piste.bots.messages import plain, typed
from piste.core.errors import PositionError
from piste.core.game import find
from piste.core.protocols import SPECTATOR
from tests.game_setups import FULL, ODD, Kind


@pytest.mark.parametrize("kind", [*FULL, *ODD], ids=str)
def test_a_view_is_read_back_from_its_json(kind: Kind) -> None:
    table, chooser = piste.open_table(kind.game, kind.options, seed="messages"), random.Random(str(kind))
    view_type = find(kind.game).rules.View
    for _ in range(30):
        for seat in (SPECTATOR, *range(table.seats)):
            seen = table.view(seat).position
            again = typed(view_type, json.loads(json.dumps(plain(seen))))
            assert again == seen
            assert type(again.options) is type(seen.options)
        if table.to_act is None:
            return
        table.decide(table.to_act, chooser.choice(table.view(table.to_act).decisions))


def changed(**fields: Any) -> dict[str, Any]:
    view: dict[str, Any] = plain(piste.open_table("prime-duel", seed="messages").view(0).position)
    return view | fields


@pytest.mark.parametrize(
    "data",
    [
        None, [], 5, {}, changed(more=1), changed(card="7"), changed(card=True), changed(card=7.0), changed(scores=5),
        changed(scores=[1]), changed(scores=[1, None]), changed(options={}),
    ],
)  # fmt: skip
def test_what_is_no_view_is_refused(data: Any) -> None:
    with pytest.raises(PositionError, match=r"^A view "):
        typed(find("prime-duel").rules.View, data)
