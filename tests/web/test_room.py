"""One room by itself: who sits where, what they may do, and when."""

from __future__ import annotations

import pytest

import piste
from piste.core.dealer import Commitment
from piste.core.errors import IllegalDecisionError, OptionError, StaleDecisionError, UnreadableDecisionError
from piste.core.game import find, names, tidy
from piste.core.protocols import SPECTATOR
from piste.web.network import Root
from piste.web.tables.levels import levels
from piste.web.tables.room import AWAY_AFTER_S, Room
from piste.web.tables.seats import BOT, OPEN, PERSON, RESERVED, Seat, clean_name
from piste.web.views.view_models import RenderContext, Viewer, view_model, viewer_of
from tests.web.in_process_server import seeded

PATIENCE = 60.0
LONG = PATIENCE + 1


def room(game: str = "prime-duel", people: int = 2, **options: int | str) -> Room:
    """Return a room where people sit, with the cards dealt if that makes it full."""
    count = find(game).rules.seats(find(game).options(options))
    made = Room("c" * 16, find(game), options, [Seat() for _ in range(count)], "p0", 0.0, 0.0)
    for at in range(people):
        made.sit(f"p{at}", ("Ada", "Ben", "Cleo", "Dan")[at])
    made.seen = dict.fromkeys(range(count), 0.0)
    if made.full:
        made.deal(seeded())
    return made


def decides(made: Room) -> tuple[int, str, int]:
    """Take the first decision that is open; return seat, decision, number."""
    assert made.table is not None
    assert made.table.to_act is not None
    seat, number = made.table.to_act, made.table.number
    decision = made.table.view(seat).decisions[0]
    made.decide(seat, decision, number)
    return seat, decision, number


def actor(made: Room) -> int:
    assert made.table is not None
    assert made.table.to_act is not None
    return made.table.to_act


def record(made: Room) -> str:
    assert made.table is not None
    return made.table.record()


def offers(made: Room, seat: int, now: float = 0.0) -> set[str]:
    seen = view_model(made, Viewer(seat, seat == 0), RenderContext(now, PATIENCE, Root("http://x")))
    return {offer.do for offer in seen.offers}


@pytest.mark.parametrize("count", [2, 3, 4])
def test_a_table_is_dealt_when_its_last_seat_is_taken(count: int) -> None:
    made = room("mccoy-duel", count - 1, players=count)
    assert not made.full
    assert made.sit("last", "Zoe") == count - 1
    assert made.full
    made.deal(seeded())
    assert made.to_act is not None
    assert made.head is not None
    assert made.head.seats == (*("Ada", "Ben", "Cleo")[: count - 1], "Zoe")


def test_who_sits_already_keeps_the_seat_and_takes_no_second_one() -> None:
    made = room("mccoy-duel", 2, players=3)
    assert made.sit("p1", "Other") == 1
    assert made.names()[1] == "Ben"
    assert made.seats[2].kind == OPEN


def test_nobody_sits_down_at_a_full_table() -> None:
    with pytest.raises(IllegalDecisionError, match="watch"):
        room().sit("late", "Late")


@pytest.mark.parametrize("game", names())
def test_names_that_somebody_has_get_a_number(game: str) -> None:
    made = room(game, 1)
    made.sit("p1", " aDa ")
    assert made.names() == ("Ada", "aDa 2")


def test_a_long_name_that_somebody_has_stays_within_its_length() -> None:
    made = room("mccoy-duel", 0, players=3)
    for at in range(3):
        made.sit(f"p{at}", "x" * 24)
    assert len({tidy(name) for name in made.names()}) == 3
    assert max(map(len, made.names())) <= 24


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("  Ada   Love ", "Ada Love"),
        ("Ada\u202egnihton", "Adagnihton"),
        ("A\x00d\x1b[31ma\n", "Ad[31ma"),
        ("Zoë 木", "Zoë 木"),
        ("<b>'\"&", "<b>'\"&"),
        ("a\ud800b", "ab"),
    ],
)
def test_names_lose_what_cannot_be_seen_and_keep_the_rest(name: str, shown: str) -> None:
    assert clean_name(name) == shown


