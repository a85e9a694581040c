"""What a solved game is worth, as a lookup: by the state where nothing is hidden, else by what a seat knows.

Solutions are arrays, so that they can be kept in the cache as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from piste.core.dealer import RandomStream
from piste.core.evaluation import EXACT, WITHIN, Choice, Evaluation
from piste.core.game import Game, counted, members
from piste.core.information_set import InformationSet
from piste.core.protocols import SPECTATOR
from piste.core.steps import apply_step
from piste.solvers.scale import MAX_ROUNDING, Array, Scale
from piste.solvers.tree import Tree, tree_code


def how_known(bound: float) -> str:
    return EXACT if bound <= MAX_ROUNDING else WITHIN


def bound_text(bound: float, scale: Scale) -> str:
    """Say by how much the value of a game may be off."""
    if bound <= MAX_ROUNDING:
        return " The value is exact."
    return f" The value is within {bound * scale.largest:.2g} of the payoff."


def seat_of(known: InformationSet) -> int:
    """Return the seat that a verdict is for: a spectator gets that of the seat whose turn it is."""
    if known.seat != SPECTATOR:
        return known.seat
    return max(0, known.base.game.rules.to_act(next(iter(known.belief.states))))


class GraphSolution:
    """Every state of a game in which each seat sees all that matters when it decides."""

    kind = "graph"

    def __init__(
        self, game: Game, keys: Array, values: Array, best: Array, off: Array, scale: Scale, cycles: bool
    ) -> None:
        self.game, self.scale, self.nodes = game, scale, len(keys)
        self.cycles = cycles  # whether states can come again
        self._keys, self._values, self._best, self._off = keys, values, best, off
        self.bound = float(off.max(initial=0.0)) / scale.largest
        self._code = tree_code(game, compiled=False)
        self._row = np.zeros((1, self._code.WIDTH), np.int64)

    @classmethod
    def of(cls, game: Game, tree: Tree, values: Array, best: Array, off: Array, *, cycles: bool) -> GraphSolution:
        """Return the solution of a graph; `values` has the payoff of each seat, and each seat's wins and losses."""
        keys = np.zeros(tree.nodes, np.int64)
        for column in tree.rows.T:
            keys = mixed_columns(keys, column)
        order = np.argsort(keys, kind="stable")
        if len(np.unique(keys)) < len(keys):
            raise ValueError("two states have the same key")  # once in a hundred thousand of the largest graphs
        actions = np.full(tree.nodes, -1, np.int8)
        chosen = best >= 0
        actions[chosen] = tree.action[tree.first[:-1][chosen] + best[chosen]]
        scale = Scale.of(tree.payoffs[tree.ends])
        return cls(game, keys[order], values[order], actions[order], off[order], scale, cycles)

    def arrays(self) -> Mapping[str, Array]:
        scale = np.array([self.scale.largest, self.scale.plain, self.cycles])
        return {"keys": self._keys, "values": self._values, "best": self._best, "off": self._off, "scale": scale}

    @classmethod
    def read(cls, game: Game, arrays: Mapping[str, Array]) -> GraphSolution:
        scale = Scale(float(arrays["scale"][0]), bool(arrays["scale"][1]))
        cycles = bool(arrays["scale"][2])
        return cls(game, arrays["keys"], arrays["values"], arrays["best"], arrays["off"], scale, cycles)

    def find(self, state: Any) -> int:
        """Return the place of a state, or -1."""
        self._code.pack(state, self._row, 0)
        key = self._code.row_key(self._row, 0)
        at = int(np.searchsorted(self._keys, key))
        return at if at < len(self._keys) and self._keys[at] == key else -1

    def best(self, state: Any) -> int:
        """Return the decision of the solution, for the seat to act."""
        return int(self._best[self.find(state)])

    def worth(self, at: int, seat: int) -> Array:
        """Return payoff, wins and losses of a seat."""
        seats = self._values.shape[1] // 3
        row: Array = self._values[at, seat::seats]
        return row

    def evaluate(self, known: InformationSet) -> Evaluation | None:
        rules, seat = self.game.rules, seat_of(known)
        worth, off = np.zeros(3), 0.0
        choices: tuple[Choice, ...] = ()
        for state, likely in known.belief.states.items():
            at = self.find(state)
            if at < 0:
                return None
            worth += likely * self.worth(at, seat)
            off = max(off, float(self._off[at]))
            if rules.to_act(state) == known.seat and len(known.belief.states) == 1:
                choices = self._choices(state, at)
        bound = off / self.scale.largest
        chances, payoff = self.scale.worth(worth)
        how = self._how()
        within = 0.0 if how_known(bound) == EXACT else bound / 2
        return Evaluation(seat, chances, choices, how_known(bound), within, how, payoff=payoff)

    def _choices(self, state: Any, at: int) -> tuple[Choice, ...]:
        rules, choices = self.game.rules, []
        seat = rules.to_act(state)
        for action in members(rules.legal(state)):
            after = self.find(rules.apply(state, action))
            chances, payoff = self.scale.worth(self.worth(after, seat))
            choices.append(Choice(action, chances, float(action == self._best[at]), payoff=payoff))
        return tuple(choices)

    @property
    def exact(self) -> bool:
        """Whether no decision of the solution is worse than another: between two, and up to rounding."""
        return self._values.shape[1] == 6 and self.bound <= MAX_ROUNDING

    def summary(self) -> str:
        """Say what was solved."""
        return self._how() + bound_text(self.bound, self.scale)

    def _how(self) -> str:
        states = counted(self.nodes, "state")
        if self.cycles:
            return f"Bounds from both sides by value iteration over {states}, some of which can come again."
        several = self._values.shape[1] > 6
        others = " Among more than two, others who play otherwise can change it." if several else ""
        return f"Backward induction over {states}, with the best decision at each.{others}"


