"""What a learner sees of Zero Sum Duel, as numbers, and how large everything may get."""

from __future__ import annotations

from piste.core.bits import from2
from piste.core.observation import TURN, TURNS_DONE, alone, amounts, flags, one_of, own_first
from piste.games.zero_sum_duel.notation import KINDS, card_name
from piste.games.zero_sum_duel.rules import TURN_LIMIT, Options, State

SHOWN = ("hands", "undrawn")


def actions(options: Options) -> int:
    return 2 * options.top


def chances(options: Options) -> int:
    return 2 * options.top


def longest(options: Options) -> tuple[int, int]:
    return options.turns, 1 + options.turns


def cut(s: State) -> int:
    return int(s.reason == TURN_LIMIT)


def cards(options: Options) -> list[str]:
    return [card_name(options.top, i) for i in range(2 * options.top)]


LAYOUT = (
    one_of("phase", "what happens next", lambda v: v.phase, lambda _: (*KINDS, "over")),
    TURN,
    flags("hand", "the cards this seat holds", lambda v: v.hand, cards),
    flags("pile", "the cards discarded", lambda v: v.pile, cards),
    amounts(
        "sizes", "cards in each hand, of a whole hand with the card just drawn",
        lambda v: from2(v.sizes, v.viewer), own_first, lambda o: o.hand + 1,
    ),
    amounts("left", "cards left in the deck, of all cards", lambda v: (v.left,), alone, lambda o: 2 * o.top),
    TURNS_DONE,
)  # fmt: skip
