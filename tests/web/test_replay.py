"""A finished game step by step: where it opens, what every step says, whose view it is, and where it leads."""

from __future__ import annotations

import json
import re

import pytest

from piste.core.protocols import HIDDEN, SPECTATOR
from piste.web.storage.schema import ReviewRow, put
from piste.web.views.replay import compared, costliest, event_sentence, replay_step, summaries
from tests.game_setups import FULL, Kind
from tests.web.in_process_server import Device, InProcessServer, finish, table_for
from tests.web.test_rendering import last, moments


def review(*decisions: tuple[int, str, float, float]) -> str:
    """Return a review with decisions of a step, a seat, a loss and a margin."""
    made = [
        {
            "step": step, "seat": seat, "decision": "R1+", "best": "R2+", "loss": loss, "margin": margin,
            "label": None, "why": "",
        }
        for step, seat, loss, margin in decisions
    ]  # fmt: skip
    return json.dumps({"chances": [], "decisions": made, "certainty": "Every number is exact."})


def shown_step(page: str) -> int:
    found = re.search(r'data-step="(\d+)" data-first', page)
    assert found is not None
    return int(found[1])


async def test_it_opens_at_the_decision_that_cost_most_and_a_named_step_stays(house: InProcessServer) -> None:
    code, people = await table_for(house, "zero-sum-grid", 2, **{"option-turns": "6"})
    await finish(house, code, people)
    house.storage.write(put(ReviewRow(code, review((10, "1", 0.2, 0.0), (11, "2", 0.5, 0.0))))).result()
    assert shown_step((await people[0].get(f"/t/{code}/replay")).text) == 11
    assert shown_step((await people[1].get(f"/t/{code}/replay")).text) == 12
    assert shown_step((await people[0].get(f"/t/{code}/replay?seat={SPECTATOR}")).text) == 12
    for step in (6, 7, 12):
        assert shown_step((await people[0].get(f"/t/{code}/replay?step={step}")).text) == step
    for text in ("-5", "x", "0"):
        assert shown_step((await people[0].get(f"/t/{code}/replay?step={text}")).text) == 5


async def test_the_replay_of_the_grid_begins_when_it_is_dealt(house: InProcessServer) -> None:
    code, people = await table_for(house, "zero-sum-grid", 2, **{"option-turns": "6"})
    await finish(house, code, people)
    house.storage.write(put(ReviewRow(code, review((10, "1", 0.2, 0.0))))).result()
    page = (await people[0].get(f"/t/{code}/replay?step=0")).text
    assert "The grid was dealt" in page
    assert "Step 0 of 7" in page
    assert 'type="range" min="5" max="12" value="5"' in page
    assert re.search(r'id="go-previous" href="[^"]*step=5"', page)
    page = (await people[0].get(f"/t/{code}/replay?step=11")).text
    assert "Step 6 of 7" in page


@pytest.mark.parametrize("kind", FULL, ids=str)
def test_a_deal_of_which_nothing_is_told_is_left_out(kind: Kind) -> None:
    room = last(moments(kind, f"first {kind}", most=12))
    found = replay_step(room, 0, SPECTATOR, None)
    assert found.step == found.first == (5 if kind.game == "zero-sum-grid" else 0)


async def test_a_replay_waits_a_moment_for_a_quick_coach(house: InProcessServer) -> None:
    code, people = await table_for(house, "zero-sum-grid", 2, **{"option-turns": "6"})
    await finish(house, code, people)
    assert 'id="looking"' not in (await people[0].get(f"/t/{code}/replay")).text


