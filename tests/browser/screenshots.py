"""Take pictures of every kind of page, at three widths, by day and by night; the same deals every time.

python -m tests.browser.screenshots [FOLDER] [PART OF A NAME...]
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Browser, expect, sync_playwright

from tests.browser.browser_user import Person, counted, play
from tests.browser.conftest import FLAGS
from tests.browser.server_process import ServerProcess
from tests.limits import PATIENCE_S

WIDTHS = {320: 640, 768: 1024, 1440: 900}
SCHEMES = ("light", "dark")
PUBLIC = "https://cards.example"

# How each game is played for its picture: options, and after how many decisions it is taken.
GAMES: dict[str, tuple[dict[str, int | str], int]] = {
    "zero-sum-duel": ({}, 2),
    "positive-negative": ({}, 5),
    "zero-sum-grid": ({}, 3),
    "prime-duel": ({}, 4),
    "mccoy-duel": ({"players": 3}, 6),
}


def main(folder: str = "", *parts: str) -> None:
    expect.set_options(timeout=1000 * PATIENCE_S)  # the coach has to look at a whole game
    into = Path(folder or tempfile.mkdtemp(prefix="piste-shots-"))
    into.mkdir(parents=True, exist_ok=True)
    wanted = [(name, scene) for name, scene in scenes() if not parts or any(part in name for part in parts)]
    with (
        tempfile.TemporaryDirectory() as place,
        ServerProcess(Path(place), public=PUBLIC) as house,
        sync_playwright() as driver,
    ):
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=list(FLAGS))
        for name, scene in wanted:
            one = person(browser, house, "Ada")
            scene(one, browser, house)
            shoot(one, into, name)
            for context in browser.contexts:
                context.close()
        browser.close()
    print(into)


def person(browser: Browser, house: ServerProcess, name: str) -> Person:
    context = browser.new_context(viewport={"width": 1440, "height": 900}, reduced_motion="reduce")
    return Person(context, house.address, name)


def shoot(one: Person, into: Path, name: str) -> None:
    """Take a page as it is, at every width and by day and night."""
    one.page.mouse.move(0, 0)  # nothing is pointed at
    for width, height in WIDTHS.items():
        one.page.set_viewport_size({"width": width, "height": height})
        for scheme in SCHEMES:
            one.page.emulate_media(color_scheme=scheme, reduced_motion="reduce")  # type: ignore[arg-type]
            one.page.evaluate("scrollTo(0, 0)")
            one.page.screenshot(
                path=into / f"{name}-{width}-{scheme}.png",
                full_page=width < 1440,
                animations="disabled",
                caret="hide",
            )


Scene = Callable[[Person, Browser, ServerProcess], None]


def scenes() -> list[tuple[str, Scene]]:
    every: list[tuple[str, Scene]] = [("home", home), ("invite", invite), ("door", door)]
    every += [(game, playing(game)) for game in GAMES]
    return [*every, ("over", over), ("replay", replay), ("rules", rules), ("options", options)]


def home(one: Person, _browser: Browser, _house: ServerProcess) -> None:
    one.go("/")


def rules(one: Person, _browser: Browser, _house: ServerProcess) -> None:
    one.go("/rules/zero-sum-duel")


def options(one: Person, _browser: Browser, _house: ServerProcess) -> None:
    one.go("/g/mccoy-duel")
    one.page.click("#options > summary")


def invite(one: Person, _browser: Browser, _house: ServerProcess) -> None:
    one.open("mccoy-duel", players=3)
    expect(one.page.locator(".qr")).to_be_visible()
    one.page.wait_for_load_state("networkidle")


def door(one: Person, browser: Browser, house: ServerProcess) -> None:
    host = person(browser, house, "Bob")
    host.open("positive-negative")
    one.go(host.link.removeprefix(house.address))


def playing(game: str) -> Scene:
    def scene(one: Person, _browser: Browser, _house: ServerProcess) -> None:
        chosen, many = GAMES[game]
        one.open(game, "steady", **chosen)
        play([one], bots=True, until=counted(many))

    return scene


def over(one: Person, browser: Browser, house: ServerProcess) -> None:
    friend = person(browser, house, "Bob")
    one.open("zero-sum-duel")
    friend.sit(one.link)
    one.page.wait_for_selector(".areas")
    play([one, friend])


def replay(one: Person, _browser: Browser, _house: ServerProcess) -> None:
    one.open("positive-negative", "strong")
    play([one], bots=True)
    one.page.click("a[href$='/replay']")
    expect(one.page.locator(".graph")).to_be_visible()
    for step in range(1, 12):
        one.page.click("#go-next")
        expect(one.page.locator(".where")).to_contain_text(f"Step {step} of")


if __name__ == "__main__":
    main(*sys.argv[1:])
