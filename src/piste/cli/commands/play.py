"""`piste play`: begin a game."""

from __future__ import annotations

import argparse

from piste import bots
from piste.cli import saved_games
from piste.cli.arguments import option_pairs
from piste.cli.players import player_names, player_specs, seat_players
from piste.cli.session import Session, play_session
from piste.cli.terminal import Terminal, complain
from piste.core.errors import OptionError
from piste.core.game import Game, find
from piste.core.replay import new_head, seated


def run(args: argparse.Namespace, terminal: Terminal) -> int:
    game = find(args.game)
    options = option_pairs(args.set)
    if args.first is not None:
        options["first"] = args.first
    seats = len(args.seat or ())
    if args.players is None and seats > 1 and "players" in game.rules.Options._fields and "players" not in options:
        options["players"] = seats  # refused, with the reason, where so many cannot play
    if args.players is not None:
        if "players" not in game.rules.Options._fields:
            count = game.player_counts[0]
            raise OptionError(f"{game.notation.TITLE} is always for {count} players: leave --players out.")
        options["players"] = args.players
    settings = game.options(options)
    seats = game.rules.seats(settings)
    specs = player_specs(game, args.seat or [], args.vs, seats)
    names = player_names(game, args.name or [], seats)
    head = new_head(game.name, options, seed=args.seed, seats=names, laid=laid_cards(game, args))
    head.open()  # a deal that cannot be laid is refused before a record is begun
    notes = {f"seat {i}": spec for i, spec in enumerate(specs, 1)}
    if args.hints:
        notes["hints"] = "agreed"
    head = head._replace(notes=notes)
    players = seat_players(game, settings, specs)
    for level in dict.fromkeys(map(bots.level_of, specs)):
        slow = bots.slowness(level, game, settings)
        if slow:
            terminal.note(f"With these options {bots.shown(game, level, settings)} thinks for {slow} a decision.")
    record_file = saved_games.RecordFile(saved_games.new_id(game.name), tell=complain)
    table, recorder = seated(head, record_file.write)
    session = Session(
        head, table, recorder, players, terminal, brief=args.brief, hints=args.hints, record_file=record_file
    )
    return play_session(session, record_file)


def laid_cards(game: Game, args: argparse.Namespace) -> str:
    """Return the deck or grid that was laid, if any."""
    for what in ("deck", "grid"):
        text = getattr(args, what)
        if text is not None:
            if what != game.notation.LAID:
                raise OptionError(f"{game.notation.TITLE} has no {what} to lay; it takes --{game.notation.LAID}.")
            return str(text)
    return ""
