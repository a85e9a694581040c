"""Duel: the reveal, the pick, the bury, whole rounds and the match (D1 to D4, D15, D16, D18 to D21)."""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction

import pytest

import piste
from piste import CHANCE, Position
from piste.core.errors import DealError, IllegalDecisionError, OptionError, PositionError, UnreadableDecisionError

GAME = "mccoy-duel"
POWERS = "01234567*"
SEATS = "1234"


def begin(players: int = 2, **options: int | str) -> Position:
    return Position.start(GAME, {"players": players, **options})


def field(position: Position, key: str) -> str:
    """Return one field of the position's text: "1" is Player 1's hand, "power" the power to beat."""
    return position.game.notation.fields(position.state)[key]


def follow(position: Position, words: str) -> Position:
    """Take steps such as `2:5` (Player 2 decides) and `bury:7a` (chance); each must be due when it comes."""
    for word in words.split():
        who, what = word.split(":")
        actor = position.to_act
        assert actor is not None, f"{word} comes after the end"
        kind = position.game.kind_name(position.game.rules.kind(position.state))
        assert who == (kind if actor == CHANCE else SEATS[actor]), f"{word} is not due: {position}"
        position = position.after(what)
    return position


def duel(*hands: str, up: str = "", rest: str = "buried", options: str = "", **fields: str) -> Position:
    """Return a position with these hands and this tower, its top last; the other cards lie in the field `rest`.

    Fields follow from the tower and the number of hands; name one to change it (`playing` is the field `in`).
    """
    seats = SEATS[: len(hands)]
    places = {seat: hand.split() for seat, hand in zip(seats, hands, strict=True)}
    places |= {"up": up.split(), "buried": fields.pop("buried", "").split()}
    used = {card for cards in places.values() for card in cards}
    places.setdefault(rest, [])
    places[rest] += [p + c for c in "abcd"[: len(hands)] for p in POWERS if p + c not in used]
    top = places["up"][-1] if up else "-"
    values = {key: ",".join(cards) or "-" for key, cards in places.items()}
    values |= {"top": top, "power": top[0] if up else "lead"}
    values |= {"demand": {"5": "stance", "*": "trumped"}.get(top[0], "plain"), "phase": "play", "to": "1"}
    values |= {"in": fields.pop("playing", seats), "match": seats, "out": ",".join("0" * len(seats))}
    values |= {"wins": ",".join("0" * len(seats)), **fields}
    inside = ",".join(filter(None, [f"players={len(hands)}", options]))
    return Position.parse(" ".join([f"{GAME}{{{inside}}}", *(f"{key}={value}" for key, value in values.items())]))


def wander(start: Position, seed: int, *, long: bool = False, leaving: float = 0.0) -> Iterator[Position]:
    """Yield each position of a random game; `long` prefers the plays that keep cards in hands."""
    dice, rules, position = random.Random(seed), start.game.rules, start
    n = start.state.options.players
    while True:
        yield position
        state, actor = position.state, position.to_act
        if actor is None:
            return
        if actor != CHANCE and dice.random() < leaving:
            position = position.resign(dice.choice([seat for seat in range(n) if state.present >> seat & 1]))
            continue
        open_now = rules.outcomes(state) if actor == CHANCE else rules.legal(state)
        actions = [action for action in range(62) if open_now >> action & 1]
        if long and actor != CHANCE:
            actions = [a for a in actions if a < 36 and a % 9 in (1, 2, 4)] or actions
        position = Position(position.game, rules.apply(state, dice.choice(actions)))


def in_hands(position: Position) -> int:
    return sum(hand.bit_count() for hand in position.state.hands)


def even(names: str) -> dict[str, Fraction]:
    """Return outcomes that are all equally likely."""
    return {name: Fraction(1, len(names.split())) for name in names.split()}


def nine(colour: str) -> str:
    return " ".join(power + colour for power in POWERS)


def eight(colour: str, gone: str) -> str:
    """Return what a player holds once the card of this power is buried."""
    return " ".join(card for card in nine(colour).split() if card[0] != gone)


