"""Zero Sum Duel as it is read: the sheet's sample word for word, what others are told, and how games end."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import pytest

import piste
from piste.core.presentation import EventContext, GameText, Pause, Row
from piste.games.zero_sum_duel import text as words
from tests.games.text.transcript import printed

# Typed, so that mypy holds the module to the contract.
WORDS: GameText = words
NAMES = ("Player A", "Player B")
A, B, SPECTATOR = 0, 1, piste.SPECTATOR
BOTH = (A, B)
PAUSE = "End of turn. Press Enter to continue."

# Six turns without a question, then A, B, A and B are asked; B's four cards on turn 10 sum to zero.
# A: +1 +4 +5, B: -1 +2 -4. With `STALL` every card just drawn is discarded, and turn 11 finds the deck empty.
TEN = "+1 -1 +4 +2 +5 -4 -3 -2 -5 +3"
STALL = ("-3", "-2", "-5", "+3")


def number(card: str) -> int:
    """Return a card's number in the rules, worked out here: -5 is 0, +5 is 9."""
    return int(card) + 5 if int(card) < 0 else int(card) + 4


def laid(cards: str, *, toss: str = "", **options: int | str) -> piste.Table:
    """Open a table where these cards come up, the same one twice if it was shuffled in again."""
    outcomes = ["ab".index(toss)] if toss else []
    chosen = {**({} if toss else {"first": "a"}), **options}
    return piste.open_table("zero-sum-duel", chosen, outcomes=[*outcomes, *map(number, cards.split())])


def told(table: piste.Table, audience: int) -> list[str]:
    """Return what one audience reads of all events so far."""
    view = table.view(audience)
    return [
        line
        for at in range(len(view.log))
        for line in WORDS.lines(EventContext(audience, NAMES, view.opening, view.log[: at + 1]))
    ]


def screen(
    table: piste.Table, answers: Sequence[str] = (), people: Collection[int] = BOTH, names: tuple[str, ...] = NAMES
) -> list[str]:
    return printed(WORDS, table, answers, people, names)


SAMPLE = """\
Welcome to Zero Sum Duel!

Shuffling deck...
Player A will go first.

Player A's Turn:
You draw a card: +3
Your hand: [+3]
Your hand sum: +3
(No action can be taken.)
End of turn. Press Enter to continue.

Player B's Turn:
You draw a card: -2
Your hand: [-2]
Your hand sum: -2
(No action can be taken.)
End of turn. Press Enter to continue.

Player A's Turn:
You draw a card: -5
Your hand: [+3, -5]
Your hand sum: -2
(No action can be taken.)
End of turn. Press Enter to continue.

Player B's Turn:
You draw a card: +4
Your hand: [-2, +4]
Your hand sum: +2
(No action can be taken.)
End of turn. Press Enter to continue.

Player A's Turn:
You draw a card: +2
Your hand: [+3, -5, +2]
Your hand sum: 0
Congratulations! Your hand sums to zero.
Player A wins the game!
""".splitlines()

SHOWN = ["", "Player A's hand: [-5, +2, +3]", "Player B's hand: [-2, +4]", "Undrawn cards: [-4, -3, -1, +1, +5]"]


# The sheet's sample


@pytest.mark.parametrize("toss", ["", "a"], ids=["named", "tossed"])
def test_g8_sample_of_the_sheet_comes_out_word_for_word(toss: str) -> None:
    assert screen(laid("+3 -2 -5 +4 +2", toss=toss)) == SAMPLE + SHOWN


@pytest.mark.parametrize("toss", ["", "b"], ids=["named", "tossed"])
def test_g1_player_who_starts_is_named_once_whether_tossed_or_chosen(toss: str) -> None:
    table = laid("+3 -2 -5 +4 +2", toss="b") if toss else laid("+3 -2 -5 +4 +2", first="b")
    shown = screen(table)
    assert shown[:6] == [*SAMPLE[:3], "Player B will go first.", "", "Player B's Turn:"]
    assert [line for line in shown if "first" in line] == ["Player B will go first."]


