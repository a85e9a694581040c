"""Every game to its end at the terminal: against each bot, hot-seat, by pipe; with garbage; with commands."""

from __future__ import annotations

import contextlib
import io
import json
import random
import re
from typing import Any

import pytest

import piste
from piste import bots
from piste.check.formats import ALPHABET, mangled
from piste.cli.players import seat_players
from piste.cli.session import PlayerLeftError, Session
from piste.cli.terminal import Terminal
from piste.core.game import find, names
from piste.core.replay import new_head, seated
from tests.cli.terminal_user import Keyboard, last_line, random_session, session_of

SHORT: dict[str, dict[str, Any]] = {"zero-sum-grid": {"turns": 12}, "zero-sum-duel": {"turns": 30}}
TABLES = [(name, SHORT.get(name, {}), 2) for name in names()]
TABLES += [("mccoy-duel", {"players": n, "rounds": 1}, n) for n in (3, 4)]
EVERY = pytest.mark.parametrize(("name", "options", "seats"), TABLES)


def final(session: Session) -> piste.Ending:
    ending = session.table.ending()
    assert ending is not None
    return ending


@pytest.mark.parametrize(
    ("name", "options", "seats"),
    [pytest.param(*row, marks=[pytest.mark.slow] if row[0] == "mccoy-duel" else []) for row in TABLES],
)
def test_against_each_bot_to_the_end(name: str, options: dict[str, Any], seats: int) -> None:
    for bot in bots.names(find(name)):
        session, page = random_session(name, options, ["you", *[bot] * (seats - 1)], f"against {bot}")
        session.run()
        assert final(session)
        assert "hand over" not in page.getvalue(), "one person against bots never sees a hand-over"
        assert piste.replay(session.table.record()).record() == session.table.record()


@EVERY
def test_hot_seat_to_the_end(name: str, options: dict[str, Any], seats: int) -> None:
    session, page = random_session(name, options, ["you"] * seats, "hot seat")
    session.run()
    assert final(session)
    handed = "press Enter when only you can see the screen" in page.getvalue()
    assert handed == (name in ("zero-sum-duel", "mccoy-duel", "positive-negative"))


@EVERY
def test_people_and_bots_together(name: str, options: dict[str, Any], seats: int) -> None:
    session, _ = random_session(name, options, ["random", *["you"] * (seats - 1)], "mixed")
    session.run()
    assert final(session)


@EVERY
def test_bots_alone_need_nobody(name: str, options: dict[str, Any], seats: int) -> None:
    session, page = random_session(name, options, ["random"] * seats, "alone")
    session.run()
    assert final(session)
    assert page.getvalue().count("\n") > 5


@EVERY
def test_by_pipe_to_the_end(name: str, options: dict[str, Any], seats: int) -> None:
    """Decisions piped in, one a line: pauses take no line, and nothing is cleared."""
    head = new_head(name, options, seed="pipe")
    table, recorder = seated(head)
    chooser, page = random.Random("pipe"), io.StringIO()

    def answer() -> str:
        actor = table.to_act
        assert actor is not None
        return chooser.choice(table.view(actor).decisions) + "\n"

    terminal = Terminal(page, Keyboard(answer, terminal=False), colour=False)
    Session(head, table, recorder, seat_players(head.game, head.options, ["you"] * seats), terminal).run()
    assert table.ending() is not None
    assert "\x1b" not in page.getvalue()


@pytest.mark.parametrize("name", names())
def test_garbage_is_refused_kindly_and_costs_nothing(name: str) -> None:
    """2 000 lines of garbage in each game, 10 000 in all."""
    chooser = random.Random(f"garbage {name}")
    lines = 0

    def answer(session: Session) -> str:
        nonlocal lines
        page = session.terminal.out
        last = last_line(session)
        page.seek(0)  # keep the page short: only its end is of interest
        page.truncate()
        if "ress Enter" in last:
            return "\n"
        if lines >= 2000:
            raise EOFError
        lines += 1
        actor = session.table.to_act
        word = chooser.choice(session.table.view(actor if actor is not None else 0).decisions or ("yes",))
        kind = chooser.randrange(20)
        if kind == 0:
            return word + "\n"
        junk = "".join(chooser.choices(ALPHABET, k=chooser.randrange(30))) if kind < 8 else mangled(word, chooser)
        junk = re.sub(r"(?i)resign|quit|[\r\n\x0b\x0c\x1c-\x1e\x85\u2028\u2029]", "", junk)
        return junk + "\n"

    options: dict[str, Any] = {"rounds": 9} if name == "mccoy-duel" else {}
    for attempt in range(2000):
        session, _ = session_of(new_head(name, options, seed=f"{name} {attempt}"), ["you", "random"], answer)
        try:
            session.run()
        except EOFError:
            break
    assert lines == 2000


