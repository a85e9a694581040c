"""Checks of the rules alone: types, sets, weights, payoffs, that nothing else decides what follows, and an end."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Iterator
from functools import cache
from typing import Any, get_args, get_origin, get_type_hints

from piste.check.case import MAX_DECISIONS, Case, FaultError, Seen, raised
from piste.core.game import counted
from piste.core.protocols import CHANCE, OVER, SPECTATOR, Event
from piste.core.survey import LIMIT, fault

STATES_PER_GAME = 300
"""So many states are looked at, nearest first, for each random game that is asked for."""

ENDLESS_GAMES = 3
"""So many random games have to go on and on before a large game is called endless."""

MAX_REASONS = 16
"""`piste simulate` counts so many."""

FIXED = "rules that numba compiles have whole numbers, NamedTuples and tuples of a fixed length"


def check_contract(case: Case) -> str:
    """Look at the types of options, states and views: what numba could not type is named by its field."""
    rules = case.rules
    for kind in (rules.Options, rules.State, rules.View):
        if not hasattr(kind, "_fields"):
            raise FaultError(kind.__name__, f"it is no NamedTuple; {FIXED}.")
    for kind, needed in ((rules.State, ("options",)), (rules.View, ("options", "viewer"))):
        for name in needed:
            if name not in kind._fields:
                raise FaultError(kind.__name__, f"it has no field `{name}`, which the rest of piste reads.")
    for function, value, kind in _values(case):
        wrong = shape_fault(value, kind, kind.__name__)
        if wrong:
            raise FaultError(function, f"{wrong}; {FIXED}.")
    if any(isinstance(part, rules.State) for part in rules.look(rules.start(case.options), 0)):
        raise FaultError("look", "a view holds a State, and with it every secret.")
    return f"{len(rules.State._fields)} fields of State, {len(rules.View._fields)} of View"


def _values(case: Case) -> Iterator[tuple[str, Any, Any]]:
    """Yield what some functions return, with its type: at the start and after each step that may follow."""
    rules = case.rules
    yield "Options", case.options, rules.Options
    function = "start"
    try:
        first = rules.start(case.options)
        yield function, first, rules.State
        function = "look"
        yield function, rules.look(first, 0), rules.View
        function = "legal" if rules.to_act(first) >= 0 else "outcomes"
        steps = case.choices(first)
        function = "apply"
        for step in steps:
            yield function, rules.apply(first, step), rules.State
    except FaultError:
        raise
    except Exception as e:
        raise FaultError(function, f"it fails at the start: {raised(e)}.") from e


def shape_fault(value: Any, kind: Any, path: str) -> str:
    """Return why a value is not what its type says or what numba can have, or ""."""
    if get_origin(kind) is tuple:
        parts = get_args(kind)
        if Ellipsis in parts:
            return f"{path} is declared as {kind}, which has no fixed length"
        if not isinstance(value, tuple) or len(value) != len(parts):
            return f"{path} is {value!r}, not a tuple of {len(parts)}"
        return next((w for i, p in enumerate(parts) if (w := shape_fault(value[i], p, f"{path}[{i}]"))), "")
    if hasattr(kind, "_fields"):
        if not isinstance(value, kind):
            return f"{path} is a {type(value).__name__}, not a {kind.__name__}"
        try:
            hints = _hints(kind)
        except Exception as e:
            return f"the annotations of {path} cannot be read ({raised(e)})"
        found = (shape_fault(getattr(value, name), hints[name], f"{path}.{name}") for name in kind._fields)
        return next(filter(None, found), "")
    if kind is not int:
        return f"{path} is declared as {getattr(kind, '__name__', kind)}, which numba cannot type here"
    if type(value) is not int:
        return f"{path} is a {type(value).__name__}, not a whole number"
    return "" if -LIMIT < value < LIMIT else f"{path} is {value}; numbers stay below 2**62"


@cache
def _hints(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind)


def reached(case: Case, most: int) -> tuple[list[Seen], bool]:
    """Return states by the shortest history to each, nearest first, and whether these are all."""
    first = Seen(case.rules.start(case.options), None, 0)
    found: list[Seen] = []
    seen, waiting = {first.state}, deque([first])
    while waiting:
        if len(found) >= most:
            return found, False
        at = waiting.popleft()
        found.append(at)
        check_state(case, at)
        for step in case.choices(at.state):
            after = Seen(_twice(case, at, "apply", step), at, step)
            wrong = shape_fault(after.state, case.rules.State, "State")
            if wrong:
                raise _fault(case, after, "apply", f"{wrong}; {FIXED}.")
            if after.state not in seen:
                seen.add(after.state)
                waiting.append(after)
    return found, True


def _fault(case: Case, at: Seen, function: str, sentence: str) -> FaultError:
    return FaultError(function, sentence, case.told(at.steps()))


def _twice(case: Case, at: Seen, function: str, *more: int) -> Any:
    """Call a function of the rules at a state twice; what fails or differs is a fault."""
    call = getattr(case.rules, function)
    shown = Seen(None, at, more[0]) if function == "apply" else at
    try:
        one, two = call(at.state, *more), call(at.state, *more)
    except Exception as e:
        raise _fault(case, shown, function, f"it fails: {raised(e)}.") from e
    if one != two:
        why = "it is not deterministic: the same arguments gave other results"
        raise _fault(case, shown, function, f"{why}. Chance is what `outcomes` and `weight` say.")
    return one


def check_state(case: Case, at: Seen) -> None:
    """Look at one state: what the functions say of it, twice."""
    rules, s, notation = case.rules, at.state, case.game.notation
    actor = _twice(case, at, "to_act")
    for seat in (SPECTATOR, *range(case.seats)):
        wrong = shape_fault(_twice(case, at, "look", seat), rules.View, "View")
        if wrong:
            raise _fault(case, at, "look", f"{wrong}; {FIXED}.")
    if actor != OVER:
        _twice(case, at, "outcomes" if actor == CHANCE else "legal")
        kind = _twice(case, at, "kind")
        if not 0 <= kind < len(notation.KINDS):
            raise _fault(case, at, "kind", f"it returns {kind}, and KINDS names {len(notation.KINDS)}.")
    found = fault(rules, s)
    if found is not None:
        raise _fault(case, at, found.function, f"it {found.sentence}")
    if actor == OVER:
        reason = _twice(case, at, "reason")
        if reason not in notation.REASONS or not 0 <= reason < MAX_REASONS:
            raise _fault(case, at, "reason", f"it returns {reason}, which REASONS does not name (0 to 15).")
        return
    for step in case.choices(s):
        for seat in (SPECTATOR, *range(case.seats)):
            event = rules.tell(s, step, seat)
            if not isinstance(event, Event) or shape_fault(event, Event, "Event"):
                raise _fault(case, at, "tell", f"it returns {event!r:.60}, which is no Event of whole numbers.")


def _check_resigning(case: Case, at: Seen) -> None:
    """Let each seat resign: the game goes on without it, or it has lost."""
    rules = case.rules
    for seat in range(case.seats):
        left = _twice(case, at, "leave", seat)
        found = fault(rules, left)
        if found is not None:
            raise _fault(case, at, "leave", f"after Player {case.game.seat_name(seat)} resigned, {found}")
        if rules.to_act(left) == OVER and rules.payoff(left, seat) >= 0:
            raise _fault(case, at, "leave", "who resigns does not lose.")


def check_property(case: Case) -> str:
    """Look at every state of a small game, or at the nearest of a large one and at random games to their end."""
    found, complete = reached(case, case.games * STATES_PER_GAME)
    for at in found:
        if case.rules.to_act(at.state) >= 0:
            _check_resigning(case, at)
    if complete:
        _check_end(case, found)
    elif all(_goes_on(case, seed) for seed in range(ENDLESS_GAMES)):
        raise FaultError("apply", f"random games do not end within {MAX_DECISIONS:,} steps: they need a limit.")
    for history in case.random_histories():
        steps: list[Any] = []
        for s, step in case.walked(history):
            wrong = fault(case.rules, s)
            if wrong:
                raise FaultError(wrong.function, f"it {wrong.sentence}", case.told(steps))
            if isinstance(step, int) and step not in case.choices(s):
                raise FaultError("apply", f"action {step} was taken and is not open.", case.told(steps))
            steps.append(step)
    all_of = "every state there is" if complete else "the nearest"
    return f"{counted(len(found), 'state')} ({all_of}), {counted(case.games, 'random game')}"


def _goes_on(case: Case, seed: int) -> bool:
    """Say whether a random game has not ended after many steps."""
    chooser, s = random.Random(f"{case} end {seed}"), case.rules.start(case.options)
    for _ in range(MAX_DECISIONS):
        steps = case.choices(s)
        if not steps:
            return False
        s = case.rules.apply(s, chooser.choice(steps))
    return True


def _check_end(case: Case, found: list[Seen]) -> None:
    """Fail unless from every state some line of play comes to an end."""
    before: dict[Any, list[Any]] = {}
    ends = []
    for at in found:
        following = [case.rules.apply(at.state, step) for step in case.choices(at.state)]
        if not following:
            ends.append(at.state)
        for after in following:
            before.setdefault(after, []).append(at.state)
    ending = set(ends)
    while ends:
        for state in before.get(ends.pop(), ()):
            if state not in ending:
                ending.add(state)
                ends.append(state)
    for at in found:  # nearest first
        if at.state not in ending:
            raise _fault(case, at, "apply", "the game is endless: from here no line of play comes to an end.")
