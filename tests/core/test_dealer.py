"""The dealer: the same for ever, fair, unguessable, and held to its promise."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

import piste
from piste.core.dealer import Commitment, Dealer, ScriptedDealer, fresh_seed
from piste.core.errors import DealError
from piste.core.game import find
from tests import ROOT

# These games were written down once and must never change: a seed deals the same game for ever.
PINNED = json.loads((ROOT / "tests" / "golden" / "dealt.json").read_text())


def test_first_numbers_of_each_stream_are_pinned() -> None:
    dealer = Dealer("piste")
    deal, toss, bot = dealer.stream("deal"), dealer.stream("toss"), dealer.stream("bot 0")
    assert [deal.below(10) for _ in range(12)] == [7, 1, 3, 2, 1, 7, 1, 0, 3, 3, 3, 3]
    assert [toss.below(2) for _ in range(12)] == [0, 0, 1, 0, 1, 1, 1, 0, 1, 0, 1, 0]
    assert [bot.below(1000) for _ in range(6)] == [59, 497, 760, 982, 547, 829]
    assert Dealer(b"\x00\xff").stream("deal").below(1 << 64) == 2003884371687672740


@pytest.mark.parametrize("pinned", PINNED, ids=lambda pinned: f"{pinned['game']} {pinned['options']}")
def test_g4_one_whole_game_of_each_kind_is_pinned(pinned: dict[str, Any]) -> None:
    table = piste.open_table(pinned["game"], pinned["options"], seed="piste")
    made = 0
    while (actor := table.to_act) is not None:
        actions = table.view(actor).actions
        table.decide(actor, actions[(7 * made + 3) % len(actions)])
        made += 1
    ending = table.ending()
    assert ending is not None
    assert list(table.history()) == pinned["history"]
    assert (ending.winner, ending.reason) == (pinned["winner"], pinned["reason"])


def test_streams_do_not_disturb_each_other() -> None:
    one, two = Dealer("streams"), Dealer("streams")
    for _ in range(100):
        one.stream("bot 0").below(6)
    drawn = []
    for dealer in (one, two):
        stream = dealer.stream("deal")
        drawn.append([stream.below(52) for _ in range(20)])
    assert drawn[0] == drawn[1]


def test_text_and_bytes_of_the_same_seed_deal_the_same() -> None:
    assert Dealer("ä").stream("deal").below(1 << 60) == Dealer("ä".encode()).stream("deal").below(1 << 60)


def test_below_is_fair_where_words_do_not_divide_evenly() -> None:
    stream = Dealer("fair").stream("deal")
    n, draws = 7, 70_000
    seen = Counter(stream.below(n) for _ in range(draws))
    assert set(seen) == set(range(n))
    squared = sum((count - draws / n) ** 2 / (draws / n) for count in seen.values())
    assert squared < 22.5  # chi-square with 6 degrees of freedom: passed by chance 999 times in 1000


def test_below_refuses_words_that_would_favour_small_numbers() -> None:
    # With n just over half of all words, nearly every second word must be drawn again: the mean shows it.
    n = (1 << 63) + (1 << 62)
    stream = Dealer("rejection").stream("deal")
    mean = sum(stream.below(n) for _ in range(4000)) / 4000 / n
    assert abs(mean - 0.5) < 0.02  # without rejection it would be 0.416...
    for wrong in (0, -1, (1 << 64) + 1):
        with pytest.raises(ValueError, match="must be from 1"):
            stream.below(wrong)


def test_a_whole_deck_comes_in_every_order_equally() -> None:
    orders: Counter[tuple[int, ...]] = Counter()
    draws = 6000
    for seed in range(draws):
        state: Any = piste.Position.start("positive-negative", {"top": 2}).state
        dealer, game, order = Dealer(f"order {seed}"), find("positive-negative"), []
        while game.rules.to_act(state) != -2:
            step = dealer.outcome(game, state) if game.rules.to_act(state) == -1 else game.rules.KEEP  # type: ignore[attr-defined]
            if game.rules.to_act(state) == -1:
                order.append(step)
            state = game.rules.apply(state, step)
        orders[tuple(order)] += 1
    assert len(orders) == 24
    squared = sum((count - draws / 24) ** 2 / (draws / 24) for count in orders.values())
    assert squared < 49.7  # chi-square with 23 degrees of freedom, 999 in 1000


def test_commitment_is_kept_by_its_seed_alone() -> None:
    promise = Commitment.to("piste", b"\x01" * 32)
    assert promise.digest == "17271746ed26e1e7c3603319c9df7369cc53ea1a5ddf7d88bceb5b7e2c8225ec"
    assert promise.keeps("piste")
    assert not promise.keeps("pistes")
    assert not Commitment(promise.digest, "02" * 32).keeps("piste")
    assert not Commitment(promise.digest, "no hexadecimal").keeps("piste")
    one, two = Commitment.to("piste"), Commitment.to("piste")
    assert one.digest != two.digest, "without a random salt a short seed could be guessed from its promise"
    assert len(bytes.fromhex(one.salt)) * 8 >= 128


def test_fresh_seeds_differ_and_are_long() -> None:
    assert len({fresh_seed() for _ in range(100)}) == 100
    assert len(fresh_seed()) * 4 >= 128


def test_given_outcomes_are_checked() -> None:
    with pytest.raises(DealError, match="run out"):
        piste.open_table("prime-duel", outcomes=[0])
    with pytest.raises(DealError, match="not possible for 'toss'"):
        piste.open_table("prime-duel", outcomes=[5])
    with pytest.raises(DealError, match="not possible"):
        piste.Table(find("prime-duel"), find("prime-duel").options(), ScriptedDealer([-3]))


def test_g8_a_laid_deck_is_dealt_from_its_left_end_and_does_not_count() -> None:
    table = piste.open_table("positive-negative", laid="5, -3, 7", seed="rest")
    assert table.view(0).position.card == 14
    assert not table.view(0).counts
    table.decide(0, "keep")
    table.decide(1, "discard")
    assert table.view(1).position.scores == (5, 7)
    assert not piste.open_table("positive-negative", seed="named").view(0).counts
    assert piste.open_table("positive-negative").view(0).counts


@pytest.mark.parametrize(
    ("name", "laid", "words"),
    [
        ("zero-sum-duel", "+3 +3", "twice"),
        ("zero-sum-duel", "+6", "not a card"),
        ("positive-negative", "1 2 x", "not a card"),
        ("prime-duel", "7 7 7 7 7", "only 4"),
        ("prime-duel", "11", "not a card"),
        ("zero-sum-grid", "0 0 0 0 0 0 0 0 0", "all zeros"),
        ("zero-sum-grid", "1 2 3", "nine cells"),
        ("zero-sum-grid", "1 2 3 4 5 6 7 8 x", "cell 9"),
        ("mccoy-duel", "9 1", "not a card"),
        ("mccoy-duel", "1 2 3", "one for each"),
        ("mccoy-duel", "1b", "colour"),
    ],
)
def test_a_deal_that_cannot_be_laid_is_refused_at_once(name: str, laid: str, words: str) -> None:
    with pytest.raises(DealError, match=words):
        piste.open_table(name, laid=laid)
