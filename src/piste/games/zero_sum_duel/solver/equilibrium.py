"""Zero Sum Duel: an equilibrium, pass by pass through the deck.

Whenever the deck is empty both players know both hands; `empty_deck_values` gives the value of such a position, by
value iteration over the passes. `PassStrategy` is how both play from a position that both know to the next empty
deck. Seat 0 starts here; `solver` swaps the seats where it is the other one.

What takes long to compute of the usual game comes with the package: the values that the iteration tends to, those of
the last two passes before a limit, and both mixes of the first pass, without a limit and as `strong` plays it.
`tools/shipped_solutions.py` writes that file.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from piste.core.bits import count
from piste.core.game import members
from piste.core.protocols import OVER
from piste.games.zero_sum_duel import rules
from piste.games.zero_sum_duel.rules import DISCARD, DRAW, Options, State
from piste.games.zero_sum_duel.solver.lp_kernels import TOLERANCE
from piste.games.zero_sum_duel.solver.signaling import (
    LOST_OR_EVEN,
    Array,
    SignalingGames,
    hand_sets,
    last_turns,
    solve_pass,
)

VERSION = 1
CONVERGENCE = 1e-15
"""Value iteration ends when no value changes by more from one pass to the next."""

MAX_PASSES = 400
ENDLESS = 1 << 40
"""How many turns are left without a turn limit."""

USUAL_SIZE = (5, 3)
USUAL_PASSES = 48
"""After how many passes value iteration converges there, whatever the turn limit."""

SHIPPED = Path(__file__).with_name("solution.npz")

Outcome = tuple[float, float]
"""The value for the first player, and the chance of a draw."""


@cache
def shipped() -> dict[str, Array]:
    """Return what comes with the package of the solution of the usual game."""
    with np.load(SHIPPED) as arrays:
        return dict(arrays)


def turns_of_pass(options: Options) -> int:
    return 2 * (options.top - options.hand)


def left_of(options: Options, turns: int) -> int:
    """Return how many turns may still be played after these."""
    return options.turns - turns if options.turns else ENDLESS


_levels: dict[tuple[int, int, int], list[Array]] = {}


def empty_deck_values(options: Options, left: int) -> Array:
    """Return values for the player who draws, and chances of a draw, by the ranks of the hands."""
    s, turns = hand_sets(options.top, options.hand), turns_of_pass(options)
    level, rest = divmod(left - 1, turns)
    if level < 0:
        return np.zeros((2, len(s.kept), len(s.kept)))
    return s.by_rank(level_values(options.top, options.hand, rest + 1, level))


def level_values(top: int, hand: int, rest: int, level: int) -> Array:
    """Return the same for each of `pairs`, with `rest` turns left and `level` passes before them: value iteration."""
    usual = (top, hand) == USUAL_SIZE
    if usual and level >= USUAL_PASSES:
        return shipped()["limit"]
    s, turns = hand_sets(top, hand), 2 * (top - hand)
    key = (top, hand, rest)
    levels = _levels.setdefault(key, list(shipped()["levels"]) if usual and rest == turns else [])
    while len(levels) <= min(level, MAX_PASSES) and not converged(levels):
        ahead = levels[-1] if levels else np.stack((np.zeros(len(s.pairs)), np.ones(len(s.pairs))))  # even at the end
        levels.append(solve_pass(top, hand, s.by_rank(ahead), rest + turns * len(levels)))
    return levels[min(level, len(levels) - 1)]


def converged(levels: list[Array]) -> bool:
    return len(levels) > 1 and float(np.abs(levels[-1] - levels[-2]).max()) < CONVERGENCE


class SignalingSolution(NamedTuple):
    """The equilibrium of the hidden discards of a pass: both mixes, and the values of all pairs of hands."""

    senders: Mapping[int, int]  # the number of each hand with a card too many
    receivers: Mapping[int, int]
    sender_mix: Array  # [sender, discard by place in the hand]
    receiver_mix: Array  # [card seen, receiver, reply by place in the hand]
    pair: Array  # value and chance of a draw of each pair of hands


def shipped_mixes(base: State) -> list[Array] | None:
    """Return the mixes of sender and receiver in the first pass, if they come with the package."""
    o = base.options
    if base != rules.start(o) or (o.top, o.hand) != USUAL_SIZE or f"sender {o.turns}" not in shipped():
        return None
    return [shipped()[f"{player} {o.turns}"].copy() for player in ("sender", "receiver")]


class PassStrategy:
    """The equilibrium strategies from a position that both know, up to the next empty deck."""

    def __init__(self, base: State) -> None:
        self.base = base
        o = base.options
        self.turns, self.sets = turns_of_pass(o), hand_sets(o.top, o.hand)
        since = max(base.turns - 2 * o.hand, 0)
        end = 2 * o.hand + self.turns * (since // self.turns + 1)
        # What an empty deck is worth after so many turns.
        self.empty = {n: empty_deck_values(o, left_of(o, n)) for n in (end - self.turns, end)}
        self.end = end
        self.outcomes: dict[State, Outcome] = {}
        opens = base.phase == DRAW and since % self.turns == 0
        self.signaling = self.solve_hidden_discards() if self.turns == 4 and opens else None

    def solve_hidden_discards(self) -> SignalingSolution | None:
        """Solve the signaling game of the hidden discards, if the game can come so far."""
        layer = {self.base: 1.0}
        while layer and next(iter(layer)).phase == DRAW:
            after: dict[State, float] = {}
            for state, chance in layer.items():
                cards = members(rules.outcomes(state))
                for card in cards:
                    then = rules.apply(state, card)
                    if rules.to_act(then) != OVER:
                        after[then] = after.get(then, 0.0) + chance / len(cards)
            layer = after
        if not layer:
            return None
        s = self.sets
        left = left_of(self.base.options, next(iter(layer)).turns)
        joint: dict[tuple[int, int], float] = {}
        for state, chance in layer.items():
            cards = members(state.deck)
            for card in cards:
                pair = (state.hands[0], state.hands[1] | 1 << card)
                joint[pair] = joint.get(pair, 0.0) + chance / len(cards)
        senders = {hand: i for i, hand in enumerate(sorted({pair[0] for pair in joint}))}
        receivers = {hand: i for i, hand in enumerate(sorted({pair[1] for pair in joint}))}
        chances = np.zeros((len(senders), len(receivers)))
        for (mine, other), chance in joint.items():
            chances[senders[mine], receivers[other]] = chance
        games = SignalingGames(s, np.array([list(senders)]), np.array([list(receivers)]), chances[None])
        both = last_turns(s, self.empty[self.end], left - 2)
        payoffs, evens = (games.payoffs(last, *ends, left) for last, ends in zip(both, LOST_OR_EVEN, strict=True))
        mixes = shipped_mixes(self.base)
        if mixes is None:
            _, *mixes = games.solve(payoffs)
            games.refine_off_path(payoffs, *mixes)
        sender_mix, receiver_mix = mixes
        worths = np.zeros((2, *chances.shape))
        for table, paid, won in zip(worths, (payoffs, evens), (1.0, 0.0), strict=True):
            mixed = (games.expected(paid, receiver_mix) * sender_mix[:, :, None]).sum(axis=3)[0]
            table[:] = np.where(games.wins.T, won, mixed / np.where(chances > 0, chances, 1.0))
        return SignalingSolution(senders, receivers, sender_mix[0], receiver_mix[0], worths)

    def mix(self, state: State) -> dict[int, float]:
        """Return the mixed strategy of the seat to act: the probability of each discard."""
        seat, other = state.seat, 1 - state.seat
        cards = members(rules.legal(state))
        if self.signaling and count(state.deck) == 3:
            shares = self.signaling.sender_mix[self.signaling.senders[state.hands[seat]]]
            return dict(zip(cards, shares.tolist(), strict=True))
        if self.signaling and count(state.deck) == 2:
            (seen,) = members(rules.pile(state))
            shares = self.signaling.receiver_mix[seen, self.signaling.receivers[state.hands[seat]]]
            return dict(zip(cards, shares.tolist(), strict=True))
        sign = 1 if seat == 0 else -1
        best = -1
        worth: Outcome = (0.0, 0.0)
        if count(state.deck) == 1:
            # The other will hold whatever is hidden now, in hand or by the last draw: one such case stands for all.
            state = representative_state(state, state.hands[other] | state.deck)
        for card in cards:
            then = self.outcome(rules.apply(state, card))
            ahead, even = sign * then[0] - sign * worth[0], then[1] - worth[1]
            if best < 0 or ahead > TOLERANCE or (ahead > -TOLERANCE and even < -TOLERANCE):
                best, worth = card, then
        return {card: float(card == best) for card in cards}

    def outcome(self, state: State) -> Outcome:
        """Return the first player's value of a full state, hidden cards included, and the chance of a draw."""
        if rules.to_act(state) == OVER:
            return float(rules.payoff(state, 0)), float(state.winner < 0)
        if state not in self.outcomes:
            self.outcomes[state] = self._outcome(state)
        return self.outcomes[state]

    def _outcome(self, state: State) -> Outcome:
        mine, other = state.hands[0], state.hands[1]
        if state.phase == DRAW and not state.deck:
            value, drawn = self.empty[state.turns][:, self.sets.rank[mine], self.sets.rank[other]]
            return float(value), float(drawn)
        if self.signaling and state.phase == DISCARD and count(state.deck) == 3:
            i = self.signaling.senders[mine]
            pairs = [self.signaling.receivers[other | 1 << card] for card in members(state.deck)]
            value, drawn = self.signaling.pair[:, i, pairs].mean(axis=1)
            return float(value), float(drawn)
        if state.phase == DISCARD:
            shares = {card: share for card, share in self.mix(state).items() if share}
        else:
            cards = members(rules.outcomes(state))
            shares = dict.fromkeys(cards, 1 / len(cards))
        thens = [(share, self.outcome(rules.apply(state, card))) for card, share in shares.items()]
        return sum(share * then[0] for share, then in thens), sum(share * then[1] for share, then in thens)


def representative_state(state: State, hidden: int) -> State:
    """Return the state in which the deck has the lowest of the cards that the seat to act cannot tell apart."""
    deck = hidden & -hidden
    hands = (state.hands[0], hidden ^ deck) if state.seat == 0 else (hidden ^ deck, state.hands[1])
    return State(state.options, state.phase, state.seat, hands, deck, state.turns, state.winner, state.reason)


def strategy_from(base: State) -> PassStrategy:
    """Return the strategies from a position that both know; the last ones are cached, openings apart."""
    return _opening_strategy(base) if base.turns < 2 * base.options.hand else _pass_strategy(base)


_opening_strategy = lru_cache(maxsize=8)(PassStrategy)
_pass_strategy = lru_cache(maxsize=64)(PassStrategy)
