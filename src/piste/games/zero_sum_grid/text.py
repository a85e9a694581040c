"""Zero-Sum Grid: what a screen says. The sheet's own lines for the player, short ones for everybody else.

The sheet begins a turn with a question, so the heading and the grid before the move belong to the question, and
only the grid after it belongs to the event. A win is told with its event; every other end by `farewell`.
"""

from __future__ import annotations

import re
from functools import lru_cache

from piste.core.game import counted
from piste.core.presentation import Drawn, EventContext, Key, Mark, Prompt, Row, number_marks
from piste.core.views import Ending, LogEntry, SeatView
from piste.games.zero_sum_grid.notation import closed, name
from piste.games.zero_sum_grid.rules import (
    GRID_IS_ZERO,
    HARVEST,
    MOVE,
    RESIGNED,
    TOSS,
    Cells,
    Options,
    View,
    on,
    winnable,
)

OWN_VOICE = False
HAND_OVER = False

TIPS: tuple[str, ...] = (
    "Pick a row or a column and shift its three cells by 1.",
    "If your move makes all nine cells 0, you win at once.",
    "R2+ adds in row 2, C3- subtracts in column 3.",
)

HARVEST_TIPS: tuple[str, ...] = (TIPS[0], "You score the zeros in the line you moved.", TIPS[2])

HOPELESS = "This grid cannot be brought to zero: no move can win."

CURRENT, UPDATED = Drawn("Current Grid:"), Drawn("Updated Grid:")
LINE_TYPES = (("R", "Row", ("row",)), ("C", "Column", ("column", "col")))
OPERATIONS = (("A", "Add 1", ("+", "+1", "add")), ("S", "Subtract 1", ("-", "-1", "subtract")))


def tips(options: Options) -> tuple[str, ...]:
    return HARVEST_TIPS if options.variant == HARVEST else TIPS


def welcome(view: SeatView, _names: tuple[str, ...]) -> list[str]:
    """Return what is different in harvest (R5); the sheet begins with the first turn."""
    if view.options.variant != HARVEST:
        return []
    top, turns = view.options.top, view.options.turns
    return [
        "This is harvest: a move scores the zeros in the line it moved.",
        f"Cells stay from -{top} to {top}. Nine zeros do not end the game.",
        "The line just moved by the other player may not be moved.",
        f"After {counted(turns, 'turn')} the higher score wins; level goes to the second player.",
        "",
    ]


def lines(context: EventContext) -> list[str]:
    kind = context.event.kind
    if kind == TOSS:
        return [f"{context.who(context.event.seat)} will go first.", ""]
    return tell_move(context) if kind == MOVE else []  # the deal is seen in the first grid, a resignation at the end


def tell_move(context: EventContext) -> list[str]:
    first = moves(context.log) == 1
    after: View = context.after
    who = context.who(context.event.seat)
    text = []
    if context.own:
        text += ["", UPDATED]
    else:
        # Nobody was asked here, so nobody has seen the grid that was dealt.
        text += [CURRENT, *grid(context.before.cells), ""] if first else [""]
        text += [f"{who} {deed(context.event.what)}", UPDATED]
    text += grid(after.cells)
    if after.options.variant == HARVEST:
        zeros = on(after.cells, after.line).count(0)
        text += ["", f"{line_name(after.line)} has {counted(zeros, 'zero')}. {score(after, context.names)}"]
    elif first and not winnable(after.cells):
        text += ["", HOPELESS]  # R6: between two turns
    if after.reason == GRID_IS_ZERO:
        text += ["", f"{who} wins!"]
    return text


def score(position: View, names: tuple[str, ...]) -> str:
    """Return the points of harvest in one sentence."""
    return f"Score: {names[0]} {position.points[0]}, {names[1]} {position.points[1]}."


def moves(log: tuple[LogEntry, ...]) -> int:
    return sum(entry.event.kind == MOVE for entry in log)


def deed(action: int) -> str:
    line = line_name(action >> 1)
    return f"subtracts 1 from {line}." if action & 1 else f"adds 1 to {line}."


def line_name(line: int) -> str:
    return f"{LINE_TYPES[line // 3][1]} {line % 3 + 1}"


def grid(cells: Cells) -> list[str]:
    """Return the grid as the sheet draws it; a cell with more than two characters widens every column."""
    width = max(2, *(len(str(cell)) for cell in cells))
    texts = [str(cell) for cell in cells]

    def row(head: str, three: list[str]) -> Drawn:
        return Drawn(f"{head} |{three[0]:>{width + 1}}{three[1]:>{width + 2}}{three[2]:>{width + 2}}")

    rows = [row(f"   {r + 1}   ", texts[3 * r : 3 * r + 3]) for r in range(3)]
    return [row("Row\\Col", ["1", "2", "3"]), Drawn("-" * (17 + 3 * width)), *rows]


