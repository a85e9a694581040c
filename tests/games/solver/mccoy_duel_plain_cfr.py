"""Duel solved a second way, slow and plain: the whole tree by the rules, mixes by what seats are told, no pruning.

No part of that uses the solver: positions are the rules' own, a situation is the list of events that a seat was told,
the mixes come from plain regret matching, and the best answer is worked out situation by situation. Below are games
for the tests to look at.
"""

from __future__ import annotations

import importlib
import math
import os
import random
import time
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import piste
from piste import bots
from piste.core.belief import retell
from piste.core.dealer import Dealer
from piste.core.game import find, members
from piste.core.protocols import CHANCE
from piste.core.views import SeatView
from piste.games.mccoy_duel import rules
from tests.game_setups import Kind, actions

GAME = find("mccoy-duel")


class Node(NamedTuple):
    actor: int  # CHANCE, a seat, or HIDDEN with a winner
    winner: int
    situation: Any
    children: tuple[Any, ...]


def tree(s: Any, heard: tuple[Any, Any]) -> Node:
    """Return the rest of the round as a tree."""
    if s.phase in (rules.NEXT, rules.DONE):
        return Node(-2, s.seat, None, ())
    actor = rules.to_act(s)
    children = []
    for action in members(rules.choices(s)):
        told = tuple((*heard[seat], rules.tell(s, action, seat)) for seat in range(2))
        children.append(tree(rules.apply(s, action), told))  # type: ignore[arg-type]
    return Node(actor, -1, (actor, heard[actor]) if actor >= 0 else None, tuple(children))


class Plain:
    """Regret matching on a tree."""

    def __init__(self, root: Node) -> None:
        self.root = root
        self.regrets: dict[Any, list[float]] = {}
        self.total: dict[Any, list[float]] = {}

    def mix(self, node: Node) -> list[float]:
        regrets = self.regrets.setdefault(node.situation, [0.0] * len(node.children))
        positive = [max(0.0, r) for r in regrets]
        whole = sum(positive)
        return [p / whole for p in positive] if whole else [1 / len(regrets)] * len(regrets)

    def walk(self, node: Node, reach: tuple[float, float], chance: float, number: int) -> float:
        """Return how often seat 0 wins."""
        if node.actor == -2:
            return float(node.winner == 0)
        n = len(node.children)
        if node.actor == CHANCE:
            return sum(self.walk(child, reach, chance / n, number) for child in node.children) / n
        mix, seat = list(self.mix(node)), node.actor
        values = []
        for p, child in zip(mix, node.children, strict=True):
            after = (reach[0] * p, reach[1]) if seat == 0 else (reach[0], reach[1] * p)
            values.append(self.walk(child, after, chance, number))
        value = sum(p * v for p, v in zip(mix, values, strict=True))
        sign = 1 if seat == 0 else -1
        for i in range(n):
            self.regrets[node.situation][i] += sign * chance * reach[1 - seat] * (values[i] - value)
            self.total.setdefault(node.situation, [0.0] * n)[i] += number * reach[seat] * mix[i]
        return value

    def solve(self, passes: int) -> None:
        for number in range(1, passes + 1):
            self.walk(self.root, (1.0, 1.0), 1.0, number)

    def average(self, node: Node) -> list[float]:
        total = self.total[node.situation]
        whole = sum(total)
        return [t / whole for t in total] if whole else [1 / len(total)] * len(total)

    def best(self, seat: int) -> float:
        """Return how often a seat wins with the best answer to the other's average mix."""
        nodes: dict[Any, list[tuple[Node, float]]] = {}

        def spread(node: Node, share: float) -> None:
            if node.actor == -2:
                return
            if node.actor == seat:
                nodes.setdefault(node.situation, []).append((node, share))
            shares = (
                [1.0] * len(node.children) if node.actor == seat else [1 / len(node.children)] * len(node.children)
            )
            if node.actor == 1 - seat:
                shares = self.average(node)
            for p, child in zip(shares, node.children, strict=True):
                spread(child, share * p)

        answers: dict[Any, int] = {}

        def answer(situation: Any) -> int:
            if situation not in answers:
                sums = [0.0] * len(nodes[situation][0][0].children)
                for node, share in nodes[situation]:
                    for i, child in enumerate(node.children):
                        sums[i] += share * value(child)
                answers[situation] = sums.index(max(sums))
            return answers[situation]

        def value(node: Node) -> float:
            if node.actor == -2:
                return float(node.winner == seat)
            if node.actor == seat:
                return value(node.children[answer(node.situation)])
            n = len(node.children)
            shares = [1 / n] * n if node.actor == CHANCE else self.average(node)
            return sum(p * value(child) for p, child in zip(shares, node.children, strict=True))

        spread(self.root, 1.0)
        return value(self.root)


# Games


def level(name: str) -> Any:
    return importlib.import_module(f"piste.games.mccoy_duel.bots.{name}")


