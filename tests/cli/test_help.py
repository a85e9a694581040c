"""The help and the manual page: every command in a group, and a line for every argument."""

from __future__ import annotations

import argparse
import shlex
import subprocess
from pathlib import Path

import pytest

import piste.cli.commands
from piste.cli.commands.man import manual
from piste.cli.main import main
from piste.cli.parser import EXAMPLES, GROUPS, make_parser
from tests.limits import PATIENCE_S
from tests.system_packages import needed

COMMANDS = [name for group in GROUPS.values() for name in group]


def parsers() -> dict[str, argparse.ArgumentParser]:
    (tree,) = (action for action in make_parser()._actions if isinstance(action, argparse._SubParsersAction))
    return dict(tree.choices)


def test_every_command_stands_in_one_group() -> None:
    folder = Path(piste.cli.commands.__file__).parent
    modules = {path.stem.replace("_", "-") for path in folder.iterdir() if not path.stem.startswith("__")}
    assert sorted(COMMANDS) == sorted(modules) == sorted(parsers())
    text = make_parser().format_help()
    assert "None" not in text
    places = [text.index(f"\n{group}:\n") for group in GROUPS]
    assert places == sorted(places)
    assert list(GROUPS) == ["play", "study", "analyse", "develop", "host"]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_argument_has_a_line_and_every_command_examples(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    parser = parsers()[name]
    assert all(action.help for action in parser._actions)
    text = parser.format_help()
    assert text.startswith(f"usage: piste {name}")
    assert max(map(len, text.splitlines())) <= 80
    examples = text.partition("\nexamples:\n")[2].splitlines()
    assert examples
    for line in examples:
        command = line.partition(" > ")[0]  # into a file
        words = shlex.split(command)
        assert words[:2] == ["piste", name]
        make_parser().parse_args(words[1:])


@pytest.mark.parametrize("columns", [40, 80])
def test_the_help_fits_the_screen(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    lines = make_parser().format_help().partition("examples:")[0].splitlines()
    assert max(len(line) for line in lines if not line.startswith(("usage", "Five"))) <= columns


def test_help_of_a_command_by_its_name(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (("help", "review"), ("review", "--help")):
        with pytest.raises(SystemExit):
            main(words)
        assert capsys.readouterr().out.startswith("usage: piste review RECORD [options]")


def test_the_manual_has_every_command_and_every_argument() -> None:
    page = manual().replace("\\-", "-")
    for name, parser in parsers().items():
        assert f'.SS "piste {name}' in page
        for action in parser._actions:
            shown = action.help is not argparse.SUPPRESS and "--help" not in action.option_strings
            assert not shown or ", ".join(action.option_strings) in page
    for heading in ("NAME", "SYNOPSIS", "OPTIONS", "ENVIRONMENT", "EXIT STATUS", "EXAMPLES"):
        assert f".SH {heading}" in page
    assert all(f".B {example}" in page for example in EXAMPLES)
    for line in page.splitlines():
        assert not line.startswith("'")
        assert not line.startswith(".") or line.split()[0] in (".TH", ".SH", ".SS", ".TP", ".B")


@pytest.mark.slow
def test_man_reads_the_manual_without_a_warning(request: pytest.FixtureRequest) -> None:
    done = subprocess.run(
        [needed("man", "man-db", request, skipped="reading the manual page"), "--warnings", "-l", "-"],
        input=manual(),
        capture_output=True,
        text=True,
        env={"MANWIDTH": "80", "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "MANPAGER": "cat"},
        timeout=PATIENCE_S,
        check=True,
    )
    assert done.stderr == ""
    assert "piste play GAME" in done.stdout
    assert "--set OPTION=VALUE" in done.stdout
    assert "EXIT STATUS" in done.stdout
