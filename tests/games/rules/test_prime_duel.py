"""Prime Duel: the sheet's example, and rulings Q1 to Q6."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import product

import pytest

import piste
from piste.core.errors import DealError, IllegalDecisionError, OptionError, PositionError, UnreadableDecisionError

PRIMES = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47}  # the sheet's list
FOUR_OF_EACH = {str(card): Fraction(1, 10) for card in range(1, 11)}
HALF = "2,2,2,2,2,2,2,2,2,2"
NO_CARDS = "0,0,0,0,0,0,0,0,0,0"

# Player 1 has 40 and Player 2 has 24, both without a prime on the way, and Player 1 is to draw.
FORTY = "10 1 10 9 10 8 10 6"


def at(
    one: int, two: int = 0, *, deck: str = HALF, phase: str = "draw", more: str = "", options: str = ""
) -> piste.Position:
    fields = f"1={one} 2={two} deck={deck} to=1 phase={phase} turns=2"
    return piste.Position.parse(f"prime-duel{options} {fields} {more}")


def before_a_draw(score: int) -> list[piste.Position]:
    """Return where Player 1 draws with this score: on a prime, in the extra turn that it earned."""
    plain = [] if score in PRIMES and score <= 40 else [at(score)]  # above 40 both cards can go past 50 (Q3)
    return plain + ([at(score, more="extra=yes")] if score in PRIMES else [])


def kinds(table: piste.Table) -> list[str]:
    return [table.game.kind_name(told.event.kind) for told in table.view().log]


def drawn(table: piste.Table) -> list[int]:
    """Return every card drawn so far, as all at the table saw it."""
    draws = [table.game.kind_name(told.event.kind) in ("draw", "redraw") for told in table.view().log]
    return [told.event.what + 1 for told, is_draw in zip(table.view().log, draws, strict=True) if is_draw]


def keep_all(table: piste.Table, times: int) -> None:
    for _ in range(times):
        assert table.to_act is not None
        table.decide(table.to_act, "keep")


def in_deck(table: piste.Table) -> list[int]:
    """Return how many there are of each card in the deck, read from the position's text."""
    fields = dict(word.split("=", 1) for word in table.position_text().split()[1:])
    return [int(count) for count in fields["deck"].split(",")]


def test_the_sheets_example_ends_at_26_to_8() -> None:
    table = piste.open_table("prime-duel", {"first": 1}, laid="7 10 9 8 3 5")
    seen = []
    for seat, answer in ((0, "yes"), (0, "yes"), (0, "yes"), (1, "no"), (1, "yes")):
        table.decide(seat, answer)
        now = table.view().position
        seen.append((now.scores, now.seat, now.extra, now.turns))
    assert seen == [
        ((7, 0), 0, 1, 0),
        ((17, 0), 0, 1, 0),
        ((26, 0), 1, 0, 1),
        ((26, 3), 1, 1, 1),
        ((26, 8), 0, 0, 2),
    ]
    assert drawn(table)[:6] == [7, 10, 9, 8, 3, 5]


def test_a_prime_score_and_no_other_earns_an_extra_turn() -> None:
    for score in range(50):
        for before, card in product(before_a_draw(score), range(1, min(10, 49 - score) + 1)):
            kept = before.after(str(card)).after("keep").state
            assert kept.scores == (score + card, 0)
            assert kept.extra == (score + card in PRIMES)
            assert kept.seat == (0 if score + card in PRIMES else 1)


def test_the_second_card_is_kept_whatever_it_is_and_can_earn_the_extra_turn() -> None:
    position = at(10).after("9").after("discard")
    assert position.to_act == piste.CHANCE  # nobody is asked about the second card
    assert position.after("1").state.scores == (11, 0)
    assert position.after("1").state.seat == 0
    assert position.after("2").state.scores == (12, 0)
    assert position.after("2").state.seat == 1


@pytest.mark.parametrize("discards", [(), (1, 4, 6, 7), range(1000)])
def test_q1_kept_cards_come_back_with_the_reshuffle(discards: tuple[int, ...]) -> None:
    # With a target far away only the cards matter: each forty in a row must be the whole deck.
    table = piste.open_table("prime-duel", {"target": 1000}, seed="forty by forty")
    for question in range(130):
        assert table.to_act is not None
        table.decide(table.to_act, "discard" if question in discards else "keep")
    cards = drawn(table)
    for begin in (0, 40, 80):
        assert Counter(cards[begin : begin + 40]) == dict.fromkeys(range(1, 11), 4)
    assert cards[:40] != cards[40:80]


