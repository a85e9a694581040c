"""`piste verify`: whether a record is whole, keeps the promise made at the deal, and could have been played."""

from __future__ import annotations

import argparse
import re
from typing import NamedTuple

from piste.cli.output import print_json
from piste.cli.saved_games import find_record
from piste.cli.terminal import Terminal
from piste.core.errors import OptionError, RecordError
from piste.core.game import counted, quoted
from piste.core.record import Record
from piste.core.replay import replay

MIN_DIGITS = 16
"""The shortest part of a commitment that is worth comparing: nobody finds another seed for those digits."""


class Check(NamedTuple):
    """One thing that was checked."""

    name: str  # for machines
    holds: bool
    text: str


def run(args: argparse.Namespace, terminal: Terminal) -> int:
    expected = None if args.commitment is None else read_digest(args.commitment)
    checks: list[Check] = []
    record = None
    try:
        record = find_record(args.record)
        checks += format_checks(record)
        checks += commitment_checks(record, expected)
        checks += replay_checks(record)
    except RecordError as e:
        checks.append(Check("record", False, str(e)))
    sound = all(check.holds for check in checks)
    if args.json:
        print_json(
            terminal,
            {
                "sound": sound,
                "running": record is not None and record.ending is None,
                "commitment": None if record is None or record.head.commitment is None else digest(record),
                "checks": [{"check": check.name, "holds": check.holds, "text": check.text} for check in checks],
            },
        )
    else:
        show(record, checks, terminal)
    return 0 if sound else 1


def read_digest(text: str) -> str:
    """Return the digits of a commitment as a user copied them, all or the first ones."""
    digits = re.sub(r"[\s:…-]", "", text).removesuffix("...").casefold()
    if not re.fullmatch(rf"[0-9a-f]{{{MIN_DIGITS},64}}", digits):
        raise OptionError(
            f"--commitment is what the table showed at the deal: 64 hexadecimal digits, the first {MIN_DIGITS} of "
            f"them will do; {quoted(text)} is not."
        )
    return digits


def format_checks(record: Record) -> list[Check]:
    """Return what reading the record has already checked."""
    lines = counted(len(record.lines), "line")
    checks = [Check("chain", True, f"The record has {lines}; each fits the check over itself and all before it.")]
    if record.ending is not None:
        checks.append(Check("checksum", True, "The checksum of the whole record fits."))
    return checks


def digest(record: Record) -> str:
    return "" if record.head.commitment is None else record.head.commitment.digest


def commitment_checks(record: Record, expected: str | None) -> list[Check]:
    """Return whether the seed is the promised one, and the promise the one that was shown."""
    checks = []
    if digest(record):
        checks.append(Check("promise", True, f"The seed is the one that was promised at the deal: {digest(record)}"))
    if expected is not None:
        same = bool(digest(record)) and digest(record).startswith(expected)
        if same:
            text = "The promise in the record is the one that you were shown."
        elif digest(record):
            text = "The promise in the record is not the one that you were shown: this is the record of another deal."
        else:
            text = "The record holds no promise to compare with the one that you were shown."
        checks.append(Check("shown", same, text))
    return checks


def replay_checks(record: Record) -> list[Check]:
    """Play the record again; RecordError says where it could not have gone on."""
    table, _ = replay(record)
    chance = sum("chance" in step for step in record.steps)
    decisions = sum("seat" in step for step in record.steps)
    checks = []
    if record.head.seed is not None:
        laid = " after what was laid by hand" if record.head.laid else ""
        checks.append(Check("dealt", True, f"The seed deals every outcome of chance{laid}: {chance} of {chance}."))
    checks.append(Check("rules", True, f"The rules allow every decision: {decisions} of {decisions}."))
    ending = table.ending()
    if ending is not None and record.ending is None:
        text = f"The record breaks off after line {len(record.lines)}: the game was over, and the ending is missing."
        checks.append(Check("ending", False, text))
    elif ending is not None:
        who = "a draw" if ending.winner is None else f"{record.head.seats[ending.winner]} won"
        checks.append(Check("ending", True, f"The game ends as it is written: {who}, {ending.reason}."))
    return checks


def show(record: Record | None, checks: list[Check], terminal: Terminal) -> None:
    for check in checks:
        terminal.line(f"{'Holds' if check.holds else 'Fails'}: {check.text}")
    if not all(check.holds for check in checks):
        terminal.line("The record is not sound.")
        return
    assert record is not None
    if record.ending is None:
        terminal.line("So far the record is sound. The game is still running: who has this file knows the seed.")
    else:
        terminal.line("The record is sound.")
    for text in unproven(record):
        terminal.note(text)


def unproven(record: Record) -> list[str]:
    """Return what the checks cannot show."""
    if record.head.seed is None:
        return [
            "Its outcomes of chance were given one by one: there is no seed, and nothing shows where they came from."
        ]
    if record.head.named:
        return ["A player named the seed, so it was known before the deal; the game does not count."]
    return [
        "The promise shows that the seed was fixed before the first decision. It cannot show that nobody with access "
        "to the table's computer looked at the seed, or chose it."
    ]
