"""Duel: how decisions, options and positions are written, and the reason given for each refusal (G7, D22)."""

from __future__ import annotations

import re

import pytest

import piste
from piste import Position
from piste.core.errors import (
    AmbiguousDecisionError,
    DealError,
    IllegalDecisionError,
    OptionError,
    PositionError,
    UnreadableDecisionError,
)
from tests.games.rules.test_mccoy_duel import GAME, begin, duel, eight, field, follow, nine, wander

# Typed decisions


@pytest.mark.parametrize(
    ("word", "card"),
    [
        ("5", "5a"),
        ("5a", "5a"),
        ("5 A", "5a"),
        (" 5A ", "5a"),
        ("Change Stance", "5a"),
        ("changestancea", "5a"),
        ("*", "*a"),
        ("*a", "*a"),
        ("dodge", "*a"),
        ("Trump", "*a"),
        ("the killing blow", "0a"),
    ],
)
def test_g7_a_card_may_be_written_by_power_by_colour_or_by_name(word: str, card: str) -> None:
    assert field(duel("0a 5a *a", "7b", up="6b").after(word), "top") == card


def test_d22_who_holds_two_cards_of_one_power_says_which_is_played() -> None:
    position = duel("5a 5b 0a", "6b", up="6a")
    assert list(position.decisions()) == ["0", "5a", "5b"]
    assert field(position.after("5a"), "1") == "0a,5b"
    assert field(position.after("5b"), "1") == "0a,5a"
    assert field(position.after("Change Stance B"), "top") == "5b"


def test_d22_who_holds_two_cards_of_one_power_says_which_is_given() -> None:
    position = follow(duel("7a", "4a 4b 2b", up="*a"), "1:7 target:2")
    assert list(position.decisions()) == ["4a", "2", "4b"]
    assert field(position.after("4a"), "1") == "4a"


def test_d22_with_two_cards_of_one_power_face_up_it_is_said_which_is_taken() -> None:
    position = follow(duel("2a", "1b", up="4a 4b 6b"), "1:2")
    assert list(position.decisions()) == ["4a", "4b", "6"]
    assert field(position.after("4b"), "1") == "4b"


@pytest.mark.parametrize("word", ["5", "Change Stance"])
@pytest.mark.parametrize("others", [("6b",), ("6b", "7c"), ("6b", "7c", "7d")])
def test_d22_a_power_that_two_cards_in_hand_have_is_refused_as_ambiguous(word: str, others: tuple[str, ...]) -> None:
    position = duel("5a 5b 0a", *others, up="6a")
    with pytest.raises(AmbiguousDecisionError, match=rf"'{word}' could be 5a or 5b"):
        position.after(word)


@pytest.mark.parametrize("word", ["dodge", "trump", "*"])
def test_d22_trump_is_refused_as_ambiguous_by_who_holds_two(word: str) -> None:
    position = duel("*a *b", "6b", "7c", up="6a")
    assert field(position.after("dodge b"), "top") == "*b"
    with pytest.raises(AmbiguousDecisionError, match=r"could be \*a or \*b"):
        position.after(word)


@pytest.mark.parametrize(
    ("given", "written"),
    [("blue", "bacd"), ("ba", "bacd"), ("dun, Crimson", "dcab"), ("amber", "abcd"), ("c", "cabd")],
)
def test_d22_colours_are_chosen_by_name_or_letter(given: str, written: str) -> None:
    game = piste.find(GAME)
    assert game.option_texts(game.options({"colours": given}))["colours"] == written


@pytest.mark.parametrize("given", ["blue,blue", "red", "blue,", "abcda"])
def test_d22_colours_that_cannot_be_are_refused(given: str) -> None:
    with pytest.raises(OptionError, match="colour"):
        piste.find(GAME).options({"colours": given})


def test_d22_colours_follow_the_seats_unless_chosen_and_change_nothing_in_play() -> None:
    assert [field(begin(4, first=1), seat)[:2] for seat in "1234"] == ["0a", "0b", "0c", "0d"]
    assert [field(begin(4, first=1, colours="dbca"), seat)[:2] for seat in "1234"] == ["0d", "0b", "0c", "0a"]
    histories = []
    for colours in ("ab", "dc"):
        table = piste.open_table(GAME, {"rounds": 1, "colours": colours}, seed="colours")
        while (seat := table.to_act) is not None:
            table.decide(seat, table.view(seat).actions[-1])
        histories.append((table.history(), table.ending()))
    assert histories[0] == histories[1]


