"""Ways to choose in the first plays of a round of Duel: what `perfect` does, and what else was tried."""

from __future__ import annotations

from collections.abc import Callable

from piste.core.dealer import Dealer
from piste.core.game import members
from piste.games.mccoy_duel.bots import search
from piste.games.mccoy_duel.bots.search import Effort, Plan
from piste.games.mccoy_duel.rules import PLAY, Options, State
from piste.games.mccoy_duel.solver import book, infoset_kernels, infosets
from piste.games.mccoy_duel.solver.abstraction import card_at, places_open
from piste.games.mccoy_duel.solver.infosets import Observed
from tools import duel_blueprint
from tools.duel_kernels import first_place, table_index

STREAMS = 64  # for each information set at which a bot searches
FIRST_STREAMS = 8  # if with these it always chooses the same, the others are not asked
TRIALS = 1_000_000

WAYS = ("search", "solution", "blueprint")
"""`perfect` as it searches without a book; by the solution of a round; by MCCFR as the opening book is made."""

Events = tuple[Observed, ...]
Ask = Callable[[State, Events, int], dict[int, float]]
"""Given the state at which the round began, what a seat has observed and the seat: how often it takes each choice."""


def way(name: str, options: Options, streams: int = STREAMS, effort: int | None = None) -> Ask:
    """Return how one of the WAYS chooses."""
    if name == "solution":
        return bot(search.FULL, streams)
    searching = search.FULL._replace(reads_solutions=False, reads_book=False)
    if name == "search":
        return bot(searching if effort is None else searching._replace(passes=effort), streams)
    return blueprint(options, TRIALS if effort is None else effort)


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


def blueprint(options: Options, trials: int) -> Ask:
    """Return how MCCFR from the first card on chooses, as the opening book is made: its average strategy."""
    learned = duel_blueprint.average(options, trials)

    def ask(start: State, events: Events, seat: int) -> dict[int, float]:
        own = infosets.possible_states(start, events, seat)
        s = infoset_kernels.unpack(start.options, own.rows[0])
        plays = sum(told.event.kind == PLAY for told in events)
        slot = table_index(learned.keys, book.key_of(own.rows[0], s, seat, plays))
        powers = members(places_open(s))
        shares = {power: float(learned.sums[slot, power]) for power in powers}
        if not sum(shares.values()):
            shares = {first_place(s, places_open(s)): 1.0}
        whole = sum(shares.values())
        return {card_at(s, power): share / whole for power, share in shares.items()}

    return ask
