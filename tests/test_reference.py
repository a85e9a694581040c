"""The product against the second set of rules in `tests/reference`, step by step through random games.

At every step both must agree on who acts, on the exact decisions or outcomes with their probabilities, and on
where every card and number is. PISTE_GAMES sets how many games of each kind are played.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from copy import deepcopy
from fractions import Fraction
from random import Random

import pytest

import piste
from tests.reference import Expected, Given, Referee
from tests.reference.duel import POWERS, Duel
from tests.reference.numbers import (
    Grid,
    PositiveNegative,
    PrimeDuel,
    ZeroSumDuel,
    ZeroSumGrid,
    grids_that_can_be_zeroed,
)

GAMES = int(os.environ.get("PISTE_GAMES", "0"))
LONGEST = 2000
"""Steps after which a game without a limit is left unfinished."""

ABILITIES = ("kill", "take", "copy", "target", "give")

RESIGNING = [(0.0, 0.0), (0.0, 0.0), (0.01, 0.01), (0.1, 0.1), (0.02, 0.2), (0.0, 0.3)]
"""How likely somebody resigns, at most questions and in the middle of one of Duel's abilities."""

Facts = dict[str, object]
Start = tuple[piste.Position, Referee]


# What both sides say of a position, in one form


def words(text: str) -> list[str]:
    return [] if text == "-" else text.split(",")


def sorted_numbers(text: str) -> list[int]:
    return sorted(int(word) for word in words(text))


def two_player_facts(position: piste.Position, fields: Mapping[str, str]) -> Facts:
    """Return the facts of the four games of numbers, in the reference's own terms."""
    name = position.game.name
    labels = position.game.notation.SEATS
    facts: Facts = {"stage": fields["phase"]}
    if name == "zero-sum-grid" and fields["phase"] == "deal":
        return {**facts, "dealt": [int(word) for word in words(fields["dealt"])]}
    if fields["phase"] != "toss":
        facts["seat"] = labels.index(fields["to"])
    if name == "zero-sum-duel":
        facts["hands"] = [sorted_numbers(fields[label]) for label in labels]
        facts["pile"] = sorted_numbers(fields["pile"])
    elif name == "positive-negative":
        facts["kept"] = [sorted_numbers(fields[label]) for label in labels]
        facts["pile"] = sorted_numbers(fields["pile"])
        facts["card"] = fields.get("card", "none")
    elif name == "zero-sum-grid":
        facts["cells"] = [int(cell) for cell in fields["cells"].replace("/", ",").split(",")]
        facts["points"] = [int(word) for word in words(fields.get("points", "0,0"))]
        facts["line"] = fields.get("moved", "-")
    else:
        facts["scores"] = [int(fields[label]) for label in labels]
        facts["deck"] = [int(word) for word in words(fields["deck"])]
        facts["card"] = fields.get("card", "none")
        facts["extra"] = fields.get("extra", "no") == "yes"
    if name != "positive-negative":
        facts["turns"] = int(fields["turns"])
    return facts


def reference_facts(referee: Referee) -> Facts:
    """Return the same facts as the reference has them."""
    facts: Facts = {"stage": referee.stage}
    if isinstance(referee, ZeroSumGrid) and referee.stage == "deal":
        return {**facts, "dealt": referee.dealt}
    assert isinstance(referee, ZeroSumDuel | PositiveNegative | ZeroSumGrid | PrimeDuel)
    if referee.stage != "toss":
        facts["seat"] = referee.seat
    if isinstance(referee, ZeroSumDuel):
        facts["hands"] = [sorted(hand) for hand in referee.hands]
        facts["pile"] = sorted(referee.pile)
    elif isinstance(referee, PositiveNegative):
        facts["kept"] = [sorted(cards) for cards in referee.kept]
        facts["pile"] = sorted(referee.pile)
        facts["card"] = "none" if referee.card is None else str(referee.card)
    elif isinstance(referee, ZeroSumGrid):
        facts["cells"] = referee.cells
        facts["points"] = referee.points
        facts["line"] = referee.line or "-"
    else:
        facts["scores"] = referee.scores
        facts["deck"] = referee.deck_counts()
        facts["card"] = "none" if referee.card is None else str(referee.card)
        facts["extra"] = referee.extra
    if not isinstance(referee, PositiveNegative):
        facts["turns"] = referee.turns
    return facts


