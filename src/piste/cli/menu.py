"""The questions that `piste` without a command asks: which game, how many players, against whom."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from piste import bots
from piste.cli.output import with_level
from piste.cli.players import YOU
from piste.cli.terminal import Terminal
from piste.core.game import Each, Game, find, listed, names, tidy

TITLE = "piste: duels of numbers and cards"


def choose_game(terminal: Terminal) -> argparse.Namespace:
    """Ask a person at a terminal which game, and who sits where."""
    game_names = names()
    terminal.toned(TITLE, "heading")
    terminal.line()
    terminal.listing(
        [(f"{n}  {find(name).notation.TITLE}", find(name).notation.LINE) for n, name in enumerate(game_names, 1)]
    )
    terminal.note("\nType a number or a name. quit leaves; piste --help lists what else there is.")
    game: Game | None = None
    while game is None:
        answer = menu_answer(terminal, f"Which game? (1-{len(game_names)}): ")
        titles = {name: tidy(f"{name} {find(name).notation.TITLE}") for name in game_names}
        matches = [name for name in game_names if answer and answer in titles[name]]
        exact = [name for name in game_names if answer == tidy(find(name).notation.TITLE)]
        if answer in map(str, range(1, len(game_names) + 1)):
            game = find(game_names[int(answer) - 1])
        elif exact or len(matches) == 1:
            game = find((exact or matches)[0])
        else:
            terminal.note(f"Type a number from 1 to {len(game_names)}, or a game's name; quit leaves.")
    args = argparse.Namespace(
        command="play", game=game.name, seat=[], vs=None, name=[], first=None, seed=None, set=[], deck=None,
        grid=None, players=None, brief=False, hints=False,
    )  # fmt: skip
    if "players" in game.rules.Options._fields:
        counts, usual = game.player_counts, str(game.rules.Options().players)
        question = f"How many players? ({counts[0]}-{counts[-1]}, Enter for {usual}): "
        args.players = pick(terminal, question, [str(count) for count in counts], usual)
    options = game.options({} if args.players is None else {"players": args.players})
    able, refused = bots.playable(game, options)
    lines = {
        name: line for name, line in bots.lines(game, options).items() if name in able or name not in bots.LEVELS
    }
    words: dict[str, str] = {}  # what people call a level can be typed too
    for name in able:
        word = bots.level_name(game, name, options)
        lines[name] = with_level(word, bots.shown(game, name, options), bots.feel(game, name, options))
        words[word.lower()] = name
    against = {bots.shown(game, name, options): name for name in lines}
    terminal.line()
    terminal.toned("Against whom?", "heading")
    rows = [(bots.described(game, name, options), line) for name, line in lines.items()]
    terminal.listing([*rows, ("friend", "People at this keyboard.")], indent="  ")
    for why in refused:
        terminal.note(str(why))
    default = bots.usual(game) if bots.usual(game) in lines else list(lines)[-1]
    answer = pick(terminal, f"Against (Enter for {default}): ", (*against, "friend"), default, (*lines, *words))
    if answer == "friend":
        args.seat = [YOU] * game.rules.seats(options)
    else:
        args.vs = {**words, **against}.get(answer, answer)
    for option in game.notation.OPTIONS:
        if option.each is not None:
            args.set.append(f"{option.name}={ask_each(terminal, game, option.each, max(1, len(args.seat)))}")
    terminal.line()
    return args


def ask_each(terminal: Terminal, game: Game, each: Each, people: int) -> str:
    """Ask every person at this keyboard for something of their own, such as a colour; bots take what is left."""
    chosen: list[str] = []
    for seat in range(people):
        left = [name for name in each.names if name not in chosen]
        who = "Your" if people == 1 else f"Player {game.seat_name(seat)}'s"
        question = f"{who} {each.thing} ({', '.join(left)}; Enter for {left[0]}): "
        chosen.append(pick(terminal, question, left, left[0]))
    return ",".join(chosen)


def pick(terminal: Terminal, question: str, answers: Sequence[str], default: str, known: Sequence[str] = ()) -> str:
    """Return one of the answers; those that are `known` are accepted too, but not listed."""
    while True:
        answer = menu_answer(terminal, question) or default
        if answer in (*answers, *known):
            return answer
        terminal.note(f"Type {listed(list(answers), 'or')}; quit leaves.")


def menu_answer(terminal: Terminal, question: str) -> str:
    """Return what was typed; `quit` leaves before anything has begun."""
    answer = tidy(terminal.read(question))
    if answer in ("quit", "exit", "q"):
        raise EOFError
    return answer
