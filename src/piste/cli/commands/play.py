"""The commands around a game at the terminal: begin one, go on with one, show one again."""

from __future__ import annotations

import argparse
import contextlib
import signal
import sys
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from piste.cli import saved_games
from piste.cli.commands.listing import put
from piste.cli.progress_bar import ProgressBar
from piste.cli.session import YOU, Left, Session, Sitting
from piste.cli.terminal import Terminal, complain
from piste.core.errors import MissingExtraError, OptionError, PisteError
from piste.core.evaluation import quiet
from piste.core.extras import missing, solving
from piste.core.game import Each, Game, counted, find, listed, names, quoted, tidy
from piste.core.presentation import EventContext, Pause
from piste.core.protocols import SPECTATOR
from piste.core.record import Record
from piste.core.replay import new_head, replay, seated

if TYPE_CHECKING:
    from piste.bots.base import Bot

LONGEST_NAME = 24
VERSION = 1  # of the JSON


def play(given: argparse.Namespace, screen: Terminal) -> int:
    """Begin a game as the arguments say."""
    from piste import bots

    game = find(given.game)
    options = pairs(given.set or [])
    if given.first is not None:
        options["first"] = given.first
    seats = len(given.seat or ())
    if given.players is None and seats > 1 and "players" in game.rules.Options._fields and "players" not in options:
        options["players"] = seats  # refused, with the reason, where so many cannot play
    if given.players is not None:
        if "players" not in game.rules.Options._fields:
            raise OptionError(f"{game.notation.TITLE} is for two players: leave --players out.")
        options["players"] = given.players
    chosen = game.options(options)
    seats = game.rules.seats(chosen)
    specs = who_sits(given.seat or [], given.vs, seats)
    head = new_head(
        game.name, options, seed=given.seed, seats=called(game, given.name or [], seats), laid=laid(game, given)
    )
    head.open()  # a deal that cannot be laid is refused before a record is begun
    notes = {f"seat {i}": spec for i, spec in enumerate(specs, 1)}
    if given.hints:
        notes["hints"] = "agreed"
    head = head._replace(notes=notes)
    sittings = sit(game, chosen, specs)
    for level in dict.fromkeys(map(bots.level_of, specs)):
        slow = bots.slowness(level, game, chosen)
        if slow:
            screen.note(f"With these options {bots.shown(game, level, chosen)} thinks for {slow} a decision.")
    kept = saved_games.RecordFile(saved_games.new_id(game.name), tell=complain)
    table, recorder = seated(head, kept.write)
    session = Session(
        head, table, recorder, sittings, screen,
        brief=given.brief, hints=given.hints, resume=partial(saved_games.command, "resume", kept.name),
        trouble=lambda: kept.trouble,
    )  # fmt: skip
    return run(session, kept)


def resume(given: argparse.Namespace, screen: Terminal) -> int:
    """Go on with a game that was left."""
    name = given.id or saved_games.newest(running=True)
    kept = saved_games.RecordFile(name, again=True, tell=complain)  # nobody may write to it from here on
    try:
        record = saved_games.read(name)
        if record.ending is not None:
            raise PisteError(f"The game {name} is over. To see it again: {saved_games.command('replay', name)}")
        table, recorder = replay(record)
        specs = [record.head.notes.get(f"seat {i}", YOU) for i in range(1, table.seats + 1)]
        for step in record.steps:
            if str(step.get("mark", "")).startswith(saved_games.RESEATED):
                seat, _, spec = str(step["mark"]).removeprefix(f"{saved_games.RESEATED} ").partition(": ")
                specs[record.head.game.notation.SEATS.index(seat)] = spec
        reseated = [i for i, spec in enumerate(specs) if given.vs and spec != YOU]
        for i in reseated:
            specs[i] = whole_command(given.vs)
        sittings = sit(record.head.game, record.head.options, specs)
    except MissingExtraError as e:
        kept.close()
        instead = saved_games.command("resume", f"{name} --vs steady")
        raise PisteError(f"{e}\nOr go on with another bot: {instead}") from None
    except BaseException:
        kept.close()
        raise
    kept.go_on_after(len(record.text.encode()))
    recorder.attach(kept.write, len(record.lines))
    for i in reseated:
        recorder.mark(f"{saved_games.RESEATED} {record.head.game.seat_name(i)}: {specs[i]}")
    hints = record.head.notes.get("hints") == "agreed"
    session = Session(
        record.head, table, recorder, sittings, screen,
        brief=given.brief, hints=hints, resume=partial(saved_games.command, "resume", name),
        trouble=lambda: kept.trouble,
    )  # fmt: skip
    return run(session, kept, resumed=True)


