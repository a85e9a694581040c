"""Duel: who is told what and who sees what, for every seat and the watcher (D3, D8, D12, D13, D15, D17, D19)."""

from __future__ import annotations

import random
from typing import Any

import pytest

import piste
from piste import CHANCE, SPECTATOR, Position, Table
from piste.core.belief import event_text
from piste.core.protocols import HIDDEN
from tests.games.rules.test_mccoy_duel import GAME, POWERS, begin, duel, field, follow, wander

NOBODY = (0, 0, 0, 0)
BURIED, DREW, DISARMED, GAVE = "bury", "draw", "disarm", "give"


def card(name: str) -> int:
    return 9 * "abcd".index(name[1]) + POWERS.index(name[0])


def hand(names: str) -> int:
    """Return a set of cards as views hold it."""
    return sum(1 << card(name) for name in names.split())


def outcome(name: str) -> int:
    if name == "round":
        return 0
    return 35 + int(name) if name.isdigit() else card(name)


def sit(words: str, **options: int | str) -> Table:
    """Play steps as `follow` reads them at a table that is given its outcomes."""
    steps = [word.split(":") for word in words.split()]
    given = [outcome(what) for who, what in steps if not who.isdigit()]
    table = piste.open_table(GAME, options, outcomes=given)
    for who, what in steps:
        if who.isdigit():
            table.decide(int(who) - 1, what)
    return table


def log(table: Table, seat: int) -> list[str]:
    return [event_text(table.game, table.options, told.event) for told in table.view(seat).log]


def everyone(table: Table) -> list[int]:
    return [SPECTATOR, *range(table.seats)]


def kind(position: Position) -> str:
    return position.game.kind_name(position.game.rules.kind(position.state))


# What each is told


@pytest.mark.parametrize("players", [2, 3, 4])
def test_d3_the_owner_is_told_which_card_they_bury_and_nobody_else(players: int) -> None:
    names = ["7a", "3b", "*c", "0d"][:players]
    table = sit(" ".join(f"bury:{name}" for name in names), players=players, first=1)
    for seat in everyone(table):
        told = [name if owner == seat else "?" for owner, name in enumerate(names)]
        assert log(table, seat) == [f"bury@{owner + 1}:{what}" for owner, what in enumerate(told)]
        assert table.view(seat).position.buried == players


def test_d2_the_reveal_the_lot_and_the_pick_are_told_to_all() -> None:
    words = "reveal:3a reveal:3b reveal:*a reveal:*b lot:2"
    table = sit(f"{words} 2:1 bury:3a bury:3b", powers="3*")
    public = ["reveal@1:3a", "reveal@2:3b", "reveal@1:*a", "reveal@2:*b", "lot@2:2", "pick@2:1"]
    for seat in everyone(table):
        assert log(table, seat)[:6] == public
    table = sit(words, powers="3*")
    for seat in everyone(table):
        assert table.view(seat).position.revealed[:2] == (hand("3a *a"), hand("3b *b"))


def test_d8_the_card_drawn_is_told_to_who_draws_it_and_nobody_else() -> None:
    table = sit("bury:7a bury:3b bury:*c 1:1 draw:*c", players=3, first=1)
    for seat in everyone(table):
        assert log(table, seat)[-1] == ("draw@1:*c" if seat == 0 else "draw@1:?")
        assert table.view(seat).position.buried == 2
    assert table.view(0).position.hand == hand("0a 2a 3a 4a 5a 6a *a *c")


def test_d8_who_draws_the_card_of_another_does_not_tell_its_owner() -> None:
    drew_mine = sit("bury:7a bury:3b 1:1 draw:3b", first=1)
    drew_own = sit("bury:7a bury:3b 1:1 draw:7a", first=1)
    assert drew_mine.view(1) == drew_own.view(1)


def test_d12_only_the_owner_is_told_which_card_a_disarm_buried() -> None:
    table = sit("bury:7a bury:3b bury:*c 1:6 1:2 disarm:5b", players=3, first=1)
    for seat in everyone(table):
        assert log(table, seat)[-2:] == ["target@1:2", "disarm@2:5b" if seat == 1 else "disarm@2:?"]
        assert table.view(seat).position.sizes == (7, 7, 8, 0)


