"""Zero-Sum Grid: how its options, decisions and positions are written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from piste.core.bits import signed_value
from piste.core.errors import DealError, PositionError
from piste.core.game import Deal, Option, tidy
from piste.core.position import Fields, broken_limit, ending_fields, number
from piste.core.protocols import HIDDEN
from piste.games.zero_sum_grid import rules
from piste.games.zero_sum_grid.rules import ANY, DEAL, DONE, HARVEST, MOVE, TOSS, Cells, Options, State, View

TITLE = "Zero-Sum Grid"
LINE = "Add or subtract 1 in a row or a column; who leaves nothing but zeros wins."
CREDIT = ""
SEATS = ("1", "2")
KINDS = ("deal", "toss", "move")
SHEET_REASONS = {rules.GRID_IS_ZERO: "grid is zero", rules.TURN_LIMIT: "turn limit", rules.RESIGNED: "resigned"}
HARVEST_REASONS = {rules.HIGHER_SCORE: "higher score", rules.LEVEL_SCORE: "level score", rules.RESIGNED: "resigned"}
REASONS = SHEET_REASONS | HARVEST_REASONS
LAID = "grid"
OPTIONS = (
    Option(
        "first", "who takes the first turn", 0, 2, {"toss": 0, "1": 1, "2": 2},
        label="First turn", words={0: "coin toss", 1: "Player 1", 2: "Player 2"},
    ),
    Option(
        "turns", "turn limit for both together, 0 for none", 0, 1_000_000, words={0: "none"},
        label="Turn limit", note="for both together, 0 for none",
    ),
    Option(
        "top", "cells are dealt from -top to top, without 0", 1, 15,
        label="Highest number", note="the lowest is its negative",
    ),
    Option(
        "deal", "which grids are dealt: those that can be zeroed, or any", 0, 1, {"winnable": 0, "any": 1},
        label="Grids", words={0: "those that can be zeroed", 1: "any"},
    ),
    Option(
        "variant", "the sheet's game, or harvest, for points", 0, 1, {"sheet": 0, "harvest": 1}, later=True,
        label="Game", words={0: "first to zero the grid", 1: "harvest, for points"},
    ),
)  # fmt: skip
LINES = ("R1", "R2", "R3", "C1", "C2", "C3")
MOST_TURNS = 64
"""Harvest has no more turns than this: so points and what they decide stay small enough for the solver."""

LARGEST_LAID = 10**15
LARGEST = 4 * 10**18
"""Compiled numbers have 62 bits: a grid laid by hand stays so far below that no game could reach the end (R8)."""


def line(options: Options) -> str:
    return "Add or subtract 1 in a row or a column and score its zeros." if options.variant == HARVEST else LINE


def check(options: Options) -> str:
    if options.variant == HARVEST and not 1 <= options.turns <= MOST_TURNS:
        usual = f"{rules.HARVEST_TURNS} if nothing is said"
        return f"With variant=harvest there are 1 to {MOST_TURNS} turns, {usual}: turns cannot be {options.turns}."
    return ""


def name(options: Options, kind: int, action: int) -> str:
    if kind == TOSS:
        return SEATS[action]
    if kind == DEAL:
        return str(signed_value(options.top, action))
    return f"{LINES[action >> 1]}{'+-'[action & 1]}"


def decisions(view: View, kind: int) -> Iterable[int]:
    return range(12)


def spellings(action: int) -> tuple[str, ...]:
    short = name(Options(), MOVE, action)
    line, sign = short[:2], short[2]
    long = f"{'row' if line[0] == 'R' else 'column'}{line[1]}"
    words = ("+", "+1", "a", "add", "add1") if sign == "+" else ("-", "-1", "s", "subtract", "subtract1")
    return tuple(f"{start}{word}" for start in (line, long) for word in words)


SPELLINGS = tuple(spellings(action) for action in range(12))


def spell(view: View, action: int) -> tuple[str, ...]:
    return SPELLINGS[action]


def why_not(view: View, action: int) -> str:
    return f"You cannot play {name(view.options, MOVE, action)} now{closed(view, action)}."


def closed(view: View, action: int) -> str:
    """Return why a move of harvest is not open (R5), or "" if it is."""
    if view.options.variant != HARVEST:
        return ""
    if action >> 1 == view.line:
        return f": {LINES[view.line]} was just moved by the other player"
    low, high = min(rules.on(view.cells, action >> 1)), max(rules.on(view.cells, action >> 1))
    top = view.options.top
    return f": a cell would leave -{top} to {top}" if (low == -top if action & 1 else high == top) else ""


def lay(options: Options, text: str) -> Deal:
    """Read nine cells; signs, commas, slashes and line breaks between them are all the same (R6)."""
    words = text.replace(",", " ").replace("/", " ").split()
    try:
        cells = read_cells([tidy(word) for word in words], largest(options, LARGEST_LAID))
    except PositionError as e:
        raise DealError(f"This grid cannot be laid: {e}") from None
    if not any(cells) and options.variant != HARVEST:
        raise DealError("This grid cannot be laid: it is all zeros already, and nobody could make the last move.")
    phase = TOSS if options.first == 0 else MOVE
    seat = max(options.first - 1, 0)
    s = State(options, phase, seat, cells, 9, 0, HIDDEN, 0)
    return Deal(rules.settled(s) if options.variant == HARVEST else s, frozenset(), ())


def largest(options: Options, most: int) -> int:
    """Return how large a cell may be: in harvest it stays in the range of the deal."""
    return options.top if options.variant == HARVEST else most


def read_cells(words: list[str], largest: int) -> Cells:
    if len(words) != 9:
        raise PositionError(f"A grid has nine cells, not {len(words)}.")
    v = [number(f"cell {i}", word.removeprefix("+"), -largest, largest) for i, word in enumerate(words, 1)]
    return (v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], v[8])


def cells_text(cells: Cells) -> str:
    return "/".join(",".join(str(cell) for cell in cells[row : row + 3]) for row in (0, 3, 6))


def fields(s: State) -> Mapping[str, str]:
    if s.phase == DEAL:
        steps = tuple(range(9)) if s.options.deal == ANY else rules.STEPS
        dealt = ",".join(str(s.cells[cell]) for cell in steps[: s.dealt]) or "-"
        return {"phase": "deal", "dealt": dealt}
    fields = {
        "cells": cells_text(s.cells),
        "to": SEATS[s.seat],
        "phase": (*KINDS, "over")[s.phase],
        "turns": str(s.turns),
    }
    if s.options.variant == HARVEST:
        fields["points"] = f"{s.points[0]},{s.points[1]}"
        fields["moved"] = "-" if s.line == HIDDEN else LINES[s.line]
    return fields | (ending_fields(s, SEATS, REASONS) if s.phase == DONE else {})


def build(options: Options, fields: Mapping[str, str]) -> State:
    f = Fields(fields)
    phase = f.choice("phase", (*KINDS, "over"))
    if phase == DEAL:
        return build_deal(options, f)
    cells = read_cells(f.text("cells").replace("/", ",").split(","), largest(options, LARGEST))
    seat = f.choice("to", SEATS)
    turns = f.number("turns", 0, options.turns or 10**9)
    harvest = options.variant == HARVEST
    points, line = build_points(f) if harvest else ((0, 0), HIDDEN)
    reasons = HARVEST_REASONS if harvest else SHEET_REASONS
    winner, reason = f.ending(SEATS, reasons) if phase == DONE else (HIDDEN, 0)
    f.end()
    s = State(options, phase, seat, cells, 9, turns, winner, reason, points, line)
    if complaint := broken(s):
        raise PositionError(complaint)
    return s


def build_points(f: Fields) -> tuple[rules.Points, int]:
    """Read what only harvest has: the points, and the line that was moved last."""
    words = f.text("points").split(",")
    if len(words) != 2:
        raise PositionError("The field 'points' has two numbers: Player 1's and Player 2's.")
    one, two = (number("field 'points'", word, 0, 3 * MOST_TURNS) for word in words)
    line = f.choice("moved", (*LINES, "-"))
    return (one, two), HIDDEN if line == len(LINES) else line


def build_deal(options: Options, f: Fields) -> State:
    s = rules.start(options)
    for word in f.words("dealt"):
        if s.phase != DEAL:
            raise PositionError("The deal has fewer cells than that.")
        cell = number("cell", word, -options.top, options.top)
        outcome = cell + options.top - (cell > 0)
        if cell == 0 or rules.weight(s, outcome) == 0:
            raise PositionError(f"The cell {cell} cannot be dealt here.")
        s = rules.apply(s, outcome)
    f.end()
    if s.phase != DEAL:
        raise PositionError("The deal is complete: write the position after it.")
    return s


def broken(s: State) -> str:
    """Return which rule a position breaks, or ""; at the end `to` is who moved last, in harvest who would move."""
    harvest = s.options.variant == HARVEST
    ended_by_a_turn = s.phase == DONE and s.reason != rules.RESIGNED
    starter = s.seat ^ (s.turns & 1) ^ int(ended_by_a_turn and not harvest)
    if s.phase == TOSS and (s.turns or s.options.first or s.seat):
        return "A toss comes before the first turn, where first=toss; write to=1."
    if s.phase != TOSS and s.options.first and starter != s.options.first - 1:
        return f"With first={s.options.first} it cannot be Player {SEATS[s.seat]} after {s.turns} turns."
    return broken_harvest(s, starter) if harvest else broken_sheet(s)


def broken_sheet(s: State) -> str:
    zero = not any(s.cells)
    if zero and not (s.phase == DONE and s.reason == rules.GRID_IS_ZERO):
        return "The grid is all zeros: the game is over."
    if s.phase == DONE and s.reason == rules.GRID_IS_ZERO:
        return "" if zero and s.winner == s.seat and s.turns else "The grid is not zero, or another one won."
    return broken_limit(s, s.phase == DONE, s.reason == rules.TURN_LIMIT)


def broken_harvest(s: State, starter: int) -> str:
    if (s.line == HIDDEN) != (s.turns == 0):
        return "The field 'moved' names the line of the last turn, and is - before the first one."
    for seat in (0, 1):
        most = 3 * ((s.turns + (seat == starter)) // 2)
        if s.points[seat] > most:
            return f"Player {SEATS[seat]} cannot have more than {most} points after {s.turns} turns."
    if s.phase == TOSS:
        return ""
    over = rules.settled(s._replace(phase=MOVE, winner=HIDDEN, reason=0))
    if s.phase == DONE and s.reason != rules.RESIGNED:
        return "" if s == over else "The game is not over yet, or the points say otherwise who won."
    if over.phase == DONE:
        return "No turn or no move is left: the game is over."
    return "Who resigns loses: there must be a winner." if s.phase == DONE and s.winner == HIDDEN else ""