def run(session: Session, kept: saved_games.RecordFile, *, resumed: bool = False) -> int:
    """Play, and whatever happens, say how to go on."""
    before = {number: signal.signal(number, _stop) for number in STOPS}
    if session.screen.person:  # Ctrl-C works at a terminal, even where whoever started us had it ignored
        before[signal.SIGINT] = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        session.run(resumed=resumed)
        if kept.trouble:
            complain(UNKEPT.format(kept.path.parent))
            return 0
        session.screen.note("To see this game again:")
        session.screen.whole(saved_games.command("replay", kept.name))
        refused = missing(solving(session.head.game, session.table.options, "A review"))
        session.screen.note("To learn what each decision cost:" if refused is None else str(refused))
        if refused is None:
            session.screen.whole(saved_games.command("review", kept.name))
        return 0
    except Stopped as e:
        return left(session, kept, "", 128 + e.number)
    except (Left, EOFError):
        return left(session, kept, "", 0)
    except KeyboardInterrupt:
        return left(session, kept, "", 130)
    except PisteError as e:
        return left(session, kept, str(e), 1)
    except OSError:
        left(session, kept, "", 0)  # the screen is gone, or whoever read our output
        raise
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        session.close()
        kept.close()


STOPS = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
"""What a closed window or a stopping system sends."""


class Stopped(Left):
    """A signal asks the program to stop."""

    def __init__(self, number: int) -> None:
        self.number = number


def _stop(number: int, _: object) -> None:
    raise Stopped(number)


UNKEPT = "There was no room for the whole game in {}. It cannot be shown again."


def left(session: Session, kept: saved_games.RecordFile, why: str, code: int) -> int:
    """Say how to go on with a game that was left; show nothing that only one person may see."""
    said = "The game is kept. To go on with it:"
    if kept.trouble:
        said = f"There was no room for {'the end of the game' if kept.begun else 'the game'} in {kept.path.parent}."
        said += " To go on from an earlier decision:" if kept.begun else ""
    with contextlib.suppress(OSError):
        session.hide()
        print(f"\n{why}{' ' if why else ''}{said}", file=sys.stderr)
        if kept.begun:
            print(session.resume(), file=sys.stderr, flush=True)
    return code


def show(given: argparse.Namespace, screen: Terminal) -> int:
    """Tell a finished game again, each turn in the voice of the one whose it was."""
    record = found(given.record)
    table, _ = replay(record)
    ending = table.ending()
    if ending is None:
        raise PisteError("That game is not over, and its record holds secrets. `piste resume` goes on with it.")
    if given.json:
        return put(screen, {"version": VERSION, **record.head.line(), "steps": record.steps, "ending": record.ending})
    words, seats = record.head.game.text, record.head.seats
    screen.lines(words.welcome(table.view(SPECTATOR), seats))
    views = {seat: table.view(seat) for seat in range(SPECTATOR, table.seats)}
    for at, told in enumerate(views[SPECTATOR].log):
        owner = told.event.seat if told.event.seat in views else SPECTATOR
        # Where turns have a heading of their own the owner's voice is clear; where they are asked for (Duel's
        # headings stand in the question), everything is told of the owner, with the owner's cards (G9).
        voice = owner if words.OWN_VOICE else SPECTATOR
        moment = EventContext(voice, seats, views[owner].opening, views[owner].log[: at + 1])
        screen.lines([line for line in words.lines(moment) if not isinstance(line, Pause)])
    screen.lines(words.farewell(views[SPECTATOR], seats, ending))
    for step in record.steps:
        if "mark" in step:
            screen.note(f"Marked before step {step['n'] + 1}: {step['mark']}")
    return 0


