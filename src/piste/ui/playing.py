"""The commands around a game at the terminal: begin one, go on with one, show one again."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from piste.core.contract import WATCHER
from piste.core.errors import BadOption, PisteError
from piste.core.game import Game, find, listed, names, quoted, tidy
from piste.core.record import Record
from piste.core.replay import new_head, replay, seated
from piste.core.screen import Moment
from piste.ui import store
from piste.ui.screen import Screen
from piste.ui.session import YOU, Left, Session, Sitting

LONGEST_NAME = 24


def play(given: argparse.Namespace, screen: Screen) -> int:
    """Begin a game as the arguments say."""
    game = find(given.game)
    options = pairs(given.set or [])
    if given.first is not None:
        options["first"] = given.first
    if given.players is not None:
        if "players" not in game.rules.Options._fields:
            raise BadOption(f"{game.notation.TITLE} is for two players: leave --players out.")
        options["players"] = given.players
    chosen = game.options(options)
    seats = game.rules.seats(chosen)
    specs = who_sits(given.seat or [], given.vs, seats)
    head = new_head(
        game.name, options, seed=given.seed, seats=called(game, given.name or [], seats), laid=laid(game, given)
    )
    notes = {f"seat {i}": spec for i, spec in enumerate(specs, 1)}
    if given.hints:
        notes["hints"] = "agreed"
    head = head._replace(notes=notes)
    sittings = sit(game, specs)
    kept = store.Kept(store.new_id(game.name))
    table, recorder = seated(head, kept.write)
    session = Session(
        head, table, recorder, sittings, screen,
        brief=given.brief, hints=given.hints, resume=store.command("resume", kept.name),
    )  # fmt: skip
    return run(session, kept)


def resume(given: argparse.Namespace, screen: Screen) -> int:
    """Go on with a game that was left."""
    name = given.id or store.newest(running=True)
    record = store.read(name)
    if record.ending is not None:
        raise PisteError(f"The game {name} is over. `piste replay {name}` shows it again.")
    table, recorder = replay(record)
    specs = [record.head.notes.get(f"seat {i}", YOU) for i in range(1, table.seats + 1)]
    sittings = sit(record.head.game, specs)
    kept = store.Kept(name, whole=len(record.text.encode()))
    recorder.attach(kept.write, len(record.lines))
    hints = record.head.notes.get("hints") == "agreed"
    session = Session(
        record.head, table, recorder, sittings, screen,
        brief=given.brief, hints=hints, resume=store.command("resume", name),
    )  # fmt: skip
    return run(session, kept, resumed=True)


def run(session: Session, kept: store.Kept, *, resumed: bool = False) -> int:
    """Play, and whatever happens, say how to go on."""
    code = 0
    try:
        session.run(resumed=resumed)
        session.screen.note(f"To see this game again: {store.command('replay', kept.name)}")
    except (Left, EOFError):
        print(f"\nThe game is kept. To go on with it: {session.resume}", file=sys.stderr)
    except KeyboardInterrupt:
        print(f"\nThe game is kept. To go on with it: {session.resume}", file=sys.stderr)
        code = 130
    except PisteError as e:
        print(f"{e}\nThe game is kept. To go on with it: {session.resume}", file=sys.stderr)
        code = 1
    finally:
        session.close()
        kept.close()
    return code


def show(given: argparse.Namespace, screen: Screen) -> int:
    """Tell a finished game again, each turn in the voice of the one whose it was."""
    record = found(given.record)
    table, _ = replay(record)
    ending = table.ending()
    if ending is None:
        raise PisteError("That game is not over, and its record holds secrets. Go on with it: piste resume")
    words, seats = record.head.game.words, record.head.seats
    screen.lines(words.welcome(table.view(WATCHER), seats))
    views = {seat: table.view(seat) for seat in range(WATCHER, table.seats)}
    for at, told in enumerate(views[WATCHER].log):
        owner = told.event.seat if told.event.seat in views else WATCHER
        # Where turns have a heading of their own the owner's voice is clear; where they are asked for (Duel's
        # headings stand in the question), everything is told of the owner, with the owner's cards (G9).
        voice = owner if words.OWN_VOICE else WATCHER
        moment = Moment(voice, seats, views[owner].opening, views[owner].log[: at + 1])
        screen.lines([str(line) for line in words.lines(moment)])
    screen.lines(words.farewell(views[WATCHER], seats, ending))
    for step in record.steps:
        if "mark" in step:
            screen.note(f"Marked before step {step['n'] + 1}: {step['mark']}")
    return 0


def found(name: str) -> Record:
    """Return the record of a file, of a kept game, or of the last one."""
    from pathlib import Path

    from piste.api import load

    if name == "last":
        return store.read(store.newest(running=False))
    if Path(name).exists() or "/" in name or name.endswith(".jsonl"):
        return load(name)
    return store.read(name)


def choose(screen: Screen) -> argparse.Namespace:
    """Ask a person at a terminal which game, and who sits where."""
    from piste import bots

    every = names()
    for number, name in enumerate(every, 1):
        screen.line(f"{number}  {find(name).notation.TITLE}: {find(name).notation.LINE}")
    game: Game | None = None
    while game is None:
        answer = tidy(screen.read("Which game? (1-5): "))
        if answer in map(str, range(1, len(every) + 1)):
            answer = every[int(answer) - 1]
        try:
            game = find(answer) if answer else None
        except PisteError as e:
            screen.note(str(e))
    given = argparse.Namespace(
        game=game.name, seat=[], vs=None, name=[], first=None, seed=None, set=[], deck=None, grid=None,
        players=None, brief=False, hints=False,
    )  # fmt: skip
    if "players" in game.rules.Options._fields:
        given.players = pick(screen, "How many players? (2-4): ", ("2", "3", "4"), "2")
    against = bots.names(game)
    screen.line("Against whom? Type the name of a bot, or friend for people at this keyboard.")
    for name, line in bots.lines(game).items():
        screen.line(f"  {name}: {line}")
    best = bots.best(game).name
    answer = pick(screen, f"Against ({best}): ", (*against, "friend"), best)
    if answer == "friend":
        given.seat = [YOU] * int(given.players or 2)
    else:
        given.vs = answer
    screen.line()
    return given


def pick(screen: Screen, question: str, answers: Sequence[str], usual: str) -> str:
    while True:
        answer = tidy(screen.read(question)) or usual
        if answer in answers:
            return answer
        screen.note(f"{quoted(answer)} is none of {listed(list(answers), 'or')}.")


def who_sits(seats: list[str], against: str | None, count: int) -> list[str]:
    """Return who sits on each seat; without a word, you against the steady bot."""
    if seats and against:
        raise BadOption("Say who plays with --seat for every seat, or with --vs for all the others; not both.")
    if not seats:
        return [YOU, *[against or "steady"] * (count - 1)]
    if len(seats) != count:
        raise BadOption(f"This game has {count} seats, and --seat was given {len(seats)} times.")
    return seats


def sit(game: Game, specs: Sequence[str]) -> list[Sitting]:
    from piste import bots

    return [Sitting(spec, None if spec == YOU else bots.find(spec, game)) for spec in specs]


def called(game: Game, given: list[str], seats: int) -> tuple[str, ...]:
    """Return what each seat is called: the names given, in the order of seats, then Player 2 and so on."""
    if len(given) > seats:
        raise BadOption(f"There are {seats} seats, and --name was given {len(given)} times.")
    for name in given:
        if not name.strip() or len(name) > LONGEST_NAME or not name.isprintable():
            raise BadOption(f"A name has 1 to {LONGEST_NAME} letters that can be printed; {quoted(name)} has not.")
    every = [*given, *(f"Player {game.seat_name(seat)}" for seat in range(len(given), seats))]
    if len(set(every)) < seats:
        raise BadOption("Two seats cannot have the same name.")
    return tuple(every)


def laid(game: Game, given: argparse.Namespace) -> str:
    """Return the deck or grid that was laid, if any."""
    for what in ("deck", "grid"):
        text = getattr(given, what)
        if text is not None:
            if what != game.notation.LAID:
                raise BadOption(f"{game.notation.TITLE} has no {what} to lay; it takes --{game.notation.LAID}.")
            return str(text)
    return ""


def pairs(given: list[str]) -> dict[str, int | str]:
    """Return options written as name=value."""
    found: dict[str, int | str] = {}
    for text in given:
        key, equals, value = text.partition("=")
        if not equals or not key:
            raise BadOption(f"{quoted(text)} is not written as option=value, such as turns=40.")
        found[key.strip()] = value.strip()
    return found
