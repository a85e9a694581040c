"""Zero Sum Duel in words: what a player may type, and why something is refused."""

from __future__ import annotations

import re

import pytest

import piste
from piste.core.errors import (
    DealError,
    IllegalDecisionError,
    PositionError,
    StaleDecisionError,
    UnreadableDecisionError,
)

NAME = "zero-sum-duel"
A, B = 0, 1


def four() -> piste.Table:
    """Return a table at which A holds +1, +3, -2 and -5 and has to discard one."""
    return piste.open_table(NAME, {"first": "a"}, laid="+1 -1 +3 +2 -2 -4 -5")


@pytest.mark.parametrize(
    ("typed", "card"),
    [("+3", "+3"), ("3", "+3"), (" + 3 ", "+3"), ("-2", "-2"), ("−2", "-2"), ("–2", "-2"), ("- 5", "-5")],
)
def test_g7_card_may_be_typed_with_or_without_plus_and_with_any_minus(typed: str, card: str) -> None:
    table = four()
    table.decide(A, typed)
    event = table.view(B).log[7].event
    assert piste.find(NAME).notation.name(table.options, event.kind, event.what) == card


def test_g7_plain_number_never_means_the_negative_card() -> None:
    # 2 and 5 are cards of the game, but A holds only -2 and -5.
    for typed, card in (("2", "+2"), ("5", "+5"), ("-3", "-3")):
        with pytest.raises(IllegalDecisionError) as refused:
            four().decide(A, typed)
        assert str(refused.value) == (
            f"You cannot discard {card}: it is not in your hand. You can choose -5, -2, +1 or +3."
        )


@pytest.mark.parametrize("typed", ["0", "+6", "--2", "three", "", "+1 +3", "keep", "2.0"])
def test_g7_what_is_no_card_is_refused_with_the_choices(typed: str) -> None:
    with pytest.raises(UnreadableDecisionError) as refused:
        four().decide(A, typed)
    assert str(refused.value) == f"'{typed}' is not a decision here. You can choose -5, -2, +1 or +3."


def test_g7_refused_input_costs_nothing_and_is_asked_again() -> None:
    table = four()
    before = [table.view(seat) for seat in (piste.SPECTATOR, A, B)]
    for seat, typed in ((A, "+2"), (A, "nonsense"), (B, "-1"), (A, 99), (A, -1)):
        with pytest.raises((IllegalDecisionError, UnreadableDecisionError)):
            table.decide(seat, typed)
    with pytest.raises(StaleDecisionError):
        table.decide(A, "+3", at=table.number - 1)
    assert [table.view(seat) for seat in (piste.SPECTATOR, A, B)] == before
    table.decide(A, "+3", at=table.number)
    assert table.to_act == B


@pytest.mark.parametrize("laid", ["+3 -2 -5", "3,-2,-5", "3, −2, −5", " +3  –2 -5 "])
def test_g8_deck_may_be_laid_in_any_of_these_hands(laid: str) -> None:
    table = piste.open_table(NAME, {"first": "a"}, laid=laid)
    draws = [table.view(seat).log[at].event.what for seat, at in ((A, 0), (B, 1), (A, 2))]
    assert draws == [7, 3, 0]


@pytest.mark.parametrize(
    ("laid", "reason"),
    [
        ("+3 0", "'0' is not a card of this game (-5 to +5, without 0)"),
        ("+3 -6", "'-6' is not a card of this game (-5 to +5, without 0)"),
        ("+3 -2 3", "the card +3 is there twice"),
    ],
)
def test_g8_deck_that_cannot_be_laid_is_refused_with_the_reason(laid: str, reason: str) -> None:
    with pytest.raises(DealError) as refused:
        piste.open_table(NAME, laid=laid)
    assert str(refused.value) == f"This deck cannot be laid: {reason}."


def refused(text: str) -> str:
    """Return the sentence with which a position is refused."""
    with pytest.raises(PositionError) as error:
        piste.Position.parse(f"{NAME}{text}")
    return str(error.value)