def test_q2_a_first_card_past_fifty_is_discarded_without_a_question() -> None:
    # 40 + 3 is prime: an extra turn; 8 carries past 50; 2 is the second card, and is kept.
    table = piste.open_table("prime-duel", {"first": 1}, laid=f"{FORTY} 3 8 2 6")
    keep_all(table, 8)
    assert table.view().position.scores == (40, 24)
    before = len(kinds(table))
    table.decide(0, "keep")
    assert kinds(table)[before:] == ["decide", "draw", "redraw", "draw"]
    assert drawn(table)[-4:] == [3, 8, 2, 6]
    assert table.view().position.scores == (45, 24)
    assert table.to_act == 1


def test_q2_only_a_card_that_may_be_kept_is_asked_about() -> None:
    for score in range(50):
        for before, card in product(before_a_draw(score), range(1, 11)):
            position = before.after(str(card))
            if score + card > 50:
                assert position.to_act == piste.CHANCE
                assert position.state.scores == (score, 0)
                assert position.outcomes()  # the second draw
            else:
                assert position.to_act == 0
                assert list(position.decisions()) == ["keep", "discard"]


def test_q2_the_card_that_makes_fifty_may_still_be_discarded() -> None:
    position = at(45).after("5")
    assert position.after("keep").payoffs() == (1, -1)
    assert position.after("discard").after("1").state.scores == (46, 0)


def test_the_question_comes_only_after_the_card_is_drawn() -> None:
    for seed in range(10):
        table = piste.open_table("prime-duel", seed=f"asked {seed}")
        while (seat := table.to_act) is not None:
            view = table.view(seat)
            assert table.game.kind_name(view.log[-1].event.kind) == "draw"
            assert view.log[-1].event.what == view.position.card
            assert 0 < view.position.scores[seat] + view.position.card + 1 <= 50
            table.decide(seat, view.decisions[view.number % 3 == 0])


def test_q3_second_card_past_fifty_ends_the_turn() -> None:
    for over in ("8", "9", "10"):
        after = at(43, 9, more="extra=yes").after("9").after(over).state
        assert after.scores == (43, 9)
        assert (after.seat, after.extra, after.turns) == (1, 0, 3)  # 43 is prime, but nothing changed
        assert piste.Position(piste.find("prime-duel"), after).to_act == piste.CHANCE


def test_q3_a_chosen_discard_can_end_the_same_way() -> None:
    after = at(42).after("7").after("discard").after("10").state
    assert (after.scores, after.seat, after.turns) == ((42, 0), 1, 3)


def test_q3_a_turn_without_score_reaches_the_limit_like_any_other() -> None:
    position = at(47, 9, more="extra=yes", options="{turns=3}").after("9").after("8")
    ending = position.ending()
    assert ending is not None
    assert (ending.winner, ending.reason) == (None, "turn limit")


def test_q4_the_deck_is_rebuilt_only_when_a_draw_finds_it_empty() -> None:
    last = at(20, deck="0,0,0,0,0,0,1,0,0,0")
    assert last.outcomes() == {"7": 1}  # one card is left, and it is drawn first
    asked = last.after("7")
    assert asked.state.deck == 0  # nothing is shuffled while the player thinks
    assert asked.after("keep").state.deck == 0
    assert asked.after("keep").outcomes() == FOUR_OF_EACH


def test_q4_a_first_card_discarded_in_the_same_turn_is_part_of_the_reshuffle() -> None:
    chosen = at(20, deck="0,0,0,0,0,0,1,0,0,0").after("7").after("discard")
    forced = at(47, deck="0,0,0,0,0,0,1,0,0,0").after("7")
    assert chosen.outcomes() == FOUR_OF_EACH  # 4 in 40 for the 7 too, not 3 in 39
    assert forced.outcomes() == FOUR_OF_EACH


def test_q4_every_reshuffle_is_of_all_forty_cards() -> None:
    deck = " ".join(str(card) for _ in range(4) for card in range(1, 11))
    for answer, new in (("keep", 1), ("discard", 2)):  # a discard draws the second card and the next first one
        table = piste.open_table("prime-duel", {"first": 1, "target": 1000}, laid=deck, seed="after the laid deck")
        keep_all(table, 39)
        assert in_deck(table) == [0] * 10
        assert table.to_act is not None
        table.decide(table.to_act, answer)
        fresh = Counter(drawn(table)[40:])
        assert fresh.total() == new
        assert in_deck(table) == [4 - fresh[card] for card in range(1, 11)]


