"""A game as JSON lines: a head, a line for each outcome and decision, an ending.

Lines are written as the game goes, so that a crash loses nothing. Each line carries a check over itself and all
lines before it, so that a damaged or edited record can say where. docs/records.md describes the format.

The head of a record holds the seed. A running record is for the table's owner only.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from hashlib import blake2b
from typing import Any, NamedTuple, NoReturn

from piste.core.dealer import ChanceSource, Commitment, Dealer, PresetDealer, ScriptedDealer
from piste.core.errors import DealError, OptionError, PositionError, RecordError, UnknownNameError
from piste.core.game import Game, find, quoted
from piste.core.marks import Mark, Note, mark_text, read_mark
from piste.core.position import Position
from piste.core.protocols import CHANCE
from piste.core.steps import Resignation, Step
from piste.core.views import Ending

FORMAT = 1
FIELDS = ("n", "seat", "chance", "outcome", "resigns", "mark", "ending", "winner", "payoffs", "check", "checksum")
"""What the lines of a record have; a decision stands beside them under its kind, which is none of these."""

MAX_BYTES = 16 << 20
"""No record has more bytes than this."""

Write = Callable[[str], object]


class Head(NamedTuple):
    """What a game was begun with: enough to deal it again."""

    game: Game
    options: Any
    seats: tuple[str, ...]  # who sits where
    seed: str | bytes | None  # None: the outcomes were given one by one
    commitment: Commitment | None
    laid: str = ""  # cards or grid laid by hand, in the game's notation
    named: bool = False  # whether a player named the seed
    notes: Mapping[str, str] = {}
    position: str = ""  # that the game began from, in the notation; all seats know it

    @property
    def counts(self) -> bool:
        """Whether the game may count in a standing (G8)."""
        return not self.laid and not self.position and not self.named and self.seed is not None

    def line(self) -> dict[str, Any]:
        head: dict[str, Any] = {
            "piste": FORMAT,
            "game": self.game.name,
            "rules": self.game.rules.VERSION,
            "options": self.game.option_texts(self.options),
            "seats": list(self.seats),
        }
        commitment = self.commitment
        further = {
            "laid": self.laid or None,
            "position": self.position or None,
            "commitment": commitment and commitment.digest,
            "salt": commitment and commitment.salt,
            **({"seed_hex": self.seed.hex()} if isinstance(self.seed, bytes) else {"seed": self.seed}),
            "counts": self.counts,
            "named": self.named or None,
            "notes": dict(self.notes) or None,
        }
        head.update((key, value) for key, value in further.items() if value is not None)
        return head

    def open(self, dealer: ChanceSource | None = None) -> tuple[ChanceSource, Any]:
        """Return the dealer of this game and the state it begins from, or None for the usual one."""
        if dealer is None:
            dealer = Dealer(self.seed) if self.seed is not None else ScriptedDealer(())
        if self.position:
            origin = Position.parse(self.position)
            if (origin.game.name, origin.state.options) != (self.game.name, self.options) or self.laid:
                raise PositionError("This position is of another game, or with other options.")
            return dealer, origin.state
        if not self.laid:
            return dealer, None
        deal = self.game.notation.lay(self.options, self.laid)
        begins = deal.state if deal.state != self.game.rules.start(self.options) else None
        return (PresetDealer(deal, dealer) if self.seed is not None else dealer), begins


class OutcomeEntry(NamedTuple):
    """What chance brought, by name."""

    name: str


class DecisionEntry(NamedTuple):
    """What a seat decided, by name."""

    seat: int
    name: str


Entry = OutcomeEntry | DecisionEntry | Resignation | Mark


class Recorder:
    """Writes a game's lines as they happen or, where nobody takes them, when somebody first reads them."""

    def __init__(self, head: Head, write: Write | None = None) -> None:
        self._game = head.game
        self._write = write
        self._check = ""
        self._lines: list[str] = []
        self._entries: list[Entry] = []
        self._pending: list[tuple[Any, Head | Step | Mark | Ending]] = []  # not written out yet, each with its state
        self.running = True  # until the game has ended
        self._note(None, head)

    def step(self, state: Any, step: Step) -> None:
        """Note an outcome, a decision or a resignation at a state."""
        self._note(state, step)

    def mark(self, mark: Mark) -> None:
        """Note something about the game that is no part of it, such as a hint that was given."""
        text = mark_text(self._game, mark)
        if isinstance(mark, Note) and read_mark(self._game, text) != mark:  # a name in it must forge no other mark
            raise ValueError(f"The note {quoted(text)} would be read back as another kind of mark.")
        self._note(None, mark)

    def end(self, ending: Ending) -> None:
        """Note how the game ended."""
        self.running = False
        self._note(None, ending)

    @property
    def lines(self) -> list[str]:
        """Every line so far."""
        self._write_out()
        return self._lines

    @property
    def entries(self) -> list[Entry]:
        """The same as values, without the head and the ending."""
        self._write_out()
        return self._entries

    def _note(self, state: Any, what: Head | Step | Mark | Ending) -> None:
        self._pending.append((state, what))
        if self._write is not None:
            self._write_out()

    def _write_out(self) -> None:
        pending, self._pending = self._pending, []
        for state, what in pending:
            match what:
                case Head():
                    self._put(what.line())
                case int():
                    self._put_action(state, what)
                case Ending():
                    self._put_ending(what)
                case Resignation(seat):
                    self._entries.append(what)
                    self._put({"n": len(self._lines), "seat": self._game.seat_name(seat), "resigns": True})
                case _:
                    self._entries.append(what)
                    self._put({"n": len(self._lines), "mark": mark_text(self._game, what)})

    def _put_action(self, state: Any, action: int) -> None:
        game, rules = self._game, self._game.rules
        kind, actor = game.kind_name(rules.kind(state)), rules.to_act(state)
        if actor == CHANCE:
            name = game.outcome_name(state, action)
            self._entries.append(OutcomeEntry(name))
            self._put({"n": len(self._lines), "chance": kind, "outcome": name})
        else:
            name = game.notation.spell(rules.look(state, actor), action)[0]
            self._entries.append(DecisionEntry(actor, name))
            self._put({"n": len(self._lines), "seat": game.seat_name(actor), kind: name})

    def _put_ending(self, ending: Ending) -> None:
        winner = None if ending.winner is None else self._game.seat_name(ending.winner)
        self._put(
            {
                "n": len(self._lines),
                "ending": ending.reason,
                "winner": winner,
                "payoffs": list(ending.payoffs),
                "checksum": blake2b("\n".join(self._lines).encode(), digest_size=16).hexdigest(),
            }
        )

    def _put(self, line: dict[str, Any]) -> None:
        body = dumped(line)
        self._check = chained(self._check, body)
        text = f'{body[:-1]}, "check": "{self._check}"}}'
        self._lines.append(text)
        if self._write is not None:
            self._write(text + "\n")

    def attach(self, write: Write, after: int) -> None:
        """Write to this from now on, beginning with the lines that come after the first `after`."""
        for text in self.lines[after:]:
            write(text + "\n")
        self._write = write