# The reveal and the pick


@pytest.mark.parametrize("players", [2, 3, 4])
def test_d1_each_player_has_nought_to_seven_and_the_trump_and_no_x(players: int) -> None:
    position = begin(players, first=1)
    for seat in range(players):
        assert field(position, SEATS[seat]) == nine("abcd"[seat]).replace(" ", ",")
    with pytest.raises(OptionError, match="each once"):
        begin(players, powers="01234567*x")


@pytest.mark.parametrize(
    ("players", "shown", "picker"),
    [
        (2, "reveal:4a reveal:2b", 1),
        (2, "reveal:0a reveal:2b", 0),
        (2, "reveal:*a reveal:7b", 1),
        (3, "reveal:5a reveal:1b reveal:3c", 1),
        (4, "reveal:5a reveal:6b reveal:7c reveal:2d", 3),
    ],
)
def test_d2_the_lowest_revealed_card_picks_and_the_trump_counts_eight(players: int, shown: str, picker: int) -> None:
    position = follow(begin(players), shown)
    assert (field(position, "phase"), position.to_act) == ("pick", picker)


def test_d2_each_card_of_the_nine_is_equally_likely_to_be_revealed() -> None:
    assert begin().outcomes() == even(nine("a"))
    assert follow(begin(), "reveal:5a").outcomes() == even(nine("b"))


def test_d2_only_those_who_tie_for_lowest_reveal_again_and_another_card() -> None:
    position = follow(begin(3), "reveal:5a reveal:7b reveal:5c")
    assert position.outcomes() == even("0a 1a 2a 3a 4a 6a 7a *a")
    position = follow(position, "reveal:*a")
    assert position.outcomes() == even("0c 1c 2c 3c 4c 6c 7c *c")  # Player 2 showed a higher card and is done
    assert follow(position, "reveal:7c").to_act == 2


def test_d2_further_ties_are_broken_among_fewer_and_only_by_the_new_cards() -> None:
    position = follow(begin(4), "reveal:3a reveal:3b reveal:3c reveal:3d")
    position = follow(position, "reveal:6a reveal:1b reveal:1c reveal:2d")  # 2 and 3 tie again, 1 and 4 are done
    position = follow(position, "reveal:*b")
    assert follow(position, "reveal:7c").to_act == 2
    assert set(follow(position, "reveal:*c").outcomes()) == {"0b", "2b", "4b", "5b", "6b", "7b"}


def test_d2_lot_decides_when_those_who_tie_have_shown_all_their_cards() -> None:
    position = follow(begin(powers="3*"), "reveal:3a reveal:3b reveal:*a reveal:*b")
    assert field(position, "phase") == "lot"
    assert position.outcomes() == even("1 2")
    assert [follow(position, f"lot:{seat}").to_act for seat in "12"] == [0, 1]


def test_d2_only_those_who_still_tie_take_part_in_the_lot() -> None:
    position = follow(begin(3, powers="3*"), "reveal:3a reveal:*b reveal:3c reveal:*a reveal:*c")
    assert position.outcomes() == even("1 3")


def test_d2_with_nine_cards_the_lot_comes_after_the_ninth_tie_and_not_before() -> None:
    position = begin()
    for power in POWERS:
        assert field(position, "phase") == "reveal"
        position = follow(position, f"reveal:{power}a reveal:{power}b")
    assert field(position, "phase") == "lot"


def test_d2_the_first_pick_comes_before_the_bury_and_the_revealed_cards_go_back() -> None:
    position = follow(begin(), "reveal:2a reveal:2b reveal:1a reveal:0b 2:1")
    assert field(position, "phase") == "bury"
    assert position.outcomes() == even(nine("a"))
    assert follow(position, "bury:2a").outcomes() == even(nine("b"))
    assert follow(position, "bury:2a bury:0b").to_act == 0