@pytest.mark.parametrize(
    ("position", "word", "reason"),
    [
        (duel("5a 2a", "7b", up="3b"), "5", "You cannot play 5: the power to beat is 3. You can choose 2."),
        (duel("5a 2a", "7b", up="3b"), "1", "You cannot play 1: it is not in your hand. You can choose 2."),
        (duel("2a 7a", "7b", up="5b"), "2", "You cannot play 2: the next card must be greater than 5."),
        (duel("0a 7a", "7b", up="*b"), "0", "You cannot play 0: a 0 may not follow the trump."),
        (follow(duel("0a", "7b", up="3b 1b"), "1:0"), "0", "You cannot bury 0: it is the card just played."),
        (follow(duel("2a", "7b", up="1b 3b"), "1:2"), "6", "You cannot take 6: it does not lie face up."),
        (follow(duel("4a", "7b", up="4b 1b 5b 6b"), "1:4"), "4b", "You cannot copy 4b: a 4 cannot be copied."),
        (follow(duel("4a", "7b", up="1b 5b 6b"), "1:4"), "4", "You cannot copy 4: it is the card just played."),
        (follow(duel("7a", "1b 2b", up="*b"), "1:7 target:2"), "3", "You cannot give 3: it is not in your hand."),
        (follow(duel("7a", "1b", "", "2d", up="*b"), "1:7"), "3", "You cannot choose Player 3 here."),
        (follow(duel("7a", "1b", "2c", up="*b"), "1:7"), "1", "You cannot choose Player 1 here."),
    ],
)
def test_g7_a_decision_that_is_not_open_is_refused_with_its_reason(
    position: Position, word: str, reason: str
) -> None:
    with pytest.raises(IllegalDecisionError, match=re.escape(reason)):
        position.after(word)


@pytest.mark.parametrize(
    ("position", "word", "reason"),
    [
        (duel("7a", "5b 2b", up="3a", to="2"), "5", "the power to beat is 3"),
        (duel("7a", "2b 7b", up="5a", to="2"), "2", "the next card must be greater than 5"),
        (duel("5b 2a", "7b", up="3b"), "5", "the power to beat is 3"),
        (duel("5a 5b 2a", "7b", up="3b"), "5", "the power to beat is 3"),
        (follow(duel("7a", "0b", up="3a 1a", to="2"), "2:0"), "0", "it is the card just played"),
    ],
)
def test_g7_the_reason_is_true_of_the_cards_in_hand_whatever_their_colour(
    position: Position, word: str, reason: str
) -> None:
    with pytest.raises(IllegalDecisionError, match=reason):
        position.after(word)


@pytest.mark.parametrize("word", ["", "x", "X", "8", "pass", "-1", "55", "5e"])
def test_g7_d1_a_word_that_is_no_card_of_the_game_is_refused_with_what_can_be_chosen(word: str) -> None:
    with pytest.raises(UnreadableDecisionError, match=r"is not a decision here\. You can choose 2 or 5"):
        duel("5a 2a", "7b", up="6b").after(word)


def test_g7_a_refused_decision_costs_nothing_at_the_table() -> None:
    table = piste.open_table(GAME, {"first": 1}, seed="again", laid="5 5")
    before = table.view(0)
    with pytest.raises(IllegalDecisionError, match="not in your hand"):
        table.decide(0, "5")
    with pytest.raises(IllegalDecisionError, match="it is for Player 1"):
        table.decide(1, "6")
    assert table.view(0) == before


# Options and laid cards


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"players": 5}, "from 2 to 4"),
        ({"players": 1}, "from 2 to 4"),
        ({"rounds": 4}, "odd number of rounds, not of 4"),
        ({"rounds": 11}, "from 1 to 9"),
        ({"first": 3}, "Player 3 cannot lead: there are 2 players"),
        ({"powers": "5"}, "at least two cards"),
        ({"powers": "55"}, "each once"),
        ({"powers": "78"}, "each once"),
        ({"colours": "aa"}, "letter of each seat's colour"),
        ({"colours": "ax"}, "letter of each seat's colour"),
    ],
)
def test_d16_options_that_cannot_be_played_are_refused(options: dict[str, int | str], reason: str) -> None:
    with pytest.raises(OptionError, match=reason):
        Position.start(GAME, options)