def test_q5_all_see_the_same() -> None:
    table = piste.open_table("prime-duel", {"turns": 30}, seed="open cards")
    while (seat := table.to_act) is not None:
        views = [table.view(s) for s in (piste.SPECTATOR, 0, 1)]
        plain = {view.position._replace(viewer=0) for view in views}
        assert len(plain) == 1
        assert views[0].position.card >= 0  # the card to decide on is on the table
        assert len({tuple(told.event for told in view.log) for view in views}) == 1
        assert all(told.event.what >= 0 for told in views[0].log)
        table.decide(seat, table.view(seat).decisions[table.number % 2])


def test_q6_fifty_wins_at_once_with_either_card() -> None:
    for won in (at(40, 49).after("10").after("keep"), at(40, 49).after("1").after("discard").after("10")):
        ending = won.ending()
        assert ending is not None
        assert (ending.winner, ending.reason, ending.payoffs) == (0, "target reached", (1, -1))
        assert (won.state.seat, won.state.turns) == (0, 3)


def test_q6_the_win_comes_before_the_prime_check() -> None:
    # 50 is not prime, so this shows only with another target.
    table = piste.open_table("prime-duel", {"first": 1, "target": 7}, laid="7")
    table.decide(0, "keep")
    ending = table.ending()
    assert ending is not None
    assert ending.winner == 0
    assert table.view().position.extra == 0


@pytest.mark.parametrize(
    ("forms", "score"),
    [(("keep", "yes", "y", "k", "YES", " Keep "), 11), (("discard", "no", "n", "d", "No"), 10)],
)
def test_an_answer_may_be_typed_in_any_of_its_forms(forms: tuple[str, ...], score: int) -> None:
    for form in forms:
        assert at(10).after("1").after(form).state.scores == (score, 0)


@pytest.mark.parametrize("typed", ["maybe", "", "7", "pass", "yesno", "\x07"])
def test_what_is_no_answer_is_refused_and_the_answers_are_named(typed: str) -> None:
    table = piste.open_table("prime-duel", {"first": 1}, laid="7")
    with pytest.raises(UnreadableDecisionError, match=r"is not a decision here\. You can choose keep or discard\."):
        table.decide(0, typed)
    with pytest.raises(IllegalDecisionError, match="it is for Player 1"):
        table.decide(1, "keep")
    assert table.view().position.scores == (0, 0)


@pytest.mark.parametrize(
    ("laid", "why"),
    [
        ("7 11", "'11' is not a card"),
        ("0", "'0' is not a card"),
        ("7 7 7 7 7", "only 4 cards with 7"),
        ("x", "1 to 10"),
    ],
)
def test_a_deck_that_cannot_be_laid_is_refused_with_the_reason(laid: str, why: str) -> None:
    with pytest.raises(DealError, match=why):
        piste.open_table("prime-duel", laid=laid)


@pytest.mark.parametrize(
    ("option", "why"),
    [
        ({"target": 0}, "1 to 1000"),
        ({"first": "both"}, "toss, 1 or 2"),
        ({"turns": -1}, "0 to"),
        ({"deal": "any"}, "no option"),
    ],
)
def test_an_option_that_cannot_be_is_refused_with_the_reason(option: dict[str, int | str], why: str) -> None:
    with pytest.raises(OptionError, match=why):
        piste.open_table("prime-duel", option)


