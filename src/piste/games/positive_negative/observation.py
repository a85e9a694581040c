"""What a learner sees of Positive-Negative, as numbers, and how large everything may get."""

from __future__ import annotations

from piste.core.bits import from2, of2
from piste.core.observation import TURN, alone, amounts, flags, one_of, own_first
from piste.games.positive_negative.notation import KINDS, card_name
from piste.games.positive_negative.rules import Options, State

SHOWN = ("undrawn",)


def actions(options: Options) -> int:
    return 2  # keep, discard


def chances(options: Options) -> int:
    return 2 * options.top


def longest(options: Options) -> tuple[int, int]:
    """Each decision follows a card that was drawn for it, and no card is drawn twice."""
    return 2 * options.top, 2 * options.top


def cut(s: State) -> int:
    return 0  # it always ends by itself


def cards(options: Options) -> list[str]:
    return [card_name(options.top, i) for i in range(2 * options.top)]


def highest(options: Options) -> int:
    return options.top * (options.top + 1) // 2


LAYOUT = (
    one_of("phase", "what happens next", lambda v: v.phase, lambda _: (*KINDS, "over")),
    TURN,
    one_of("card", "the card to decide on, if this seat may see it", lambda v: v.card, cards),
    flags("own", "the cards this seat has kept", lambda v: of2(v.kept, v.viewer), cards),
    flags("other", "the cards the other has kept", lambda v: of2(v.kept, 1 - v.viewer), cards),
    flags("pile", "the cards discarded", lambda v: v.pile, cards),
    amounts(
        "scores", "scores, of the highest there can be", lambda v: from2(v.scores, v.viewer), own_first,
        highest, highest, signed=True,
    ),
    amounts("left", "cards left in the deck, of all cards", lambda v: (v.left,), alone, lambda o: 2 * o.top),
)  # fmt: skip
