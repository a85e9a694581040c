"""A program in any language takes a seat: what it is told, what it may answer, and what happens if it does not."""

from __future__ import annotations

import json
import os
import re
import select
import shlex
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import piste
from piste import bots
from piste.bots.messages import plain
from piste.bots.program import MAX_LINE_BYTES, ProgramBot
from piste.core.errors import BotError
from piste.core.game import find, names
from tests import ROOT
from tests.game_setups import FULL, Kind
from tests.limits import PATIENCE_S

PAGE = (ROOT / "docs" / "bots.md").read_text(encoding="utf-8")
EXAMPLE = re.findall(r"```python\n(#!.*?)```", PAGE, re.DOTALL)[0]
MESSAGES = [json.loads(block) for block in re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)]

GAME = find("prime-duel")
SHORT = 0.2  # for what never comes

START = "import json, os, signal, sys\n"
# A program that answers what it is asked, and writes all it hears into a file.
ORDERLY = """
with open(sys.argv[1], "w") as heard:
    for line in sys.stdin:
        print(line, end="", file=heard, flush=True)
        message = json.loads(line)
        if message["type"] == "decide":
            print(json.dumps({"decision": message["decisions"][0]}), flush=True)
    print("closed", file=heard)
"""


def program(
    tmp_path: Path, code: str, game: piste.Game = GAME, *, limit: float = PATIENCE_S, grace: float = PATIENCE_S
) -> ProgramBot:
    path = tmp_path / "bot.py"
    path.write_text(START + code, encoding="utf-8")
    words = [sys.executable, "-I", "-S", str(path), str(tmp_path / "heard")]
    return ProgramBot(shlex.join(words), game, limit=limit, grace=grace)


def opened() -> piste.Table:
    return piste.open_table("prime-duel", {"first": 1}, seed="programs", laid="7 10 9")


def ask(bot: bots.Bot, table: piste.Table, seat: int = 0) -> int:
    view = table.view(seat)
    return bot.choose(view, piste.Dealer("programs").stream(bots.stream_name(view)))


class Started(list[subprocess.Popen[bytes]]):
    """The programs that were started. Of the times that each is waited for, the first few are over at once."""

    impatient = 0


@pytest.fixture(autouse=True)
def started(monkeypatch: pytest.MonkeyPatch) -> Iterator[Started]:
    """Note each program that is started; after the test none may be left, nor a thread that served it."""
    threads, noted = threading.active_count(), Started()

    class Noted(subprocess.Popen[bytes]):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            noted.append(self)
            self._impatient = noted.impatient

        def wait(self, timeout: float | None = None) -> int:
            if timeout is not None and self._impatient > 0:
                self._impatient -= 1
                timeout = 0.0
            return super().wait(timeout)

    monkeypatch.setattr(subprocess, "Popen", Noted)
    yield noted
    for process in noted:
        with pytest.raises(ProcessLookupError):  # a zombie would still be there
            os.kill(process.pid, 0)
    assert threading.active_count() == threads


def heard(tmp_path: Path) -> list[str]:
    return (tmp_path / "heard").read_text().splitlines()


def twice(bot: bots.Bot) -> None:
    """Ask two questions: both are the first player's."""
    table = opened()
    table.decide(0, ask(bot, table))
    ask(bot, table)


def failure(bot: bots.Bot) -> str:
    """Return the complaint about a program."""
    with pytest.raises(BotError) as failed:
        twice(bot)
    with pytest.raises(BotError, match="has been closed"):
        ask(bot, opened())
    assert str(failed.value).startswith("The bot 'cmd:")
    return str(failed.value)


@pytest.mark.parametrize("kind", FULL, ids=str)
def test_the_example_of_the_page_plays_every_game_to_its_end(kind: Kind, tmp_path: Path) -> None:
    path = tmp_path / "mybot.py"
    path.write_text(EXAMPLE, encoding="utf-8")
    path.chmod(0o755)
    table = piste.open_table(kind.game, kind.options, seed="example")
    spec = f"cmd:{shlex.join([sys.executable, '-I', '-S', str(path)])}"
    seated = [bots.find(spec if seat == 0 else "random", table.game) for seat in range(table.seats)]
    while table.to_act is not None:
        table.decide(table.to_act, ask(seated[table.to_act], table, table.to_act))
    for seat, bot in enumerate(seated):
        bots.finish(bot, table.view(seat))
    assert len(FULL) >= len(names())


def test_the_messages_are_those_of_the_page(tmp_path: Path) -> None:
    bot, table = program(tmp_path, ORDERLY), opened()
    table.decide(0, ask(bot, table))
    table.decide(0, ask(bot, table))
    table.resign(0)
    bots.finish(bot, table.view(0))
    *lines, last = heard(tmp_path)
    hello, _, second, end = (json.loads(line) for line in lines)
    assert [hello, second, {"decision": "keep", "number": 1}, end] == MESSAGES
    assert last == "closed"