@pytest.mark.parametrize("name", ["x" * 25, "\u200b\u200b", "\x00", "\ud800", "x" * 100_000])
def test_names_too_long_or_of_nothing_are_refused_with_a_short_sentence(name: str) -> None:
    with pytest.raises(OptionError, match="1 to 24 letters") as refused:
        clean_name(name)
    assert len(str(refused.value).encode()) < 200


@pytest.mark.parametrize("name", ["hint for seat 1: x", "hint for seat zz", "hint for seat 9: k", "hint for seat 2:"])
def test_a_name_that_looks_like_a_note_of_the_house_is_only_a_name(name: str) -> None:
    made = room("mccoy-duel", 0, players=3)
    for at in range(3):
        made.sit(f"p{at}", name)
    made.deal(seeded())
    away = actor(made)
    made.stand_in((away + 1) % 3, LONG, PATIENCE)
    made.come_back(away)
    made.seen = dict.fromkeys(range(3), 0.0)
    made.claim((away + 1) % 3, LONG, PATIENCE)
    assert made.hints == {}
    assert made.transcript is not None
    assert sum(entry.kind == "note" for entry in made.transcript.entries(SPECTATOR)) == 3
    again = Room("c" * 16, find("mccoy-duel"), {"players": 3}, made.seats, "p0", 0.0, 0.0)
    again.restore(tuple(record(made).splitlines()))
    assert record(again) == record(made)
    assert again.transcript is not None
    assert again.transcript.entries(SPECTATOR) == made.transcript.entries(SPECTATOR)


def test_nobody_can_take_the_name_of_an_unnamed_seat() -> None:
    made = room("mccoy-duel", 0, players=3)
    made.sit("p0", "Player 2")
    made.sit("p1", "")
    made.sit("p2", "player 3")
    assert len({name.casefold() for name in made.names()}) == 3


def test_bots_take_every_free_seat_and_only_the_host_lets_them() -> None:
    made = room("mccoy-duel", 2, players=4)
    with pytest.raises(IllegalDecisionError, match="Only whoever opened"):
        made.fill("p1", "steady")
    made.fill("p0", "steady")
    assert [seat.kind for seat in made.seats] == [PERSON, PERSON, BOT, BOT]
    assert made.names() == ("Ada", "Ben", "Steady", "Steady 2")
    assert made.full
    made.deal(seeded())
    with pytest.raises(IllegalDecisionError, match="has begun"):
        made.fill("p0", "steady")


@pytest.mark.parametrize("game", names())
def test_there_is_a_bot_of_some_level_for_every_game(game: str) -> None:
    assert "steady" in levels(find(game))


def test_the_same_decision_is_taken_once_and_answered_twice() -> None:
    made = room()
    seat, decision, number = decides(made)
    before = record(made)
    assert made.decide(seat, decision, number) == decision
    assert record(made) == before


def test_another_decision_for_an_answered_question_is_refused() -> None:
    made = room("mccoy-duel")
    seat, decision, number = decides(made)
    before = record(made)
    for other in ("", "nothing", f"{decision} ", "resigns"):
        with pytest.raises(StaleDecisionError, match="has been answered"):
            made.decide(seat, other, number)
    with pytest.raises(StaleDecisionError):
        made.decide(1 - seat, decision, number)
    assert record(made) == before


def test_an_empty_decision_for_an_answered_question_is_no_repetition_after_a_restart() -> None:
    made = room()
    seat, decision, number = decides(made)
    again = Room("c" * 16, find("prime-duel"), {}, made.seats, "p0", 0.0, 0.0)
    again.restore(tuple(record(made).splitlines()))
    assert again.decide(seat, decision, number) == decision
    with pytest.raises(StaleDecisionError):
        again.decide(seat, "", number)