def show(capsys: pytest.CaptureFixture[str], line: str) -> None:
    """Print what was measured; with PISTE_FOUND, into that file: processes side by side print nothing."""
    if path := os.environ.get("PISTE_FOUND"):
        with Path(path).open("a", encoding="utf-8") as file:
            file.write(f"{line}\n")
    if "PISTE_GAMES" in os.environ:
        with capsys.disabled():
            print(f"\n{line}")
    else:
        print(line)


def pace(spent: list[float]) -> str:
    """Say how long decisions took."""
    ms = sorted(1000 * x for x in spent)
    late = ms[math.ceil(0.99 * len(ms)) - 1]
    return f"CPU ms of {len(ms)} decisions: mean {sum(ms) / len(ms):.1f}, 99 % within {late:.0f}, worst {ms[-1]:.0f}"


def wilson(hits: int, of: int, z: float = 1.96) -> tuple[float, float]:
    """Return the 95 % interval of a share."""
    share = hits / of
    middle, spread = share + z * z / (2 * of), z * math.sqrt(share * (1 - share) / of + (z / of) ** 2 / 4)
    return (middle - spread) / (1 + z * z / of), (middle + spread) / (1 + z * z / of)


def views(kind: Kind, seed: object, every: int = 1) -> list[SeatView]:
    """Return what the seats saw at decisions of a random game."""
    table = piste.open_table(kind.game, kind.options, seed=f"{kind} {seed}")
    chooser = random.Random(f"{kind} {seed}")
    views_seen = []
    while (actor := table.to_act) is not None:
        view = table.view(actor)
        views_seen.append(view)
        table.decide(actor, chooser.choice(view.actions), table.number)
    return views_seen[::every]


def duel(
    specs: list[str], seed: str, options: dict[str, int | str], spent: dict[str, list[float]] | None = None
) -> int:
    """Return who wins a match between these levels; note the CPU time of each decision if asked to."""
    table = piste.open_table("mccoy-duel", options, seed=seed)
    dealer = Dealer(seed)
    seated = [bots.find("random", GAME) if name == "random" else level(name) for name in specs]
    while (seat := table.to_act) is not None:
        view = table.view(seat)
        begun = time.process_time()
        action = seated[seat].choose(view, dealer.stream(bots.stream_name(view)))
        if spent is not None:
            spent.setdefault(specs[seat], []).append(time.process_time() - begun)
        table.decide(seat, action, view.number)
    ending_ = table.ending()
    assert ending_ is not None
    assert ending_.winner is not None  # nothing is drawn
    return ending_.winner


def late_views(cards: int, number: int) -> list[SeatView]:
    """Return the first turns, in games between steady bots, with so many cards in both hands or fewer."""
    views_seen: list[SeatView] = []
    steady = level("steady")
    for seed in range(10 * number):
        table, dealer = piste.open_table("mccoy-duel", {"rounds": 1}, seed=f"late {seed}"), Dealer(f"late {seed}")
        while (seat := table.to_act) is not None and len(views_seen) < number:
            view = table.view(seat)
            if view.kind == rules.PLAY and sum(view.position.sizes) <= cards:
                views_seen.append(view)
                break
            table.decide(seat, steady.choose(view, dealer.stream(bots.stream_name(view))), view.number)
    return views_seen


def retold(view: SeatView) -> SeatView:
    """Return what the same seat sees in another game of one round that it cannot tell from this one."""
    s = rules.start(view.options)
    chance: list[int] = []
    decided: list[int] = []
    for step in actions(retell(GAME, view, Dealer("retold").stream("any"))):
        (chance if rules.to_act(s) == CHANCE else decided).append(step)
        s = rules.apply(s, step)
    again = piste.open_table("mccoy-duel", {"rounds": 1, "first": 1}, outcomes=chance)
    for step in decided:
        assert again.to_act is not None
        again.decide(again.to_act, step, again.number)
    return again.view(view.seat)


WARM = """
import sys, piste
from piste import bots
from piste.core.dealer import Dealer
from piste.core.information_set import InformationSet
from piste.core.evaluation import quiet
from piste.games.mccoy_duel import rules
from piste.games.mccoy_duel.bots import perfect
from piste.games.mccoy_duel.solver import infosets, solver

def forms():
    return {name: len(f.signatures) for name, f in vars(infosets.kernels()).items() if getattr(f, "signatures", None)}

players = int(sys.argv[1])
table = piste.open_table("mccoy-duel", {"players": players, "rounds": 1}, seed="warm")
solver.prepare(table.view(0).options, quiet)
before, dealer, random = forms(), Dealer("warm"), bots.find("random", table.game)
assert before
first = True
while (seat := table.to_act) is not None:
    view = table.view(seat)
    bot = random if seat else perfect
    table.decide(seat, bot.choose(view, dealer.stream(bots.stream_name(view))), view.number)
    if first and seat == 0 and len(view.actions) > 1 and view.kind != rules.PICK:
        assert forms() == before, (before, forms())
        first = False
    if seat == 0 and players == 2 and sum(view.position.sizes) <= 6:
        solver.evaluate(InformationSet.of(table.game, view))
assert not first
assert set(forms().values()) == {1}, forms()
"""