def commanded(name: str, answers: list[str], specs: list[str] | None = None, **settings: Any) -> tuple[Session, str]:
    """Play with these answers, then leave; return the session and what was on the page."""
    left = list(answers)

    def answer(session: Session) -> str:
        last = last_line(session)
        if "ress Enter" in last:
            return "\n"
        if not left:
            raise EOFError
        return left.pop(0) + "\n"

    session, page = session_of(new_head(name, {}, seed="commands"), specs or ["you", "random"], answer, **settings)
    with contextlib.suppress(EOFError, PlayerLeftError):
        session.run()
    return session, page.getvalue()


@pytest.mark.parametrize("name", names())
def test_words_that_help_are_known_at_every_prompt(name: str) -> None:
    session, page = commanded(name, ["?", "help", "rules", "hand", "table", "log", "hint", "save", "HAND"])
    assert page.count("what a bot would choose") == 2
    assert find(name).notation.TITLE.casefold() in page.casefold()
    assert "would choose" in page
    assert "To go on with it:\npiste resume\n" in page
    assert '"mark": "hint for seat' in session.table.record()
    assert session.table.ending() is None


def test_quit_leaves_and_resign_loses() -> None:
    session, _ = commanded("prime-duel", ["quit", "keep"])
    assert session.table.ending() is None
    session, page = commanded("prime-duel", ["resign", "no", "resign", "yes"])
    assert page.count("Resign this game? (yes/no): ") == 2
    assert final(session).reason == "resigned"


def test_hints_between_people_need_their_agreement() -> None:
    session, page = commanded("prime-duel", ["hint"], ["you", "you"])
    assert "No hints here" in page
    assert '"mark"' not in session.table.record()
    session, page = commanded("prime-duel", ["hint"], ["you", "you"], hints=True)
    assert '"mark"' in session.table.record()


def test_a_typo_gets_the_nearest_decision_offered_and_not_taken() -> None:
    session, page = commanded("prime-duel", ["kepe"])
    assert "Did you mean keep?" in page
    assert '"seat": "1"' not in session.table.record()


@pytest.mark.parametrize("typed", [["R", "2", "A"], ["r2+"], ["R2A"], ["row", "2", "add"], ["R2", "a"], ["row 2 +1"]])
def test_grid_takes_the_steps_of_the_sheet_and_the_short_forms(typed: list[str]) -> None:
    session, _ = commanded("zero-sum-grid", typed, ["you", "you"])
    line = json.loads(session.table.record().splitlines()[-1])
    assert line.get("move") == "R2+"


def test_brief_is_brief() -> None:
    _, long = commanded("zero-sum-grid", ["R2+", "R2+"], ["you", "you"])
    _, short = commanded("zero-sum-grid", ["R2+", "R2+"], ["you", "you"], brief=True)
    assert len(short) < len(long)
    assert "[R] Row" not in short


def test_no_input_fails_instead_of_asking() -> None:
    head = new_head("prime-duel", seed="x")
    table, recorder = seated(head)
    terminal = Terminal(io.StringIO(), io.StringIO("keep\n"), asking=False)
    with pytest.raises(piste.PisteError, match="--no-input"):
        Session(head, table, recorder, seat_players(head.game, head.options, ["you", "you"]), terminal).run()


@EVERY
def test_nothing_is_wider_than_forty_columns_where_the_terminal_is(
    name: str, options: dict[str, Any], seats: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    session, page = random_session(name, options, ["you", *["random"] * (seats - 1)], "narrow")
    session.run()
    typed = "Do you want to keep this card? (yes/no)"  # the sheet's own line has 41 letters
    long = [line for line in page.getvalue().split("\n") if len(line) > 40 and typed not in line]
    assert long == []
