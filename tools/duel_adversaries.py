"""Let adversaries look for what the first plays of a bot of Duel lose with all nine cards.

    python -m tools.duel_adversaries book                                what the opening book loses
    python -m tools.duel_adversaries search                              what `perfect` loses without it
    python -m tools.duel_adversaries book --adversaries ppo              one of the adversaries alone
    python -m tools.duel_adversaries blueprint --powers 023567*          where the truth is known

The bot's mixes in its first plays are frozen as a table; by it, and then by the strategy of `tools.duel_blueprint`,
a round takes microseconds. The adversary knows all of this. It learns for each seat what to play in the first plays
of a round, and goes on by the same strategy as the bot. Where the book ends the bot itself is asked: at the
information sets to which it comes most often against what the adversary has learned so far, which then learns anew.
That is done for the first adversary; the next ones meet the bot as it has answered then.
At last the adversary plays rounds that it has not learned from, as it found best. What it wins of both seats together
beyond one round is a lower bound of what best responses gain, with the 95 % interval of these rounds.

    response    external-sampling MCCFR for the adversary alone
    search      ISMCTS against the frozen policy (ISMCTS-BR)
    ppo         a neural network that learns by proximal policy optimisation; left out where torch is not installed
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec
from typing import NamedTuple

import numpy as np

from piste.core.bits import nth
from piste.core.game import members
from piste.core.protocols import HIDDEN
from piste.games.mccoy_duel import notation, rules
from piste.games.mccoy_duel.bots import search
from piste.games.mccoy_duel.rules import PLAY, Options, State
from piste.games.mccoy_duel.solver import book, infoset_kernels, infosets, solutions
from piste.games.mccoy_duel.solver.abstraction import card_at, places_open
from piste.games.mccoy_duel.solver.infoset_kernels import MAX_ROUND_STEPS
from piste.games.mccoy_duel.solver.infosets import Array, Observed, PossibleStates
from tools import duel_blueprint, duel_openings
from tools.duel_blueprint import ALL_PLAYS, dealt, empty_table, kernels, play, policy
from tools.duel_exploitability import mixes
from tools.duel_kernels import PLACES, Policy
from tools.duel_openings import Events

BOTS = ("book", "search", "blueprint")
STREAMS = 4  # for a mix of the search
FREE_PLAYS = 6  # of a round, three of each seat
SEARCHED_PLAYS = 1, 2  # of a round in which the search is frozen, as the leader and as the other
TRIALS, PASSES = 1_000_000, 4_000_000
TABLE_BITS = 23
TRIED_OFTEN = 30  # a response counts where its learner came this often; elsewhere it goes on by the late policy
EXPLORATION = 0.5
UNKNOWN_BITS, MAX_OPENING_STEPS = 20, 64
SLIPS_OF_64 = 8
ASKED, TIMES = 500, 2  # information sets outside the book at which the bot is asked, and how often that is repeated
ROUNDS = 1_000_000  # played to measure
SEED = 7


class Frozen(NamedTuple):
    """A bot: how it opens, for so many plays, and how it and its adversary go on."""

    opening: Policy
    plays: int
    late: Policy


class Response(NamedTuple):
    """What an adversary plays at information sets, as numbers for each power."""

    keys: Array
    scores: Array


Learner = Callable[[Options, PossibleStates, Frozen, int], Response]
"""Learns a response as one seat."""


def by_mccfr(options: Options, states: PossibleStates, bot: Frozen, seat: int) -> Response:
    table = empty_table(TABLE_BITS)
    duel_blueprint.learn(
        options, states, table, 1, 1 + TRIALS,
        seed=SEED, opening=bot.opening, late=bot.late, learner=seat, free=FREE_PLAYS, opening_plays=bot.plays,
    )  # fmt: skip
    often = (table.keys != 0) & (table.visits >= TRIED_OFTEN)
    return Response(table.keys[often], table.regrets[often])


def by_search(options: Options, states: PossibleStates, bot: Frozen, seat: int) -> Response:
    table = empty_table(TABLE_BITS)
    path = np.zeros((MAX_ROUND_STEPS, 2), np.int64)
    kernels().run_search_response(
        options, states.rows, states.sums, table, bot.opening, bot.late, seat, FREE_PLAYS, bot.plays,
        1, 1 + PASSES, SEED, EXPLORATION, path,
    )  # fmt: skip
    often = (table.keys != 0) & (table.visits >= TRIED_OFTEN)
    return Response(table.keys[often], table.sums[often])


def by_ppo(options: Options, states: PossibleStates, bot: Frozen, seat: int) -> Response:
    from tools import duel_ppo

    return Response(*duel_ppo.learn(options, states, bot.opening, bot.plays, bot.late, seat, FREE_PLAYS))


ADVERSARIES: dict[str, Learner] = {"response": by_mccfr, "search": by_search, "ppo": by_ppo}


def available() -> list[str]:
    """Return the ADVERSARIES whose libraries are installed."""
    return [name for name in ADVERSARIES if name != "ppo" or find_spec("torch")]


def with_response(bot: Frozen, response: Response) -> Policy:
    """Return how both seats open: a bot as it does, the other one by what a response finds best."""
    best = duel_blueprint.without_rare(response.scores, 1.0)
    known = bot.opening.keys != 0
    return policy(
        np.concatenate([response.keys, bot.opening.keys[known]]),
        np.concatenate([best.astype(np.float32), bot.opening.sums[known]]),
    )


def won(options: Options, states: PossibleStates, bot: Frozen, response: Response, seat: int) -> float:
    """Return the share of rounds that a response wins as one seat."""
    opening = with_response(bot, response)
    share = play(options, states, opening, bot.late, max(FREE_PLAYS, bot.plays), ROUNDS, SEED + 1 + seat)
    return share if seat == 0 else 1 - share


def as_places(start: State, events: Events, seat: int, mix: dict[int, float]) -> tuple[int, Array]:
    """Return the key of what a seat has observed, and how often it takes each place."""
    own = infosets.possible_states(start, events, seat)
    s, row = infoset_kernels.unpack(start.options, own.rows[0]), np.zeros(PLACES, np.float32)
    for place in members(places_open(s)):
        row[place] = mix.get(card_at(s, place), 0.0)
    return book.key_of(own.rows[0], s, seat, sum(told.event.kind == PLAY for told in events)), row


class Unknown(NamedTuple):
    """Information sets of a bot's first plays that are not in its book, those to which it comes most often first."""

    keys: Array
    roots: Array  # the deal of a round that comes there
    paths: Array  # and all that is done in it
    visits: Array
    decided: int  # how often the bot decided in all


