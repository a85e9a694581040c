"""Long texts, a screen at a time: through the program that PAGER names, or `less`."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
from pathlib import Path
from shutil import which

USUAL = ("less", "more")


def pager_command() -> list[str]:
    """Return the program that shows long texts, with its arguments; [] if there is none, or none is wanted."""
    wanted = os.environ.get("PAGER")
    if wanted is None:
        return next(([program] for program in USUAL if which(program)), [])
    try:
        words = shlex.split(wanted)
    except ValueError:
        return []
    return [] if words in ([], ["cat"]) else words


def show_in_pager(text: str) -> bool:
    """Show a text, and return when the person has left it; False if there is no pager, so that nothing was shown."""
    words = pager_command()
    if not words:
        return False
    if Path(words[0]).name == "less":
        words.append("-R")  # colours as colours, whatever LESS says
    # Less leaves the text on the screen, and ends at once where it fits (as git sets it, unless the user has).
    environment = {"LESS": "FRX", **os.environ}
    try:
        process = subprocess.Popen(
            words, stdin=subprocess.PIPE, env=environment, text=True, encoding="utf-8", errors="replace"
        )
    except OSError:
        return False
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the pager
    try:
        process.communicate(text)
    finally:
        signal.signal(signal.SIGINT, before)
    return True
