"""Zero Sum Duel, solved: what a position is worth, and the mix of discards that is best."""

from __future__ import annotations

from collections.abc import Callable

from piste.compiled.compile_progress import Shares, compiling
from piste.core.belief import Belief, WrittenEvent, believed
from piste.core.evaluation import EXACT, Chances, Choice, Evaluation, Progress, quiet
from piste.core.game import find, members
from piste.core.information_set import InformationSet
from piste.core.position import Position
from piste.core.protocols import CHANCE, OVER, SPECTATOR
from piste.core.views import SeatView
from piste.games.zero_sum_duel import rules
from piste.games.zero_sum_duel.guarantees import is_exact
from piste.games.zero_sum_duel.rules import DRAW, TOSS, Options, State, View
from piste.games.zero_sum_duel.solver import equilibrium, monte_carlo

VERSION = equilibrium.VERSION
HOW_USUAL = (
    "An equilibrium of the whole game, by exact linear programs for every pass through the deck; "
    "endless play has probability 0."
)
HOW_SMALL = "An equilibrium, pass by pass through the deck; the value is what ever longer turn limits tend to."
COMPILED = Shares(
    {"solve_games": 20.2, "solve_lp": 12.2, "simplex": 7.4, "find_replies": 5.6, "swap_basis": 4.4},
    other=0.5, compiled=57.0,
)  # fmt: skip
STRONG_PASSES = 2
"""The search depth of the bot `strong` in passes, the current one included."""

OFF_PATH = " Equilibrium play does not lead here: what is hidden is taken as chance left it."


def prepare(options: Options, progress: Progress = quiet) -> None:
    """Make what the bots need: the first pass of a game."""
    if is_exact(options):
        with compiling(progress, COMPILED):
            equilibrium.strategy_from(normalized(opening(options), 0))


def solve_fully(options: Options, progress: Progress = quiet) -> str:
    """Compute what a game begins with; return a sentence on what is kept."""
    if not is_exact(options):
        return (
            f"Zero Sum Duel with cards up to {options.top} and hands of {options.hand} is not solved: "
            "its positions are estimated when they are asked for, and nothing is stored."
        )
    prepare(options, progress)
    return (
        "Nothing to keep: what takes long of the usual game comes with the package, and the rest is solved "
        "when it is asked for."
    )


def opening(options: Options) -> State:
    """Return the first state after the toss, if there is one, with A to start."""
    state = rules.start(options)
    return rules.apply(state, 0) if state.phase == TOSS else state


def starter(state: State) -> int:
    """Return the player who took the first turn; every pass begins with them too (deck and hands are even)."""
    return state.seat if state.turns % 2 == 0 else 1 - state.seat


def normalized(state: State, first: int) -> State:
    """Return the state with the seats swapped, if need be, so that seat 0 took the first turn."""
    options = Options(1, state.options.turns, state.options.top, state.options.hand)
    seat, hands, winner = state.seat, state.hands, state.winner
    if first == 1:
        seat, hands = 1 - seat, (hands[1], hands[0])
        winner = 1 - winner if winner >= 0 else winner
    return State(options, state.phase, seat, hands, state.deck, state.turns, winner, state.reason)


def since_shared(view: SeatView) -> InformationSet:
    """Return a seat's information set, from the last position that both players knew whole.

    That is where a turn ended with an empty deck, or the start. What a seat alone is sure of is not enough: the other
    plays without knowing it.
    """
    game = find(view.game)
    base: State = Position.parse(view.origin).state if view.origin else rules.start(view.options)
    since = 0
    for at, told in enumerate(view.log, 1):
        after: View = told.after
        if after.left == 0 and after.phase == DRAW:
            other = rules.every_card(view.options) & ~(after.hand | after.pile)
            hands = (after.hand, other) if view.seat == 0 else (other, after.hand)
            base = State(view.options, DRAW, after.seat, hands, 0, after.turns, after.winner, 0)
            since = at
    events = tuple(WrittenEvent.of(entry.event) for entry in view.log[since:])
    return InformationSet(view.seat, Position(game, base), events, believed(game, base, view.seat, view.log[since:]))


def since_last_shared(known: InformationSet) -> InformationSet:
    """Return the same information set, from the last position that both players knew whole."""
    game = known.base.game
    for at in range(len(known.events), 0, -1):
        base = next(iter(known.belief.layer(at)))
        if base.deck == 0 and base.phase == DRAW and len(known.belief.layer(at)) == 1:
            return heard(Position(game, base), known.seat, known.events[at:], known.belief.states.__contains__)
    return known


