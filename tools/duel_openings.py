"""Ways to choose in the first plays of a round of Duel: what `perfect` does, and what else was tried."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from piste.core.dealer import Dealer
from piste.core.game import members
from piste.core.protocols import SPECTATOR
from piste.games.mccoy_duel.bots import search
from piste.games.mccoy_duel.bots.search import Effort, Plan
from piste.games.mccoy_duel.rules import Options, State
from piste.games.mccoy_duel.solver import cfr, infoset_kernels, infosets, ismcts, ismcts_kernels, solutions
from piste.games.mccoy_duel.solver.cfr_kernels import SampledTree, infoset_index
from piste.games.mccoy_duel.solver.infoset_kernels import KEY_COLUMN
from piste.games.mccoy_duel.solver.infosets import Array, Observed, PossibleStates

STREAMS = 64  # for each information set at which a bot searches
FIRST_STREAMS = 8  # if with these it always chooses the same, the others are not asked
COMMON_PASSES = 20_000_000
TRIAL_VISITS, TRIAL_NODES = 1_000_000_000, 40_000_000
TABLE_SIZE = 1 << 22
MIN_SHARE = 0.1  # what a way below takes less often than this part of its first choice is left out

WAYS = ("search", "solution", "common", "mccfr")
"""`perfect` as it searches with nine cards; by the solution of a round; one long ISMCTS or MCCFR for both seats."""

Events = tuple[Observed, ...]
Ask = Callable[[State, Events, int], dict[int, float]]
"""Given the state at which the round began, what a seat has observed and the seat: how often it takes each choice."""


def way(name: str, options: Options, streams: int = STREAMS, effort: int | None = None) -> Ask:
    """Return how one of the WAYS chooses."""
    if name == "solution":
        return bot(search.FULL, streams)
    searching = search.FULL._replace(reads_solutions=False)
    if name == "search":
        return bot(searching if effort is None else searching._replace(passes=effort), streams)
    if name == "common":
        return common(options, COMMON_PASSES if effort is None else effort)
    return trials(options, TRIAL_VISITS if effort is None else effort)


def bot(effort: Effort, streams: int = STREAMS) -> Ask:
    """Return how a bot plays: where it searches, the mean over so many streams."""

    def asked(start: State, events: Events, seat: int, stream: int) -> Plan:
        return search.plan_for(start, events, seat, Dealer(f"exploitability {stream}").stream("bot"), effort)

    def ask(start: State, events: Events, seat: int) -> dict[int, float]:
        plans = [asked(start, events, seat, 0)]
        if plans[0].searched:
            plans += [asked(start, events, seat, i) for i in range(1, min(streams, FIRST_STREAMS))]
            if len({plan.actions for plan in plans}) > 1 or len(plans[0].actions) > 1:
                plans += [asked(start, events, seat, i) for i in range(len(plans), streams)]
        mix: dict[int, float] = {}
        for plan in plans:
            for action, probability in zip(plan.actions, plan.probabilities, strict=True):
                mix[action] = mix.get(action, 0.0) + probability / sum(plan.probabilities) / len(plans)
        return mix

    return ask


def dealt(options: Options) -> PossibleStates:
    """Return all states when both have buried a card and seat 0 is to lead."""
    start = solutions.start_state(options.powers, picking=False)
    return infosets.possible_states(start, solutions.BURIALS, SPECTATOR)


def at(start: State, events: Events, seat: int) -> tuple[int, tuple[int, ...]]:
    """Return the key of what a seat has observed, and its choices there."""
    own = infosets.possible_states(start, events, seat)
    choices = infoset_kernels.distinct_choices(infoset_kernels.unpack(start.options, own.rows[0]))
    return int(own.rows[0, KEY_COLUMN + seat]), tuple(members(choices))


def without_rare(actions: tuple[int, ...], counts: Array) -> dict[int, float]:
    """Return how often each choice is taken if those that are hardly taken are left out."""
    kept = [float(number) if number >= MIN_SHARE * counts.max() else 0.0 for number in counts]
    return {action: number / sum(kept) for action, number in zip(actions, kept, strict=True)}


@cache
def common_tables(options: Options, passes: int) -> ismcts.Tables:
    tables, won = ismcts.empty_tables(TABLE_SIZE), np.zeros(4, np.int64)
    ismcts.run(options, dealt(options), passes, 1, ismcts.EXPLORATION, tables, won)
    return tables


def common(options: Options, passes: int) -> Ask:
    """Return how one long ISMCTS from the first card on chooses: by its visits."""

    def ask(start: State, events: Events, seat: int) -> dict[int, float]:
        keys, visits, _ = common_tables(options, passes)
        key, actions = at(start, events, seat)
        slot = ismcts_kernels.table_slot(keys, key | 1)
        if slot < 0 or keys[slot] != key | 1 or not visits[slot].any():
            return dict.fromkeys(actions, 1 / len(actions))
        return without_rare(actions, visits[slot, : len(actions)])

    return ask


@cache
def common_tree(options: Options, visits: int) -> SampledTree:
    nowhere = 0  # no seat's own deals are preferred
    return cfr.mccfr(options, dealt(options), 0, nowhere, visits, 1, TRIAL_NODES)


def trials(options: Options, visits: int) -> Ask:
    """Return how one long MCCFR from the first card on chooses: its average strategy."""

    def ask(start: State, events: Events, seat: int) -> dict[int, float]:
        tree, (key, actions) = common_tree(options, visits), at(start, events, seat)
        infoset = infoset_index(tree.slots, tree.infosets, tree.counters, key, 0)
        if infoset < 0:
            return dict.fromkeys(actions, 1 / len(actions))
        begin = int(tree.infosets[infoset, 2])
        sums = tree.scores[begin + 3 : begin + 3 + 3 * len(actions) : 3]
        return without_rare(actions, sums) if sums.any() else dict.fromkeys(actions, 1 / len(actions))

    return ask
