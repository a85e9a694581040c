"""Duel in words: whole rounds as each player reads them, who is told what, the tower, the pile and the questions."""

from __future__ import annotations

import random

import pytest

import piste
from piste import SPECTATOR, Table
from piste.core.game import members, tidy
from piste.core.presentation import EventContext, GameText, Key, Prompt, Row
from piste.games.mccoy_duel import text as module

words: GameText = module
GAME = "mccoy-duel"
POWERS = "01234567*"


def number(name: str) -> int:
    """Return an outcome by name: `5a`, a player's number, or `round`."""
    if name == "round":
        return 0
    return 35 + int(name) if name.isdigit() else 9 * "abcd".index(name[1]) + POWERS.index(name[0])


def called(table: Table) -> tuple[str, ...]:
    return tuple(f"Player {seat + 1}" for seat in range(table.seats))


class Terminal:
    """What one audience reads while a table is played, the way a terminal prints it."""

    def __init__(self, table: Table, seat: int, names: tuple[str, ...] = ()) -> None:
        self.table, self.seat = table, seat
        self.names = names or called(table)
        self.lines = words.welcome(table.view(seat), self.names)
        self.told = 0
        self.tell()

    def tell(self) -> None:
        view = self.table.view(self.seat)
        for at in range(self.told + 1, len(view.log) + 1):
            self.lines += words.lines(EventContext(self.seat, self.names, view.opening, view.log[:at]))
        self.told = len(view.log)
        if view.ending is not None:
            self.lines += words.farewell(view, self.names, view.ending)

    def ask(self) -> Prompt:
        return words.ask(self.table.view(self.seat), self.names)

    def answer(self, typed: str) -> int:
        prompt = self.ask()
        decisions = [key.then for key in prompt.keys if tidy(typed) in map(tidy, (key.key, *key.also))]
        assert len(decisions) == 1
        assert isinstance(decisions[0], int)
        self.lines += (prompt.text + typed).split("\n")
        return decisions[0]


def play(steps: str, seat: int = SPECTATOR, /, *names: str, **options: int | str) -> Terminal:
    """Play steps such as `2:5` (Player 2 decides), `2:resigns` and `bury:7a` (chance), and return one screen."""
    taken = [step.split(":") for step in steps.split()]
    outcomes = [number(what) for who, what in taken if not who.isdigit()]
    table = piste.open_table(GAME, options, outcomes=outcomes)
    screen = Terminal(table, seat, names)
    for who, what in taken:
        if not who.isdigit():
            continue
        actor = int(who) - 1
        if what == "resigns":
            table.resign(actor)
        else:
            table.decide(actor, screen.answer(what) if actor == seat else what)
        screen.tell()
    return screen


def last(screen: Terminal, n: int) -> list[str]:
    return screen.lines[-n:]


def row(screen: Terminal, label: str) -> Row:
    rows = words.picture(screen.table.view(screen.seat), screen.names)
    return next(row for row in rows if row.label == label)


# What a seat may not know

HIDDEN_CARDS = [
    # (steps, two cards that differ, who sees the difference, who does not, options)
    ("bury:{} bury:3b 1:5", "7a", "6a", {0}, {"first": 1}),
    ("bury:7a bury:3b 1:6 target:2 disarm:{} 2:2 take:6a", "5b", "4b", {1}, {"first": 1}),
    ("bury:7a bury:3b 1:1 draw:{}", "7a", "3b", {0}, {"first": 1}),
    ("bury:7a bury:3b bury:*c 1:6 1:2 disarm:{}", "5b", "4b", {1}, {"players": 3, "first": 1}),
    ("bury:7a bury:3b bury:*c 1:1 draw:{} 2:0 kill:1a", "*c", "3b", {0}, {"players": 3, "first": 1}),
    ("bury:7a bury:3b bury:*c 3:7 3:1 1:{}", "6a", "5a", {0, 2}, {"players": 3, "first": 3}),
]


def everything(screen: Terminal) -> tuple[list[str], list[Row], str]:
    view = screen.table.view(screen.seat)
    return screen.lines, words.picture(view, screen.names), screen.ask().text if view.decisions else ""