def test_g8_laid_cards_are_buried_in_the_first_round_and_a_wrong_one_is_refused() -> None:
    table = piste.open_table(GAME, {"players": 3, "first": 2}, seed="x", laid="* 0b 7")
    assert " buried=0b,7c,*a " in table.position_text()
    for laid, reason in [
        ("1 2 3 4", "names 4 buried cards"),
        ("1 8", "'8' is not a card"),
        ("1 2a", "Player 2's colour"),
    ]:
        with pytest.raises(DealError, match=reason):
            piste.open_table(GAME, {"players": 3}, laid=laid)


# Positions

PLAIN = duel("0a 7a", "7b 1b", "1c", up="6a 3a")
FIRST_ROUND = "phase=play to=1 in=123 match=123 out=0,0,0 wins=0,0,0"
LATER_PICK = "phase=pick to=2 in=123 match=123 out=0,1,2 wins=1,0,0"
ROUND_OVER = "phase=next to=1 in=1 match=123 out=0,1,2"


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("1=0a,7a", "1=0a,1c,7a", "The card 1c is in two places"),
        ("1=0a,7a", "1=0a,0a,7a", "In the field '1', a card is there twice"),
        ("1=0a,7a", "1=0a", "The card 7a is missing"),
        ("1=0a,7a", "1=0a,7x", "'7x' is not a card of this game"),
        ("power=3", "power=6", "The power to beat and the demand do not fit the top card"),
        ("demand=plain", "demand=stance", "The power to beat and the demand do not fit the top card"),
        ("top=3a", "top=7b", "The top card of the tower does not lie face up"),
        ("top=3a", "top=-", "A tower without a top card is empty"),
        ("to=1", "to=3 target=2", "Nothing acts on a player here"),
        ("to=1", "to=-", "Somebody has to be named in the field 'to'"),
        ("to=1", "to=4", "it is one of -, 1, 2, 3"),
        ("in=123 match=123 out=0,0,0", "in=23 match=123 out=1,0,0", "Player 1 is out of the round"),
        ("in=123 match=123 out=0,0,0", "in=23 match=23 out=1,0,0", "Player 1 has left the match"),
        ("in=123 match=123 out=0,0,0", "in=1 match=123 out=0,1,2", "One player is left in the round: it is over"),
        ("match=123", "match=12", "A player who has left the match is still in the round"),
        ("in=123 match=123", "in=1 match=1", "A match goes on while at least two players are in it"),
        ("out=0,0,0", "out=0,0,2", "numbers the players who lost the round 1, 2 and so on"),
        ("out=0,0,0", "out=0,0", "a number from 0 to 4 for each of 3 players"),
        ("wins=0,0,0", "wins=0,3,0", "3 rounds win the match: it is over"),
        ("phase=play", "phase=kill", "The card just played does not have the ability of 0"),
        ("phase=play", "phase=target ability=6", "The card just played does not have the ability of 6"),
        ("phase=play", "phase=target", "An ability is named where it asks for a target"),
        ("phase=play", "phase=feint target=1", "The ability acts on an opponent who is in the round"),
        ("phase=play", "phase=next", "A round is over when one player is left in it"),
        ("phase=play", "phase=pick", "picked after the bury only when a round has been played"),
        (FIRST_ROUND, LATER_PICK, "Who goes first is picked before the first play"),
        (FIRST_ROUND, f"{ROUND_OVER} wins=0,0,0", "one player is left in it, who has won it"),
        (FIRST_ROUND, f"{ROUND_OVER} wins=0,1,0", "one player is left in it, who has won it"),
        ("phase=play", "phase=reveal", "Before the bury no cards are in play"),
        ("phase=play", "phase=bury", "Players bury one card each, in the order of their seats"),
        ("phase=play", "phase=over", "The field 'reason' is missing"),
        ("phase=play", "phase=nap", "cannot be 'nap'"),
        ("wins=0,0,0", "wins=0,0,0 moon=full", "'moon' does not belong here"),
    ],
)
def test_g7_a_position_that_breaks_the_rules_is_refused_with_the_reason(old: str, new: str, reason: str) -> None:
    text = str(PLAIN)
    assert old in text
    with pytest.raises(PositionError, match=re.escape(reason)):
        Position.parse(text.replace(old, new))


