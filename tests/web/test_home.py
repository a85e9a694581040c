"""The first page and the pages around tables: games to go on with, aliases, errors with a way on, previews."""

from __future__ import annotations

import json
import re
import struct
from html import unescape

import pytest

from piste.core.game import find, names
from piste.web.views.rendering import STATIC, credit
from tests.web.in_process_server import Device, InProcessServer, finish, table_for

PICTURE = (1200, 630)


def preview(page: str) -> dict[str, str]:
    """Return what a preview of a link shows of a page."""
    return {key: unescape(text) for key, text in re.findall(r'<meta property="og:(\w+)" content="([^"]*)">', page)}


def continued(page: str) -> list[tuple[str, str]]:
    """Return the address and the text of each game to go on with."""
    section = re.search(r'<section class="continue".*?</section>', page, re.DOTALL)
    found = re.findall(r'<a href="(/t/\w+)"[^>]*>(.*?)</a>', section[0], re.DOTALL) if section else []
    return [(address, " ".join(re.sub(r"<[^>]*>", "", text).split())) for address, text in found]


# Going on


async def test_home_offers_to_go_on_with_running_games_first_where_it_is_ones_turn(house: InProcessServer) -> None:
    ada, stranger = Device(house), Device(house)
    playing = await ada.opens("positive-negative", "steady", name="Ada")
    waiting = await ada.opens("prime-duel", name="Ada")
    over = await ada.opens("prime-duel", "steady", name="Ada")
    await ada.do(over, "resign")
    assert continued((await ada.get("/")).text) == [
        (f"/t/{playing}", "Positive-Negative with Steady Your turn →"),
        (f"/t/{waiting}", "Prime Duel Waiting for players →"),
    ]
    assert continued((await stranger.get("/")).text) == []


async def test_a_list_says_whose_turn_it_is_and_when_in_a_way_that_scripts_make_local(house: InProcessServer) -> None:
    ada, ben = Device(house), Device(house)
    code = await ada.opens("positive-negative", name="Ada")
    await ben.do(code, "sit", name="Ben")
    assert "Your turn" in (await ada.get("/games")).text
    page = (await ben.get("/games")).text
    assert "Ada&#39;s turn" in page
    assert '<time class="when" datetime="1970-01-12T13:46Z">1970-01-12 13:46 UTC</time>' in page


# Addresses


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ("duel", "mccoy-duel"),
        ("Duel", "mccoy-duel"),
        ("mccoy_duel", "mccoy-duel"),
        ("mccoy", "mccoy-duel"),
        ("zero%20sum%20duel", "zero-sum-duel"),
        ("ZeroSumDuel", "zero-sum-duel"),
        ("grid", "zero-sum-grid"),
        ("prime", "prime-duel"),
        ("Positive-Negative", "positive-negative"),
    ],
)
async def test_other_names_of_a_game_lead_to_its_address(house: InProcessServer, asked: str, meant: str) -> None:
    person = Device(house)
    for pages in ("g", "rules"):
        got = await person.get(f"/{pages}/{asked}")
        assert (got.status, got.header("location")) == (308, f"/{pages}/{meant}")
        assert (await person.get(f"/{pages}/{meant}")).status == 200


@pytest.mark.parametrize("asked", ["zero", "chess", "%F0%9F%82%A1", "a" * 2000, "-", "%20"])
async def test_what_names_no_game_is_answered_with_the_games_there_are(house: InProcessServer, asked: str) -> None:
    got = await Device(house).get(f"/g/{asked}")
    assert got.status == 404
    assert all(f'<a href="/g/{name}">{find(name).notation.TITLE}</a>' in got.text for name in names())


async def test_an_error_has_a_way_on(house: InProcessServer) -> None:
    ada = Device(house)
    missing = (await ada.get("/nothing")).text
    assert '<a class="button main" href="/">All games</a>' in missing
    assert 'href="/games">Your games' in missing
    code = await ada.opens("prime-duel", "steady")
    refused = await ada.post(f"/t/{code}/decide", {"decision": "banana", "number": "0"})
    assert refused.status == 409
    assert f'<a class="button main" href="/t/{code}">Back to the table</a>' in refused.text
    assert '<a class="button" href="/g/prime-duel">Prime Duel</a>' in refused.text