def found(name: str) -> Record:
    """Return the record of a file, of a kept game, or of the last one."""
    from pathlib import Path

    from piste.api import load

    if name == "last":
        return saved_games.read(saved_games.newest(running=False))
    if Path(name).exists() or "/" in name or name.endswith(".jsonl"):
        return load(name)
    return saved_games.read(name)


def choose(screen: Terminal) -> argparse.Namespace:
    """Ask a person at a terminal which game, and who sits where."""
    from piste import bots

    every = names()
    for number, name in enumerate(every, 1):
        screen.line(f"{number}  {find(name).notation.TITLE}: {find(name).notation.LINE}")
    game: Game | None = None
    while game is None:
        answer = menu_answer(screen, f"Which game? (1-{len(every)}): ")
        titles = {name: tidy(f"{name} {find(name).notation.TITLE}") for name in every}
        found = [name for name in every if answer and answer in titles[name]]
        exact = [name for name in every if answer == tidy(find(name).notation.TITLE)]
        if answer in map(str, range(1, len(every) + 1)):
            game = find(every[int(answer) - 1])
        elif exact or len(found) == 1:
            game = find((exact or found)[0])
        else:
            screen.note(f"Type a number from 1 to {len(every)}, or a game's name; quit leaves.")
    given = argparse.Namespace(
        game=game.name, seat=[], vs=None, name=[], first=None, seed=None, set=[], deck=None, grid=None,
        players=None, brief=False, hints=False,
    )  # fmt: skip
    if "players" in game.rules.Options._fields:
        given.players = pick(screen, "How many players? (2-4, Enter for 2): ", ("2", "3", "4"), "2")
    options = game.options({} if given.players is None else {"players": given.players})
    able, refused = bots.playable(game, options)
    lines = {name: line for name, line in bots.lines(game).items() if name in able or name not in bots.LEVELS}
    against = {bots.shown(game, name, options): name for name in lines}
    screen.line("Against whom? Type the name of a bot, or friend for people at this keyboard.")
    for name, line in lines.items():
        screen.line(f"  {bots.described(game, name, options)}: {line}")
    for why in refused:
        screen.note(str(why))
    usual = bots.USUAL if bots.USUAL in lines else list(lines)[-1]
    answer = pick(screen, f"Against (Enter for {usual}): ", (*against, "friend"), usual, tuple(lines))
    if answer == "friend":
        given.seat = [YOU] * int(given.players or 2)
    else:
        given.vs = against.get(answer, answer)
    for option in game.notation.OPTIONS:
        if option.each is not None:
            given.set.append(f"{option.name}={chosen_each(screen, game, option.each, max(1, len(given.seat)))}")
    screen.line()
    return given


def chosen_each(screen: Terminal, game: Game, each: Each, people: int) -> str:
    """Ask every person at this keyboard for something of their own, such as a colour; bots take what is left."""
    chosen: list[str] = []
    for seat in range(people):
        left = [name for name in each.names if name not in chosen]
        who = "Your" if people == 1 else f"Player {game.seat_name(seat)}'s"
        question = f"{who} {each.thing} ({', '.join(left)}; Enter for {left[0]}): "
        chosen.append(pick(screen, question, left, left[0]))
    return ",".join(chosen)


def pick(screen: Terminal, question: str, answers: Sequence[str], usual: str, known: Sequence[str] = ()) -> str:
    """Return one of the answers; those that are `known` are taken too, but not told."""
    while True:
        answer = menu_answer(screen, question) or usual
        if answer in (*answers, *known):
            return answer
        screen.note(f"Type {listed(list(answers), 'or')}; quit leaves.")


