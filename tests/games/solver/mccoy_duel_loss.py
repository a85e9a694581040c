"""What decisions of Duel's perfect bot with few cards left lose against an equilibrium, and how exact that is.

The equilibrium is that of the game which the bot takes a decision to be part of: it begins at the turn from which the
bot solved the round, or else at the decision itself, with the deals that everybody holds possible there. Where the
tree is small enough, CFR+ solves it with many passes and the loss has a bound. Else trials far longer than the bot's
learn the mixes, and the best answer to the other seat's mixes is worked out for the seat that decides.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import numpy as np

import piste
from piste import bots
from piste.core.dealer import Dealer, RandomStream
from piste.core.protocols import SPECTATOR
from piste.core.views import SeatView
from piste.games.mccoy_duel import rules
from piste.games.mccoy_duel.bots import search
from piste.games.mccoy_duel.solver import cfr, infoset_kernels, infosets
from piste.games.mccoy_duel.solver.cfr_kernels import INFOSET_COUNT, NODE_COUNT, OUT_OF_ROOM, VISIT_COUNT, SampledTree
from piste.games.mccoy_duel.solver.infoset_kernels import KEY_COLUMN, MAX_CHOICES
from piste.games.mccoy_duel.solver.infosets import Array, PossibleStates
from tests.games.solver.mccoy_duel_plain_cfr import level

ROOM = 12_000_000  # nodes for long trials and for the best answer to them


class Asked(NamedTuple):
    """A decision of the perfect bot, the round that it is of, and what the bot draws chance from."""

    played: str
    view: SeatView
    stream: RandomStream


class Lost(NamedTuple):
    loss: float  # of what the bot's mix would have won
    proven: bool  # against a solution with a bound, or against long trials
    gap: float  # that bound; for long trials 0
    solved: bool  # whether the bot solved or learned
    choices: int
    values: Array
    mix: Array


def lost(view: SeatView, stream: RandomStream, nodes: int, work: int, seed: int = 99) -> Lost | None:
    """Return what the bot's mix at a decision loses; None if nothing is known of that."""
    state, told = infosets.observed_round(view)
    assert state is not None
    seat, options = view.seat, view.options
    key = int(infosets.possible_states(state, told, seat).rows[0, KEY_COLUMN + seat])
    strategy, spent, root = search.solved_strategy(state, told, key, search.FULL)
    sampled = partial(search.sampled_strategy, state, told, seat, key, search.FULL, spent, stream)
    mix = strategy if strategy is not None else sampled()
    assert mix is not None
    rows = infosets.possible_states(state, told[: root + 1], SPECTATOR)
    proved = proven(options, rows, seat, key, nodes)
    gap = 0.0
    if proved is not None:
        values, gap = proved
    else:
        answer = answered(options, rows, seat, key, cfr.mccfr(options, rows, seat, key, work, seed, ROOM))
        if answer is None:
            return None
        values = answer
    mix = mix / mix.sum()
    loss = float(values.max() - values[: len(mix)] @ mix)
    return Lost(loss, proved is not None, gap, strategy is not None, len(mix), values, mix)


