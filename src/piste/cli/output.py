"""How commands print results: JSON documents for machines, numbers with their intervals for people."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from piste.cli.terminal import Terminal
from piste.core.json_document import document

if TYPE_CHECKING:
    from piste.compiled.simulate import Share


def print_json(terminal: Terminal, fields: dict[str, Any], *, version: int | None = None) -> int:
    """Print one JSON document and nothing else; `version` is that of a command's own fields."""
    print(json.dumps(document(fields, version=version), ensure_ascii=False, indent=2), file=terminal.out)
    return 0


def count_text(n: int, thing: str) -> str:
    """Return a number that may be large, with its noun."""
    return f"{n:,} {thing}{'' if n == 1 else 's'}"


def with_level(level: str | None, bot: str, text: str) -> str:
    """Return a bot's line after what people call its level, unless its name says the same."""
    return text if level is None or level.lower() == bot else f"{level}. {text}"


def share_text(share: Share) -> str:
    """Return a share in percent, with its interval."""
    return f"{100 * share.share:.2f} % ({100 * share.low:.2f} to {100 * share.high:.2f})"


def share_rows(names: dict[str, str], shares: dict[tuple[str, str], float], least: int = 0) -> list[str]:
    """Return a table of shares in percent, row against column; `names` has what each player is called, in order.

    A column is as wide as its name, and no narrower than `least`.
    """
    label = max(map(len, names.values()))
    widths = {player: max(len(name), least) for player, name in names.items()}
    rows = ["  " + " " * label + "".join(f" {name:>{widths[player]}}" for player, name in names.items())]
    for one, name in names.items():
        cells = {two: f"{100 * shares[one, two]:.1f}" if (one, two) in shares else "-" for two in names}
        rows.append(f"  {name:<{label}}" + "".join(f" {cell:>{widths[two]}}" for two, cell in cells.items()))
    return rows