def test_g6_end_of_a_turn_is_a_pause_and_the_only_one() -> None:
    table = laid(TEN)
    shown = screen(table, STALL[:3])
    pauses = [line for line in shown if isinstance(line, Pause)]
    assert pauses == [PAUSE] * 9  # six turns without a question, three with one
    assert [line for line in shown if line == PAUSE] == pauses
    assert not any(isinstance(line, Pause) for line in told(table, SPECTATOR))  # nobody waits for a watcher


# Four cards


def test_z1_four_cards_are_shown_then_asked_about_then_the_hand_kept_is_shown() -> None:
    shown = screen(laid(TEN), ["+4"])
    assert shown[shown.index("You draw a card: -3") - 2 :][:10] == [
        "",
        "Player A's Turn:",
        "You draw a card: -3",
        "Your hand: [+1, +4, +5, -3]",
        "Your hand sum: +7",
        "Choose a card to discard: +4",
        "Your hand: [+1, +5, -3]",
        "Your hand sum: +3",
        PAUSE,  # and no word that no action can be taken
        "",
    ]


def test_z7_zero_of_four_cards_is_told_to_discard_first_and_wins_nothing() -> None:
    shown = screen(laid(f"{TEN} -3"), STALL)
    turn = shown[shown.index("You draw a card: +3") :]
    assert turn[:7] == [
        "You draw a card: +3",
        "Your hand: [-1, +2, -4, +3]",
        "Your hand sum: 0",
        "(Discard one card first.)",
        "Choose a card to discard: +3",
        "Your hand: [-1, +2, -4]",
        "Your hand sum: -3",
    ]
    assert shown.count("(Discard one card first.)") == 1  # the other three fours do not sum to zero
    assert not any("zero" in line for line in shown)


@pytest.mark.parametrize(
    ("cards", "answers", "hand"),
    [("+5 -3 -4 +2 +1 -5 -1", ["1"], "[+5, -4, -1]"), ("+3 -2 -3", [], "[+3, -3]")],
    ids=["three kept", "two"],
)
def test_z6_hand_left_at_zero_is_congratulated_after_its_sum(cards: str, answers: list[str], hand: str) -> None:
    shown = screen(laid(cards), answers)
    assert shown[shown.index(f"Your hand: {hand}") :][:5] == [
        f"Your hand: {hand}",
        "Your hand sum: 0",
        "Congratulations! Your hand sums to zero.",
        "Player A wins the game!",
        "",  # no end of the turn, no pause
    ]


def test_z4_reshuffle_is_told_before_the_draw_that_needs_it() -> None:
    table = laid(f"{TEN} +3")
    shown = screen(table, STALL)
    at = shown.index("The deck is empty. Shuffling the pile...")
    assert shown[at - 1 : at + 3] == [
        "Player A's Turn:",
        "The deck is empty. Shuffling the pile...",
        "You draw a card: +3",
        "Your hand: [+1, +4, +5, +3]",
    ]
    assert shown.count("The deck is empty. Shuffling the pile...") == 1
    for audience in (B, SPECTATOR):
        assert told(table, audience)[-2:] == ["The deck is empty. Shuffling the pile...", "Player A draws a card."]


def test_z5_card_that_comes_back_stands_at_the_end_of_the_hand() -> None:
    table = laid(f"{TEN} +1")
    shown = screen(table, ["+1", "-2", "-5", "+3"])
    assert "Your hand: [+4, +5, -3, +1]" in shown
    assert [key.key for key in WORDS.ask(table.view(A), NAMES).keys] == ["+4", "+5", "-3", "+1"]
    assert WORDS.picture(table.view(A), NAMES)[0] == Row("Your hand", ("+4", "+5", "-3", "+1"), "sum +7")


def test_z2_question_offers_all_four_cards_and_the_spellings_of_the_sheet() -> None:
    prompt = WORDS.ask(laid(TEN).view(A), NAMES)
    assert prompt.text == "Choose a card to discard: "
    assert [(key.key, key.then, key.also) for key in prompt.keys] == [
        ("+1", number("+1"), ("1",)),
        ("+4", number("+4"), ("4",)),
        ("+5", number("+5"), ("5",)),
        ("-3", number("-3"), ("−3",)),
    ]