def test_the_log_is_told_once_and_whole_and_hides_what_is_hidden(tmp_path: Path) -> None:
    game = find("zero-sum-duel")
    bot = program(tmp_path, ORDERLY, game)
    table = piste.open_table("zero-sum-duel", {"first": "b", "turns": 30}, seed="log")
    views = []
    while table.to_act is not None:
        view = table.view(table.to_act)
        if table.to_act == 0:
            views.append(plain(view.position))
            table.decide(0, ask(bot, table))
        else:
            table.decide(1, view.actions[-1])
    bots.finish(bot, table.view(0))
    lines = [json.loads(line) for line in heard(tmp_path)[:-1]]
    told = [entry for message in lines[1:] for entry in message["log"]]
    assert told == [piste.core.belief.event_text(game, table.options, t.event) for t in table.view(0).log]
    assert "draw@B:?" in told
    assert not any(re.fullmatch(r"draw@B:[+-]\d", entry) for entry in told)
    assert [message["view"] for message in lines[1:-1]] == views


def test_a_game_taken_up_again_is_told_from_its_start_with_the_same_luck(tmp_path: Path) -> None:
    heard_first: list[Any] = []
    for path in (tmp_path / "whole", tmp_path / "again"):
        path.mkdir()
        table = opened()
        bot = program(path, ORDERLY)
        if path.name == "whole":
            table.decide(0, ask(bot, table))
        else:
            table.decide(0, "keep")
            table = piste.replay(table.record())
        ask(bot, table)
        bot.close()
        heard_first.append([json.loads(line) for line in heard(path)[:-1]])
    whole, again = heard_first
    assert again[1]["log"] == [*whole[1]["log"], *whole[2]["log"]]
    assert again[1]["random"] == whole[2]["random"] != whole[1]["random"]


# What goes wrong

ASKED = "sys.stdin.readline(); sys.stdin.readline()\n"  # the greeting, and the first question


@pytest.mark.parametrize(
    ("code", "complaint"),
    [
        (
            ASKED + "print('keep', flush=True)\nsys.stdin.read()",
            "sent 'keep', which is not JSON.",
        ),
        (
            ASKED + "sys.stdout.buffer.write(b'\\xff\\xfe\\n')\nsys.stdout.flush()\nsys.stdin.read()",
            "which is not JSON.",
        ),
        (
            ASKED + "print('[' * 4000, flush=True)\nsys.stdin.read()",
            "which is not JSON.",
        ),
        (
            ASKED + "print('[1]', flush=True)\nsys.stdin.read()",
            "sent '[1]'; an answer looks like",
        ),
        (
            ASKED + "print('{}', flush=True)\nsys.stdin.read()",
            "an answer looks like",
        ),
        (
            ASKED + "print('{\"decision\": 0}', flush=True)\nsys.stdin.read()",
            "sent '{\"decision\": 0}'; an answer looks like",
        ),
        (
            ASKED + 'print(\'{"decision": "fold"}\', flush=True)\nsys.stdin.read()',
            "chose 'fold', which is not open. There were: keep, discard.",
        ),
        (
            ASKED + 'print(\'{"decision": "keep", "number": 8}\', flush=True)\nsys.stdin.read()',
            "but question 0 was asked.",
        ),
        (
            ASKED + 'os.write(1, b\'{"decision": "keep"}\\n{"decision": "keep"}\\n\')\nsys.stdin.read()',
            'answered more than once: it sent \'{"decision"',
        ),
        (
            ASKED + 'os.write(1, b\'{"decision": "keep"\')\nsys.exit(3)',
            'ended after \'{"decision": "keep"\' with exit code 3.',
        ),
        (ASKED + "sys.exit('no idea')", "exit code 1. It wrote: 'no idea'."),
        ("raise ValueError('a bug')", "ended with exit code 1. It wrote: '"),
        ("os.write(1, b'x' * 5000)\nsys.stdin.read()", f"sent a line of more than {MAX_LINE_BYTES} bytes: 'xxx"),
        (
            "os.write(1, b'x' * 5000 + b'\\n')\nsys.stdin.read()",
            f"sent a line of more than {MAX_LINE_BYTES} bytes: 'xxx",
        ),
    ],
)
def test_what_a_program_does_wrong_is_said_in_a_sentence(code: str, complaint: str, tmp_path: Path) -> None:
    assert complaint in failure(program(tmp_path, code))


def test_what_a_program_wrote_last_is_shown(tmp_path: Path) -> None:
    code = "for i in range(50):\n    print('line', i, file=sys.stderr)\nraise KeyError('oh')"
    said = failure(program(tmp_path, code))
    assert "KeyError: 'oh'" in said
    assert "line 1 " not in said


def test_a_program_that_never_answers_is_not_waited_for(tmp_path: Path) -> None:
    code = "for _ in sys.stdin:\n    pass"
    assert "gave no answer within 0.2 seconds." in failure(program(tmp_path, code, limit=SHORT))


