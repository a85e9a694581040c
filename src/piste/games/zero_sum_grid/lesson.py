"""A first game of Zero-Sum Grid that teaches: five moves from zero, and the last of them can be the learner's."""

from __future__ import annotations

from piste.core.lesson import Lesson, Picture
from piste.core.scene import GRID, Area, number_cards
from piste.core.views import SeatView
from piste.games.zero_sum_grid.bots.steady import distance
from piste.games.zero_sum_grid.rules import DONE, MOVE, TURN_LIMIT, View


def moves_left(view: SeatView) -> int:
    """Return the least number of moves to zero, where this seat is to move; else 0."""
    p: View = view.position
    return distance(p.cells) if p.phase == MOVE and p.seat == view.seat else 0


def start(view: SeatView) -> str:
    if not moves_left(view):
        return ""
    return (
        "Choose + or − at a row or a column: its three numbers all change by 1. "
        "Whoever makes all nine numbers 0 wins. Bring them nearer to 0."
    )


def last_move(view: SeatView) -> str:
    if moves_left(view) != 1:
        return ""
    return (
        "Your opponent left one move to 0, so you win: find the line that is not 0 yet. "
        "Never leave one move yourself."
    )


def three_left(view: SeatView) -> str:
    if moves_left(view) != 3:
        return ""
    return "You both move the same grid. Three moves are left to 0: yours, theirs and yours. So move nearer to 0."


def away(view: SeatView) -> str:
    if moves_left(view) < 5:
        return ""
    return "You may also move away from 0: that is how to keep the other player from making the last move."


def result(view: SeatView) -> str:
    p: View = view.position
    if p.phase != DONE:
        return ""
    if p.reason == TURN_LIMIT:
        return "The turns are used up, so it is a draw. Try again, and move nearer to 0 each time."
    return (
        "That is the whole game. Who leaves one move to 0 loses: with two left, move away from 0 instead. "
        "In a real game the numbers go from -5 to 5."
    )


def grid(label: str, *cells: int, note: str = "") -> Area:
    return Area(GRID, label, number_cards(map(str, cells)), note, columns=3)


PICTURES = (
    Picture(
        "Your move",
        (grid("Before", 2, 1, 2, 1, 0, 1, 1, 0, 1), grid("After", 1, 0, 1, 1, 0, 1, 1, 0, 1, note="row 1, -1")),
        "Choose a row or a column, and add 1 to its three numbers or subtract 1 from them. You must move.",
    ),
    Picture(
        "You win",
        (grid("After your move", *[0] * 9),),
        "You both move the same nine numbers. Whoever makes all of them 0 wins. After 200 turns it is a draw.",
    ),
)

LESSON = Lesson(
    options={"first": "1", "turns": "16"},
    laid="1 2 3 / -1 0 1 / -2 -1 0",
    seed="first lesson 1",
    notes=(start, last_move, three_left, away, result),
    suggested=("R1-", "R3+", "C3-"),
)
