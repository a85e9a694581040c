"""Whether there is a browser at all: the only file here that is read where there is none."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Browser


def test_there_is_a_browser_to_test_with(browser: Browser) -> None:
    assert int(browser.version.split(".")[0]) > 100
