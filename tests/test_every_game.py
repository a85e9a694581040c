"""What holds for every game, over random games and over whole small trees. A sixth game is tested here unasked."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import pytest

import piste
from piste.check.case import Case
from piste.check.checks import CHECKS
from piste.core.game import find, names
from piste.core.protocols import CHANCE, OVER, SPECTATOR
from piste.core.survey import fault
from tests.game_setups import FULL, ODD, Kind, choices, games, played, walked
from tests.sizes import slow_if

EVERY = pytest.mark.parametrize("kind", [*FULL, *ODD], ids=str)
SMALL = tuple(kind for kind in ODD if str(kind) in {
    "zero-sum-duel[top=3,hand=2,turns=7]",
    "positive-negative[top=3]",
    "prime-duel[top=2,copies=1,target=4,turns=6]",
    "mccoy-duel[players=3,powers=05*,rounds=1,first=1]",
    "mccoy-duel[powers=0*,rounds=1]",
    "zero-sum-grid[top=1,turns=3]",
})  # fmt: skip


def cards_in_place(s: Any) -> None:
    """Fail unless every card is in exactly one place (the grid has none)."""
    o = s.options
    if hasattr(s, "tower"):
        places = [*s.hands, s.tower.up, s.tower.buried]
        for colour in range(4):
            whole = o.powers << 9 * colour
            assert sum(place & whole for place in places) in (0, whole)
        assert sum(places) & ~sum(o.powers << 9 * colour for colour in range(o.players)) == 0
    elif hasattr(s, "hands"):
        assert s.deck & s.hands[0] == s.deck & s.hands[1] == s.hands[0] & s.hands[1] == 0
        assert (s.deck | s.hands[0] | s.hands[1]) < 1 << 2 * o.top
    elif hasattr(s, "kept"):
        held = 0 if s.card < 0 else 1 << s.card
        assert s.deck & s.kept[0] == s.deck & s.kept[1] == s.kept[0] & s.kept[1] == 0
        assert held & (s.deck | s.kept[0] | s.kept[1]) == 0
    elif hasattr(s, "scores"):
        for i in range(o.top):
            in_deck = s.deck >> 4 * i & 15
            assert in_deck + (s.card == i) <= o.copies
        assert max(s.scores) <= o.target


def state_is_sound(kind: Kind, s: Any) -> None:
    """Fail unless every card is in its place, and somebody can act, with choices that are there."""
    game = find(kind.game)
    cards_in_place(s)
    assert fault(game.rules, s) is None
    if game.rules.to_act(s) == OVER:
        assert game.rules.reason(s) in game.notation.REASONS
    else:
        assert game.rules.kind(s) < len(game.notation.KINDS)


@EVERY
def test_random_games_are_sound_and_replay_exactly(kind: Kind) -> None:
    game = find(kind.game)
    for seed in range(games(12, of=kind) if kind in FULL else 12):
        table = played(kind, seed, resigning=0.01 if seed % 4 == 0 else 0.0)
        sample, often = random.Random(seed), 3 / len(table.history())
        for s, step in walked(kind, table.history()):
            state_is_sound(kind, s)
            if isinstance(step, int):
                assert step in choices(kind, s)
            if sample.random() < often or step is None:
                position = piste.Position(game, s)
                assert piste.Position.parse(str(position)) == position
        assert table.ending() is not None
        again = piste.replay(table.record())
        assert again.record() == table.record()
        assert again.history() == table.history()


@EVERY
@pytest.mark.parametrize(("check", "size"), [("contract", 1), ("notation", 12), ("text", 1), ("record", 1)])
def test_it_passes_the_checks_for_any_game(kind: Kind, check: str, size: int) -> None:
    CHECKS[check](Case(kind.game, kind.options, size))


@pytest.mark.parametrize("kind", slow_if(lambda kind: kind not in FULL, [*FULL, *ODD]), ids=str)
def test_the_nearest_states_keep_every_promise_and_seats_can_resign_there(kind: Kind) -> None:
    CHECKS["property"](Case(kind.game, kind.options, 1))


@EVERY
def test_equal_views_give_equal_decisions(kind: Kind) -> None:
    rules = find(kind.game).rules
    seen: dict[Any, int] = {}
    for seed in range(20):
        for s, _ in walked(kind, played(kind, seed).history()):
            actor = rules.to_act(s)
            if actor >= 0:
                assert seen.setdefault(rules.look(s, actor), rules.legal(s)) == rules.legal(s)


@pytest.mark.parametrize("kind", SMALL, ids=str)
def test_small_sizes_enumerate_completely(kind: Kind) -> None:
    """Every line of play ends, and with random decisions the chances of all ends add up to exactly 1."""
    game = find(kind.game)
    rules = game.rules
    reached: dict[Any, Fraction] = {rules.start(game.options(kind.options)): Fraction(1)}
    ended = Fraction(0)
    seen = 0
    while reached:
        following: dict[Any, Fraction] = {}
        for s, chance in reached.items():
            seen += 1
            state_is_sound(kind, s)
            assert piste.Position.parse(str(piste.Position(game, s))).state == s
            if rules.to_act(s) == OVER:
                ended += chance
                continue
            steps = choices(kind, s)
            weights = [rules.weight(s, step) if rules.to_act(s) == CHANCE else 1 for step in steps]
            for step, weight in zip(steps, weights, strict=True):
                after = rules.apply(s, step)
                following[after] = following.get(after, Fraction(0)) + chance * Fraction(weight, sum(weights))
        reached = following
        assert seen < 500_000
    assert ended == 1


def test_stale_foreign_and_late_decisions_are_refused() -> None:
    table = piste.open_table("positive-negative", seed="refusals")
    before = [table.view(seat) for seat in (SPECTATOR, 0, 1)]
    for seat, decision, at, words in (
        (1, "keep", 0, "it is for Player 1"),
        (0, "keep", 7, "answers question 7"),
        (5, "keep", 0, "no seat 5"),
        (0, 9, 0, "no decision number 9"),
        (0, "maybe", 0, "You can choose keep or discard"),
    ):
        with pytest.raises(piste.PisteError, match=words):
            table.decide(seat, decision, at)
    assert [table.view(seat) for seat in (SPECTATOR, 0, 1)] == before
    table.decide(0, "keep", 0)
    with pytest.raises(piste.PisteError, match="question 0"):
        table.decide(1, "keep", 0)
    table.resign(0)
    with pytest.raises(piste.PisteError, match="over"):
        table.decide(1, "keep")
    with pytest.raises(piste.PisteError, match="over"):
        table.resign(1)


def test_games_are_found_by_their_folder_alone() -> None:
    assert names() == ("mccoy-duel", "positive-negative", "prime-duel", "zero-sum-duel", "zero-sum-grid")
    assert find("Prime_Duel").name == "prime-duel"
    with pytest.raises(piste.PisteError, match="Did you mean prime-duel"):
        find("prime-dual")


@pytest.mark.parametrize("name", names())
def test_options_say_what_they_take(name: str) -> None:
    game = find(name)
    assert [option.name for option in game.notation.OPTIONS] == list(game.rules.Options._fields)
    defaults = game.rules.Options()
    assert game.options(game.option_texts(defaults)) == defaults
    for option in game.notation.OPTIONS:
        for bad in (option.low - 1, option.high + 1, "seven", "", "1e3", True, 10**30, "٣"):
            with pytest.raises(piste.PisteError, match=f"'{option.name}'"):
                game.options({option.name: bad})
    with pytest.raises(piste.PisteError, match="no option 'colour'"):
        game.options({"colour": 1})
