"""Zero Sum Duel: the sheet's example, rulings Z1 to Z7, and the words a player types and reads."""

from __future__ import annotations

import re
from fractions import Fraction
from itertools import pairwise

import pytest

import piste
from piste.core.belief import event_text
from piste.core.errors import IllegalDecisionError, OptionError, PositionError

GAME = piste.find("zero-sum-duel")
NAME = "zero-sum-duel"
A, B, SPECTATOR = 0, 1, piste.SPECTATOR
EVERYBODY = (SPECTATOR, A, B)

# Six turns without a decision, after which A has to discard. A: +1 +4 +5, B: -1 +2 -4.
SIX = "+1 -1 +4 +2 +5 -4"


def values(cards: int, top: int = 5) -> list[int]:
    """Return a set of cards as numbers, lowest first: worked out here, not by the rules under test."""
    deck = [*range(-top, 0), *range(1, top + 1)]
    return [value for card, value in enumerate(deck) if cards >> card & 1]


def laid(cards: str, **options: int | str) -> piste.Table:
    return piste.open_table(NAME, {"first": "a", **options}, laid=cards, seed="the rest of the deck")


def told(table: piste.Table, seat: int) -> list[str]:
    """Return a seat's log in the notation, `?` for what it was not told."""
    return [event_text(GAME, table.options, line.event) for line in table.view(seat).log]


def discard_drawn(table: piste.Table) -> None:
    """Discard the card just drawn, as a player who stalls does."""
    seat = table.to_act
    assert seat is not None
    table.decide(seat, table.view(seat).log[-1].event.what)


# The sheet's example


def test_g8_example_of_the_sheet_runs_turn_by_turn_to_the_win_of_player_a() -> None:
    turns = [
        (A, "+3", [3], 3),
        (B, "-2", [-2], -2),
        (A, "-5", [-5, 3], -2),
        (B, "+4", [-2, 4], 2),
        (A, "+2", [-5, 2, 3], 0),
    ]
    table = laid("+3 -2 -5 +4 +2")
    for seat in (A, B):
        log = table.view(seat).log
        assert len(log) == len(turns)  # nothing else happened, and nobody was asked
        for number, (line, (player, card, hand, total)) in enumerate(zip(log, turns, strict=True), 1):
            shown = card if player == seat else "?"
            assert event_text(GAME, table.options, line.event) == f"draw@{'AB'[player]}:{shown}"
            assert (line.after.turns, line.after.left, line.after.pile) == (number, 10 - number, 0)
            if player == seat:
                assert values(line.after.hand) == hand
                assert sum(values(line.after.hand)) == total
            assert (line.after.winner == A) == (number == 5)
    assert table.ending() == piste.Ending(A, "sum is zero", (1, -1))
    assert not table.view(A).counts  # a laid deck says so and counts in no standing


def test_g8_example_on_our_page_goes_as_told() -> None:
    table = laid("+4 +5 -2 -3 +1 -4 +3 +2 -1")
    assert (table.to_act, values(table.view(A).position.hand)) == (A, [-2, 1, 3, 4])
    table.decide(A, "+4")
    assert (table.to_act, values(table.view(B).position.hand)) == (B, [-4, -3, 2, 5])
    table.decide(B, "+2")
    assert (table.to_act, values(table.view(A).position.hand)) == (A, [-2, -1, 1, 3])
    table.decide(A, "+1")
    assert table.ending() == piste.Ending(A, "sum is zero", (1, -1))
    assert table.view().position.turns == 9


# Rulings


@pytest.mark.parametrize("card", ["+5", "-4", "+1", "-2"])
def test_z1_four_cards_that_sum_to_zero_do_not_win_whatever_is_discarded(card: str) -> None:
    table = laid("+5 -1 -4 +2 +1 -5 -2")
    assert sum(values(table.view(A).position.hand)) == 0
    assert (table.to_act, table.ending()) == (A, None)
    table.decide(A, card)
    assert table.ending() is None


@pytest.mark.parametrize(("card", "wins"), [("+1", True), ("+5", False), ("-4", False), ("-1", False)])
def test_z1_three_cards_kept_are_the_ones_that_count(card: str, wins: bool) -> None:
    table = laid("+5 -3 -4 +2 +1 -5 -1")
    table.decide(A, card)
    ending = table.ending()
    assert (ending is not None and ending.winner == A) == wins


def test_z2_card_just_drawn_may_be_discarded() -> None:
    table = laid(f"{SIX} -3")
    table.decide(A, "-3")
    assert values(table.view(A).position.hand) == [1, 4, 5]
    assert values(table.view().position.pile) == [-3]


