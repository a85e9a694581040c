"""How large tests are: `make test` takes smaller sizes, `make test-all` and `make proof` the usual ones and more."""

from __future__ import annotations

from typing import TypeVar

Size = TypeVar("Size")

quick = False
"""Whether this is the quick run; tests/conftest.py says so before any test is read."""


def sized(few: Size, usual: Size) -> Size:
    """Return the first in a quick run, else the second."""
    return few if quick else usual
