"""Deal and play plainly: what each step told the player who is asked, then the names of the decisions."""

from __future__ import annotations

from piste.api import open_table
from piste.core.belief import token
from piste.core.errors import PisteError
from piste.core.game import find, names
from piste.core.table import Table


def choose() -> str:
    for number, name in enumerate(names(), 1):
        print(f"{number}  {find(name).notation.TITLE}: {find(name).notation.LINE}")
    while True:
        answer = input("Which game? ").strip()
        if answer.isascii() and answer.isdigit() and 1 <= int(answer) <= len(names()):
            return names()[int(answer) - 1]
        try:
            return find(answer).name
        except PisteError as e:
            print(e)


def play(name: str) -> None:
    table = open_table(name)
    if table.game.notation.CREDIT:
        print(table.game.notation.CREDIT)
    told = dict.fromkeys(range(table.seats), 0)
    while (seat := table.to_act) is not None:
        print(f"\n--- Player {table.game.seat_name(seat)} ---")
        tell(table, seat, told)
        names = table.view(seat).decisions
        answer = input(f"{', '.join(names)}, or resign: ").strip()
        try:
            if answer.casefold() == "resign":
                table.resign(seat)
            else:
                table.decide(seat, answer)
        except PisteError as e:
            print(e)
    ending = table.ending()
    assert ending is not None
    print()
    tell(table, -1, {-1: max(0, len(table.history()) - 6)})
    winner = "A draw" if ending.winner is None else f"Player {table.game.seat_name(ending.winner)} wins"
    print(f"{winner}: {ending.reason}.")
    print(table.position_text())


def tell(table: Table, seat: int, told: dict[int, int]) -> None:
    """Print what a seat was told since the last time."""
    view = table.view(seat)
    print(" ".join(token(table.game, view.options, entry.event) for entry in view.log[told[seat] :]))
    told[seat] = len(view.log)