def truncated(known: InformationSet, passes: int) -> InformationSet:
    """Return the same information set of a game that ends as a draw after this many more passes."""
    base: State = known.base.state
    o, turns = base.options, equilibrium.turns_of_pass(base.options)
    end = 2 * o.hand + turns * (max(base.turns - 2 * o.hand, 0) // turns + passes)
    short = base._replace(options=o._replace(turns=min(end, o.turns or end)))
    position = Position(known.base.game, short)
    return heard(position, known.seat, known.events, lambda state: state._replace(options=o) in known.belief.states)


def heard(
    base: Position, seat: int, events: tuple[WrittenEvent, ...], fits: Callable[[State], bool]
) -> InformationSet:
    """Return the information set of a seat that was told this, with the states that fit."""
    held = Belief(base.game, base.state, seat)
    for event in events:
        held.hear(event)
    held.only(fits)
    return InformationSet(seat, base, events, held)


def evaluate(known: InformationSet, progress: Progress = quiet) -> Evaluation:
    """Return what a position is worth to a seat with this information set; both are taken to know its base.

    A spectator gets that of the seat whose turn it is, and not how to play a hand that only its owner sees.
    """
    known = since_last_shared(known)
    base: State = known.base.state
    some: State = next(iter(known.belief.states))
    seat = some.seat if known.seat == SPECTATOR else known.seat
    if rules.to_act(some) == OVER:
        paid = rules.payoff(some, seat)
        ended = Chances(float(paid > 0), float(paid == 0), float(paid < 0))
        return Evaluation(seat, ended, (), EXACT, 0.0, "The game is over.")
    if not is_exact(base.options):
        return monte_carlo.evaluate(known, progress)
    how = HOW_USUAL if base.options[2:] == equilibrium.USUAL_SIZE else HOW_SMALL
    if base.options.turns:
        how = "An equilibrium, pass by pass through the deck, with the turns left counted."
    with compiling(progress, COMPILED):
        return exact_evaluation(known, seat, how)


def exact_evaluation(known: InformationSet, seat: int, how: str) -> Evaluation:
    """Return a seat's evaluation in a game that is solved."""
    base: State = known.base.state
    some: State = next(iter(known.belief.states))
    if some.phase == TOSS:
        begun = normalized(opening(base.options), 0)
        value, drawn = equilibrium.strategy_from(begun).outcome(begun)
        either = mean_chances([(0.5, chances(value, drawn, first, seat)) for first in (0, 1)])
        return Evaluation(seat, either, (), EXACT, 0.0, how)
    first = starter(some)
    weights = state_weights(known, first)
    if not weights:
        weights, how = state_weights(known, first, trusting=False), how + OFF_PATH
    if rules.to_act(some) != seat or known.seat == SPECTATOR:
        worth = [
            (p, chances(*strategy_of(base, first).outcome(normalized(state, first)), first, seat))
            for (base, state), p in weights.items()
        ]
        return Evaluation(seat, mean_chances(worth), (), EXACT, 0.0, how)
    base, some = next(iter(weights))  # of its own hand the mix is the same in all of them
    mix = strategy_of(base, first).mix(normalized(some, first))
    choices = []
    for card in members(rules.legal(some)):
        thens = [
            (p, strategy_of(base, first).outcome(normalized(rules.apply(state, card), first)))
            for (base, state), p in weights.items()
        ]
        choices.append(Choice(card, mean_chances([(p, chances(*then, first, seat)) for p, then in thens]), mix[card]))
    whole = mean_chances([(choice.mix, choice.chances) for choice in choices])
    return Evaluation(seat, whole, tuple(choices), EXACT, 0.0, how)


def strategy_of(base: State, first: int) -> equilibrium.PassStrategy:
    """Return how both play from a position that both know, if this player took the first turn."""
    return equilibrium.strategy_from(normalized(rules.apply(base, first) if base.phase == TOSS else base, first))


def state_weights(known: InformationSet, first: int, *, trusting: bool = True) -> dict[tuple[State, State], float]:
    """Return the states that a seat holds possible, each with the last one that both players knew, and their weights.

    Others are trusted to play as well as they can; nothing is returned if that never leads here.
    """
    seat, begin = known.seat, known.base.state
    layer: dict[tuple[State, State], float] = {(begin, begin): 1.0}
    for event in known.events:
        after: dict[tuple[State, State], float] = {}
        for (base, state), weight in layer.items():
            actor = rules.to_act(state)
            if actor == OVER:
                continue
            actions = members(rules.outcomes(state) if actor == CHANCE else rules.legal(state))
            shares = dict.fromkeys(actions, 1 / len(actions) if actor == CHANCE else 1.0)
            told = {a: WrittenEvent.of(rules.tell(state, a, seat)) for a in actions}
            if trusting and actor not in (CHANCE, seat) and event in told.values():
                shares = strategy_of(base, first).mix(normalized(state, first))
            for action in actions:
                if told[action] == event and shares[action] > 0:
                    then = rules.apply(state, action)
                    both = then if then.phase == DRAW and not then.deck else base
                    after[both, then] = after.get((both, then), 0.0) + weight * shares[action]
        layer = after
    layer = {pair: weight for pair, weight in layer.items() if pair[1] in known.belief.states}
    total = sum(layer.values())
    return {pair: weight / total for pair, weight in layer.items()} if total > 1e-12 else {}


def chances(value: float, drawn: float, first: int, seat: int) -> Chances:
    """Return a seat's chances from the first player's value and the chance of a draw."""
    drawn = min(max(drawn, 0.0), 1.0)
    win = min(max((1 - drawn + value) / 2, 0.0), 1.0)
    loss = max(1 - drawn - win, 0.0)
    return Chances(win, drawn, loss) if seat == first else Chances(loss, drawn, win)


def mean_chances(parts: list[tuple[float, Chances]]) -> Chances:
    """Return the average of chances, each with its weight."""
    win, draw, loss = (sum(p * part[i] for p, part in parts) for i in range(3))
    return Chances(win, draw, loss)