def test_a_program_that_speaks_before_it_is_asked_is_found_out(tmp_path: Path) -> None:
    # Its second line comes whenever it comes: before the next question, or as if it were the answer to it.
    code = (
        ASKED
        + ""
        + "".join(
            f"os.write(1, json.dumps({{'decision': 'keep', 'number': {number}}}).encode() + b'\\n')\n"
            for number in (0, 9)
        )
    )
    said = failure(program(tmp_path, code + "sys.stdin.read()"))
    assert "spoke before it was asked" in said or "answered more than once" in said or "but question 1 was" in said


def test_a_program_that_floods_its_output_is_ended(tmp_path: Path) -> None:
    code = "try:\n    while True:\n        os.write(1, b'{}\\n' * 10000)\nexcept OSError:\n    pass"
    said = failure(program(tmp_path, code))
    assert "spoke before it was asked" in said or "answered more than once" in said


@pytest.mark.parametrize(
    ("does", "impatient", "ended_by"), [("SIG_IGN", 2, signal.SIGKILL), ("SIG_DFL", 1, signal.SIGTERM)]
)
def test_a_program_that_does_not_leave_is_made_to(
    does: str, impatient: int, ended_by: int, tmp_path: Path, started: Started
) -> None:
    code = (
        f"signal.signal(signal.SIGTERM, signal.{does})\nsys.stdin.readline(); sys.stdin.readline()\n"
        "print(json.dumps({'decision': 'keep'}), flush=True)\nwhile True:\n    signal.pause()"
    )
    started.impatient = impatient
    bot = program(tmp_path, code)
    ask(bot, opened())
    bot.close()
    assert [process.returncode for process in started] == [-ended_by]


def test_a_program_that_does_not_read_holds_nothing_up(tmp_path: Path, started: Started) -> None:
    started.impatient = 1
    table = piste.open_table("zero-sum-grid", {"turns": 0, "first": 1}, laid="2 2 2 / 0 0 0 / 0 0 0")
    for _ in range(4000):  # a log longer than any pipe holds
        table.decide(0, "R1+")
        table.decide(1, "R1-")
    bot = program(tmp_path, "while True:\n    signal.pause()", table.game, limit=SHORT)
    with pytest.raises(BotError, match=r"gave no answer within 0\.2 seconds"):
        ask(bot, table)


def test_what_a_program_started_is_ended_with_it(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    end = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    # The child holds the fifo open, and the program's output too, until it dies.
    code = (
        "if os.fork() == 0:\n"
        f"    os.write(os.open({str(fifo)!r}, os.O_WRONLY), b'!')\n"
        "    while True:\n        signal.pause()\n"
    )
    bot = program(tmp_path, code + ORDERLY)
    try:
        ask(bot, opened())
        select.select([end], [], [], PATIENCE_S)
        assert os.read(end, 1) == b"!"
        bot.close()
        assert select.select([end], [], [], PATIENCE_S)[0] == [end]
        assert os.read(end, 1) == b""  # nobody holds it any more
    finally:
        os.close(end)


def test_close_may_come_at_any_time_and_twice(tmp_path: Path, started: Started) -> None:
    idle = program(tmp_path, ORDERLY)
    idle.close()
    assert started == []
    with pytest.raises(BotError, match="has been closed"):
        ask(idle, opened())
    bot = program(tmp_path, ORDERLY)
    ask(bot, opened())
    bot.close()
    bot.close()
    bots.finish(bot, opened().view(0))
    assert [json.loads(line)["type"] for line in heard(tmp_path)[:-1]] == ["hello", "decide"]
    assert heard(tmp_path)[-1] == "closed"


@pytest.mark.parametrize(
    ("spec", "complaint"),
    [
        ("cmd:", "needs a command line"),
        ("cmd:'never closed", "its command line has no closing quotation."),
        ("cmd:./no-such-bot --flag", "'./no-such-bot' is not there, or may not be run."),
    ],
)
def test_a_command_line_that_cannot_work_is_refused_before_the_game(spec: str, complaint: str) -> None:
    with pytest.raises(BotError, match=re.escape(complaint)):
        bots.find(spec, GAME)


def test_a_file_that_is_no_program_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("these are notes\n")
    path.chmod(0o755)
    with pytest.raises(BotError, match="cannot be started: Exec format error"):
        ask(bots.find(f"cmd:{shlex.quote(str(path))}", GAME), opened())


def test_a_command_line_is_not_given_to_a_shell(tmp_path: Path) -> None:
    spec = f"cmd:{shlex.join([sys.executable, '-c', 'import sys; sys.exit(str(sys.argv[1:]))'])}"
    with pytest.raises(BotError) as failed:
        ask(bots.find(f"{spec} $HOME > {tmp_path / 'made'}", GAME), opened())
    assert "$HOME" in str(failed.value).rpartition("It wrote:")[2]
    assert not (tmp_path / "made").exists()
