"""One event after another: what a page is sent to show each step, ends of rounds, and ends before any decision."""

from __future__ import annotations

import random
import re

import pytest

from piste.core.game import find
from piste.core.protocols import SPECTATOR
from piste.core.scene import Area, RoundEnd, SceneBuilder
from piste.web.network import Root
from piste.web.tables.room import Room
from piste.web.tables.seats import BOT, PERSON, Seat
from piste.web.views import view_models
from piste.web.views.parts import ShownTable
from piste.web.views.rendering import PageRenderer
from piste.web.views.view_models import PLAYING, TableViewModel
from piste.web.websocket import news
from tests.game_setups import FULL, Kind
from tests.web.in_process_server import SEED, Device, InProcessServer, seeded

PAGES = PageRenderer()
WITHOUT = view_models.RenderContext(0.0, 60.0, Root("http://table.example"))


def room_of(kind: Kind, seed: str = SEED, people: int = 9) -> Room:
    game = find(kind.game)
    count = game.rules.seats(game.options(kind.options))
    seats = [
        Seat(PERSON, f"P{i}", players=frozenset({f"p{i}"})) if i < people else Seat(BOT, f"B{i}", "steady")
        for i in range(count)
    ]
    room = Room("code", find(kind.game), kind.options, seats, "p0", 0.0, 0.0)
    room.deal(seeded(seed))
    return room


def model_of(room: Room, seat: int) -> TableViewModel:
    return view_models.view_model(room, view_models.Viewer(seat), WITHOUT)


def on(room: Room, chooser: random.Random) -> int:
    """Take any decision and return who took it."""
    assert room.table is not None
    seat = room.table.to_act
    assert seat is not None
    view = room.table.view(seat)
    room.decide(seat, chooser.choice(view.decisions), view.number)
    return seat


@pytest.mark.parametrize("kind", FULL, ids=str)
def test_steps_lead_from_what_a_page_shows_to_the_latest(kind: Kind) -> None:
    room, chooser = room_of(kind), random.Random(str(kind))
    audiences = (SPECTATOR, *range(len(room.seats)))
    shown: dict[int, dict[str, str]] = {at: {} for at in audiences}
    tables = {at: ShownTable(PAGES.draw) for at in audiences}
    told: dict[int, list[list[object]]] = {at: [] for at in audiences}
    known = dict.fromkeys(audiences, 0)
    many = 0
    for _ in range(40):
        for at in audiences:
            latest = model_of(room, at)
            steps = view_models.steps(room, view_models.Viewer(at), latest, known[at])
            assert [step.step for step in steps] == sorted({step.step for step in steps})
            assert all(known[at] < step.step < latest.step for step in steps)
            assert all(step.stage == PLAYING and not step.choices and not step.result for step in steps)
            message = news(tables[at], latest, len(told[at]), steps)
            for frame in (*message.get("steps", ()), message):
                shown[at] |= frame["parts"]
                told[at] += frame["log"]
            assert shown[at] == PAGES.parts(latest)
            assert told[at] == [[one.number, one.kind, one.text] for one in latest.log]
            known[at] = latest.step
            many += len(steps)
        if room.over:
            break
        on(room, chooser)
    assert many or kind.game == "zero-sum-grid", "there was never a step on the way"


@pytest.mark.parametrize("kind", FULL, ids=str)
def test_a_step_shows_what_was_seen_then_and_nothing_of_later(kind: Kind) -> None:
    """A view model of a step is what the same one was when that step was the latest one, but for who could decide."""
    room, chooser = room_of(kind), random.Random(str(kind))
    before = {at: model_of(room, at) for at in (SPECTATOR, *range(len(room.seats)))}
    for _ in range(10):
        if room.over:
            return
        on(room, chooser)
        for at, old in before.items():
            latest = model_of(room, at)
            again = view_models.steps(room, view_models.Viewer(at), latest, old.step - 1)
            for step in again:
                if step.step == old.step:
                    assert taken_off(step.areas) == taken_off(old.areas)
                    assert step.standing == old.standing
                    assert view_models.acting(step.people, None) == view_models.acting(old.people, None)
                    assert step.log == old.log
            before[at] = latest


def taken_off(areas: tuple[Area, ...]) -> str:
    """Return areas without what could be chosen in them."""
    return re.sub(
        r"decision=-?\d+|below='[^']*'|dim=\w+|note='[^']*'|note=\"[^\"]*\"|(add|subtract)=-?\d+", "", repr(areas)
    )


def test_the_strip_shows_whose_move_a_step_is() -> None:
    """A discard and the draw that it forces are one player's: the turn passes only after both."""
    room = room_of(Kind("positive-negative", {}))
    room.decide(0, "discard", 0)
    assert [one.turn for one in model_of(room, 1).people] == [False, True]
    steps = view_models.steps(room, view_models.Viewer(1), model_of(room, 1), 1)
    assert [one.status[:12] for one in steps] == ["P0 discarded", "P0 drew 4 (t"]
    assert [[person.turn for person in one.people] for one in steps] == [[True, False]] * 2


def test_own_decisions_are_no_steps_on_the_way() -> None:
    room = room_of(Kind("zero-sum-duel", {}))
    assert room.table is not None
    at = room.table.to_act
    assert at is not None
    step = model_of(room, at).step
    on(room, random.Random(1))
    own = view_models.steps(room, view_models.Viewer(at), model_of(room, at), step)
    other = view_models.steps(room, view_models.Viewer(1 - at), model_of(room, 1 - at), step)
    assert step + 1 not in [one.step for one in own]
    assert step + 1 in [one.step for one in other]


