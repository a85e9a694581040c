"""What the pages say is so: every ruling has its place and its test, every example runs."""

from __future__ import annotations

import ast
import doctest
import re
from pathlib import Path
from types import ModuleType

import pytest

import piste
import piste.api
from piste.analysis import best_response
from piste.cli.commands import solve
from piste.core.game import find, names
from tests import ROOT
from tests.sizes import slow_if
from tools import terminal_svg

PAGES = ROOT / "docs" / "rules"
# How many rulings there were to begin with; more may be added, none may go.
RULINGS = {"G": 10, "Z": 7, "P": 5, "R": 7, "Q": 6, "D": 22}


def listed() -> dict[str, Path]:
    """Return the rulings that the pages list, with their page."""
    found: dict[str, Path] = {}
    for page in sorted(PAGES.glob("*.md")):
        for ruling in re.findall(r"^- \*\*([GZPRQD]\d+)\.", page.read_text(encoding="utf-8"), re.MULTILINE):
            assert ruling not in found, f"{ruling} is listed twice"
            found[ruling] = page
    return found


def test_every_ruling_is_on_a_page() -> None:
    wanted = {f"{letter}{i}" for letter, most in RULINGS.items() for i in range(1, most + 1)}
    assert len(wanted) == 57
    assert wanted <= set(listed())


def test_every_ruling_has_a_test_named_after_it() -> None:
    tested = set()
    for path in (ROOT / "tests").rglob("test_*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and (match := re.match(r"test_([gzprqd]\d+)_", node.name)):
                tested.add(match[1].upper())
    assert set(listed()) - tested == set()


@pytest.mark.parametrize("name", names())
def test_every_game_has_a_page_that_names_its_options(name: str) -> None:
    page = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    for option in find(name).notation.OPTIONS:
        assert f"`{option.name}`" in page
    credit = find(name).notation.CREDIT
    assert not credit or ("Sean McCoy" in page and "https://www.tuesdayknightgames.com/" in page)
    assert f"({name}.md)" in (PAGES / "README.md").read_text(encoding="utf-8")


def test_every_written_position_and_knowledge_can_be_read() -> None:
    text = (ROOT / "docs" / "notation.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines()]
    assert sum("|" in line for line in lines) >= 1
    assert sum("|" not in line for line in lines) >= 1
    for line in lines:
        game = find(re.split(r"[{ ]", line)[0])
        assert solve.read(game, None, line, None).base.game == game


WITH_EXAMPLES = [
    *sorted((ROOT / "docs").rglob("*.md")),
    ROOT / "README.md",
]


@pytest.mark.parametrize(
    "path",
    slow_if(lambda path: path.name == "adapters.md", WITH_EXAMPLES),
    ids=lambda path: str(path.relative_to(ROOT)),
)
def test_examples_run(path: Path) -> None:
    failed, _ = doctest.testfile(str(path), module_relative=False, encoding="utf-8")
    assert failed == 0


@pytest.mark.parametrize("module", [piste, piste.api, best_response], ids=lambda module: module.__name__)
def test_examples_in_docstrings_run(module: ModuleType) -> None:
    failed, run = doctest.testmod(module)
    assert failed == 0
    assert run > 0


def test_the_api_page_shows_enough_to_be_worth_running() -> None:
    text = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    assert text.count(">>>") > 25


@pytest.mark.parametrize("path", [*sorted((ROOT / "docs").rglob("*.md")), ROOT / "README.md"], ids=lambda p: p.name)
def test_links_between_pages_lead_somewhere(path: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", path.read_text(encoding="utf-8")):
        assert (path.parent / target).exists(), f"{path.name} links to {target}"


def test_the_picture_of_the_readme_is_what_its_command_draws() -> None:
    assert terminal_svg.TARGET.read_text(encoding="utf-8") == terminal_svg.svg(terminal_svg.game_text())
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "docs/images/game.svg" in readme
    assert "docs/images/tables.png" in readme[:800], "the first screen has one picture"


@pytest.mark.parametrize("name", names())
def test_the_page_of_the_notation_lists_the_kinds_of_each_game_in_order(name: str) -> None:
    text = (ROOT / "docs" / "notation.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([^|]*) \| `(\w+)` \| (chance|seat) \|", text.replace("| |", "|  |"), re.MULTILINE)
    kinds, game = [], ""
    for title, kind, _ in rows:
        game = title.strip() or game
        kinds += [kind] if game == find(name).notation.TITLE else []
    assert tuple(kinds) == find(name).notation.KINDS


def test_the_api_page_shows_every_public_function() -> None:
    text = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    functions = [name for name in piste.__all__ if name[0].islower() and name[0] != "_"]
    assert len(piste.__all__) <= 36
    assert [name for name in functions if f"piste.{name}(" not in text] == []


def test_the_page_of_the_adapters_lists_every_option_of_many_games() -> None:
    text = (ROOT / "docs" / "adapters.md").read_text(encoding="utf-8")
    source = ast.parse((ROOT / "src" / "piste" / "rl" / "vector_env.py").read_text(encoding="utf-8"))
    (init,) = (
        node
        for cls in source.body
        if isinstance(cls, ast.ClassDef) and cls.name == "VectorEnv"
        for node in cls.body
        if isinstance(node, ast.FunctionDef) and node.name == "__init__"
    )
    for argument in (*init.args.args[1:], *init.args.kwonlyargs):
        assert f"| `{argument.arg}` |" in text
