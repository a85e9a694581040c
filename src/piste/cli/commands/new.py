"""`piste new`: a package with a game that plays at once, to be changed into another one."""

from __future__ import annotations

import argparse
import keyword
import re
import sys
from pathlib import Path
from string import Template

from piste.cli.arguments import whole_number
from piste.cli.terminal import Terminal
from piste.core.errors import OptionError, PisteError
from piste.core.game import names, quoted

TEMPLATES = Path(__file__).parent.parent / "game_template"
"""The files of the package, with `open_` or `hidden_` before the names of those that differ."""

FILES = {
    "pyproject.toml": "pyproject.toml",
    "__init__.py": "src/$PACKAGE/__init__.py",
    "rules.py": "src/$PACKAGE/rules.py",
    "notation.py": "src/$PACKAGE/notation.py",
    "text.py": "src/$PACKAGE/text.py",
    "rules.md": "src/$PACKAGE/rules.md",
    "test.py": "tests/test_$PACKAGE.py",
}

WORDS = {
    "open": {
        "LINE": "Take one, two or three counters in turn; whoever takes the last one wins.",
        "TIPS": '"Take one to three counters.", "Then the next player does.", "The last counter wins."',
        "OPTIONS": "- `counters`: counters to begin with\n- `most`: the most that may be taken at once",
    },
    "hidden": {
        "LINE": "Each pays a chip and gets a card. In turn, drop, or pay another chip and stay. The highest card\n"
        "that stays wins all the chips; so does the only player who has not dropped.",
        "TIPS": '"You see your card only.", "Drop, or stay for a second chip.", "The highest card wins."',
        "OPTIONS": "- `top`: the highest card; there is one of each from 1",
    },
}


def run(args: argparse.Namespace, terminal: Terminal) -> int:
    name = args.name
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name) or len(name) > 40:
        raise OptionError(
            f"A game cannot be called {quoted(name)}: it takes small letters, digits and hyphens, as in high-card."
        )
    package = name.replace("-", "_")
    if keyword.iskeyword(package) or package in sys.stdlib_module_names or package == "piste":
        raise OptionError(f"A game cannot be called {quoted(name)}: Python has a module or a word of that name.")
    if name in names():
        raise OptionError(f"There is a game {quoted(name)} already: choose another name.")
    players = whole_number("players", args.players, 2, 4)
    folder = Path(name)
    if folder.exists():
        raise PisteError(f"There is a file or a folder {quoted(name)} here already: nothing was written.")
    write(folder, name, players, hidden=args.hidden)
    terminal.line(f"{name}/ has a game that can be played: a package outside piste, which is installed with pip.")
    terminal.line("Try it, then change src/*/rules.py step by step into your game:")
    for command in (f"pip install -e ./{name}", f"piste play {name}", f"piste check {name}", f"pytest {name}"):
        terminal.whole(f"    {command}")
    return 0


def write(folder: Path, name: str, players: int, *, hidden: bool) -> None:
    """Write the package."""
    way = "hidden" if hidden else "open"
    seats = range(players)
    words = {
        "NAME": name,
        "PROJECT": f"piste-{name}",
        "PACKAGE": name.replace("-", "_"),
        "TITLE": name.replace("-", " ").capitalize(),
        "PLAYERS": str(players),
        "INTS": ", ".join(["int"] * players),
        "NO_CARDS": ", ".join(["HIDDEN"] * players),
        "OF": f"of{players}",
        "SET": f"set{players}",
        "SHOWN": ", ".join(f"shown(s, {owner}, seat)" for owner in seats),
        "STAYING": ", ".join(f"s.staying >> {owner} & 1" if owner else "s.staying & 1" for owner in seats),
        **WORDS[way],
    }
    for source, target in FILES.items():
        own = TEMPLATES / f"{way}_{source}.txt"
        text = (own if own.exists() else TEMPLATES / f"{source}.txt").read_text(encoding="utf-8")
        path = folder / Template(target).substitute(words)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(Template(text).substitute(words), encoding="utf-8")
