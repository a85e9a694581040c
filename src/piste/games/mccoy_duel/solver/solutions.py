"""Rounds of Duel between two with few powers, solved whole: found, kept in the cache, and asked for a decision.

A round is solved once for the seat that leads and once for the seat that picks who leads after both have buried a
card (D4). In both it is seat 0: what another seat 0 was told is turned around before it is looked up.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import NamedTuple

import numpy as np

from piste.compiled import table_cache
from piste.core.bits import count, lowest
from piste.core.evaluation import Progress, quiet
from piste.core.game import members
from piste.core.protocols import HIDDEN, SPECTATOR, Event
from piste.games.mccoy_duel import rules
from piste.games.mccoy_duel.guarantees import MAX_POWERS_ON_DEMAND
from piste.games.mccoy_duel.rules import BURY, COPY, FEINT, KILL, PLAY, SEAT, TAKE, Options, State
from piste.games.mccoy_duel.solver import infosets, sequence_form
from piste.games.mccoy_duel.solver.infoset_kernels import KEY_COLUMN, certain_winner, distinct_choices, unpack
from piste.games.mccoy_duel.solver.infosets import Array, Observed, PossibleStates
from piste.games.mccoy_duel.solver.sequence_form import Round, Strategies

VERSION = 1
MAX_BOUND = 1e-4  # of both seats together, as a share of a round
MAX_POWERS = 7  # more have never fitted
MAX_ENDS_ON_DEMAND = 8_000_000  # solved whenever it is needed: seconds, and about a gigabyte
MAX_IN_MEMORY = 4
MAX_ENDS = 50_000_000  # solved when it is asked for: minutes, and up to 6 GB

BURIALS = tuple(Observed(Event(BURY, seat, HIDDEN, HIDDEN), None) for seat in range(2))


class SideSolution(NamedTuple):
    """The information sets of one seat to which its own strategy or the other's ever comes, by key."""

    keys: Array
    first: Array  # where the choices of each begin
    reach: Array  # how often chance and the other's strategy come there if the seat itself goes there
    played: Array  # whether the seat's own strategy ever goes there
    probabilities: Array  # of each choice
    values: Array  # the share of rounds that each choice wins if the seat goes on as well as possible
    sure_keys: Array  # other infosets to which the seat's own strategy comes, in which a choice wins at once
    sure_actions: Array  # that choice


class Solution(NamedTuple):
    """A round solved whole."""

    sides: tuple[SideSolution, SideSolution]
    wins: tuple[float, float]  # what a best response of each seat wins against the strategy of the other

    @property
    def bound(self) -> float:
        """What both strategies together can lose: the NashConv."""
        return max(0.0, sum(self.wins) - 1)

    @property
    def share(self) -> float:
        """The share of rounds that seat 0 wins, in the middle of what is possible."""
        return (self.wins[0] + 1 - self.wins[1]) / 2


class Mix(NamedTuple):
    """What a solution says of one information set."""

    actions: tuple[int, ...]
    probabilities: Array
    values: Array
    reach: float
    played: bool


def start_state(powers: int, *, picking: bool) -> State:
    """Return the state when the cards are dealt; seat 0 leads, or picks when both have buried a card."""
    state = rules.start(Options(2, 1, 1, powers))
    return rules.deal(state._replace(out=rules.with_loser(0, 0)), HIDDEN) if picking else state


def name(powers: int, *, picking: bool) -> str:
    """Return the name of a solution in the table cache."""
    return f"mccoy-duel round powers={powers},{'pick' if picking else 'lead'}"


def stamp() -> str:
    return f"rules {rules.VERSION}, solution {VERSION}"


_found: OrderedDict[tuple[str, str], Solution] = OrderedDict()
_too_large: dict[str, int] = {}  # rounds that have more ends than this


def find(
    options: Options, progress: Progress = quiet, *, picking: bool = False, max_ends: int | None = None
) -> Solution | None:
    """Return the solution of a round with these powers; None if it is not kept and too large to solve.

    Without `max_ends` it is solved only if that takes seconds.
    """
    if options.players != 2 or count(options.powers) > MAX_POWERS or not infosets.compiled():
        return None
    if max_ends is None:
        max_ends = MAX_ENDS_ON_DEMAND if count(options.powers) <= MAX_POWERS_ON_DEMAND else 0
    table = name(options.powers, picking=picking)
    key = table, str(table_cache.folder())
    if key not in _found:
        solution = _read(table)
        if solution is None and max_ends > _too_large.get(table, 0):
            solution = _solve(options.powers, picking, max_ends, progress)
        if solution is None:
            _too_large[table] = max(max_ends, _too_large.get(table, 0))
            return None
        _found[key] = solution
        while len(_found) > MAX_IN_MEMORY:
            _found.popitem(last=False)
    _found.move_to_end(key)
    return _found[key]


