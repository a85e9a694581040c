"""Duel: what may be played, and each card's ability, for two, three and four players (D5 to D14, D21)."""

from __future__ import annotations

import pytest

from piste import CHANCE, Position
from tests.games.rules.test_mccoy_duel import POWERS, begin, duel, eight, even, field, follow, nine


def can(position: Position) -> str:
    """Return what the seat to act may choose, in one line."""
    return " ".join(position.decisions())


def faced(position: Position) -> tuple[str, str, str, str]:
    """Return what the next player faces: phase, player, power to beat, demand."""
    return field(position, "phase"), field(position, "to"), field(position, "power"), field(position, "demand")


def but(powers: str, gone: str) -> str:
    """Return these powers without one, in one line: a card is always buried, so no hand has all nine."""
    return " ".join(power for power in powers if power != gone)


# D5: what may be played


def test_d5_any_card_may_lead() -> None:
    for gone in POWERS:
        assert can(duel(eight("a", gone), eight("b", "0"))) == but(POWERS, gone)


@pytest.mark.parametrize("power", range(8))
def test_d5_only_a_lower_card_or_the_trump_follows(power: int) -> None:
    for gone in POWERS[:8]:
        position = duel(eight("a", gone), "*b", up=f"{power}b", demand="plain")
        assert can(position) == but(POWERS[:power] + "*", gone)


def test_d5_after_the_trump_all_but_nought_may_follow_also_another_trump() -> None:
    for gone in POWERS:
        assert can(duel(eight("a", gone), "7b", up="*b")) == but("1234567*", gone)


def test_d5_the_ban_on_nought_holds_for_that_one_card_only() -> None:
    position = follow(duel("0a *a", "0b 1b", up="3b"), "1:*")
    assert can(position) == "1"
    position = follow(position, "2:1 draw:3a")
    assert can(position) == "0"


def test_d5_who_holds_only_a_nought_after_the_trump_is_out() -> None:
    assert field(follow(duel("*a 1a", "0b", up="3b"), "1:*"), "wins") == "1,0"


def test_d5_d11_change_stance_admits_six_seven_and_the_trump_only() -> None:
    for gone in POWERS:
        assert can(duel(eight("a", gone), "7b", up="5b")) == but("67*", gone)
        assert can(duel(eight("a", gone), "7b", up="5b 4b", demand="stance")) == but("67*", gone)


# D6: nothing to act on, and one answer


@pytest.mark.parametrize("card", ["0", "2", "4"])
def test_d6_nought_two_and_four_do_nothing_when_they_lead(card: str) -> None:
    position = follow(duel(eight("a", "7"), eight("b", "7")), f"1:{card}")
    assert faced(position) == ("play", "2", card, "plain")
    assert field(position, "1") == eight("a", "7").replace(f"{card}a ", "").replace(" ", ",")
    assert (field(position, "up"), field(position, "buried")) == (f"{card}a", "7a,7b")


# A 1, and a 4 that copies it, draw both buried cards; the 2 takes a card back, and the trump lets a 1 or a 4 follow.
NOTHING_BURIED = "bury:7a bury:7b 1:1 draw:7a 2:* 1:4 1:1 draw:7b 2:2"


def test_d6_one_does_nothing_when_nothing_is_buried() -> None:
    before = follow(begin(first=1), f"{NOTHING_BURIED} 2:1 1:*")
    assert (field(before, "2"), field(before, "buried")) == ("0b,1a,1b,3b,4b,5b,6b", "-")
    position = follow(before, "2:1b")
    assert (field(position, "2"), field(position, "buried")) == ("0b,1a,3b,4b,5b,6b", "-")
    assert faced(position) == ("play", "1", "1", "plain")


@pytest.mark.parametrize("card", ["3", "6", "7"])
@pytest.mark.parametrize("players", [2, 3, 4])
def test_d6_three_six_and_seven_do_nothing_when_no_opponent_holds_a_card(card: str, players: int) -> None:
    hands = [f"{card}a 2a", *[""] * (players - 1)]
    position = follow(duel(*hands, up="*b"), f"1:{card}")
    assert field(position, "phase") == "next"  # nobody is left who could answer
    assert (field(position, "1"), field(position, "power")) == ("2a", card)


