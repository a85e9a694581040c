"""The log of a table in a browser: short lines, each once, with numbers that stay; or the sheets'."""

from __future__ import annotations

import random
import re

import pytest

from piste.core.dealer import ChanceSource, Dealer, ScriptedDealer
from piste.core.game import find
from piste.core.protocols import SPECTATOR
from piste.core.record import Head
from piste.core.views import Ending
from piste.web.tables.results import headline
from piste.web.tables.room import Room, default_opener
from piste.web.tables.seats import PERSON, Seat
from piste.web.tables.transcript import LogLine
from tests.game_setups import FULL, ODD, Kind

NAMES = ("Ada", "Ben", "Cleo", "Dan")


def dealt(kind: Kind, outcomes: str | list[int] | None = None, seed: str = "log") -> Room:
    """Return a room with a game that is dealt from a seed, or with given outcomes."""
    game = find(kind.game)
    count = game.rules.seats(game.options(kind.options))
    seats = [Seat(PERSON, name, players=frozenset({name})) for name in NAMES[:count]]
    room = Room("c" * 16, game, kind.options, seats, "Ada", 0.0, 0.0)

    def opener(room: Room) -> tuple[Head, ChanceSource | None]:
        head, _ = default_opener(room)
        return head._replace(seed=seed), None if outcomes is None else ScriptedDealer(outcomes, Dealer(seed))

    room.deal(opener)
    return room


def decide(room: Room, *decisions: str) -> None:
    for decision in decisions:
        assert room.table is not None
        assert room.table.to_act is not None
        room.decide(room.table.to_act, decision, room.table.number)


def texts(room: Room, audience: int) -> list[str]:
    assert room.transcript is not None
    return [line.text for line in room.transcript.entries(audience)]


# Examples


def test_zero_sum_duel_names_a_drawn_card_to_its_owner_and_discards_to_all() -> None:
    room = dealt(Kind("zero-sum-duel", {"first": "a"}), "-5 +1 -1 +2 +4 -2 +3 +5 -4 -3")
    decide(room, "-5", "+5")
    drew = "Ben drew a card"
    own = ["You drew +3", "You discarded −5: sum +6", "Ben discarded +5", "You drew −4"]
    assert texts(room, 0) == ["You drew −5", drew, "You drew −1", drew, "You drew +4", drew, *own]
    assert texts(room, 1)[-3:] == ["Ada discarded −5", "You drew +5", "You discarded +5: sum +1"]
    assert texts(room, SPECTATOR)[-3:] == [drew, "Ada discarded −5", "Ben discarded +5"]


def test_positive_negative_and_its_result() -> None:
    room = dealt(Kind("positive-negative", {"top": 3}), "-3 1 2 -1 3 -2")
    decide(room, "discard", "keep", "discard", "discard")
    assert texts(room, 1) == [
        "Ada discarded −3", "Ada drew 1 (total 1)", "You kept 2 (total 2)", "Ada discarded −1",
        "Ada drew 3 (total 4)", "You discarded −2", "Ada wins 4–2: higher score",
    ]  # fmt: skip
    assert texts(room, 0)[-1] == "You win 4–2: higher score"
    assert room.transcript is not None
    assert [line.kind for line in room.transcript.entries(0)][:3] == ["own", "yours", "said"], "what was forced, too"


def test_prime_duel_says_primes_and_cards_that_go_over() -> None:
    room = dealt(Kind("prime-duel", {"first": 1, "target": 20}), "2 9 5 10 10 10 9")
    decide(room, "keep", "keep", "discard", "keep")
    assert texts(room, 0) == [
        "You kept 2 → 2, prime: extra turn", "You kept 9 → 11, prime: extra turn", "You discarded 5",
        "You drew 10: over 20, still 11", "Ben kept 10 → 10", "You drew 10: over 20, discarded",
        "You drew 9 → 20", "You win 20–10: target reached",
    ]  # fmt: skip
    assert texts(room, SPECTATOR)[-2:] == ["Ada drew 9 → 20", "Ada wins 20–10: target reached"]


def test_the_grid_says_lines_and_harvest_its_zeros() -> None:
    room = dealt(Kind("zero-sum-grid", {"first": 1, "turns": 2}))
    decide(room, "R2+", "C3-")
    assert texts(room, 1) == ["Ada added 1 to row 2", "You subtracted 1 from column 3", "A draw: turn limit"]
    room = dealt(Kind("zero-sum-grid", {"variant": "harvest", "first": 1, "turns": 8}))
    decide(room, "R2+")
    assert re.fullmatch(r"You added 1 to row 2: \d zeros? → \d", texts(room, 0)[-1])