def _read(table: str) -> Solution | None:
    """Return a solution from the cache, if it is there."""
    stored = table_cache.load(table, stamp())
    if stored is None:
        return None
    try:
        sides = [
            SideSolution(*(stored.read(f"{field}{seat}") for field in SideSolution._fields)) for seat in range(2)
        ]
        wins = stored.read("wins")
    except table_cache.DamagedTableError:
        table_cache.delete(table, stamp())
        return None
    return Solution((sides[0], sides[1]), (float(wins[0]), float(wins[1])))


def _solve(powers: int, picking: bool, max_ends: int, progress: Progress) -> Solution | None:
    """Solve a round and keep it in the cache; None if it has more ends."""
    state = start_state(powers, picking=picking)
    states = infosets.possible_states(state, BURIALS, SPECTATOR)
    tree = sequence_form.enumerated(state.options, states, max_ends, progress)
    if tree is None:
        return None
    solution = worth_keeping(tree, sequence_form.solve(tree, MAX_BOUND, progress))
    arrays = {
        f"{field}{seat}": array
        for seat, side in enumerate(solution.sides)
        for field, array in zip(SideSolution._fields, side, strict=True)
    }
    table_cache.try_save(name(powers, picking=picking), stamp(), arrays | {"wins": np.array(solution.wins)})
    return solution


class Lead(NamedTuple):
    """A first play: its power, the share of rounds that it wins with the card in hand, and how often it is played."""

    power: int
    share: float | None  # None if another lead always wins at once
    played: float


def leads(options: Options, solution: Solution) -> list[Lead]:
    """Return what each lead is worth and how often it is played, over all cards that the leader may have buried."""
    dealt = infosets.possible_states(start_state(options.powers, picking=False), BURIALS, SPECTATOR)
    shares: dict[int, list[float]] = {power: [] for power in members(options.powers)}
    played = dict.fromkeys(shares, 0.0)
    keys = list(dict.fromkeys(dealt.rows[:, KEY_COLUMN].tolist()))
    for key in keys:
        mix = mix_at(solution.sides[0], options, dealt.in_infoset(0, key), 0)
        if mix is None:  # one card is left, and no choice
            continue
        for card, value, probability in zip(mix.actions, mix.values, mix.probabilities, strict=True):
            shares[card].append(float(value))
            played[card] += float(probability) / len(keys)
    return [Lead(power, sum(of) / len(of) if of else None, played[power]) for power, of in shares.items()]


def worth_keeping(tree: Round, strategies: Strategies) -> Solution:
    """Return a solution with the infosets to which one of the two strategies comes."""
    sides = []
    for seat, side in enumerate(tree.sides):
        choices = strategies.choices
        reach = sequence_form.reach(tree, choices, seat, 0.0)[side.first[:-1]]
        plan = np.zeros(tree.sequences(seat))
        sequence_form.kernels().realize(side, choices[seat], 0.0, plan)
        played = plan[side.parents] > 0
        values = sequence_form.best_values(tree, choices, seat, sequence_form.TREMBLE)
        values /= np.maximum(sequence_form.reach(tree, choices, seat, sequence_form.TREMBLE), 1e-300)
        kept = np.flatnonzero(played | (reach > 0))
        kept = kept[np.argsort(side.keys[kept])]
        sizes = np.diff(side.first)[kept]
        first = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
        at = np.repeat(side.first[kept] - first[:-1], sizes) + np.arange(first[-1])
        sure = side.sure[plan[side.sure[:, 1]] > 0]
        sure = sure[np.argsort(sure[:, 0])]
        sides.append(
            SideSolution(
                side.keys[kept], first.astype(np.int32), reach[kept].astype(np.float32), played[kept],
                choices[seat][at].astype(np.float32), values[at].astype(np.float32),
                sure[:, 0], sure[:, 2].astype(np.int8),
            )
        )  # fmt: skip
    return Solution((sides[0], sides[1]), strategies.wins)


# Asking for a decision


