"""Write constraints.txt: the versions of every library that the server and its bots need, as they are installed here.

    make constraints

These are the versions that the tests ran with. They are pinned for whoever deploys, and for nobody else.
"""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, distribution

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tools.pages import ROOT

PLACE = ROOT / "constraints.txt"
EXTRAS = "piste[fast,web,postgres]"
HEAD = f"# Written by `make constraints`: what `{EXTRAS}` was tested with. pip install -c constraints.txt ...\n"


def needed(asked: Requirement, versions: dict[str, str]) -> None:
    """Add what a requirement needs, and what that needs."""
    name = canonicalize_name(asked.name)
    try:
        there = distribution(name)
    except PackageNotFoundError:
        return  # for another system
    if name != "piste":
        versions[name] = there.version
    for text in there.requires or ():
        more = Requirement(text)
        wanted = more.marker is None or any(more.marker.evaluate({"extra": extra}) for extra in asked.extras or {""})
        if wanted and (more.extras or canonicalize_name(more.name) not in versions):
            needed(more, versions)


def main() -> None:
    versions: dict[str, str] = {}
    needed(Requirement(EXTRAS), versions)
    PLACE.write_text(HEAD + "".join(f"{name}=={versions[name]}\n" for name in sorted(versions)), encoding="utf-8")
    print(f"{len(versions)} versions written to {PLACE.name}")


if __name__ == "__main__":
    main()