@pytest.mark.parametrize(("steps", "one", "other", "told", "options"), HIDDEN_CARDS)
def test_d17_a_hidden_card_changes_nothing_on_the_screens_of_those_who_may_not_know_it(
    steps: str, one: str, other: str, told: set[int], options: dict[str, int]
) -> None:
    for seat in (SPECTATOR, *range(options.get("players", 2))):
        first, second = (everything(play(steps.format(card), seat, **options)) for card in (one, other))
        assert (first != second) == (seat in told)


def test_d17_a_watcher_is_told_everything_in_the_third_person() -> None:
    steps = "bury:6a bury:3b bury:*c 1:7 1:3 3:5 2:6 2:1 disarm:0a 3:4 3:7a 3:2 2:* 1:2 1:4c 2:1 draw:0a 3:*b"
    lines = play(steps, first=1, players=3).lines
    said = [line for line in lines if not line.startswith("  ")]  # a card's own text may say "you"
    assert not [line for line in said if "you" in line.casefold().split()]
    assert "Player 3 gives a card to Player 1." in said
    assert "Player 2 draws a buried card." in said


def test_d12_d13_who_is_concerned_reads_which_card_it_was() -> None:
    steps = "bury:7a bury:3b bury:*c 3:7 3:1 1:6 1:4 copy:7c 1:2 2:5"
    assert last(play(steps, 0, players=3, first=3), 1) == ["Player 2 gives you 5b."]
    assert last(play(steps, 1, players=3, first=3), 1) == ["You give 5 to Player 1."]
    assert "Player 1 gives you 6a." in play(steps, 2, players=3, first=3).lines
    steps = "bury:7a bury:3b 1:6 target:2 disarm:5b"
    assert last(play(steps, 1, first=1), 1) == ["You bury 5 at random."]
    assert last(play(steps, 0, first=1), 1) == ["Player 2 buries a card at random."]


# The tower and the buried pile

ORDERED = "bury:7a bury:7b 1:5 2:* 1:4 1:5a 2:6 target:1 disarm:1a 1:2 1:*b 2:0 2:4a 1:*b"


@pytest.mark.parametrize("seat", [SPECTATOR, 0, 1])
@pytest.mark.parametrize(
    ("steps", "cells"),
    [
        (9, "5a *b 4a 6b"),
        (10, "5a *b 4a 6b 2a"),
        (11, "5a 4a 6b 2a"),
        (13, "5a 6b 2a 0b"),
        (14, "5a 6b 2a 0b *b"),  # a card that was taken and played again lies on top
    ],
)
def test_d7_the_tower_is_shown_in_the_order_played_less_what_was_buried_or_taken(
    seat: int, steps: int, cells: str
) -> None:
    screen = play(" ".join(ORDERED.split()[:steps]), seat, first=1)
    assert row(screen, "Tower").cells == tuple(cells.split())


def note(steps: str, seat: int) -> str:
    return row(play(steps, seat, first=1), "Buried").note


def test_d17_a_seat_reads_which_buried_cards_it_has_seen() -> None:
    steps = "bury:7a bury:3b 1:6 target:2 disarm:5b"
    assert [note(steps, seat) for seat in (SPECTATOR, 0, 1)] == ["", "you know 7a", "you know 3b 5b"]
    steps += " 2:1 draw:7a 1:0 1:6a"  # now the pile has 3b, 5b and 6a, which all saw go down
    assert note(steps, SPECTATOR) == "you know 6a"
    assert note(steps, 0) == "you know 6a; 7a if not drawn since"
    assert note(steps, 1) == "you know 3b 5b 6a"
    assert note(steps + " 2:* 1:5 2:7a target:1 1:2", 0) == "you know 6a"  # it was the 7a that had been drawn