@pytest.mark.parametrize("players", [2, 3, 4])
def test_d2_first_names_who_leads_and_skips_the_reveal_and_the_pick(players: int) -> None:
    for first in range(1, players + 1):
        position = begin(players, first=first)
        assert field(position, "phase") == "bury"
        position = follow(position, " ".join(f"bury:7{colour}" for colour in "abcd"[:players]))
        assert (field(position, "phase"), position.to_act) == ("play", first - 1)


@pytest.mark.parametrize("players", [2, 3, 4])
def test_d3_one_random_card_of_each_player_goes_to_one_buried_pile(players: int) -> None:
    position = begin(players, first=1)
    for seat, colour in enumerate("abcd"[:players]):
        assert position.outcomes() == even(nine(colour))
        position = follow(position, f"bury:{seat}{colour}")
    assert field(position, "buried") == ",".join(f"{seat}{colour}" for seat, colour in enumerate("abcd"[:players]))
    assert [hand.bit_count() for hand in position.state.hands[:players]] == [8] * players


def test_d20_the_picker_may_pick_anyone_themselves_included() -> None:
    position = follow(begin(4), "reveal:3a reveal:1b reveal:4c reveal:5d")
    assert list(position.decisions()) == ["1", "2", "3", "4"]
    for leader in SEATS:
        after = follow(position, f"2:{leader} bury:0a bury:0b bury:0c bury:0d")
        assert after.to_act == int(leader) - 1
    assert follow(position, "2:player3 bury:0a bury:0b bury:0c bury:0d").to_act == 2


def test_d20_play_goes_clockwise_by_rising_seat_and_round_again() -> None:
    position = follow(begin(4, first=3), "bury:0a bury:0b bury:0c bury:0d 3:* 4:* 1:* 2:*")
    assert position.to_act == 2


# Being put out, the end of a round and the next round


def test_d15_who_cannot_play_is_out_and_the_next_player_faces_the_same_power() -> None:
    position = follow(duel("2a 7a", "4b 6b", "1c 7c", up="3a"), "1:2 take:3a")
    assert (position.to_act, field(position, "in"), field(position, "power")) == (2, "13", "2")
    assert (field(position, "2"), field(position, "out")) == ("4b,6b", "0,1,0")


def test_d15_a_player_without_cards_is_out_only_when_their_turn_comes() -> None:
    position = follow(duel("0a", "*b 7b", "*c", up="3a"), "1:0 kill:3a")
    assert (field(position, "in"), position.to_act) == ("123", 1)  # Player 1 has played their last card
    position = follow(position, "2:* 3:*")
    assert (position.to_act, field(position, "out")) == (1, "1,0,0")


def test_d15_two_in_a_row_who_cannot_play_are_out_in_turn() -> None:
    position = follow(duel("5a 0a", "4b", "3c", "7d 1d", up="*a", rest="buried"), "1:5")
    assert (position.to_act, field(position, "out")) == (3, "0,1,2,0")


def test_d4_a_later_round_has_no_reveal_and_the_first_to_lose_picks_after_the_bury() -> None:
    position = follow(duel("5a 7a", "4b", "3c", up="*a"), "1:5")
    assert (field(position, "phase"), field(position, "out"), field(position, "wins")) == ("next", "0,1,2", "1,0,0")
    position = follow(position, "next:round bury:0a bury:0b")
    assert field(position, "phase") == "bury"
    position = follow(position, "bury:0c")
    assert (field(position, "phase"), position.to_act) == ("pick", 1)
    assert list(position.decisions()) == ["1", "2", "3"]
    assert follow(position, "2:3").to_act == 2


def test_d4_the_first_to_lose_picks_even_with_a_higher_seat_than_the_next_to_lose() -> None:
    position = follow(duel("3a", "7b 0b", "5c 1c", up="*a", to="3"), "3:5 2:7 target:3 give:1c")
    assert field(position, "out") == "1,0,2"
    assert follow(position, "next:round bury:0a bury:0b bury:0c").to_act == 0
    position = follow(duel("5a 7a", "6b", "4c", up="*a"), "1:5 2:6 2:3 disarm:4c")
    assert field(position, "out") == "2,0,1"
    assert follow(position, "next:round bury:0a bury:0b bury:0c").to_act == 2


