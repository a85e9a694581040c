"""Ctrl-C while something is prepared, solved or thought about: clean at any moment, and the game goes on.

PISTE_INTERRUPTS says how many times, at random moments of a cold start; without it that is done once. Each case is
also interrupted at the first sign of work on the screen.
"""

from __future__ import annotations

import itertools
import os
import random
import subprocess
import sys
from pathlib import Path

import pexpect
import pytest

from tests.cli.terminal_user import clean, spawned
from tests.limits import random_moment

MANY = int(os.environ.get("PISTE_INTERRUPTS", "1"))
LONGEST = float(os.environ.get("PISTE_INTERRUPT_WITHIN", "20"))
"""Seconds after the work has begun within which one of many interrupts comes."""

CASES = ("hint", "solve")
GAMES = ("zero-sum-duel", "positive-negative", "prime-duel", "mccoy-duel")

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")


def asked_for_a_hint(home: Path, game: str, wait: float | None) -> str:
    """Interrupt a hint; the question must come back and the game go on. Return all that stood on the screen."""
    play = spawned(home, "play", game, "--vs", "novice", "--brief", "--seed", "3", XDG_CACHE_HOME=str(home / "cache"))
    code = 0
    if not _up_to_a_question(play):
        play.sendline("hint")
        _interrupt(play, wait)
        if play.expect(["The hint was stopped. The game goes on.", "The game is kept"]) == 0:
            play.sendline("quit")
        else:
            code = 130  # the hint was quicker: Ctrl-C at the question leaves, as ever
    play.expect(pexpect.EOF)
    play.close()
    assert play.exitstatus == code, clean(play.logfile_read.getvalue())
    return clean(play.logfile_read.getvalue())


def _up_to_a_question(play: pexpect.spawn) -> bool:
    """Play until something is asked of the person that a hint could answer; return whether the game ended first."""
    import io

    play.logfile_read = io.StringIO()
    while True:
        found = play.expect([r"\S: $|\? $|\(yes/no\)\r\n$", r"Press Enter", "To see this game again", pexpect.EOF])
        if found == 0:
            return False
        if found > 1:
            return True
        play.sendline("")


def solved(home: Path, game: str, wait: float | None) -> str:
    """Interrupt a solve; it must end with a sentence. Return all that stood on the screen."""
    import io

    run = spawned(home, "solve", game, XDG_CACHE_HOME=str(home / "cache"))
    run.logfile_read = io.StringIO()
    _interrupt(run, wait)
    run.expect(pexpect.EOF)
    run.close()
    text = clean(run.logfile_read.getvalue())
    assert run.exitstatus in (0, 130), (run.exitstatus, run.signalstatus, text)
    assert run.exitstatus == 0 or "Stopped before it was solved" in text, text
    return text


def _interrupt(run: pexpect.spawn, wait: float | None) -> None:
    """Send Ctrl-C when the first sign of work is there, and after so long."""
    run.expect(r"\.\.\.|Preparing|solving|would choose|Player")
    if wait is not None:
        random_moment(wait)
    run.sendintr()


def broken(text: str) -> bool:
    return any(word in text for word in ("Traceback", "Error", "Exception", "Segmentation", "Aborted"))


@pytest.mark.parametrize("case", CASES)
def test_ctrl_c_ends_what_is_worked_at_and_nothing_else(case: str, tmp_path: Path) -> None:
    text = asked_for_a_hint(tmp_path, "prime-duel", None) if case == "hint" else solved(tmp_path, "mccoy-duel", None)
    assert not broken(text), text


def test_ctrl_c_after_the_last_word_changes_nothing() -> None:
    program = "import atexit, signal, sys; from piste.cli.main import main; "
    program += "atexit.register(signal.raise_signal, signal.SIGINT); sys.argv = ['piste', 'games']; sys.exit(main())"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr) == (0, "")


@pytest.mark.slow
def test_ctrl_c_at_random_moments_of_a_cold_start_is_clean(tmp_path: Path) -> None:
    moments = random.Random("interrupts")
    every = itertools.cycle(itertools.product(GAMES, CASES))
    for number, (game, case) in zip(range(MANY), every, strict=False):
        home = tmp_path / str(number)
        home.mkdir()
        wait = moments.uniform(0, LONGEST)
        text = asked_for_a_hint(home, game, wait) if case == "hint" else solved(home, game, wait)
        assert not broken(text), (number, game, case, wait, text)
