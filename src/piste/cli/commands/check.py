"""`piste check`: whether a game keeps what its rules promise, and where not."""

from __future__ import annotations

import argparse

from piste.check.case import Case
from piste.check.checks import CHECKS, Finding, run_checks
from piste.cli.arguments import option_pairs, whole_number
from piste.cli.output import print_json
from piste.cli.terminal import Terminal
from piste.core.errors import OptionError
from piste.core.game import listed, quoted

MAX_GAMES = 100_000


def run(args: argparse.Namespace, terminal: Terminal) -> int:
    wanted = args.only or list(CHECKS)
    for name in wanted:
        if name not in CHECKS:
            raise OptionError(f"There is no check {quoted(name)}. There are: {listed(list(CHECKS), 'and')}.")
    case = Case(args.game, option_pairs(args.set), whole_number("games", args.games, 1, MAX_GAMES))
    findings: list[Finding] = []
    if not args.json:
        terminal.toned(case.game.notation.TITLE, "heading")
    for finding in run_checks(case, [name for name in CHECKS if name in wanted]):
        findings.append(finding)
        if not args.json:
            show(finding, terminal)
    faults = [finding for finding in findings if not finding.passed]
    if args.json:
        document = {"game": case.game.name, "options": case.game.option_texts(case.options), "passed": not faults}
        print_json(terminal, document | {"checks": [finding._asdict() for finding in findings]}, version=1)
    elif faults:
        terminal.note(f"\nRepeat it with: piste check {case.game.name} --only {faults[0].check}")
    return 1 if faults else 0


def show(finding: Finding, terminal: Terminal) -> None:
    """Print what a check came to: the function at fault, a sentence, and the history that shows it."""
    mark = "left out" if finding.skipped else "ok" if finding.passed else "FAULT"
    where = f"{finding.function}: " if finding.function else ""
    terminal.listing([(f"{finding.check:<9}{mark}", f"{where}{finding.note}")])
    if finding.history:
        terminal.listing([("", f"After: {finding.history}")], indent="  ")
