"""The check of secrets: two histories of which a seat was told the same look the same to it.

What `tell` says is what a seat may know. A view that differs although nothing that was told does shows a secret; so
does a set of decisions. Who is to act and what sort of action comes is known to all. At the end everything may be
shown; fields that show secrets before it are named in `SHOWN` of the game's `observation.py`.
"""

from __future__ import annotations

import random
from typing import Any

from piste.check.case import Case, FaultError, seat_text
from piste.core.game import counted
from piste.core.protocols import HIDDEN, OVER, SPECTATOR, Event

HISTORIES_PER_GAME = 100
SEARCH_STEPS = 2000
"""How many steps are tried to find a second history that a seat was told the same of."""

Steps = tuple[int, ...]


def check_secrecy(case: Case) -> str:
    compared = _check_short_histories(case) + _check_long_histories(case)
    return f"{counted(compared, 'pair')} of histories that a seat was told the same of"


def _everyone(case: Case) -> tuple[int, ...]:
    return (SPECTATOR, *range(case.seats))


def _check_short_histories(case: Case) -> int:
    """Go through all histories, shortest first, as far as they go, and compare those told the same."""
    rules, compared = case.rules, 0
    known: dict[Any, tuple[Any, Steps]] = {}
    layer: list[tuple[Any, Steps, tuple[tuple[Any, ...], ...]]] = [
        (rules.start(case.options), (), ((),) * (1 + case.seats))
    ]
    looked = 0
    while layer and looked < case.games * HISTORIES_PER_GAME:
        following = []
        for s, steps, told in layer:
            looked += 1
            actor = rules.to_act(s)
            if actor == OVER or looked > case.games * HISTORIES_PER_GAME:
                continue
            for seat, events in zip(_everyone(case), told, strict=True):
                now = _shown(case, s, seat)
                before, first = known.setdefault((seat, events), (now, steps))
                if first != steps:
                    compared += 1
                    _compare(case, seat, before, now, first, steps)
            for step in case.choices(s):
                after = rules.apply(s, step)
                public = rules.to_act(after), HIDDEN if rules.to_act(after) == OVER else rules.kind(after)
                heard = [rules.tell(s, step, seat) for seat in _everyone(case)]
                _check_spectator(case, heard, steps)
                shown = [_secrets(case, after, seat) for seat in _everyone(case)]
                longer = tuple((*events, *new, public) for events, *new in zip(told, heard, shown, strict=True))
                following.append((after, (*steps, step), longer))
        layer = following
    return compared


def _check_spectator(case: Case, heard: list[Event], steps: Steps) -> None:
    """Fail if a spectator is told what some seat is not."""
    for seat, event in enumerate(heard[1:]):
        for name, public, own in zip(Event._fields, heard[0], event, strict=True):
            if public != HIDDEN and public != own:
                who = seat_text(case, seat)
                raise FaultError(
                    "tell", f"a spectator is told the {name} of an event that {who} is not told.", case.told(steps)
                )


def _shown(case: Case, s: Any, seat: int) -> tuple[Any, int]:
    """Return what a seat sees, and its decisions if it is to act."""
    return case.rules.look(s, seat), case.rules.legal(s) if case.rules.to_act(s) == seat else 0


def _compare(case: Case, seat: int, one: Any, two: Any, first: Steps, second: Steps) -> None:
    """Fail if a seat can tell apart what it was told the same of."""
    revealed = _revealed(case)
    for name, a, b in zip(one[0]._fields, one[0], two[0], strict=True):
        if a != b and not (name in revealed and _full(a) and _full(b)):
            raise FaultError(
                "look",
                f"a view leaks: `{name}` shows {seat_text(case, seat)} what `tell` did not. It is {a!r} there, and "
                f"{b!r} after {case.told(second)}.",
                case.told(first),
            )
    if one[1] != two[1] and one[0] == two[0]:
        raise FaultError(
            "legal",
            f"it depends on what {seat_text(case, seat)} cannot see: it is {one[1]:b} there, and {two[1]:b} after "
            f"{case.told(second)}.",
            case.told(first),
        )


def _revealed(case: Case) -> tuple[str, ...]:
    return tuple(getattr(case.game.observation, "SHOWN", ()))


def _secrets(case: Case, s: Any, seat: int) -> tuple[Any, ...]:
    """Return what a seat is shown in the fields that show secrets."""
    names = _revealed(case)
    if not names:
        return ()
    view = case.rules.look(s, seat)
    return tuple(value for name in names if _full(value := getattr(view, name)))


def _full(value: Any) -> bool:
    return any(n not in (0, HIDDEN) for n in (value if isinstance(value, tuple) else (value,)))


def _check_long_histories(case: Case) -> int:
    """Compare states in the middle of random games with others that a seat was told the same of."""
    compared = 0
    for seed in range(case.games):
        chooser = random.Random(f"{case} secrets {seed}")
        history = tuple(step for step in case.played(seed).history() if isinstance(step, int))
        states = [s for s, _ in case.walked(history)]
        cuts = [at for at, s in enumerate(states) if case.rules.to_act(s) >= 0]
        if not cuts:
            continue
        steps = history[: chooser.choice(cuts)]
        for seat in _everyone(case):
            other = another_history(case, steps, states, seat, chooser)
            if other is not None:
                compared += 1
                end = other[1]
                _compare(case, seat, _shown(case, states[len(steps)], seat), _shown(case, end, seat), steps, other[0])
    return compared


def another_history(
    case: Case, steps: Steps, states: list[Any], seat: int, chooser: random.Random
) -> tuple[Steps, Any] | None:
    """Return another history of which a seat was told the same, with its state, or None if none was found."""
    rules = case.rules
    stack: list[tuple[Any, Steps]] = [(states[0], ())]
    for _ in range(SEARCH_STEPS):
        if not stack:
            return None
        s, so_far = stack.pop()
        at = len(so_far)
        if at == len(steps):
            if so_far != steps:
                return so_far, s
            continue
        if rules.to_act(s) == seat:
            possible = [steps[at]] if steps[at] in case.choices(s) else []
        else:
            possible = case.choices(s)
            chooser.shuffle(possible)
        wanted = rules.tell(states[at], steps[at], seat)
        true = states[at + 1]
        for step in possible:
            if rules.tell(s, step, seat) == wanted:
                after = rules.apply(s, step)
                public = rules.to_act(after) == rules.to_act(true) and (
                    rules.to_act(true) == OVER or rules.kind(after) == rules.kind(true)
                )
                # On the way, what is shown has to agree: the last views are compared by the caller.
                if public and (at + 1 == len(steps) or _secrets(case, after, seat) == _secrets(case, true, seat)):
                    stack.append((after, (*so_far, step)))
    return None
