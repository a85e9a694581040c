"""A parser of arguments whose help and errors are made for people. It is loaded at every start."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any, NoReturn


class Parser(argparse.ArgumentParser):
    """A parser whose errors say what can be done."""

    intermixed = False
    words: Sequence[str] = ()  # what was typed

    def print_help(self, file: Any = None) -> None:
        """Print the help, through a pager where it is longer than the screen."""
        from piste.cli.terminal import Terminal

        colour = False if "--no-color" in self.words else None
        terminal = Terminal(file, colour=colour, paging="--no-pager" not in self.words)
        with terminal.paged():
            for line in self.format_help().rstrip("\n").split("\n"):
                is_heading = line.endswith(":") and not line.startswith(" ")
                terminal.toned(line, "heading") if is_heading else terminal.whole(line)

    def error(self, message: str) -> NoReturn:
        problem, _, choices = message.partition(" (choose from ")
        if "argument COMMAND" in problem:
            from difflib import get_close_matches

            word = problem.rpartition(": ")[2].strip("'")
            commands = [name for action in self._actions for name in action.choices or () if action.dest == "command"]
            near = get_close_matches(word, commands, 1, 0.5)
            hint = f" Did you mean {near[0]}?" if near else f" The commands are: {', '.join(commands)}."
            message = f"there is no command '{word}'.{hint}"
        elif choices:
            message = f"{problem.removeprefix('argument ')}; it is one of {choices.rstrip(')')}"
        from piste.cli.terminal import complain

        complain(f"piste: {message}\nMore: {self.prog} --help")
        raise SystemExit(2)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Let options stand between the positional arguments of a command that takes several."""
        if not self.intermixed:
            return super().parse_known_args(args, namespace)
        self.intermixed = False  # some versions of Python call this again, once for options and once for the rest
        try:
            return self.parse_known_intermixed_args(args, namespace)
        finally:
            self.intermixed = True


Argument = tuple[str, dict[str, Any]]
"""The name of an argument, and what else `add_argument` takes."""


def value(name: str, metavar: str | None = None, help: str | None = None, **settings: Any) -> Argument:
    return name, {"metavar": metavar, "help": help, **settings}


def flag(name: str, help: str) -> Argument:
    return name, {"action": "store_true", "help": help}


def repeated(name: str, metavar: str | None, help: str) -> Argument:
    return name, {"action": "append", "metavar": metavar, "help": help}


JSON = flag("--json", "print one JSON document for machines, and nothing else")