def test_d6_what_can_act_must_act() -> None:
    position = follow(duel("0a 2a", "*b", up="1b *a 6b"), "1:0")
    assert (field(position, "phase"), can(position)) == ("kill", "* 1 6")
    position = follow(duel("2a 1a", "*b", up="1b *a 6b"), "1:2")
    assert (field(position, "phase"), can(position)) == ("take", "* 1 6")


@pytest.mark.parametrize(
    ("before", "steps", "outcome"),
    [
        (("0a 1a", "*b"), "1:0", "6b"),
        (("2a 1a", "*b"), "1:2", "6b"),
        (("4a 1a", "*b 1b"), "1:4", "6b"),
        (("3a 1a", "*b 1b"), "1:3", "2"),
        (("7a 1a", "4b"), "1:7 target:2", "4b"),
    ],
)
def test_d6_a_choice_with_one_answer_is_not_asked(before: tuple[str, str], steps: str, outcome: str) -> None:
    top = "*b" if "7" in steps else "6b"
    position = follow(duel(*before, up=top), steps)
    assert position.to_act == CHANCE
    assert list(position.outcomes()) == [outcome]


# D7 and D8: 0, 2 and 1


def test_d7_d21_nought_buries_any_face_up_card_at_any_depth_but_itself() -> None:
    position = follow(duel("0a 2a 3a", "*b 2b", up="7a *a 0b 5a 6a 1b", buried="3b", rest="2"), "1:0")
    assert can(position) == "5 6 7 * 0b 1"
    position = follow(position, "1:7")
    assert (field(position, "up"), field(position, "buried")) == ("0a,0b,1b,5a,6a,*a", "3b,7a")
    assert faced(position) == ("play", "2", "0", "plain")


def test_d7_d21_two_takes_any_face_up_card_at_any_depth_but_itself() -> None:
    position = follow(duel("2a 1a", "1b", up="2b *b 5a 6a 3b"), "1:2")
    assert can(position) == "5 6 2b 3 *"
    position = follow(position, "1:*")
    assert (field(position, "1"), field(position, "up")) == ("1a,*b", "2a,2b,3b,5a,6a")
    assert faced(position) == ("play", "2", "2", "plain")


def test_d7_two_takes_a_four_when_that_is_all_there_is() -> None:
    assert field(follow(duel("2a", "1b", up="4b"), "1:2 take:4b"), "1") == "4b"


def test_d8_one_draws_at_random_from_the_whole_pile_whoever_buried() -> None:
    position = follow(duel("1a", "0b", up="2a 4a 5a 7a 6b", buried="3a 7b *b 0a", rest="2"), "1:1")
    assert position.outcomes() == even("3a 7b *b 0a")
    position = follow(position, "draw:*b")
    assert (field(position, "1"), field(position, "buried")) == ("*b", "0a,3a,7b")
    assert faced(position) == ("play", "2", "1", "plain")


# D9: 3


@pytest.mark.parametrize("card", POWERS)
def test_d9_a_card_played_by_a_feint_has_its_power_and_no_ability(card: str) -> None:
    for gone in POWERS[:8].replace(card, ""):  # the trump stays, so that Player 2 can always answer
        position = follow(duel("3a 7a", eight("b", gone), up="1a 6a"), "1:3 target:2")
        assert position.outcomes() == even(eight("b", gone))
        position = follow(position, f"feint:{card}b")
        assert (field(position, "top"), field(position, "1")) == (f"{card}b", "7a")
        assert faced(position) == ("play", "2", card, "trumped" if card == "*" else "plain")
        assert can(position) == but("1234567" if card == "*" else POWERS[: int(card)] + "*", gone)


def test_d9_play_passes_clockwise_from_the_player_of_the_three_whoever_held_the_card() -> None:
    hands = ("3a", "1b *b", "7c 1c", "0d")
    position = follow(duel(*hands, up="6a"), "1:3 1:3 feint:7c")
    assert faced(position) == ("play", "2", "7", "plain")
    assert (field(position, "3"), field(position, "up")) == ("1c", "3a,6a,7c")
    assert faced(follow(duel(*hands, up="6a"), "1:3 1:2 feint:*b")) == ("play", "2", "*", "trumped")