def test_d21_for_each_new_round_all_cards_go_back_to_the_owner_of_their_colour() -> None:
    position = follow(duel("5a 0b 1c", "4b 2c", "3c 2a", up="*b"), "1:5 next:round")
    assert [field(position, key) for key in "123"] == [nine(colour).replace(" ", ",") for colour in "abc"]
    assert (field(position, "up"), field(position, "buried"), field(position, "power")) == ("-", "-", "lead")


# Whole rounds, card by card


def test_d6_d16_a_whole_round_for_two_is_won_by_the_one_who_stands() -> None:
    position = follow(begin(first=1, rounds=1), "bury:3a bury:6b 1:6 target:2 disarm:2b 2:5 1:7 target:2 2:0")
    assert (field(position, "1"), field(position, "2")) == ("0a,0b,1a,2a,4a,5a,*a", "1b,3b,4b,7b,*b")
    position = follow(position, "2:4 2:6 target:1 disarm:5a 1:2 1:7 2:1 draw:6b 1:0a 1:4 2:* 1:7 target:2 2:7")
    assert (field(position, "up"), field(position, "buried")) == ("0a,1b,2a,5b,6a,7a,*b", "2b,3a,4b,5a")
    position = follow(position, "2:6 target:1 disarm:*a 1:4 1:5")
    assert (field(position, "demand"), field(position, "2"), field(position, "out")) == ("stance", "3b", "0,1")
    assert position.ending() == piste.Ending(0, "rounds won", (1, -1))


def test_d14_d16_a_whole_round_for_three_is_won_by_the_one_who_stands() -> None:
    position = begin(3, first=2, rounds=1)
    position = follow(position, "bury:7a bury:0b bury:*c 2:3 2:1 feint:*a 3:7 3:2 2:6 1:6 1:3 disarm:6c 2:5")
    assert (field(position, "3"), list(position.decisions())) == ("0c,1c,2c,3c,4c,5c,6b", ["6"])
    position = follow(position, "3:6 3:2 disarm:*b 1:5 2:7 2:3 3:5 3:4 3:5a")
    assert (field(position, "power"), field(position, "demand"), field(position, "out")) == ("4", "stance", "1,2,0")
    assert position.ending() == piste.Ending(2, "rounds won", (-1, -1, 2))


def test_d15_d16_a_whole_round_for_four_is_won_by_the_one_who_stands() -> None:
    position = follow(begin(4, first=4, rounds=1), "bury:*a bury:1b bury:4c bury:7d 4:2 1:1 draw:7d 2:0 2:1 3:* 4:*")
    assert (field(position, "power"), field(position, "buried")) == ("*", "1a,1b,4c,*a")
    position = follow(position, "1:7d 1:3 3:0 2:* 3:6 3:2 disarm:7b 4:5 1:7 1:4 4:6 2:6 2:3 disarm:7c 3:5")
    assert (position.to_act, field(position, "out")) == (0, "0,0,0,1")
    position = follow(position, "1:6d 1:2 disarm:5b 2:4 2:5d")
    assert (position.to_act, field(position, "out")) == (0, "0,0,2,1")
    position = follow(position, "1:6 target:2 disarm:3b 2:2 2:*c 1:0c 1:*d 2:* 1:5")
    assert field(position, "out") == "0,3,2,1"
    assert position.ending() == piste.Ending(0, "rounds won", (3, -1, -1, -1))


