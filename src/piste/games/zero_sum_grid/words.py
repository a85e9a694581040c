"""Zero-Sum Grid: what a screen says. The sheet's own lines for the player, short ones for everybody else.

The sheet begins a turn with a question, so the heading and the grid before the move belong to the question, and
only the grid after it belongs to the event. A win is told with its event; every other end by `farewell`.
"""

from __future__ import annotations

from piste.core.screen import Key, Moment, Prompt, Row
from piste.core.views import Ending, SeatView, Told
from piste.games.zero_sum_grid.rules import GRID_IS_ZERO, MOVE, RESIGNED, TOSS, Cells, View, winnable

OWN_VOICE = False
HAND_OVER = False

TIPS: tuple[str, ...] = (
    "Pick a row or a column and shift its three cells by 1.",
    "If your move makes all nine cells 0, you win at once.",
    "R2+ adds in row 2, C3- subtracts in column 3.",
)

HOPELESS = "This grid cannot be brought to zero: no move can win."

LINE_TYPES = (("R", "Row", ("row",)), ("C", "Column", ("column", "col")))
OPERATIONS = (("A", "Add 1", ("+", "+1", "add")), ("S", "Subtract 1", ("-", "-1", "subtract")))


def welcome(_view: SeatView, _names: tuple[str, ...]) -> list[str]:
    return []  # the sheet begins with the first turn


def lines(moment: Moment) -> list[str]:
    kind = moment.event.kind
    if kind == TOSS:
        return [f"{moment.who(moment.event.seat)} will go first.", ""]
    return told_move(moment) if kind == MOVE else []  # the deal is seen in the first grid, a resignation at the end


def told_move(moment: Moment) -> list[str]:
    first = moves(moment.log) == 1
    after: View = moment.after
    who = moment.who(moment.event.seat)
    found = []
    if moment.own:
        found += ["", "Updated Grid:"]
    else:
        # Nobody was asked here, so nobody has seen the grid that was dealt.
        found += ["Current Grid:", *grid(moment.before.cells), ""] if first else [""]
        found += [f"{who} {deed(moment.event.what)}", "Updated Grid:"]
    found += grid(after.cells)
    if first and not winnable(after.cells):
        found += ["", HOPELESS]  # R6: between two turns
    if after.reason == GRID_IS_ZERO:
        found += ["", f"{who} wins!"]
    return found


def moves(log: tuple[Told, ...]) -> int:
    return sum(told.event.kind == MOVE for told in log)


def deed(action: int) -> str:
    line = line_name(action >> 1)
    return f"subtracts 1 from {line}." if action & 1 else f"adds 1 to {line}."


def line_name(line: int) -> str:
    return f"{LINE_TYPES[line // 3][1]} {line % 3 + 1}"


def grid(cells: Cells) -> list[str]:
    """Return the grid as the sheet draws it; a cell with more than two characters widens every column."""
    width = max(2, *(len(str(cell)) for cell in cells))
    texts = [str(cell) for cell in cells]

    def row(head: str, three: list[str]) -> str:
        return f"{head} |{three[0]:>{width + 1}}{three[1]:>{width + 2}}{three[2]:>{width + 2}}"

    rows = [row(f"   {r + 1}   ", texts[3 * r : 3 * r + 3]) for r in range(3)]
    return [row("Row\\Col", ["1", "2", "3"]), "-" * (17 + 3 * width), *rows]


def ask(view: SeatView, names: tuple[str, ...]) -> Prompt:
    position: View = view.position
    heading = [f"{names[position.seat]}'s turn.", "Current Grid:", *grid(position.cells), ""]
    if moves(view.log):
        heading.insert(0, "")
    choices = [f"[{key}] {label}" for key, label, _ in LINE_TYPES]
    text = "\n".join([*heading, "Select a line type:", *choices, "Enter choice (R/C): "])
    kinds = enumerate(LINE_TYPES)
    brief = "\n".join(["", *grid(position.cells), f"{names[position.seat]} (R1+ to C3-): "])
    return Prompt(text, tuple(Key(key, label, ask_line(at), also) for at, (key, label, also) in kinds), brief)


def ask_line(line_type: int) -> Prompt:
    letter, _, also = LINE_TYPES[line_type]
    keys = []
    for line in range(3 * line_type, 3 * line_type + 3):
        number = str(line % 3 + 1)
        spellings = tuple(f"{word}{number}" for word in (letter, *also))
        keys.append(Key(number, line_name(line), ask_operation(line), spellings))
    return Prompt("\nEnter the line number (1-3): ", tuple(keys))


def ask_operation(line: int) -> Prompt:
    choices = [f"[{key}] {label}" for key, label, _ in OPERATIONS]
    text = "\n".join(["", "Choose an operation:", *choices, "Enter choice (A/S): "])
    keys = enumerate(OPERATIONS)
    return Prompt(text, tuple(Key(key, label, 2 * line + at, (*also, label)) for at, (key, label, also) in keys))


def picture(view: SeatView, names: tuple[str, ...]) -> list[Row]:
    position: View = view.position
    rows = [Row("Column", ("1", "2", "3"))]
    for r in range(3):
        rows.append(Row(line_name(r), tuple(str(cell) for cell in position.cells[3 * r : 3 * r + 3])))
    if view.ending is None:
        limit = f" of {position.options.turns}" if position.options.turns else ""
        rows.append(Row("Turn", (names[position.seat],), f"turn {position.turns + 1}{limit}"))
    return rows


def farewell(view: SeatView, names: tuple[str, ...], ending: Ending) -> list[str]:
    """Return the ends that no move told; nothing was hidden in this game."""
    position: View = view.position
    found = []
    if not moves(view.log) and not winnable(position.cells):
        found += ["", HOPELESS]  # nobody stayed for the place where it is told
    if ending.winner is None:
        found += ["", "Draw by turn limit."]
    elif position.reason == RESIGNED:
        found += ["", f"{names[1 - ending.winner]} resigned. {names[ending.winner]} wins!"]
    return found
