"""What a learner sees of Prime Duel, as numbers, and how large everything may get."""

from __future__ import annotations

from piste.core.bits import from2
from piste.core.observation import TURN, TURNS_DONE, alone, amounts, counts, one_of, own_first
from piste.games.prime_duel.notation import KINDS, name
from piste.games.prime_duel.rules import DRAW, TURN_LIMIT, Options, State, is_prime

SHOWN = ()  # every card is shown at once (Q5)


def actions(options: Options) -> int:
    return 2  # keep, discard


def chances(options: Options) -> int:
    return max(2, options.top)


def longest(options: Options) -> tuple[int, int]:
    """Each turn has one decision, and one more for each prime on which a score lands: scores only go up."""
    decisions = options.turns + 2 * sum(map(is_prime, range(1, options.target)))
    return decisions, 1 + 2 * decisions


def cut(s: State) -> int:
    return int(s.reason == TURN_LIMIT)


def phases(_: Options) -> tuple[str, ...]:
    return (*KINDS, "over")


def cards(options: Options) -> list[str]:
    return [name(options, DRAW, i) for i in range(options.top)]


LAYOUT = (
    one_of("phase", "what happens next", lambda v: v.phase, phases),
    TURN,
    amounts(
        "scores", "scores, of the target", lambda v: from2(v.scores, v.viewer), own_first,
        lambda o: o.target,
    ),
    one_of("card", "the card to decide on", lambda v: v.card, cards),
    counts("deck", "how many of each card are left in the deck, of all copies", lambda v: v.deck, cards,
           lambda o: o.copies),
    amounts("extra", "1 in an extra turn", lambda v: (v.extra,), alone, lambda _: 1),
    TURNS_DONE,
)  # fmt: skip