def test_g7_positions_are_read_as_they_are_written() -> None:
    for text in (
        f"{NAME} A=- B=- pile=- to=A phase=toss turns=0",
        f"{NAME} A=+1 B=+2 pile=- to=A phase=draw turns=2",
        f"{NAME} A=+1,+2,+3,+4 B=-3,-2,-1 pile=- to=A phase=discard turns=6",
        f"{NAME}{{first=b,turns=9}} A=-5,-4,+3 B=-3,-2,-1 pile=+1,+2 to=B phase=draw turns=8",
        f"{NAME} A=-5,+2,+3 B=-2,+4 pile=- to=A phase=over turns=5 winner=A reason=sum-is-zero",
        f"{NAME}{{turns=2}} A=+1 B=+2 pile=- to=B phase=over turns=2 winner=none reason=turn-limit",
        f"{NAME} A=+1,+2,+3,+4 B=-3,-2,-1 pile=- to=A phase=over turns=6 winner=A reason=resigned",
    ):
        assert str(piste.Position.parse(text)) == text


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (" A=+1,+1 B=+2 to=A phase=draw turns=3", "In the field 'A', the card +1 is there twice."),
        (" A=+1 B=+1 to=A phase=draw turns=2", "The card +1 is in two places."),
        (" A=+1 B=+2 pile=+2 to=A phase=draw turns=2", "The card +2 is in two places."),
        (
            " A=+6 to=B phase=draw turns=1",
            "In the field 'A', '+6' is not a card of this game (-5 to +5, without 0).",
        ),
        (
            " A=+1,+2 B=- to=A phase=draw turns=2",
            "The hands differ by more cards than turns allow, or it is the other player's turn.",
        ),
        (" A=+1,+2 B=+3 to=B phase=draw turns=5", "After 5 turns the hands hold 5 cards together, not 3."),
        (" A=+1 to=C phase=draw turns=1", "The field 'to' cannot be 'C': it is one of A, B."),
        (" A=+1 phase=draw turns=1", "The field 'to' is missing."),
        (" A=+1 to=B phase=draw turns=1 card=+3", "The field 'card' does not belong here."),
    ],
)
def test_g7_position_that_breaks_the_rules_is_refused_with_the_reason(text: str, reason: str) -> None:
    assert refused(text) == reason


def test_z4_pile_of_a_wrong_size_is_refused() -> None:
    hands = "A=+1,+4,+5 B=-1,+2,-4"
    assert refused(f" {hands} pile=+3 to=A phase=draw turns=8") == "After 8 turns the pile has 2 cards, not 1."
    assert refused(f" {hands} to=A phase=draw turns=10") == "After 10 turns the pile has 4 cards, not 0."


def test_z6_hand_that_sums_to_zero_before_the_turn_is_refused() -> None:
    text = " A=+1,+2,-3 B=-1,-2,-4 pile=-5 to=B phase=draw turns=7"
    assert refused(text) == "The hand of Player A sums to zero already: the game was over then (Z6)."
    assert refused(" A=+1 B=+3,-3 to=A phase=draw turns=3").endswith("already: the game was over then (Z6).")


def test_z6_four_cards_that_sum_to_zero_are_no_reason_to_refuse() -> None:
    position = piste.Position.parse(f"{NAME} A=+5,-4,+1,-2 B=-1,+2,-5 to=A phase=discard turns=6")
    assert (position.to_act, position.ending()) == (A, None)


def test_z7_hand_of_a_wrong_size_is_refused() -> None:
    many = " A=+1,+2,+3,+4 B=-1,-2,-3 to=A phase=draw turns=7"
    assert refused(many) == "The hand of Player A has 4 cards, but at most 3 are possible here."
    other = " A=+1,+2,+3,+4 B=-1,-2,-3,-4 to=A phase=discard turns=6"
    assert refused(other) == "The hand of Player B has 4 cards, but at most 3 are possible here."
    few = " A=+1,+2,+3 B=-1,-2,-4 to=A phase=discard turns=6"
    assert refused(few) == "Player A has 3 cards: there is nothing to discard."


def test_g1_player_whose_turn_it_cannot_be_is_refused() -> None:
    text = "{first=a} to=B phase=draw turns=0"
    assert refused(text) == "With first=a it cannot be Player B after 0 turns."


def test_g2_position_past_its_turn_limit_is_refused() -> None:
    hands = "A=+1,+2 B=+3,+4"
    assert (
        refused(f"{{turns=4}} {hands} to=A phase=draw turns=4") == "The turn limit of 4 is reached: the game is over."
    )
    assert re.search("from 0 to 4", refused(f"{{turns=4}} {hands} to=A phase=draw turns=5"))


def test_g3_resignation_without_a_winner_is_refused() -> None:
    text = " A=+1,+2,+3,+4 B=-1,-2,-4 to=A phase=over turns=6 winner=none reason=resigned"
    assert refused(text) == "Who resigns loses: there must be a winner."
