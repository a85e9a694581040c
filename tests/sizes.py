"""How large tests are: `make test` takes smaller sizes, `make test-all` and `make proof` the usual ones and more."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import pytest

Size = TypeVar("Size")

quick = False
"""Whether this is the quick run; tests/conftest.py says so before any test is read."""


def sized(few: Size, usual: Size) -> Size:
    """Return the first in a quick run, else the second."""
    return few if quick else usual


def slow_if(slow: Callable[[Size], bool], values: Iterable[Size]) -> list[Any]:
    """Return values for `parametrize`, those that take long marked as such."""
    return [pytest.param(value, marks=[pytest.mark.slow] if slow(value) else []) for value in values]
