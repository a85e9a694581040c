"""Run a program as systemd would, as far as system calls go: whoever makes one that is not allowed is killed at once.

python -m tests.web.syscall_filter SYSTEMD-ANALYZE FILTER,... FAMILY,... PROGRAM WORDS...
"""

from __future__ import annotations

import ctypes
import os
import socket
import subprocess
import sys

LIBRARY = "libseccomp.so.2"
KILL, ALLOW, EQUAL = 0x80000000, 0x7FFF0000, 4  # as seccomp.h has them


class Condition(ctypes.Structure):
    """One argument of a call, and what it must be."""

    _fields_ = (
        ("argument", ctypes.c_uint), ("how", ctypes.c_int), ("value", ctypes.c_uint64), ("unused", ctypes.c_uint64),
    )  # fmt: skip


def groups(analyze: str) -> dict[str, set[str]]:
    """Return all groups of system calls that systemd knows, and what stands in them: calls, and other groups."""
    asked = [analyze, "syscall-filter", "--no-pager"]
    found: dict[str, set[str]] = {}
    name = ""
    for line in subprocess.run(asked, capture_output=True, text=True, check=True).stdout.splitlines():
        word = line.strip()
        if line.startswith("@"):
            name = word
        elif line.startswith(" ") and not word.startswith("#"):
            found.setdefault(name, set()).add(word)
    return found


def members(name: str, known: dict[str, set[str]]) -> set[str]:
    """Return the calls that a name stands for: itself, or all of a group and of the groups in it."""
    return {call for one in known[name] for call in members(one, known)} if name.startswith("@") else {name}


def confine(calls: set[str], families: list[int]) -> None:
    """Allow this process and all that come from it these calls only, and sockets of these families.

    With systemd a socket of another family only fails; who is killed for it here cannot depend on that.
    """
    library = ctypes.CDLL(LIBRARY)
    library.seccomp_init.restype = ctypes.c_void_p
    number = library.seccomp_syscall_resolve_name
    rules = ctypes.c_void_p(library.seccomp_init(ctypes.c_uint32(KILL)))
    add = library.seccomp_rule_add_array
    wrong = 0
    for call in sorted(calls - {"socket"}):
        if (found := number(call.encode())) >= 0:  # the others belong to other machines
            wrong |= add(rules, ctypes.c_uint32(ALLOW), found, 0, None)
    for family in families:
        condition = Condition(0, EQUAL, family, 0)
        wrong |= add(rules, ctypes.c_uint32(ALLOW), number(b"socket"), 1, ctypes.byref(condition))
    if wrong or library.seccomp_load(rules):
        sys.exit("The filter of system calls cannot be used here.")


if __name__ == "__main__":
    analyze, filters, names, *words = sys.argv[1:]
    known = groups(analyze)
    allowed = {call for one in filters.split(",") for call in members(one, known)}
    confine(allowed, [getattr(socket, name) for name in names.split(",")])
    os.execv(words[0], words)
