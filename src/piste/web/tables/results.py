"""How a game ended, in the words of the server: who won, by what score, and why."""

from __future__ import annotations

import json
from collections.abc import Sequence

from piste.core.game import Game, find
from piste.core.record import Record
from piste.core.replay import replay
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
        who = "A draw"
    else:
        who = "You win" if ending.winner == seat else f"{names[ending.winner]} wins"
    return f"{who} {score_text(score, ending.winner)}".rstrip()


def score_text(score: tuple[int, ...], winner: int | None) -> str:
    """Return a score, the winner's first, the others' from the highest on."""
    first = () if winner is None else score[winner : winner + 1]
    order = [*first, *sorted((points for i, points in enumerate(score) if i != winner), reverse=True)]
    between = "–" if min(order, default=0) >= 0 else " to "
    return between.join(str(points).replace("-", "−") for points in order)


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


def stored_score(lines: Sequence[str]) -> tuple[int, ...]:
    """Return the final score of a stored game; () where there is none to speak of."""
    table, _ = replay(Record.parse("".join(f"{line}\n" for line in lines)))
    return final_score(table.game, table.view())


def result_text(stored: Listing, score: tuple[int, ...] = ()) -> str:
    """Return the result of a game in a list, from the view of the player who asked."""
    game, line = find(stored.room.game), json.loads(stored.last or "{}")
    winner = next((s for s in stored.seats if game.seat_name(s.seat) == line.get("winner")), None)
    if winner is None:
        who = "Draw"
    elif winner.seat in stored.yours:
        who = "You won"
    else:
        who = f"{winner.name or f'Player {game.seat_name(winner.seat)}'} won"
    who = f"{who} {score_text(score, None if winner is None else winner.seat)}".rstrip()
    if line.get("ending") == RESIGNED:
        return f"{who} by resignation"
    return f"{who}: {line['ending']}" if "ending" in line else "Over"
