"""Estimate what a player who knows how a bot of Duel plays first gains from it, as long sampled play sees it.

    python -m tools.duel_adversary 01234567* --deals 500
    python -m tools.duel_adversary 02357* --way common --passes 3000000 --seeds 4

A local best response. The bot's first plays are frozen as a table of mixes: its lead with each card buried, or its
reply with each card buried to each lead. The other seat knows the table. As the other it takes the bot's lead as a
hint and replies freely; as the leader it leads freely, takes the reply as a hint, and plays the third card freely.
What follows is one long ISMCTS for both seats, so the bot's seat defends itself there as well as the search can. The
gain is what the seat wins more than by a search of the same length in which no play is frozen.

With --deals the adversary also plays real rounds against `perfect`, by these choices first, and then it goes on as
`perfect` does. What it wins beyond half of them is a lower bound of what can be gained: no search replaces the bot.

With fewer powers `python -m tools.duel_exploitability POWERS --plays 2` says what there really is to gain.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

import piste
from piste import bots
from piste.compiled.simulate import share
from piste.core.dealer import Dealer
from piste.core.game import members
from piste.core.protocols import CHANCE, HIDDEN
from piste.games.mccoy_duel import notation, rules
from piste.games.mccoy_duel.bots import search
from piste.games.mccoy_duel.rules import Options, State
from piste.games.mccoy_duel.solver import infoset_kernels, infosets, ismcts, ismcts_kernels, solutions
from piste.games.mccoy_duel.solver.infoset_kernels import KEY_COLUMN
from piste.games.mccoy_duel.solver.infosets import Array, PossibleStates
from tools.duel_exploitability import mixes
from tools.duel_openings import WAYS, dealt, way

STAGES = ((2, ismcts.EXPLORATION), (4, 0.3), (4, 0.1))
"""Parts of the passes and their exploration: the first two learn, the last one measures."""

TABLE_SIZE = 1 << 21  # for each lead
T_95 = {2: 12.71, 3: 4.30, 4: 3.18, 5: 2.78, 6: 2.57, 8: 2.36}  # Student's t for a mean of so many values

Mixes = dict[int, list[float]]


class Moment(NamedTuple):
    """A state at which the adversary is to act, or at which the round is over, and how likely it is."""

    state: State
    keys: tuple[int, int]
    weight: float
    deal: int  # the adversary's key when the cards were dealt


def moments(options: Options, bot: int, played: Mixes, lead: int | None) -> Iterator[Moment]:
    """Go from each deal through the bot's first play; with `lead` the adversary leads that card before."""
    states = dealt(options)
    for row, weight in zip(states.rows, states.weights, strict=True):
        keys = int(row[KEY_COLUMN]), int(row[KEY_COLUMN + 1])
        waiting = [(Moment(infoset_kernels.unpack(options, row), keys, float(weight), keys[1 - bot]), lead is None)]
        while waiting:
            now, led = waiting.pop()
            s = now.state
            actor, actions = rules.to_act(s), members(infoset_kernels.distinct_choices(s))
            if infoset_kernels.certain_winner(s) != HIDDEN or (actor == 1 - bot and led):
                yield now
                continue
            if actor == CHANCE:
                actions = members(rules.choices(s))
            elif actor != bot:
                actions = [action for action in actions if action == lead]
            parts = [1 / len(actions) for _ in actions]
            if actor == bot and len(actions) > 1:
                parts = played[now.keys[bot]]
            for action, part in zip(actions, parts, strict=True):
                if part > 0:
                    after = rules.apply(s, action)
                    first, second = (infoset_kernels.next_key(now.keys[i], s, action, after, i) for i in range(2))
                    then = Moment(after, (first, second), now.weight * part, now.deal)
                    waiting.append((then, led or actor == 1 - bot))


class Response(NamedTuple):
    """How often the adversary wins, weighted with the chances of its deals, by its key at the deal; its choices."""

    wins: dict[int, float]
    choices: dict[int, int]  # by key


