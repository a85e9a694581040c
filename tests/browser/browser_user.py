"""Somebody before a browser, who clicks whatever is offered."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from playwright.sync_api import BrowserContext, ConsoleMessage, Error, Locator, Page, Request, expect

OVER = "#part-status .result"
HELD = ".room.held"
MINE = ".panel[data-turn='1']"
READY = "html.ready, html:not(:has(script))"

# Clicking at random, some games would go on for ever: options that end them.
SHORT: dict[str, dict[str, int | str]] = {
    "zero-sum-duel": {"turns": 12},
    "positive-negative": {"top": 5},
    "zero-sum-grid": {"turns": 8},
    "prime-duel": {"target": 20},
    "mccoy-duel": {"rounds": 1},
}

# All that a person needs to know of a table, at once.
STATE = """() => ({
  over: Boolean(document.querySelector("#part-status .result")),
  turn: document.querySelector(".panel")?.dataset.turn === "1",
  number: Number(document.querySelector(".panel")?.dataset.number ?? 0),
  offered: [...document.querySelectorAll(".pick, #decide .choice")].map((one) => one.getAttribute("value")),
})"""

# What Chromium itself says when there is no network, or a page is told that something is refused.
CUT = re.compile(r"net::ERR_|WebSocket connection to|Failed to load resource")


# What Playwright says where a test wants no service worker.
NO_WORKER = "Service Worker registration blocked by Playwright"


class State(NamedTuple):
    """What a page shows of a table."""

    over: bool
    turn: bool  # it is for this person to decide
    number: int  # of the question
    offered: list[str]


class Person:
    """One person: a context with its own cookies, a page, and an eye on everything that goes wrong there."""

    def __init__(
        self, context: BrowserContext, address: str, name: str, *, watch: bool = True, scripts: bool = True
    ) -> None:
        self.context = context
        self.address = address
        self.name = name
        self._page = context.new_page()
        self.scripts = scripts
        self.chooser = random.Random(name)
        self.cut_off = False  # whether the network was meant to fail
        self.wrong: list[str] = []
        self.taps = 0
        if watch:  # the whole context, with all its pages
            context.on("console", self._console)
            context.on("weberror", lambda error: self.wrong.append(f"error: {error.error}"))
            context.on("request", self._request)

    @property
    def page(self) -> Page:
        """The page, as soon as its scripts listen: nobody's fingers are faster than that, but a test's are."""
        if self.scripts:
            self._page.locator(READY).wait_for(state="attached")
        return self._page

    def _console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning") and message.text != NO_WORKER:
            self.wrong.append(f"{message.type}: {message.text}")

    def _request(self, request: Request) -> None:
        if urlsplit(request.url).netloc != urlsplit(self.address).netloc and not request.url.startswith("data:"):
            self.wrong.append(f"foreign: {request.url}")

    def check(self) -> None:
        """Nothing went wrong: no error, no violation of the policy, no request to anybody else."""
        wrong = [text for text in self.wrong if not (self.cut_off and CUT.search(text))]
        assert not wrong, f"{self.name}: {wrong}"

    def told(self) -> str:
        """Return what a report on a failed test should say of this page."""
        try:
            shown = self._page.locator("body").inner_text()
        except Error as e:
            shown = str(e)
        return f"--- {self.name} at {self._page.url}; {self.wrong}\n{shown[:1500]}"

    def another_tab(self) -> Person:
        """Return the same person at the same page in another tab."""
        tab = Person(self.context, self.address, self.name, watch=False)
        tab.page.goto(self.page.url)
        return tab

    # Going somewhere

    def go(self, path: str) -> Page:
        self.page.goto(self.address + path)
        return self.page

    def tap(self, what: str | Locator) -> None:
        found = self.page.locator(what) if isinstance(what, str) else what
        found.click()
        self.taps += 1

    def open(self, game: str, versus: str = "friend", **options: int | str) -> None:
        """Open a table by the page of a game."""
        page = self.go(f"/g/{game}")
        page.fill("#name", self.name)
        if "players" in options:
            page.select_option("#players", str(options.pop("players")))
        page.check(f"input[name=versus][value={versus}]")
        if options:
            page.click("#options > summary")
        for key, value in options.items():
            field = page.locator(f"#option-{key}")
            if field.evaluate("one => one.tagName") == "SELECT":
                field.select_option(str(value))
            else:
                field.fill(str(value))
        page.click("button.main")
        expect(page.locator("body.table")).to_be_visible()

    def sit(self, link: str) -> None:
        """Come by the link of an invitation and sit down."""
        self.page.goto(self.address + urlsplit(link).path)
        self.page.fill("#sit-name", self.name)
        self.page.click("form.sit button.main")
        # A page of those who look on is loaded anew for somebody who sits.
        expect(self.page.locator("body:not([data-seat='-1'])")).to_be_visible()

    @property
    def link(self) -> str:
        """The address of the table, which is what friends are sent."""
        return self.page.url.partition("?")[0]

    # At the table

    def sees(self, what: str) -> bool:
        return self.page.locator(what).count() > 0

    def state(self) -> State:
        found = self.page.evaluate(STATE)
        return State(found["over"], found["turn"] and not found["over"], found["number"], found["offered"])

    @property
    def number(self) -> int:
        return self.state().number

    @property
    def over(self) -> bool:
        return self.state().over

    @property
    def to_play(self) -> bool:
        return self.state().turn

    @property
    def log(self) -> list[str]:
        return self.page.locator("#log > li").all_inner_texts()

    def offered(self) -> list[str]:
        """Return every decision that can be clicked."""
        return self.state().offered

    def click(self, decision: str) -> None:
        self.page.locator(f".pick[value='{decision}'], #decide .choice[value='{decision}']").first.click()

    def decide(self, decision: str = "") -> None:
        """Click a decision: the card or handle and then the button that confirms it, or one button."""
        if self.sees(HELD):
            self.page.click("#next-round")
            expect(self.page.locator(HELD)).to_have_count(0)
        decision = decision or self.chooser.choice(self.offered())
        self.click(decision)
        if self.page.locator("#confirm").is_visible():
            self.page.click("#confirm")

    def resign(self) -> None:
        self.page.click("#offer-resign > summary")
        self.page.click("#ask-yes")
        expect(self.page.locator(OVER)).to_be_visible()

    def record(self) -> str:
        """Download the record of a game that is over."""
        with self.page.expect_download() as waiting:
            self.page.click("a[href$='/record']")
        return Path(waiting.value.path()).read_text(encoding="utf-8")

    def waits(self, number: int, *, turn: bool = False) -> None:
        """Wait until the question of this number has been answered and shown so here, or the game is over."""
        mine = "[data-turn='1']" if turn else ""
        self.page.locator(f"{OVER}, .panel{mine}:not([data-number='{number}'])").first.wait_for(state="attached")

    def waits_for_people(self) -> None:
        """Wait until no bot is to decide."""
        self.page.locator(f"{OVER}, li.side.turn:not(:has(.what:text('bot')))").first.wait_for(state="attached")

    def waits_for_turn(self) -> None:
        self.page.locator(f"{OVER}, {MINE}").first.wait_for(state="attached")


def play(
    people: Iterable[Person],
    *,
    most: int = 400,
    until: Callable[[], bool] | None = None,
    bots: bool = False,
    mixed: bool = False,
) -> int:
    """Let people click until the game is over, or until something is so; return how many decisions they made.

    With `bots` one person plays nobody but bots; `mixed` is several people with bots among them.
    """
    everybody = list(people)
    for made in range(most):
        if bots:
            everybody[0].waits_for_turn()
        if mixed:  # of what bots did, one page may hear a little later than another
            for one in everybody:
                one.waits_for_people()
        states = [one.state() for one in everybody]
        if states[0].over or (until is not None and until()):
            return made
        actor, state = next(found for found in zip(everybody, states, strict=True) if found[1].turn)
        actor.decide(actor.chooser.choice(state.offered))
        for one in everybody:
            one.waits(state.number, turn=bots)
    raise AssertionError(f"not over after {most} decisions")


def two(first: Person, second: Person, game: str, **options: int | str) -> None:
    """Seat two people at a new table."""
    first.open(game, "friend", **options)
    second.sit(first.link)
    expect(first.page.locator(".areas")).to_be_visible()


def counted(many: int) -> Callable[[], bool]:
    """Return what says no so many times, and then yes: to play so many decisions."""
    left = iter([False] * many)
    return lambda: next(left, True)
