"""What a player could gain from the first plays of the perfect bot of Duel, as long sampled play sees it.

A lead gives away something about the card that the leader has buried. So let the other seat know how the bot leads
with each card buried, or even let it see that card; let it reply as well as a long search can, and compare that with
the reply of the bot, which takes no hint.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from piste.core.bits import count, nth
from piste.core.evaluation import Progress, quiet
from piste.core.game import members
from piste.core.protocols import CHANCE, HIDDEN, SPECTATOR, Event
from piste.games.mccoy_duel import rules
from piste.games.mccoy_duel.bots import search
from piste.games.mccoy_duel.rules import Options
from piste.games.mccoy_duel.solver import infoset_kernels, infosets, ismcts, ismcts_kernels
from piste.games.mccoy_duel.solver.infoset_kernels import KEY_COLUMN
from piste.games.mccoy_duel.solver.infosets import Array, PossibleStates

LONG = 300_000  # passes of a long search
SEEDS = 4  # how often the bot is asked for each lead
ROOM = 1 << 20


class Gains(NamedTuple):
    """Shares of a round: what the best reply wins more than the bot's, what its leads lose, how exact both are."""

    reply: float
    lead: float
    error: float  # of their sum: one standard error

    @property
    def most(self) -> float:
        """The upper end of the 95 % interval of both together."""
        return self.reply + self.lead + 1.96 * self.error


def gains(
    options: Options, progress: Progress = quiet, passes: int = LONG, seeds: int = SEEDS, *, seen: bool = False
) -> Gains:
    """Measure the bot's leads and its replies to them; the best reply may have seen the leader's buried card."""
    options = Options(2, 1, 1, options.powers)
    told = tuple(infosets.Observed(Event(rules.BURY, seat, HIDDEN, HIDDEN), None) for seat in range(2))
    dealt = infosets.possible_states(rules.start(options), told, SPECTATOR)
    keys = list(dict.fromkeys(int(key) for key in dealt.rows[:, KEY_COLUMN]))
    progress(0, 1, "asking for leads")
    worth = learned(options, dealt, 0, keys, passes * len(keys) // 2)
    lead_loss = reply_loss = error = 0.0
    groups: dict[tuple[int, int], list[PossibleStates]] = {}
    for key in keys:
        mine = dealt.in_infoset(0, key)
        for seed in range(seeds):
            lead = asked(options, mine, 0, key, seed)
            at = members(infoset_kernels.distinct_choices(infoset_kernels.unpack(options, mine.rows[0]))).index(lead)
            share = 1 / seeds / len(keys)
            lead_loss += share * float(worth[key][0].max() - worth[key][0][at])
            error += share / len(keys) * of_difference(*worth[key], at)
            groups.setdefault((lead, key if seen else 0), []).append(PossibleStates(mine.rows, mine.weights * share))
    whole = sum(float(part.weights.sum()) for parts in groups.values() for part in parts)
    answers: dict[tuple[int, int], int] = {}
    for number, ((lead, _), parts) in enumerate(groups.items()):
        progress(number, len(groups), "measuring replies")
        share = sum(float(part.weights.sum()) for part in parts) / whole
        rows = PossibleStates(
            np.concatenate([part.rows for part in parts]), np.concatenate([part.weights for part in parts])
        )
        known, blind = after(options, rows, lead), after(options, dealt, lead)
        told_of = sorted({int(key) for key in known.rows[:, KEY_COLUMN + 1]})
        for key, (values, tries) in learned(options, known, 1, told_of, passes).items():
            if (lead, key) not in answers:
                answers[lead, key] = asked(options, blind.in_infoset(1, key), 1, key, 0)
            mine = known.in_infoset(1, key)
            at = members(infoset_kernels.distinct_choices(infoset_kernels.unpack(options, mine.rows[0]))).index(
                answers[lead, key]
            )
            part = share * float(mine.weights.sum())
            reply_loss += part * float(values.max() - values[at])
            error += part**2 * of_difference(values, tries, at)
    return Gains(reply_loss, lead_loss, math.sqrt(error))


def asked(options: Options, states: PossibleStates, seat: int, key: int, seed: int) -> int:
    """Return what the perfect bot plays where it holds these rows possible."""
    left = infoset_kernels.distinct_choices(infoset_kernels.unpack(options, states.rows[0]))
    if count(left) == 1:
        return nth(left, 0)
    tried = ismcts.search(options, states, seat, key, search.FULL.passes, infoset_kernels.mix_hash(seed + 1, key))
    return tried.choices[int(np.argmax(tried.visits))]


def learned(
    options: Options, states: PossibleStates, seat: int, keys: list[int], passes: int
) -> dict[int, tuple[Array, Array]]:
    """Return what each choice wins at these situations, and how often it was tried, after as many passes to learn."""
    tables = ismcts.empty_tables(ROOM)
    before: dict[int, tuple[Array, Array]] = {}
    for stage in range(2):
        won = np.zeros(4, np.int64)
        ismcts.run(options, states, passes, 7 + stage, ismcts.EXPLORATION, tables, won)
        now = {}
        for key in keys:
            at = ismcts_kernels.table_slot(tables[0], key | 1)
            n = count(
                infoset_kernels.distinct_choices(
                    infoset_kernels.unpack(options, states.in_infoset(seat, key).rows[0])
                )
            )
            now[key] = (tables[1][at, :n].astype(float), tables[2][at, :n].astype(float))
        if stage == 0:
            before = now
    return {
        key: (
            (now[key][1] - before[key][1]) / np.maximum(1, now[key][0] - before[key][0]),
            now[key][0] - before[key][0],
        )
        for key in keys
    }


def of_difference(values: Array, tries: Array, at: int) -> float:
    """Return the variance of how much better the best choice is than another."""
    best = int(np.argmax(values))
    if best == at:
        return 0.0
    return sum(float(values[i] * (1 - values[i]) / max(1.0, tries[i])) for i in (best, at))


def after(options: Options, states: PossibleStates, lead: int) -> PossibleStates:
    """Return the rows after a lead and all of chance that follows, where the other seat is to reply.

    The weights are parts of all the rows in which that is the lead: with no answer in hand there is no reply.
    """
    rows, weights, whole = [], [], 0.0
    for row, weight in zip(states.rows, states.weights, strict=True):
        s = infoset_kernels.unpack(options, row)
        if not infoset_kernels.distinct_choices(s) >> lead & 1:
            continue
        whole += float(weight)
        waiting = [(s, int(row[KEY_COLUMN]), int(row[KEY_COLUMN + 1]), float(weight), 1 << lead)]
        while waiting:
            s, one, other, part, left = waiting.pop()
            for action in members(left):
                then = rules.apply(s, action)
                keys = (
                    infoset_kernels.next_key(one, s, action, then, 0),
                    infoset_kernels.next_key(other, s, action, then, 1),
                )
                share = part / count(left)
                actor = rules.to_act(then)
                if actor == CHANCE and not infoset_kernels.round_over(then):
                    waiting.append((then, *keys, share, rules.choices(then)))
                elif actor == 1:
                    made = row.copy()
                    infoset_kernels.pack(then, made)
                    made[KEY_COLUMN], made[KEY_COLUMN + 1] = keys
                    rows.append(made)
                    weights.append(share)
    return PossibleStates(np.array(rows), np.array(weights) / whole)