async def test_before_the_review_it_opens_where_somebody_decides_first(
    house: InProcessServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("piste.web.app.REVIEW_WAIT_S", 0.0)
    code, people = await table_for(house, "zero-sum-grid", 2, **{"option-turns": "6"})
    await finish(house, code, people)
    page = (await people[0].get(f"/t/{code}/replay")).text
    assert 'id="looking"' in page
    deciders = house.room(code).transcript.deciders  # type: ignore[union-attr]
    assert shown_step(page) == next(at for at, decider in enumerate(deciders) if decider != SPECTATOR) > 0


@pytest.mark.parametrize(
    ("decisions", "seat", "step"),
    [
        ((), "1", 0),
        (((4, "1", 0.0, 0.0),), "1", 0),
        (((4, "1", 0.1, 0.2),), "1", 0),  # within the margin: nothing was lost for certain
        (((4, "1", 0.1, 0.0), (6, "1", 0.2, 0.0)), "1", 7),
        (((4, "1", 0.1, 0.0), (6, "2", 0.2, 0.0)), "1", 5),
        (((6, "2", 0.2, 0.0),), "1", 7),  # who lost nothing is shown what the other lost
        (((4, "1", 0.1, 0.0), (6, "2", 0.2, 0.0)), "", 7),
    ],
)
def test_the_costliest_decision_is_ones_own_if_one_lost_anything(
    decisions: tuple[tuple[int, str, float, float], ...], seat: str, step: int
) -> None:
    assert costliest(json.loads(review(*decisions)), seat) == step


@pytest.mark.parametrize("kind", FULL, ids=str)
def test_every_step_says_something_to_everybody(kind: Kind) -> None:
    room = last(moments(kind, f"said {kind}", most=12))
    assert room.table is not None
    for seat in (SPECTATOR, *range(room.table.seats)):
        view = room.table.view(seat)
        for step in range(len(view.log) + 1):
            found = replay_step(room, step, seat, None)
            assert found.lines
            assert all(line.strip() for line in found.lines)
            assert event_sentence(room.game, view, step, room.names()).endswith(".")


async def test_a_view_is_chosen_by_name(house: InProcessServer) -> None:
    code, people = await table_for(house, "zero-sum-grid", 2, **{"option-turns": "4"})
    await finish(house, code, people)
    page = (await people[0].get(f"/t/{code}/replay?step=10")).text
    viewers = re.findall(r'href="[^"]*seat=(-?\d+)&amp;step=10"([^>]*)><bdi>([^<]*)</bdi>', page)
    assert [name for _, _, name in viewers] == ["All hands", "Ada", "Ben"]
    assert [name for _, now, name in viewers if "aria-current" in now] == ["Ada"]
    assert "Nothing was said" not in page


async def test_another_try_is_offered_at_decisions_of_ones_own_against_bots_only(house: InProcessServer) -> None:
    one = Device(house)
    code = await one.opens("zero-sum-grid", versus="steady", **{"option-turns": "4"})
    await finish(house, code, [one, one])
    deciders = house.room(code).transcript.deciders  # type: ignore[union-attr]
    seat = house.room(code).seat_of(house.room(code).host)
    for step in range(5, len(deciders) + 1):
        page = (await one.get(f"/t/{code}/replay?step={step}")).text
        own = step > 0 and deciders[step - 1] == seat
        assert (f'action="/t/{code}/again"' in page) == own
        assert "do-again" not in (await Device(house).get(f"/t/{code}/replay?step={step}")).text
        decided = step > 0 and deciders[step - 1] != SPECTATOR
        assert f'&amp;step={step - decided}">Analyse this {"decision" if decided else "position"}' in page
    step = deciders.index(seat)
    again = await one.post(f"/t/{code}/again", {"step": str(step)})
    assert again.status == 303
    assert again.header("location") != f"/t/{code}"
    code, people = await table_for(house, "zero-sum-grid", 2, **{"option-turns": "4"})
    await finish(house, code, people)
    pages = [(await people[0].get(f"/t/{code}/replay?step={step}")).text for step in range(9, 14)]
    assert not any("do-again" in page for page in pages)


def test_the_turn_is_that_of_who_decides_or_draws_next() -> None:
    room = last(moments(Kind("positive-negative", {}), "turns", most=99))
    assert room.table is not None
    assert room.transcript is not None
    log, deciders = room.table.view(SPECTATOR).log, room.transcript.deciders
    drawn = 0
    for step, decider in enumerate(deciders):
        turn = replay_step(room, step, 0, None).to_act
        assert turn == (log[step].event.seat if decider == SPECTATOR else decider)
        # Who discards a card draws another before the turn of the other comes.
        drawn += step > 0 and decider == SPECTATOR and turn == deciders[step - 1]
    assert drawn > 0
    assert replay_step(room, len(deciders), 0, None).to_act == SPECTATOR


async def test_who_has_no_name_is_you_to_themselves_alone(house: InProcessServer) -> None:
    one = Device(house)
    code = await one.opens("zero-sum-duel", versus="steady", name="")
    await finish(house, code, [one, one])
    seat = house.room(code).seat_of(house.room(code).host)
    page = (await one.get(f"/t/{code}/replay?step=9")).text
    assert "<bdi>You</bdi>" in page
    assert f"Player {'AB'[seat]}" not in page
    assert "is <bdi>Steady</bdi>" not in page
    assert "“you” is <bdi>Steady</bdi>" in (await one.get(f"/t/{code}/replay?step=9&seat={1 - seat}")).text
    other = (await Device(house).get(f"/t/{code}/replay?step=9")).text
    assert "<bdi>You</bdi>" not in other
    assert f"<bdi>Player {'AB'[seat]}</bdi>" in other


def test_with_all_hands_open_no_hand_is_hidden() -> None:
    room = last(moments(Kind("zero-sum-duel", {}), "open", most=99))
    found = replay_step(room, 9, SPECTATOR, None)
    hands = [area for area in found.areas if area.kind == "hand"]
    assert len(hands) == 2
    assert all(card.tone != "back" and card.text for hand in hands for card in hand.cards)
    own = [area for area in replay_step(room, 9, 0, None).areas if area.kind == "hand" and area.seat == 1]
    assert {card.tone for card in own[0].cards} == {"back"}


def test_a_summary_counts_decisions_and_leads_to_the_costliest() -> None:
    room = last(moments(FULL[0], "summary", most=8))
    made = json.loads(review((2, room.game.seat_name(0), 0.2, 0.0), (4, room.game.seat_name(0), 0.0, 0.0)))
    made["decisions"][0]["label"] = "blunder"
    made["columns"] = [{"seat": room.game.seat_name(0), "accuracy": 87.4, "decisions": 2}]
    found = replay_step(room, 3, 0, json.dumps(made))
    assert [(one.text, one.step, one.cost) for one in summaries(found)] == [
        ("2 decisions, 87 % accuracy, 1 blunder", 3, "20.0 %")
    ]
    assert summaries(replay_step(room, 3, 1, json.dumps(made))) == ()
    made["decisions"][0]["label"] = ""
    assert summaries(replay_step(room, 3, 0, json.dumps(made)))[0].text == "2 decisions, 87 % accuracy, no mistakes"
    made["columns"][0]["accuracy"] = 0.0
    found = replay_step(room, 3, 0, json.dumps(made))
    assert summaries(found)[0].text == "2 decisions, no mistakes: little depended on them"


def test_the_chances_of_the_best_choices_stand_beside_the_one_that_was_made() -> None:
    choices = [
        {"decision": name, "chance": chance} for name, chance in zip("abcde", (0.1, 0.5, 0.4, 0.3, 0.2), strict=True)
    ]
    assert compared({"decision": "a", "choices": choices}) == (
        ("b", "50.0 %", False), ("c", "40.0 %", False), ("a", "10.0 %", True)
    )  # fmt: skip
    assert compared({"decision": "resign", "choices": choices}) == ()
    assert compared({"decision": "a"}) == ()


def test_who_decides_next_is_shown_and_no_step_of_a_game_leads_elsewhere() -> None:
    room = last(moments(FULL[0], "next", most=8))
    assert room.transcript is not None
    for step in range(len(room.transcript.deciders)):
        found = replay_step(room, step, 0, None)
        assert found.again == HIDDEN
        if room.transcript.deciders[step] != SPECTATOR:
            assert found.to_act == room.transcript.deciders[step]
