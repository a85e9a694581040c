"""What a position of Duel is worth, and how that is known.

Between two a match is won round by round: who wins more rounds wins it, a round won is never worse than one lost, and
nothing of a round but its winner goes into the next (the cards go back, and who lost picks). So the best play of a
match is the best play of each round, and all search stays within one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache, partial
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from piste.compiled.compile_progress import Shares, compiling
from piste.core.belief import Belief
from piste.core.bits import count, lane, nth
from piste.core.dealer import RandomStream, drawn
from piste.core.evaluation import ESTIMATED, EXACT, WITHIN, Chances, Choice, Evaluation, Progress, quiet
from piste.core.game import find
from piste.core.information_set import InformationSet
from piste.core.position import Position
from piste.core.protocols import CHANCE, HIDDEN, OVER, SPECTATOR, Event
from piste.games.mccoy_duel import rules
from piste.games.mccoy_duel.rules import LOT, PICK, REVEAL, Options, State
from piste.games.mccoy_duel.solver import cfr, infoset_kernels, infosets, search
from piste.games.mccoy_duel.solver.infoset_kernels import KEYS

VERSION = 1
PASSES = 200_000  # of sampled play for a verdict
LEADS = 1_000_000  # of sampled play to value a whole round
NARROW = 0.3  # how wide the search still tries things out when it is measured; a third of it at last
TABLE = 1 << 20  # decisions that it has room for
NODES = 3_000_000  # room for the tree of a verdict
CARDS = 10  # in both hands: beyond that the tree never fits
OPENING = 1_000_000  # passes for each way of the opening
PART = 50_000  # of them in one go
SIZE = 1 + 81  # numbers kept for each way
CHECK = 16  # bytes that check them


def evaluate(known: InformationSet, progress: Progress = quiet) -> Evaluation:
    """Say what a position is worth to a seat: its chances in the match between two, in the round with more."""
    known = latest(known)
    s: State = next(iter(known.belief.states))
    to_act = rules.to_act(s)
    seat = known.seat if known.seat >= 0 else max(to_act, 0)
    if to_act == OVER:
        won = float(rules.payoff(s, seat) > 0)
        return Evaluation(seat, Chances(won, 0.0, 1 - won), (), EXACT, 0.0, "The game is over.")
    if s.phase in (REVEAL, LOT) or (s.phase == PICK and not s.tower.buried) or infoset_kernels.over(s):
        return before_the_round(s, seat)
    state, told = infosets.read(known)
    state, told = this_round(state, told)
    mine = infosets.like(infosets.rows_of(state, told, known.seat), s)
    key = int(mine.rows[0, KEYS + seat])
    # Who looks on does not see the hand, so the value is the mean over all hands, and there are no choices to list.
    deciding = known.seat >= 0 and to_act == seat and count(infoset_kernels.different(s)) > 0
    if state.options.players == 2 and sum(map(count, s.hands)) <= CARDS and infosets.compiled():
        with compiling(progress, COMPILED):
            everybody = infosets.like(infosets.rows_of(state, told, SPECTATOR), s)
            found = solved(s, everybody, mine, seat, key, deciding)
        if found is not None:
            return found
    with compiling(progress, COMPILED):
        tried = measured(state.options, mine, seat, key, PASSES, choosing=deciding)
    how = f"{tried.passes} sampled rounds over {len(mine.rows)} possible deals. {OFF}"
    return told_of(s, seat, tried.share, tried.choices if deciding else [], ESTIMATED, tried.off, how)


OFF = (
    "The interval is that of the sampling and how far the value moved while the search settled; what it never found "
    "is not covered."
)


class Measured(NamedTuple):
    """What sampled play says a seat wins, by how much that may be off, and the same of its choices with its mix."""

    share: float
    off: float
    choices: list[tuple[int, float, float]]
    passes: int


def measured(
    options: Options, found: infosets.Rows, seat: int, key: int, passes: int, *, choosing: bool = True
) -> Measured:
    """Search long, then measure play that hardly tries anything out: while seats still try much, the value is off.

    A stage learns, the next two say how far the value has settled, and the last, the narrowest, is the value.
    """
    if not infosets.compiled():
        passes //= search.PLAIN
    plan = (
        (passes // 2, search.WIDTH),
        (passes // 4, search.WIDTH),
        (passes // 8, NARROW),
        (passes // 8, NARROW / 3),
    )
    done = search.stages(options, found, seat if choosing else HIDDEN, key, plan, 1, TABLE)
    settling, last = done[1:], done[-1]
    if not last.choices:
        shares = [float(stage.won[seat] / stage.won.sum()) for stage in settling]
        return Measured(shares[-1], spread(shares, int(last.won.sum())), [], passes)
    visits, gains = sum(stage.visits for stage in settling), sum(stage.gains for stage in settling)
    best = int(np.argmax(visits))
    shares = [float(stage.gains[best] / max(1, stage.visits[best])) for stage in settling if stage.visits[best]]
    others = gains / np.maximum(1, visits)
    choices = [
        (action, shares[-1] if i == best else min(shares[-1], float(others[i])), float(i == best))
        for i, action in enumerate(last.choices)
    ]
    return Measured(shares[-1], spread(shares, int(last.visits[best])), choices, passes)


def spread(shares: list[float], of: int) -> float:
    """Return by how much the last of some shares may be off: its sampling, and how far it is from the others."""
    return 1.96 * math.sqrt(0.25 / max(1, of)) + max(abs(shares[-1] - share) for share in shares)


def solved(
    s: State, rows: infosets.Rows, mine: infosets.Rows, seat: int, key: int, deciding: bool
) -> Evaluation | None:
    """Return the verdict of a solution with its proof, if the tree is small enough."""
    solution = cfr.solve(s.options, rows, NODES)
    if solution is None:
        return None
    proof = cfr.prove(s.options, rows, *solution)
    if proof is None:
        return None
    how = f"CFR+ on {solution[0].nodes} nodes over {len(rows.rows)} deals, with the best answers to it worked out."
    if not deciding:
        own = [proof.wins[seat], 1 - proof.wins[1 - seat]]
        if len(mine.rows) < len(rows.rows):
            return None  # what this seat alone knows is not a place of the tree
        return told_of(s, seat, sum(own) / 2, [], WITHIN, proof.gap, how)
    left = infoset_kernels.different(s)
    spot = int(infosets.kernels().spot_of(solution[0].slots, solution[0].names, solution[0].counts, key, 0))
    if spot < 0:
        return None
    mix, values = solution[0].mix(spot), proof.values[seat][spot]
    choices = [(nth(left, i), float(values[i]), float(mix[i])) for i in range(count(left))]
    # What the mix loses here weighs at most the whole gap, and this place has that part of all deals.
    part = float(rows.of(seat, key).weights.sum())
    within = min(1.0, proof.gap / max(part, 1e-9))
    return told_of(s, seat, max(value for _, value, _ in choices), choices, WITHIN, within, how)


def this_round(state: State, told: tuple[infosets.Heard, ...]) -> tuple[State, tuple[infosets.Heard, ...]]:
    """Go over what is not part of a round, which everybody saw, up to the deal."""
    at = 0
    while state.phase in (REVEAL, LOT, rules.NEXT) or (state.phase == PICK and not state.tower.buried):
        event = told[at].event
        state = rules.apply(state, 0 if event.kind == rules.NEXT else event.what)
        at += 1
    return state, told[at:]


def latest(known: InformationSet) -> InformationSet:
    """Return the same knowledge, counted from the last deal: every round begins with what everybody knows."""
    game = known.base.game
    for at in range(len(known.events), 0, -1):
        if known.events[at - 1].kind == rules.NEXT:
            base = next(iter(known.belief.layer(at)))
            found = Belief(game, base, known.seat)
            for event in known.events[at:]:
                found.hear(event)
            found.only(lambda state: state in known.belief.states)
            return InformationSet(known.seat, Position(game, base), known.events[at:], found)
    return known


def told_of(
    s: State, seat: int, share: float, options: list[tuple[int, float, float]], known: str, within: float, how: str
) -> Evaluation:
    """Return a verdict on the match from chances in the round."""
    win, lose, off = match_after(s, seat)
    choices = tuple(
        Choice(action, Chances(lose + (win - lose) * p, 0.0, 1 - lose - (win - lose) * p), mix)
        for action, p, mix in options
    )
    chance = lose + (win - lose) * share
    if off > 0 and known != ESTIMATED:
        known = ESTIMATED
    if s.options.players > 2:
        how += " Chances are those of this round."
    elif (win, lose) != (1.0, 0.0):
        how += " What the other rounds bring is estimated from the chance of the one who leads."
    return Evaluation(seat, Chances(chance, 0.0, 1 - chance), choices, known, within * (win - lose) + off, how)


def match_after(s: State, seat: int) -> tuple[float, float, float]:
    """Return a seat's chance in the match if it wins this round and if it loses it, and how far off that may be."""
    if s.options.players > 2:
        return 1.0, 0.0, 0.0
    need = s.options.rounds // 2 + 1
    mine, theirs = need - lane(s.wins, seat), need - lane(s.wins, 1 - seat)
    if mine == theirs == 1:
        return 1.0, 0.0, 0.0
    lead, off = lead_chance(s.options)
    win, lose = match_chance(mine - 1, theirs, 1 - lead, lead), match_chance(mine, theirs - 1, lead, lead)
    more = (
        match_chance(mine - 1, theirs, 1 - lead - off, lead + off),
        match_chance(mine, theirs - 1, lead + off, lead + off),
    )
    return win, lose, max(abs(more[0] - win), abs(more[1] - lose))


