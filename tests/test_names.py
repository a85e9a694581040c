"""Names that an engineer would not search for stay out: a short list of those that this tree once had."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tests import ROOT

SOURCE = ROOT / "src" / "piste"
FILES = sorted(SOURCE.rglob("*.py"))
BANNED_NAMES = frozenset(
    (
        "minds",
        "thoughts",
        "eyes",
        "hall",
        "ear",
        "looker",
        "house",
        "tired",
        "MOST",
        "LONGEST",
        "FAR",
        "OFTEN",
        "PATIENT",
    )
)
"""Identifiers and module names; the glossary has what each is called now."""

BANNED_WORDS = re.compile(r"\b(rubbish|in the eyes of|goes away|looks on|mended|by so much)\b", re.IGNORECASE)
"""In docstrings, comments and messages."""


def identifiers(tree: ast.AST) -> set[str]:
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    names |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    definitions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return names | {node.name for node in ast.walk(tree) if isinstance(node, definitions)}


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_no_banned_name_is_used(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert not BANNED_NAMES & {*identifiers(ast.parse(text)), path.stem, path.parent.name}
    assert not BANNED_WORDS.findall(text)


def test_errors_end_in_error() -> None:
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef) and any(base.endswith("Error") for base in bases(node)):
                assert node.name.endswith("Error"), f"{path.name}: {node.name}"


def bases(node: ast.ClassDef) -> list[str]:
    return [ast.unparse(base) for base in node.bases]


@pytest.mark.parametrize("page", ["architecture.md", "glossary.md"])
def test_files_that_pages_name_exist(page: str) -> None:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    named = re.findall(r"`((?:core|compiled|analysis|rl|web|cli|games/[a-z_]+)/[a-z_/]+\.(?:py|js))`", text)
    assert named
    for name in named:
        assert (SOURCE / name).exists(), f"{page} names {name}"
