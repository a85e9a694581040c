"""`piste man`: the manual page, made from the help of every command.

A library that does this, argparse-manpage, knows no groups of commands and would be one more thing to install; what
is needed of the format are six of its requests.
"""

from __future__ import annotations

import argparse
import subprocess
from collections.abc import Iterator
from shutil import which

from piste import __version__
from piste.cli.parser import EXAMPLES, GROUPS, SUMMARY, make_parser, signature
from piste.cli.terminal import Terminal

ENVIRONMENT = {
    "PISTE_HOME": "the folder for your games, instead of the usual one; piste where says which that is",
    "PISTE_PORT, PISTE_DB, ...": "the options of piste serve and of piste worker: PISTE_ and the name of the option; "
    "what is typed wins; piste admin reads PISTE_DB where DB is left out",
    "PAGER": "the program that shows long texts (default: less); cat for none",
    "LESS": "options of less (default: FRX)",
    "NO_COLOR": "no colour, whatever its value",
    "FORCE_COLOR": "colour in pipes too, whatever its value",
    "TERM": "with dumb, neither colour nor pager; with 256 in it, or with COLORTERM set, more colours",
    "COLUMNS, LINES": "the size of the screen, if it is not the one that the terminal says",
}
EXIT_CODES = {
    "0": "done, also when you lose",
    "1": "failed",
    "2": "not understood",
    "130, 143, 129": "stopped by Ctrl-C, SIGTERM, SIGHUP; a game is kept",
}


def run(_args: argparse.Namespace, terminal: Terminal) -> int:
    page = manual()
    if terminal.person and which("man"):
        shown = subprocess.run(["man", "-l", "-"], input=page, text=True, encoding="utf-8", check=False)
        if shown.returncode == 0:
            return 0
    terminal.whole(page)  # for a file, or where `man` cannot read one
    return 0


def manual() -> str:
    """Return the manual page as roff."""
    parser = make_parser()
    (tree,) = (action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    helps = {action.dest: action.help for action in tree._choices_actions}
    lines = [
        f'.TH PISTE 1 "" "piste {__version__}" "User Commands"',
        ".SH NAME",
        f"piste \\- {roff(SUMMARY[0].lower() + SUMMARY[1:].rstrip('.'))}",
        ".SH SYNOPSIS",
        f".B {roff(str(parser.usage))}",
        ".SH DESCRIPTION",
        "Without a command, piste asks which game to play, and against whom. At any question of a game, ? helps.",
        ".SH OPTIONS",
        *arguments(parser),
    ]
    for group, names in GROUPS.items():
        lines += [f".SH COMMANDS TO {group.upper()}"]
        for name in names:
            command = tree.choices[name]
            lines += [f'.SS "piste {roff(signature(name, command))}"', f"{roff(str(helps[name])).capitalize()}."]
            lines += arguments(command)
    for title, meanings in (("ENVIRONMENT", ENVIRONMENT), ("EXIT STATUS", EXIT_CODES), ("EXAMPLES", EXAMPLES)):
        lines += [f".SH {title}", *(line for term, text in meanings.items() for line in item(term, text))]
    return "\n".join(lines)


def arguments(parser: argparse.ArgumentParser) -> Iterator[str]:
    """Yield an item for each argument that the help shows."""
    for action in parser._actions:
        if action.help in (None, argparse.SUPPRESS) or isinstance(action, argparse._HelpAction):
            continue
        taken = f" {action.metavar}" if action.option_strings and action.metavar else ""
        yield from item((", ".join(action.option_strings) or str(action.metavar)) + taken, str(action.help))


def item(term: str, text: str) -> Iterator[str]:
    yield from (".TP", f".B {roff(term)}", roff(text))


def roff(text: str) -> str:
    """Return text so that `man` shows it as it is: no letter of it is a request, a quote or another dash."""
    shown = text.replace("\\", "\\e").replace("-", "\\-").replace("`", "\\(ga").replace("'", "\\(aq")
    return f"\\&{shown}" if shown.startswith(".") else shown
