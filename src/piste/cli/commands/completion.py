"""`piste completion`: completions for a shell, with the games and bots that are installed now."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import shtab

from piste import bots
from piste.cli.parser import make_parser
from piste.cli.terminal import Terminal
from piste.core.game import find, names

BOTS = ("bots", "vs")
SEATED = ("play", "seat")


def run(args: argparse.Namespace, terminal: Terminal) -> int:
    print(script(make_parser(), args.shell), file=terminal.out)
    return 0


def script(parser: argparse.ArgumentParser, shell: str) -> str:
    """Return the text that a shell reads. The parser is used up: it would refuse everything that is not offered."""
    playing = sorted({bot for name in names() for bot in bots.names(find(name))})
    for command, action in arguments(parser):
        if action.dest == "game":
            action.choices = names()
        elif action.dest in BOTS:
            action.choices = playing
        elif (command, action.dest) == SEATED:
            action.choices = ["you", *playing]
    return shtab.complete(parser, shell=shell)


def arguments(parser: argparse.ArgumentParser) -> Iterator[tuple[str, argparse.Action]]:
    """Yield every argument of every command."""
    for tree in parser._actions:
        if isinstance(tree, argparse._SubParsersAction):
            for command, branch in tree.choices.items():
                yield from ((command, action) for action in branch._actions)