def test_z2_full_hand_may_discard_any_of_its_four_cards() -> None:
    # A fault known from public environments: not every card of a full hand could be discarded.
    for card, kept in (("+1", [-3, 4, 5]), ("+4", [-3, 1, 5]), ("+5", [-3, 1, 4]), ("-3", [1, 4, 5])):
        table = laid(f"{SIX} -3")
        assert sorted(table.view(A).decisions) == ["+1", "+4", "+5", "-3"]
        table.decide(A, card)
        assert values(table.view(A).position.hand) == kept
        assert told(table, B)[6:8] == ["draw@A:?", f"discard@A:{card}"]


def test_z2_player_is_asked_only_after_the_card_is_drawn() -> None:
    # A fault known from public environments: asked before the draw, a player decides blind.
    table = piste.open_table(NAME, {"turns": 40}, seed="asked after the draw")
    asked = 0
    while (seat := table.to_act) is not None:
        view = table.view(seat)
        last = view.log[-1].event
        assert (GAME.kind_name(last.kind), last.seat) == ("draw", seat)
        assert last.what in view.actions
        assert len(values(view.position.hand)) == 4
        asked += 1
        table.decide(seat, view.actions[asked % 4])
    assert asked > 4


def test_z3_opponent_and_watcher_cannot_tell_two_hands_apart() -> None:
    # The two worlds differ only in a card that A holds all the time: +1 in one, +3 in the other.
    decks = ("+1 -1 +4 +2 +5 -4 -3 -2 -5 +3", "+3 -1 +4 +2 +5 -4 -3 -2 -5 +1")
    one, other = (laid(deck) for deck in decks)
    for seat, card in ((A, "-3"), (B, "+2"), (A, None)):
        for onlooker in (B, SPECTATOR):
            assert one.view(onlooker) == other.view(onlooker)  # whole view: position, decisions and log
        assert one.view(A) != other.view(A)
        if card is not None:
            one.decide(seat, card)
            other.decide(seat, card)
    refusals = []
    for table in (one, other):
        with pytest.raises(IllegalDecisionError) as refused:
            table.decide(B, "+1")
        refusals.append(str(refused.value))
    assert refusals == ["Player B cannot decide now: it is for Player A."] * 2


def test_z3_draws_are_told_to_their_owner_and_discards_to_everybody() -> None:
    table = laid(f"{SIX} -3 -2")
    table.decide(A, "-3")
    draws = [("A", "+1"), ("B", "-1"), ("A", "+4"), ("B", "+2"), ("A", "+5"), ("B", "-4"), ("A", "-3"), ("B", "-2")]
    for seat in EVERYBODY:
        told_draws = [f"draw@{who}:{card if GAME.seat_name(seat) == who else '?'}" for who, card in draws]
        assert told(table, seat) == [*told_draws[:7], "discard@A:-3", told_draws[7]]


def test_z3_discards_hand_sizes_and_deck_size_are_public() -> None:
    table = laid(f"{SIX} -3 -2")
    table.decide(A, "-3")
    for seat in EVERYBODY:
        position = table.view(seat).position
        assert (values(position.pile), position.sizes, position.left) == ([-3], (3, 4), 2)
        assert (position.hands, position.undrawn) == ((0, 0), 0)
    assert values(table.view(A).position.hand) == [1, 4, 5]
    assert values(table.view(B).position.hand) == [-4, -2, -1, 2]
    assert values(table.view(SPECTATOR).position.hand) == []
    assert table.view(A).decisions == table.view(SPECTATOR).decisions == ()


def test_z3_at_the_first_discard_the_opponent_holds_35_hands_possible() -> None:
    # Four of the seven cards that B has not seen.
    believed = piste.belief(GAME, laid(f"{SIX} -3").view(B)).states
    assert len(believed) == 35
    assert len({state.hands[A] for state in believed}) == 35


def test_z3_winning_hand_is_shown_to_everybody_and_not_before() -> None:
    table = laid("+3 -2 -5 +4 +2")
    for seat in EVERYBODY:
        *before, last = (line.after for line in table.view(seat).log)
        assert all(after.hands == (0, 0) and after.undrawn == 0 for after in before)
        assert [values(hand) for hand in last.hands] == [[-5, 2, 3], [-2, 4]]
        assert values(last.undrawn) == [-4, -3, -1, 1, 5]  # G9


def test_z4_deck_is_rebuilt_from_the_whole_pile_when_a_draw_finds_it_empty() -> None:
    table = laid(f"{SIX} +3 -2 -3 -5")
    for seat in (A, B, A):
        assert table.to_act == seat
        discard_drawn(table)
    # Turn 10: B took the last card. The deck stays empty and the pile stays where it is.
    position = table.view().position
    assert (position.left, values(position.pile)) == (0, [-3, -2, 3])
    discard_drawn(table)
    discarded, drawn = (line.after for line in table.view().log[-2:])
    assert (discarded.left, values(discarded.pile)) == (0, [-5, -3, -2, 3])
    assert (drawn.left, drawn.pile) == (3, 0)