def unknown(
    options: Options, states: PossibleStates, bot: Frozen, response: Response, seat: int, slips_of_64: int
) -> Unknown:
    """Play rounds of a bot in one seat against a response that errs at times, and note what it does not know."""
    table, path = empty_table(UNKNOWN_BITS), np.zeros(MAX_ROUND_STEPS, np.int64)
    size, decided = len(table.keys), np.zeros(1, np.int64)
    roots, paths = np.zeros(size, np.int64), np.zeros((size, MAX_OPENING_STEPS), np.int8)
    kernels().note_unknown(
        options, states.rows, states.sums, table, with_response(bot, response), bot.late, seat, FREE_PLAYS,
        slips_of_64, 1, 1 + ROUNDS, SEED + 3, path, roots, paths, decided,
    )  # fmt: skip
    order = np.argsort(-table.visits, kind="stable")[: np.count_nonzero(table.visits)]
    return Unknown(table.keys[order], roots[order], paths[order], table.visits[order], int(decided[0]))


def events_of(options: Options, states: PossibleStates, root: int, path: Array, seat: int) -> tuple[State, Events]:
    """Return the state at which a round begins, and what a seat has observed of what is done in it."""
    start = s = solutions.start_state(options.powers, picking=False)
    buried = infoset_kernels.unpack(options, states.rows[root]).tower.buried
    events: list[Observed] = []
    done = iter(path.tolist())
    while True:
        action = nth(rules.choices(s) & buried, 0) if s.phase == rules.BURY else next(done)
        if action == HIDDEN:
            return start, tuple(events)
        after = rules.apply(s, action)
        events.append(Observed(rules.tell(s, action, seat), rules.look(after, seat)))
        s = after


def with_own_mixes(
    options: Options, states: PossibleStates, bot: Frozen, unknown: Unknown, seat: int, asked: int, streams: int
) -> Frozen:
    """Ask a bot itself for its mixes at the first of the information sets that its book does not have."""
    ask, keys, rows = duel_openings.bot(search.FULL, streams), [], []
    for root, path in zip(unknown.roots[:asked], unknown.paths[:asked], strict=True):
        start, events = events_of(options, states, int(root), path, seat)
        key, row = as_places(start, events, seat, ask(start, events, seat))
        keys.append(key)
        rows.append(row)
    assert keys == unknown.keys[: len(keys)].tolist()
    known = bot.opening.keys != 0
    opening = policy(
        np.concatenate([bot.opening.keys[known], np.array(keys, np.int64)]),
        np.concatenate([bot.opening.sums[known], np.array(rows, np.float32).reshape(-1, PLACES)]),
    )
    return bot._replace(opening=opening)


