"""Programs that some tests need: the build machine gets them from Debian; elsewhere a line says what was skipped."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from hashlib import blake2b
from pathlib import Path
from typing import NoReturn

import pytest

from tests.limits import PATIENCE_S

ADMINISTRATORS = "/usr/local/sbin:/usr/sbin:/sbin"
"""Where servers are found, which not everybody has in their path."""


def on_build_machine() -> bool:
    return os.environ.get("CI") == "true"


def without(reason: str, request: pytest.FixtureRequest) -> NoReturn:
    """Skip with a line that says so; where nobody would read it, fail."""
    if on_build_machine():
        pytest.fail(f"{reason} (and on the build machine nothing may be)", pytrace=False)
    manager = request.config.pluginmanager.getplugin("capturemanager")
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID", os.getpid())
    mark = blake2b(reason.encode(), digest_size=4).hexdigest()
    try:
        (Path(tempfile.gettempdir()) / f"piste-said-{run}-{mark}").touch(exist_ok=False)
    except FileExistsError:
        pytest.skip(reason)
    if manager is not None:
        with manager.global_and_fixture_disabled():
            os.write(2, f"\n{reason}\n".encode())
    pytest.skip(reason)


def found(program: str) -> str | None:
    return shutil.which(program) or shutil.which(program, path=ADMINISTRATORS)


def install(program: str, *packages: str) -> None:
    """Install Debian's packages, once for all workers: the others wait at the lock and then find them there."""
    import fcntl

    rights = [] if os.geteuid() == 0 else ["sudo", "-n"]
    with (Path(tempfile.gettempdir()) / "piste-install.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if found(program):
            return
        quiet = {"DEBIAN_FRONTEND": "noninteractive", **os.environ}
        said = ""
        for command in ("apt-get update", f"apt-get install -y --no-install-recommends {' '.join(packages)}"):
            done = subprocess.run(
                [*rights, *command.split()],
                capture_output=True,
                text=True,
                timeout=PATIENCE_S,
                check=False,
                env=quiet,
            )
            if done.returncode:
                said += f"{command}: {done.stdout[-1000:]}{done.stderr[-1000:]}\n"
        # A package may also complain because its service found a port taken; that is nothing to us.
        if found(program) is None:
            pytest.fail(said or f"{' '.join(packages)}: installed, and still no {program}", pytrace=False)


def needed(
    program: str, package: str, request: pytest.FixtureRequest, *, skipped: str, along: tuple[str, ...] = ()
) -> str:
    """Return where a program is, once it is there; `along` is what the build machine installs with it."""
    if found(program) is None and on_build_machine():
        install(program, package, *along)
    return found(program) or without(f"no {program} here: {skipped} skipped; apt install {package}", request)
