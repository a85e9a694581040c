"""Best responses in Zero Sum Duel: how much a player could gain who knew the other's whole plan.

Nothing here is the solver's. `respond` goes through the rules alone, with what a seat can tell apart taken from
`tell` and `look`. `sender_best` and `receiver_best` do one pass of the usual game in loops that numba compiles.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from piste.core.bits import lowest, signed_sum
from piste.core.game import members
from piste.core.protocols import CHANCE, OVER
from piste.games.zero_sum_duel import rules
from piste.games.zero_sum_duel.rules import DRAW, State

Policy = Callable[[State], Mapping[int, float]]
Ahead = Callable[[State], float]


def respond(layer: Mapping[State, float], seat: int, policy: Policy, ahead: Ahead) -> float:
    """Return the most a seat can get from states it cannot tell apart, weighed, up to the next empty deck."""
    state = next(iter(layer))
    actor = rules.to_act(state)
    if actor == OVER:
        return sum(weight * rules.payoff(s, seat) for s, weight in layer.items())
    if actor == CHANCE and not state.deck:
        return sum(weight * ahead(s) for s, weight in layer.items())
    if actor == seat:
        return max(
            grouped([(s, card, weight) for s, weight in layer.items()], seat, policy, ahead)
            for card in members(rules.legal(state))
        )
    steps = []
    for s, weight in layer.items():
        if actor == CHANCE:
            cards = members(rules.outcomes(s))
            steps += [(s, card, weight / len(cards)) for card in cards]
        else:
            steps += [(s, card, weight * share) for card, share in policy(s).items() if share > 0]
    return grouped(steps, seat, policy, ahead)


def grouped(steps: list[tuple[State, int, float]], seat: int, policy: Policy, ahead: Ahead) -> float:
    """Take steps, and go on with each set of states that the seat cannot tell apart."""
    groups: dict[Any, dict[State, float]] = {}
    for s, card, weight in steps:
        then = rules.apply(s, card)
        group = groups.setdefault((rules.tell(s, card, seat), rules.look(then, seat)), {})
        group[then] = group.get(then, 0.0) + weight
    return sum(respond(group, seat, policy, ahead) for group in groups.values())


def dealt(base: State) -> tuple[dict[State, float], tuple[float, float]]:
    """Return every state of the first discard with its chance, and how likely each seat has won before."""
    layer, won = {base: 1.0}, [0.0, 0.0]
    while layer and next(iter(layer)).phase == DRAW:
        after: dict[State, float] = {}
        for s, chance in layer.items():
            cards = members(rules.outcomes(s))
            for card in cards:
                then = rules.apply(s, card)
                if rules.to_act(then) != OVER:
                    after[then] = after.get(then, 0.0) + chance / len(cards)
                elif then.winner >= 0:
                    won[then.winner] += chance / len(cards)
        layer = after
    return layer, (won[0], won[1])


def first_pass(base: State, seat: int, policy: Policy, ahead: Ahead) -> float:
    """Return the most a seat can get from the start; the order in which it drew its own cards tells it nothing."""
    layer, won = dealt(base)
    hands: dict[int, dict[State, float]] = {}
    for s, chance in layer.items():
        hands.setdefault(s.hands[seat], {})[s] = chance
    return won[seat] - won[1 - seat] + sum(respond(group, seat, policy, ahead) for group in hands.values())


def sender_best(bases: Any, index: Any, replies: Any, fourth: Any, ahead: Any) -> Any:
    """Return the most that the player who begins a pass can get in each position against fixed replies."""
    found = np.zeros(len(bases))
    for p in range(len(bases)):
        mine, other = int(bases[p, 0]), int(bases[p, 1])
        deck = 1023 & ~(mine | other)
        for a in range(10):
            if deck >> a & 1:
                best = -2.0
                for x in range(10):
                    if (mine | 1 << a) >> x & 1:
                        kept = (mine | 1 << a) ^ (1 << x)
                        worth = 1.0
                        if signed_sum(5, kept) != 0:
                            worth = sender_rest(p, kept, other, deck ^ (1 << a), x, index, replies, fourth, ahead)
                        best = max(best, worth)
                found[p] += best / 4
    return found


def sender_rest(
    p: int, mine: int, other: int, deck: int, x: int, index: Any, replies: Any, fourth: Any, ahead: Any
) -> float:
    total = 0.0
    for y in range(10):
        for c in range(10):
            if not deck >> c & 1:
                continue
            worths = np.full(10, -2.0)
            lost = 0.0
            for z in range(10):
                if not (mine | 1 << c) >> z & 1:
                    continue
                kept, worth = (mine | 1 << c) ^ (1 << z), 0.0
                lost = 0.0
                for b in range(10):
                    if b == c or not deck >> b & 1 or not (other | 1 << b) >> y & 1:
                        continue
                    share = replies[p, x, b, y] / 6
                    theirs = (other | 1 << b) ^ (1 << y)
                    if signed_sum(5, theirs) == 0:
                        lost -= share
                    elif signed_sum(5, kept) == 0:
                        worth += share
                    else:
                        theirs |= deck & ~(1 << b | 1 << c)
                        theirs ^= 1 << fourth[index[kept], index[theirs]]
                        worth += share * (-1.0 if signed_sum(5, theirs) == 0 else ahead[index[kept], index[theirs]])
                worths[z] = worth
            total += worths.max() + lost
    return total


def receiver_best(bases: Any, index: Any, sends: Any, third: Any, ahead: Any) -> Any:
    """Return the least that the other player can hold the beginner to, in each position, against a fixed plan."""
    found = np.zeros(len(bases))
    for p in range(len(bases)):
        mine, other = int(bases[p, 0]), int(bases[p, 1])
        deck = 1023 & ~(mine | other)
        for a in range(10):
            for x in range(10):
                if deck >> a & 1 and (mine | 1 << a) >> x & 1 and signed_sum(5, (mine | 1 << a) ^ (1 << x)) == 0:
                    found[p] += sends[p, a, x] / 4
        for x in range(10):
            for b in range(10):
                if not deck >> b & 1:
                    continue
                least = 2.0
                for y in range(10):
                    if not (other | 1 << b) >> y & 1:
                        continue
                    theirs, worth = (other | 1 << b) ^ (1 << y), 0.0
                    for a in range(10):
                        if a == b or not deck >> a & 1 or not (mine | 1 << a) >> x & 1 or sends[p, a, x] == 0.0:
                            continue
                        kept = (mine | 1 << a) ^ (1 << x)
                        if signed_sum(5, kept) != 0:
                            rest = deck & ~(1 << a | 1 << b)
                            worth += sends[p, a, x] / 12 * receiver_rest(kept, theirs, rest, index, third, ahead)
                    least = min(least, worth)
                found[p] += least
    return found


def receiver_rest(mine: int, other: int, deck: int, index: Any, third: Any, ahead: Any) -> float:
    if signed_sum(5, other) == 0:
        return -1.0
    total = 0.0
    for c in range(10):
        if not deck >> c & 1:
            continue
        cards = other | (deck ^ (1 << c))
        kept = (mine | 1 << c) ^ (1 << third[index[mine | 1 << c], index[cards]])
        worth = 1.0
        if signed_sum(5, kept) != 0:
            worth = 2.0
            left = cards
            while left:
                theirs = cards ^ (1 << lowest(left))
                left &= left - 1
                worth = min(worth, -1.0 if signed_sum(5, theirs) == 0 else ahead[index[kept], index[theirs]])
        total += 0.5 * worth
    return total