def test_z4_card_discarded_last_may_be_drawn_next_with_the_others() -> None:
    place = f"{NAME} A=+1,+4,+5 B=-1,+2,-4 pile=+3,-2,-3,-5 to=A phase=draw turns=10"
    quarter = Fraction(1, 4)
    assert piste.Position.parse(place).outcomes() == {"-5": quarter, "-3": quarter, "-2": quarter, "+3": quarter}


def test_z4_pile_has_two_cards_at_each_rebuild_with_six_cards_and_hands_of_two() -> None:
    table = piste.open_table(NAME, {"top": 3, "hand": 2, "turns": 60}, seed="small deck", laid="+3 -3 +2 -2")
    while table.to_act is not None:
        discard_drawn(table)
    log = [line.after for line in table.view().log]
    rebuilt = [before for before, after in pairwise(log) if after.left > before.left]
    assert len(rebuilt) > 10
    assert all(before.left == 0 and len(values(before.pile, 3)) == 2 for before in rebuilt)


def test_z5_owner_can_tell_the_order_of_the_hand_from_the_draws() -> None:
    # A draws +5 +1 +4 -3, gives up +5 and -2, and takes +5 back from the new deck: it is then the last card.
    outcomes = [9, 4, 5, 6, 8, 1, 2, 0, 3, 7, 9]
    table = piste.open_table(NAME, {"first": "a"}, outcomes=outcomes)
    for seat, card in ((A, "+5"), (B, "-5"), (A, "-2"), (B, "+3")):
        table.decide(seat, card)
    order: list[str] = []
    for event in told(table, A):
        what, _, card = event.partition(":")
        if what == "draw@A":
            order.append(card)
        elif what == "discard@A":
            order.remove(card)
    assert order == ["+1", "+4", "-3", "+5"]
    assert sorted(map(int, order)) == values(table.view(A).position.hand)


def test_z6_two_cards_win_and_are_declared_without_being_asked() -> None:
    table = laid("+3 +1 -3")
    assert table.ending() == piste.Ending(A, "sum is zero", (1, -1))
    assert told(table, A) == ["draw@A:+3", "draw@B:?", "draw@A:-3"]


def test_z6_empty_hands_at_the_start_win_nothing() -> None:
    position = piste.Position.start(NAME, {"first": "a"})
    assert (position.to_act, position.ending()) == (piste.CHANCE, None)
    # B's hand is empty while A's first turn is judged; it is B who draws next.
    after = position.after("+3")
    assert (after.to_act, after.payoffs(), after.state.seat) == (piste.CHANCE, (0, 0), B)


@pytest.mark.parametrize(
    "text",
    [
        # A's hand was judged on this very turn, so this was a win and no draw (G5).
        f"{NAME}{{turns=7}} A=+1,+2,-3 B=-1,-2,-4 pile=+5 to=A phase=over turns=7 winner=none reason=turn-limit",
        # B's hand was judged a turn ago, so B had won before A could.
        f"{NAME} A=+1,+2,-3 B=-1,-4,+5 pile=+4 to=A phase=over turns=7 winner=A reason=sum-is-zero",
    ],
)
def test_z6_position_in_which_a_zero_sum_went_undeclared_is_refused(text: str) -> None:
    with pytest.raises(PositionError, match="zero"):
        piste.Position.parse(text)


def test_z7_four_cards_stand_only_between_draw_and_discard_of_their_owner() -> None:
    table = piste.open_table(NAME, {"turns": 60}, seed="hands of four", laid=SIX)
    while table.to_act is not None:
        discard_drawn(table)
    fours = 0
    for line in table.view().log:
        limit = [3, 3]
        if line.after.phase == GAME.notation.KINDS.index("discard"):
            limit[line.after.seat] = 4
            fours += line.after.sizes[line.after.seat] == 4
        assert all(size <= most for size, most in zip(line.after.sizes, limit, strict=True))
    assert fours == 60 - 6  # every turn after the first six


def test_z7_option_hand_says_how_many_cards_are_kept() -> None:
    table = piste.open_table(NAME, {"first": "b", "hand": 2}, laid="+1 +2 +3 +4 +5")
    assert (table.to_act, values(table.view(B).position.hand)) == (B, [1, 3, 5])
    assert table.view().position.turns == 4


# Options, turn limit and resignation