def test_d17_a_drawn_card_that_comes_to_light_makes_the_others_certain_again() -> None:
    steps = "bury:7a bury:3b 1:6 target:2 disarm:5b 2:* 1:1 draw:5b"
    assert note(steps, 1) == "3b 5b if not drawn since"
    steps += " 2:0 2:6a 1:* 2:7 target:1"
    assert note(steps + " 1:5b", 1) == "you know 3b 6a"
    assert note(steps + " 1:5a", 1) == "you know 6a; 3b 5b if not drawn since"


def test_d17_what_does_not_fit_into_the_pile_any_more_was_drawn() -> None:
    steps = "bury:7a bury:3b 1:4 2:1 draw:7a 1:0 1:4a 2:*"
    assert note(steps, 0) == "you know 4a; 7a if not drawn since"
    assert note(steps + " 1:1 draw:3b", 0) == "you know 4a"  # the only card left
    screen = play("bury:7a bury:3b 1:2 2:1 draw:7a 1:* 2:4 2:1b draw:3b", 0, first=1)
    assert row(screen, "Buried") == Row("Buried", ("0 cards",), "")
    assert "Buried: 0 cards" in screen.ask().text.split("\n")


# Questions


def keys(prompt: Prompt) -> dict[str, Key]:
    return {key.key: key for key in prompt.keys}


def test_each_card_is_offered_with_its_name_and_what_it_does() -> None:
    by_key = keys(play("bury:7a bury:3b", 0, first=1).ask()) | keys(play("bury:0a bury:3b", 0, first=1).ask())
    assert {key: by_key[key].meaning for key in POWERS} == {
        "0": "The Killing Blow: Bury a face up card.",
        "1": "Hidden Strength: Draw a buried card.",
        "2": "Precision Strike: Put a face up card in your hand.",
        "3": "Feint: Play an opponent's random card and ignore the ability.",
        "4": "Copycat: Copy the ability of any face up card.",
        "5": "Change Stance: The next card played must be greater than 5.",
        "6": "Disarm: Opponent buries a card at random.",
        "7": "Backstab: Opponent gives you a card of their choice.",
        "*": "Dodge: Trumps the last card played. Then counts as an 8.",
    }
    assert {"dodge", "trump"} <= {tidy(word) for word in by_key["*"].also}


def test_d22_a_letter_is_asked_for_only_where_two_cards_have_one_power() -> None:
    both = play("bury:7a bury:3b 1:* 2:7 target:1 1:6 1:5", 1, first=1)
    assert " ".join(row(both, "Your hand").cells) == "0 1 2 4 5 6a 6b *"
    by_key = keys(both.ask())
    assert list(by_key) == ["6a", "6b", "*"]
    assert not {"6", "disarm"} & {tidy(word) for key in by_key.values() for word in key.also}
    alone = play("bury:7a bury:6b 1:* 2:7 target:1 1:6 1:5", 1, first=1)
    assert " ".join(row(alone, "Your hand").cells) == "0 1 2 3 4 5 6a *"
    assert {"6", "disarm"} <= {tidy(word) for word in keys(alone.ask())["6a"].also}


def test_d20_players_are_chosen_by_number_or_by_a_name_that_means_nobody_else() -> None:
    start = "reveal:1a reveal:5b reveal:6c"
    prompt = play(start, 0, "Ann", "Bob", "Cy", players=3).ask()
    assert prompt.text.split("\n")[1] == "Ann picks who goes first."
    assert [(key.key, key.label, "Bob" in key.also) for key in prompt.keys] == [
        ("1", "Ann", False),
        ("2", "Bob", True),
        ("3", "Cy", False),
    ]
    odd = play(start, 0, "2", "player 3", "Cy", players=3).ask()
    assert [{tidy(word) for word in key.also} for key in odd.keys] == [{"player1"}, {"player2"}, {"player3", "cy"}]


def test_d11_a_copied_stance_is_asked_for_in_words() -> None:
    text = play("bury:7a bury:3b 1:5 2:* 1:4 1:5a", 1, first=1).ask().text
    assert "Power to beat: 4 (play greater than 5)" in text.split("\n")


# Other events