def match_chance(mine: int, theirs: int, now: float, lead: float) -> float:
    """Return the chance in a match with so many rounds to go: `now` is that of the next one; who loses leads."""
    if mine == 0 or theirs == 0:
        return float(mine == 0)
    lost = match_chance(mine, theirs - 1, lead, lead)
    return now * match_chance(mine - 1, theirs, 1 - lead, lead) + (1 - now) * lost


@cache
def lead_chance(options: Options) -> tuple[float, float]:
    """Return about how often the one who leads a round wins it, and by how much that may be off."""
    plain = Options(options.players, 1, 1, options.powers)
    found = measured(plain, infosets.rows_of(rules.start(plain), (), SPECTATOR), 0, 0, LEADS)
    return found.share, found.off


def before_the_round(s: State, seat: int) -> Evaluation:
    """Value a position before the cards are dealt, where all that counts is who will lead."""
    game, stream = find("mccoy-duel"), RandomStream(b"piste verdict", "reveal")
    lead, wide = lead_chance(s.options)
    n = s.options.players
    picks = 0
    tries = 1 if s.phase == PICK else 400
    for _ in range(tries):
        after: Any = s
        while rules.to_act(after) == CHANCE and after.phase != rules.BURY:
            after = rules.apply(after, drawn(game, after, stream))
        leader = after.seat if after.phase == PICK else rules.first_to_lose(after)
        picks += leader == seat
    leads = picks / tries
    share = leads * lead + (1 - leads) * (1 - lead) / (n - 1)
    options = []
    if s.phase == PICK and rules.to_act(s) == seat:
        for other in range(n):
            if s.present >> other & 1:
                chance = lead if other == seat else (1 - lead) / (n - 1)
                options.append((rules.SEAT + other, chance, float(other == seat)))
    how = f"The one who leads wins about {lead:.1%} of rounds (within {wide:.1%}) by long sampled play. {OFF}"
    off = wide + (1.96 * math.sqrt(0.25 / tries) if tries > 1 else 0.0)
    return told_of(s, seat, share, options, ESTIMATED, off, how)