def test_d9_a_feint_may_put_a_higher_card_on_top_or_leave_nothing_to_follow() -> None:
    position = follow(duel("3a", "0b 4b", up="6a"), "1:3 target:2 feint:0b")
    assert field(position, "wins") == "1,0"


# D10: 4


def test_d10_copycat_copies_any_other_face_up_card_but_a_four() -> None:
    position = follow(duel("4a 1a", nine("b").replace("4b ", ""), up="4b 0a *a 2a 7a"), "1:4")
    assert (field(position, "phase"), can(position)) == ("copy", "0 2 7 *")


def test_d10_with_only_fours_face_up_there_is_nothing_to_copy() -> None:
    # The blue 4 copied a trump that has been buried since, so a 4 may follow a 4.
    position = follow(duel("4a 1a", "3b", up="4b", power="*", demand="trumped"), "1:4")
    assert faced(position) == ("play", "2", "4", "plain")


@pytest.mark.parametrize(
    ("copied", "phase", "choices"),
    [
        ("0", "kill", "0 1 2 3 5 6 7 * 4b"),
        ("1", "draw", "3b"),
        ("2", "take", "0 1 2 3 5 6 7 * 4b"),
        ("3", "target", "2"),
        ("6", "target", "2"),
        ("7", "target", "2"),
    ],
)
def test_d10_a_copied_ability_acts_as_its_card_would_but_never_on_the_four(
    copied: str, phase: str, choices: str
) -> None:
    tower = "4b 0a 1a 2a 3a 5a 6a 7a *a"
    position = duel("4a", "0b 1b 2b 5b 6b 7b *b", up=tower, buried="3b", demand="trumped")
    position = follow(position, f"1:4 1:{copied}")
    assert (field(position, "phase"), field(position, "power")) == (phase, "4")
    assert " ".join([*position.decisions(), *position.outcomes()]) == choices


def test_d10_a_copied_card_or_another_four_may_itself_be_buried_or_taken() -> None:
    before = duel("4a", "3b", up="4b 0a 2a 7a")
    position = follow(before, "1:4 1:0 1:0")
    assert (field(position, "up"), faced(position)) == ("2a,4a,4b,7a", ("play", "2", "4", "plain"))
    position = follow(before, "1:4 1:2 1:4b")
    assert (field(position, "1"), faced(position)) == ("4b", ("play", "2", "4", "plain"))


def test_d10_copying_change_stance_puts_it_in_force() -> None:
    position = follow(duel("4a", "3b 6b", up="5a 7a"), "1:4 1:5")
    assert faced(position) == ("play", "2", "4", "stance")
    assert can(position) == "6"


def test_d10_copying_the_trump_makes_the_power_eight_and_bars_nought() -> None:
    for gone in POWERS:
        position = follow(duel("4a", eight("b", gone), up="*a 7a"), "1:4 1:*")
        assert faced(position) == ("play", "2", "*", "trumped")
        assert can(position) == but("1234567*", gone)


def test_d10_copying_a_feint_plays_a_card_on_top_of_the_four() -> None:
    position = follow(duel("4a 1a", "6b 2b", up="3a 7a"), "1:4 1:3 target:2 feint:6b")
    assert (field(position, "top"), faced(position)) == ("6b", ("play", "2", "6", "plain"))


def test_d10_copying_disarm_and_backstab_leaves_the_power_at_four() -> None:
    before = duel("4a", "6b 2b", up="6a 7a")
    position = follow(before, "1:4 1:6 target:2 disarm:6b")
    assert faced(position) == ("play", "2", "4", "plain")
    position = follow(before, "1:4 1:7 target:2 2:6")
    assert (field(position, "1"), faced(position)) == ("6b", ("play", "2", "4", "plain"))


def test_d10_a_card_whose_ability_has_nothing_to_act_on_may_be_copied() -> None:
    position = follow(begin(first=1), f"{NOTHING_BURIED} 2:* 1:* 2:4")
    assert (can(position), field(position, "buried")) == ("1 * 2", "-")
    copied = follow(position, "2:1")
    assert faced(copied) == ("play", "1", "4", "plain")
    assert field(copied, "2") == field(position, "2") == "0b,1b,3b,5b,6b,*b"


# D11: 5


