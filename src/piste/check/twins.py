"""Checks of the rules compiled by numba: they say what the interpreted ones say and count the same trees; speed."""

from __future__ import annotations

from collections.abc import Iterator
from time import process_time
from typing import Any, NamedTuple

from piste.check.case import Case, FaultError, raised
from piste.compiled.compiler import game_kernels
from piste.compiled.simulate import simulate
from piste.core.extras import COMPILED, need
from piste.core.protocols import CHANCE, OVER, SPECTATOR

MAX_SEQUENCES = 20_000
"""Trees of more sequences are counted by compiled rules only, or not at all."""

MAX_DEPTH = 12
BENCH_GAMES = 20_000
MEASURED_S = 0.2


class Call(NamedTuple):
    """A function of the rules and what it is called with."""

    function: str
    arguments: tuple[Any, ...]


def check_twin(case: Case) -> str:
    """Compile every function, and compare each with its twin at every step of random games."""
    need(COMPILED)
    plain, compiled = case.rules, game_kernels(case.game, compiled=True)
    compared = 0
    seeds = range(1 + case.games // 10)
    for seed in seeds:
        history = tuple(step for step in case.played(seed).history() if isinstance(step, int))
        steps: list[int] = []
        for s, step in case.walked(history):
            for call in _calls(case, s, step):
                one = getattr(plain, call.function)(*call.arguments)
                two = _compiled_call(case, compiled, call, steps)
                compared += 1
                if one != two:
                    raise FaultError(call.function, f"it returns {one!r}, and compiled {two!r}.", case.told(steps))
            if isinstance(step, int):
                steps.append(step)
    return f"{compared:,} calls"


def _compiled_call(case: Case, compiled: Any, call: Call, steps: list[int]) -> Any:
    try:
        return getattr(compiled, call.function)(*call.arguments)
    except Exception as e:  # numba has many errors, and their texts are long
        raise FaultError(call.function, f"numba cannot compile it: {numba_reason(e)}", case.told(steps)) from e


def numba_reason(error: Exception) -> str:
    """Return the line of numba's message that says most."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    telling = [
        line for line in lines if "File" not in line and not line.startswith(("Failed in", "During:", "- ", "^"))
    ]
    named = [line for line in telling if "cannot" in line.lower() or "unknown" in line.lower() or "No impl" in line]
    return (named or telling or [raised(error)])[0]


def _calls(case: Case, s: Any, step: Any) -> Iterator[Call]:
    """Yield every function with what it can be called with at a state."""
    rules = case.rules
    yield Call("to_act", (s,))
    actor = rules.to_act(s)
    if actor == OVER:
        yield Call("reason", (s,))
    elif actor == CHANCE:
        yield Call("outcomes", (s,))
        for outcome in case.choices(s):
            yield Call("weight", (s, outcome))
        spread = rules.spread(s)
        yield Call("spread", (s,))
        for at in range(0, spread, 1 + spread // 50):
            yield Call("drawn", (s, at))
    else:
        yield Call("legal", (s,))
        for seat in range(case.seats):
            yield Call("leave", (s, seat))
    for seat in (SPECTATOR, *range(case.seats)):
        yield Call("look", (s, seat))
        if seat >= 0:
            yield Call("payoff", (s, seat))
        if isinstance(step, int):
            yield Call("tell", (s, step, seat))
    if isinstance(step, int):
        yield Call("kind", (s,))
        yield Call("apply", (s, step))


def counted_trees(case: Case, most: int = MAX_SEQUENCES, *, compiled: bool = True) -> list[int]:
    """Return how many sequences of 1, 2, 3 ... steps there are, until more than `most` or none."""
    kernels = game_kernels(case.game, compiled=compiled)
    state, counts = case.rules.start(case.options), []
    for depth in range(1, MAX_DEPTH + 1):
        counts.append(int(kernels.perft(state, depth)))
        if counts[-1] == 0 or counts[-1] > most:
            break
    return counts


def check_perft(case: Case) -> str:
    """Count trees both ways."""
    need(COMPILED)
    compiled = counted_trees(case)
    plain = game_kernels(case.game, compiled=False)
    state = case.rules.start(case.options)
    for depth, count in enumerate(compiled, 1):
        if count <= MAX_SEQUENCES and (own := int(plain.perft(state, depth))) != count:
            raise FaultError("apply", f"there are {own:,} sequences of {depth} steps, and {count:,} compiled.")
    return "sequences of steps: " + ", ".join(f"{count:,}" for count in compiled)


def measure_speed(case: Case) -> str:
    """Measure how many random games a second of one core plays, compiled and interpreted."""
    need(COMPILED)
    compiled, plain = _speed(case, BENCH_GAMES, compiled=True), _speed(case, 20, compiled=False)
    return f"{compiled:,.0f} games a CPU second; interpreted {plain:,.0f}"


def _speed(case: Case, games: int, *, compiled: bool) -> float:
    """Return random games a second of one core; as many are played as it takes to measure that."""
    took = 0.0
    for n in (1, *(games * 4**i for i in range(6))):  # the first compiles
        began = process_time()
        simulate(case.game, case.options, n, seed="check", threads=1, compiled=compiled, most=100_000)
        took = process_time() - began
        if n > 1 and took > MEASURED_S:
            break
    return float(n / max(took, 1e-9))
