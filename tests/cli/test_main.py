"""The commands: what they print, how they refuse, what they load."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import piste
from piste.bots import LEVELS
from piste.cli.main import main
from piste.core.game import find, names
from tests.cli.terminal_user import Page
from tests.limits import PATIENCE_S

COMMANDS = ("play", "games", "rules", "replay", "resume", "bots", "where", "bench", "completion")


def run(home: Path, *arguments: str, typed: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "piste", *arguments],
        input=typed,
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**os.environ, "PISTE_HOME": str(home), "PYTHONIOENCODING": "utf-8", **environment},
        timeout=PATIENCE_S,
        check=False,
    )


def test_without_arguments_and_terminal_it_lists_the_games_and_the_next_command(tmp_path: Path) -> None:
    done = run(tmp_path)
    assert done.returncode == 0
    assert all(name in done.stdout for name in names())
    assert "piste play " in done.stdout


def test_help_lists_the_commands(tmp_path: Path) -> None:
    done = run(tmp_path, "--help")
    assert done.returncode == 0
    assert "\x1b" not in done.stdout
    assert all(f"\n  {command}" in done.stdout for command in COMMANDS)


def test_version(tmp_path: Path) -> None:
    assert run(tmp_path, "--version").stdout == f"piste {piste.__version__}\n"


def test_json_is_one_document_and_nothing_else(tmp_path: Path) -> None:
    for arguments in (["games"], ["games", "--played"], ["bots"], ["bots", "duel"], ["where"]):
        done = run(tmp_path, *arguments, "--json")
        assert json.loads(done.stdout)["format"] == 1
        assert done.stderr == ""


@pytest.mark.parametrize("name", names())
def test_rules_are_the_page_without_its_markup(name: str, tmp_path: Path) -> None:
    wide, narrow = run(tmp_path, "rules", name, "--all"), run(tmp_path, "rules", name, "--all", COLUMNS="40")
    short = run(tmp_path, "rules", name)
    assert len(short.stdout.splitlines()) < 75, "the rules are on one screen or two"
    assert f"piste rules {name} --all" in short.stdout
    assert ">>>" not in wide.stdout
    assert find(name).notation.TITLE in wide.stdout
    assert "**" not in wide.stdout
    ruling = {"zero-sum-duel": "Z1", "positive-negative": "P1", "zero-sum-grid": "R1", "prime-duel": "Q1"}
    assert f"{ruling.get(name, 'D1')}. " in wide.stdout
    prose = [line for line in narrow.stdout.split("\n") if not line.startswith("    ") and "://" not in line]
    assert max(map(len, prose)) <= 46  # a name longer than the line may stick out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["ply"], "Did you mean play?"),
        (["play", "prime-dual"], "Did you mean prime-duel?"),
        (["play", "prime-duel", "--vs", "stedy"], "Did you mean steady?"),
        (["play", "prime-duel", "--set", "top"], "option=value"),
        (["play", "prime-duel", "--set", "top=99"], "option 'top'"),
        (["play", "prime-duel", "--grid", "1 2 3"], "it takes --deck"),
        (["play", "prime-duel", "--deck", "11"], "not a card"),
        (["play", "prime-duel", "--players", "3"], "always for 2 players"),
        (["play", "positive-negative", "--first", "1"], "no option 'first'"),
        (["play", "duel", "--seat", "you"], "2 seats"),
        (["play", "duel", "--seat", "you", "--vs", "random"], "not both"),
        (["play", "prime-duel", "--name", "Ann", "--name", "Ann"], "same name"),
        (["play", "prime-duel", "--name", "\x1b[2J"], "letters that can be printed"),
        (["rules", "chess"], "There is no game 'chess'"),
        (["puzzle", "prime-duel", "--number", "x"], "piste: --number cannot be 'x'"),
        (["completion", "tcsh"], "tcsh"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_sentence(arguments: list[str], words: str, tmp_path: Path) -> None:
    done = run(tmp_path, *arguments)
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["resume"], "no running game"),
        (["resume", "../../etc/passwd"], "not the name of a kept game"),
        (["replay", "last"], "no finished game"),
        (["replay", "/nowhere/at/all.jsonl"], "cannot be opened"),
    ],
)
def test_what_is_not_there_is_said_in_a_sentence(arguments: list[str], words: str, tmp_path: Path) -> None:
    done = run(tmp_path, *arguments)
    assert done.returncode == 1
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_moves_may_be_piped_in_and_the_game_is_kept_listed_and_shown_again(tmp_path: Path) -> None:
    done = run(tmp_path, "play", "positive-negative", "--vs", "random", typed="yes\n" * 20)
    assert done.returncode == 0
    assert "Final scores are:" in done.stdout
    (path,) = (tmp_path / "games").glob("*.jsonl")
    assert path.stem in done.stdout
    listed = json.loads(run(tmp_path, "games", "--played", "--json").stdout)
    assert listed["played"][0]["id"] == path.stem
    assert sum(listed["standing"][0][key] for key in ("won", "drawn", "lost")) == 1
    again = run(tmp_path, "replay", "last")
    assert "Final scores are:" in again.stdout
    assert run(tmp_path, "replay", str(path)).stdout == again.stdout
    whole = json.loads(run(tmp_path, "replay", "last", "--json").stdout)
    assert (whole["format"], whole["game"]) == (1, "positive-negative")
    assert whole["steps"][0] == {"n": 1, "chance": "draw", "outcome": whole["steps"][0]["outcome"]}
    assert whole["ending"]["payoffs"] in ([1, -1], [-1, 1], [0, 0])
    assert run(tmp_path, "resume", path.stem).returncode == 1


def test_g8_a_named_seed_and_a_laid_deck_do_not_count_in_the_standing(tmp_path: Path) -> None:
    for extra in (["--seed", "mine"], ["--deck", "5 -3"]):
        done = run(tmp_path, "play", "positive-negative", "--vs", "random", *extra, typed="yes\n" * 20)
        assert "does not count" in done.stdout
    assert json.loads(run(tmp_path, "games", "--played", "--json").stdout)["standing"] == []
    assert run(tmp_path, "games", "--played").stdout.count("does not count") == 2


def test_a_running_record_is_not_shown(tmp_path: Path) -> None:
    done = run(tmp_path, "play", "prime-duel", "--first", "1", typed="")
    assert "To go on with it:" in done.stderr
    (path,) = (tmp_path / "games").glob("*.jsonl")
    assert run(tmp_path, "replay", path.stem, "--json").stdout == ""
    shown = run(tmp_path, "replay", path.stem)
    assert shown.returncode == 1
    assert "secrets" in shown.stderr
    assert shown.stdout == ""


def test_a_closed_pipe_is_silent(tmp_path: Path) -> None:
    environment = {**os.environ, "PISTE_HOME": str(tmp_path)}
    program = [sys.executable, "-m", "piste", "rules", "mccoy-duel"]
    with subprocess.Popen(program, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completions(shell: str, tmp_path: Path) -> None:
    done = run(tmp_path, "completion", shell)
    assert done.returncode == 0
    assert all(command in done.stdout for command in COMMANDS)
    assert all(word in done.stdout for word in (*names(), *LEVELS))


def test_a_long_complaint_is_broken_where_a_person_reads_it_and_nowhere_else(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("play", "prime-duel", "--set", "no-such-option-of-any-game=1")
    assert main(words) == 2
    plain = capsys.readouterr().err
    assert plain.count("\n") == 1
    assert len(plain) > 80
    page = Page()
    monkeypatch.setattr(sys, "stderr", page)
    monkeypatch.setenv("COLUMNS", "80")
    assert main(words) == 2
    assert max(map(len, page.getvalue().splitlines())) <= 80
    assert page.getvalue().split() == plain.split()


@pytest.mark.parametrize("setting", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_no_colour_where_none_is_wanted(setting: dict[str, str], tmp_path: Path) -> None:
    done = run(tmp_path, "play", "prime-duel", typed="yes\nquit\n", **setting)
    assert "\x1b" not in done.stdout
    assert "\x1b" in run(tmp_path, "play", "prime-duel", typed="yes\nquit\n", FORCE_COLOR="1", NO_COLOR="").stdout


def test_help_loads_no_game_and_nothing_heavy() -> None:
    code = "import sys, piste.cli.main; piste.cli.main.make_parser().format_help(); print('\\n'.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    modules = set(done.stdout.split())
    ours = {name for name in modules if name.startswith("piste")}
    assert ours == {
        "piste",
        "piste.cli.main",
        "piste.core",
        "piste.core.errors",
        "piste.cli",
        "piste.cli.base_parser",
        "piste.cli.host_parser",
        "piste.cli.parser",
        "piste.cli.program_parser",
    }
    assert not {"numpy", "numba", "rich", "asyncio", "json", "shtab", "platformdirs"} & modules


def test_startup_is_measured_as_ratios(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("piste.cli.commands.bench.startup.RUNS", 1)
    assert main(["bench", "--startup", "--json"]) == 0
    assert set(json.loads(capsys.readouterr().out)["ratio"]) == {"help", "prompt"}


def test_who_chooses_a_bot_that_thinks_for_minutes_is_told_before_the_game(tmp_path: Path) -> None:
    slow = ("play", "prime-duel", "--vs", "perfect", "--first", "1", "--set")
    assert "expert thinks for minutes a decision" in run(tmp_path, *slow, "target=500", typed="quit\n").stdout
    assert "a decision" not in run(tmp_path, *slow, "target=50", typed="quit\n").stdout
