"""Prime Duel at a screen: the sheet's sample word for word, and the house lines around it."""

from __future__ import annotations

import pytest

import piste
from piste.core.game import find, tidy
from piste.core.presentation import EventContext, GameText, Row
from piste.core.protocols import SPECTATOR
from piste.games.prime_duel import text as words

WORDS: GameText = words  # mypy holds the module to the contract
PLAYERS = ("Player 1", "Player 2")
SHUFFLED = "The deck is empty. Shuffling the pile..."

SHEETS_SAMPLE = """Player 1 Turn:
Current Score: 0
Card drawn: 7
Do you want to keep this card? (yes/no): yes
New Score: 7
Prime number! You get an extra turn.

Player 1 Extra Turn:
Current Score: 7
Card drawn: 10
Do you want to keep this card? (yes/no): yes
New Score: 17
Prime number! You get an extra turn.

Player 1 Extra Turn:
Current Score: 17
Card drawn: 9
Do you want to keep this card? (yes/no): yes
New Score: 26
No prime number. Turn ends.

Player 2 Turn:
Current Score: 0
Card drawn: 8
Do you want to keep this card? (yes/no): no
Card drawn: 3 (must keep)
New Score: 3
Prime number! You get an extra turn.

Player 2 Extra Turn:
Current Score: 3
Card drawn: 5
Do you want to keep this card? (yes/no): yes
New Score: 8
No prime number. Turn ends."""

SAMPLE_DECK = "7 10 9 8 3 5"
SAMPLE = ["yes", "yes", "yes", "no", "yes"]

# Player 1 has 49 and Player 2 has 25, both without a prime on the way, and Player 1 is to draw.
CLOSE = "10 1 10 9 10 8 10 6 9 1"


def laid(deck: str, first: int = 1, **options: int) -> piste.Table:
    return piste.open_table("prime-duel", {"first": first, **options}, laid=deck, seed="words")


def shown(
    table: piste.Table, people: tuple[int, ...], answers: list[str], names: tuple[str, str] = PLAYERS
) -> list[str]:
    """Play and return the screen; who is not among the people answers unseen, as a bot does."""
    screen = list(words.welcome(table.view(people[0] if people else SPECTATOR), names))
    told = 0
    for answer in [*answers, None]:
        for at in range(told, len(table.view().log)):
            about = table.view().log[at].event.seat
            voice = about if about in people else people[0] if people else SPECTATOR
            view = table.view(voice)
            screen += words.lines(EventContext(voice, names, view.opening, view.log[: at + 1]))
        told = len(table.view().log)
        seat = table.to_act
        if answer is None or seat is None:
            assert answer is None
        elif answer == "resign":
            table.resign(seat)
        elif seat in people:
            prompt = words.ask(table.view(seat), names)
            screen += prompt.text.split("\n")
            screen[-1] += answer
            actions = [key.then for key in prompt.keys if tidy(answer) in map(tidy, (key.key, *key.also))]
            assert len(actions) == 1
            assert isinstance(actions[0], int)
            table.decide(seat, actions[0])
        else:
            table.decide(seat, answer)
    ending = table.ending()
    if ending is not None:
        screen += words.farewell(table.view(people[0] if people else SPECTATOR), names, ending)
    return screen


def last_turn(screen: list[str], heading: str) -> list[str]:
    """Return the screen from the last time this line stands there."""
    at = max(at for at, line in enumerate(screen) if line == heading)
    return screen[at:]


def test_the_sheets_sample_comes_out_word_for_word() -> None:
    screen = shown(laid(SAMPLE_DECK), (0, 1), SAMPLE)
    sample = SHEETS_SAMPLE.split("\n")
    assert screen[: len(sample)] == sample
    # What follows is the beginning of the next turn.
    assert screen[len(sample) : -1] == ["", "(Player 2: 8)", "Player 1 Turn:", "Current Score: 26"]


def test_q5_the_others_score_stands_before_the_heading_of_a_later_turn() -> None:
    # Player 1: 4, then 8. Player 2: 1, then 2, which is prime, then 6.
    screen = shown(laid("4 1 4 1 4 6"), (0, 1), ["yes"] * 5)
    around = [screen[at - 2 : at + 1] for at, line in enumerate(screen) if line.endswith("Turn:")]
    assert around == [
        [],  # nothing before the first
        ["No prime number. Turn ends.", "", "Player 2 Turn:"],
        ["", "(Player 2: 1)", "Player 1 Turn:"],
        ["", "(Player 1: 8)", "Player 2 Turn:"],
        ["Prime number! You get an extra turn.", "", "Player 2 Extra Turn:"],
        ["", "(Player 2: 6)", "Player 1 Turn:"],
    ]


