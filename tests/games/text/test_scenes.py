"""Scenes: what a browser draws is what the seat's view holds, and what can be touched is what is open."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any, cast

import pytest

import piste
from piste.core.game import find
from piste.core.protocols import CHANCE, SPECTATOR
from piste.core.scene import (
    CARDS,
    GRID,
    HAND,
    KINDS,
    NUMBERS,
    SCORE,
    TONES,
    TOWER,
    TRACK,
    Area,
    Card,
    Handle,
    SceneBuilder,
    Score,
    Standing,
    Token,
    offered_decisions,
)
from piste.games.mccoy_duel.notation import NAMES as CARD_NAMES
from piste.games.mccoy_duel.notation import WORDS
from piste.games.mccoy_duel.rules import PICK, STANCE
from piste.games.mccoy_duel.scene import ICONS, MEANINGS, choice_texts, may_follow, question
from piste.games.mccoy_duel.text import board
from tests.game_setups import FULL, ODD, Kind, games, walked
from tests.sizes import sized
from tests.test_secrecy import HIDING, another_history, prefixes

NAMES = ("Ann", "Bea", "Cy", "Dot")
GAMES = ("zero-sum-duel", "positive-negative", "zero-sum-grid", "prime-duel", "mccoy-duel")
DRAWN = tuple(kind for kind in (*FULL, *ODD) if kind.game in GAMES)
IN_HANDS = tuple(kind for kind in DRAWN if kind.game in ("zero-sum-duel", "mccoy-duel"))
POWERS = "01234567*"
PLAYERS = 36  # a decision of Duel that names a player, from here on


def scenes(game: str) -> SceneBuilder:
    return cast("SceneBuilder", find(game).scene)


def scene(table: piste.Table, seat: int = SPECTATOR) -> tuple[Area, ...]:
    return scenes(table.game.name).scene(table.view(seat), NAMES[: table.seats])


def faces(kind: Kind, seed: object, resigning: float = 0.005) -> Iterator[tuple[Any, tuple[Area, ...]]]:
    """Yield every view that some random games give, all audiences', with its scene."""
    for number in range(games(sized(200, 400), kind) // 100):
        table = piste.open_table(kind.game, kind.options, seed=f"{kind} {seed} {number}")
        chooser = random.Random(f"{kind} {seed} {number}")
        while True:
            for seat in (SPECTATOR, *range(table.seats)):
                yield table.view(seat), scene(table, seat)
            actor = table.to_act
            if actor is None:
                break
            if chooser.random() < resigning:
                left = [seat for seat in range(table.seats) if piste.Resignation(seat) not in table.history()]
                table.resign(chooser.choice(left))
            else:
                table.decide(actor, chooser.choice(table.view(actor).actions))


def hidden(label: str, top: int, *values: int) -> Area:
    return Area(NUMBERS, label, minimum=-top, maximum=top, marks=tuple(sorted(values)))


def area(areas: tuple[Area, ...], label: str) -> Area:
    (found,) = (each for each in areas if each.label == label)
    return found


def signed(value: int, left: str = "", decision: int = -1) -> Card:
    """Return a card of Zero Sum Duel; one that may be discarded with the sum that it would leave."""
    sign, word = ("−", "minus") if value < 0 else ("+", "plus")
    note = f"leaves {left}" if left else ""
    return Card(f"{sign}{abs(value)}", f"{word} {abs(value)}", word, "", note, decision, below=left)


def number(value: int) -> Card:
    """Return a card of Positive-Negative."""
    return signed(value) if value < 0 else Card(str(value), "", "plus" if value else "zero")


def cell(value: int) -> Card:
    """Return a cell of the grid, with what its moves make of it."""
    more, less = (str(value + change).replace("-", "−") for change in (1, -1))
    return number(value)._replace(more=more, less=less)


def standing(table: piste.Table, seat: int = SPECTATOR) -> Standing:
    found: Standing = cast("Any", scenes(table.game.name)).standing(table.view(seat), NAMES[: table.seats])
    return found


def told(table: piste.Table, seat: int) -> dict[str, tuple[str, str]]:
    """Return, by decision, what its button says and what it leads to."""
    view = table.view(seat)
    texts = cast("Any", scenes(table.game.name)).choice_texts(view)
    return {name: texts[action] for action, name in zip(view.actions, view.decisions, strict=True)}


def asked(table: piste.Table) -> str:
    """Return the question that a page asks of the one who is to decide."""
    assert table.to_act is not None
    return str(cast("Any", scenes(table.game.name)).question(table.view(table.to_act), NAMES[: table.seats]))


def backs(n: int) -> Card:
    return Card("", f"{n} card{'s' if n != 1 else ''} face down", "back", dim=n == 0, copies=n)


@pytest.mark.parametrize("kind", DRAWN, ids=str)
def test_scenes_are_well_formed_for_everybody_at_every_moment(kind: Kind) -> None:
    for view, areas in faces(kind, "formed"):
        assert areas
        assert len({each.label for each in areas}) == len(areas)
        for each in areas:
            assert each.kind in KINDS
            assert each.label
            assert each.seat == SPECTATOR or 0 <= each.seat < len(NAMES)
            assert all(each.minimum <= token.value <= each.maximum for token in each.tokens)
            assert bool(each.tokens) == (each.kind in (TRACK, SCORE))
            whole = range(each.minimum + (each.kind == TRACK), each.maximum + (each.kind == NUMBERS))
            assert set(each.marks) <= set(whole)
            assert each.kind != NUMBERS or 0 not in each.marks
            assert each.columns == (3 if each.kind == GRID else 0)
            for card in each.cards:
                assert card.tone in TONES
                assert card.copies >= 0
                assert card.dim or card.copies
                assert (card.text == "") == (card.tone == "back")
                assert card.name or not card.text.startswith(("−", "+")), "a sign alone is not read aloud"
                assert card.mark or card.tone not in ("a", "b", "c", "d"), "a colour alone says nothing"
                assert bool(card.icon) == bool(card.word), "a picture alone says nothing"
                assert card.note or not card.icon, "the word is explained"
        if view.seat != SPECTATOR:
            own = [each.seat == view.seat for each in areas]
            assert own == sorted(own), "what is the seat's own comes last"


@pytest.mark.parametrize("kind", DRAWN, ids=str)
def test_what_can_be_touched_is_what_is_open(kind: Kind) -> None:
    asked = 0
    for view, areas in faces(kind, "touched"):
        yes_or_no = kind.game in ("positive-negative", "prime-duel")
        by_button = yes_or_no or any(action >= PLAYERS for action in view.actions)
        assert offered_decisions(areas) == (set() if by_button else set(view.actions))
        moves = [card.decision for each in areas for card in each.cards if card.decision >= 0]
        assert len(moves) == len(set(moves))
        assert not any(card.dim for each in areas for card in each.cards if card.decision >= 0)
        asked += len(moves)
    assert asked or kind not in IN_HANDS


@pytest.mark.parametrize("kind", HIDING, ids=str)
def test_a_seat_cannot_tell_scenes_apart_by_what_it_may_not_know(kind: Kind) -> None:
    found = 0
    for seed in range(6):
        chooser = random.Random(seed)
        cuts = prefixes(kind, f"scenes {seed}")
        if not cuts:
            continue
        steps = chooser.choice(cuts)
        for seat in (SPECTATOR, *range(find(kind.game).rules.seats(find(kind.game).options(kind.options)))):
            other = another_history(kind, steps, seat, chooser)
            if other is not None:
                found += 1
                assert drawn(kind, steps, seat) == drawn(kind, other, seat)
    assert found > 0, "no second history was ever found: the test would show nothing"


def drawn(kind: Kind, steps: tuple[int, ...], seat: int) -> list[bytes]:
    """Return, as bytes, the scene that a seat has before it at every decision of a history."""
    rules = find(kind.game).rules
    taken_steps = [(rules.to_act(s), step) for s, step in walked(kind, steps) if step is not None]
    table = piste.open_table(kind.game, kind.options, outcomes=[step for who, step in taken_steps if who == CHANCE])
    seen = [repr(scene(table, seat)).encode()]
    for who, step in taken_steps:
        if who >= 0:
            table.decide(who, step)
            seen.append(repr(scene(table, seat)).encode())
    return seen


@pytest.mark.parametrize("kind", IN_HANDS, ids=str)
def test_hands_have_the_size_that_the_view_says_and_others_are_face_down(kind: Kind) -> None:
    for view, areas in faces(kind, "sizes"):
        for hand in (each for each in areas if each.kind == HAND):
            assert sum(card.copies for card in hand.cards) == view.position.sizes[hand.seat]
            shown = hand.seat == view.seat or view.ending is not None
            assert not [card for card in hand.cards if (card.tone == "back") == shown]


@pytest.mark.parametrize("resigning", [0.0, 0.1])
@pytest.mark.parametrize("kind", DRAWN, ids=str)
def test_after_the_end_nothing_lies_face_down(kind: Kind, resigning: float) -> None:
    for view, areas in faces(kind, "over", resigning):
        if view.ending is not None:
            assert not [card for each in areas for card in each.cards if card.tone == "back" and card.copies]


@pytest.mark.parametrize("kind", [kind for kind in DRAWN if kind.game == "mccoy-duel"], ids=str)
def test_duel_draws_the_tower_and_the_buried_pile_that_its_words_tell_of(kind: Kind) -> None:
    for view, areas in faces(kind, "told"):
        rows = {row.label: row for row in board(view, NAMES[: view.options.players])}
        for tower in (each for each in areas if each.kind == TOWER):
            assert (tuple(card.text + card.mark for card in tower.cards) or ("empty",)) == rows["Tower"].cells
            if view.ending is None:
                assert area(areas, "Buried").note == rows["Buried"].note


@pytest.mark.parametrize("game", GAMES)
def test_an_emblem_is_small(game: str) -> None:
    emblem = scenes(game).EMBLEM
    assert emblem.label == find(game).notation.TITLE
    assert len(emblem.cards) == 9 if emblem.kind == GRID else 3 <= len(emblem.cards) <= 5
    assert offered_decisions((emblem,)) == set()


def two_hands(turns: int = 9) -> piste.Table:
    return piste.open_table("zero-sum-duel", {"first": "a", "turns": turns}, laid="+1 -1 +3 -2 +5 -4 -5 +2 +4 -3")


def test_zero_sum_duel_offers_the_cards_of_the_hand_in_the_order_drawn() -> None:
    drew = ((1, "+3", 5), (3, "+1", 7), (5, "−1", 9), (-5, "+9", 0))
    assert scene(two_hands(), 0) == (
        Area(HAND, "Bea's hand", (backs(1),) * 3, "3 cards", 1),
        Area(CARDS, "Pile", (), "empty"),
        Area(CARDS, "Deck", (backs(3),)),
        hidden("Face down", 5, -4, -3, -2, 2, 4, -1),
        Area(HAND, "Your hand", tuple(signed(*each) for each in drew), "4 cards: discard one", 0),
    )


def test_zero_sum_duel_shows_an_onlooker_no_hand_before_the_end() -> None:
    table = two_hands()
    table.decide(0, "-5")
    assert scene(table) == (
        Area(HAND, "Ann's hand", (backs(1),) * 3, "3 cards", 0),
        Area(HAND, "Bea's hand", (backs(1),) * 4, "4 cards", 1),
        Area(CARDS, "Pile", (signed(-5),)),
        Area(CARDS, "Deck", (backs(2),)),
        hidden("Face down", 5, -4, -3, -2, -1, 1, 2, 3, 4, 5),
    )
    table.resign(0)
    assert scene(table) == (
        Area(HAND, "Ann's hand", (signed(1), signed(3), signed(5)), "sum +9", 0),
        Area(HAND, "Bea's hand", (signed(-4), signed(-2), signed(-1), signed(2)), "sum −5", 1),
        Area(CARDS, "Pile", (signed(-5),)),
        Area(CARDS, "Left in the deck", (signed(-3), signed(4))),
    )


def test_zero_sum_duel_puts_the_latest_discard_last() -> None:
    table = two_hands(turns=0)
    for seat, text in ((0, "5"), (1, "-4")):
        table.decide(seat, text)
    assert [card.text for card in area(scene(table, 0), "Pile").cards] == ["+5", "−4"]


def test_zero_sum_duel_shows_an_empty_deck_as_a_faint_place() -> None:
    table = two_hands(turns=0)
    for seat, text in ((0, "-5"), (1, "2"), (0, "4")):
        table.decide(seat, text)
    assert area(scene(table, 1), "Deck") == Area(CARDS, "Deck", (backs(0),), "empty")
    assert standing(table) == Standing(), "without a limit nobody counts"


def test_zero_sum_duel_says_which_turn_it_is_and_what_each_discard_leaves() -> None:
    table = two_hands()
    assert standing(table) == Standing((), "Turn", "7", "of 9")
    assert told(table, 0)["+1"] == ("Discard +1", "leaves a sum of +3")
    table = piste.open_table("zero-sum-duel", {"first": "a", "turns": 9}, laid="+1 -1 +5 -2 +2 -4 -3 +3 +4 -5")
    assert {name: more for name, (_, more) in told(table, 0).items()} == {
        "+1": "leaves a sum of +4",
        "+2": "leaves a sum of +3",
        "-3": "leaves a sum of +8",
        "+5": "leaves a sum of 0: you win",
    }
    assert area(scene(table, 0), "Your hand").cards[1].below == "0"
    table.decide(0, "+5")
    assert table.ending() is not None


def one_card() -> piste.Table:
    table = piste.open_table("positive-negative", {"top": 3}, laid="-2 3 1 -3 2 -1")
    table.decide(0, "discard")
    return table


def totals(*tokens: Token) -> Area:
    return Area(SCORE, "Totals", minimum=-9, maximum=9, tokens=tokens)


def test_positive_negative_shows_the_drawn_card_to_its_owner() -> None:
    assert scene(one_card(), 1) == (
        totals(Token("Ann", 3), Token("You", 0, own=True)),
        Area(CARDS, "Ann's cards", (number(3),), seat=0),
        Area(CARDS, "Pile", (number(-2),)),
        hidden("Not seen yet", 3, -3, -1, 2),
        Area(CARDS, "Your cards", (), seat=1),
        Area(HAND, "You drew", (number(1),), seat=1),
    )


def test_positive_negative_shows_others_only_that_a_card_was_drawn() -> None:
    assert scene(one_card(), 0) == (
        totals(Token("Bea", 0), Token("You", 3, own=True)),
        Area(CARDS, "Bea's cards", (), seat=1),
        Area(HAND, "Bea drew", (backs(1),), seat=1),
        Area(CARDS, "Pile", (number(-2),)),
        hidden("Not seen yet", 3, -3, -1, 1, 2),
        Area(CARDS, "Your cards", (number(3),), seat=0),
    )


def test_positive_negative_shows_the_card_of_a_player_who_resigned_and_what_nobody_drew() -> None:
    table = one_card()
    table.resign(1)
    assert scene(table) == (
        totals(Token("Ann", 3), Token("Bea", 0)),
        Area(CARDS, "Ann's cards", (number(3),), seat=0),
        Area(CARDS, "Bea's cards", (), seat=1),
        Area(HAND, "Bea drew", (number(1),), seat=1),
        Area(CARDS, "Pile", (number(-2),)),
        Area(CARDS, "Left in the deck", (number(-3), number(-1), number(2))),
    )


def test_positive_negative_counts_scores_and_says_what_a_decision_leads_to() -> None:
    table = piste.open_table("positive-negative", {"top": 3}, laid="-2 3 1 -3 2 -1")
    assert asked(table) == "You drew −2. Keep it?"
    keep = ("Keep → -2", "your new total")
    assert told(table, 0) == {"keep": keep, "discard": ("Discard", "the next card counts")}
    table.decide(0, "keep")
    assert standing(table) == Standing((Score("−2"), Score("0")), "Deck", "4")
    for _ in range(4):
        assert table.to_act is not None
        table.decide(table.to_act, "keep")
    assert table.to_act is not None
    assert told(table, table.to_act)["discard"] == ("Discard", "nothing follows")  # P1


def test_positive_negative_keeps_its_scale_beyond_twice_the_highest_card() -> None:
    table = piste.open_table("positive-negative", {"top": 3}, laid="1 -3 2 -2 3 -1")
    while table.to_act is not None:
        table.decide(table.to_act, "keep")
    found = area(scene(table), "Totals")
    assert [token.value for token in found.tokens] == [6, -6]
    assert (found.minimum, found.maximum) == (-9, 9)


def grid(moves: dict[int, tuple[int, int]]) -> tuple[Handle, ...]:
    names = ("Row 1", "Row 2", "Row 3", "Column 1", "Column 2", "Column 3")
    return tuple(Handle(name, at < 3, at % 3, *moves.get(at, (-1, -1))) for at, name in enumerate(names))


def test_zero_sum_grid_has_two_moves_for_each_line() -> None:
    table = piste.open_table("zero-sum-grid", {"first": 1}, laid="1 0 -1 / 2 1 0 / 0 -1 -2")
    cells = tuple(cell(value) for value in (1, 0, -1, 2, 1, 0, 0, -1, -2))
    every = {line: (2 * line, 2 * line + 1) for line in range(6)}
    assert standing(table) == Standing((), "Turn", "1", "of 200")
    assert scene(table, 0) == (Area(GRID, "Grid", cells, columns=3, handles=grid(every)),)
    assert scene(table, 1) == (Area(GRID, "Grid", cells, columns=3, handles=grid({})),)


def test_zero_sum_grid_says_of_each_move_which_cells_become_zero_and_no_more() -> None:
    table = piste.open_table("zero-sum-grid", {"first": 1}, laid="1 0 -1 / 2 1 0 / 0 -1 -2")
    moves = told(table, 0)
    assert moves["R1+"] == ("Row 1: add 1", "1 cell becomes 0")
    assert moves["C2-"] == ("Column 2: subtract 1", "1 cell becomes 0")
    assert moves["R2+"] == ("Row 2: add 1", "")
    cells = area(scene(table, 0), "Grid").cards
    assert [each.text for each in cells if each.tone == "zero"] == ["0", "0", "0"]
    assert (cells[0].more, cells[0].less) == ("2", "0")


def test_zero_sum_grid_says_once_a_move_was_made_that_none_can_win() -> None:
    table = piste.open_table("zero-sum-grid", {"first": 1, "deal": "any"}, laid="1 0 0 0 0 0 0 0 0")
    assert area(scene(table, 0), "Grid").note == ""
    table.decide(0, "R1+")
    assert area(scene(table, 0), "Grid").note == "This grid cannot be brought to zero: no move can win."


def test_harvest_says_which_moves_are_shut_and_what_each_has() -> None:
    options: dict[str, int | str] = {"variant": "harvest", "top": 3, "first": 1}
    table = piste.open_table("zero-sum-grid", options, laid="-1 -1 2 / 3 0 1 / 1 1 -3")
    table.decide(0, "R1+")
    values = (0, 0, 3, 3, 0, 1, 1, 1, -3)
    cells = tuple(cell(value)._replace(active=at < 3) for at, value in enumerate(values))
    note = "Row 1 was just moved: not this turn. Would leave −3 to 3: R2+, R3−, C1+, C3+, C3−."
    handles = grid({1: (-1, 3), 2: (4, -1), 3: (-1, 7), 4: (8, 9)})
    assert standing(table) == Standing((Score("2"), Score("0")), "Turn", "2", "of 16")
    assert scene(table, 1) == (Area(GRID, "Grid", cells, note, columns=3, handles=handles),)


def left(*counts: int) -> tuple[Card, ...]:
    names = [f"{n} card{'s' if n != 1 else ''} with {i}" for i, n in enumerate(counts, 1)]
    return tuple(Card(str(i + 1), names[i], dim=n == 0, copies=n) for i, n in enumerate(counts))


def test_prime_duel_shows_scores_deck_pile_and_the_card_drawn() -> None:
    table = piste.open_table("prime-duel", {"first": 1, "top": 4, "copies": 2, "target": 9}, laid="1 2 1 4")
    table.decide(0, "keep")
    table.decide(1, "keep")
    ann, bea = Token("Ann", 1), Token("Bea", 2, "prime: extra turn", reach=3)
    race = Area(TRACK, "Race to 9", maximum=9, marks=(2, 3, 5, 7), tokens=(ann, bea))
    deck = Area(CARDS, "Deck", left(0, 1, 2, 2), "5 cards")
    pile = Area(CARDS, "Pile", left(1, 1), "2 cards")
    assert scene(table) == (race, Area(HAND, "Bea drew", (Card("1"),), seat=1), deck, pile)
    own = race._replace(tokens=(ann, bea._replace(name="You", own=True)))
    assert scene(table, 1) == (own, deck, pile, Area(HAND, "You drew", (Card("1"),), seat=1))
    assert standing(table) == Standing((Score("1"), Score("2", "prime")), "Race to", "9")


@pytest.mark.parametrize(
    ("target", "what"), [(3, "you win"), (4, "prime: extra turn"), (9, "prime: extra turn")], ids=str
)
def test_prime_duel_says_where_keeping_leads_and_what_discarding_obliges_to(target: int, what: str) -> None:
    table = piste.open_table("prime-duel", {"first": 1, "target": target}, laid="1 1 2 2")
    table.decide(0, "keep")
    table.decide(1, "keep")
    assert asked(table) == "You drew 2. Keep it?"
    discard = ("Discard", f"the next card counts unless over {target}")
    assert told(table, 0) == {"keep": ("Keep → 3", what), "discard": discard}


def test_prime_duel_says_that_no_prime_ends_the_turn() -> None:
    table = piste.open_table("prime-duel", {"first": 1}, laid="1 1 2 2")
    assert told(table, 0)["keep"] == ("Keep → 1", "not prime: turn ends")


def test_prime_duel_draws_a_long_way_as_bars() -> None:
    table = piste.open_table("prime-duel", {"first": 1, "target": 1000}, laid="4")
    tokens = (Token("Ann", 0, reach=4), Token("Bea", 0))
    assert scene(table)[0] == Area(SCORE, "Race to 1000", maximum=1000, tokens=tokens)


def duel(*decisions: str, outcomes: tuple[int, ...] = (4, 16)) -> piste.Table:
    """Return a table where Ann has buried 4a and Bea 7b."""
    table = piste.open_table("mccoy-duel", {"first": 1, "players": 2}, outcomes=outcomes)
    for decision in decisions:
        assert table.to_act is not None
        table.decide(table.to_act, decision)
    return table


def card(text: str, decision: int = -1, why: str = "") -> Card:
    """Return a card of Duel; with a reason, one that cannot be chosen."""
    power, mark, at = text[0], text[1], POWERS.index(text[0])
    name = f"{'trump' if power == '*' else power} of {'amber' if mark == 'a' else 'blue'}"
    called = WORDS[at] if WORDS[at] == CARD_NAMES[at] else f"{WORDS[at]} ({CARD_NAMES[at]})"
    note = f"{called}: {MEANINGS[at]}"
    note = f"{note} {why}" if why else note
    return Card(power, name, mark, mark, note, decision, bool(why), icon=ICONS[at], word=WORDS[at])


def beat(power: str, note: str = "") -> tuple[str, str, str]:
    return ("Power to beat", power, note)


def test_duel_offers_the_cards_that_may_be_played_and_says_why_others_may_not() -> None:
    table = duel("6", outcomes=(4, 16, 37, 17))  # Disarm: there is one opponent, who loses the trump
    hand = [card(f"{power}b", 9 + power) for power in range(6)]
    shut = card("6b", why="You cannot play 6: the power to beat is 6.")
    assert scene(table, 1) == (
        Area(HAND, "Ann's hand", (backs(7),), seat=0),
        Area(TOWER, "Tower", (card("6a"),), badge=beat("6", "play lower than 6 or *")),
        Area(CARDS, "Buried", (backs(3),), "you know 7b *b"),
        Area(HAND, "Your hand", (*hand, shut), "", 1),
    )
    assert area(scene(table, 0), "Buried").note == "you know 4a"
    assert area(scene(table), "Buried").note == ""


def test_duel_offers_the_tower_when_the_question_is_about_the_tower() -> None:
    table = duel("6", "5", "*", "4", outcomes=(4, 16, 37, 17))
    played = card("4b", why="You cannot copy 4: it is the card just played.")
    tower = (card("6a", 6), card("5b", 14), card("*a", 8), played)
    assert area(scene(table, 1), "Tower") == Area(TOWER, "Tower", tower, badge=beat("4", "play lower than 4 or *"))
    assert asked(table) == "Choose a card in the tower to copy"
    assert offered_decisions((area(scene(table, 1), "Your hand"),)) == set()
    untouched = (card("6a"), card("5b"), card("*a"), card("4b")._replace(active=True))
    assert area(scene(table, 0), "Tower") == Area(
        TOWER, "Tower", untouched, badge=beat("4", "play lower than 4 or *")
    )


def test_duel_offers_every_card_to_one_who_has_to_give() -> None:
    table = duel("7", outcomes=(4, 16, 37))
    hand = tuple(card(f"{power}b", 9 + POWERS.index(power)) for power in "0123456*")
    assert area(scene(table, 1), "Your hand").cards == hand
    assert asked(table) == "Choose a card of your hand to give to Ann"
    assert offered_decisions(scene(table, 0)) == set()


def test_duel_says_what_the_next_card_has_to_be() -> None:
    begun, stance = scene(duel(), 0), scene(duel("5"), 1)
    assert area(begun, "Tower") == Area(TOWER, "Tower", (), "empty", badge=beat("any", "any card may lead"))
    assert area(stance, "Tower").badge == beat("5", "play 6, 7 or *")
    assert area(scene(duel("5", "*"), 0), "Tower").badge == beat("8", "play any card but 0")
    assert area(scene(duel("0"), 1), "Tower").badge == beat("0", "play only *")


def test_duel_names_no_trump_where_there_is_none() -> None:
    table = piste.open_table("mccoy-duel", {"first": 1, "powers": "01"}, outcomes=(1, 10))
    view = table.view(0).position
    assert may_follow(view._replace(power=1)) == "play lower than 1"
    assert (
        may_follow(view._replace(power=0))
        == may_follow(view._replace(power=1, demand=STANCE))
        == "no card may follow"
    )


def test_duel_calls_a_card_by_its_word_and_says_why_one_picks() -> None:
    copying = duel("6", "5", "*", "4", outcomes=(4, 16, 37, 17))
    assert told(copying, 1)["5"] == ("Stance", MEANINGS[5])
    first = piste.open_table("mccoy-duel", outcomes=(3, 14))
    assert asked(first) == "Choose who goes first: you showed the lowest card"
    assert choice_texts(first.view(0)) == {PLAYERS: ("Me", "")}
    lot = piste.open_table("mccoy-duel", {"powers": "3*"}, outcomes=(3, 12, 8, 17, PLAYERS + 1))
    assert asked(lot) == "Choose who goes first: the lot fell on you"
    views = (view for view, _ in faces(Kind("mccoy-duel", {}), "pick", resigning=0) if view.actions)
    later = next(view for view in views if view.position.phase == PICK and any(view.position.wins))
    assert question(later, NAMES[:2]) == "Choose who goes first: you were first out last round"
    left = later._replace(position=later.position._replace(present=1))
    assert question(left, NAMES[:2]) == "Choose who goes first"


def test_duel_shows_the_cards_revealed_before_the_first_round() -> None:
    table = piste.open_table("mccoy-duel", outcomes=(3, 14))
    assert scene(table, 0) == (
        Area(CARDS, "Bea revealed", (card("5b"),), seat=1),
        Area(CARDS, "You revealed", (card("3a"),), seat=0),
    )


def test_duel_shows_hands_and_buried_cards_at_the_end() -> None:
    table = duel("6", outcomes=(4, 16, 37, 17))
    table.resign(1)
    assert scene(table, 0) == (
        Area(HAND, "Bea's hand", tuple(card(f"{n}b") for n in range(7)), "left the match", 1),
        Area(TOWER, "Tower", (card("6a"),)),
        Area(CARDS, "Buried", (card("4a"), card("7b"), card("*b"))),
        Area(HAND, "Your hand", tuple(card(f"{n}a") for n in "012357*"), "", 0),
    )


def test_duel_counts_the_rounds_won_beside_the_colours() -> None:
    table = duel()
    amber, blue = Score("", "", 0, 3, "a", "a", "amber"), Score("", "", 0, 3, "b", "b", "blue")
    assert standing(table, 0) == Standing((amber, blue), "Round", "1", "best of 5")
    table.resign(1)
    assert standing(table) == Standing((amber, blue), "Round", "1", "best of 5")
    table = piste.open_table("mccoy-duel", {"players": 3, "first": 1}, outcomes=(0, 9, 18))
    table.resign(2)
    assert [score.note for score in standing(table).scores] == ["", "", "left the match"]
    table = piste.open_table("mccoy-duel", {"players": 4, "rounds": 1, "colours": "dcba"}, seed="one round")
    assert [score.colour for score in standing(table).scores] == ["dun", "crimson", "blue", "amber"]
    assert {score.pips for score in standing(table).scores} == {1}
    assert standing(table).note == ""


@pytest.mark.parametrize("kind", [kind for kind in DRAWN if kind.game == "mccoy-duel"], ids=str)
def test_duel_asks_where_the_choice_is_and_dims_the_card_that_asks(kind: Kind) -> None:
    places = {"tower": TOWER, "hand": HAND}
    for view, areas in faces(kind, "asked"):
        names = NAMES[: view.options.players]
        shining = [card for each in areas for card in each.cards if card.active]
        assert len(shining) <= 1
        assert not any(card.dim for card in shining)
        if not view.actions:
            continue
        text = question(view, names)
        offered = {each.kind for each in areas if offered_decisions((each,))}
        assert offered == {kind for word, kind in places.items() if f" {word} " in f"{text} "}
        assert text.startswith("Choose ")
        on_table = [each for each in areas if each.kind == TOWER]
        if on_table and "tower" in text:
            assert on_table[0].cards[-1].dim
            assert not shining, "what shines could be chosen"


def test_duel_lists_players_clockwise_and_says_who_is_out() -> None:
    table = piste.open_table("mccoy-duel", {"players": 3, "first": 1}, outcomes=(0, 9, 18))
    assert [each.label for each in scene(table, 1) if each.kind == HAND] == ["Cy's hand", "Ann's hand", "Your hand"]
    table.resign(2)
    assert area(scene(table, 1), "Cy's hand").note == "left the match"


def test_the_line_that_the_last_move_changed_is_marked() -> None:
    table = piste.open_table("zero-sum-grid", {"first": 1}, laid="1 2 3 / -1 0 1 / -2 -1 0")
    assert not any(cell.active for cell in scene(table)[0].cards)
    table.decide(0, "R1-")
    assert [at for at, cell in enumerate(scene(table)[0].cards) if cell.active] == [0, 1, 2]
    table.decide(1, "C2+")
    for seat in (SPECTATOR, 0, 1):
        assert [at for at, cell in enumerate(scene(table, seat)[0].cards) if cell.active] == [1, 4, 7]