def test_positions_read_back_all_the_way_through_a_game() -> None:
    phases = set()
    for start in range(12):
        position = piste.Position.start("prime-duel", {"turns": 25})
        steps = start
        while position.to_act is not None:
            assert piste.Position.parse(str(position)) == position
            phases.add(position.state.phase)
            choices = list(position.outcomes() or position.decisions())
            position = position.after(choices[(steps * 7 + steps // 5) % len(choices)])
            steps += 1
        assert piste.Position.parse(str(position)) == position
    assert len(phases) == 4  # toss, draw, decide, redraw


@pytest.mark.parametrize(
    ("position", "why"),
    [
        (f"1=51 2=0 deck={HALF} to=1 phase=draw turns=2", "'1' cannot be '51'.* 0 to 50"),
        (f"1=4 2=-1 deck={HALF} to=1 phase=draw turns=2", "'2' cannot be '-1'"),
        ("1=4 2=0 deck=2,2,2,5,2,2,2,2,2,2 to=1 phase=draw turns=2", "card 4 in the deck cannot be '5'.* 0 to 4"),
        ("1=4 2=0 deck=2,2,2,2,2,2,2,2,2 to=1 phase=draw turns=2", "has 9 counts"),
        ("1=4 2=0 deck=4,4,4,4,4,4,4,4,4,4 to=1 phase=draw turns=2", "at least that one lies on the pile"),
        ("1=4 2=0 deck=2,2,2,4,2,2,2,2,2,2 to=1 phase=decide card=4 turns=2", "none of them can have been drawn"),
        (f"1=44 2=0 deck={HALF} to=1 phase=decide card=7 turns=2", r"past 50: there is nothing to decide \(Q2\)"),
        (f"1=4 2=0 deck={HALF} to=1 phase=decide turns=2", "'card' is missing"),
        (f"1=4 2=0 deck={HALF} to=1 phase=draw card=4 turns=2", "'card' does not belong here"),
        (f"1=4 2=0 deck={HALF} to=1 phase=draw turns=2 extra=yes", "prime score, and 4 is none"),
        (f"1=50 2=0 deck={HALF} to=2 phase=draw turns=2", "50 ends the game"),
        (f"1=4 2=9 deck={HALF} to=1 phase=draw turns=0", "A player who has not had a turn yet has no points"),
        (f"1=4 2=0 deck={HALF} to=1 phase=toss turns=0", "Before the toss all cards are in the deck"),
        (f"1=4 2=0 deck={HALF} to=1 phase=over turns=3 winner=1 reason=target-reached", "has not reached 50"),
        (f"1=50 2=4 deck={HALF} to=1 phase=over turns=3 winner=2 reason=target-reached", "has not reached 50"),
        (f"1=4 2=0 deck={HALF} to=1 phase=over turns=3 winner=none reason=turn-limit", "as many turns as the limit"),
        (f"1=4 2=0 deck={HALF} to=1 phase=over card=3 turns=3 winner=none reason=resigned", "must be a winner"),
        ("1=7 2=0 deck=4,4,4,4,4,4,3,4,4,4 to=2 phase=draw turns=1", "A turn does not end with 7 points"),
        (f"1=7 2=0 deck={HALF} to=1 phase=draw turns=2", "A turn does not end with 7 points"),
        (f"1=37 2=0 deck={HALF} to=2 phase=draw turns=3", "A turn does not end with 37 points"),
        ("1=9 2=0 deck=4,4,4,4,4,4,4,3,4,4 to=2 phase=draw turns=1", "worth 8 points together, not 9"),
        ("1=4 2=6 deck=4,4,4,3,4,4,4,4,4,4 to=1 phase=draw turns=2", "worth 4 points together, not 10"),
        ("1=4 2=0 deck=4,4,4,3,4,4,4,4,4,4 to=2 phase=decide card=4 turns=1", "worth 0 points together, not 4"),
        (f"1=0 2=0 deck={NO_CARDS} to=1 phase=redraw turns=0", "one card has been drawn before a second one"),
    ],
)
def test_a_position_that_breaks_the_rules_is_refused_with_the_reason(position: str, why: str) -> None:
    with pytest.raises(PositionError, match=why):
        piste.Position.parse(f"prime-duel {position}")


@pytest.mark.parametrize(
    "position",
    [
        "1=8 2=0 deck=4,4,4,4,4,4,4,3,4,4 to=2 phase=draw turns=1",  # exactly what was drawn
        "1=0 2=0 deck=3,4,4,4,4,4,4,4,4,4 to=1 phase=redraw turns=0",
        "1=7 2=0 deck=4,4,4,4,4,4,3,4,4,4 to=1 phase=draw turns=0 extra=yes",
        f"1=41 2=0 deck={HALF} to=2 phase=draw turns=9",  # two tens end the extra turn without a change (Q3)
    ],
)
def test_a_position_just_inside_the_rules_is_read(position: str) -> None:
    assert str(piste.Position.parse(f"prime-duel {position}")) == f"prime-duel {position}"


@pytest.mark.parametrize(
    ("position", "why"),
    [
        ("{first=2} 1=4 2=6 deck=%s to=1 phase=draw turns=2", "cannot be Player 1 after 2 turns"),
        ("{turns=2} 1=4 2=6 deck=%s to=1 phase=draw turns=2", "turn limit of 2 is reached"),
        ("{target=20} 1=21 2=6 deck=%s to=1 phase=draw turns=2", "'1' cannot be '21'"),
    ],
)
def test_a_position_must_fit_the_options(position: str, why: str) -> None:
    with pytest.raises(PositionError, match=why):
        piste.Position.parse("prime-duel" + position % HALF)
