"""Positive-Negative as it is read: the sheet's sample word for word, what others are told, and how games end."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import pytest

import piste
from piste.core.presentation import EventContext, GameText, Pause, Row
from piste.games.positive_negative import text as words
from tests.games.text.transcript import printed

# Typed, so that mypy holds the module to the contract.
WORDS: GameText = words
NAMES = ("Player 1", "Player 2")
ONE, TWO, SPECTATOR = 0, 1, piste.SPECTATOR
BOTH = (ONE, TWO)
DECK = "5 -3 7 -2 10 -5 4 -6 8 -1 6 -9 3 -7 2 -8 9 -4 1 -10"
QUESTION = "Do you want to keep this card? (yes/no)"


def laid(cards: str, top: int = 10) -> piste.Table:
    return piste.open_table("positive-negative", {"top": top}, laid=cards, seed="the rest of the deck")


def told(table: piste.Table, audience: int) -> list[str]:
    """Return what one audience reads of all events so far."""
    view = table.view(audience)
    return [
        line
        for at in range(len(view.log))
        for line in WORDS.lines(EventContext(audience, NAMES, view.opening, view.log[: at + 1]))
    ]


def screen(
    table: piste.Table,
    answers: Sequence[str] = (),
    people: Collection[int] = BOTH,
    names: tuple[str, ...] = NAMES,
    at_the_end: int = SPECTATOR,
) -> list[str]:
    return printed(WORDS, table, answers, people, names, at_the_end)


# The sheet's sample, from the third turn of its example on, without the line that is ours.
SAMPLE = """\
[Player 1's Turn]
It's your turn. Your current score is 5.
You have drawn: -2
Do you want to keep this card? (yes/no)
no
You discarded -2.
You must draw the next card.
You have drawn: 10
You must add this card to your score.
Your new score is 15.

[Player 2's Turn]
It's your turn. Your current score is 7.
You have drawn: -5
Do you want to keep this card? (yes/no)
no
You discarded -5.
You must draw the next card.
You have drawn: 4
You must add this card to your score.
Your new score is 11.
""".splitlines()


# The sheet's sample


def test_g8_sample_of_the_sheet_comes_out_word_for_word() -> None:
    shown = screen(laid(DECK), ["yes", "no", "no", "no"])
    first = shown.index("[Player 1's Turn]", 1)
    turns = shown[first : first + len(SAMPLE) + 2]
    # The score of the other is the one line that the sheet does not have; it stands after the own score.
    assert [turns.pop(2), turns.pop(13)] == ["Player 2's score is 7.", "Player 1's score is 15."]
    assert turns == SAMPLE


def test_g8_first_two_turns_lead_to_the_scores_of_the_sample() -> None:
    assert screen(laid(DECK), ["yes", "no"])[:17] == [
        "[Player 1's Turn]",  # nothing before it: the sheet has no welcome
        "It's your turn. Your current score is 0.",
        "Player 2's score is 0.",
        "You have drawn: 5",
        QUESTION,
        "yes",
        "Your new score is 5.",  # only this line after a card that was kept
        "",
        "[Player 2's Turn]",
        "It's your turn. Your current score is 0.",
        "Player 1's score is 5.",
        "You have drawn: -3",
        QUESTION,
        "no",
        "You discarded -3.",
        "You must draw the next card.",
        "You have drawn: 7",
    ]


def test_g6_answer_has_a_line_of_its_own_and_nothing_else_is_asked() -> None:
    prompt = WORDS.ask(laid(DECK).view(ONE), NAMES)
    assert prompt.text == f"{QUESTION}\n"
    shown = screen(laid(DECK), ["no"] * 10)
    assert not any(isinstance(line, Pause) for line in shown)
    assert not WORDS.HAND_OVER


@pytest.mark.parametrize(("answer", "score"), [("yes", 5), ("y", 5), ("Y", 5), ("no", -3), ("n", -3), ("NO", -3)])
def test_g7_answers_of_the_sheet_are_read_in_any_case(answer: str, score: int) -> None:
    assert f"Your new score is {score}." in screen(laid(DECK), [answer])


def test_p4_negative_card_that_is_kept_lowers_the_score() -> None:
    shown = screen(laid("-3 1 -10 2"), ["yes", "yes", "yes"])
    assert [line for line in shown if "new score" in line] == [
        "Your new score is -3.",
        "Your new score is 1.",
        "Your new score is -13.",
    ]
    assert "It's your turn. Your current score is -3." in shown


# Ends


def test_p1_last_card_discarded_is_followed_by_the_end() -> None:
    shown = screen(laid("-2 3 1 -3 2 -1", top=3), ["no", "yes", "no", "no"])
    assert shown[-10:] == [
        "You have drawn: -1",
        QUESTION,
        "no",
        "You discarded -1.",
        "",
        "[End of Game]",
        "The deck is empty. Final scores are:",
        "Player 1: 5",
        "Player 2: 1",
        "Player 1 wins!",
    ]
    # Only the two discards before it were followed by a draw.
    assert shown.count("You must draw the next card.") == 2


def test_p3_equal_scores_are_a_draw_with_both_scores() -> None:
    shown = screen(laid("-1 1 2 -2", top=2), ["yes", "yes", "yes", "no"])
    assert shown[-4:] == ["The deck is empty. Final scores are:", "Player 1: 1", "Player 2: 1", "It's a draw!"]


def test_p3_higher_of_two_negative_scores_wins() -> None:
    shown = screen(laid("1 -2 2 -1", top=2), ["no", "no"])
    assert shown[-4:] == ["The deck is empty. Final scores are:", "Player 1: -2", "Player 2: -1", "Player 2 wins!"]


def test_p5_end_is_the_same_for_every_audience_and_said_once() -> None:
    end = [
        "",
        "[End of Game]",
        "The deck is empty. Final scores are:",
        "Player 1: 5",
        "Player 2: 1",
        "Player 1 wins!",
    ]
    for people in (BOTH, (ONE,), (TWO,), ()):
        for reader in (ONE, TWO, SPECTATOR):
            table = laid("-2 3 1 -3 2 -1", top=3)
            shown = screen(table, ["no", "yes", "no", "no"], people=people, at_the_end=reader)
            assert shown[-6:] == end
            assert sum("wins" in line or "The deck" in line for line in shown) == 2


def test_g9_resignation_says_who_wins_and_shows_the_card_in_question_and_the_deck() -> None:
    shown = screen(laid("-2 3 1 -3 2 -1", top=3), ["no", "resign"])
    assert shown[-6:] == [
        QUESTION,
        "resign",
        "",
        "Player 2 resigned. Player 1 wins!",
        "Player 2 had drawn: 1",
        "Undrawn cards: -3, -1, 2",
    ]
    assert sum("resigned" in line for line in shown) == sum("wins" in line for line in shown) == 1


def test_g3_player_may_resign_while_the_other_is_asked() -> None:
    table = laid("-2 3 1 -3 2 -1", top=3)
    for decision in ("discard", "keep", "discard"):
        table.decide(table.to_act or 0, decision)
    table.resign(ONE)
    ending = table.ending()
    assert ending is not None
    for reader in (ONE, TWO, SPECTATOR):
        assert WORDS.farewell(table.view(reader), NAMES, ending) == [
            "",
            "Player 1 resigned. Player 2 wins!",
            "Player 2 had drawn: -1",
            "Undrawn cards: none",
        ]


# What the others are told


def test_p2_turn_of_the_other_is_told_in_third_person_and_the_card_only_once_public() -> None:
    shown = screen(laid(DECK), ["yes", "no", "no", "yes"], people=[ONE])
    at = shown.index("Player 2 drew a card.")
    assert shown[at - 1 : at + 5] == [
        "Your new score is 5.",
        "Player 2 drew a card.",
        "Player 2 discarded -3.",
        "Player 2 drew 7. Score: 7.",
        "",
        "[Player 1's Turn]",
    ]
    assert "Player 2 kept -5. Score: 2." in shown


def test_p2_watcher_is_told_everything_in_third_person() -> None:
    assert screen(laid(DECK), ["yes", "no"], people=()) == [
        "Player 1 drew a card.",
        "Player 1 kept 5. Score: 5.",
        "Player 2 drew a card.",
        "Player 2 discarded -3.",
        "Player 2 drew 7. Score: 7.",
        "Player 1 drew a card.",
    ]


@pytest.mark.parametrize(
    ("before", "cards", "others"),
    [((), "5", "6"), (("keep",), "5 -3", "5 6"), (("discard",), "5 -3 7", "5 -3 6")],
    ids=["first turn", "after a keep", "after a discard"],
)
def test_p2_lines_for_the_others_are_the_same_whatever_the_private_card_is(
    before: tuple[str, ...], cards: str, others: str
) -> None:
    # The last card of each list is the one being looked at; the two worlds differ in nothing else.
    one, other = laid(cards), laid(others)
    for decision in before:
        one.decide(ONE, decision)
        other.decide(ONE, decision)
    mine = len(before)
    assert one.to_act == other.to_act == mine
    for onlooker in (1 - mine, SPECTATOR):
        assert told(one, onlooker) == told(other, onlooker)
        assert WORDS.picture(one.view(onlooker), NAMES) == WORDS.picture(other.view(onlooker), NAMES)
    assert told(one, mine) != told(other, mine)
    assert WORDS.picture(one.view(mine), NAMES) != WORDS.picture(other.view(mine), NAMES)


# Names and pictures


def test_names_of_people_stand_where_the_sheet_says_player() -> None:
    names = ("Ann", "Bo")
    shown = screen(laid("-2 3 1 -3 2 -1", top=3), ["no", "yes", "no", "no"], names=names)
    assert shown[:3] == ["[Ann's Turn]", "It's your turn. Your current score is 0.", "Bo's score is 0."]
    assert shown[-3:] == ["Ann: 5", "Bo: 1", "Ann wins!"]
    left = screen(laid(DECK), ["yes", "no", "no", "resign"], people=[ONE], names=names)
    assert left[-3:-1] == ["Bo resigned. Ann wins!", "Bo had drawn: -5"]
    assert "Bo discarded -3." in left
    assert not any("Player" in line for line in shown + left)


def test_p5_picture_shows_scores_kept_cards_pile_and_deck_to_all() -> None:
    table = laid(DECK)
    screen(table, ["yes", "no"])
    common = [Row("Pile", ("-3",), "1 card"), Row("Deck", (), "16 cards"), Row("Turn", ("Player 1",))]
    assert WORDS.picture(table.view(ONE), NAMES) == [
        Row("Player 1 (you)", ("5",), "score 5"),
        Row("Player 2", ("7",), "score 7"),
        Row("Card drawn", ("-2",)),
        *common,
    ]
    assert WORDS.picture(table.view(TWO), NAMES) == [
        Row("Player 1", ("5",), "score 5"),
        Row("Player 2 (you)", ("7",), "score 7"),
        *common,
    ]


def test_g9_picture_after_a_resignation_hides_nothing() -> None:
    table = laid("-2 3 1 -3 2 -1", top=3)
    screen(table, ["no", "resign"])
    assert WORDS.picture(table.view(), NAMES) == [
        Row("Player 1", ("3",), "score 3"),
        Row("Player 2", (), "score 0"),
        Row("Card drawn", ("1",)),
        Row("Pile", ("-2",), "1 card"),
        Row("Deck", ("-3", "-1", "2"), "3 cards"),
    ]


def test_three_tips_fit_a_narrow_screen() -> None:
    assert len(WORDS.TIPS) == 3
    assert max(map(len, WORDS.TIPS)) <= 60
