"""The small helpers that rules stand on, against the plainest way to say the same; interpreted and compiled."""

from __future__ import annotations

from collections import Counter
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from piste.compiled.codegen import module
from piste.compiled.compiler import link_modules
from piste.core import bits
from piste.core.errors import NameClashError

SETS = st.integers(0, 2**62 - 1)
LANES = st.lists(st.integers(0, 15), min_size=0, max_size=15)


CALLER = module("caller_of_bits", "def nth_bit(cards, n):\n    return nth(cards, n)")
"""What a processor does in an instruction can be called from compiled code only."""


@pytest.fixture(params=[False, True], ids=["interpreted", "compiled"], scope="module")
def ours(request: pytest.FixtureRequest) -> Any:
    return link_modules(CALLER, compiled=request.param)


def members(cards: int) -> list[int]:
    return [i for i in range(62) if cards >> i & 1]


@given(SETS)
def test_counting_and_finding_bits(ours: Any, cards: int) -> None:
    places = members(cards)
    assert ours.count(cards) == len(places)
    assert ours.places(cards) == sum(places)
    assert ours.one(cards) == (len(places) == 1)
    if places:
        assert ours.lowest(cards) == places[0]
    assert [ours.nth_bit(cards, n) for n in range(len(places))] == places


@given(st.integers(1, 30), st.data())
def test_signed_cards_count_up_from_minus_top_without_zero(ours: Any, top: int, data: st.DataObject) -> None:
    values = [v for v in range(-top, top + 1) if v]
    cards = data.draw(st.integers(0, (1 << 2 * top) - 1))
    assert [ours.signed_value(top, card) for card in range(2 * top)] == values
    assert ours.signed_sum(top, cards) == sum(values[card] for card in members(cards))


@given(LANES)
def test_each_unit_of_the_lanes_is_found_once(ours: Any, counts: list[int]) -> None:
    lanes = sum(n << (4 * i) for i, n in enumerate(counts))
    assert ours.units(lanes) == sum(counts)
    found = Counter(ours.lane_at(lanes, at) for at in range(sum(counts)))
    assert found == Counter({i: n for i, n in enumerate(counts) if n})
    assert [ours.lane(lanes, i) for i in range(len(counts))] == counts


def test_an_entry_of_a_small_tuple_is_read_and_replaced(ours: Any) -> None:
    for size in (2, 3, 4):
        values, of, put = tuple(range(10, 10 + size)), getattr(ours, f"of{size}"), getattr(ours, f"set{size}")
        for i in range(size):
            assert of(values, i) == values[i]
            assert put(values, i, 7) == (*values[:i], 7, *values[i + 1 :])


def test_constants_compile_to_their_own_bits() -> None:
    pytest.importorskip("numba")
    import numba

    from piste.compiled import numba_ext

    numba_ext.register()
    found: Any = numba.njit(lambda x: ((3).bit_count(), (12).bit_length(), x.bit_count(), x.bit_length()))
    for x in (0, 1, 3, 12, 2**61, 2**62 - 1):
        assert found(x) == (2, 4, x.bit_count(), x.bit_length())


def test_two_modules_with_one_name_are_refused() -> None:
    first, second = ModuleType("first"), ModuleType("second")
    vars(first)["SIZE"], vars(second)["SIZE"] = 1, 2
    with pytest.raises(NameClashError, match="`SIZE` is 1 in first and something else in second"):
        link_modules(first, second, compiled=False)
    assert bits.count(7) == 3
