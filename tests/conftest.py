"""The order of the tests: what is quick and tells most comes first, real browsers last."""

from __future__ import annotations

import pytest

LATE = ("solve", "coach", "scales", "rl", "terminal", "web", "browser")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    def place(item: pytest.Item) -> int:
        folder = item.path.parent.name
        return LATE.index(folder) + 1 if folder in LATE else 0

    items.sort(key=place)