def with_usual_names(events: tuple[Observed, ...], *, turning: bool) -> tuple[tuple[Observed, ...], list[int]]:
    """Return what was observed as a solution names it, and how it names each card and player.

    With `turning` the seats are exchanged. Of two face-up cards of one power a solution chooses the first one (D22);
    where the other was chosen, the two exchange their names from then on.
    """
    names = [*range(9, 18), *range(9), *range(18, SEAT), SEAT + 1, SEAT] if turning else list(range(SEAT + 2))
    renamed, up, top = [], 0, HIDDEN
    for (kind, seat, what, also), after in events:
        name = names[what] if what >= 0 else what
        if kind in (KILL, TAKE, COPY):
            same_power = up & ~(1 << top) & rules.of_powers(1 << rules.power_of(name))
            first = lowest(same_power)
            if kind != COPY:
                names[names.index(first)], names[what] = name, first
            name = first
        if kind in (PLAY, FEINT):
            up, top = up | 1 << name, name
        elif kind in (KILL, TAKE):
            up ^= 1 << name
        event = Event(kind, turned(seat) if turning else seat, name, turned(also) if turning else also)
        view = after
        if view is not None:
            view = view._replace(hand=sum(1 << names[card] for card in members(view.hand)))
        if view is not None and turning:
            playing = (view.playing << 1 | view.playing >> 1) & 3
            view = view._replace(seat=turned(view.seat), target=turned(view.target), playing=playing)
        renamed.append(Observed(event, view))
    return tuple(renamed), names


def as_if_seat_0_led(events: tuple[Observed, ...], *, turning: bool) -> tuple[tuple[Observed, ...], list[int]]:
    """Return the same for events that begin with both burials: with `turning` seat 1 leads, or picks who leads."""
    if turning:
        events = (events[1], events[0], *events[2:])
    events, names = with_usual_names(events, turning=turning)
    # What was seen after the burials depends on their order.
    return (events[0]._replace(after=None), events[1]._replace(after=None), *events[2:]), names


def turned(seat: int) -> int:
    """Return the other seat; what stands in place of a seat stays."""
    return 1 - seat if seat in (0, 1) else seat


def find_for(state: State, progress: Progress = quiet) -> Solution | None:
    """Return the solution of a round that begins with this state; None also if not all cards are dealt in it."""
    whole = state.options.powers
    if state.phase != BURY or state.hands[:2] != (whole, whole << 9) or state.present != 3:
        return None
    return find(state.options, progress, picking=state.seat == HIDDEN)


def first_seat(state: State) -> int:
    """Return who leads a round that begins with this state or, if that is not known yet, who picks."""
    return rules.first_to_lose(state) if state.seat == HIDDEN else state.seat


def look_up(
    state: State, events: tuple[Observed, ...], seat: int, progress: Progress = quiet
) -> tuple[Solution, Mix] | None:
    """Return the solution of a round that began with this state, and what it says where a seat is to decide.

    None if the round is not solved, or if neither strategy comes here.
    """
    if len(events) < 2:
        return None
    solution, turning = find_for(state, progress), first_seat(state) == 1
    if solution is None:
        return None
    seat = 1 - seat if turning else seat
    events, names = as_if_seat_0_led(events, turning=turning)
    own = infosets.possible_states(start_state(state.options.powers, picking=state.seat == HIDDEN), events, seat)
    mix = mix_at(solution.sides[seat], state.options, own, seat)
    if mix is None:
        return None
    return solution, mix._replace(actions=tuple(names.index(action) for action in mix.actions))


def mix_at(side: SideSolution, options: Options, own: PossibleStates, seat: int) -> Mix | None:
    """Return what one side of a solution says where a seat holds these states possible."""
    actions = tuple(members(distinct_choices(unpack(options, own.rows[0]))))
    key = int(own.rows[0, KEY_COLUMN + seat])
    at = int(np.searchsorted(side.keys, key))
    if at < len(side.keys) and side.keys[at] == key:
        part = slice(int(side.first[at]), int(side.first[at + 1]))
        shares = side.probabilities[part].astype(float)
        return Mix(actions, shares / shares.sum(), side.values[part], float(side.reach[at]), bool(side.played[at]))
    at = int(np.searchsorted(side.sure_keys, key))
    if at < len(side.sure_keys) and side.sure_keys[at] == key:
        return Mix((int(side.sure_actions[at]),), np.ones(1), np.ones(1), 0.0, True)
    if all(certain_winner(unpack(options, row)) == seat for row in own.rows):
        return Mix(actions[:1], np.ones(1), np.ones(1), 0.0, True)  # the solution ends before: it has won anyway
    return None
