"""`piste tournament`: its text, JSON, page, exit codes and refusals."""

from __future__ import annotations

import io
import json
import os
from html.parser import HTMLParser
from pathlib import Path

import pytest

from piste.analysis.arena.results import Results
from piste.cli.commands import tournament
from piste.cli.main import main
from piste.cli.progress_bar import ProgressBar
from tests.analysis.arena.test_tournament import planned, played

SMALL = ("--set", "target=20", "--games", "8", "--processes", "1")


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PISTE_HOME", str(tmp_path / "home"))


def test_results_are_kept_without_being_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tournament", "prime-duel", "random", "steady", *SMALL]) == 0
    (kept,) = (tmp_path / "home" / "tournaments").iterdir()
    said = capsys.readouterr()
    assert f"Results: {kept}" in said.out + said.err
    assert "Prime Duel turns=200 target=20: 2 entrants, 8 games (4 deals)" in said.out


def test_the_json_has_everything(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tournament", "prime-duel", "random", "novice", "steady", *SMALL, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["version"], found["game"], found["games"], found["finished"]) == (1, "prime-duel", 24, True)
    assert sorted(one["name"] for one in found["entrants"]) == ["novice", "random", "steady"]
    assert [sum(one["pairs"]) for one in found["pairings"]] == [4, 4, 4]
    assert found["model"]["anchor"] == "random"
    assert set(found["model"]["los"]["steady"]) == {"random", "novice"}
    assert {"rating", "score", "los_over_next", "forfeits", "cpu", "wins_by_seat"} <= set(found["entrants"][0])
    assert (found["sprt"], found["luck_adjusted"], found["losses"], found["costliest"]) == (None, [], [], [])


def test_a_review_is_in_the_json_and_on_the_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["tournament", "zero-sum-grid", "random", "steady", "--set", "variant=harvest", "--games", "44"]
    page = tmp_path / "x.html"
    assert main([*words, "--processes", "1", "--review", "--json", "--html", str(page)]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["luck_adjusted"][0]["deals"] == 22
    assert {one["name"] for one in found["losses"]} == {"random", "steady"}
    worst = found["costliest"][0]
    assert worst["chosen"] != worst["answer"]
    assert worst["loss"] == 1.0
    text = page.read_text(encoding="utf-8")
    for wanted in ("Standings", "Results over time", "Luck taken off", "Loss by phase", "as puzzles", "heat", "<svg"):
        assert wanted in text or wanted == "heat"
    assert 'style="background:rgb(' in text
    Balanced().feed(text)


class Balanced(HTMLParser):
    """Refuses a page whose elements are not closed in order, or that fetches or runs anything."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag not in ("script", "link", "img", "iframe")
        assert not {"src", "href", "onclick"} & {name for name, _ in attrs}
        if tag not in ("meta", "line", "circle", "rect", "polyline"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in ("line", "circle", "rect", "polyline"):
            assert self.open.pop() == tag


def test_ctrl_c_shows_what_there_is_and_how_to_go_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, honest = tmp_path / "x.jsonl", Results.add
    words = ["tournament", "prime-duel", "random", "novice", "steady", *SMALL]
    assert main(words) == 0
    whole = capsys.readouterr().out.splitlines()

    def pressed(self: Results, found: object) -> None:
        honest(self, found)  # type: ignore[arg-type]
        if len(self.deals) == 5:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Results, "add", pressed)
        assert main([*words, "--results", str(path)]) == 130
    said = capsys.readouterr()
    assert "10 of 24 games (5 deals)" in said.out
    assert f"Go on with: piste tournament --resume {path}" in said.out + said.err
    assert main(["tournament", "--resume", str(path), "--processes", "1"]) == 0
    again = capsys.readouterr().out.splitlines()
    assert without_times(again) == without_times(whole)


def without_times(lines: list[str]) -> list[str]:
    """Return a report without the file and the CPU times."""
    return [" ".join(line.split()[:-1]) if line[:2] in ("1 ", "2 ", "3 ") else line for line in lines[1:]]


@pytest.mark.parametrize(
    ("words", "code", "why"),
    [
        ((), 2, "Name a game and at least two entrants"),
        (("prime-duel", "steady"), 2, "A tournament has at least two entrants"),
        (("prime-duel", "steady", "stedy"), 2, "Did you mean steady?"),
        (("prime-duel", "steady", "random", "--sprt", "5"), 2, "--sprt cannot be '5'"),
        (("prime-duel", "steady", "random", "--limit", "soon"), 2, "--limit cannot be 'soon'"),
        (("prime-duel", "steady", "random", "--engine", "moon"), 2, "There is no engine 'moon'"),
        (("prime-duel", "steady", "--resume", "x"), 2, "With --resume the file says who plays what"),
        (("--resume", "/no/such/file"), 1, "cannot be read: No such file"),
        (("prime-duel", "random", "steady", "--results", "/no/such/folder/x"), 1, "cannot be written"),
    ],
)
def test_what_is_wrong_gets_a_sentence(
    words: tuple[str, ...], code: int, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if why == "cannot be written" and Path("/no").exists():
        pytest.fail("this machine has a folder /no")
    home = Path(os.environ["PISTE_HOME"]) / "tournaments"
    where = ("/proc/nothing/x" if word == "/no/such/folder/x" else word for word in words)
    assert main(["tournament", *where]) == code
    assert why in capsys.readouterr().err
    assert not home.exists() or list(home.iterdir()) == []  # no empty file is left behind


class Screen(io.StringIO):
    """A terminal of 60 columns that keeps what is written to it."""

    def isatty(self) -> bool:
        return True


def test_live_standings_are_drawn_in_place(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Screen()
    monkeypatch.setattr("sys.stderr", screen)
    monkeypatch.setattr("os.get_terminal_size", lambda _: os.terminal_size((60, 24)))
    monkeypatch.setattr(screen, "fileno", lambda: 2)
    monkeypatch.setattr(tournament, "LIVE_INTERVAL_S", -1.0)
    monkeypatch.setenv("TERM", "xterm")
    results = played(planned("prime-duel", "random", "steady", games=4, given={"target": 9}))
    with ProgressBar("playing") as bar, tournament.LiveStandings(bar) as live:
        begun = screen.getvalue()
        assert begun == "\r\x1b[Kplaying ..."
        live(results)
        first = screen.getvalue().removeprefix(begun)
        assert first.startswith("\r\x1b[J")
        assert first.endswith(f"\n{begun}")  # the bar is there again, below
        lines = first.removeprefix("\r\x1b[J").removesuffix(f"\n{begun}").split("\n")
        assert sorted(line.split()[1] for line in lines[1:]) == ["random", "steady"]
        assert max(map(len, lines)) < 60
        live(results)
        assert screen.getvalue() == begun + first + "\r\x1b[3A" + first[1:]  # over the first ones
    assert screen.getvalue().endswith("\r\x1b[3A\x1b[J\r\x1b[K")


def test_nothing_is_drawn_where_nobody_looks(capsys: pytest.CaptureFixture[str]) -> None:
    with ProgressBar() as bar, tournament.LiveStandings(bar) as live:
        live(played(planned("prime-duel", "random", "steady", games=2, given={"target": 9})))
    assert capsys.readouterr().err == ""
