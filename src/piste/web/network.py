"""The addresses of this computer in its network, the links to a table, and QR codes of them."""

from __future__ import annotations

import io
import socket
from collections.abc import Callable
from ipaddress import ip_address
from typing import NamedTuple

from piste.web.settings import ALL_INTERFACES, Settings

# An address reserved for documentation finds the default route; without one, the usual private networks are tried,
# and those that computers make for others (Linux, Windows, macOS). To "connect" a datagram socket sends nothing: the
# system only says which address it would send from.
PROBE_TARGETS = (
    "192.0.2.1", "192.168.0.1", "192.168.1.1", "10.0.0.1", "172.16.0.1", "10.42.0.2", "192.168.137.2", "192.168.2.2",
    "2001:db8::1",
)  # fmt: skip
ALL_HOSTS = (ALL_INTERFACES, "::")  # hosts at which a server listens on every address of its computer


def lan_addresses() -> list[str]:
    """Return the addresses of this computer in its network, the likeliest first."""
    addresses: list[str] = []
    for target in PROBE_TARGETS:
        try:
            with socket.socket(socket.AF_INET6 if ":" in target else socket.AF_INET, socket.SOCK_DGRAM) as probe:
                probe.connect((target, 9))
                text = str(probe.getsockname()[0]).partition("%")[0]
            address = ip_address(text)
        except (OSError, ValueError):
            continue
        usable = not (address.is_loopback or address.is_link_local or address.is_unspecified)
        if usable and text not in addresses and (address.version == 4 or not addresses):
            addresses.append(text)
    return addresses


def is_loopback(host: str) -> bool:
    """Say whether a host name, as browsers send it, means the computer that it is used on."""
    name = host.strip().lower()
    if name.startswith("["):
        name = name[1:].partition("]")[0]
    elif name.count(":") == 1:
        name = name.partition(":")[0]
    if name.removesuffix(".").rpartition(".")[2] == "localhost":
        return True
    try:
        address = ip_address(name)
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None) or address
    return bool(mapped.is_loopback or mapped.is_unspecified)


def reachable_at(host: str, lan: Callable[[], list[str]]) -> list[str]:
    """Return the addresses under which others reach a server that listens at `host`, the likeliest first."""
    if host in ALL_HOSTS:
        return [address for address in lan() if host == "::" or ":" not in address]
    return [] if is_loopback(host) else [host]


class Root(NamedTuple):
    """The base of links."""

    text: str
    only_here: str = ""  # why no other device can follow them and what to do; "" if others can


ONLY_LOOPBACK = (
    "Phones and other computers cannot reach this table, because the server listens on this computer only. "
    "Stop it and start it again with: piste serve --host 0.0.0.0"
)
NO_NETWORK = (
    "Phones and other computers cannot reach this table, because this computer is in no network now. "
    "Connect it to one, such as your Wi-Fi, and load this page again."
)


def link_root(settings: Settings, asked: str, host: str, lan: Callable[[], list[str]]) -> Root:
    """Return the base of the links that users share, where a browser asked for this address at this host.

    `localhost` is another computer on each computer. A page that was opened there gets links with the address of this
    computer in its network.
    """
    if settings.public:
        return Root(settings.public)
    if settings.behind_proxy or not is_loopback(host):
        return Root(asked)
    others = reachable_at(settings.host, lan)
    if others:
        return Root(link(others[0], settings.port))
    return Root(asked, NO_NETWORK if settings.host in ALL_HOSTS else ONLY_LOOPBACK)


def link(host: str, port: int) -> str:
    """Return the address of a server as it is typed into a browser."""
    inside = f"[{host}]" if ":" in host else host
    return f"http://{inside}" if port == 80 else f"http://{inside}:{port}"


QR_BORDER = 4  # light modules around the code; readers rely on them


def qr_lines(text: str, *, colour: bool) -> list[str]:
    """Return a QR code as lines for a terminal, two rows of squares in each line.

    With colour it is black on white whatever the terminal looks like. Without, light squares are printed, as most
    terminals are dark; on a light one the picture is inverted, which most cameras read too.
    """
    import segno

    code = segno.make(text, error="l", micro=False)
    rows = [[module & 1 == 1 for module in row] for row in code.matrix_iter(scale=1, border=QR_BORDER)]
    if len(rows) % 2:
        rows.append([False] * len(rows[0]))
    lines = []
    for upper, lower in zip(rows[::2], rows[1::2], strict=True):
        # A half block prints its half in the colour of text: dark squares with colour, light ones without.
        halves = [(up == colour, low == colour) for up, low in zip(upper, lower, strict=True)]
        body = "".join({(True, True): "█", (True, False): "▀", (False, True): "▄"}.get(half, " ") for half in halves)
        lines.append(f"\x1b[30;107m{body}\x1b[0m" if colour else body)
    return lines


def qr_svg(text: str) -> bytes:
    """Return a QR code as SVG: black on white also on a dark page, and without any style."""
    import segno

    out = io.BytesIO()
    segno.make(text, error="m", micro=False).save(
        out, kind="svg", border=QR_BORDER, dark="#000", light="#fff",
        xmldecl=False, svgns=True, omitsize=True, nl=False, svgclass=None, lineclass=None,
    )  # fmt: skip
    return out.getvalue()