# The end of a round


def to_round_end(room: Room, chooser: random.Random) -> tuple[int, RoundEnd]:
    while not room.over:
        seat = on(room, chooser)
        found = model_of(room, seat).round_end
        if found is not None:
            return seat, found
    raise AssertionError("the game was over before the second round")


@pytest.mark.parametrize("players", [2, 3, 4])
def test_a_round_ends_with_all_that_is_open_then(players: int) -> None:
    room, chooser = room_of(Kind("mccoy-duel", {"players": players, "rounds": 5})), random.Random(players)
    _, found = to_round_end(room, chooser)
    assert found.number == 1
    assert room.table is not None
    at = next(i for i, told in enumerate(room.table.view(SPECTATOR).log) if any(told.after.hands))
    over = room.table.view(SPECTATOR).log[at].after
    for seat in (SPECTATOR, *range(players)):
        shown = model_of(room, seat).round_end
        assert shown is not None
        assert shown.title == ("You win round 1." if seat == over.seat else f"P{over.seat} wins round 1.")
        assert shown.lines[-1].startswith("Rounds won, best of 5: ")
        hands = {area.seat: len(area.cards) for area in shown.areas if area.seat != SPECTATOR}
        assert hands == {i: over.sizes[i] for i in range(players)}
        assert sum(len(area.cards) for area in shown.areas if area.label == "Buried") == over.buried


def test_the_end_of_a_round_stands_until_its_player_goes_on_and_holds_nobody_up() -> None:
    room, chooser = room_of(Kind("mccoy-duel", {"rounds": 5})), random.Random(3)
    to_round_end(room, chooser)
    waits = {0, 1}
    while waits:
        for seat in (0, 1):
            assert (model_of(room, seat).round_end is not None) == (seat in waits)
        seat = on(room, chooser)
        waits.discard(seat)
        assert model_of(room, SPECTATOR).round_end is None  # who looks on is not asked for anything: the game goes on
    steps = view_models.steps(room, view_models.Viewer(0), model_of(room, 0), 0)
    assert any(step.round_end for step in steps)


async def test_the_end_of_a_round_is_on_the_page_and_a_plain_form_goes_on(house: InProcessServer) -> None:
    ada, ben = Device(house), Device(house)
    code = await ada.opens("mccoy-duel", name="Ada", **{"option-rounds": "5"})
    await ben.do(code, "sit", name="Ben")
    live = await ben.connect(code, step=0)
    people, chooser = (ada, ben), random.Random(4)
    while True:
        room = house.room(code)
        assert room.table is not None
        seat = room.table.to_act
        assert seat is not None
        view = room.table.view(seat)
        await people[seat].decide(code, chooser.choice(view.decisions), view.number)
        if model_of(house.room(code), 0).round_end:
            break
    for who in (ada, ben):
        page = await who.page(code)
        assert 'class="room held"' in page
        assert 'id="next-round"' in page
        assert f'<form method="get" action="/t/{code}"><input type="hidden" name="seen" value="1">' in page
        on_page = (await who.get(f"/t/{code}?seen=1")).text
        assert 'id="next-round"' not in on_page
        assert 'class="room"' in on_page
    frames = [frame for message in live.messages for frame in message.get("steps", ())]
    first = next(frame for frame in frames if "next-round" in frame["parts"].get("round", ""))
    assert not any("Round 2 begins" in text for _, _, text in first["log"])


def test_games_of_one_round_say_nothing_of_rounds() -> None:
    for kind in FULL:
        scenes: SceneBuilder | None = find(kind.game).scene
        assert hasattr(scenes, "round_end") == (kind.game == "mccoy-duel")


# An end before any decision


def early() -> Room:
    for more in range(1000):
        room = room_of(Kind("zero-sum-duel", {}), f"early {more}")
        if room.over:
            return room
    raise AssertionError("no game of a thousand is over before the first decision")


def test_a_game_that_is_over_before_anybody_decides_is_dealt_and_explained() -> None:
    room = early()
    assert room.table is not None
    ending = room.table.ending()
    assert ending is not None
    assert ending.winner is not None
    assert room.transcript is not None
    assert not room.transcript.answers
    won, lost = model_of(room, ending.winner), model_of(room, 1 - ending.winner)
    hand = r"(?: [+-]\d+)+"
    nobody = r"The game was over before anybody had to decide\."
    assert re.fullmatch(rf"You drew [+-]\d+: your hand{hand} sums to zero\. {nobody}", won.explanation)
    assert re.fullmatch(rf"P{ending.winner} drew a card: the hand{hand} sums to zero\. {nobody}", lost.explanation)
    for seat in (0, 1):
        one = model_of(room, seat)
        steps = view_models.steps(room, view_models.Viewer(seat), one, 0)
        assert one.undecided
        assert len(steps) == one.step - 1
        assert [step.at for step in steps] == sorted({step.at for step in steps})
        assert not any("sums to zero" in entry.text for step in steps for entry in step.log)


def test_a_game_in_which_one_decided_is_explained_to_the_other_and_says_so() -> None:
    for more in range(2000):
        room = room_of(Kind("zero-sum-duel", {}), f"one {more}")
        if room.over:
            continue
        chooser = random.Random(more)
        first = on(room, chooser)
        if room.over:
            break
    else:
        raise AssertionError("no game is over after one decision")
    assert model_of(room, 1 - first).explanation.endswith(" The game was over before you had to decide.")
    assert "had to decide" not in model_of(room, first).explanation
    assert "had to decide" not in model_of(room, SPECTATOR).explanation