def duel_facts(fields: Mapping[str, str], players: int) -> Facts:
    seats = range(1, players + 1)
    phase = fields["phase"]
    ranks = {int(rank): seat for seat, rank in enumerate(words(fields["out"])) if rank != "0"}
    facts: Facts = {
        "stage": phase,
        "hands": [sorted(words(fields[str(seat)])) for seat in seats],
        "tower": sorted(words(fields["up"])),
        "top": fields["top"],
        "buried": sorted(words(fields["buried"])),
        "power": fields["power"],
        "demand": fields["demand"],
        "in round": fields["in"],
        "in match": fields["match"],
        "wins": [int(word) for word in words(fields["wins"])],
        "seat": fields["to"],
    }
    if phase != "over":
        facts["target"] = fields.get("target", "-")
        facts["ability"] = fields.get("ability", "-")
    if phase in ("reveal", "lot"):
        facts["shown"] = [sorted(words(part)) for part in fields["shown"].split("/")]
        facts["waiting"] = fields["waiting"]
    elif phase not in ("pick", "bury", "over"):
        # The order of losing decides who picks next: it matters from the first play on, for those in the match.
        order = [ranks[rank] for rank in sorted(ranks)]
        facts["lost"] = [seat for seat in order if str(seat + 1) in fields["match"]]
    return facts


def reference_duel_facts(duel: Duel) -> Facts:
    def seats(some: list[int]) -> str:
        return "".join(str(seat + 1) for seat in sorted(some)) or "-"

    def seat(one: int | None) -> str:
        return "-" if one is None else str(one + 1)

    facts: Facts = {
        "stage": duel.stage,
        "hands": [sorted(card.name() for card in hand) for hand in duel.hands],
        "tower": sorted(card.name() for card in duel.tower),
        "top": duel.tower[-1].name() if duel.tower else "-",
        "buried": sorted(card.name() for card in duel.buried),
        "power": "lead" if duel.power is None else POWERS[duel.power],
        "demand": "stance" if duel.stance else "trumped" if duel.trumped else "plain",
        "in round": seats(duel.in_round),
        "in match": seats(duel.in_match),
        "wins": duel.wins,
        "seat": seat(duel.seat),
    }
    if duel.stage != "over":
        facts["target"] = seat(duel.target)
        facts["ability"] = "-" if duel.ability is None else POWERS[duel.ability]
    if duel.stage in ("reveal", "lot"):
        facts["shown"] = [sorted(card.name() for card in cards) for cards in duel.shown]
        facts["waiting"] = seats(duel.waiting)
    elif duel.stage not in ("pick", "bury", "over"):
        facts["lost"] = [seat for seat in duel.lost if seat in duel.in_match]
    return facts


# Playing both in step


def product_expects(position: piste.Position) -> Expected:
    if position.to_act is None:
        return "over", set()
    if position.to_act == piste.CHANCE:
        return "chance", position.outcomes()
    return position.to_act, set(position.decisions())


def compare(position: piste.Position, referee: Referee) -> None:
    assert product_expects(position) == referee.expects()
    fields = position.game.notation.fields(position.state)
    if isinstance(referee, Duel):
        assert duel_facts(fields, referee.seats) == reference_duel_facts(referee)
    else:
        assert two_player_facts(position, fields) == reference_facts(referee)
    assert position.payoffs() == referee.payoffs()
    ending = position.ending()
    if ending is not None:
        assert (ending.winner, ending.reason) == (referee.winner, referee.reason)


def play(start: Start, random: Random, resigning: tuple[float, float]) -> tuple[piste.Position, list[str]]:
    """Play one random game on both sides; return its last position and its steps."""
    position, referee = start
    steps: list[str] = []
    try:
        compare(position, referee)
        while position.to_act is not None and len(steps) < LONGEST:
            likely = resigning[referee.stage in ABILITIES]
            if position.decisions() and random.random() < likely:
                seat = random.choice(referee.in_match if isinstance(referee, Duel) else [0, 1])
                steps.append(f"seat {seat} resigns")
                position = position.resign(seat)
                referee.resign(seat)
            else:
                name = choice(referee, random)
                steps.append(name)
                position = position.after(name)
                referee.do(name)
            compare(position, referee)
    except AssertionError as e:
        raise AssertionError(f"{start[0]}\nafter: {', '.join(steps)}\nat: {position}\n{e}") from e
    return position, steps


def choice(referee: Referee, random: Random) -> str:
    _, names = referee.expects()
    listed = sorted(names)
    # Random moves hardly ever zero a grid: take a winning one now and then.
    if isinstance(referee, ZeroSumGrid) and referee.stage == "move" and random.random() < 0.8:
        for name in listed:
            trial = deepcopy(referee)
            trial.do(name)
            if trial.winner is not None:
                return name
    if isinstance(names, dict) and random.random() < 0.5:
        return random.choices(listed, [float(names[name]) for name in listed])[0]
    return random.choice(listed)


# The games, with ordinary and odd options


def limit(random: Random) -> int:
    return random.choice([0, 1, 2, 3, random.randrange(1, 40)])


def start_zero_sum_duel(random: Random, odd: bool) -> Start:
    options: Given = {}
    if odd:
        top = random.choice([3, 3, 4, 5, 6, 15])
        hand = random.randrange(2, top)
        options = {"top": top, "hand": hand, "turns": limit(random), "first": random.choice(["toss", "a", "b"])}
    return piste.Position.start("zero-sum-duel", options), ZeroSumDuel(options)


