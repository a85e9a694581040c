"""Long texts go through a pager where a person reads them, and nowhere else."""

from __future__ import annotations

import sys
from pathlib import Path

import pexpect
import pytest

from piste.cli.parser import make_parser
from piste.cli.terminal import Terminal
from tests.cli.terminal_user import Keyboard, Page, clean, spawned
from tests.system_packages import needed

LONG = [f"line {n}" for n in range(100)]


@pytest.fixture
def shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let the pager write what it gets into a file, and return which."""
    target, program = tmp_path / "shown", tmp_path / "pager.py"
    program.write_text(f"import sys; open({str(target)!r}, 'w').write(sys.stdin.read())")
    monkeypatch.setenv("PAGER", f"{sys.executable} {program}")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("LINES", "24")
    monkeypatch.delenv("COLUMNS", raising=False)
    return target


def printed(lines: list[str], *, paging: bool = True, person: bool = True) -> str:
    page = Page()
    terminal = Terminal(page, Keyboard(lambda: "", terminal=person), colour=False, paging=paging)
    with terminal.paged():
        terminal.lines(lines)
    return page.getvalue()


def test_what_is_longer_than_the_screen_is_shown_in_the_pager(shown: Path) -> None:
    assert printed(LONG) == ""
    assert shown.read_text().split("\n") == [*LONG, ""]


def test_what_fits_the_screen_is_printed(shown: Path) -> None:
    assert printed(LONG[:23]) == "\n".join([*LONG[:23], ""])
    assert not shown.exists()


@pytest.mark.parametrize("pager", ["", "cat", "/no/such/pager", "unclosed 'quote"])
def test_without_a_pager_everything_is_printed(pager: str, shown: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PAGER", pager)
    assert printed(LONG) == "\n".join([*LONG, ""])
    assert not shown.exists()


def test_who_wants_no_pager_gets_none(shown: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = "\n".join([*LONG, ""])
    assert printed(LONG, paging=False) == whole
    assert printed(LONG, person=False) == whole
    monkeypatch.setenv("TERM", "dumb")
    assert printed(LONG) == whole
    assert not shown.exists()


def test_what_was_printed_before_an_error_is_shown(shown: Path) -> None:
    page = Page()
    terminal = Terminal(page, Keyboard(lambda: ""), colour=False)

    def fails() -> None:
        with terminal.paged():
            terminal.line("so far")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fails()
    assert page.getvalue() == "so far\n"
    assert not shown.exists()


def test_the_help_of_a_command_is_paged_too(shown: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = Page()
    monkeypatch.setattr(sys, "stdout", page)
    monkeypatch.setattr(sys, "stdin", Keyboard(lambda: ""))
    for words in (["play", "--help"], ["play", "--help", "--no-pager"]):
        with pytest.raises(SystemExit):
            make_parser(words).parse_args(words)
    assert clean(page.getvalue()) == clean(shown.read_text())


@pytest.mark.slow
def test_rules_are_read_screen_by_screen_in_less(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    needed("less", "less", request, skipped="the pager in a real terminal")
    program = spawned(tmp_path, "rules", "duel", PAGER="less", LESS="")
    program.expect_exact(":")  # the prompt of less
    program.send("q")
    program.expect(pexpect.EOF)
    assert "--all" not in program.before
    plain = spawned(tmp_path, "--no-pager", "rules", "duel", PAGER="less", LESS="")
    plain.expect(pexpect.EOF)
    assert "piste rules mccoy-duel --all" in plain.before
