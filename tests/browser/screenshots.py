"""Take pictures of every page and every phase of the games, on phone, laptop and desktop, in both colour schemes.

python -m tests.browser.screenshots [FOLDER] [PART OF A NAME...]

The deals are the same every time. `index.html` in the folder shows all pictures side by side.
"""

from __future__ import annotations

import html
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Browser, expect, sync_playwright

from piste.core.game import find
from tests.browser.browser_user import OVER, SHORT, Person, counted, play
from tests.browser.conftest import FLAGS
from tests.browser.server_process import ServerProcess
from tests.limits import PATIENCE_MS

SIZES = {"phone": (390, 844), "laptop": (1366, 640), "desktop": (1440, 900)}
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

Scene = Callable[[Person, Browser, ServerProcess], None]


def main(folder: str = "", *parts: str) -> None:
    expect.set_options(timeout=PATIENCE_MS)  # the coach has to look at a whole game
    into = Path(folder or tempfile.mkdtemp(prefix="piste-screenshots-"))
    into.mkdir(parents=True, exist_ok=True)
    wanted = {name: scene for name, scene in scenes().items() if not parts or any(part in name for part in parts)}
    with (
        tempfile.TemporaryDirectory() as place,
        ServerProcess(Path(place), public=PUBLIC) as server,
        sync_playwright() as driver,
    ):
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=list(FLAGS))
        for name, scene in wanted.items():
            user = person(browser, server, "Ada")
            scene(user, browser, server)
            take(user, into, name)
            for context in browser.contexts:
                context.close()
        browser.close()
    write_index(into)
    print(into / "index.html")


def person(browser: Browser, server: ServerProcess, name: str) -> Person:
    context = browser.new_context(viewport={"width": 1440, "height": 900}, reduced_motion="reduce")
    context.set_default_timeout(PATIENCE_MS)
    return Person(context, server.address, name)


def take(user: Person, into: Path, name: str) -> None:
    """Take a page as it is, at every size and in both colour schemes; of a phone, the whole length."""
    user.page.mouse.move(0, 0)  # nothing is pointed at
    for size, (width, height) in SIZES.items():
        user.page.set_viewport_size({"width": width, "height": height})
        for scheme in SCHEMES:
            user.page.emulate_media(color_scheme=scheme, reduced_motion="reduce")  # type: ignore[arg-type]
            user.page.evaluate("scrollTo(0, 0)")
            path = into / f"{name}-{size}-{scheme}.png"
            user.page.screenshot(path=path, full_page=size == "phone", animations="disabled", caret="hide")


def write_index(into: Path) -> None:
    pictures = "".join(
        f"<figure><img src='{path.name}' height='480'><figcaption>{html.escape(path.stem)}</figcaption></figure>"
        for path in sorted(into.glob("*.png"))
    )
    style = "body { display: flex; flex-wrap: wrap; font: 14px sans-serif } figure { margin: 8px }"
    page = f"<!doctype html><meta charset='utf-8'><title>piste</title><style>{style}</style>{pictures}"
    (into / "index.html").write_text(page, encoding="utf-8")


def scenes() -> dict[str, Scene]:
    """Return what brings a person to each page, by the name of its picture."""
    pages = {
        "home": "/", "watch": "/watch", "your-games": "/games", "error": "/nothing-here",
        "offline": "/offline", "options": "/g/mccoy-duel",
        **{f"rules-{game}": f"/rules/{game}" for game in GAMES},
        "puzzles": "/puzzles", "progress": "/progress", "analysis": "/analysis",
    }  # fmt: skip
    every: dict[str, Scene] = {name: at(path) for name, path in pages.items()}
    every |= {"continue": continuing, "invite": invite, "invited": invited}
    for game in GAMES:
        every |= {
            f"{game}-puzzle": puzzle(game),
            f"{game}-answer": answered(game),
            f"{game}-analysis": analysis(game),
        }
        every |= {f"{game}-lesson": lesson(game, ends=False), f"{game}-lesson-over": lesson(game, ends=True)}
        every |= {f"{game}-play": playing(game), f"{game}-over": over(game), f"{game}-replay": replay(game)}
    every |= {f"mccoy-duel-{name}": duel(text) for name, text in DUEL_QUESTIONS.items()}
    return every | {"mccoy-duel-4": four, "mccoy-duel-round": round_end, "rematch": rematch, "spectator": spectator}


def at(path: str) -> Scene:
    def scene(user: Person, _browser: Browser, _server: ServerProcess) -> None:
        user.go(path)
        if user.sees("#options > summary"):
            user.page.click("#options > summary")

    return scene


