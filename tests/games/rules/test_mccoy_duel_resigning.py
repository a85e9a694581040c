"""Duel: what happens when somebody resigns, in every phase where that can be (G3, D4, D15, D16, D20, D21)."""

from __future__ import annotations

import pytest

import piste
from piste import CHANCE, Position
from piste.core.errors import IllegalDecisionError
from tests.games.rules.test_mccoy_duel import GAME, begin, duel, field, follow, nine, wander


def cards(position: Position) -> list[str]:
    """Return where every card is."""
    keys = "1234"[: position.state.options.players]
    return [field(position, key) for key in (*keys, "up", "buried")]


def faced(position: Position) -> tuple[str, str, str, str]:
    return field(position, "phase"), field(position, "to"), field(position, "power"), field(position, "demand")


PENDING = {
    "kill": ("0a 1a", "1:0", "0"),
    "take": ("2a 1a", "1:2", "2"),
    "copy": ("4a 1a", "1:4", "4"),
    "feint": ("3a 1a", "1:3", "3"),
    "disarm": ("6a 1a", "1:6", "6"),
    "backstab": ("7a 1a", "1:7", "7"),
    "copied kill": ("4a 1a", "1:4 1:0", "4"),
    "copied backstab": ("4a 1a", "1:4 1:7", "4"),
    "play": ("0a 1a", "", "*"),
}


def pending(which: str) -> tuple[Position, str]:
    """Return a position of three where Player 1 has something open, and the power to beat."""
    hand, steps, power = PENDING[which]
    tower = "*a 0b 7c" if which == "kill" else "7c 0b *a"  # a 0 may not follow the trump
    return follow(duel(hand, "*b 5b", "*c 5c", up=tower), steps), power


# The acting player leaves


@pytest.mark.parametrize("which", PENDING)
def test_d4_what_the_acting_player_had_pending_does_not_happen(which: str) -> None:
    before, power = pending(which)
    assert before.to_act == 0
    after = before.resign(0)
    assert cards(after) == cards(before)
    assert faced(after) == ("play", "2", power, "trumped" if power == "*" else "plain")
    assert (field(after, "in"), field(after, "match"), field(after, "out")) == ("23", "23", "1,0,0")


@pytest.mark.parametrize("which", PENDING)
def test_d4_somebody_else_who_leaves_changes_nothing_for_the_acting_player(which: str) -> None:
    before, _ = pending(which)
    after = before.resign(2)
    assert cards(after) == cards(before)
    assert (field(after, "phase"), field(after, "to")) == (field(before, "phase"), "1")
    assert (field(after, "in"), field(after, "match"), field(after, "out")) == ("12", "12", "0,0,1")
    if field(before, "phase") != "target":
        assert after.decisions() == before.decisions()


def test_d4_change_stance_stays_in_force_when_the_one_who_faces_it_leaves() -> None:
    after = duel("6a", "7b 1b", "6c", up="5c").resign(0)
    assert faced(after) == ("play", "2", "5", "stance")
    assert list(after.decisions()) == ["7"]


def test_d15_players_after_a_leaver_who_cannot_play_are_put_out_in_turn() -> None:
    after = duel("*a", "4b", "3c", "*d", up="0c").resign(0)
    assert field(after, "out") == "1,2,3,0"
    assert (field(after, "phase"), field(after, "wins")) == ("next", "0,0,0,1")


# A 7 and its gift


def gift() -> Position:
    return follow(duel("7a", "1b 2b", "6c 0c", up="*a"), "1:7 1:2")


def test_d4_the_giver_leaves_and_no_card_is_given() -> None:
    before = gift()
    assert before.to_act == 1
    after = before.resign(1)
    assert cards(after) == cards(before)
    assert (faced(after), field(after, "out")) == (("play", "3", "7", "plain"), "0,1,0")


def test_d4_the_player_of_the_seven_leaves_and_no_card_is_given() -> None:
    before = gift()
    after = before.resign(0)
    assert cards(after) == cards(before)
    assert (faced(after), field(after, "out")) == (("play", "2", "7", "plain"), "1,0,0")


def test_d4_a_third_player_leaves_and_the_gift_is_still_asked() -> None:
    after = gift().resign(2)
    assert (after.to_act, list(after.decisions())) == (1, ["1", "2"])
    after = follow(after, "2:1")
    assert (field(after, "1"), faced(after)) == ("1b", ("play", "2", "7", "plain"))


# A target that leaves


@pytest.mark.parametrize("card", ["3", "6", "7"])
def test_d6_a_target_leaves_and_the_one_that_remains_is_not_asked_for(card: str) -> None:
    before = follow(duel(f"{card}a", "1b 2b", "1c 2c", up="*a"), f"1:{card}")
    assert list(before.decisions()) == ["2", "3"]
    for leaver, left in ((1, "3"), (2, "2")):
        after = before.resign(leaver)
        assert after.to_act == CHANCE
        assert list(after.outcomes()) == [left]


