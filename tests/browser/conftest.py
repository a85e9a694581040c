"""Chromium, one a worker; a server; and people, each with cookies of their own."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import pytest

from tests.limits import PATIENCE_MS
from tests.system_packages import needed, without

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from tests.browser.browser_user import Person
    from tests.browser.server_process import ServerProcess

# Without the driver the other files cannot even be read; this one says why.
if find_spec("playwright") is None:
    collect_ignore_glob = ["test_[!0]*.py"]

FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip
QUICK = """
try { localStorage.setItem("piste-pace", "off"); } catch {}  // a page that is nowhere keeps nothing
const sheet = new CSSStyleSheet();
sheet.replaceSync(".click-guard * { pointer-events: auto !important; }");
document.adoptedStyleSheets.push(sheet);
"""
"""A device on which everything is shown at once, and a new question takes clicks from the first moment."""

FONTS = ("fonts-dejavu-core",)
NO_DRIVER = "no playwright here: browser tests are skipped; pip install playwright"


@pytest.fixture(scope="session")
def chromium(request: pytest.FixtureRequest) -> str:
    """Where the browser is."""
    return needed("chromium", "chromium", request, skipped="browser tests are", along=FONTS)


class Running:
    """Playwright's event loop stands still in this thread while tests run; others must not find it there."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None

    def pause(self) -> None:
        self._loop = asyncio._get_running_loop() or self._loop
        asyncio._set_running_loop(None)

    def go_on(self) -> None:
        asyncio._set_running_loop(self._loop)


@pytest.fixture(scope="session")
def playing(chromium: str, request: pytest.FixtureRequest) -> Iterator[tuple[Browser, Running]]:
    """One browser for all tests of a worker."""
    try:
        from playwright.sync_api import expect, sync_playwright
    except ImportError:
        without(NO_DRIVER, request)
    expect.set_options(timeout=PATIENCE_MS)
    running = Running()
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=list(FLAGS))
        running.pause()
        yield browser, running
        running.go_on()
        browser.close()


@pytest.fixture
def browser(playing: tuple[Browser, Running]) -> Iterator[Browser]:
    """The worker's browser, for one test."""
    found, running = playing
    running.go_on()
    yield found
    running.pause()


@pytest.fixture(scope="session", autouse=True)
def storage_kind(request: pytest.FixtureRequest) -> Iterator[None]:
    """Let servers keep their tables in a PostgreSQL if the environment says so."""
    if os.environ.get("PISTE_TEST_DB") != "postgresql":
        yield
        return
    from tests.browser import server_process
    from tests.postgres_server import needed_programs, postgres_server

    with postgres_server(needed_programs(request)) as postgres:
        server_process.new_database = lambda _folder: postgres.migrated()
        yield
        server_process.new_database = server_process.file_in


@pytest.fixture(scope="session")
def open_house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A server that all tests of a worker share, each at its own tables."""
    from tests.browser.server_process import ServerProcess

    with ServerProcess(tmp_path_factory.mktemp("house")) as found:
        yield found
        found.check()


@pytest.fixture
def house(open_house: ServerProcess, browser: Browser) -> ServerProcess:
    del browser  # without one there is nothing to serve
    return open_house


Invite = Callable[..., "Person"]


@pytest.fixture
def person(browser: Browser, request: pytest.FixtureRequest) -> Iterator[Invite]:
    """Somebody with a browser of their own: `person(house, "Ada", ...)`; what follows is said of the browser.

    Nobody here waits for what is shown slowly for people, except who is `paced`.
    """
    from tests.browser.browser_user import Person

    here: list[Person] = []

    def come(at: Any, name: str, *, paced: bool = False, **more: Any) -> Person:
        # A service worker of ours shows a page of its own where there is no server; few tests want that.
        usual: dict[str, Any] = {"viewport": {"width": 390, "height": 780}, "service_workers": "block"}
        context = browser.new_context(**{**usual, **more})
        if not paced:
            context.add_init_script(QUICK)
        context.set_default_timeout(PATIENCE_MS)
        here.append(Person(context, at.address, name, scripts=more.get("java_script_enabled", True)))
        return here[-1]

    before = request.session.testsfailed
    yield come
    failed = request.session.testsfailed > before
    for one in here:
        if failed:
            print(one.told())
        one.context.close()
    if not failed:
        for one in here:
            one.check()
