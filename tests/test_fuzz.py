"""No input makes anything but a piste error: records, positions, decisions, options, deals."""

from __future__ import annotations

import os
import random
from functools import partial

import pytest

import piste
from piste.check import formats
from piste.check.formats import mangled, use_position
from piste.core.game import find, names
from tests.game_setups import FULL, ODD, Kind, played
from tests.sizes import sized

INPUTS = int(os.environ.get("PISTE_INPUTS", sized("1500", "6000")))
"""How many in all; each test below takes its share."""


harmless = partial(formats.harmless, "input")


@pytest.fixture(scope="module")
def texts() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {"record": [], "position": [], "known": []}
    for kind in (*FULL, *ODD):
        table = played(kind, "fuzz")
        found["record"].append(table.record())
        found["position"].append(table.position_text())
        running = piste.open_table(kind.game, kind.options, seed="fuzz")
        found["position"].append(running.position_text())
        found["known"].append(
            f"{piste.Position.start(kind.game, kind.options)} | {running.game.seat_name(0)} | | over"
        )
        if running.seats == 2:
            found["known"].append(str(piste.InformationSet.of(find(kind.game), running.view(0))))
    return found


def test_mangled_records(texts: dict[str, list[str]]) -> None:
    chooser = random.Random("records")
    for _ in range(INPUTS // 20):
        text = chooser.choice(texts["record"])
        lines = text.splitlines(keepends=True)[: chooser.randrange(1, 12)]
        at = chooser.randrange(len(lines))
        lines[at] = mangled(lines[at], chooser)
        harmless(lambda text: piste.replay(piste.Record.parse(text, mend=chooser.random() < 0.5)), "".join(lines))


def test_mangled_records_with_checks_that_fit(texts: dict[str, list[str]]) -> None:
    """Edits inside the JSON, with the checks made to fit, so that what stands behind the checks is reached."""
    import json

    from tests.core.test_record import rechecked

    chooser = random.Random("checked records")
    junk = [None, 0, -1, 1e9, True, "", "x", [], {}, "+3", "keep", "toss", 10**30, ["a"], {"top": 3}]
    for _ in range(INPUTS // 20):
        lines = chooser.choice(texts["record"]).splitlines()[: chooser.randrange(1, 8)]
        at = chooser.randrange(len(lines))
        found = json.loads(lines[at])
        key = chooser.choice([*found, "seat", "chance", "outcome", "resigns", "mark", "laid", "seed"])
        found[key] = chooser.choice(junk)
        if chooser.random() < 0.3:
            found.pop(chooser.choice(list(found)), None)
        lines[at] = json.dumps(found)
        harmless(piste.replay, rechecked(lines))


def test_mangled_positions(texts: dict[str, list[str]]) -> None:
    chooser = random.Random("positions")

    for _ in range(INPUTS // 2):
        harmless(use_position, mangled(chooser.choice(texts["position"]), chooser))


def test_mangled_knowledge(texts: dict[str, list[str]]) -> None:
    chooser = random.Random("knowledge")
    for _ in range(INPUTS // 20):
        text = chooser.choice(texts["known"])
        if chooser.random() < 0.5:
            events = ("resigns@1", "resigns@2", "resigns@3", "resigns@A", "draw@A:?", "bury@1:?", "decide@1:keep")
            base, seat, _, last = text.split("|")
            told = " ".join(chooser.choices(events, k=chooser.randrange(6)))
            text = f"{base}| {seat} | {told} | {last}"
        harmless(piste.InformationSet.parse, mangled(text, chooser) if chooser.random() < 0.5 else text)


@pytest.mark.parametrize("kind", FULL, ids=str)
def test_mangled_decisions(kind: Kind) -> None:
    chooser = random.Random("decisions")
    table, before = piste.open_table(kind.game, kind.options, seed="decisions"), 0
    for _ in range(INPUTS // 50):
        actor = table.to_act
        if actor is None:
            table = piste.open_table(kind.game, kind.options, seed=f"decisions {before}")
            continue
        before = table.number
        decision = chooser.choice(table.view(actor).decisions)
        harmless(partial(table.decide, actor), mangled(decision, chooser))
        assert table.number - before in (0, 1)
        if chooser.random() < 0.05 and table.to_act is not None:
            table.decide(table.to_act, chooser.choice(table.view(table.to_act).decisions))


@pytest.mark.parametrize("name", names())
def test_mangled_options_and_deals(name: str) -> None:
    chooser = random.Random("options")
    game = find(name)
    defaults = game.option_texts(game.rules.Options())
    for _ in range(INPUTS // 100):
        key = chooser.choice(list(defaults))
        harmless(lambda text, key=key: game.options({key: text}), mangled(defaults[key], chooser))  # type: ignore[misc]
        deal = mangled("1 2 3 -4 5, 6 / 7 8 9 +1 * 0", chooser)
        harmless(lambda text: game.notation.lay(game.options(), text), deal)
