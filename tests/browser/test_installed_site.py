"""The site as an app on a device: it can be installed, and says so when its server is away."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, expect

from tests.browser.conftest import FLAGS
from tests.browser.server_process import ServerProcess
from tests.limits import PATIENCE_MS

ACTIVE = """async () => {
  const { active, scope } = await navigator.serviceWorker.ready;
  while (active.state !== "activated") await new Promise((go) => (active.onstatechange = go));
  return scope;
}"""


@pytest.fixture
def device(browser: Browser, chromium: str, tmp_path: Path) -> Iterator[BrowserContext]:
    """A browser with a profile of its own: nothing can be installed from a private window."""
    kind, phone = browser.browser_type, {"width": 390, "height": 844}
    context = kind.launch_persistent_context(
        str(tmp_path / "profile"),
        executable_path=chromium,
        args=list(FLAGS),
        viewport=phone,  # type: ignore[arg-type]
    )
    context.set_default_timeout(PATIENCE_MS)
    yield context
    context.close()


def test_chromium_finds_nothing_that_hinders_installing(device: BrowserContext, tmp_path: Path) -> None:
    with ServerProcess(tmp_path) as server:
        page = device.pages[0]
        page.goto(f"http://localhost:{server.port}/")
        assert page.evaluate("isSecureContext")
        assert page.evaluate(ACTIVE) == page.url
        developer = device.new_cdp_session(page)
        manifest = developer.send("Page.getAppManifest")
        assert manifest["errors"] == []
        assert json.loads(manifest["data"])["name"] == "piste"
        assert developer.send("Page.getInstallabilityErrors")["installabilityErrors"] == []


def test_with_the_server_stopped_every_page_is_the_offline_page_and_comes_back(
    device: BrowserContext, tmp_path: Path
) -> None:
    with ServerProcess(tmp_path) as server:
        address, page = f"http://localhost:{server.port}", device.pages[0]
        page.goto(f"{address}/")
        assert page.evaluate(ACTIVE) == page.url
        server.stop()
        for path in ("/", "/g/prime-duel", "/games"):
            page.goto(f"{address}{path}")
            expect(page.locator("h1")).to_have_text("No connection to the server")
            # It is drawn as the other pages are, from what was kept.
            assert page.evaluate("getComputedStyle(document.body).margin") == "0px"
            assert page.evaluate("[...document.styleSheets].some((sheet) => sheet.cssRules.length > 100)")
        server.start()
        expect(page.locator("h1")).to_have_text("Your games")  # by itself
        assert page.url == f"{address}/games"
