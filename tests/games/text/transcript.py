"""Prints a game the way the terminal does, for the tests of words."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import piste
from piste.core.game import tidy
from piste.core.presentation import EventContext, GameText

SPECTATOR = piste.SPECTATOR


def printed(
    words: GameText,
    table: piste.Table,
    answers: Sequence[str],
    people: Collection[int],
    names: tuple[str, ...],
    at_the_end: int = SPECTATOR,
) -> list[str]:
    """Play as the terminal does and return its lines: a step of a person in that person's voice.

    The steps of others are told to the one person there is, or to a watcher. Answers of bots are not shown.
    """
    alone = next(iter(people)) if len(people) == 1 else SPECTATOR
    shown = words.welcome(table.view(alone), names)
    typed, done = iter(answers), 0
    while True:
        for at in range(done, len(table.view().log)):
            about = table.view().log[at].event.seat
            seat = about if about in people else alone
            view = table.view(seat)
            shown += words.lines(EventContext(seat, names, view.opening, view.log[: at + 1]))
        done = len(table.view().log)
        asked = table.to_act
        if asked is None:
            break
        answer = next(typed, None)
        if answer is None:
            return shown
        prompt = words.ask(table.view(asked), names)
        if asked in people:
            shown += (prompt.text + answer).split("\n")
        if answer == "resign":
            table.resign(asked)
            continue
        (decision,) = (key.then for key in prompt.keys if tidy(answer) in map(tidy, (key.key, *key.also)))
        assert isinstance(decision, int)
        table.decide(asked, decision)
    ending = table.ending()
    assert ending is not None
    return shown + words.farewell(table.view(at_the_end), names, ending)
