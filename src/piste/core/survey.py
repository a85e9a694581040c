"""What a game's rules lead to: all states of a small game, a sample of a large one; what is wrong with a state."""

from __future__ import annotations

from collections.abc import Set
from functools import lru_cache
from random import Random
from typing import Any, NamedTuple

from piste.core.game import Game, find, members
from piste.core.protocols import CHANCE, OVER, SPECTATOR, AnyRules

MAX_STATES = 20_000
"""So many states are looked at before a game is called large."""

SAMPLE_GAMES, SAMPLE_STEPS = 40, 2000
"""What is played of a large game: so many games, each for so many steps at most."""

LIMIT = 1 << 62

MAX_CARDS = 64
"""With more equally likely cards than this, `drawn` is not asked for each of them."""


class Survey(NamedTuple):
    """What was found out about a game with its options."""

    complete: bool  # every state was seen; else the rest is what a sample showed
    states: Set[Any]
    decisions: int  # the most that a game has; 0 if it may go on for ever
    outcomes: int
    actions: int  # every decision is below this
    chances: int
    payoffs: tuple[int, int]  # the lowest and the highest
    hides: bool  # whether some seat is told or shown less than another

    def reaches(self, rules: AnyRules, state: Any) -> bool:
        """Say whether some game comes to a state, with or without a resignation at the end."""
        if state in self.states or rules.to_act(state) != OVER:
            return state in self.states
        seats = range(rules.seats(state.options))
        before = (s for s in self.states if rules.to_act(s) >= 0)
        return any(rules.leave(s, seat) == state for s in before for seat in seats)


class Fault(NamedTuple):
    """What is wrong with a state: a function of the rules, and what it does, to be read after its name."""

    function: str
    sentence: str

    def __str__(self) -> str:
        return f"{self.function} {self.sentence}"


def fault(rules: AnyRules, s: Any) -> Fault | None:
    """Return what is wrong with a state, or None."""
    name = "to_act"
    try:
        actor, seats = rules.to_act(s), rules.seats(s.options)
        if not OVER <= actor < seats:
            return Fault(name, f"returns {actor}, which is neither a seat below {seats} nor CHANCE nor OVER.")
        name = "payoff"
        paid = [rules.payoff(s, seat) for seat in range(seats)]
        if sum(paid):
            return Fault(name, f"pays the seats {paid}, which does not sum to 0.")
        if actor != OVER and any(paid):
            return Fault(name, f"pays the seats {paid} although the game goes on.")
        name = "look"
        for seat in (SPECTATOR, *range(seats)):
            rules.look(s, seat)
        if actor == OVER:
            name = "reason"
            return None if isinstance(rules.reason(s), int) else Fault(name, "returns no whole number.")
        name = "outcomes" if actor == CHANCE else "legal"
        mask = getattr(rules, name)(s)
        if not isinstance(mask, int) or not 0 <= mask < LIMIT:
            return Fault(
                name, f"returns {mask!r}, and a set of actions from 0 to 61 is a number from 1 to 2**62 - 1."
            )
        if mask == 0:
            who = "chance" if actor == CHANCE else "a seat"
            return Fault(name, f"returns 0, the empty set, although {who} is to act.")
        if actor == CHANCE:
            name = "weight"
            return _weight_fault(rules, s, mask)
    except Exception as e:  # rules that are wrong may fail in any way
        return Fault(name, f"fails: {type(e).__name__}: {e}.")
    return None


def _weight_fault(rules: AnyRules, s: Any, mask: int) -> Fault | None:
    weights = {outcome: rules.weight(s, outcome) for outcome in members(mask)}
    for outcome, weight in weights.items():
        if weight <= 0:
            return Fault("weight", f"returns {weight} for {outcome}, and each of `outcomes` weighs 1 or more.")
    spread = rules.spread(s)
    if spread != sum(weights.values()):
        return Fault("spread", f"returns {spread}, and the weights of all outcomes sum to {sum(weights.values())}.")
    if spread <= MAX_CARDS:
        cards = [rules.drawn(s, at) for at in range(spread)]
        for outcome, weight in weights.items():
            if cards.count(outcome) != weight:
                had = cards.count(outcome)
                return Fault("drawn", f"returns {outcome} for {had} cards, and its weight is {weight}.")
    return None


@lru_cache(maxsize=64)
def survey_of(name: str, options: Any) -> Survey:
    """Return what the rules of a game with these options lead to."""
    return survey(find(name), options)


def survey(game: Game, options: Any, most: int = MAX_STATES) -> Survey:
    rules = game.rules
    start = rules.start(options)
    after: dict[Any, list[Any]] = {}
    actions = chances = 0
    payoffs = [0]
    hides = False
    left = [start]
    chooser = Random(0)
    complete = True
    while left:
        s = left.pop()
        if s in after:
            continue
        if len(after) >= most:
            complete = False
            break
        actor = rules.to_act(s)
        if actor == OVER:
            after[s] = []
            payoffs += [rules.payoff(s, seat) for seat in range(rules.seats(options))]
            continue
        mask = rules.outcomes(s) if actor == CHANCE else rules.legal(s)
        if actor == CHANCE:
            chances = max(chances, mask.bit_length())
        else:
            actions = max(actions, mask.bit_length())
        after[s] = [rules.apply(s, action) for action in members(mask)]
        hides = hides or _hides(rules, s, chooser.choice(members(mask)))
        left += after[s]
    if not complete:
        for _ in range(SAMPLE_GAMES):
            hides = _sample(rules, start, chooser, payoffs) or hides
    longest = _longest(rules, start, after) if complete else (0, 0)
    return Survey(complete, after.keys(), *longest, actions, chances, (min(payoffs), max(payoffs)), hides)


def _sample(rules: AnyRules, s: Any, chooser: Random, payoffs: list[int]) -> bool:
    hides = False
    for _ in range(SAMPLE_STEPS):
        actor = rules.to_act(s)
        if actor == OVER:
            payoffs += [rules.payoff(s, seat) for seat in range(rules.seats(s.options))]
            break
        action = chooser.choice(members(rules.outcomes(s) if actor == CHANCE else rules.legal(s)))
        hides = hides or _hides(rules, s, action)
        s = rules.apply(s, action)
    return hides


def _hides(rules: AnyRules, s: Any, action: int) -> bool:
    """Say whether seats are told or shown different things here."""
    everyone = (SPECTATOR, *range(rules.seats(s.options)))
    if len({rules.tell(s, action, seat) for seat in everyone}) > 1:
        return True
    shown = {tuple(v for n, v in zip(view._fields, view, strict=True) if n != "viewer")
             for view in (rules.look(s, seat) for seat in everyone)}  # fmt: skip
    return len(shown) > 1


def _longest(rules: AnyRules, start: Any, after: dict[Any, list[Any]]) -> tuple[int, int]:
    """Return the most decisions and the most outcomes that a game has; (0, 0) if states come again."""
    depth: dict[Any, tuple[int, int]] = {}
    open_states: set[Any] = set()
    stack = [start]
    while stack:
        s = stack[-1]
        if s in depth:
            stack.pop()
            continue
        if s not in open_states:
            open_states.add(s)
            for following in after[s]:
                if following in open_states and following not in depth:
                    return 0, 0
                if following not in depth:
                    stack.append(following)
            continue
        stack.pop()
        actor = rules.to_act(s)
        decisions = max((depth[one][0] for one in after[s]), default=0) + (actor >= 0)
        outcomes = max((depth[one][1] for one in after[s]), default=0) + (actor == CHANCE)
        depth[s] = (decisions, outcomes)
    return depth[start]