def test_decisions_out_of_turn_early_late_or_unreadable_change_nothing() -> None:
    made = room()
    assert made.table is not None
    seat, number, before = actor(made), made.table.number, record(made)
    decision = made.table.view(seat).decisions[0]
    for who, said, at, error in (
        (1 - seat, decision, number, IllegalDecisionError),
        (seat, decision, number + 1, StaleDecisionError),
        (seat, decision, -1, StaleDecisionError),
        (seat, "nonsense", number, piste.PisteError),
        (seat, "", number, UnreadableDecisionError),
        (seat, "k" * 41, number, UnreadableDecisionError),
    ):
        with pytest.raises(error) as refused:
            made.decide(who, said, at)
        assert str(refused.value).endswith(".")
    assert record(made) == before


def test_what_the_terminal_takes_is_taken_when_typed_and_when_typed_twice() -> None:
    made = room("mccoy-duel")
    assert made.table is not None
    seat = actor(made)
    view = made.table.view(seat)
    typed = f" {view.decisions[0].upper()} "
    assert made.decide(seat, typed, view.number) == view.decisions[0]
    assert made.decide(seat, typed, view.number) == view.decisions[0]
    assert made.decide(seat, view.decisions[0], view.number) == view.decisions[0]


def test_before_the_deal_there_is_nothing_to_decide() -> None:
    made = room("prime-duel", 1)
    for act in (
        lambda: made.decide(0, "keep", 0),
        lambda: made.resign(0),
        lambda: made.claim(0, LONG, PATIENCE),
        lambda: made.hint_question(0),
        made.record,
        lambda: made.rematch_seats(0),
    ):
        with pytest.raises(IllegalDecisionError):
            act()


@pytest.mark.parametrize("game", names())
def test_resigning_ends_a_game_of_two(game: str) -> None:
    made = room(game)
    made.resign(1 - actor(made))
    assert made.over
    with pytest.raises(IllegalDecisionError):
        made.resign(0)


def test_of_four_the_others_play_on_without_who_resigned() -> None:
    made = room("mccoy-duel", 4, players=4)
    gone = actor(made)
    made.resign(gone)
    assert made.to_act is not None
    assert actor(made) != gone
    assert [
        person.left for person in view_model(made, Viewer(0), RenderContext(0.0, PATIENCE, Root(""))).people
    ].count(True) == 1
    assert "resign" not in offers(made, gone)
    with pytest.raises(IllegalDecisionError, match="resigned already"):
        made.resign(gone)


def test_hints_are_given_against_bots_only_and_stand_in_the_record() -> None:
    people = room()
    with pytest.raises(IllegalDecisionError, match="people play each other"):
        people.hint_question(actor(people))
    made = room("prime-duel", 1, first=1)
    made.fill("p0", "steady")
    made.deal(seeded())
    assert made.table is not None
    number = made.hint_question(0)
    view = made.table.view(0)
    said = made.give_hint(0, number, "perfect", view.actions[1])
    assert view.decisions[1] in said
    assert f"hint for seat 1: {view.decisions[1]}" in record(made)
    assert view_model(made, Viewer(0), RenderContext(0.0, PATIENCE, Root(""))).hint == said
    assert view_model(made, Viewer(SPECTATOR), RenderContext(0.0, PATIENCE, Root(""))).hint == ""
    decides(made)
    assert view_model(made, Viewer(0), RenderContext(0.0, PATIENCE, Root(""))).hint == ""
    assert made.give_hint(0, number, "perfect", view.actions[1]) == ""


@pytest.mark.parametrize("count", [2, 3, 4])
def test_g11_claim_and_stand_in_come_after_patience_and_only_for_whoever_is_to_act(count: int) -> None:
    made = room("mccoy-duel", count, players=count)
    away = actor(made)
    mine = (away + 1) % count
    for seat, now in ((mine, PATIENCE - 1), (away, LONG), (SPECTATOR, LONG)):
        with pytest.raises(IllegalDecisionError, match="Nobody is away"):
            made.claim(seat, now, PATIENCE)
        with pytest.raises(IllegalDecisionError, match="Nobody is away"):
            made.stand_in(seat, now, PATIENCE)
    assert not {"claim", "stand-in"} & offers(made, mine, PATIENCE - 1)
    assert {"claim", "stand-in"} <= offers(made, mine, LONG)
    assert not {"claim", "stand-in"} & offers(made, away, LONG)
    made.sockets[away] = 1  # connected: never away, however long it thinks
    assert not {"claim", "stand-in"} & offers(made, mine, LONG)
    with pytest.raises(IllegalDecisionError):
        made.claim(mine, LONG, PATIENCE)
    made.sockets[away] = 0
    made.claim(mine, LONG, PATIENCE)
    assert made.over == (count == 2)
    assert "Claimed by" in record(made)


