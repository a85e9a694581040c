"""Prime Duel, played steadily: know from each score how many turns it takes to land on the target."""

from __future__ import annotations

from piste.core.bits import lane
from piste.core.dealer import RandomStream
from piste.core.views import SeatView
from piste.games.prime_duel import rules
from piste.games.prime_duel.rules import DISCARD, KEEP, Options, View

LINE = "Goes where fewest turns lead to the target; counts primes and the cards left in the deck."
FEEL = "Takes the shortest way to the target and watches the deck. It seldom wastes a turn."

CURRENT_DECK_WEIGHT = 4
"""How much more the cards left in the deck weigh, for turns to come, than those of a whole new deck."""


def choose(view: SeatView, stream: RandomStream) -> int:
    v: View = view.position
    mine, whole = v.scores[view.seat], rules.whole_deck(v.options)
    deck = v.deck if v.deck else whole
    turns = turns_from(v.options, mine, shares(v.options, [deck] * CURRENT_DECK_WEIGHT + [whole]))
    after = [left_after(v.options, turns, mine, mine + i + 1) for i in range(v.options.top)]
    keep = after[v.card]
    discard = sum(p * left for p, left in zip(shares(v.options, [deck]), after, strict=True))
    if keep == discard:
        return (KEEP, DISCARD)[stream.below(2)]
    return KEEP if keep < discard else DISCARD


def shares(options: Options, decks: list[int]) -> list[float]:
    """Return how likely each card is to be drawn from these decks put together."""
    counts = [sum(lane(deck, i) for deck in decks) for i in range(options.top)]
    return [n / sum(counts) for n in counts]


def left_after(options: Options, turns: dict[int, float], score: int, after: int) -> float:
    """Return how many turns are still to come when a card would take the score to `after`."""
    if after > options.target:
        return turns[score]  # Q3: nothing changed
    if after == options.target:
        return 0.0
    return turns[after] - rules.is_prime(after)  # an extra turn costs nothing


def turns_from(options: Options, lowest: int, odds: list[float]) -> dict[int, float]:
    """Return for each score from `lowest` how many turns it takes on average, this one included.

    It is a race against the clock; the opponent is left out. With the target near, a second card may leave the score
    as it was. Then the number looked for stands on both sides: guess it, see which first cards are worth keeping,
    work it out with those kept, and look again, until nothing changes.
    """
    turns: dict[int, float] = {}
    for score in range(options.target - 1, lowest - 1, -1):
        fits = range(min(options.top, options.target - score))
        after = [left_after(options, turns, score, score + i + 1) for i in fits]
        past = sum(odds[len(fits) :])
        second = sum(odds[i] * after[i] for i in fits)  # and `past` times the number looked for
        guess, expected = -1.0, turns.get(score + 1, 1.0)
        while abs(expected - guess) > 1e-9:
            guess = expected
            kept = [i for i in fits if after[i] < second + past * guess]
            again = 1.0 - sum(odds[i] for i in kept)
            expected = (1.0 + sum(odds[i] * after[i] for i in kept) + again * second) / (1.0 - again * past)
        turns[score] = expected
    return turns