def test_d11_change_stance_binds_the_next_card_only() -> None:
    before = duel("5a 2a 3a", "6b 7b 0b", up="*b")
    position = follow(before, "1:5")
    assert can(position) == "6 7"
    assert faced(follow(position, "2:6 target:1 disarm:2a")) == ("play", "1", "6", "plain")
    assert faced(follow(position, "2:7 target:1 1:2")) == ("play", "1", "7", "plain")


@pytest.mark.parametrize(
    ("hands", "out", "to"),
    [
        (("5a", "4b 0b", "*c 0c"), "0,1,0", "3"),
        (("5a", "4b 0b", "2c", "7d 0d"), "0,1,2,0", "4"),
    ],
)
def test_d11_change_stance_stays_in_force_over_players_who_are_out(hands: tuple[str, ...], out: str, to: str) -> None:
    position = follow(duel(*hands, up="*a"), "1:5")
    assert (field(position, "out"), faced(position)) == (out, ("play", to, "5", "stance"))
    assert len(position.decisions()) == 1


def test_d11_a_trump_answers_change_stance_and_then_counts_eight() -> None:
    position = follow(duel("5a 0a 3a", "*b", up="7b"), "1:5 2:*")
    assert (faced(position), can(position)) == (("play", "1", "*", "trumped"), "3")


# D12 to D14: 6, 7 and whom they act on


@pytest.mark.parametrize("players", [2, 3, 4])
def test_d12_disarm_buries_a_random_card_of_one_opponent(players: int) -> None:
    position = duel("6a", "1b 4b *b", *["2c 5c", "2d"][: players - 2], up="7a", buried="0a")
    position = follow(position, "1:6 target:2" if players == 2 else "1:6 1:2")
    assert position.outcomes() == even("1b 4b *b")
    position = follow(position, "disarm:*b")
    assert field(position, "2") == "1b,4b"
    assert "*b" in field(position, "buried")
    assert faced(position) == ("play", "2", "6", "plain")


@pytest.mark.parametrize(
    ("hands", "asks", "giver"),
    [
        (("7a", "0b 6b *b"), "1:7 target:2", "2"),
        (("7a", "2b", "0b 6b *b"), "1:7 1:3", "3"),
        (("7a", "2b", "3c", "0b 6b *b"), "1:7 1:4", "4"),
    ],
)
def test_d13_the_opponent_chooses_any_card_to_give(hands: tuple[str, ...], asks: str, giver: str) -> None:
    position = follow(duel(*hands, up="*a"), asks)
    assert (position.to_act, can(position)) == (int(giver) - 1, "0 6 *")
    position = follow(position, f"{giver}:*")
    assert (field(position, "1"), field(position, giver)) == ("*b", "0b,6b")
    assert faced(position) == ("play", "2", "7", "plain")


@pytest.mark.parametrize("card", ["3", "6", "7"])
def test_d14_the_player_chooses_among_opponents_still_in_who_hold_a_card(card: str) -> None:
    assert can(follow(duel(f"{card}a", "1b", "1c", "1d", up="*a"), f"1:{card}")) == "2 3 4"
    assert can(follow(duel(f"{card}a", "1b", "", "1d", up="*a"), f"1:{card}")) == "2 4"
    out = duel(f"{card}a", "1b", "1c", "1d", up="*a", playing="124", out="0,0,1,0")
    assert can(follow(out, f"1:{card}")) == "2 4"
    assert can(follow(duel("1a", "1b", f"{card}c", up="*a", to="3"), f"3:{card}")) == "1 2"


@pytest.mark.parametrize("card", ["3", "6", "7"])
def test_d14_a_copied_ability_asks_for_its_target_too(card: str) -> None:
    position = follow(duel("4a", "1b 2b", "1c 2c", up=f"{card}b *b"), f"1:4 1:{card}")
    assert (field(position, "phase"), can(position)) == ("target", "2 3")


def test_d14_an_ability_acts_on_the_chosen_player_and_nobody_else() -> None:
    before = duel("6a 7a", "1b 2b", "1c 2c", "1d 2d", up="*a")
    disarmed = follow(before, "1:6 1:3 disarm:2c")
    assert [field(disarmed, seat) for seat in "1234"] == ["7a", "1b,2b", "1c", "1d,2d"]
    given = follow(before, "1:7 1:4 4:2")
    assert [field(given, seat) for seat in "1234"] == ["2d,6a", "1b,2b", "1c,2c", "1d"]