def test_d14_a_target_leaves_and_two_remain_to_choose_from() -> None:
    before = follow(duel("6a", "1b", "1c", "1d", up="*a"), "1:6")
    assert list(before.resign(2).decisions()) == ["2", "4"]


def test_d14_a_player_without_cards_is_no_target_when_the_others_leave() -> None:
    before = follow(duel("6a", "", "1c", "1d", up="*a"), "1:6")
    after = before.resign(2)
    assert list(after.outcomes()) == ["4"]
    assert faced(follow(after, "target:4 disarm:1d"))[:2] == ("next", "1")


# The round and the match


def test_d16_the_last_one_in_wins_the_round_when_the_others_are_out_or_gone() -> None:
    before = duel("6a", "7b 1b", "6c", up="5c", playing="12", out="0,0,1")
    for leaver, winner, wins, bury in ((0, "2", "0,1,0", "bury:0b"), (1, "1", "1,0,0", "bury:0a")):
        after = before.resign(leaver)
        assert (field(after, "phase"), field(after, "to"), field(after, "wins")) == ("next", winner, wins)
        assert follow(after, f"next:round {bury} bury:0c").to_act == 2  # first to lose, and still in the match


def test_d16_a_deciding_round_won_by_a_resignation_wins_the_match() -> None:
    before = duel("6a", "7b 1b", "6c", up="5c", playing="12", out="0,0,1", wins="0,2,1")
    assert before.resign(0).ending() == piste.Ending(1, "rounds won", (-1, 2, -1))


def test_d4_who_was_out_already_keeps_their_place_and_the_round_goes_on() -> None:
    before = duel("6a", "7b 1b", "6c", "1d", up="5c", playing="123", out="0,0,0,1")
    after = before.resign(3)
    assert (field(after, "out"), field(after, "in"), field(after, "match")) == ("0,0,0,1", "123", "123")
    assert after.decisions() == before.decisions()


def test_d4_if_the_first_to_lose_has_left_the_next_to_lose_picks() -> None:
    # Player 4 was first to lose and leaves; Players 3 and 2 lose in that order.
    before = duel("5a 0a", "4b", "2c", "1d", up="*a", playing="123", out="0,0,0,1")
    for position in (before, before.resign(3)):
        end = follow(position, "1:5")
        assert (field(end, "phase"), field(end, "out")) == ("next", "0,2,3,1")
    stays = follow(before, "1:5 next:round bury:0a bury:0b bury:0c bury:0d")
    gone = follow(before.resign(3), "1:5 next:round bury:0a bury:0b bury:0c")
    assert (stays.to_act, gone.to_act) == (3, 1)


def test_d4_who_resigns_first_counts_as_first_to_lose_but_does_not_pick() -> None:
    after = follow(duel("6a", "*b 1b", "6c", up="7c").resign(0), "2:* 3:6 target:2 disarm:1b")
    assert field(after, "out") == "1,2,0"
    after = follow(after, "next:round bury:0b bury:0c")
    assert (field(after, "phase"), after.to_act, list(after.decisions())) == ("pick", 1, ["2", "3"])


@pytest.mark.parametrize("leaver", range(4))
def test_d21_the_colour_of_who_left_is_not_dealt_again(leaver: int) -> None:
    position = duel("5a", "5b", "5c", "5d", up="*a", to=str((leaver + 1) % 4 + 1)).resign(leaver)
    position = follow(position, f"{(leaver + 1) % 4 + 1}:5 next:round")
    for seat, colour in enumerate("abcd"):
        assert field(position, str(seat + 1)) == ("-" if seat == leaver else nine(colour).replace(" ", ","))
    position = follow(position, " ".join(f"bury:{seat}{c}" for seat, c in enumerate("abcd") if seat != leaver))
    left = [str(seat + 1) for seat in range(4) if seat != leaver]
    assert (field(position, "phase"), list(position.decisions())) == ("pick", left)
    assert len(field(position, "buried").split(",")) == 3


# The pick


@pytest.mark.parametrize(
    ("shown", "picker", "after"),
    [
        ("reveal:1a reveal:2b reveal:3c reveal:4d", 0, 1),
        ("reveal:2a reveal:1b reveal:0c reveal:4d", 2, 3),
        ("reveal:2a reveal:3b reveal:5c reveal:1d", 3, 0),
    ],
)
def test_d20_in_the_first_round_the_next_clockwise_picks_for_who_left(shown: str, picker: int, after: int) -> None:
    position = follow(begin(4), shown)
    assert position.to_act == picker
    position = position.resign(picker)
    assert (field(position, "phase"), position.to_act) == ("pick", after)
    assert list(position.decisions()) == [seat for seat in "1234" if seat != str(picker + 1)]


