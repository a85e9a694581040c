"""Zero Sum Duel: Monte Carlo rollouts by a heuristic, in the part of Python that numba compiles."""

from __future__ import annotations

from piste.compiled.kernels import next_state, picked_outcome
from piste.core.bits import count, lowest, signed_sum, signed_value
from piste.core.protocols import CHANCE, OVER
from piste.games.zero_sum_duel.rules import State, apply, payoff, pile, to_act


def completions(top: int, hand: int, among: int) -> int:
    """Return with how many of these cards the hand, less one card, would sum to zero."""
    total = signed_sum(top, hand)
    completing, cards = 0, hand
    while cards:
        need = signed_value(top, lowest(cards)) - total
        cards &= cards - 1
        if need != 0 and -top <= need <= top:
            completing |= 1 << (need + top - int(need > 0))
    return count(completing & among & ~hand)


def heuristic_discard(s: State) -> int:
    """Return the discard that wins, or else the one after which most cards would complete the hand."""
    top, hand = s.options.top, s.hands[s.seat]
    seen = hand | pile(s)
    unseen = ((1 << (2 * top)) - 1) & ~seen
    best, most, cards = -1, -1, hand
    while cards:
        card = lowest(cards)
        cards &= cards - 1
        kept = hand ^ (1 << card)
        if signed_sum(top, kept) == 0:
            return card
        # What lies on the pile comes back later: it counts a little.
        worth = 8 * completions(top, kept, unseen) + completions(top, kept, seen)
        if worth > most:
            best, most = card, worth
    return best


def rollout(s: State, seat: int, g: tuple[int, int], max_steps: int) -> int:
    """Return a seat's payoff when both play on by the heuristic; 0 if that takes more than `max_steps` steps."""
    for _ in range(max_steps):
        actor = to_act(s)
        if actor == OVER:
            break
        if actor == CHANCE:
            g = next_state(g)
            s = apply(s, picked_outcome(s, g))
        else:
            s = apply(s, heuristic_discard(s))
    return payoff(s, seat)