def test_q5_a_score_of_0_is_not_shown() -> None:
    # The target is 4: Player 1 cannot keep anything and has 0 all the time, Player 2 has 1.
    screen = shown(laid("5 6 1 7 8 5 6 2", target=4), (0, 1), ["yes"])
    before = [screen[at - 1] for at, line in enumerate(screen) if at and line.endswith(" Turn:")]
    assert before == ["", "(Player 2: 1)", "", "(Player 2: 1)"]


def test_q2_a_first_card_past_50_is_discarded_without_a_question() -> None:
    screen = shown(laid(f"{CLOSE} 9 1"), (0, 1), ["yes"] * 10)
    assert last_turn(screen, "Player 1 Turn:")[:6] == [
        "Player 1 Turn:",
        "Current Score: 49",
        "Card drawn: 9 (over 50, must discard)",
        "Card drawn: 1 (must keep)",
        "New Score: 50",
        "Player 1 wins!",
    ]


def test_q3_a_second_card_past_50_leaves_the_score_and_ends_the_turn() -> None:
    screen = shown(laid(f"{CLOSE} 9 8 3"), (0, 1), ["yes"] * 10)
    assert last_turn(screen, "Player 1 Turn:") == [
        "Player 1 Turn:",
        "Current Score: 49",
        "Card drawn: 9 (over 50, must discard)",
        "Card drawn: 8 (over 50, discarded)",
        "Score unchanged. Turn ends.",
        "",
        "(Player 1: 49)",
        "Player 2 Turn:",
        "Current Score: 25",
        "Card drawn: 3",
    ]


def test_q3_a_second_card_past_50_that_was_chosen_is_told_the_same_way() -> None:
    screen = shown(laid(f"{CLOSE} 1 8 3"), (0, 1), [*["yes"] * 10, "no"])
    assert last_turn(screen, "Player 1 Turn:")[2:6] == [
        "Card drawn: 1",
        "Do you want to keep this card? (yes/no): no",
        "Card drawn: 8 (over 50, discarded)",
        "Score unchanged. Turn ends.",
    ]


def test_q6_reaching_50_is_told_once_and_nothing_of_primes() -> None:
    screen = shown(laid(f"{CLOSE} 1"), (0, 1), ["yes"] * 11)
    at = screen.index("New Score: 50")
    assert screen[at + 1 : at + 3] == ["Player 1 wins!", ""]
    assert sum("wins" in line for line in screen) == 1
    assert screen[at + 3].startswith("Undrawn")


def test_q6_a_prime_target_wins_without_an_extra_turn() -> None:
    screen = shown(laid("7", target=7), (0, 1), ["yes"])
    assert screen[4:6] == ["New Score: 7", "Player 1 wins!"]


def test_q2_the_target_of_the_options_is_named() -> None:
    screen = shown(laid("5 6 3", target=4), (0, 1), [])
    assert screen[2:4] == ["Card drawn: 5 (over 4, must discard)", "Card drawn: 6 (over 4, discarded)"]


def test_q4_a_reshuffle_is_told_right_before_the_draw() -> None:
    # One card in all: every draw after the first finds the deck empty.
    screen = shown(laid("", top=1, copies=1, target=3), (0, 1), ["no", "yes"])
    assert screen[:13] == [
        "Player 1 Turn:",
        "Current Score: 0",
        "Card drawn: 1",
        "Do you want to keep this card? (yes/no): no",
        SHUFFLED,
        "Card drawn: 1 (must keep)",
        "New Score: 1",
        "No prime number. Turn ends.",
        "",
        "Player 2 Turn:",
        "Current Score: 0",
        SHUFFLED,
        "Card drawn: 1",
    ]