def continuing(user: Person, _browser: Browser, _server: ServerProcess) -> None:
    user.open("prime-duel", "steady")
    user.go("/")


def invite(user: Person, _browser: Browser, _server: ServerProcess) -> None:
    user.open("mccoy-duel", players=3)
    expect(user.page.locator(".qr")).to_be_visible()
    user.page.wait_for_load_state("networkidle")


def invited(user: Person, browser: Browser, server: ServerProcess) -> None:
    host = person(browser, server, "Bob")
    host.open("positive-negative")
    user.go(host.link.removeprefix(server.address))


def playing(game: str) -> Scene:
    def scene(user: Person, _browser: Browser, _server: ServerProcess) -> None:
        options, decisions = GAMES[game]
        user.open(game, "steady", **options)
        play([user], bots=True, until=counted(decisions))

    return scene


def lesson(game: str, *, ends: bool) -> Scene:
    """Play a first game that teaches by its suggested decisions: all of them, or all but the last."""

    def scene(user: Person, _browser: Browser, _server: ServerProcess) -> None:
        user.go(f"/rules/{game}")
        user.page.locator(".teach button").click()
        taught = find(game).lesson
        assert taught is not None
        suggested = taught.LESSON.suggested
        for decision in suggested if ends else suggested[:-1]:
            user.waits_for_turn()
            number = user.number
            user.decide(decision)
            user.waits(number, turn=True)
        user.waits_for_turn()

    return scene


def over(game: str) -> Scene:
    def scene(user: Person, _browser: Browser, _server: ServerProcess) -> None:
        user.open(game, "steady", **SHORT[game])
        play([user], bots=True)

    return scene


def replay(game: str) -> Scene:
    def scene(user: Person, browser: Browser, server: ServerProcess) -> None:
        over(game)(user, browser, server)
        user.page.click("a[href$='/replay']")
        expect(user.page.locator("#looking")).to_have_count(0)  # the coach has seen the whole game

    return scene


def prepared(user: Person, path: str) -> None:
    """Go to a page that may have to wait for the coach."""
    user.go(path)
    user.page.wait_for_function("() => !document.body.dataset.pending")


def puzzle(game: str) -> Scene:
    def scene(user: Person, _browser: Browser, _server: ServerProcess) -> None:
        prepared(user, f"/puzzles/{game}/easy/1")

    return scene


def answered(game: str) -> Scene:
    def scene(user: Person, _browser: Browser, _server: ServerProcess) -> None:
        prepared(user, f"/puzzles/{game}/easy/1")
        user.page.click(".give-up button")

    return scene


def analysis(game: str) -> Scene:
    def scene(user: Person, _browser: Browser, _server: ServerProcess) -> None:
        prepared(user, f"/analysis/{game}")

    return scene


# What Duel asks in the phases in which something is chosen, as part of the question.
DUEL_QUESTIONS = {"tower": "tower", "give": "give", "opponent": "Whom"}


def duel(question: str) -> Scene:
    """Play Duel for three until a question has this text."""

    def scene(user: Person, _browser: Browser, _server: ServerProcess) -> None:
        user.open("mccoy-duel", "novice", players=3)
        asked = user.page.locator("#question", has_text=question)
        play([user], bots=True, until=lambda: asked.count() > 0)

    return scene


def four(user: Person, _browser: Browser, _server: ServerProcess) -> None:
    user.open("mccoy-duel", "novice", players=4)
    play([user], bots=True, until=counted(7))


def round_end(user: Person, _browser: Browser, _server: ServerProcess) -> None:
    user.open("mccoy-duel", "novice")
    play([user], bots=True, until=lambda: user.sees("#round-end"))


def rematch(user: Person, browser: Browser, server: ServerProcess) -> None:
    """The page of a finished game whose other player has asked for a rematch."""
    friend = person(browser, server, "Bob")
    user.open("zero-sum-duel", "friend", **SHORT["zero-sum-duel"])
    friend.sit(user.link)
    user.page.wait_for_selector(".areas")
    play([user, friend])
    friend.page.click("#do-rematch")
    expect(user.page.locator("#successor")).to_be_visible()


def spectator(user: Person, browser: Browser, server: ServerProcess) -> None:
    player = person(browser, server, "Bob")
    player.open("mccoy-duel", "novice")
    play([player], bots=True, until=counted(4))
    user.go(player.link.removeprefix(server.address))
    expect(user.page.locator(f".areas, {OVER}").first).to_be_visible()


if __name__ == "__main__":
    main(*sys.argv[1:])
