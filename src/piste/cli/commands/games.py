"""`piste games`: the games, or those that a user has played."""

from __future__ import annotations

import argparse

from piste import bots
from piste.cli import saved_games
from piste.cli.output import print_json
from piste.cli.terminal import Terminal
from piste.core.game import find, names


def run(args: argparse.Namespace, terminal: Terminal) -> int:
    if args.played:
        return played(args, terminal)
    rows = []
    for name in names():
        game = find(name)
        options = {o.name: o.help for o in game.notation.OPTIONS}
        row = {"name": name, "title": game.notation.TITLE, "line": game.notation.LINE, "options": options}
        rows.append(row | ({"credit": game.notation.CREDIT} if game.notation.CREDIT else {}))
    if args.json:
        return print_json(terminal, {"games": rows})
    terminal.listing([(name, find(name).notation.LINE) for name in names()])
    terminal.note("\nTo play: piste play zero-sum-duel    The rules: piste rules zero-sum-duel")
    return 0


def played(args: argparse.Namespace, terminal: Terminal) -> int:
    games = saved_games.entries()
    standing = saved_games.standings(games)
    if args.json:
        rows = [
            {
                "id": entry.name,
                "game": entry.game,
                "seats": list(entry.seats),
                "who": list(entry.specs),
                "ending": None if entry.ending is None else entry.ending["ending"],
                "winner": None if entry.ending is None else entry.ending["winner"],
                "counts": entry.counts,
                "trouble": entry.trouble,
            }
            for entry in games
        ]
        return print_json(terminal, {"played": rows, "standing": standing})
    if not games:
        terminal.line("You have played no games yet. Begin with: piste play zero-sum-duel")
    with terminal.paged():
        for entry in games:
            show_entry(entry, terminal)
        if standing:
            terminal.line()
        for row in standing:
            score = f"won {row['won']}, drawn {row['drawn']}, lost {row['lost']}"
            against = " + ".join(bots.shown(find(row["game"]), spec) for spec in row["against"].split("+"))
            terminal.line(f"{row['game']} against {against}: {score}")
    return 0


def show_entry(entry: saved_games.Entry, terminal: Terminal) -> None:
    """Print a kept game: when, which and how it ended, who played, and its name; in a pipe as one line."""
    if entry.trouble:
        terminal.listing([(entry.name, entry.trouble)])
        return
    game, day, ending = find(entry.game), saved_games.played_at(entry.name), result(entry)
    players = [bots.described(game, spec, entry.options) for spec in entry.specs]
    who = ", ".join(f"{name}: {spec}" for name, spec in zip(entry.seats, players, strict=False))
    if not terminal.out.isatty():
        terminal.line(f"{entry.name}: {f'{day}, ' if day else ''}{who}; {ending}")
        return
    terminal.toned(f"{f'{day}  ' if day else ''}{game.notation.TITLE}: {ending}", "heading")
    terminal.line(f"    {who}")
    terminal.whole(f"    {entry.name}")


def result(entry: saved_games.Entry) -> str:
    """Return how a game ended."""
    if entry.ending is None:
        return "still running"
    winner = entry.ending["winner"]
    label = "a draw" if winner is None else f"{entry.seats[find(entry.game).notation.SEATS.index(winner)]} won"
    return f"{label}: {entry.ending['ending']}{'' if entry.counts else ' (does not count)'}"