def test_d20_players_who_have_left_are_passed_over_and_cannot_be_picked() -> None:
    position = follow(begin(4), "reveal:5a reveal:6b reveal:0c reveal:4d").resign(3)
    assert (position.to_act, list(position.decisions())) == (2, ["1", "2", "3"])
    position = position.resign(2)
    assert (position.to_act, list(position.decisions())) == (0, ["1", "2"])
    position = follow(position, "1:2 bury:0a bury:0b")
    assert (position.to_act, field(position, "3"), field(position, "4")) == (1, "-", "-")


def test_d20_in_a_later_round_too_the_next_clockwise_picks_for_who_left() -> None:
    # Lost in the order 2, 4, 3: after Player 2 it is Player 3's turn to pick, by seat, not Player 4's.
    position = duel("5a 0a", "4b", "6c 0c", "2d", up="*a", playing="134", out="0,1,0,0")
    position = follow(position, "1:5 3:6 3:4 disarm:2d 1:0 1:5 next:round bury:0a bury:0b bury:0c bury:0d")
    assert (field(position, "phase"), position.to_act, field(position, "out")) == ("pick", 1, "0,1,3,2")
    position = position.resign(1)
    assert (position.to_act, list(position.decisions())) == (2, ["1", "3", "4"])
    position = follow(position, "3:4")
    assert (position.to_act, field(position, "in"), field(position, "out")) == (3, "134", "0,0,0,0")


# The match ends


@pytest.mark.parametrize("which", PENDING)
def test_g3_the_last_one_left_wins_the_match_in_every_phase(which: str) -> None:
    before, _ = pending(which)
    assert before.resign(0).resign(2).ending() == piste.Ending(1, "resigned", (-1, 2, -1))
    if before.resign(2).to_act != CHANCE:
        assert before.resign(2).resign(1).ending() == piste.Ending(0, "resigned", (2, -1, -1))


@pytest.mark.parametrize("leaver", [0, 1])
def test_g3_between_two_a_resignation_ends_the_match_at_once(leaver: int) -> None:
    pick = follow(begin(), "reveal:1a reveal:2b")
    play = duel("6a", "7b", up="5b", wins="2,0")
    give = follow(duel("7a", "1b 2b", up="*a"), "1:7 target:2")
    for position in (pick, play, give):
        ending = position.resign(leaver).ending()
        assert ending is not None
        assert (ending.winner, ending.reason) == (1 - leaver, "resigned")


@pytest.mark.parametrize("players", [2, 3, 4])
def test_g3_with_resignations_a_match_still_ends_with_one_winner_who_stayed(players: int) -> None:
    for seed in range(40):
        for position in wander(begin(players, rounds=3), seed, leaving=0.05):
            state = position.state
            if position.decisions():
                assert state.present >> position.to_act & 1
        ending = position.ending()
        assert position.to_act is None
        assert ending is not None
        assert ending.winner is not None
        assert state.present >> ending.winner & 1
        assert sum(ending.payoffs) == 0


def test_g3_at_a_table_everybody_is_told_and_who_left_cannot_act_again() -> None:
    table = piste.open_table(GAME, {"players": 3, "first": 1}, seed="leaving")
    table.resign(0)
    assert table.to_act == 1
    for seat in (piste.SPECTATOR, 0, 1, 2):
        event = table.view(seat).log[-1].event
        assert (event.kind, event.seat) == (-1, 0)
    with pytest.raises(IllegalDecisionError, match="Player 1 has resigned already"):
        table.resign(0)
    with pytest.raises(IllegalDecisionError, match="Player 1 cannot decide now: it is for Player 2"):
        table.decide(0, "5")
    table.resign(2)
    assert table.ending() == piste.Ending(1, "resigned", (-1, 2, -1))
    with pytest.raises(IllegalDecisionError, match="Player 2 cannot resign: the game is over"):
        table.resign(1)


def test_d6_at_a_table_the_one_target_that_remains_is_acted_on_without_a_question() -> None:
    table = piste.open_table(GAME, {"players": 3, "first": 1}, seed="one target", laid="0 0 0")
    table.decide(0, "6")
    assert table.view(0).decisions == ("2", "3")
    table.resign(1)
    assert table.to_act == 2
    assert table.view(2).position.sizes == (7, 8, 7, 0)


def test_d23_the_winner_is_paid_one_for_each_opponent() -> None:
    for players in (2, 3, 4):
        table = piste.open_table("mccoy-duel", {"players": players, "first": 1}, seed="paid")
        for seat in range(1, players):
            table.resign(seat)
        ending = table.ending()
        assert ending is not None
        assert ending.payoffs == (players - 1, *[-1] * (players - 1))


def test_d24_the_cards_of_who_left_stay_where_they_are() -> None:
    table = piste.open_table("mccoy-duel", {"players": 3, "first": 1}, laid="4 5 6", seed="stay")
    table.decide(0, "1")  # draws a buried card, whichever; the 1 lies face up
    before = table.view(1).position
    table.resign(0)
    after = table.view(1).position
    assert (after.up, after.buried, after.power) == (before.up, before.buried, before.power)
    assert before.up == 1 << 1