def test_d2_when_all_cards_are_shown_lot_decides_who_picks() -> None:
    steps = "reveal:3a reveal:3b reveal:*a reveal:*b lot:2"
    tie = "A tie for lowest: Player 1 and Player 2."
    shown = ["Player 1 reveals 3.", "Player 2 reveals 3.", tie, "Player 1 reveals *.", "Player 2 reveals *.", tie]
    assert last(play(steps, powers="3*"), 7) == [*shown, "All cards are shown. Lot decides for Player 2."]
    assert last(play(steps + " 2:2 bury:3a bury:3b", 0, powers="3*"), 5)[0] == "Player 2 picks to go first."


def test_d2_only_those_who_tied_reveal_again() -> None:
    lines = play("reveal:4a reveal:2b reveal:2c reveal:6b reveal:5c", 2, players=3).lines
    assert lines[-4:] == [
        "A tie for lowest: Player 2 and you.",
        "Player 2 reveals 6.",
        "You reveal 5.",
        "You have the lowest card.",
    ]


def test_d6_an_ability_with_nothing_to_act_on_says_so() -> None:
    assert last(play("bury:7a bury:3b 1:0", 1, first=1), 3) == [
        "Player 1 plays 0, The Killing Blow:",
        "  Bury a face up card.",
        "There is nothing to act on.",
    ]
    lines = play("bury:7a bury:3b 1:2 2:1 draw:7a 1:* 2:4 2:1b draw:3b 1:1", 1, first=1).lines
    assert lines[-3:] == [
        "Player 1 plays 1, Hidden Strength:",
        "  Draw a buried card.",
        "There is nothing to act on.",
    ]
    assert "There is nothing to act on." not in play("bury:7a bury:3b 1:5 2:*", 1, first=1).lines


def test_d15_who_has_no_cards_left_is_told_so_and_who_cannot_play_too() -> None:
    lines = play("bury:6a bury:7b 1:7 target:2 give:6b", 1, powers="67", first=1, rounds=1).lines
    assert "You have no cards left and are out of the round." in lines
    screen = play("bury:4a bury:*b bury:4c 1:5", 0, powers="45*", players=3, first=1)
    assert last(screen, 1) == ["Player 2 cannot play and is out of the round."]
    assert row(screen, "Player 2") == Row("Player 2", ("2 cards",), "out, 0 rounds won")
    assert row(screen, "Turn") == Row("Turn", ("Player 3",), "plays a card")


def test_d4_a_resignation_is_told_with_what_does_not_happen() -> None:
    screen = play("bury:0a bury:3b bury:*c 1:7 1:3 2:resigns", 2, players=3, first=1)
    assert last(screen, 2) == ["Player 1 chooses you.", "Player 2 resigned."]  # the gift is still to be made
    screen = play("bury:0a bury:3b bury:*c 1:7 1:3 3:resigns", 1, players=3, first=1)
    assert last(screen, 2) == ["Player 3 resigned.", "The ability does not happen."]
    assert row(screen, "Player 3").note == "left the match, 0 rounds won"
    start = "reveal:1a reveal:5b reveal:6c 1:resigns"
    assert last(play(start, 1, players=3), 2) == ["Player 1 resigned.", "You pick who goes first."]
    assert last(play(start, 0, players=3), 2) == ["You resigned.", "Player 2 picks who goes first."]


# The end


def test_g9_after_a_resignation_it_is_said_once_who_wins_and_all_is_shown() -> None:
    for seat in (SPECTATOR, 0, 1):
        screen = play("bury:7a bury:3b 1:6 target:2 disarm:5b 2:resigns", seat, first=1)
        assert last(screen, 6) == [
            "",
            "Player 2 resigned. Player 1 wins!",
            "Rounds won, best of 5: Player 1 (0), Player 2 (0).",
            "Player 1's hand: 0 1 2 3 4 5 *",
            "Player 2's hand: 0 1 2 4 6 7 *",
            "Buried: 3b 5b 7a",
        ]
        assert "resigned" not in "".join(screen.lines[:-6])


