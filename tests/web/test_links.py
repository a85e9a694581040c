"""Links that are given away, to friends or to one's other device: they must work on that device."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from piste.web.network import is_loopback, link_root, qr_svg, reachable_at
from piste.web.settings import Settings
from tests.web.in_process_server import Device, InProcessServer

LAN, OTHER = "192.168.1.20", "10.8.0.2"


class Guest(Device):
    """A browser that asks for the server by a certain name."""

    def __init__(self, house: InProcessServer, host: str) -> None:
        super().__init__(house)
        self.host = host

    def headers(self) -> dict[str, str]:
        return super().headers() | {"host": self.host}

    async def post(self, path: str, fields: dict[str, str] | None = None, **headers: str) -> Any:
        return await super().post(path, fields, **{"origin": f"http://{self.host}", **headers})


def field(page: str, name: str) -> str:
    found = re.search(rf'id="{name}" readonly value="([^"]*)"', page)
    return unescape(found[1]) if found else ""


@pytest.mark.parametrize(
    "host",
    ["localhost", "localhost:8000", "LOCALHOST:8000", "localhost.", "my.localhost:80", "127.0.0.1", "127.8.9.10:8000",
     "[::1]", "[::1]:8000", "::1", "0.0.0.0:8000", "[::]:8000", "[::ffff:127.0.0.1]:8000"],
)  # fmt: skip
def test_names_that_mean_this_computer_on_every_computer(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize(
    "host",
    ["", "cards.example", "localhost.example", "localhosts:8000", "192.168.1.20:8000", "10.0.0.1", "128.0.0.1",
     "[2001:db8::1]:8000", "1270.0.0.1", "[", "a:b:c"],
)  # fmt: skip
def test_other_names_mean_what_they_say(host: str) -> None:
    assert not is_loopback(host)


@pytest.mark.parametrize(
    ("listens", "given"),
    [
        ("0.0.0.0", [LAN, OTHER]),
        ("::", [LAN, OTHER, "fd00::5"]),
        ("127.0.0.1", []),
        ("localhost", []),
        ("::1", []),
        (OTHER, [OTHER]),
    ],
)
def test_a_server_is_reached_where_it_listens(listens: str, given: list[str]) -> None:
    assert reachable_at(listens, lambda: [LAN, OTHER, "fd00::5"]) == given


@pytest.mark.parametrize(
    ("changes", "host", "text"),
    [
        ({}, "localhost:8000", f"http://{LAN}:8000"),
        ({"port": 80}, "localhost", f"http://{LAN}"),
        ({}, "[::1]:9999", f"http://{LAN}:8000"),  # a port that somebody forwarded here is not ours
        ({}, "cards.test:8000", "http://cards.test:8000"),
        ({"host": OTHER}, "localhost:8000", f"http://{OTHER}:8000"),
        ({"public": "https://cards.example"}, "localhost:8000", "https://cards.example"),
        ({"behind_proxy": "127.0.0.1", "host": "127.0.0.1"}, "localhost", "http://localhost"),
    ],
)
def test_links_begin_with_what_another_device_can_ask_for(changes: dict[str, Any], host: str, text: str) -> None:
    root = link_root(Settings(Path("tables.db"), **changes), f"http://{host}", host, lambda: [LAN])
    assert root == (text, "")


async def test_who_opened_the_page_at_localhost_invites_with_the_address_in_the_network(
    house: InProcessServer,
) -> None:
    house.lan = [LAN]
    port = house.settings.port
    host, friend = Guest(house, f"localhost:{port}"), Guest(house, f"{LAN}:{port}")
    code = await host.opens("prime-duel", name="Ada")
    page = await host.page(code)
    invite = field(page, "invite")
    assert invite == f"http://{LAN}:{port}/t/{code}"
    assert "localhost" not in page
    assert (await host.get(f"/t/{code}/qr.svg")).body == qr_svg(invite)
    assert (await friend.do(code, "sit", name="Bob"))["ok"]  # its origin is the address in the network
    assert house.room(code).to_act is not None
    page = await host.page(code)  # the cookie of localhost still holds the seat
    assert 'data-seat="0"' in page
    assert field(page, "watch-link") == invite
    link = field(page, "seat-link")
    assert link.startswith(f"http://{LAN}:{port}/s/{code}/0/")
    phone = Guest(house, f"{LAN}:{port}")
    assert (await phone.post(link.removeprefix(f"http://{LAN}:{port}"))).status == 303
    assert 'data-seat="0"' in await phone.page(code)
    assert field(await phone.page(code), "seat-link") == link


async def test_news_over_the_live_line_carry_the_same_links(house: InProcessServer) -> None:
    house.lan = [LAN]
    host = Guest(house, "127.0.0.1:8000")
    code = await host.opens("prime-duel")
    socket = await host.connect(code, origin="http://127.0.0.1:8000")
    assert f'value="http://{LAN}:8000/t/{code}"' in socket.shown("scene")
    await socket.leave()


@pytest.mark.parametrize(
    ("listens", "why"),
    [("0.0.0.0", "this computer is in no network now"), ("127.0.0.1", "piste serve --host 0.0.0.0")],
)
async def test_where_no_link_would_work_the_page_says_so(tmp_path: Path, listens: str, why: str) -> None:
    async with InProcessServer(tmp_path / "tables.db", host=listens) as house:
        host = Guest(house, "localhost:8000")
        code = await host.opens("mccoy-duel")
        page = await host.page(code)
        assert why in page
        assert "on this computer" in page
        assert "qr.svg" not in page
        assert "data-share" not in page
        assert field(page, "invite") == f"http://localhost:8000/t/{code}"
        picture = await host.get(f"/t/{code}/qr.svg")
        assert picture.status == 409
        assert why in picture.text
        await host.do(code, "fill", bot="steady")
        page = await host.page(code)
        assert page.count(why) == 2  # at the private link of the seat, and at the one for those who look on
        assert field(page, "seat-link").startswith(f"http://localhost:8000/s/{code}/0/")
