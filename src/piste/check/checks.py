"""All checks by name, and what running them comes to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from piste.check.case import Case, FaultError, raised
from piste.check.formats import check_fuzz, check_notation, check_record, check_text
from piste.check.secrecy import check_secrecy
from piste.check.soundness import check_contract, check_property
from piste.check.twins import check_perft, check_twin, measure_speed
from piste.core.errors import MissingExtraError, PisteError

CHECKS: dict[str, Callable[[Case], str]] = {
    "contract": check_contract,
    "property": check_property,
    "secrecy": check_secrecy,
    "twin": check_twin,
    "notation": check_notation,
    "text": check_text,
    "record": check_record,
    "perft": check_perft,
    "fuzz": check_fuzz,
    "bench": measure_speed,
}
"""Each returns what it looked at, or raises a FaultError. The first two come first: the others build on them."""

BASIC = ("contract", "property")


class Finding(NamedTuple):
    """What one check came to."""

    check: str
    passed: bool
    note: str  # what was looked at, or a sentence about the fault
    function: str = ""  # the function at fault
    history: str = ""  # the shortest history known that shows it
    skipped: bool = False

    @property
    def sentence(self) -> str:
        """The whole of it in one line."""
        where = f"{self.function}: " if self.function else ""
        return f"{self.check}: {where}{self.note}" + (f" After: {self.history}." if self.history else "")


def run_check(name: str, case: Case) -> Finding:
    """Run one check; what fails in another way than by a fault is a fault too."""
    try:
        return Finding(name, True, CHECKS[name](case))
    except FaultError as e:
        return Finding(name, False, e.sentence, e.function, e.history)
    except MissingExtraError as e:
        return Finding(name, True, str(e), skipped=True)
    except Exception as e:
        sentence = str(e) if isinstance(e, PisteError) else f"the rules fail in the check `{name}`: {raised(e)}."
        return Finding(name, False, sentence, _function_of(e))


def _function_of(error: Exception) -> str:
    """Return the innermost function of the game that an error came out of."""
    name, trace = "rules", error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename.endswith(("rules.py", "notation.py", "text.py")):
            name = trace.tb_frame.f_code.co_name
        trace = trace.tb_next
    return name


def run_checks(case: Case, names: Iterable[str] = CHECKS) -> Iterator[Finding]:
    """Run checks one after the other; after a fault in what the others build on, these are left out."""
    broken = ""
    for name in names:
        if broken:
            yield Finding(name, True, f"left out: `{broken}` comes first.", skipped=True)
            continue
        finding = run_check(name, case)
        yield finding
        if not finding.passed and name in BASIC:
            broken = name