def test_g9_a_finished_game_can_be_told_again_with_its_cards_and_nobodys_voice() -> None:
    table = play("bury:7a bury:3b 1:1 draw:3b 2:0 kill:1a 1:* 2:7 target:1 1:3b 1:resigns", first=1).table
    told = []
    for at in range(2, len(table.history())):
        view = table.view(table.view().log[at].event.seat)
        told += words.lines(EventContext(SPECTATOR, called(table), view.opening, view.log[: at + 1]))
    assert [line for line in told if line.startswith("Player")] == [
        "Player 1 plays 1, Hidden Strength:",
        "Player 1 draws 3b.",
        "Player 2 plays 0, The Killing Blow:",
        "Player 2 buries 1a.",
        "Player 1 plays *, Dodge:",
        "Player 2 plays 7, Backstab:",
        "Player 1 gives 3b to Player 2.",
    ]


def test_g9_before_the_first_bury_there_is_nothing_to_show() -> None:
    lines = play("reveal:3a reveal:5b 1:resigns", 0).lines
    assert lines[-2:] == ["Player 1 resigned. Player 2 wins!", "Rounds won, best of 5: Player 1 (0), Player 2 (0)."]


def test_g10_the_credit_and_its_link_stand_at_the_beginning() -> None:
    lines = play("bury:7a bury:3b", first=1, colours="da").lines
    assert lines[:6] == [
        "Welcome to Duel!",
        "Duel is a game by Sean McCoy: https://www.tuesdayknightgames.com/",
        "",
        "Best of 5 rounds.",
        "Player 1 has dun (d).",
        "Player 2 has amber (a).",
    ]
    assert words.HAND_OVER
    assert len(words.TIPS) == 3


@pytest.mark.parametrize("players", [2, 3, 4])
def test_whole_matches_can_be_read_and_answered(players: int) -> None:
    dice = random.Random(players)
    for seed in range(6):
        table = piste.open_table(GAME, {"players": players, "rounds": 3}, seed=f"words {seed}")
        names = tuple(letter * 24 for letter in "ABCD"[:players]) if seed % 2 else called(table)  # long ones too
        screens = [Terminal(table, seat, names) for seat in (SPECTATOR, *range(players))]
        while (actor := table.to_act) is not None:
            check_board(table, screens)
            if dice.random() < 0.004 * (players - 1):
                table.resign(dice.choice(members(table.view().position.present)))
            else:
                table.decide(actor, dice.choice(check_keys(screens[actor + 1])))
            for screen in screens:
                screen.tell()
        ending = table.ending()
        assert ending is not None
        assert ending.winner is not None
        for screen in screens:
            wins = [line for line in screen.lines if line.endswith(" wins!")]
            assert [line.split(". ")[-1] for line in wins] == [f"{names[ending.winner]} wins!"]
            assert max(map(len, (*screen.lines, *words.TIPS))) <= 78


def check_keys(screen: Terminal) -> list[int]:
    """Return the decisions that the question offers: each open one, once, and no word for two of them."""
    view, prompt = screen.table.view(screen.seat), screen.ask()
    decisions = [key.then for key in prompt.keys if isinstance(key.then, int)]
    assert sorted(decisions) == sorted(view.actions)
    typed = [word for key in prompt.keys for word in {tidy(word) for word in (key.key, *key.also)}]
    assert len(set(typed)) == len(typed)
    assert all(name in typed for name in map(tidy, view.decisions))
    assert max(map(len, prompt.text.split("\n"))) <= 78
    assert prompt.text.endswith(("? ", ": "))
    return decisions


def check_board(table: Table, screens: list[Terminal]) -> None:
    """Hold the tower and what is known of the pile to the true position."""
    state = piste.Position.parse(table.position_text()).state
    for screen in screens:
        view = table.view(screen.seat)
        order = module.tower(view.opening, view.log)
        assert sorted(order) == members(state.tower.up)
        assert not order or order[-1] == state.tower.top
        sure, maybe = module.known_buried(view.log)
        assert sure & ~state.tower.buried == 0
        assert maybe & (sure | state.tower.up | view.position.hand) == 0