def test_d3_the_round_of_the_rules_page_can_be_played_with_its_buried_cards_laid() -> None:
    table = piste.open_table(GAME, {"first": 1}, seed="any", laid="4 7")
    assert table.position_text().split()[1:5] == [
        "1=0a,1a,2a,3a,5a,6a,7a,*a",
        "2=0b,1b,2b,3b,4b,5b,6b,*b",
        "up=-",
        "buried=4a,7b",
    ]
    assert not table.counts
    page = "bury:4a bury:7b 1:6 target:2 disarm:*b 2:5 1:* 2:4 2:5 1:7 target:2 2:0 2:3 target:1 feint:1a 1:0a 1:*"
    position = follow(begin(first=1), page)
    assert (field(position, "phase"), field(position, "wins")) == ("next", "1,0")
    with pytest.raises(DealError, match="is not Player 2's colour"):
        piste.open_table(GAME, {"first": 1}, laid="4 7a")


# The match


@pytest.mark.parametrize(("rounds", "need"), [(1, 1), (3, 2), (5, 3), (7, 4), (9, 5)])
def test_d16_the_first_to_win_more_than_half_of_the_rounds_wins_the_match(rounds: int, need: int) -> None:
    best = f"rounds={rounds}"
    last = duel("5a", "4b", up="*a", options=best, wins=f"{need - 1},{need - 1}")
    assert follow(last, "1:5").ending() == piste.Ending(0, "rounds won", (1, -1))
    last = duel("5a", "4b", "3c", "2d", up="*a", options=best, wins=",".join([str(need - 1)] * 4))
    assert follow(last, "1:5").ending() == piste.Ending(0, "rounds won", (3, -1, -1, -1))
    if need > 1:
        earlier = duel("5a", "4b", up="*a", options=best, wins=f"{need - 2},{need - 1}")
        assert field(follow(earlier, "1:5"), "phase") == "next"
    with pytest.raises(PositionError, match=f"{need} rounds win the match: it is over"):
        duel("5a", "4b", up="*a", options=best, wins=f"0,{need}")


@pytest.mark.parametrize("players", [2, 3, 4])
def test_d16_no_match_takes_more_rounds_than_its_bound(players: int) -> None:
    for seed, rounds in enumerate([1, 3, 5, 9] * 2):
        positions = list(wander(begin(players, rounds=rounds, powers="2357*"), seed))
        wins = [int(won) for won in field(positions[-1], "wins").split(",")]
        ended = sum(field(position, "phase") == "next" for position in positions) + 1
        assert max(wins) == rounds // 2 + 1
        assert ended == sum(wins) <= players * (rounds - 1) // 2 + 1


@pytest.mark.parametrize("players", [2, 3, 4])
def test_d18_hands_never_grow_three_plays_at_most_keep_them_and_rounds_are_short(players: int) -> None:
    longest = 0
    for seed in range(200):
        plays = run = 0
        held = 8 * players
        for position in wander(begin(players, rounds=1, first=1), seed, long=seed % 2 == 0):
            if field(position, "phase") not in ("play", "over"):
                continue  # between a play and the end of its ability
            now = in_hands(position)
            assert now <= held
            run = run + 1 if now == held and plays else 0
            longest = max(longest, run)
            plays, held = plays + 1, now
        assert plays - 1 <= 32 * players + 3  # the end was counted too
    assert longest == 3


def test_d18_the_longest_run_that_keeps_hands_is_four_two_one() -> None:
    position = duel("4a 0a", "2b 0b", "1c 0c", up="1a 7a", rest="buried")
    held = in_hands(position)
    position = follow(position, "1:4 1:1 draw:3a 2:2 2:7 3:1 draw:5b")
    assert in_hands(position) == held
    assert list(position.decisions()) == ["0"]  # whatever follows a 1 takes a card from the hands for good
    assert in_hands(follow(position, "1:0 1:4")) == held - 1


# What is asked


def test_d19_a_play_is_asked_even_with_one_playable_card_and_cannot_be_refused() -> None:
    position = duel("7a 2a", "6b", up="3a")
    assert (position.to_act, list(position.decisions())) == (0, ["2"])
    for word in ("pass", "concede", "0"):
        with pytest.raises((UnreadableDecisionError, IllegalDecisionError), match="You can choose 2"):
            position.after(word)