def test_g1_coin_is_fair_and_everybody_sees_it() -> None:
    half = Fraction(1, 2)
    assert piste.Position.start(NAME).outcomes() == {"A": half, "B": half}
    table = piste.open_table(NAME, outcomes=[1, 7, 5, 2])  # B is tossed, and draws +3 and -3
    assert [told(table, seat)[0] for seat in EVERYBODY] == ["toss@B:B"] * 3
    assert table.ending() == piste.Ending(B, "sum is zero", (-1, 1))


@pytest.mark.parametrize(("first", "seat"), [("a", A), ("A", A), (1, A), ("b", B), (2, B)])
def test_g1_option_first_names_who_starts_and_skips_the_toss(first: int | str, seat: int) -> None:
    log = told(piste.open_table(NAME, {"first": first}, laid="+3 -2"), seat)
    assert log[0] == f"draw@{'AB'[seat]}:+3"


def stall(turns: int) -> piste.Table:
    """Return a table at which neither {+3, +4, +5} nor {-3, -4, -5} ever wants another card (G2)."""
    return laid("+3 -3 +4 -4 +5 -5", turns=turns)


def test_g2_two_players_who_stall_go_on_without_a_limit_and_draw_with_one() -> None:
    assert GAME.options().turns == 0
    endless, limited = stall(0), stall(50)
    for _ in range(50 - 6):
        assert limited.ending() is None
        discard_drawn(endless)
        discard_drawn(limited)
    assert endless.ending() is None
    assert limited.ending() == piste.Ending(None, "turn limit", (0, 0))
    assert limited.view().position.turns == 50
    assert [values(hand) for hand in limited.view().position.hands] == [[3, 4, 5], [-5, -4, -3]]  # G9


@pytest.mark.parametrize(("turns", "winner", "reason"), [(5, A, "sum is zero"), (4, None, "turn limit")])
def test_g5_win_on_the_last_turn_is_a_win(turns: int, winner: int | None, reason: str) -> None:
    ending = laid("+3 -2 -5 +4 +2", turns=turns).ending()
    assert ending is not None
    assert (ending.winner, ending.reason) == (winner, reason)


@pytest.mark.parametrize(("leaver", "payoffs"), [(A, (-1, 1)), (B, (1, -1))])
def test_g3_either_player_may_resign_at_a_decision_and_the_other_wins(leaver: int, payoffs: tuple[int, int]) -> None:
    table = laid(f"{SIX} -3")
    table.resign(leaver)
    assert table.ending() == piste.Ending(1 - leaver, "resigned", payoffs)
    for seat in EVERYBODY:
        assert told(table, seat)[-1] == f"resigns@{'AB'[leaver]}"
        after = table.view(seat).log[-1].after  # G9: hands and undrawn cards are shown, four cards too
        assert [values(hand) for hand in after.hands] == [[-3, 1, 4, 5], [-4, -1, 2]]
        assert values(after.undrawn) == [-5, -2, 3]
    with pytest.raises(IllegalDecisionError, match="the game is over"):
        table.decide(A, "+1")
    with pytest.raises(IllegalDecisionError, match="the game is over"):
        table.resign(1 - leaver)


@pytest.mark.parametrize("top", [3, 15])
def test_z4_option_top_makes_a_deck_of_one_card_each_way(top: int) -> None:
    position = piste.Position.start(NAME, {"first": "a", "top": top, "hand": 2})
    assert list(position.outcomes()) == [f"{value:+d}" for value in range(-top, top + 1) if value]


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"first": "c"}, "The option 'first' cannot be 'c': it is toss, a or b."),
        ({"top": 2}, "The option 'top' cannot be '2': it is a whole number from 3 to 15."),
        ({"turns": -1}, "The option 'turns' cannot be '-1': it is a whole number from 0 to 1000000."),
        ({"hand": 1}, "The option 'hand' cannot be '1': it is a whole number from 2 to 14."),
        ({"hand": 5}, "With cards up to 5 a hand has at most 4 cards, not 5: "),
        ({"deck": 5}, "Zero Sum Duel has no option 'deck'. It has: first, turns, top, hand."),
    ],
)
def test_g7_options_that_cannot_be_played_are_refused_with_the_reason(
    options: dict[str, int | str], reason: str
) -> None:
    with pytest.raises(OptionError, match=f"^{re.escape(reason)}"):
        piste.open_table(NAME, options)


def test_z8_a_shown_hand_does_not_tell_in_which_order_it_was_drawn() -> None:
    one = piste.open_table(NAME, {"first": "a"}, laid="+3 -2 -5 +4 +2", seed="order")
    two = piste.open_table(NAME, {"first": "a"}, laid="-5 -2 +3 +4 +2", seed="order")
    for table in (one, two):
        assert table.ending() == (0, "sum is zero", (1, -1))
    for seat in (1, SPECTATOR):
        assert one.view(seat) == two.view(seat)
    assert one.view(0).log != two.view(0).log