def test_q4_a_reshuffle_is_told_of_a_bots_draws_too() -> None:
    screen = shown(laid("", first=2, top=1, copies=1, target=3), (0,), ["no", "yes", "no"])
    assert screen[:4] == [
        "Player 2 draws 1.",
        "Player 2 discards it.",
        SHUFFLED,
        "Player 2 draws 1 (must keep). Score: 1.",
    ]
    assert screen[-9:] == [
        "",
        SHUFFLED,
        "Player 2 draws 1.",
        "Player 2 discards it.",
        SHUFFLED,
        "Player 2 draws 1 (must keep). Score: 2.",
        "Prime number! Player 2 goes again.",
        SHUFFLED,
        "Player 2 draws 1.",
    ]


def test_q4_no_reshuffle_is_told_while_there_are_cards() -> None:
    assert SHUFFLED not in shown(laid(CLOSE), (0, 1), ["yes"] * 10)


def test_a_bots_turn_is_short_and_in_third_person() -> None:
    screen = shown(laid(SAMPLE_DECK), (0,), SAMPLE)
    at = screen.index("No prime number. Turn ends.")
    assert screen[at + 1 : -1] == [
        "",
        "Player 2 draws 8.",
        "Player 2 discards it.",
        "Player 2 draws 3 (must keep). Score: 3.",
        "Prime number! Player 2 goes again.",
        "Player 2 draws 5.",
        "Player 2 keeps it. Score: 8.",
        "",
        "(Player 2: 8)",
        "Player 1 Turn:",
        "Current Score: 26",
    ]


def test_a_bot_past_50_and_at_50_is_told_in_third_person() -> None:
    screen = shown(laid(f"{CLOSE} 9 8 3 1"), (1,), ["yes"] * 12)
    at = screen.index("Player 1 draws 9 (over 50, must discard).")
    assert screen[at - 1 : at + 5] == [
        "",
        "Player 1 draws 9 (over 50, must discard).",
        "Player 1 draws 8 (over 50, discarded).",
        "Player 1 stays at 49.",
        "",
        "(Player 1: 49)",
    ]
    at = screen.index("Player 1 draws 1.")
    assert screen[at - 1 : at + 3] == ["", "Player 1 draws 1.", "Player 1 keeps it. Score: 50.", "Player 1 wins!"]
    assert sum("wins" in line for line in screen) == 1


def test_a_bot_that_begins_is_told_without_a_blank_line_first() -> None:
    screen = shown(laid("4 1", first=2), (0,), ["yes"])
    assert screen[:4] == ["Player 2 draws 4.", "Player 2 keeps it. Score: 4.", "", "Player 1 Turn:"]


def test_a_watcher_reads_everything_in_third_person() -> None:
    assert shown(laid(SAMPLE_DECK), (), SAMPLE)[:-2] == [
        "Player 1 draws 7.",
        "Player 1 keeps it. Score: 7.",
        "Prime number! Player 1 goes again.",
        "Player 1 draws 10.",
        "Player 1 keeps it. Score: 17.",
        "Prime number! Player 1 goes again.",
        "Player 1 draws 9.",
        "Player 1 keeps it. Score: 26.",
        "",
        "Player 2 draws 8.",
        "Player 2 discards it.",
        "Player 2 draws 3 (must keep). Score: 3.",
        "Prime number! Player 2 goes again.",
        "Player 2 draws 5.",
        "Player 2 keeps it. Score: 8.",
    ]


@pytest.mark.parametrize(("toss", "starter"), [(0, "Player 1"), (1, "Player 2")])
def test_g1_a_toss_is_told_before_the_first_turn(toss: int, starter: str) -> None:
    table = piste.open_table("prime-duel", outcomes=[toss, 6])
    start = [f"{starter} will go first.", "", f"{starter} Turn:", "Current Score: 0", "Card drawn: 7"]
    assert shown(table, (0, 1), []) == start


def test_g1_a_named_starter_is_not_announced() -> None:
    assert shown(laid("7", first=2), (0, 1), [])[0] == "Player 2 Turn:"


def test_names_stand_wherever_a_player_is_named() -> None:
    names = ("Ann", "Bo")
    screen = shown(laid(f"{SAMPLE_DECK} 4"), (0,), [*SAMPLE, "resign"], names)
    assert [line for line in screen if "Ann" in line or "Bo" in line] == [
        "Ann Turn:",
        "Ann Extra Turn:",
        "Ann Extra Turn:",
        "Bo draws 8.",
        "Bo discards it.",
        "Bo draws 3 (must keep). Score: 3.",
        "Prime number! Bo goes again.",
        "Bo draws 5.",
        "Bo keeps it. Score: 8.",
        "(Bo: 8)",
        "Ann Turn:",
        "Ann resigned. Bo wins!",
    ]
    assert not any("Player" in line for line in screen)


