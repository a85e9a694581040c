"""What once went wrong, or might: secrets left on a screen, bytes that cannot be read, disks that are full."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pexpect
import pytest

from tests.cli.terminal_user import clean, random_session, spawned
from tests.cli.test_main import run
from tests.limits import PATIENCE_S

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminals here")

HOT_SEAT = ("--seat", "you", "--seat", "you")
WAITS = "press Enter when only you can see the screen"


def test_brief_still_waits_before_another_person_sees_their_cards(tmp_path: Path) -> None:
    program = spawned(
        tmp_path, "play", "zero-sum-duel", *HOT_SEAT, "--brief", "--first", "a", "--deck", "1 2 3 4 5 -1 -2"
    )
    program.expect_exact(f"Player A: {WAITS}")
    assert "Your hand" not in program.before
    program.sendline("")
    program.expect_exact("Choose a card to discard: ")
    seen = clean(program.before)
    assert seen.count("You draw a card:") == 4, "the turns that were not shown are told together"
    program.sendline("-2")
    program.expect_exact("Press Enter, then hand over to Player B. ")
    assert "Player B's Turn" not in program.before
    program.sendline("")
    program.expect_exact(f"Player B: {WAITS}")
    assert "\x1b[3J" in program.before
    assert "Player B's Turn" not in program.before
    program.close(force=True)


def test_secrets_of_several_people_are_not_sent_where_they_cannot_be_hidden(tmp_path: Path) -> None:
    command = f"{sys.executable} -m piste play zero-sum-duel --seat you --seat you | cat"
    program = pexpect.spawn(
        "/bin/sh",
        ["-c", command],
        env={**os.environ, "PISTE_HOME": str(tmp_path)},
        encoding="utf-8",
        timeout=PATIENCE_S,
    )
    program.expect_exact("need a terminal that can be cleared")
    program.expect(pexpect.EOF)
    assert "Your hand" not in program.before


@pytest.mark.parametrize("leave", ["\x03", "quit\r"], ids=["ctrl-c", "quit"])
def test_leaving_a_game_of_several_people_clears_what_one_of_them_saw(leave: str, tmp_path: Path) -> None:
    program = spawned(
        tmp_path, "play", "zero-sum-duel", *HOT_SEAT, "--brief", "--first", "a", "--deck", "1 2 3 4 5 -1 -2"
    )
    program.expect_exact(WAITS)
    program.sendline("")
    program.expect_exact("Choose a card to discard: ")
    program.send(leave)
    program.expect_exact("The game is kept.")
    assert "\x1b[3J" in program.before
    again = spawned(tmp_path, "resume")
    again.expect_exact(WAITS)
    assert "\x1b[3J" in again.before, "what stood there before is taken away"
    again.close(force=True)


def test_words_at_a_pause_are_not_taken_for_enter(tmp_path: Path) -> None:
    program = spawned(tmp_path, "play", "zero-sum-duel", *HOT_SEAT, "--first", "a")
    program.expect_exact(WAITS)
    program.sendline("what now")
    program.expect_exact("Press Enter alone to go on")
    program.expect_exact(WAITS)
    assert "Your hand" not in program.before
    program.sendline("quit")
    program.expect_exact("The game is kept.")


def test_resuming_does_not_retell_turns_from_the_deal_on(tmp_path: Path) -> None:
    program = spawned(tmp_path, "play", "zero-sum-duel", *HOT_SEAT, "--first", "a", "--deck", "1 2 3 4 5 -1 -2")
    for _ in range(6):
        program.expect_exact(WAITS)
        program.sendline("")
        program.expect_exact("Press Enter to continue.")
        program.sendline("")
    program.expect_exact(WAITS)
    program.sendline("")
    program.expect_exact("Choose a card to discard: ")
    program.sendline("quit")
    program.expect_exact("The game is kept.")
    again = spawned(tmp_path, "resume")
    again.expect_exact(f"Player A: {WAITS}")
    again.sendline("")
    again.expect_exact("Choose a card to discard: ")
    assert clean(again.before).count("You draw a card:") == 1
    again.close(force=True)


@pytest.mark.parametrize("game", ["zero-sum-duel", "zero-sum-grid", "mccoy-duel"])
def test_an_output_that_holds_only_ascii_gets_plainer_letters(game: str, tmp_path: Path) -> None:
    done = run(tmp_path, "rules", game, "--all", PYTHONIOENCODING="ascii")
    assert done.returncode == 0
    assert done.stderr == ""
    assert done.stdout.isascii()
    assert "?" * 3 not in done.stdout


def test_names_that_an_output_cannot_hold_do_no_harm(tmp_path: Path) -> None:
    done = run(tmp_path, "play", "prime-duel", "--name", "José", typed="yes\nquit\n", PYTHONIOENCODING="ascii")
    assert done.returncode == 0
    assert "Jos? Turn:" in done.stdout


def test_bytes_that_are_no_text_are_refused_like_any_typo(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "piste", "play", "prime-duel", "--first", "1"]
    environment = {**os.environ, "PISTE_HOME": str(tmp_path), "PYTHONIOENCODING": "utf-8:strict"}
    done = subprocess.run(
        command, input=b"\xff\xfe\nyes\n", capture_output=True, env=environment, check=False, timeout=PATIENCE_S
    )
    assert done.returncode == 0
    assert b"is no answer here" in done.stdout
    assert b"Traceback" not in done.stderr
    assert b"To go on with it:" in done.stderr


def test_a_closed_pipe_in_a_game_says_how_to_go_on(tmp_path: Path) -> None:
    command = f"yes no | {sys.executable} -m piste play positive-negative --set top=30 | head -1"
    environment = {**os.environ, "PISTE_HOME": str(tmp_path)}
    done = subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True, env=environment, check=False)
    assert "To go on with it:" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-"])
def test_streams_that_are_closed_from_the_start(closed: str, tmp_path: Path) -> None:
    command = f"{sys.executable} -m piste play prime-duel --vs random {closed}"
    environment = {**os.environ, "PISTE_HOME": str(tmp_path)}
    done = subprocess.run(
        ["/bin/sh", "-c", command], input="", capture_output=True, text=True, env=environment, check=False
    )
    assert "Traceback" not in done.stderr + done.stdout


def test_a_refused_deal_leaves_no_record_behind(tmp_path: Path) -> None:
    assert run(tmp_path, "play", "zero-sum-duel", "--deck", "a b").returncode == 2
    assert run(tmp_path, "play", "zero-sum-grid", "--grid", "0 0 0 0 0 0 0 0 0").returncode == 2
    assert not (tmp_path / "games").exists()


def test_a_closed_window_ends_the_program_on_the_other_seat(tmp_path: Path) -> None:
    bot = tmp_path / "stubborn.py"
    bot.write_text(
        "import os, signal, sys\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        f"open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid()))\n"
        "for line in sys.stdin:\n"
        '    if \'"type": "decide"\' in line: print(\'{"decision": "keep"}\', flush=True)\n'
        "signal.pause()\n"
    )
    program = spawned(tmp_path, "play", "prime-duel", "--first", "2", "--vs", f"cmd:{sys.executable} {bot}")
    program.expect_exact("(yes/no): ")
    pid = int((tmp_path / "pid").read_text())
    program.kill(signal.SIGHUP)
    program.expect(pexpect.EOF)
    program.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_another_bot_can_take_the_seat_of_one_that_fails(tmp_path: Path) -> None:
    bot = tmp_path / "wrong.py"
    bot.write_text("for line in __import__('sys').stdin: print('{\"decision\": \"fly\"}', flush=True)\n")
    done = run(tmp_path, "play", "positive-negative", "--vs", f"cmd:{sys.executable} {bot}", typed="yes\n" * 20)
    assert done.returncode == 1
    assert "fly" in done.stderr
    assert "To go on with it:" in done.stderr
    done = run(tmp_path, "resume", "--vs", "random", typed="yes\n" * 20)
    assert done.returncode == 0
    assert "Final scores are:" in done.stdout
    assert "does not count" in run(tmp_path, "games", "--played").stdout


def test_the_pause_of_a_turn_is_no_line_of_the_log() -> None:
    session, page = random_session("zero-sum-duel", {"first": "a", "turns": 9}, ["you", "random"], "log")
    session.run()
    before = len(page.getvalue())
    session.command(0, "log", None)  # type: ignore[arg-type]
    assert "You draw a card:" in page.getvalue()[before:]
    assert "Press Enter" not in page.getvalue()[before:]


@pytest.mark.parametrize(
    ("game", "typed", "meant"),
    [("mccoy-duel", "dodg", "dodge"), ("prime-duel", "kepe", "keep"), ("prime-duel", "hlep", "help")],
)
def test_the_nearest_decision_is_offered_before_any_command(
    game: str, typed: str, meant: str, tmp_path: Path
) -> None:
    deck = ["--deck", "1 2"] if game == "mccoy-duel" else ["--deck", "7"]
    done = run(tmp_path, "play", game, "--first", "1", *deck, typed=f"{typed}\nquit\n")
    offered = {"dodge": "*"}.get(meant, meant)
    assert f"Did you mean {offered}?" in done.stdout


def test_the_menu_at_a_terminal(tmp_path: Path) -> None:
    program = spawned(tmp_path)
    program.expect_exact("Which game? (1-5): ")
    program.sendline("?")
    program.expect_exact("Type a number from 1 to 5")
    program.expect_exact("Which game? (1-5): ")
    program.sendline("grid")
    program.expect_exact("Against (Enter for steady): ")
    program.sendline("friend")
    program.expect(r"Player [12]'s turn\.")
    program.close(force=True)
    left = spawned(tmp_path)
    left.expect_exact("Which game?")
    left.sendline("quit")
    left.expect(pexpect.EOF)
    left.close()
    assert left.exitstatus == 0


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_that_stops_a_game_keeps_it_and_is_the_exit_code(number: int, tmp_path: Path) -> None:
    program = spawned(tmp_path, "play", "prime-duel", "--first", "1")
    program.expect_exact("(yes/no): ")
    program.kill(number)
    program.expect_exact("The game is kept. To go on with it:")
    program.expect(pexpect.EOF)
    program.close()
    assert (program.exitstatus, program.signalstatus) == (128 + number, None)
    assert "still running" in run(tmp_path, "games", "--played").stdout


def test_three_seats_imply_three_players(tmp_path: Path) -> None:
    seats = ["--seat", "random"] * 3
    done = run(tmp_path, "play", "duel", *seats, "--set", "rounds=1", "--brief")
    assert done.returncode == 0, done.stderr
    assert "Player 3" in done.stdout
    done = run(tmp_path, "play", "duel", *seats, "--players", "2")
    assert (done.returncode, "This game has 2 seats, and --seat was given 3 times." in done.stderr) == (2, True)
    done = run(tmp_path, "play", "duel", *seats, "--seat", "random", "--seat", "random")
    assert (done.returncode, "'players' cannot be '5'" in done.stderr) == (2, True)
    done = run(tmp_path, "play", "prime-duel", *seats)
    assert (done.returncode, "This game has 2 seats" in done.stderr) == (2, True)