def test_d13_only_giver_and_receiver_are_told_which_card_was_given() -> None:
    table = sit("bury:7a bury:3b bury:*c 3:7 3:1 1:6", players=3, first=3)
    for seat in everyone(table):
        assert log(table, seat)[-1] == ("give@1:6a" if seat in (0, 2) else "give@1:?")
        assert table.view(seat).log[-1].event.also == 2  # who gets it is no secret
    assert table.view(2).position.hand == hand("0c 1c 2c 3c 4c 5c 6c 6a")


def test_d17_plays_and_choices_on_the_tower_are_told_to_all() -> None:
    words = "bury:0a bury:0b 1:7 target:2 2:6 2:4 copy:7a target:1 1:5 1:3 target:2 feint:7b 2:5b"
    words += " 1:6a target:2 disarm:1b 2:2 2:7a 1:1 draw:1b"
    table = sit(words, first=1)
    open_kinds = ("play", "target", "copy", "feint", "take")
    public = [line for line in log(table, SPECTATOR) if line.startswith(open_kinds)]
    assert "feint@2:7b" in public
    assert "take@2:7a" in public
    assert not [line for line in public if line.endswith("?")]
    for seat in range(2):
        assert [line for line in log(table, seat) if line.startswith(open_kinds)] == public


@pytest.mark.parametrize("players", [2, 3, 4])
def test_d17_in_random_games_each_secret_is_told_to_those_it_concerns_only(players: int) -> None:
    seen = set()
    for seed in range(12):
        for position in wander(begin(players, rounds=3), seed, leaving=0.01):
            if position.to_act is None:
                continue
            rules, state, what = position.game.rules, position.state, kind(position)
            concerns = {
                BURIED: {state.target},
                DISARMED: {state.target},
                DREW: {state.seat},
                GAVE: {state.seat, state.target},
            }
            open_now = rules.outcomes(state) if position.to_act == CHANCE else rules.legal(state)
            actions = [action for action in range(62) if open_now >> action & 1]
            for seat in (SPECTATOR, *range(players)):
                events = [rules.tell(state, action, seat) for action in actions]
                if seat in concerns.get(what, {seat}):
                    assert [event.what for event in events] == actions
                else:
                    assert {event.what for event in events} == {HIDDEN}
                    assert len(set(events)) == 1  # nothing else in the event gives it away
            seen.add(what)
    assert {BURIED, DREW, DISARMED, GAVE} <= seen


# What each sees


def worlds(position: Position, seat: int, dice: random.Random) -> Any:
    """Return a state with the cards that this seat cannot see dealt anew among the same places."""
    state = position.state
    others = [other for other in range(4) if other != seat]
    hidden = [bit for bit in range(36) if (state.tower.buried | sum(state.hands[o] for o in others)) >> bit & 1]
    dice.shuffle(hidden)
    hands = list(state.hands)
    for other in others:
        size = hands[other].bit_count()
        hands[other] = sum(1 << bit for bit in hidden[:size])
        hidden = hidden[size:]
    tower = state.tower._replace(buried=sum(1 << bit for bit in hidden))
    return state._replace(hands=tuple(hands), tower=tower)


@pytest.mark.parametrize("players", [2, 3, 4])
def test_d17_what_a_seat_sees_does_not_depend_on_cards_it_cannot_see(players: int) -> None:
    dice = random.Random(17)
    changed = 0
    for seed in range(8):
        for position in wander(begin(players, rounds=3), seed, leaving=0.01):
            if field(position, "phase") in ("next", "over"):
                continue  # all is shown (D15, G9)
            for seat in (SPECTATOR, *range(players)):
                other = worlds(position, seat, dice)
                changed += other != position.state
                assert position.game.rules.look(other, seat) == position.seen_by(seat)
    assert changed > 500


@pytest.mark.parametrize("players", [2, 3, 4])
def test_d17_a_seat_sees_its_hand_the_tower_and_how_many_cards_there_are_elsewhere(players: int) -> None:
    for position in wander(begin(players, rounds=1), 5):
        state = position.state
        for seat in (SPECTATOR, *range(players)):
            view = position.seen_by(seat)
            assert view.hand == (state.hands[seat] if seat >= 0 else 0)
            assert view.sizes == tuple(hand.bit_count() for hand in state.hands)
            assert (view.up, view.top, view.power, view.demand) == (
                state.tower.up,
                state.tower.top,
                state.tower.power,
                state.tower.demand,
            )
            assert view.buried == state.tower.buried.bit_count()


