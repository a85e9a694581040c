"""Let adversaries look for what the first plays of a bot of Duel lose with all nine cards.

    python -m tools.duel_adversaries book                                what the opening book loses
    python -m tools.duel_adversaries search                              what `perfect` loses without it
    python -m tools.duel_adversaries book --adversaries ppo              one of the adversaries alone
    python -m tools.duel_adversaries blueprint --powers 023567*          where the truth is known

The bot's mixes in its first plays are frozen as a table; by it, and then by the strategy of `tools.duel_blueprint`,
a round takes microseconds. The adversary knows all of this. It learns for each seat what to play in the first plays
of a round, and goes on by the same strategy as the bot. Then it plays rounds that it has not learned from, as it
found best. What it wins of both seats together beyond one round is a lower bound of what best responses gain, with
the 95 % interval of these rounds.

    response    external-sampling MCCFR for the adversary alone
    search      ISMCTS against the frozen policy (ISMCTS-BR)
    ppo         a neural network that learns by proximal policy optimisation; needs torch
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from piste.core.game import members
from piste.games.mccoy_duel import notation
from piste.games.mccoy_duel.rules import PLAY, Options, State
from piste.games.mccoy_duel.solver import book, infoset_kernels, infosets, solutions
from piste.games.mccoy_duel.solver.abstraction import card_at, places_open
from piste.games.mccoy_duel.solver.infoset_kernels import MAX_ROUND_STEPS
from piste.games.mccoy_duel.solver.infosets import Array, PossibleStates
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


def won(options: Options, states: PossibleStates, bot: Frozen, response: Response, seat: int) -> float:
    """Return the share of rounds that a response wins as one seat, by what it finds best at each information set."""
    best = duel_blueprint.without_rare(response.scores, 1.0)
    known = bot.opening.keys != 0
    opening = policy(
        np.concatenate([response.keys, bot.opening.keys[known]]),
        np.concatenate([best.astype(np.float32), bot.opening.sums[known]]),
    )
    share = play(options, states, opening, bot.late, max(FREE_PLAYS, bot.plays), ROUNDS, SEED + 1 + seat)
    return share if seat == 0 else 1 - share


def frozen_search(options: Options, streams: int) -> Frozen:
    """Return `perfect` as it opened without a book: in the first plays the mean over several streams."""
    start = solutions.start_state(options.powers, picking=False)
    ask = duel_openings.way("search", options, streams)
    keys: list[int] = []
    shares: list[Array] = []

    def asked(start: State, events: Events, seat: int) -> dict[int, float]:
        mix, own = ask(start, events, seat), infosets.possible_states(start, events, seat)
        s, row = infoset_kernels.unpack(options, own.rows[0]), np.zeros(PLACES, np.float32)
        for place in members(places_open(s)):
            row[place] = mix.get(card_at(s, place), 0.0)
        keys.append(book.key_of(own.rows[0], s, seat, sum(told.event.kind == PLAY for told in events)))
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
    seconds: float

    @property
    def together(self) -> float:
        return sum(self.shares) - 1


def measured(name: str, options: Options, states: PossibleStates, bot: Frozen) -> Gain:
    """Let one of the ADVERSARIES learn in each seat, and then play."""
    begun = time.process_time()
    responses = [ADVERSARIES[name](options, states, bot, seat) for seat in range(2)]
    first, second = (won(options, states, bot, response, seat) for seat, response in enumerate(responses))
    sizes = len(responses[0].keys), len(responses[1].keys)
    return Gain((first, second), sizes, time.process_time() - begun)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bot", choices=BOTS)
    parser.add_argument("--adversaries", nargs="+", choices=ADVERSARIES, default=list(ADVERSARIES))
    parser.add_argument("--powers", default=notation.POWERS, help="of a blueprint learned at once (default: all)")
    parser.add_argument("--streams", type=int, default=STREAMS, help="for a mix of the search (default: %(default)s)")
    given = parser.parse_args()
    options, states = dealt(notation.read_powers(given.powers))
    bot = frozen(given.bot, options, given.streams)
    value = play(options, states, bot.opening, bot.late, bot.plays, ROUNDS)
    off = 1.96 * 0.5 / math.sqrt(ROUNDS)
    print(f"{given.bot} against itself: the leader wins {value:.2%} +- {off:.2%}", flush=True)
    for name in given.adversaries:
        gain = measured(name, options, states, bot)
        print(
            f"{name} against {given.bot}: wins {gain.shares[0]:.2%} as the leader, {gain.shares[1]:.2%} as the "
            f"other, so it gains {gain.together:.2%} +- {math.sqrt(2) * off:.2%} "
            f"({gain.sizes[0]} and {gain.sizes[1]} information sets, {gain.seconds:.0f} CPU s)",
            flush=True,
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
