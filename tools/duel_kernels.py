"""MCCFR over a whole round of Duel between two, responses to a fixed policy, and episodes for a learner.

All in the subset of Python that numba compiles, and without a tree: information sets are kept in a hash table.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from piste.core.bits import count, lowest, nth, one
from piste.core.protocols import CHANCE, HIDDEN
from piste.games.mccoy_duel.rules import (
    COPY,
    KILL,
    PLAY,
    TAKE,
    Options,
    State,
    apply_in_round,
    choices,
    power_of,
    to_act,
)
from piste.games.mccoy_duel.solver.abstraction import (
    ALL_CARDS,
    EXACT_PLAYS,
    abstract_key,
    card_at,
    number_of_play,
    places_open,
)
from piste.games.mccoy_duel.solver.cfr_kernels import MIN_VISITS, UNTRIED, pack_node, unpack_node
from piste.games.mccoy_duel.solver.infoset_kernels import (
    CARD_VALUES,
    DOUBT_COLUMN,
    KEY_COLUMN,
    KNOWN_COLUMN,
    certain_winner,
    doubt_after,
    known_after,
    mix_hash,
    next_key,
    random_below,
    random_fraction,
    search_sums,
    unpack,
)

PLACES = 9
MISTAKE_IN = 3  # of the decisions at which a seat might make its mistake
EXPLORE_EARLY_OF_64 = 16  # a choice that is not played at present is tried this often in 64 trials in the first plays
EXPLORE_LATE_OF_64 = 4  # and later
MAX_FILL = 0.9  # of the hash table: beyond that no information set is added
NO_SEAT = 2
FEATURES = 120  # of a moment, for a neural network

# Columns of the stack, after the four of a packed state.
KNOWN, DOUBT, PLAYS, LEFT, OPEN, SLOT, TRIED = range(4, 11)
STACK_WIDTH = 11


class Table(NamedTuple):
    """A hash table of information sets, with a number for each place that may be chosen there."""

    keys: Any  # 0 where there is none
    regrets: Any
    sums: Any  # of the strategies so far, weighted
    visits: Any
    used: Any  # one number: how many information sets there are


class Policy(NamedTuple):
    """How often each place is chosen at information sets, not normalised; a hash table like the other."""

    keys: Any
    sums: Any


class Moment(NamedTuple):
    """A state of a round with what a trial knows of it."""

    state: State
    key0: int  # of what each seat has observed, in the first plays
    key1: int
    known: int
    doubt: int
    plays: int


def moment_of(options: Options, row: Any) -> Moment:
    """Return the moment when all cards are dealt that a row of possible states tells of."""
    keys = int(row[KEY_COLUMN]), int(row[KEY_COLUMN + 1])
    return Moment(unpack(options, row), keys[0], keys[1], int(row[KNOWN_COLUMN]), int(row[DOUBT_COLUMN]), 0)


def pack_moment(stack: Any, at: int, m: Moment) -> None:
    """Write a moment into the first columns of a stack."""
    pack_node(stack, at, m.state, m.key0, m.key1, 0)
    stack[at, KNOWN], stack[at, DOUBT], stack[at, PLAYS] = m.known, m.doubt, m.plays


def unpack_moment(options: Options, stack: Any, at: int) -> Moment:
    s = unpack_node(options, stack, at)
    known, doubt = int(stack[at, KNOWN]), int(stack[at, DOUBT])
    return Moment(s, int(stack[at, 2]), int(stack[at, 3]), known, doubt, int(stack[at, PLAYS]))


def moment_after(m: Moment, action: int) -> Moment:
    """Return the next moment."""
    s, key0, key1 = m.state, m.key0, m.key1
    after = apply_in_round(s, action)
    if number_of_play(s, m.plays) < EXACT_PLAYS:
        key0, key1 = next_key(key0, s, action, after, 0), next_key(key1, s, action, after, 1)
    known = known_after(s, action, m.known)
    doubt = doubt_after(m.known, m.doubt, known)
    return Moment(after, key0, key1, known, doubt, m.plays + (1 if s.phase == PLAY else 0))


def infoset_key(m: Moment, seat: int) -> int:
    """Return the key of what a seat knows, as the book counts information sets; never 0."""
    if number_of_play(m.state, m.plays) < EXACT_PLAYS:
        return (m.key1 if seat else m.key0) | 1
    return abstract_key(m.state, seat, m.known, m.doubt)


def table_index(keys: Any, key: int) -> int:
    """Return the place of a key in a hash table, or of the empty place where it would stand."""
    mask = keys.shape[0] - 1
    at: int = (key >> 1) & mask
    while keys[at] != 0 and keys[at] != key:
        at = (at + 1) & mask
    return at


def first_place(s: State, places: int) -> int:
    """Return the place that a new information set starts with: part with the cheapest card, get the dearest."""
    best_value, best = -1.0, 0
    while places:
        place = lowest(places)
        places &= places - 1
        value = CARD_VALUES[power_of(card_at(s, place))]
        if s.phase != KILL and s.phase != TAKE and s.phase != COPY:
            value = 10.0 - value
        if value > best_value:
            best_value, best = value, place
    return best


def sampled_place(scores: Any, at: int, places: int, fraction: float) -> int:
    """Return a place drawn by its scores; HIDDEN if none is above 0."""
    total, left = 0.0, places
    while left:
        score = scores[at, lowest(left)]
        total += score if score > 0.0 else 0.0
        left &= left - 1
    if total <= 0.0:
        return HIDDEN
    rest, place = fraction * total, HIDDEN
    while places and rest >= 0.0:
        score = scores[at, lowest(places)]
        if score > 0.0:
            place = lowest(places)
            rest -= score
        places &= places - 1
    return place


def policy_place(policy: Policy, key: int, places: int, fraction: float) -> int:
    """Return a place drawn as a policy says; HIDDEN if it does not know the information set."""
    slot = table_index(policy.keys, key)
    return sampled_place(policy.sums, slot, places, fraction) if policy.keys[slot] == key else HIDDEN


def only_action(m: Moment, seed: int, counter: int) -> int:
    """Return what chance does, by a random number, or the only choice; HIDDEN if somebody has to choose."""
    if to_act(m.state) == CHANCE:
        left = choices(m.state)
        return nth(left, random_below(seed, counter, count(left)))
    places = places_open(m.state)
    return card_at(m.state, lowest(places)) if one(places) else HIDDEN


def policy_choice(m: Moment, opening: Policy, late: Policy, opening_plays: int, key: int, fraction: float) -> int:
    """Return the place that the policies choose: `late` where `opening` ends or does not know what to do."""
    places, place = places_open(m.state), HIDDEN
    if number_of_play(m.state, m.plays) < opening_plays:
        place = policy_place(opening, key, places, fraction)
    if place == HIDDEN:
        place = policy_place(late, key, places, fraction)
    return first_place(m.state, places) if place == HIDDEN else place


def slot_of(t: Table, key: int) -> int:
    """Return the place of an information set, which is added if it is new; HIDDEN if there is no room."""
    slot = table_index(t.keys, key)
    if t.keys[slot] == 0:
        if t.used[0] >= t.keys.shape[0] * MAX_FILL:
            return HIDDEN
        t.keys[slot] = key
        t.used[0] += 1
    return slot


def sum_of(scores: Any, slot: int, places: int) -> float:
    """Return the sum of the scores of these places."""
    total = 0.0
    while places:
        total += scores[slot, lowest(places)]
        places &= places - 1
    return total


def add_strategy(t: Table, slot: int, places: int, chosen: int, weight: float) -> None:
    """Add the present strategy to the sum of strategies; without regrets it is the place chosen."""
    total = sum_of(t.regrets, slot, places)
    if total <= 0.0:
        t.sums[slot, chosen] += weight
        return
    while places:
        place = lowest(places)
        places &= places - 1
        t.sums[slot, place] += weight * t.regrets[slot, place] / total


def explored_places(t: Table, slot: int, places: int, present: int, often: int, bits: int) -> int:
    """Return what a trial goes through: all that the present strategy plays, and some of what it does not."""
    explored, without_regrets = 0, sum_of(t.regrets, slot, places) <= 0.0
    while places:
        place = lowest(places)
        places &= places - 1
        played = place == present if without_regrets else t.regrets[slot, place] > 0.0
        if played or (bits >> 6 * place) & 63 < often:
            explored |= 1 << place
    return explored


def mistake_at(t: Table, slot: int, places: int, present: int, seed: int, counter: int) -> int:
    """Return, one time in MISTAKE_IN, a place by chance that is not played at present; HIDDEN if there is none."""
    unplayed = places & ~explored_places(t, slot, places, present, 0, 0)
    if unplayed == 0 or random_below(seed, counter, MISTAKE_IN) > 0:
        return HIDDEN
    return nth(unplayed, random_below(seed + 1, counter, count(unplayed)))


def learn(t: Table, slot: int, places: int, present: int, values: Any) -> float:
    """Add the regrets of the choices that were gone through, no sum below 0; return the present strategy's value.

    `values` is negative where a choice was not gone through; its regret waits. `present` is what is played without
    regrets.
    """
    total, value, left = sum_of(t.regrets, slot, places), 0.0, places
    while left and total > 0.0:
        place = lowest(left)
        left &= left - 1
        value += t.regrets[slot, place] / total * values[place]
    if total <= 0.0:
        value = values[present]
    while places:
        place = lowest(places)
        places &= places - 1
        if values[place] >= 0.0:
            t.regrets[slot, place] = max(0.0, t.regrets[slot, place] + values[place] - value)
    return value


def run_mccfr_rounds(
    options: Options, rows: Any, row_sums: Any, t: Table, opening: Policy, late: Policy, learner: int, free: int,
    opening_plays: int, mistakes_of_64: int, begin: int, end: int, seed: int, stack: Any, values: Any, won: Any,
) -> None:  # fmt: skip
    """Run the trials `begin` to `end` - 1 of external-sampling MCCFR; later ones count more in the average strategy.

    `learner` is the seat that learns; the other one goes by the policies `opening`, in the first `opening_plays`
    plays, and `late`. If it is NO_SEAT both learn, each against the other. Whoever learns does so in the first `free`
    plays, and later goes by `late` too. `won` gets what each seat won, by its present
    strategy, and the number of trials.

    In so many of 64 trials the other seat makes one mistake early on: it chooses what it does not play at present.
    The one that learns does so only after that, so it learns to answer mistakes, but does not count on them.
    """
    together = learner == NO_SEAT
    for trial in range(begin, end):
        for turn in range(2 if together else 1):
            seat = turn if together else learner
            counter = (2 * trial + turn) << 20  # no trial takes more random numbers than that
            root = search_sums(row_sums, random_fraction(seed, counter) * row_sums[row_sums.shape[0] - 1])
            m = moment_of(options, rows[root])
            depth, going, value = 0, True, 0.0
            mistaken = random_below(seed + 1, counter, 64) < mistakes_of_64
            waiting = mistaken  # for the mistake
            while going or depth > 0:
                action = HIDDEN
                if going:
                    winner, actor = certain_winner(m.state), to_act(m.state)
                    if winner != HIDDEN:
                        value, going = 1.0 if winner == seat else 0.0, False
                        continue
                    counter += 1
                    action = only_action(m, seed, counter)
                    if action == HIDDEN:
                        places = places_open(m.state)
                        fraction, key = random_fraction(seed, counter), infoset_key(m, actor)
                        play, slot = number_of_play(m.state, m.plays), HIDDEN
                        if play < free and (together or actor == seat):
                            slot = slot_of(t, key)
                        if slot == HIDDEN:
                            place = policy_choice(m, opening, late, opening_plays, key, fraction)
                        else:
                            place = sampled_place(t.regrets, slot, places, fraction)
                            if place == HIDDEN:
                                place = first_place(m.state, places)
                            if actor != seat:
                                add_strategy(t, slot, places, place, float(trial))
                                if waiting and play < EXACT_PLAYS:
                                    mistake = mistake_at(t, slot, places, place, seed + 1, counter)
                                    if mistake != HIDDEN:
                                        place, waiting = mistake, False
                            elif not waiting:
                                t.visits[slot] += 1
                            if actor == seat and not waiting and t.visits[slot] > MIN_VISITS:
                                often = EXPLORE_EARLY_OF_64 if play < EXACT_PLAYS else EXPLORE_LATE_OF_64
                                counter += 1
                                bits = mix_hash(seed, counter)
                                pack_moment(stack, depth, m)
                                stack[depth, LEFT] = explored_places(t, slot, places, place, often, bits)
                                stack[depth, OPEN], stack[depth, SLOT], stack[depth, TRIED] = places, slot, HIDDEN
                                for i in range(PLACES):
                                    values[depth, i] = UNTRIED
                                depth += 1
                                going = False
                                continue
                        action = card_at(m.state, place)
                else:  # back at a decision of the learner, with the value of a choice, or at first with none
                    at = depth - 1
                    left = int(stack[at, LEFT])
                    if stack[at, TRIED] != HIDDEN:
                        values[at, stack[at, TRIED]] = value
                    m = unpack_moment(options, stack, at)
                    if left == 0:
                        places = int(stack[at, OPEN])
                        value = learn(t, int(stack[at, SLOT]), places, first_place(m.state, places), values[at])
                        depth -= 1
                        continue
                    stack[at, LEFT], stack[at, TRIED] = left & (left - 1), lowest(left)
                    action, going = card_at(m.state, lowest(left)), True
                m = moment_after(m, action)
            if not mistaken:
                won[seat] += value
                won[2] += 1


def run_search_response(
    options: Options, rows: Any, row_sums: Any, t: Table, opening: Policy, late: Policy, learner: int, free: int,
    opening_plays: int, begin: int, end: int, seed: int, exploration: float, path: Any,
) -> None:  # fmt: skip
    """Run passes of ISMCTS for one seat, in the first `free` plays, against policies that do not change (ISMCTS-BR).

    In the table, `visits` has those of an information set, `sums` those of its choices, and `regrets` their wins.
    """
    for trial in range(begin, end):
        counter = trial << 20
        root = search_sums(row_sums, random_fraction(seed, counter) * row_sums[row_sums.shape[0] - 1])
        m = moment_of(options, rows[root])
        depth, in_tree = 0, True
        while certain_winner(m.state) == HIDDEN:
            actor, places = to_act(m.state), places_open(m.state)
            counter += 1
            action = only_action(m, seed, counter)
            if action == HIDDEN:
                fraction, key, slot = random_fraction(seed, counter), infoset_key(m, actor), HIDDEN
                if actor == learner and in_tree and number_of_play(m.state, m.plays) < free:
                    slot = slot_of(t, key)
                if slot == HIDDEN:
                    place = policy_choice(m, opening, late, opening_plays, key, fraction)
                else:
                    place = highest_bound(t, slot, places, exploration)
                    in_tree = t.visits[slot] > 0  # the tree grows by one information set in each pass
                    path[depth, 0], path[depth, 1] = slot, place
                    depth += 1
                action = card_at(m.state, place)
            m = moment_after(m, action)
        for i in range(depth):
            t.visits[path[i, 0]] += 1
            t.sums[path[i, 0], path[i, 1]] += 1.0
            t.regrets[path[i, 0], path[i, 1]] += 1.0 if certain_winner(m.state) == learner else 0.0


def highest_bound(t: Table, slot: int, places: int, exploration: float) -> int:
    """Return the place with the highest upper confidence bound (UCB1); one never tried comes first."""
    log, best_bound, best = math.log(float(t.visits[slot] + 1)), -1.0, HIDDEN
    while places:
        place = lowest(places)
        places &= places - 1
        visits = t.sums[slot, place]
        if visits == 0.0:
            return place
        bound = t.regrets[slot, place] / visits + exploration * math.sqrt(log / visits)
        if bound > best_bound:
            best_bound, best = bound, place
    return best


def run_episodes(
    options: Options, rows: Any, row_sums: Any, opening: Policy, late: Policy, learner: int, free: int,
    opening_plays: int, seed: int, counters: Any, actions: Any, stack: Any, keys: Any, open_places: Any, rewards: Any,
) -> None:  # fmt: skip
    """Take one choice of a learner in each of many rounds, and go on to its next one; others begin anew.

    `actions` has a place for each round, or HIDDEN where it has not begun. `rewards` gets 1 or 0 where a round is
    over, else UNTRIED; `keys` and `open_places` what is to be decided next. The learner decides in the first `free`
    plays, then the policies go on for it.
    """
    for i in range(actions.shape[0]):
        rewards[i], counter = UNTRIED, int(counters[i])
        begun = actions[i] != HIDDEN
        m = unpack_moment(options, stack, i) if begun else moment_of(options, rows[0])
        if begun:
            m = moment_after(m, card_at(m.state, int(actions[i])))
        asked = False
        while not asked:
            counter += 1
            if not begun:
                root = search_sums(row_sums, random_fraction(seed, counter) * row_sums[row_sums.shape[0] - 1])
                m, begun = moment_of(options, rows[root]), True
                continue
            winner = certain_winner(m.state)
            if winner != HIDDEN:
                # A round in which nothing was asked teaches nothing and is not counted, unless one was asked before.
                if actions[i] != HIDDEN and rewards[i] == UNTRIED:
                    rewards[i] = 1.0 if winner == learner else 0.0
                begun = False
                continue
            actor, places = to_act(m.state), places_open(m.state)
            action = only_action(m, seed, counter)
            if action == HIDDEN:
                key = infoset_key(m, actor)
                asked = actor == learner and number_of_play(m.state, m.plays) < free
                if asked:
                    keys[i], open_places[i] = key, places
                    pack_moment(stack, i, m)
                    continue
                place = policy_choice(m, opening, late, opening_plays, key, random_fraction(seed, counter))
                action = card_at(m.state, place)
            m = moment_after(m, action)
        counters[i] = counter


def copy_places(keys: Any, sums: Any, policy: Policy) -> None:
    """Fill a policy with these information sets; the first of equal keys counts."""
    for i in range(keys.shape[0]):
        slot = table_index(policy.keys, keys[i])
        if policy.keys[slot] == 0:
            policy.keys[slot] = keys[i]
            for place in range(PLACES):
                policy.sums[slot, place] = sums[i, place]


def encode_moments(options: Options, stack: Any, learner: int, features: Any) -> None:
    """Write what a learner knows of where each card is, and of what is asked, as zeros and ones."""
    for i in range(features.shape[0]):
        m = unpack_moment(options, stack, i)
        s, own_known = m.state, (m.known >> 18 * learner) & ALL_CARDS
        sets = (s.hands[learner], s.tower.up, own_known & s.hands[1 - learner], own_known & s.tower.buried)
        for column in range(FEATURES):
            features[i, column] = 0.0
        for card in range(18):
            for part in range(4):
                features[i, 18 * part + card] = float(sets[part] >> card & 1)
        if s.tower.top != HIDDEN:
            features[i, 72 + s.tower.top] = 1.0
        features[i, 90 + s.tower.power] = 1.0
        features[i, 100 + s.tower.demand] = 1.0
        features[i, 103 + s.phase] = 1.0


def count_decisions(
    options: Options, rows: Any, row_sums: Any, late: Policy, cards: int, slips_of_64: int, begin: int, end: int,
    counts: Any,
) -> None:  # fmt: skip
    """Play rounds by a policy and count where it decides while both hands together have more than so many cards.

    One seat, in turn, takes another choice by chance this often in 64; its own decisions are not counted.
    """
    for trial in range(begin, end):
        counter, slipping = trial << 20, trial & 1
        root = search_sums(row_sums, random_fraction(0, counter) * row_sums[row_sums.shape[0] - 1])
        m = moment_of(options, rows[root])
        while certain_winner(m.state) == HIDDEN and count(m.state.hands[0]) + count(m.state.hands[1]) > cards:
            actor, places = to_act(m.state), places_open(m.state)
            counter += 3
            action = only_action(m, 0, counter)
            if action == HIDDEN:
                key = infoset_key(m, actor)
                place = policy_place(late, key, places, random_fraction(0, counter))
                if actor != slipping and place != HIDDEN:
                    counts[table_index(late.keys, key)] += 1
                if place == HIDDEN or (actor == slipping and random_below(0, counter + 1, 64) < slips_of_64):
                    place = nth(places, random_below(0, counter + 2, count(places)))
                action = card_at(m.state, place)
            m = moment_after(m, action)


def note_unknown(
    options: Options, rows: Any, row_sums: Any, t: Table, opening: Policy, late: Policy, bot: int, plays: int,
    slips_of_64: int, begin: int, end: int, seed: int, path: Any, roots: Any, paths: Any, decided: Any,
) -> None:  # fmt: skip
    """Play the first plays of rounds, and note where a bot decides that `opening` does not know, and how often.

    Both seats go by `opening`, then by `late`; the other seat takes another choice by chance this often in 64. Of
    the first round that comes to an information set `roots` gets the deal and `paths` all that was done since, ended
    by HIDDEN. `decided` counts the decisions of the bot.
    """
    for trial in range(begin, end):
        counter = trial << 20
        root = search_sums(row_sums, random_fraction(seed, counter) * row_sums[row_sums.shape[0] - 1])
        m = moment_of(options, rows[root])
        depth = 0
        while certain_winner(m.state) == HIDDEN and number_of_play(m.state, m.plays) < plays:
            actor, places = to_act(m.state), places_open(m.state)
            counter += 3
            action = only_action(m, seed, counter)
            if action == HIDDEN:
                key, fraction = infoset_key(m, actor), random_fraction(seed, counter)
                place = policy_choice(m, opening, late, plays, key, fraction)
                if actor == bot:
                    decided[0] += 1
                    if opening.keys[table_index(opening.keys, key)] != key:
                        slot = slot_of(t, key)
                        if slot != HIDDEN:
                            if t.visits[slot] == 0:
                                roots[slot] = root
                                for i in range(depth):
                                    paths[slot, i] = path[i]
                                paths[slot, depth] = HIDDEN
                            t.visits[slot] += 1
                elif random_below(seed, counter + 1, 64) < slips_of_64:
                    place = nth(places, random_below(seed, counter + 2, count(places)))
                action = card_at(m.state, place)
            path[depth] = action
            depth += 1
            m = moment_after(m, action)