def menu_answer(screen: Terminal, question: str) -> str:
    """Return what was typed; `quit` leaves before anything has begun."""
    answer = tidy(screen.read(question))
    if answer in ("quit", "exit", "q"):
        raise EOFError
    return answer


def who_sits(seats: list[str], against: str | None, count: int) -> list[str]:
    """Return who sits on each seat; without a word, you against the steady bot."""
    if seats and against:
        raise OptionError("Say who plays with --seat for every seat, or with --vs for all the others; not both.")
    if against is not None and tidy(against) == YOU:
        raise OptionError("--vs takes a bot. For people at one keyboard say --seat you for each of them.")
    if not seats:
        return [YOU, *[whole_command(against or "steady")] * (count - 1)]
    if len(seats) != count:
        raise OptionError(f"This game has {count} seats, and --seat was given {counted(len(seats), 'time')}.")
    return [YOU if tidy(seat) == YOU else whole_command(seat) for seat in seats]


def whole_command(spec: str) -> str:
    """Return a bot as records name it, with a program's path made whole: the game can be resumed from anywhere."""
    import os
    import shlex

    from piste import bots

    if not spec.startswith(bots.PROGRAM):
        return bots.level_of(spec)
    try:
        program, *arguments = shlex.split(spec.removeprefix("cmd:"))
    except ValueError:
        return spec  # refused, with the reason, when the bot is looked for
    if os.sep in program:
        program = os.path.abspath(program)
    return f"cmd:{shlex.join([program, *arguments])}"


def sit(game: Game, options: Any, specs: Sequence[str]) -> list[Sitting]:
    """Return who sits where; bots begin to make what they need, our own strong ones while the game begins."""
    from piste import bots

    sittings = [Sitting(spec, None if spec == YOU else seated_bot(spec, game, options)) for spec in specs]
    for sitting in sittings:
        if sitting.bot is not None and bots.asks_solver(bots.level_of(sitting.spec), game):
            bots.prepare(sitting.bot, options, quiet)
        elif sitting.bot is not None:
            with ProgressBar(f"{sitting.spec} gets ready") as bar:
                bots.prepare(sitting.bot, options, bar)
    return sittings


def seated_bot(spec: str, game: Game, options: Any) -> Bot:
    """Return a bot; a strong one of ours decides in a process apart."""
    from piste import bots

    found = bots.find(spec, game, options)  # also refuses what cannot play here
    level = bots.level_of(spec)
    if not bots.asks_solver(level, game):
        return found
    from piste.cli.background import WorkerBot

    return WorkerBot(game, level)


def called(game: Game, given: list[str], seats: int) -> tuple[str, ...]:
    """Return what each seat is called: the names given, in the order of seats, then Player 2 and so on."""
    if len(given) > seats:
        raise OptionError(f"There are {seats} seats, and --name was given {counted(len(given), 'time')}.")
    for name in given:
        if not name.strip() or len(name) > LONGEST_NAME or not name.isprintable():
            raise OptionError(f"A name has 1 to {LONGEST_NAME} letters that can be printed; {quoted(name)} has not.")
    every = [*given, *(f"Player {game.seat_name(seat)}" for seat in range(len(given), seats))]
    if len(set(every)) < seats:
        raise OptionError("Two seats cannot have the same name.")
    return tuple(every)


def laid(game: Game, given: argparse.Namespace) -> str:
    """Return the deck or grid that was laid, if any."""
    for what in ("deck", "grid"):
        text = getattr(given, what)
        if text is not None:
            if what != game.notation.LAID:
                raise OptionError(f"{game.notation.TITLE} has no {what} to lay; it takes --{game.notation.LAID}.")
            return str(text)
    return ""


def pairs(given: list[str]) -> dict[str, int | str]:
    """Return options written as name=value."""
    found: dict[str, int | str] = {}
    for text in given:
        key, equals, value = text.partition("=")
        if not equals or not key:
            raise OptionError(f"{quoted(text)} is not written as option=value, such as turns=40.")
        found[key.strip()] = value.strip()
    return found