def mixed_columns(keys: Array, column: Array) -> Array:
    """Return `tree_kernels.mixed` of whole columns."""
    from piste.solvers.tree_kernels import KEY_MASK, MULTIPLIER

    with np.errstate(over="ignore"):
        keys = ((keys ^ column) * MULTIPLIER) & KEY_MASK
    return keys ^ (keys >> 31)


class SeatTable(NamedTuple):
    """What each thing that a seat can know is worth to it, in the order of its keys."""

    keys: Array
    worth: Array  # payoff, wins and losses
    likely: Array  # how likely chance and the others lead there, if the seat does what it can for that
    first: Array  # where its decisions stand, if it has any: as many as to the next
    action: Array
    mix: Array
    choices: Array  # payoff, wins and losses after each


class TreeSolution:
    """Everything that a seat can know in a game between two with hidden information, solved by CFR+."""

    kind = "tree"

    def __init__(self, game: Game, tables: tuple[SeatTable, ...], gap: float, nodes: int, scale: Scale) -> None:
        self.game, self.scale, self.gap, self.nodes = game, scale, gap, nodes
        self._tables = tables  # of both seats, and of a spectator
        self.bound = gap / scale.largest
        self._code = tree_code(game, compiled=False)

    def arrays(self) -> Mapping[str, Array]:
        named = {f"{name}{seat}": array for seat, table in enumerate(self._tables)
                 for name, array in table._asdict().items()}  # fmt: skip
        return named | {"scale": np.array([self.scale.largest, self.scale.plain, self.gap, self.nodes])}

    @classmethod
    def read(cls, game: Game, arrays: Mapping[str, Array]) -> TreeSolution:
        largest, plain, gap, nodes = arrays["scale"]
        tables = (SeatTable(*(arrays[f"{name}{seat}"] for name in SeatTable._fields)) for seat in range(3))
        return cls(game, tuple(tables), float(gap), int(nodes), Scale(float(largest), bool(plain)))

    @property
    def exact(self) -> bool:
        """Whether nobody can gain anything against the solution, up to rounding."""
        return self.bound <= MAX_ROUNDING

    def summary(self) -> str:
        """Say what was solved."""
        return f"CFR+ on {counted(self.nodes, 'node')}.{bound_text(self.bound, self.scale)}"

    def key(self, known: InformationSet) -> int:
        """Return the key of what a seat knows; any history that it cannot tell from the true one has it."""
        rules, seat, state = self.game.rules, known.seat, known.base.state
        key: int = self._code.first_key(state, seat)
        for step in known.retell(RandomStream(b"piste known", "solution")):
            if not isinstance(step, int):
                return -1  # a resignation, which is no part of the tree
            after = apply_step(rules, state, step)
            key, state = self._code.told_key(state, step, after, seat, key), after
        return key

    def evaluate(self, known: InformationSet) -> Evaluation | None:
        seat = seat_of(known)
        table = self._tables[2 if known.seat == SPECTATOR else known.seat]
        at = int(np.searchsorted(table.keys, key := self.key(known)))
        if at == len(table.keys) or table.keys[at] != key:
            return None
        worth = table.worth[at] if seat == known.seat or seat == 0 else table.worth[at][[0, 2, 1]] * (-1, 1, 1)
        chances, payoff = self.scale.worth(worth)
        # What a seat can gain here is at most what it can gain in the whole game, divided by how often it comes here.
        bound = min(2.0, self.bound / max(float(table.likely[at]), 1e-12))
        choices = []
        for i in range(int(table.first[at]), int(table.first[at + 1])):
            after, paid = self.scale.worth(table.choices[i])
            choices.append(Choice(int(table.action[i]), after, float(table.mix[i]), payoff=paid))
        how = f"CFR+ on {counted(self.nodes, 'node')}, with the best answers to it worked out."
        known_as = how_known(bound)
        within = 0.0 if known_as == EXACT else bound / 2
        return Evaluation(seat, chances, tuple(choices), known_as, within, how, payoff=payoff)
