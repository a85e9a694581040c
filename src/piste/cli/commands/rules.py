"""`piste rules`: the rules of a game."""

from __future__ import annotations

import argparse

from piste.cli.rules_page import rules_text
from piste.cli.terminal import Terminal
from piste.core.game import find


def run(args: argparse.Namespace, terminal: Terminal) -> int:
    with terminal.paged():
        terminal.lines(rules_text(find(args.game), terminal.width, whole=args.all).split("\n"))
    return 0
