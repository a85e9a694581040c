"""How a game ended, in the words of the server: who won, by what score, and why."""

from __future__ import annotations

import json

from piste.core.game import Game, find
from piste.core.views import Ending, SeatView
from piste.web.storage.schema import Listing

RESIGNED = "resigned"  # as every game calls it


def final_score(game: Game, view: SeatView) -> tuple[int, ...]:
    """Return the score of each seat at the end, as its game gives it; () where there is none to speak of."""
    if game.log is None or view.ending is None or view.ending.reason == RESIGNED:
        return ()
    return game.log.final_score(view) or ()


def headline(ending: Ending, names: tuple[str, ...], seat: int, score: tuple[int, ...] = ()) -> str:
    """Return who won, to one audience, with the score: the winner's first, the others' from the highest on."""
    if ending.winner is None:
        who, order = "A draw", sorted(score, reverse=True)
    else:
        who = "You win" if ending.winner == seat else f"{names[ending.winner]} wins"
        others = (points for i, points in enumerate(score) if i != ending.winner)
        order = [*score[ending.winner : ending.winner + 1], *sorted(others, reverse=True)]
    between = "–" if min(order, default=0) >= 0 else " to "
    numbers = between.join(str(points).replace("-", "−") for points in order)
    return f"{who} {numbers}".rstrip()


def reason(ending: Ending, names: tuple[str, ...], seat: int) -> str:
    """Return why, in a few words."""
    if ending.reason != RESIGNED or ending.winner is None:
        return ending.reason
    loser, *more = (i for i in range(len(names)) if i != ending.winner)
    others = "the others" if more else "you" if loser == seat else names[loser]
    return f"{others} resigned"


def result(ending: Ending, names: tuple[str, ...], seat: int, score: tuple[int, ...] = ()) -> str:
    """Return how the game ended, and why, in one sentence."""
    return f"{headline(ending, names, seat, score)}: {reason(ending, names, seat)}."


def result_text(stored: Listing) -> str:
    """Return the result of a game in a list, from the view of the player who asked."""
    game, line = find(stored.room.game), json.loads(stored.last or "{}")
    winner = next((s for s in stored.seats if game.seat_name(s.seat) == line.get("winner")), None)
    if winner is None:
        who = "Draw"
    elif winner.seat in stored.yours:
        who = "You won"
    else:
        who = f"{winner.name or f'Player {game.seat_name(winner.seat)}'} won"
    if line.get("ending") == RESIGNED:
        return f"{who} by resignation"
    return f"{who}: {line['ending']}" if "ending" in line else "Over"
