"""Draw the pictures that previews of links show, one for each game, and the icons of the installed site.

python tools/pictures.py

They are drawn from each game's emblem and the look of the pages, with Chromium, and written with few colours, so that
they stay small: previews take no SVG.
"""

from __future__ import annotations

import io
import shutil
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from piste.core.game import find, names
from piste.web.views.drawing import draw_emblem
from piste.web.views.rendering import STATIC

SIZE = (1200, 630)
COLOURS = 64
LOGO = (
    '<svg viewBox="0 0 48 20"><path class="band" d="M1 3h46v14H1z"/>'
    '<path class="lines" d="M15 3v14M33 3v14"/><path class="middle" d="M24 0v20"/></svg>'
)
LOOK = """
body { width: 1200px; height: 630px; overflow: hidden; display: grid; grid-template-rows: 340px 1fr; }
.felt { background: var(--accent); display: flex; justify-content: center; align-items: center; gap: 56px; }
.felt .emblem { background: none; width: auto; overflow: visible; }
.felt .emblem:only-child .able + .able { margin-left: 4px; }
.felt .emblem > div { zoom: 3.4; }
.felt .emblem + .emblem > div, .felt .emblem:has(+ .emblem) > div { zoom: 1.9; }
main { padding: 40px 72px; }
h1 { font-size: 76px; }
p { font-size: 34px; color: var(--soft); margin-top: 12px; max-width: 900px; }
.logo { position: absolute; right: 64px; bottom: 36px; font-size: 40px; }
.logo svg { width: 86px; height: 36px; }
"""
ICON = "body { margin: 0; } svg { display: block; width: 512px; height: 512px; }"


def main() -> None:
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": SIZE[0], "height": SIZE[1]}, color_scheme="light")
        games = [find(name) for name in names()]
        emblems = {game.name: draw_emblem(game.scene.EMBLEM if game.scene else None) for game in games}
        for game in games:
            preview(page, game.name, emblems[game.name], game.notation.TITLE, game.notation.LINE)
        every = "".join(emblems.values())
        preview(page, "piste", every, "Five duels of numbers and cards", "Play a bot, or send a friend a link.")
        icons(page)
        browser.close()


def preview(page: Page, name: str, emblem: str, title: str, line: str) -> None:
    style = "".join((STATIC / name).read_text(encoding="utf-8") for name in ("style.css", "home.css"))
    page.set_viewport_size({"width": SIZE[0], "height": SIZE[1]})
    page.set_content(
        f'<style>{style}{LOOK}</style><div class="felt">{emblem}</div><main><h1>{title}</h1><p>{line}</p></main>'
        f'<span class="logo">{LOGO}<span>piste</span></span>'
    )
    save(page.screenshot(), STATIC / "previews" / f"{name}.png")


def icons(page: Page) -> None:
    page.set_viewport_size({"width": 512, "height": 512})
    svg = (STATIC / "favicon.svg").read_text(encoding="utf-8")
    page.set_content(f"<style>{ICON}</style>{svg}")
    drawn = page.screenshot(omit_background=True)
    for size in (192, 512):
        save(drawn, STATIC / "icons" / f"{size}.png", size)
    # The edge of a maskable icon may be cut off: its ground goes to the edge.
    square = svg.replace('rx="7" ', "")
    page.set_content(f"<style>{ICON}</style>{square}")
    save(page.screenshot(), STATIC / "icons" / "maskable.png")


def save(drawn: bytes, path: Path, size: int = 0) -> None:
    picture: Image.Image = Image.open(io.BytesIO(drawn))
    if size:
        picture = picture.resize((size, size), Image.Resampling.LANCZOS)
    path.parent.mkdir(exist_ok=True)
    picture.quantize(COLOURS, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE).save(path, optimize=True)


if __name__ == "__main__":
    main()