def frozen_search(options: Options, streams: int) -> Frozen:
    """Return `perfect` as it opened without a book: in the first plays the mean over several streams."""
    start = solutions.start_state(options.powers, picking=False)
    ask = duel_openings.way("search", options, streams)
    keys: list[int] = []
    shares: list[Array] = []

    def asked(start: State, events: Events, seat: int) -> dict[int, float]:
        mix = ask(start, events, seat)
        key, row = as_places(start, events, seat, mix)
        keys.append(key)
        shares.append(row)
        return mix

    for seat, plays in enumerate(SEARCHED_PLAYS):
        mixes(start, seat, asked, plays)
    return Frozen(policy(np.array(keys, np.int64), np.array(shares)), max(SEARCHED_PLAYS), duel_blueprint.load())


def frozen_book() -> Frozen:
    """Return the shipped book, as a policy at the information sets that were learned."""
    shipped, late = book.shipped(), duel_blueprint.load()
    short = book.short_key(late.keys)
    at = np.minimum(np.searchsorted(shipped.keys, short), len(shipped.keys) - 1)
    known = np.flatnonzero((late.keys != 0) & (shipped.keys[at] == short))
    rows = np.zeros((len(known), PLACES), np.float32)
    for row, key in zip(rows, late.keys[known].tolist(), strict=True):
        for place, share in (book.shares_at(shipped, key) or {}).items():
            row[place] = share
    return Frozen(policy(late.keys[known], rows), ALL_PLAYS, late)


def frozen(name: str, options: Options, streams: int = STREAMS) -> Frozen:
    """Return one of the BOTS."""
    if name == "blueprint":
        return Frozen(duel_blueprint.no_policy(), 0, duel_blueprint.average(options, duel_openings.TRIALS))
    return frozen_book() if name == "book" else frozen_search(options, streams)


class Gain(NamedTuple):
    """What an adversary wins as the leader and as the other, and at how many information sets it has an answer."""

    shares: tuple[float, float]
    sizes: tuple[int, int]
    own: tuple[float, float]  # parts of the bot's choices in the first plays that are its own
    seconds: float

    @property
    def together(self) -> float:
        return sum(self.shares) - 1


def measured(
    name: str, options: Options, states: PossibleStates, bot: Frozen, asked: int = 0, streams: int = STREAMS
) -> tuple[Gain, Frozen]:
    """Let one of the ADVERSARIES learn in each seat, and then play; the bot is `asked` where its book ends.

    Returned with the gain is the bot with what it was asked, so that the next adversary need not ask it again.
    """
    begun, found = time.process_time(), []
    for seat in range(2):
        for _ in range(TIMES if asked else 0):
            response = ADVERSARIES[name](options, states, bot, seat)
            ends = unknown(options, states, bot, response, 1 - seat, SLIPS_OF_64)
            bot = with_own_mixes(options, states, bot, ends, 1 - seat, asked, streams)
        response = ADVERSARIES[name](options, states, bot, seat)
        ends = unknown(options, states, bot, response, 1 - seat, 0)
        own = 1 - int(ends.visits.sum()) / ends.decided
        found.append((won(options, states, bot, response, seat), len(response.keys), own))
    (first, second), (size, other_size), (own, other_own) = zip(*found, strict=True)
    return Gain((first, second), (size, other_size), (own, other_own), time.process_time() - begun), bot


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bot", choices=BOTS)
    parser.add_argument("--adversaries", nargs="+", choices=ADVERSARIES, default=available())
    parser.add_argument("--powers", default=notation.POWERS, help="of a blueprint learned at once (default: all)")
    parser.add_argument("--streams", type=int, default=STREAMS, help="for a mix of the search (default: %(default)s)")
    parser.add_argument(
        "--asked", type=int, default=ASKED, help="information sets outside the book (default: %(default)s)"
    )
    given = parser.parse_args()
    if given.bot != "book":
        given.asked = 0  # it has no book that could end
    options, states = dealt(notation.read_powers(given.powers))
    bot = frozen(given.bot, options, given.streams)
    value = play(options, states, bot.opening, bot.late, bot.plays, ROUNDS)
    off = 1.96 * 0.5 / math.sqrt(ROUNDS)
    print(f"{given.bot} against itself: the leader wins {value:.2%} +- {off:.2%}", flush=True)
    for name in given.adversaries:
        first = name == given.adversaries[0]
        gain, bot = measured(name, options, states, bot, given.asked if first else 0, given.streams)
        print(
            f"{name} against {given.bot}: wins {gain.shares[0]:.2%} as the leader, {gain.shares[1]:.2%} as the "
            f"other, so it gains {gain.together:.2%} +- {math.sqrt(2) * off:.2%} "
            f"({gain.sizes[0]} and {gain.sizes[1]} information sets, {gain.seconds:.0f} CPU s; of the bot's first "
            f"choices {gain.own[0]:.1%} and {gain.own[1]:.1%} are its own)",
            flush=True,
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