async def test_a_credit_is_a_link_and_nothing_but_its_text(house: InProcessServer) -> None:
    link = '<a href="https://www.tuesdayknightgames.com/" rel="noreferrer noopener" target="_blank">'
    for path in ("/", "/g/mccoy-duel", "/rules/mccoy-duel"):
        assert f"{link}Duel is a game by Sean McCoy</a>" in (await Device(house).get(path)).text
    assert credit("By <b>: https://a.example/?<") == (
        '<a href="https://a.example/?&lt;" rel="noreferrer noopener" target="_blank">By &lt;b&gt;</a>'
    )
    assert credit("By a friend") == "By a friend"


@pytest.mark.parametrize("game", ["positive-negative", "prime-duel", "zero-sum-grid"])
async def test_your_games_say_the_score_of_those_that_are_over(house: InProcessServer, game: str) -> None:
    options = {"option-turns": "4"} if game == "zero-sum-grid" else {}
    code, people = await table_for(house, game, 2, **options)
    await finish(house, code, people)
    for one in people:
        head = re.search(r'class="result[^>]*>\s*<h2>(.*?)</h2>', await one.page(code))
        assert head is not None
        score = re.search(r"−?\d+( to |–)−?\d+", head[1])
        who = "You won" if head[1].startswith("You win") else head[1].partition(" ")[0] + " won"
        expected = f"{who} {score[0]}: " if score else "Draw: turn limit"
        assert f'<span class="state">{expected}' in (await one.get("/games")).text
        assert bool(score) == (game != "zero-sum-grid")


# Previews of links


async def test_a_preview_of_a_table_shows_the_game_and_how_far_it_is_and_is_the_same_for_all(
    house: InProcessServer,
) -> None:
    ada, ben, stranger = Device(house), Device(house), Device(house)
    code = await ada.opens("mccoy-duel", name="Ada")
    line = find("mccoy-duel").notation.LINE
    for stage in ("waiting for players", "being played", "finished"):
        shown = [preview(await one.page(code)) for one in (ada, ben, stranger)]
        assert shown[0] == shown[1] == shown[2]
        assert shown[0]["title"] == f"Duel: {stage}"
        assert shown[0]["description"] == line
        assert re.fullmatch(r"http://[^/]+/static/previews/mccoy-duel\.png\?v=\w+", shown[0]["image"])
        await (ben.do(code, "sit", name="Ben") if stage.startswith("waiting") else ada.do(code, "resign"))


async def test_pages_name_themselves_and_show_the_picture_of_their_game(house: InProcessServer) -> None:
    pages = {"/": "piste", "/g/prime-duel": "prime-duel", "/rules/zero-sum-grid": "zero-sum-grid", "/watch": "piste"}
    titles = set()
    for path, picture in pages.items():
        shown = preview((await Device(house).get(path)).text)
        assert f"/static/previews/{picture}.png" in shown["image"]
        titles.add(shown["title"])
    assert len(titles) == len(pages)


@pytest.mark.parametrize("name", ["piste", *names()])
def test_each_game_has_a_small_picture_in_a_format_that_previews_take(name: str) -> None:
    picture = (STATIC / "previews" / f"{name}.png").read_bytes()
    assert picture[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", picture[16:24]) == PICTURE
    assert len(picture) < 40_000


# The installed site


async def test_the_site_can_be_installed(house: InProcessServer) -> None:
    manifest = json.loads((STATIC / "manifest.webmanifest").read_text(encoding="utf-8"))
    assert {"192x192", "512x512"} <= {icon["sizes"] for icon in manifest["icons"]}
    assert all((STATIC.parent / icon["src"].removeprefix("/")).exists() for icon in manifest["icons"])
    assert (await Device(house).get(manifest["start_url"])).status == 200


async def test_the_service_worker_keeps_the_offline_page_and_what_it_is_made_of_and_nothing_else(
    house: InProcessServer,
) -> None:
    person = Device(house)
    worker = await person.get("/service-worker.js")
    assert worker.header("content-type").startswith("text/javascript")
    kept = re.search(r"KEPT = \[(.*?)\];", worker.text, re.DOTALL)
    assert kept is not None
    files = re.findall(r'"([\w.]+\.\w+)"', kept[1])
    page = await person.get("/offline")
    assert page.status == 200
    used = set(re.findall(r"/static/([\w.]+\.(?:css|js))\?", page.text))
    assert used <= set(files)
    assert all((STATIC / name).exists() for name in files)
    assert "cache.put" not in worker.text  # only what is named there is kept