def solve_fully(options: Options, progress: Progress) -> str:
    """Work out the first plays of a round between two by long sampled play, and keep what they are worth."""
    found = opening(options, progress)
    low, fair, high = (f"{float(found[name][0]):.1%}" for name in WAYS)
    return (
        f"In {OPENING} sampled rounds each, whoever leads won {fair}; {low} if the other saw the card buried by the "
        f"leader, {high} if the leader saw the other's. What each lead is worth is kept with it in the cache."
    )


WAYS = ("shown", "fair", "peeking")
"""The leader's buried card shown to the other, the round as it is, the other's card shown to the leader."""


def opening(options: Options, progress: Progress = quiet, passes: int = OPENING) -> dict[str, Any]:
    """Return for each way the leader's chance, and for each card buried by the leader how often each lead wins."""
    from piste.compiled import table_cache

    name = f"mccoy-duel opening powers={options.powers},passes={passes}"
    stamp = f"rules {rules.VERSION}, solver {VERSION}"
    kept = table_cache.load(name, stamp)
    if kept is not None:
        try:
            return {way: kept.read(way) for way in WAYS}
        except table_cache.DamagedTableError:
            table_cache.delete(name, stamp)
    try:
        folder: Path | None = table_cache.scratch_folder(name, stamp)
    except table_cache.CacheUnusableError as e:
        table_cache.warn_not_cached(table_cache.folder(), e.error)
        folder = None
    found = {}
    for i, way in enumerate(WAYS):
        values = None if folder is None else read_part(folder / f"{way}.part")
        if values is None:
            values = led(Options(2, 1, 1, options.powers), way, passes, partial(further, progress, i, passes))
            if folder is not None:
                write_part(folder / f"{way}.part", values)
        found[way] = values
    table_cache.try_save(name, stamp, found)
    return found