# What the others are told


def test_z3_steps_of_the_other_are_told_in_third_person_without_the_card() -> None:
    shown = screen(laid(TEN), STALL[:2], people=[A])
    assert shown[5:13] == [
        "Player A's Turn:",
        "You draw a card: +1",
        "Your hand: [+1]",
        "Your hand sum: +1",
        "(No action can be taken.)",
        PAUSE,
        "Player B draws a card.",
        "",
    ]
    at = shown.index("Player B discards -2.")
    assert shown[at - 2 : at + 2] == [PAUSE, "Player B draws a card.", "Player B discards -2.", ""]


def test_z3_watcher_is_told_everything_in_third_person() -> None:
    shown = screen(laid(TEN, toss="a"), STALL[:1], people=())
    draws = ["Player A draws a card.", "Player B draws a card."]
    assert shown[3:] == ["Player A will go first.", *draws * 3, draws[0], "Player A discards -3.", draws[1]]


def test_z3_lines_for_the_others_are_the_same_whatever_cards_are_hidden() -> None:
    # The two worlds differ in a card that A holds all the time, and in the last one that A draws.
    one, other = laid("+1 -1 +4 +2 +5 -4 -3 -2 -5"), laid("+3 -1 +4 +2 +5 -4 -3 -2 +1")
    assert WORDS.HAND_OVER
    for seat, card in ((A, "-3"), (B, "+2"), (A, "")):
        for onlooker in (B, SPECTATOR):
            assert told(one, onlooker) == told(other, onlooker)
            assert WORDS.picture(one.view(onlooker), NAMES) == WORDS.picture(other.view(onlooker), NAMES)
        assert told(one, A) != told(other, A)
        if card:
            one.decide(seat, card)
            other.decide(seat, card)


def test_z3_win_of_the_other_is_told_without_you() -> None:
    won = ["Player A's hand sums to zero.", "Player A wins the game!"]
    for audience in (B, SPECTATOR):
        assert told(laid("+3 -2 -5 +4 +2"), audience)[-3:] == ["Player A draws a card.", *won]
    table = laid("+5 -3 -4 +2 +1 -5 -1")
    table.decide(A, "+1")
    assert told(table, B)[-3:] == ["Player A discards +1.", *won]


# Ends


def test_g9_winning_line_is_said_once_and_hands_and_deck_are_shown() -> None:
    for people in (BOTH, (A,), (B,), ()):
        shown = screen(laid("+3 -2 -5 +4 +2"), people=people)
        assert [line for line in shown if "wins" in line] == ["Player A wins the game!"]
        assert shown[-5:] == ["Player A wins the game!", *SHOWN]


def test_z8_only_the_own_hand_is_shown_in_the_order_drawn() -> None:
    table = laid("+4 -1 +1 -4 +3 +2 -3 -5 -2")
    screen(table, ["-3", "-5"])
    table.resign(B)
    ending = table.ending()
    assert ending is not None
    hands = {
        A: ["[+4, +1, +3, -2]", "[-4, -1, +2]"],
        B: ["[-2, +1, +3, +4]", "[-1, -4, +2]"],
        SPECTATOR: ["[-2, +1, +3, +4]", "[-4, -1, +2]"],
    }
    for seat, (first, second) in hands.items():
        assert WORDS.farewell(table.view(seat), NAMES, ending) == [
            "",
            "Player B resigned. Player A wins the game!",
            f"Player A's hand: {first}",
            f"Player B's hand: {second}",
            "Undrawn cards: [+5]",
        ]


def test_g3_resignation_is_told_once_with_who_wins() -> None:
    shown = screen(laid(TEN), ["resign"])
    assert shown[shown.index("Choose a card to discard: resign") + 1 :] == [
        "",
        "Player A resigned. Player B wins the game!",
        "Player A's hand: [-3, +1, +4, +5]",
        "Player B's hand: [-4, -1, +2]",
        "Undrawn cards: [-5, -2, +3]",
    ]


