"""Where a phone in the same network finds this computer, and the square picture that saves typing it."""

from __future__ import annotations

import io
import socket
from ipaddress import ip_address

# Addresses that are kept for documentation, and the usual private networks for a computer without a way out. To
# "connect" a datagram socket sends nothing: it only makes the system say which address it would send from.
NOBODY = (
    (socket.AF_INET, "192.0.2.1"),
    (socket.AF_INET, "192.168.0.1"),
    (socket.AF_INET, "10.0.0.1"),
    (socket.AF_INET, "172.16.0.1"),
    (socket.AF_INET6, "2001:db8::1"),
)


def lan_addresses() -> list[str]:
    """Return the addresses under which others in the network find this computer, the likeliest first."""
    found: list[str] = []
    for family, target in NOBODY:
        try:
            with socket.socket(family, socket.SOCK_DGRAM) as probe:
                probe.connect((target, 9))
                text = str(probe.getsockname()[0]).partition("%")[0]
            address = ip_address(text)
        except (OSError, ValueError):
            continue
        usable = not (address.is_loopback or address.is_link_local or address.is_unspecified)
        if usable and text not in found and (address.version == 4 or not found):
            found.append(text)
    return found


def link(host: str, port: int) -> str:
    """Return the address of a server as it is typed into a browser."""
    inside = f"[{host}]" if ":" in host else host
    return f"http://{inside}" if port == 80 else f"http://{inside}:{port}"


QUIET = 4
"""Light modules around the code; readers rely on them."""


def _modules(text: str, border: int) -> list[list[bool]]:
    import segno

    code = segno.make(text, error="l", micro=False)
    return [[module & 1 == 1 for module in row] for row in code.matrix_iter(scale=1, border=border)]


def qr_lines(text: str, *, colour: bool) -> list[str]:
    """Return a QR code as lines for a terminal, two rows of squares in each line.

    With colour it is black on white whatever the terminal looks like. Without, light squares are printed, as most
    terminals are dark; on a light one the picture is inverted, which most cameras read too.
    """
    rows = _modules(text, QUIET)
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
    """Return a QR code as an SVG picture: black on white also on a dark page, and without any style."""
    import segno

    out = io.BytesIO()
    segno.make(text, error="m", micro=False).save(
        out, kind="svg", border=QUIET, dark="#000", light="#fff",
        xmldecl=False, svgns=True, omitsize=True, nl=False, svgclass=None, lineclass=None,
    )  # fmt: skip
    return out.getvalue()