def test_d17_a_watcher_is_never_asked_and_a_seat_only_on_its_turn() -> None:
    table = sit("bury:7a bury:3b bury:*c 3:7 3:1", players=3, first=3)
    assert [bool(table.view(seat).decisions) for seat in everyone(table)] == [False, True, False, False]
    assert [bool(table.view(seat).actions) for seat in everyone(table)] == [False, True, False, False]


def test_d19_nobody_learns_how_many_cards_another_could_have_played() -> None:
    many = duel("7a", "0b 1b 2b", up="3a", to="2")
    one = duel("7a", "1b 6b 7b", up="3a", to="2")
    assert (many.to_act, one.to_act) == (1, 1)  # both are asked
    assert (len(many.decisions()), len(one.decisions())) == (3, 1)
    for seat in (SPECTATOR, 0):
        assert many.seen_by(seat) == one.seen_by(seat)


# When the round is over, and when the match is


def test_d15_the_hand_of_who_is_out_stays_unseen_while_the_round_goes_on() -> None:
    position = follow(duel("2a 7a 1a", "4b 6b", "1c 7c", up="3a"), "1:2 take:3a")
    assert field(position, "out") == "0,1,0"
    for seat in (SPECTATOR, 0, 1, 2):
        view = position.seen_by(seat)
        assert (view.hands, view.grave, view.sizes) == (NOBODY, 0, (3, 2, 2, 0))
    assert position.seen_by(1).hand == hand("4b 6b")


def test_d15_when_a_round_is_over_all_hands_and_the_pile_are_shown_and_then_hidden_again() -> None:
    table = sit("bury:*a bury:*b 1:5 next:round bury:4a bury:4b", powers="45*", first=1)
    for seat in everyone(table):
        views = [told.after for told in table.view(seat).log]
        shown = [at for at, view in enumerate(views) if view.hands != NOBODY or view.grave]
        assert log(table, seat)[2] == "play@1:5a"
        assert shown == [2]
        assert views[2].hands == (hand("4a"), hand("4b 5b"), 0, 0)
        assert views[2].grave == hand("*a *b")


def test_d15_the_hand_of_who_resigned_is_shown_with_the_others_when_the_round_is_over() -> None:
    before = duel("6a 7a", "4b", "5c", up="*a", to="3")
    gone = before.resign(0)
    for seat in (SPECTATOR, 1, 2):
        assert gone.seen_by(seat).hands == NOBODY
        end = follow(gone, "3:5").seen_by(seat)
        assert end.hands == (hand("6a 7a"), hand("4b"), 0, 0)


@pytest.mark.parametrize("resigned", [True, False])
def test_g9_after_the_match_everything_is_shown_however_it_ended(resigned: bool) -> None:
    before = duel("5a 1a", "4b 0b", up="*a", options="rounds=1")
    end = before.resign(1) if resigned else follow(before, "1:5")
    for seat in (SPECTATOR, 0, 1):
        view = end.seen_by(seat)
        assert view.hands == (hand("1a" if not resigned else "1a 5a"), hand("0b 4b"), 0, 0)
        assert view.grave == end.state.tower.buried


# What a seat can work out


def possible(table: Table, seat: int) -> list[float]:
    return sorted(piste.belief(table.game, table.view(seat)).states.values())


def test_d17_after_the_bury_each_card_of_the_others_is_equally_likely_to_lie_there() -> None:
    table = sit("bury:7a bury:3b", first=1)
    for seat in (0, 1):
        assert possible(table, seat) == pytest.approx([1 / 9] * 9)
    assert possible(table, SPECTATOR) == pytest.approx([1 / 81] * 81)


def test_d17_a_seat_remembers_what_it_buried_and_had_buried() -> None:
    table = sit("bury:7a bury:3b 1:6 target:2 disarm:5b", first=1)
    assert len(possible(table, 0)) == 36  # any two of the blue nine, in no order
    assert len(possible(table, 1)) == 8  # the amber card is any but the 6 just played
    table = sit("bury:6a bury:3b 1:7 target:2 2:5", first=1)
    assert len(possible(table, 0)) == 8  # the blue 5 is in hand, so it was not buried