def test_somebody_else_who_is_away_holds_nobody_up() -> None:
    made = room()
    idle = 1 - actor(made)
    made.seen[actor(made)] = LONG
    assert not made.here(idle, LONG)
    with pytest.raises(IllegalDecisionError):
        made.claim(actor(made), LONG, PATIENCE)
    assert not {"claim", "stand-in"} & offers(made, actor(made), LONG)


def test_g11_a_bot_stands_in_until_the_person_is_back() -> None:
    made = room()
    away = actor(made)
    assert made.table is not None
    made.stand_in(1 - away, LONG, PATIENCE)
    assert made.bot_to_act() == (away, "steady")
    with pytest.raises(IllegalDecisionError, match="Take your seat back"):
        made.decide(away, made.table.view(away).decisions[0], made.table.number)
    assert view_model(made, Viewer(away), RenderContext(LONG, PATIENCE, Root(""))).choices == ()
    assert "return" in offers(made, away)
    number, action = made.table.number, made.table.view(away).actions[0]
    assert made.bot_decides(away, action, number)
    assert not made.bot_decides(away, action, number)
    made.come_back(away)
    assert made.bot_to_act() is None
    assert "steady" in record(made)
    assert not made.hints


def test_what_a_bot_thought_for_somebody_who_came_back_is_forgotten() -> None:
    made = room()
    away = actor(made)
    assert made.table is not None
    number, action = made.table.number, made.table.view(away).actions[0]
    made.stand_in(1 - away, LONG, PATIENCE)
    made.come_back(away)
    assert not made.bot_decides(away, action, number)
    assert made.table.number == number


def test_a_short_while_without_a_sign_is_not_away() -> None:
    made = room()
    assert made.here(0, AWAY_AFTER_S - 1)
    assert not made.here(0, AWAY_AFTER_S)
    made.sockets[0] = 1
    assert made.here(0, LONG)


@pytest.mark.parametrize("count", [2, 3, 4])
def test_a_rematch_moves_everybody_one_seat_and_keeps_places(count: int) -> None:
    made = room("mccoy-duel", count, players=count)
    with pytest.raises(IllegalDecisionError, match="not over"):
        made.rematch_seats(0)
    while made.to_act is not None:
        made.resign(actor(made))
    with pytest.raises(IllegalDecisionError, match="Only those who played"):
        made.rematch_seats(SPECTATOR)
    seats = made.rematch_seats(1)
    order = [*range(1, count), 0]
    assert [seat.players for seat in seats] == [made.seats[i].players for i in order]
    assert [seat.kind for seat in seats] == [PERSON if i == 1 else RESERVED for i in order]
    assert [seat.name for seat in seats] == [made.names()[i] for i in order]


def test_no_place_is_kept_for_somebody_who_deleted_the_game() -> None:
    made = room()
    made.resign(0)
    made.place(0, made.seats[0]._replace(players=frozenset()))
    assert [seat.kind for seat in made.rematch_seats(1)] == [PERSON, OPEN]


@pytest.mark.parametrize("game", names())
def test_seed_and_salt_are_shown_when_it_is_over_and_keep_the_promise(game: str) -> None:
    made = room(game)
    for seat in (SPECTATOR, 0, 1):
        shown = view_model(made, viewer_of(made, f"p{seat}"), RenderContext(0.0, PATIENCE, Root("")))
        assert (shown.seed, shown.salt) == ("", "")
        assert len(shown.commitment) == 64
    made.resign(0)
    for seat in (SPECTATOR, 0, 1):
        after = view_model(made, viewer_of(made, f"p{seat}"), RenderContext(0.0, PATIENCE, Root("")))
        assert after.commitment == shown.commitment
        assert Commitment(after.commitment, after.salt).keeps(after.seed)
