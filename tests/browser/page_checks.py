"""What is looked at on a page: sideways scrolling, sizes of what is touched, what axe finds; by day and by night."""

from __future__ import annotations

from typing import Any

from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import Page

WIDE = "() => [document.documentElement.scrollWidth, innerWidth]"

# Everything that can be touched, with its size. A box to tick is as large as the label around it. What stands hidden
# for screen readers is not touched, and a link within a sentence is as high as its line.
TOUCHED = """() => {
  const found = [];
  for (const one of document.querySelectorAll("a[href], button, input:not([type=hidden]), select, summary")) {
    const target = one.matches("[type=radio], [type=checkbox]") ? one.closest("label") ?? one : one;
    if (!target.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
    if (one.matches(".skip, .sr")) continue;
    const box = target.getBoundingClientRect();
    if (box.width < 2 || box.height < 2) continue;
    const style = getComputedStyle(one), inline = one.matches("a") && style.display === "inline";
    const size = inline ? [99, parseFloat(style.lineHeight)] : [box.width, box.height];
    found.push([one.id || one.className || one.textContent.trim(), ...size.map(Math.round), inline]);
  }
  return found;
}"""
LARGE, SMALL = 44, 24


def sideways(page: Page) -> None:
    """Nothing is wider than the window."""
    wide, window = page.evaluate(WIDE)
    assert wide <= window, f"{page.url} is {wide} wide in a window of {window}: {widest(page)}"


def widest(page: Page) -> Any:
    return page.evaluate(
        """() => [...document.body.querySelectorAll("*")]
          .filter((one) => one.getBoundingClientRect().right > innerWidth + 1)
          .slice(0, 5).map((one) => one.outerHTML.slice(0, 120))"""
    )


def touched(page: Page) -> None:
    """What is touched is large enough for a thumb; within a sentence, for a finger."""
    small = [
        (what, width, height)
        for what, width, height, inline in page.evaluate(TOUCHED)
        if min(width, height) < (SMALL if inline else LARGE)
    ]
    assert not small, f"{page.url}: {small}"


def axe(page: Page, **options: Any) -> None:
    """No serious or critical finding."""
    found = Axe().run(page, options=options or None).response["violations"]
    serious = [
        (one["id"], one["help"], [node["html"][:160] for node in one["nodes"]][:4])
        for one in found
        if one["impact"] in ("serious", "critical")
    ]
    assert not serious, f"{page.url}: {serious}"


def look(page: Page) -> None:
    """Look at a page in every way; by night only colours are different."""
    sideways(page)
    touched(page)
    page.emulate_media(color_scheme="light", reduced_motion="reduce")  # not in the middle of a change of colours
    axe(page)
    page.emulate_media(color_scheme="dark", reduced_motion="reduce")
    axe(page, runOnly=["color-contrast", "link-in-text-block"])