def respond(
    options: Options, seat: int, found: list[Moment], passes: int, seed: int, size: int = TABLE_SIZE
) -> Response:
    """Search from these moments on, and return how a seat does."""
    response = Response({moment.deal: 0.0 for moment in found}, {})
    winners = [infoset_kernels.certain_winner(moment.state) for moment in found]
    for moment, winner in zip(found, winners, strict=True):
        response.wins[moment.deal] += moment.weight * (winner == seat)
    going = [moment for moment, winner in zip(found, winners, strict=True) if winner == HIDDEN]
    if not going:
        return response
    rows = np.zeros((len(going), infoset_kernels.ROW_WIDTH), np.int64)
    for row, moment in zip(rows, going, strict=True):
        infoset_kernels.pack(moment.state, row)
        row[KEY_COLUMN : KEY_COLUMN + 2] = moment.keys
    weights = np.array([moment.weight for moment in going])
    states = PossibleStates(rows, weights / weights.sum())
    tables, won = ismcts.empty_tables(size), np.zeros(4, np.int64)
    *learning, measuring = ((passes // part, exploration) for part, exploration in STAGES)
    for i, (number, exploration) in enumerate(learning):
        ismcts.run(options, states, number, seed * len(STAGES) + i, exploration, tables, won)
    groups = by_key(going, seat)
    before = {key: counted(tables, key) for key in groups}
    ismcts.run(options, states, measuring[0], seed * len(STAGES) - 1, measuring[1], tables, won)
    for key, of_key in groups.items():
        visits, wins = counted(tables, key) - before[key]
        response.wins[of_key[0].deal] += sum(m.weight for m in of_key) * float(wins.sum()) / max(1, visits.sum())
        actions = members(infoset_kernels.distinct_choices(of_key[0].state))
        response.choices[key] = actions[int(visits[: len(actions)].argmax())]
    return response


def counted(tables: ismcts.Tables, key: int) -> Array:
    """Return the visits and the wins of each choice at an information set."""
    slot = ismcts_kernels.table_slot(tables[0], key | 1)
    return np.array((tables[1][slot], tables[2][slot])) if slot >= 0 else np.zeros((2, infoset_kernels.MAX_CHOICES))


def by_key(found: list[Moment], seat: int) -> dict[int, list[Moment]]:
    groups: dict[int, list[Moment]] = {}
    for moment in found:
        groups.setdefault(moment.keys[seat], []).append(moment)
    return groups


class Gains(NamedTuple):
    """What the adversary gains from the bot as the leader and as the other; the leader's value by the search."""

    from_leader: float
    from_other: float
    value: float
    choices: tuple[dict[int, int], dict[int, int]]  # of the adversary as the leader and as the other, by key


def gains(options: Options, tables: tuple[Mixes, Mixes], passes: int, seed: int) -> Gains:
    """Measure the adversary once in each seat."""
    cards = members(options.powers)
    free = list(moments(options, 1, {}, None))
    value = sum(respond(options, 0, free, passes * len(cards), seed, 8 * TABLE_SIZE).wins.values())
    leads: dict[int, list[Moment]] = {}
    for moment in moments(options, 0, tables[0], None):
        leads.setdefault(moment.state.tower.up & rules.COLOUR, []).append(moment)
    following = 0.0
    replies: dict[int, int] = {}
    for found in leads.values():
        response = respond(options, 1, found, passes, seed)
        following += sum(response.wins.values())
        replies |= response.choices
    best: dict[int, tuple[float, int]] = {}
    plays: dict[int, int] = {}
    for lead in cards:
        response = respond(options, 0, list(moments(options, 1, tables[1], lead)), passes, seed)
        plays |= response.choices
        for deal, wins in response.wins.items():
            best[deal] = max(best.get(deal, (0.0, lead)), (wins, lead))
    leading = sum(wins for wins, _ in best.values())
    plays |= {deal: lead for deal, (_, lead) in best.items()}
    return Gains(following - (1 - value), leading - value, value, (plays, replies))


def rounds_won(powers: int, choices: tuple[dict[int, int], dict[int, int]], deals: int) -> int:
    """Let the adversary play rounds against `perfect` as it searches, each deal once in each seat; count its wins.

    Where it knows no answer of its own it goes on as `perfect` does.
    """
    effort, won = search.FULL._replace(reads_solutions=False), 0
    for deal in range(deals):
        for seat in range(2):
            changed: dict[str, int | str] = {"powers": notation.write_powers(powers), "rounds": 1, "first": 1}
            table = piste.open_table("mccoy-duel", changed, seed=f"adversary {deal}")
            while (actor := table.to_act) is not None:
                view = table.view(actor)
                stream = Dealer(f"adversary {deal} {actor == seat}").stream(bots.stream_name(view))
                action = None
                if actor == seat and len(view.actions) > 1:
                    state, events = infosets.observed_round(view)
                    assert state is not None
                    own = infosets.possible_states(state, events, seat)
                    action = choices[seat].get(int(own.rows[0, KEY_COLUMN + seat]))
                table.decide(actor, search.choose(view, stream, effort) if action is None else action, view.number)
            won += table.view(seat).position.wins[seat]
    return won


def interval(values: list[float]) -> str:
    """Say the mean of some values and, if there are several, its 95 % interval."""
    mean, n = sum(values) / len(values), len(values)
    if n == 1:
        return f"{mean:.2%}"
    off = T_95.get(n, 1.96) * math.sqrt(sum((x - mean) ** 2 for x in values) / (n - 1) / n)
    return f"{mean:.2%} ({mean - off:.2%} to {mean + off:.2%})"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("powers", nargs="+")
    parser.add_argument("--way", choices=WAYS, default=WAYS[0], help="what chooses (default: %(default)s)")
    parser.add_argument("--streams", type=int, default=16, help="for a mix (default: %(default)s)")
    parser.add_argument("--effort", type=int, help="passes or visits of the way, if not its usual number")
    parser.add_argument("--passes", type=int, default=3_000_000, help="for each lead (default: %(default)s)")
    parser.add_argument("--deals", type=int, default=0, help="also play so many, from both seats, against perfect")
    parser.add_argument("--seeds", type=int, default=2, help="of the adversary's searches (default: %(default)s)")
    given = parser.parse_args()
    for name in given.powers:
        start = solutions.start_state(notation.read_powers(name), picking=False)
        begun, ask = time.process_time(), way(given.way, start.options, given.streams, given.effort)
        tables = mixes(start, 0, ask, 1), mixes(start, 1, ask, 2)
        frozen = time.process_time()
        found = [gains(start.options, tables, given.passes, seed + 1) for seed in range(given.seeds)]
        searched = time.process_time() - frozen
        print(f"{name}, {given.way}: {len(tables[0])} and {len(tables[1])} mixes in {frozen - begun:.0f} CPU s;")
        print(f"  {given.seeds} searches of {given.passes} passes for each lead in {searched:.0f} CPU s;")
        print(f"  the leader's value {interval([each.value for each in found])};")
        print(f"  gain from the leader {interval([each.from_leader for each in found])},")
        print(f"  from the other {interval([each.from_other for each in found])},")
        print(f"  together {interval([each.from_leader + each.from_other for each in found])}", flush=True)
        if given.deals:
            begun, n = time.process_time(), 2 * given.deals
            won = rounds_won(start.options.powers, found[0].choices, given.deals)
            _, part, low, high = share(won, n)
            print(f"  against perfect it won {part:.1%} of {n} rounds ({low:.1%} to {high:.1%}),", end=" ")
            print(f"{time.process_time() - begun:.0f} CPU s", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