_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(", ", ": "))


def dumped(line: Mapping[str, Any]) -> str:
    return _ENCODER.encode(line)


def chained(before: str, line: str) -> str:
    """Return the check of a line: eight hexadecimal digits that depend on it and on all lines before."""
    return blake2b(f"{before}\n{line}".encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()


class Record(NamedTuple):
    """A record that was read and whose checks hold; `replay` plays it and checks the rest."""

    head: Head
    lines: tuple[str, ...]
    steps: tuple[Mapping[str, Any], ...]  # outcomes, decisions, resignations and marks, in order
    ending: Mapping[str, Any] | None

    @classmethod
    def parse(cls, text: str | bytes, *, mend: bool = False) -> Record:
        """Read a record; with `mend`, forgive a last line that a crash cut off."""
        lines = _lines(text, mend=mend)
        if mend and len(lines) > 1 and not _whole(lines[-1]):
            lines.pop()
        objects: list[dict[str, Any]] = []
        check = ""
        for at, line in enumerate(lines, 1):
            fields = _object(at, line, last=at == len(lines))
            fields.pop("check", None)
            body = dumped(fields)
            check = chained(check, body)
            if line != f'{body[:-1]}, "check": "{check}"}}':
                refuse(at, "its check does not fit: this line, or one before it, was changed or lost")
            objects.append(fields)
        head = _head(objects[0])
        steps, ending = objects[1:], None
        for at, step in enumerate(steps, 2):
            if step.get("n") != at - 1:
                refuse(at, f"it should be number {at - 1}")
            if "ending" in step:
                if at != len(lines):
                    refuse(at + 1, "the game ended in the line before")
                digest = blake2b("\n".join(lines[:-1]).encode(), digest_size=16).hexdigest()
                if step.get("checksum") != digest:
                    refuse(at, "the checksum does not fit the lines above")
                ending = step
        return cls(head, tuple(lines), tuple(steps[: len(steps) - (ending is not None)]), ending)

    @property
    def marks(self) -> list[Mark]:
        return [read_mark(self.head.game, str(step["mark"])) for step in self.steps if "mark" in step]

    @property
    def text(self) -> str:
        return "".join(f"{line}\n" for line in self.lines)


def _lines(text: str | bytes, *, mend: bool) -> list[str]:
    if len(text) > MAX_BYTES:
        raise RecordError(f"This is no record: it has more than {MAX_BYTES} bytes.")
    if isinstance(text, bytes):
        raw = text[: text.rfind(b"\n") + 1] if mend and b"\n" in text else text  # a crash may cut a letter in two
        try:
            text = raw.decode("utf-8")
        except UnicodeDecodeError as e:
            refuse(raw.count(b"\n", 0, e.start) + 1, "it is not text in UTF-8")
    # What editors do to a file without changing a word of it: a mark at the front, other line ends, blank lines.
    lines = [line.removesuffix("\r") for line in text.removeprefix("\ufeff").split("\n")]
    while lines and not lines[-1].strip():
        lines.pop()
    if not lines:
        raise RecordError("This is no record: it is empty.")
    return lines


def _whole(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def _object(at: int, line: str, *, last: bool) -> dict[str, Any]:
    try:
        fields = json.loads(line)
        line.encode()
        dumped(fields).encode()
    except (ValueError, RecursionError):
        if last and at > 1:
            refuse(at, "it is cut off or damaged. The lines before it are whole: `mend` reads those")
        refuse(at, "it is not a line of JSON")
    if not isinstance(fields, dict):
        refuse(at, "it is not an object in braces")
    if at == 1 and "piste" not in fields:
        raise RecordError('This is no record of piste: the first line has no "piste".')
    return fields


def refuse(at: int, why: object) -> NoReturn:
    """Refuse a record for what is wrong with one of its lines, counted from 1."""
    raise RecordError(f"Line {at} of the record cannot be used: {str(why).rstrip('.')}.") from None


def _head(head: Mapping[str, Any]) -> Head:
    if head["piste"] != FORMAT:
        raise RecordError(
            f"This record is in format {quoted(head['piste'])}; this version of piste reads format {FORMAT}."
        )
    name, options, seats = head.get("game"), head.get("options"), head.get("seats")
    if not isinstance(name, str) or not isinstance(options, dict) or not isinstance(seats, list):
        refuse(1, "it does not name a game, its options and who sits where")
    try:
        game = find(name)
        chosen = game.options(options)
    except (UnknownNameError, OptionError) as e:
        refuse(1, e)
    if head.get("rules") != game.rules.VERSION:
        raise RecordError(
            f"This record was played by rules {quoted(head.get('rules'))} of {game.notation.TITLE}; this version "
            f"of piste has rules {game.rules.VERSION}."
        )
    if len(seats) != game.rules.seats(chosen) or not all(isinstance(seat, str) for seat in seats):
        refuse(1, f"it should name who sits on each of {game.rules.seats(chosen)} seats")
    seed = _seed(head)
    commitment = None
    if seed is not None:
        commitment = Commitment(str(head.get("commitment")), str(head.get("salt")))
        if not commitment.keeps(seed):
            refuse(1, "the seed is not the one that was promised at the deal")
    laid, named, notes = head.get("laid", ""), head.get("named", False), head.get("notes", {})
    if not isinstance(laid, str) or not isinstance(named, bool) or not isinstance(notes, dict):
        refuse(1, "what it says of the deal cannot be read")
    position = head.get("position", "")
    if not isinstance(position, str):
        refuse(1, "the position is not text")
    parsed = Head(game, chosen, tuple(seats), seed, commitment, laid, named, notes, position)
    try:
        parsed.open()
    except (DealError, PositionError) as e:
        refuse(1, e)
    if head.get("counts") != parsed.counts:
        refuse(1, f"such a game {'counts' if parsed.counts else 'does not count'}")
    return parsed


def _seed(head: Mapping[str, Any]) -> str | bytes | None:
    if "seed" in head:
        if not isinstance(head["seed"], str):
            refuse(1, "the seed is not text")
        return str(head["seed"])
    if "seed_hex" in head:
        try:
            return bytes.fromhex(head["seed_hex"])
        except (TypeError, ValueError):
            refuse(1, "the seed is not written in hexadecimal")
    return None