def test_g2_turn_limit_ends_without_a_pause_and_says_that_it_is_a_draw() -> None:
    shown = screen(laid(TEN, turns=3))
    assert shown[-9:] == [
        "You draw a card: +4",
        "Your hand: [+1, +4]",
        "Your hand sum: +5",
        "(No action can be taken.)",
        "",
        "Draw by turn limit.",
        "Player A's hand: [+1, +4]",
        "Player B's hand: [-1]",
        "Undrawn cards: [-5, -4, -3, -2, +2, +3, +5]",
    ]
    assert not any("wins" in line for line in shown)
    after_discard = screen(laid(TEN, turns=7), ["-3"])
    assert after_discard[-6:-4] == ["Your hand sum: +10", ""]


def test_g5_win_on_the_last_turn_is_no_draw() -> None:
    assert screen(laid("+3 -2 -5 +4 +2", turns=5)) == SAMPLE + SHOWN


# Names and pictures


def test_names_of_people_stand_where_the_sheet_says_player() -> None:
    names = ("Ann", "Bo")
    shown = screen(laid("+3 -2 -5 +4 +2"), names=names)
    assert shown[3:6] == ["Ann will go first.", "", "Ann's Turn:"]
    assert shown[-5:-2] == ["Ann wins the game!", "", "Ann's hand: [-5, +2, +3]"]
    everything = shown + screen(laid(f"{TEN} +3"), [*STALL, "resign"], people=[B], names=names)
    assert "Ann resigned. Bo wins the game!" in everything
    assert "Ann discards -3." in everything
    assert not any("Player" in line for line in everything)


def test_z3_picture_shows_the_own_hand_and_the_size_of_the_other() -> None:
    table = laid(TEN, turns=40)
    table.decide(A, "-3")
    common = [Row("Pile", ("-3",), "1 card"), Row("Deck", (), "2 cards"), Row("Turn", ("Player B",), "turn 8 of 40")]
    assert WORDS.picture(table.view(A), NAMES) == [
        Row("Your hand", ("+1", "+4", "+5"), "sum +10"),
        Row("Player B's hand", ("?",) * 4, "4 cards"),
        *common,
    ]
    assert WORDS.picture(table.view(B), NAMES) == [
        Row("Player A's hand", ("?",) * 3, "3 cards"),
        Row("Your hand", ("-1", "+2", "-4", "-2"), "sum -5"),
        *common,
    ]
    hands = WORDS.picture(table.view(), NAMES)[:2]
    assert [(row.cells, row.note) for row in hands] == [(("?",) * 3, "3 cards"), (("?",) * 4, "4 cards")]
    assert WORDS.picture(laid(TEN).view(A), NAMES)[-1] == Row("Turn", ("Player A",), "turn 7")  # no limit


def test_g9_picture_after_the_end_hides_nothing() -> None:
    assert WORDS.picture(laid("+3 -2 -5 +4 +2").view(A), NAMES) == [
        Row("Your hand", ("+3", "-5", "+2"), "sum 0"),
        Row("Player B's hand", ("-2", "+4"), "sum +2"),
        Row("Pile", (), "0 cards"),
        Row("Deck", ("-4", "-3", "-1", "+1", "+5"), "5 cards"),
    ]


def test_other_hand_limits_are_told_in_the_same_words() -> None:
    shown = screen(piste.open_table("zero-sum-duel", {"first": "a", "top": 7, "hand": 2}, laid="7 1 6 2 -5"), ["7"])
    at = shown.index("Your hand: [+7, +6, -5]")
    assert shown[at : at + 5] == [
        "Your hand: [+7, +6, -5]",
        "Your hand sum: +8",
        "Choose a card to discard: 7",
        "Your hand: [+6, -5]",
        "Your hand sum: +1",
    ]


def test_three_tips_fit_a_narrow_screen() -> None:
    assert len(WORDS.TIPS) == 3
    assert max(map(len, WORDS.TIPS)) <= 60