def start_positive_negative(random: Random, odd: bool) -> Start:
    options: Given = {"top": random.choice([1, 1, 2, 3, 4, 7, 30])} if odd else {}
    return piste.Position.start("positive-negative", options), PositiveNegative(options)


def start_zero_sum_grid(random: Random, odd: bool) -> Start:
    options: Given = {}
    if odd:
        options = {
            "top": random.choice([1, 2, 3, 5]),
            "turns": limit(random),
            "first": random.choice(["toss", "1", "2"]),
            "deal": random.choice(["winnable", "any"]),
        }
    if random.random() < 0.4:
        options["variant"] = "harvest"
        if options.get("turns") == 0:
            del options["turns"]
    order = tuple(getattr(piste.find("zero-sum-grid").rules, "STEPS"))  # noqa: B009 (no rule: which cell comes when)
    position = piste.Position.start("zero-sum-grid", options)
    if not odd or random.random() < 0.4:
        return position, ZeroSumGrid(options, order)
    laid = near_grid(random)
    if options.get("variant") == "harvest":
        top = int(options["top"])
        laid = tuple(max(-top, min(top, cell)) for cell in laid)  # type: ignore[assignment]
    referee = ZeroSumGrid(options, order, laid)
    rows = "/".join(",".join(str(cell) for cell in laid[row : row + 3]) for row in (0, 3, 6))
    head = str(position).split()[0]
    text = f"{head} cells={rows} to={referee.seat + 1} phase={referee.stage} turns=0"
    if referee.harvest:
        text += " points=0,0 moved=-"
    return piste.Position.parse(text), referee


def near_grid(random: Random) -> Grid:
    """Return a grid that a few moves could zero (R6 lets any grid be laid that is not zero already)."""
    cells = [0] * 9
    while not any(cells):
        for _ in range(random.choice([1, 2, 3])):
            line = random.choice([(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8)])
            step = random.choice([-1, 1])
            for cell in line:
                cells[cell] += step
    a, b, c, d, e, f, g, h, i = cells
    return (a, b, c, d, e, f, g, h, i)


def start_prime_duel(random: Random, odd: bool) -> Start:
    options: Given = {}
    if odd:
        options = {
            "top": random.choice([1, 2, 5, 10, 15]),
            "copies": random.choice([1, 2, 4, 15]),
            "target": random.choice([1, 2, 3, 7, 20, 50, 53, 97, 120]),
            "turns": limit(random),
            "first": random.choice(["toss", "1", "2"]),
        }
    return piste.Position.start("prime-duel", options), PrimeDuel(options)


def start_duel(random: Random, odd: bool, players: int) -> Start:
    options: Given = {} if players == 2 else {"players": players}
    if odd:
        seats = [str(seat + 1) for seat in range(players)]
        some = sorted(random.sample(POWERS, random.randrange(2, 10)), key=POWERS.index)
        options["powers"] = random.choice([POWERS, "".join(some), "".join(some[:2])])  # few cards: many ties
        options["rounds"] = random.choice([1, 3, 5, 7, 9])
        options["first"] = random.choice(["reveal", *seats])
        options["colours"] = random.choice(["abcd", "dcba", "bdac"])
    return piste.Position.start("mccoy-duel", options), Duel(options)


KINDS = {
    "zero-sum-duel": (200, start_zero_sum_duel),
    "positive-negative": (200, start_positive_negative),
    "zero-sum-grid": (80, start_zero_sum_grid),
    "prime-duel": (200, start_prime_duel),
    "duel-2": (250, lambda random, odd: start_duel(random, odd, 2)),
    "duel-3": (250, lambda random, odd: start_duel(random, odd, 3)),
    "duel-4": (200, lambda random, odd: start_duel(random, odd, 4)),
}


@pytest.mark.parametrize("kind", KINDS)
def test_random_games_agree_with_the_reference_at_every_step(kind: str) -> None:
    few, start = KINDS[kind]
    reasons: set[str] = set()
    for number in range(GAMES or few):
        random = Random(f"{kind} {number}")
        resigning = random.choice(RESIGNING)
        position, _ = play(start(random, number % 2 == 1), random, resigning)
        ending = position.ending()
        if ending is not None:
            reasons.add(ending.reason)
    # A comparison that never saw an end of some sort would prove less than it seems to.
    assert reasons == set(piste.find("mccoy-duel" if "duel-" in kind[:5] else kind).notation.REASONS.values())


def test_r1_the_reference_deals_as_many_grids_as_the_ruling_counts() -> None:
    assert round(Fraction(10**9, len(grids_that_can_be_zeroed(5)))) == 52681
    assert len(set(grids_that_can_be_zeroed(5))) == len(grids_that_can_be_zeroed(5))
