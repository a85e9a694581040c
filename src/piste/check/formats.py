"""Checks of what is written and read: names of decisions, positions, options, records, texts; and of wrong input."""

from __future__ import annotations

import random
import string
from collections.abc import Callable
from functools import partial
from typing import Any

import piste
from piste.check.case import Case, FaultError, raised
from piste.core.errors import PisteError
from piste.core.game import counted
from piste.core.presentation import EventContext, Key, Prompt
from piste.core.protocols import CHANCE, HIDDEN, SPECTATOR
from piste.core.record import FIELDS as RECORD_FIELDS

ALPHABET = string.printable + "−–äß€٣\u200b\ud800\x00{}[]|=,/:@?*+-0123456789"
INPUTS_PER_GAME = 40
MAX_KNOWN = 4
"""For so many decisions from the start, what each seat knows is written and read: a seat may hold much possible."""


def check_notation(case: Case) -> str:
    """Write and read back options, the names of what is open, and positions."""
    game, rules = case.game, case.rules
    fields = [option.name for option in game.notation.OPTIONS]
    if fields != list(rules.Options._fields):
        raise FaultError("OPTIONS", f"it has {fields}, and Options has {list(rules.Options._fields)}.")
    if game.options(game.option_texts(case.options)) != case.options:
        raise FaultError("OPTIONS", "options that are written do not read back as they were.")
    for kind in game.notation.KINDS:
        if not kind or kind.split() != [kind] or set(kind) & set("@:|/+"):
            raise FaultError("KINDS", f"{kind!r} is no name of a kind: it is empty, or has a space or one of @:|/+.")
    positions = 0
    for seed in range(1 + case.games // 4):
        history = case.played(seed).history()
        sample, often = random.Random(seed), 3 / max(1, len(history))
        for at, (s, step) in enumerate(case.walked(history)):
            if step is not None and isinstance(step, int):
                _check_names(case, s, history[:at])
            if sample.random() < often or step is None:
                positions += 1
                check_position(case, s, history[:at])
    _check_information_sets(case)
    return f"{counted(positions, 'position')}, names at every step of {counted(1 + case.games // 4, 'game')}"


def _check_information_sets(case: Case) -> None:
    """Write what each seat knows in the middle of a game, and read it back."""
    table, chooser = case.open("known"), random.Random(f"{case} known")
    for _ in range(MAX_KNOWN):
        actor = table.to_act
        if actor is None or case.seats != 2:
            return
        for seat in range(case.seats):
            try:
                text = str(piste.InformationSet.of(case.game, table.view(seat)))
                again = str(piste.InformationSet.parse(text))
            except PisteError as e:
                if any(entry.event.also != HIDDEN for entry in table.view(seat).log):
                    return  # a written event has no place for a second thing, so that it may leave too much open
                raise FaultError(
                    "name", f"what a seat knows does not read back: {e}", case.told(table.history())
                ) from e
            if again != text:
                raise FaultError("name", f"{text!r} reads back as {again!r}.", case.told(table.history()))
        table.decide(actor, chooser.choice(table.view(actor).actions))


def check_position(case: Case, s: Any, history: Any) -> None:
    """Fail unless a position reads back as it is."""
    try:
        text = str(piste.Position(case.game, s))
        again = piste.Position.parse(text).state
    except Exception as e:
        raise FaultError("build", f"a position does not read back: {raised(e)}", case.told(history)) from e
    if again != s:
        raise FaultError("build", f"{text!r} reads back as another position.", case.told(history))


def _check_names(case: Case, s: Any, history: Any) -> None:
    """Fail unless what is open has different names that read back."""
    game, rules = case.game, case.rules
    actor, steps = rules.to_act(s), case.choices(s)
    if actor == CHANCE:
        named = {game.outcome_name(s, outcome): outcome for outcome in steps}
        read: Callable[[str], int | None] = partial(game.read_outcome, s)
        function = "name"
    else:
        if game.kind_name(rules.kind(s)) in RECORD_FIELDS:
            why = f"a kind of decision cannot be called {game.kind_name(rules.kind(s))!r}: records have such a field."
            raise FaultError("KINDS", why, case.told(history))
        named, legal, view, kind = game.decision_names(s), rules.legal(s), rules.look(s, actor), rules.kind(s)
        read = partial(game.read_decision, view, kind, legal)
        function = "spell"
    if sorted(named.values()) != steps:
        raise FaultError(function, f"two of these have the same name: {', '.join(named)}.", case.told(history))
    for name, action in named.items():
        if not name or name.strip() != name or "|" in name:
            raise FaultError(
                function, f"{name!r} is no name: it is empty, or has a | or a space at an end.", case.told(history)
            )
        for written in (name, f" {name.upper()} "):
            try:
                found = read(written)
            except PisteError as e:
                raise FaultError(function, f"{written!r} is not read back: {e}", case.told(history)) from e
            if found != action:
                raise FaultError(
                    function, f"{written!r} is read as action {found}, not {action}.", case.told(history)
                )


def check_record(case: Case) -> str:
    """Replay the records of finished games, and go on with one after each decision."""
    for seed in range(case.games):
        table = case.played(seed, resigning=0.01 if seed % 4 == 0 else 0.0)
        try:
            again = piste.replay(table.record())
        except PisteError as e:
            raise FaultError("apply", f"a record cannot be replayed: {e}", case.told(table.history())) from e
        if again.record() != table.record() or again.history() != table.history():
            raise FaultError("apply", "a game that is replayed goes on differently.", case.told(table.history()))
    table, chooser = case.open("running"), random.Random(f"{case} running")
    everyone = (SPECTATOR, *range(table.seats))
    while (actor := table.to_act) is not None:
        views = {seat: table.view(seat) for seat in everyone}
        wrong = [seat for seat in everyone if bool(views[seat].actions) != (seat == actor)]
        if wrong:
            raise FaultError("legal", "a seat that is not to act has decisions.", case.told(table.history()))
        table.decide(actor, chooser.choice(views[actor].actions))
        again = piste.replay(table.record())
        if any(again.view(seat) != table.view(seat) for seat in everyone):
            raise FaultError("look", "a running game that is replayed looks different.", case.told(table.history()))
        table = again
    return f"{counted(case.games, 'record')}, and a running game after each decision"


def check_text(case: Case) -> str:
    """Have a random game told to everybody: each question offers exactly what is open, and each line is text."""
    text = case.game.text
    names = tuple(f"Player {case.game.seat_name(seat)}" for seat in range(case.seats))
    table, chooser = case.open("text"), random.Random(f"{case} text")
    lines = 0
    function = "welcome"
    try:
        text.welcome(table.view(0), names)
        while (actor := table.to_act) is not None:
            view = table.view(actor)
            function = "ask"
            offered = _answers(text.ask(view, names).keys)
            if sorted(offered) != sorted(view.actions):
                raise FaultError(
                    "ask",
                    f"it offers {sorted(offered)}, and {sorted(view.actions)} are open.",
                    case.told(table.history()),
                )
            function = "picture"
            list(map(str, text.picture(view, names)))
            table.decide(actor, chooser.choice(view.actions))
        for seat in (SPECTATOR, *range(case.seats)):
            view = table.view(seat)
            function = "lines"
            for at in range(len(view.log)):
                lines += len(text.lines(EventContext(seat, names, view.opening, view.log[: at + 1])))
            function = "farewell"
            ending = table.ending()
            assert ending is not None
            text.farewell(view, names, ending)
    except FaultError:
        raise
    except Exception as e:
        raise FaultError(function, f"it fails: {raised(e)}.", case.told(table.history())) from e
    return counted(lines, "line")


def _answers(keys: tuple[Key, ...]) -> list[int]:
    """Return each decision that keys lead to."""
    found: list[int] = []
    for key in keys:
        found += _answers(key.then.keys) if isinstance(key.then, Prompt) else [key.then]
    return found


def mangled(text: str, chooser: random.Random) -> str:
    """Return text with a few letters, words or pieces changed, doubled, lost or swapped."""
    for _ in range(chooser.randrange(1, 5)):
        at = chooser.randrange(len(text) + 1)
        to = min(len(text), at + chooser.choice((1, 1, 2, 5, 30)))
        match chooser.randrange(6):
            case 0:
                text = text[:at] + chooser.choice(ALPHABET) + text[to:]
            case 1:
                text = text[:at] + text[to:]
            case 2:
                text = text[:to] + text[at:]
            case 3:
                words = text.split(" ")
                chooser.shuffle(words)
                text = " ".join(words)
            case 4:
                text = text[:at] + str(chooser.choice((-1, 0, 99, 10**6, 10**40, "nan", "1e9"))) + text[to:]
            case _:
                text = text[:at] + "".join(chooser.choices(ALPHABET, k=chooser.randrange(12))) + text[at:]
    return text


def harmless(function: str, act: Callable[[str], object], text: str) -> None:
    """Fail on anything but success or a piste error whose sentence can be printed."""
    try:
        act(text)
    except PisteError as e:
        try:
            str(e).encode()
        except UnicodeError:
            raise FaultError(function, f"what it says of {text!r} cannot be printed.") from e
        if not str(e):
            raise FaultError(function, f"it refuses {text!r} without a sentence.") from e
    except FaultError:
        raise
    except Exception as e:
        raise FaultError(function, f"{text!r} makes it fail instead of being refused: {raised(e)}.") from e


def use_position(text: str) -> None:
    """Read a position; what is read has to read back, and so do positions that follow."""
    position = piste.Position.parse(text)
    if piste.Position.parse(str(position)) != position:
        raise FaultError("build", f"{text!r} does not read back.")
    for name in [*position.decisions(), *position.outcomes()][:3]:
        after = position.after(name)
        if piste.Position.parse(str(after)) != after:
            raise FaultError("build", f"{str(after)!r} does not read back.")


def check_fuzz(case: Case) -> str:
    """Give wrong input to everything that reads: records, positions, decisions, options and deals."""
    inputs = case.games * INPUTS_PER_GAME
    chooser = random.Random(f"{case} fuzz")
    over, game = case.played("fuzz"), case.game
    running = case.open("fuzz")
    for _ in range(inputs // 8):
        lines = over.record().splitlines(keepends=True)[: chooser.randrange(1, 12)]
        at = chooser.randrange(len(lines))
        lines[at] = mangled(lines[at], chooser)
        harmless(
            "replay", lambda text: piste.replay(piste.Record.parse(text, mend=chooser.random() < 0.5)), "".join(lines)
        )
    for _ in range(inputs // 2):
        harmless("build", use_position, mangled(chooser.choice((over, running)).position_text(), chooser))
    defaults = game.option_texts(case.options)
    for _ in range(inputs // 8):
        if defaults:
            key = chooser.choice(list(defaults))
            harmless("check", lambda text, key=key: game.options({key: text}), mangled(defaults[key], chooser))  # type: ignore[misc]
        deal = mangled("1 2 3 -4 5, 6 / 7 8 9 +1 * 0", chooser)
        harmless("lay", lambda text: game.notation.lay(case.options, text), deal)
    for at in range(inputs // 4):
        if running.to_act is None:
            running = case.open(f"fuzz {at}")
            continue
        actor = running.to_act
        decision = mangled(chooser.choice(running.view(actor).decisions), chooser)
        harmless("spell", partial(running.decide, actor), decision)
    return counted(inputs, "wrong input")