def prompt(view: SeatView, _names: tuple[str, ...]) -> Prompt:
    keys = tuple(
        Key(key, label, ask_line(at, view.actions), also)
        for at, (key, label, also) in enumerate(LINE_TYPES)
        if any(action // 6 == at for action in view.actions)
    )
    return Prompt("Select a line type", keys, listed=True)


def ask(view: SeatView, names: tuple[str, ...]) -> Prompt:
    position: View = view.position
    now = state_of_play(position, names) if position.options.variant == HARVEST else []
    heading = [f"{names[position.seat]}'s turn.", CURRENT, *grid(position.cells), "", *now]
    if moves(view.log):
        heading.insert(0, "")
    brief = "\n".join(["", *grid(position.cells), *now, f"{names[position.seat]} (R1+ to C3-): "])
    return prompt(view, names)._replace(above=tuple(heading), brief=brief)


def state_of_play(position: View, names: tuple[str, ...]) -> list[str]:
    """Return what counts in harvest besides the grid: the turn, the score, and the moves that are not open (R5)."""
    turn = f"Turn {position.turns + 1} of {position.options.turns}."
    return [f"{turn} {score(position, names)}", *closed_moves(position), ""]


def closed_moves(position: View) -> list[str]:
    """Return sentences on the moves that are not open in harvest (R5)."""
    text = []
    if position.line >= 0:
        text.append(f"{line_name(position.line)} was just moved: not this turn.")
    beyond = [move for move in range(12) if move >> 1 != position.line and closed(position, move)]
    if beyond:
        moves = ", ".join(name(position.options, MOVE, move) for move in beyond)
        text.append(f"Would leave -{position.options.top} to {position.options.top}: {moves}.")
    return text


@lru_cache(maxsize=256)  # most moves are open most of the time
def ask_line(line_type: int, actions: tuple[int, ...]) -> Prompt:
    letter, _, also = LINE_TYPES[line_type]
    keys = []
    for line in sorted({action >> 1 for action in actions if action // 6 == line_type}):
        number = str(line % 3 + 1)
        spellings = tuple(f"{word}{number}" for word in (letter, *also))
        keys.append(Key(number, line_name(line), ask_operation(line, actions), spellings))
    numbers = "1-3" if len(keys) == 3 else "/".join(key.key for key in keys)
    return Prompt("Enter the line number", tuple(keys), f" ({numbers}): ", above=("",))


def ask_operation(line: int, actions: tuple[int, ...]) -> Prompt:
    keys = tuple(
        Key(key, label, 2 * line + at, (*also, label))
        for at, (key, label, also) in enumerate(OPERATIONS)
        if 2 * line + at in actions
    )
    return Prompt("Choose an operation", keys, above=("",), listed=True)


def picture(view: SeatView, names: tuple[str, ...]) -> list[Row]:
    position: View = view.position
    rows = [Row("Column", ("1", "2", "3"))]
    for r in range(3):
        rows.append(Row(line_name(r), tuple(str(cell) for cell in position.cells[3 * r : 3 * r + 3])))
    if view.ending is None:
        limit = f" of {position.options.turns}" if position.options.turns else ""
        rows.append(Row("Turn", (names[position.seat],), f"turn {position.turns + 1}{limit}"))
    if position.options.variant == HARVEST:
        rows += [Row(names[seat], (counted(position.points[seat], "point"),)) for seat in (0, 1)]
        if position.line >= 0:
            rows.append(Row("Moved last", (line_name(position.line),)))
    return rows


def farewell(view: SeatView, names: tuple[str, ...], ending: Ending) -> list[str]:
    """Return the ends that no move told; nothing was hidden in this game."""
    position: View = view.position
    text = []
    harvest = position.options.variant == HARVEST
    if not harvest and not moves(view.log) and not winnable(position.cells):
        text += ["", HOPELESS]  # nobody stayed for the place where it is told
    if ending.winner is None:
        text += ["", "Draw by turn limit."]
    elif position.reason == RESIGNED:
        text += ["", f"{names[1 - ending.winner]} resigned. {names[ending.winner]} wins!"]
    elif harvest:
        text += ["", "No move is open."] if position.turns < position.options.turns else [""]
        winner, high, low = names[ending.winner], max(position.points), min(position.points)
        level = f"The score is level, which goes to the second player. {winner} wins!"
        text.append(level if high == low else f"{winner} wins, {high} to {low}!")
    return text


def marks(line: str, _names: tuple[str, ...], _options: Options, _seat: int) -> list[Mark]:
    """Return the cells of a row of the grid, as the sheet draws it or as a labelled row."""
    head = re.match(r"   \d    \||Row \d:(?= -?\d)", line)
    if head is None:
        return []
    return [mark for mark in number_marks(r"-?\d+", line) if mark.start >= head.end()]