def test_g7_the_end_of_a_round_that_its_last_player_has_won_is_read() -> None:
    won = f"{ROUND_OVER} wins=1,0,0"  # the same line with the win is a position, so only the win was missing
    assert won in str(Position.parse(str(PLAIN).replace(FIRST_ROUND, won)))


@pytest.mark.parametrize("hands", [(nine("a"), "1b"), ("7a 2a", f"{eight('b', '6')} 0a"), ("7a 2a", "1b", nine("c"))])
def test_d18_a_hand_of_nine_cards_in_play_is_refused(hands: tuple[str, ...]) -> None:
    with pytest.raises(PositionError, match=r"The hand of Player \d has 9 cards, but at most 8 are possible"):
        duel(*hands, up="6b")


def test_d3_a_lead_with_nothing_buried_is_refused() -> None:
    with pytest.raises(PositionError, match="The hand of Player 1 has 9 cards"):
        duel(nine("a"), nine("b"))
    with pytest.raises(PositionError, match="The hand of Player 2 has 9 cards"):
        duel(eight("a", "3"), nine("b"))


@pytest.mark.parametrize(
    ("one", "two", "player"),
    [
        (eight("a", "3"), "0b 1b 2b 3b 4b 5b 6b", 2),  # two cards of one colour are buried
        (eight("a", "3"), "0b", 2),
        (f"{eight('a', '3')[:-3]} 5b", eight("b", "5"), 1),  # no card has changed hands yet
    ],
)
@pytest.mark.parametrize("phase", [{"phase": "play"}, {"phase": "pick", "out": "1,0", "wins": "0,1"}])
def test_d3_before_the_first_play_one_card_of_each_colour_is_buried(
    one: str, two: str, player: int, phase: dict[str, str]
) -> None:
    with pytest.raises(
        PositionError, match=f"Before the first play Player {player} has all cards of their colour but"
    ):
        duel(one, two, **phase)
    assert duel(eight("a", "3"), eight("b", "5"), **phase).to_act == 0


def test_d2_a_reveal_where_the_options_name_the_leader_is_refused() -> None:
    text = str(begin())
    assert "phase=reveal" in text
    with pytest.raises(PositionError, match="only with first=reveal"):
        Position.parse(text.replace(GAME, f"{GAME}{{first=1}}"))


def test_d4_a_bury_of_the_first_round_that_names_no_leader_is_refused() -> None:
    text = str(begin(first=1))
    assert "phase=bury to=1" in text
    with pytest.raises(PositionError, match="Players bury one card each"):
        Position.parse(text.replace("to=1", "to=-"))


def test_d15_a_position_whose_player_cannot_play_is_refused() -> None:
    with pytest.raises(PositionError, match=r"Player 1 has no playable card and is out of the round \(D15\)"):
        duel("7a", "1b", up="3b")


def test_d6_a_position_whose_ability_has_nothing_to_act_on_is_refused() -> None:
    with pytest.raises(PositionError, match=r"nothing to act on, so the turn is over \(D6\)"):
        duel("7a", "1b", up="2b", phase="take")


def test_d15_a_player_cannot_be_in_the_round_and_put_out_of_it() -> None:
    with pytest.raises(PositionError):
        duel("0a 7a", "7b 1b", "1c", up="6a 3a", out="1,0,0")


def test_d15_a_player_of_the_match_who_is_not_in_the_round_was_put_out_of_it() -> None:
    with pytest.raises(PositionError):
        duel("0a 7a", "7b 1b", "1c", up="6a 3a", playing="12")


@pytest.mark.parametrize("players", [2, 3, 4])
def test_g8_each_position_of_a_game_reads_back_the_same(players: int) -> None:
    for seed, powers in enumerate(["01234567*", "3*", "024*"]):
        for position in wander(begin(players, powers=powers, rounds=3, colours="dcba"), seed, leaving=0.02):
            assert Position.parse(str(position)) == position