def write_part(path: Path, values: infosets.Array) -> None:
    """Keep what was worked out so far, with a check; a file that was only begun never has this name."""
    from piste.compiled import table_cache

    data, begun = values.tobytes(), path.with_suffix(".begun")
    try:
        begun.write_bytes(blake2b(data, digest_size=CHECK).digest() + data)
        begun.replace(path)
    except OSError as e:
        table_cache.warn_not_cached(path.parent.parent, e)


def read_part(path: Path) -> infosets.Array | None:
    """Return what was kept; None if there is nothing, or not what was written."""
    data = path.read_bytes() if path.is_file() else b""
    if len(data) != CHECK + 8 * SIZE or data[:CHECK] != blake2b(data[CHECK:], digest_size=CHECK).digest():
        return None
    return np.frombuffer(data[CHECK:]).copy()


def further(progress: Progress, way: int, passes: int, done: int) -> None:
    progress(way * passes + done, len(WAYS) * passes, "playing the first plays")


def led(options: Options, way: str, passes: int, progress: Callable[[int], None]) -> infosets.Array:
    """Return how often the leader wins, then nine rows, by the power buried, of how often each lead wins."""
    told = tuple(infosets.Heard(Event(rules.BURY, seat, HIDDEN, HIDDEN), None) for seat in range(2))
    found = infosets.rows_of(rules.start(options), told, SPECTATOR)
    rows = found.rows
    for row in rows:
        buried = (int(row[9]) & 511, int(row[9]) >> 9)
        if way == "shown":
            row[KEYS + 1] = infoset_kernels.mixed(int(row[KEYS + 1]), buried[0])
        if way == "peeking":
            row[KEYS] = infoset_kernels.mixed(int(row[KEYS]), buried[1])
    tables = search.tables(1 << 21)
    k = infosets.kernels()
    won = np.zeros(4, np.int64)
    for done in range(0, passes, PART):
        if 2 * done >= passes > 2 * (done - PART):
            won[:] = 0  # the first half learns
        progress(done)
        k.sampled(
            options, rows, found.sums, len(rows), min(PART, passes - done), done + 1, search.WIDTH, *tables, won
        )
    values = np.zeros(SIZE)
    values[0] = won[0] / won.sum()
    tries = np.zeros(81)
    for row in rows:
        at = int(k.place(tables[0], int(row[KEYS]) | 1))
        left = infoset_kernels.different(infoset_kernels.unpack(options, row))
        card = int(row[9] & 511).bit_length() - 1
        for i in range(count(left)):
            spot = 9 * card + nth(left, i)
            values[1 + spot] += tables[2][at, i]
            tries[spot] += tables[1][at, i]
    values[1:] /= np.maximum(tries, 1)
    return values


COMPILED = Shares(
    {
        "grow": 2.4, "attempt": 5.4, "improve": 4.5, "sampled": 3.8, "apply": 3.4, "follow": 2.7, "deal": 1.2,
        "reached": 2.2, "stow": 2.0, "played": 1.7,
    },
    other=0.45, compiled=81.0,
)  # fmt: skip


def prepare(options: Options, progress: Progress) -> None:
    """Compile what the bots need."""
    with compiling(progress, COMPILED):
        infosets.kernels()
        search.warm(options)