def proven(
    options: rules.Options, rows: PossibleStates, seat: int, key: int, nodes: int
) -> tuple[Array, float] | None:
    """Return what each choice at a place wins against the other's mixes in a solution, and the solution's bound."""
    early = int(nodes * cfr.MAX_FIRST_SHARE)
    if len(rows.rows) > early:
        return None
    tree = cfr.empty_tree(nodes, nodes // 4)
    cfr.add_roots(options, tree, rows)
    cfr.run_cfr(options, tree._replace(nodes=tree.nodes[:early]), rows, 1, 2)
    passes = 1
    while (
        not tree.counters[OUT_OF_ROOM] and passes < 400 and (passes < 100 or tree.counters[VISIT_COUNT] < 100_000_000)
    ):
        cfr.run_cfr(options, tree, rows, passes + 1, passes + 21)
        passes += 20
    if tree.counters[OUT_OF_ROOM]:
        return None
    solved = cfr.Solution(tree, cfr.average_strategy(tree), passes, int(tree.counters[NODE_COUNT]))
    proof = cfr.best_responses(options, rows, solved)
    if proof is None:
        return None
    spot = solved.infoset(key)
    assert spot >= 0
    return proof.values[seat][spot, : int(tree.infosets[spot, 1])], proof.nash_conv


def answered(options: rules.Options, rows: PossibleStates, seat: int, key: int, sketch: SampledTree) -> Array | None:
    """Return what each choice wins at a place with the best answer to the other's mixes from trials."""
    k = infosets.kernels()
    mine = rows.in_infoset(seat, key)
    tree = cfr.empty_tree(ROOM, len(sketch.infosets))
    tree.slots[:] = sketch.slots
    tree.counters[INFOSET_COUNT] = places = int(sketch.counters[INFOSET_COUNT])
    tree.infosets[:, :2] = sketch.infosets[:, :2]
    tree.infosets[:places, 2] = -1
    numbers, begin = sketch.infosets[:places, 1], sketch.infosets[:places, 2]
    mean = np.zeros(tree.strategy_sum.shape)
    for i in range(MAX_CHOICES):
        held = numbers > i
        mean[:places][held, i] = sketch.scores[begin[held] + 3 + 3 * i]
        now = sketch.scores[begin[held] + 1 + 3 * i]
        tree.strategy[:places][held, i] = now
    total = mean[:places].sum(axis=1, keepdims=True)
    mean[:places] = np.where(total > 0, mean[:places] / np.maximum(total, 1e-300), tree.strategy[:places])
    mean[mean < cfr.MIN_PROBABILITY] = 0.0
    mean[:places] /= mean[:places].sum(axis=1, keepdims=True)
    weights = mine.weights / mine.weights.sum()
    cfr.add_roots(options, tree, mine)
    theirs = np.zeros(len(tree.nodes))
    k.opponent_reach(options, tree, weights, mean, seat, theirs)
    if tree.counters[OUT_OF_ROOM]:
        return None
    _, _, best = cfr.best_response(tree, theirs, mean, seat)
    spot = int(tree.nodes[0, 2])
    return best[spot, : int(tree.infosets[spot, 1])]


def asked(names: tuple[str, str], seeds: range, cards: int = 8) -> Iterator[Asked]:
    """Play rounds and return each decision of the perfect bot with so few cards; the seats take turns."""
    for seed in seeds:
        played = f"{' '.join(names)} {seed}"
        table, dealer = piste.open_table("mccoy-duel", {"rounds": 1}, seed=played), Dealer(played)
        while (seat := table.to_act) is not None:
            view = table.view(seat)
            who = names[(seat + seed) % 2]
            few = view.kind != rules.PICK and sum(view.position.sizes) <= cards
            if who == "perfect" and few and different(view):
                yield Asked(played, view, dealer.stream(bots.stream_name(view)))
            table.decide(seat, level(who).choose(view, dealer.stream(bots.stream_name(view))), view.number)


def first_turns(seeds: range, cards: int = 8) -> Iterator[Asked]:
    """Return the first turn with so few cards in rounds between steady bots, if there is something to decide."""
    for seed in seeds:
        played = f"first turn {seed}"
        table, dealer = piste.open_table("mccoy-duel", {"rounds": 1}, seed=played), Dealer(played)
        while (seat := table.to_act) is not None:
            view = table.view(seat)
            if view.kind == rules.PLAY and sum(view.position.sizes) <= cards:
                if different(view):
                    yield Asked(played, view, dealer.stream(bots.stream_name(view)))
                break
            table.decide(seat, level("steady").choose(view, dealer.stream(bots.stream_name(view))), view.number)


def different(view: SeatView) -> bool:
    """Say whether a seat has more than one choice that makes a difference."""
    if len(view.actions) == 1:
        return False
    state, told = infosets.observed_round(view)
    assert state is not None
    left = infoset_kernels.distinct_choices(
        infoset_kernels.unpack(view.options, infosets.possible_states(state, told, view.seat).rows[0])
    )
    return left & (left - 1) != 0


def interval(decisions: list[tuple[str, Lost]]) -> tuple[float, float]:
    """Return the mean loss and half of its 95 % interval, from how rounds differ: those of one round go together."""
    mean, sums = sum(lost.loss for _, lost in decisions) / len(decisions), {played: 0.0 for played, _ in decisions}
    for played, lost in decisions:
        sums[played] += lost.loss - mean
    squares = sum(x * x for x in sums.values()) * len(sums) / max(1, len(sums) - 1)
    return mean, 1.96 * math.sqrt(squares) / len(decisions)


def told_of(decisions: list[tuple[str, Lost]]) -> str:
    """Say in a line what was found."""
    mean, half = interval(decisions)
    losses = [lost.loss for _, lost in decisions]
    gaps = [lost.gap for _, lost in decisions if lost.proven]
    solved = sum(lost.solved for _, lost in decisions)
    return (
        f"loss {mean:.3%} +- {half:.3%} of a round in {len(decisions)} decisions, worst {max(losses):.2%}, "
        f"over 0.1 % in {sum(x > 0.001 for x in losses)}; the bot solved {solved}; "
        f"{len(gaps)} equilibria proven, within {sum(gaps) / max(1, len(gaps)):.3%}, the others by long trials"
    )
