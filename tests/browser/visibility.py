"""Whether everything that can be pressed in a turn is in sight: inside the window, and not under something else."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Page

SIZES = ((1366, 640), (1280, 800), (390, 664), (360, 640))
"""A laptop under a browser's bars, a small one, and two phones."""

# Every control of a decision that is shown, with why it cannot be pressed where the page stands now. Only the tower
# may scroll by itself: what lies in it is brought into view there first.
HIDDEN_CONTROLS = """() => {
  const named = (one) => one.id || String(one.className) || one.tagName;
  const shown = (one) => !one.disabled && one.checkVisibility({ visibilityProperty: true });
  const controls = [...document.querySelectorAll(".pick, #decide .choice, #confirm")].filter(shown);
  const spots = [[0.5, 0.5], [0.5, 0.1], [0.5, 0.9], [0.1, 0.5], [0.9, 0.5]];
  const home = () => {
    scrollTo(0, 0);
    for (const box of document.querySelectorAll(".room, .scene, .panel, .k-tower")) box.scrollTop = 0;
  };
  const wrong = [];
  for (const one of controls) {
    home();
    if (one.closest(".k-tower")) one.scrollIntoView({ block: "nearest" });
    const { left, top, right, bottom } = one.getBoundingClientRect();
    const box = [left, top, right, bottom].map(Math.round);
    if (scrollY) wrong.push(`${named(one)} is seen only after scrolling the page by ${scrollY}`);
    else if (left < 0 || top < 0 || right > innerWidth + 0.5 || bottom > innerHeight + 0.5) {
      wrong.push(`${named(one)} is not in the window: ${box}`);
    } else {
      const at = ([x, y]) => document.elementFromPoint(left + x * (right - left), top + y * (bottom - top));
      const over = spots.map(at).find((found) => !one.contains(found));
      if (over !== undefined) wrong.push(`${named(one)} at ${box} lies under ${over ? named(over) : "nothing"}`);
    }
  }
  home();
  return { wrong, many: controls.length };
}"""


def out_of_sight(page: Page, size: tuple[int, int]) -> list[str]:
    """Return what cannot be pressed in a window of this size without scrolling the page."""
    page.set_viewport_size({"width": size[0], "height": size[1]})
    found: dict[str, Any] = page.evaluate(HIDDEN_CONTROLS)
    assert found["many"], "there is nothing to press"
    return [f"{size[0]}x{size[1]}: {one}" for one in found["wrong"]]