def test_g3_a_resignation_names_who_left_and_who_wins_once() -> None:
    table = laid("7")
    table.resign(1)  # in the other's turn
    screen = shown(table, (0, 1), [])
    assert screen[3:5] == ["", "Player 2 resigned. Player 1 wins!"]
    assert sum("wins" in line for line in screen) == 1


def test_g2_the_turn_limit_is_told_as_a_draw() -> None:
    screen = shown(laid("4 1", turns=2), (0, 1), ["yes", "yes"])
    at = screen.index("Draw by turn limit.")
    assert screen[at - 3 : at] == ["New Score: 1", "No prime number. Turn ends.", ""]
    assert not any("wins" in line for line in screen)


def test_g5_a_win_on_the_last_turn_is_told_as_a_win() -> None:
    screen = shown(laid("4 6", turns=2, target=6), (0, 1), ["yes", "yes"])
    assert "Player 2 wins!" in screen
    assert "Draw by turn limit." not in screen


@pytest.mark.parametrize("people", [(0, 1), (0,), ()])
@pytest.mark.parametrize(
    ("options", "answers"),
    [({"target": 6}, ["yes", "yes"]), ({"turns": 2}, ["yes", "yes"]), ({}, ["yes", "resign"])],
    ids=["win", "limit", "resignation"],
)
def test_g9_however_it_ends_the_undrawn_cards_are_shown(
    options: dict[str, int], answers: list[str], people: tuple[int, ...]
) -> None:
    screen = shown(laid("4 6", **options), people, answers)
    assert screen[-2:] == ["Undrawn, as card:count:", "1:4 2:4 3:4 4:3 5:4 6:3 7:4 8:4 9:4 10:4"]


def test_g9_a_card_that_is_all_drawn_is_left_out_and_an_empty_deck_said() -> None:
    screen = shown(laid("1 2", top=3, copies=1), (0, 1), ["yes", "resign"])
    assert screen[-2:] == ["Undrawn, as card:count:", "3:1"]
    assert shown(laid("", top=1, copies=1), (0, 1), ["resign"])[-1] == "Undrawn cards: none"


@pytest.mark.parametrize("typed", ["yes", "Y", "KEEP", "k", "no", "N", "discard", "d"])
def test_g7_answers_mean_what_they_mean_in_the_notation(typed: str) -> None:
    table = laid("4 1")
    shown(table, (0, 1), [typed])
    other = laid("4 1")
    other.decide(0, typed)
    assert table.history()[:2] == other.history()[:2]


def test_the_picture_shows_scores_piles_the_card_and_whose_turn_it_is() -> None:
    table = laid(f"{SAMPLE_DECK} 7", turns=9)
    for seat, answer in ((0, "yes"), (0, "yes"), (0, "yes"), (1, "no")):
        table.decide(seat, answer)
    deck = ("1:4", "2:4", "3:3", "4:4", "5:3", "6:4", "7:3", "8:3", "9:3", "10:3")
    for seat in (0, 1, SPECTATOR):
        assert words.picture(table.view(seat), ("Ann", "Bo")) == [
            Row("Ann", ("26",), "of 50"),
            Row("Bo", ("3",), "of 50"),
            Row("Card drawn", ("5",)),
            Row("Deck", deck, "34 cards, as card:count"),
            Row("Pile", ("3:1", "7:1", "8:1", "9:1", "10:1"), "5 cards, as card:count"),
            Row("Turn", ("Bo",), "turn 2 of 9, extra turn"),
        ]
    table.decide(1, "yes")
    assert words.picture(table.view(0), PLAYERS)[-1] == Row("Turn", ("Player 1",), "turn 3 of 9")
    table.resign(0)
    assert words.picture(table.view(0), PLAYERS)[-1].label == "Pile"


def test_tips_and_house_lines_are_short() -> None:
    assert find("prime-duel").text.TIPS == words.TIPS
    assert len(words.TIPS) == 3
    assert all(len(line) < 60 for line in (*words.TIPS, words.RESHUFFLE))


def test_both_may_look_at_the_same_screen() -> None:
    assert words.HAND_OVER is False