def test_duel_says_cards_by_number_and_ability_and_unseen_ones_to_nobody() -> None:
    room = dealt(Kind("mccoy-duel", {"first": 1, "rounds": 3}), "2a 3b")
    decide(room, "5", "7", "6")
    assert texts(room, 0) == [
        "Best of 3 rounds", "You go first", "Round 1", "Your 2 was buried at random", "You played 5 Stance",
        "Ben played 7 Demand", "You gave Ben 6",
    ]  # fmt: skip
    assert texts(room, 1)[2:4] == ["Round 1", "Your 3 was buried at random"]
    assert texts(room, 1)[-1] == "Ada gave you 6a"
    assert texts(room, SPECTATOR)[-1] == "Ada gave Ben a card"
    assert room.transcript is not None
    assert [line.kind for line in room.transcript.entries(0)][2:] == ["heading", "yours", "own", "said", "own"]
    assert "A card of Ben was buried at random" in room.transcript.lines_at(0, 2)
    room.resign(1)
    assert texts(room, 0)[-1] == "You win: Ben resigned"
    assert texts(room, 1)[-1] == "Ada wins: you resigned"


@pytest.mark.parametrize(
    ("score", "winner", "said"),
    [
        ((11, 16), 1, "Ben wins 16–11"),
        ((16, 11), 0, "You win 16–11"),
        ((5, 5), None, "A draw 5–5"),
        ((-3, -5), 0, "You win −3 to −5"),
        ((1, 0, 2), 2, "Cleo wins 2–1–0"),
        ((), 1, "Ben wins"),
        ((), None, "A draw"),
    ],
)
def test_a_result_has_the_winners_score_first(score: tuple[int, ...], winner: int | None, said: str) -> None:
    assert headline(Ending(winner, "higher score", ()), NAMES, 0, score) == said


# Every game


@pytest.mark.parametrize("kind", [*FULL, *ODD], ids=str)
def test_lines_are_short_never_repeated_and_keep_their_numbers(kind: Kind) -> None:
    room, chooser = dealt(kind, seed="short"), random.Random(str(kind))
    audiences = (SPECTATOR, *range(len(room.seats)))
    assert room.table is not None
    assert room.transcript is not None
    before: dict[int, list[LogLine]] = {at: [] for at in audiences}
    for _ in range(60):
        for at in audiences:
            now = list(room.transcript.entries(at))
            assert now[: len(before[at])] == before[at]
            assert [line.number for line in now] == [*range(len(now))]
            before[at] = now
        if room.over:
            break
        decide(room, chooser.choice(room.table.view(room.to_act or 0).decisions))
    for at in audiences:
        view, said = room.table.view(at), room.transcript.entries(at)
        assert {line.kind for line in said} <= {"said", "own", "yours", "heading"}
        for line in said:
            assert len(line.text) <= 80, line
            assert not re.search(r"(?<!\w)-\d|\[|card:count|'s Turn", line.text), line
            assert line.kind not in ("own", "yours") or line.text.startswith("You"), line
        for step, decider in enumerate(room.transcript.deciders, 1):
            lines = room.transcript.lines_at(at, step)
            assert len(set(lines)) == len(lines), lines
            if decider != SPECTATOR and room.game.kind_name(view.log[step - 1].event.kind) != "target":
                assert lines, f"step {step} of {kind} is not told to {at}"
        assert [line.text for line in said if line.kind != "heading"] == [
            text for step in range(len(view.log) + 1) for text in kept(room, at, step)
        ]


def kept(room: Room, audience: int, step: int) -> list[str]:
    """Return what was said of a step and stands in the log."""
    assert room.transcript is not None
    reach = room.transcript.reach(audience)
    last = len(room.transcript.entries(audience)) if step == len(reach) - 1 else reach[step]
    lines = room.transcript.entries(audience)[reach[step - 1] if step else 0 : last]
    told = room.transcript.lines_at(audience, step)
    assert [line.text for line in lines] == [text for text in told if text in {line.text for line in lines}]
    return [line.text for line in lines if line.kind != "heading"]


def test_a_game_without_short_lines_has_the_sheets_and_its_pictures_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(find("zero-sum-grid"), "log", None)
    room = dealt(Kind("zero-sum-grid", {"first": 1, "turns": 2}))
    decide(room, "R2+", "C3-")
    assert room.table is not None
    assert room.transcript is not None
    for audience in (0, 1, SPECTATOR):
        told = room.transcript.entries(audience)
        drawn = [line.text for line in told if line.kind == "drawn"]
        assert sum(text == "Updated Grid:" for text in drawn) == 2
        assert sum("|" in text for text in drawn) == 4 * sum("Grid:" in text for text in drawn)
        assert not any("|" in line.text or "Grid" in line.text for line in told if line.kind != "drawn")
        assert not any(re.search(r"(?<!\w)-\d", line.text) for line in told)
        steps = len(room.table.view(audience).log)
        said = [text for step in range(steps + 1) for text in room.transcript.lines_at(audience, step)]
        assert said == [line.text for line in told if line.kind == "said"]
        assert said[-1] == "Draw by turn limit."
