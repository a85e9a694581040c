"""Write constraints.txt: the versions of every library that the server and its bots need, as they are installed here.

    make constraints

These are the versions that the tests ran with. They are pinned for whoever deploys, and for nobody else.
"""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PLACE = Path(__file__).parent.parent / "constraints.txt"
HEAD = "# Written by `make constraints`: what `piste[fast,web]` was tested with. pip install -c constraints.txt ...\n"


def needed(asked: Requirement, found: dict[str, str]) -> None:
    """Add what a requirement needs, and what that needs."""
    name = canonicalize_name(asked.name)
    try:
        there = distribution(name)
    except PackageNotFoundError:
        return  # for another system
    if name != "piste":
        found[name] = there.version
    for text in there.requires or ():
        more = Requirement(text)
        wanted = more.marker is None or any(more.marker.evaluate({"extra": extra}) for extra in asked.extras or {""})
        if wanted and (more.extras or canonicalize_name(more.name) not in found):
            needed(more, found)


def main() -> None:
    found: dict[str, str] = {}
    needed(Requirement("piste[fast,web]"), found)
    PLACE.write_text(HEAD + "".join(f"{name}=={found[name]}\n" for name in sorted(found)), encoding="utf-8")
    print(f"{len(found)} versions written to {PLACE.name}")


if __name__ == "__main__":
    main()
