"""The built wheel in clean environments, outside the checkout, with each extra alone: all runs or is refused."""

from __future__ import annotations

import fcntl
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2 as httpx
import pytest

from tests import ROOT
from tests.limits import PATIENCE_S
from tests.system_packages import without

pytestmark = pytest.mark.slow

EXTRAS = ("", "fast", "web", "rl", "openspiel")

ALWAYS = (
    "--version", "games", "bots", "where", "rules zero-sum-duel", "completion bash", "games --played",
    "solve zero-sum-grid", "puzzle zero-sum-grid --level easy --seed 1 --json", "simulate prime-duel --games 20",
    "match prime-duel steady novice --games 2 --processes 1", "balance zero-sum-grid --games 1 --processes 1",
    "bench --startup --json", "replay last", "verify last",
)  # fmt: skip
"""What runs whatever is installed."""

NEEDING = {
    "solve positive-negative": "fast",
    "review last": "fast",
    "progress": "fast",
    "puzzle positive-negative --seed 1 --json": "fast",
    "match positive-negative perfect novice --games 2 --processes 1": "fast",
    "review last --plot a.png": "plot",
    "serve --port 0": "web",
    "bench --serve": "web",
}
"""What runs with an extra, and is refused without it."""

REFUSED_ALONE = (
    "solve zero-sum-duel", "solve prime-duel", "solve mccoy-duel", "puzzle --print", "puzzle zero-sum-duel",
    "play zero-sum-duel --vs strong", "match mccoy-duel perfect novice", "bench --batch", "bench --compile",
    "bench --solve",
)  # fmt: skip
"""What is refused without the extra `fast`; with it, each compiles for a while."""

TOO_LONG = ("serve --port 0", "bench --serve")
"""Not run where they could be: one serves for ever, the other takes minutes."""

ADAPTERS = {"gymnasium": "rl", "pettingzoo": "rl", "openspiel": "openspiel", "vector_env": "fast"}


def called(*words: str | Path, cwd: Path, typed: str = "", **more: str) -> subprocess.CompletedProcess[str]:
    own = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "PISTE", "VIRTUAL"))}
    return subprocess.run(
        [str(word) for word in words], cwd=cwd, input=typed, env={**own, **more},
        capture_output=True, text=True, timeout=PATIENCE_S, check=False,
    )  # fmt: skip


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Path:
    """Build the wheel, once for all workers."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "wheel"
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not list(folder.glob("*.whl")):
            done = called(sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", folder, ROOT, cwd=folder)
            if done.returncode:
                without(f"pip cannot build the wheel here, so clean installs are not tested:\n{done.stderr}", request)
    return next(folder.glob("*.whl"))


@pytest.fixture(params=EXTRAS, ids=lambda extra: extra or "bare")
def extra(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def folder(extra: str, wheel: Path, tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """Return a folder with an environment in `venv` into which the wheel was installed with one extra."""
    assert called(sys.executable, "-m", "venv", tmp_path / "venv", cwd=tmp_path).returncode == 0
    what = f"{wheel}[{extra}]" if extra else str(wheel)
    quiet = ("-q", "--disable-pip-version-check")
    done = called(tmp_path / "venv" / "bin" / "python", "-m", "pip", "install", *quiet, what, cwd=tmp_path)
    if done.returncode:
        without(f"pip cannot install piste[{extra}] here, so it is not tested:\n{done.stderr[-2000:]}", request)
    return tmp_path


def test_every_command_runs_or_names_its_extra(extra: str, folder: Path) -> None:
    bin_ = folder / "venv" / "bin"
    homes = {"PISTE_HOME": str(folder / "home"), "XDG_CACHE_HOME": str(folder / "cache")}

    def piste(words: str, typed: str = "") -> subprocess.CompletedProcess[str]:
        return called(bin_ / "piste", *words.split(), cwd=folder, typed=typed, **homes)

    wrong: list[str] = []

    def expect(words: str, done: subprocess.CompletedProcess[str], needed: str = "") -> None:
        sentence = f"Install it with: pip install 'piste[{needed}]'"
        refused = done.returncode in (1, 2) and done.stderr.rstrip().endswith(sentence)
        if "Traceback" in done.stderr or (not refused if needed else done.returncode):
            wrong.append(f"{words}: {done.returncode}\n{done.stdout[-500:]}{done.stderr[-2000:]}")

    played = piste("play positive-negative --vs strong --seed 1", "hint\nk\nhint\n" + "d\n" * 60)
    expect("play", played)
    assert played.stdout.count("would choose") >= 2, played.stdout
    for words in ALWAYS:
        expect(words, piste(words))
    for words, needed in NEEDING.items():
        if needed != extra:
            expect(words, piste(words), needed)
        elif words not in TOO_LONG:
            expect(words, piste(words))
    for words in REFUSED_ALONE if extra != "fast" else ():
        expect(words, piste(words), "fast")
    for module, needed in ADAPTERS.items():
        code = f"import piste.rl.{module}"
        done = called(bin_ / "python", "-c", code, cwd=folder, **homes)
        if needed == extra:
            expect(code, done)
        elif not done.stderr.rstrip().endswith(f"pip install 'piste[{needed}]'"):
            wrong.append(f"{code}: {done.stderr}")
    if extra == "web":
        play_in_the_browser(folder, homes)
    assert not wrong, "\n\n".join(wrong)


@contextmanager
def serving(folder: Path, homes: dict[str, str]) -> Iterator[str]:
    """Run the server of an environment and give its address."""
    words = ("serve", "--port", "0", "--host", "127.0.0.1", "--no-open", "--db", str(folder / "tables.db"))
    with subprocess.Popen(
        [str(folder / "venv" / "bin" / "piste"), *words], cwd=folder, stdout=subprocess.PIPE, text=True,
        env={**os.environ, **homes, "PYTHONUNBUFFERED": "1"},
    ) as process:  # fmt: skip
        try:
            assert process.stdout is not None
            found = next(match for line in process.stdout if (match := re.search(r"http://127\.0\.0\.1:\d+", line)))
            yield found[0]
        finally:
            process.terminate()


def play_in_the_browser(folder: Path, homes: dict[str, str]) -> None:
    """Without numpy the levels that need it are not offered; steady plays and hints; the review names the extra."""
    with serving(folder, homes) as address:
        json = {"accept": "application/json", "origin": address}
        with httpx.Client(base_url=address, timeout=PATIENCE_S, headers=json) as client:
            page = client.get("/g/prime-duel", headers={"accept": "text/html"}).text
            assert 'value="steady"' in page
            assert 'value="strong"' not in page
            form = {"game": "prime-duel", "versus": "steady", "option-first": "1"}
            refused = client.post("/new", data={**form, "versus": "strong"})
            assert refused.status_code in (409, 422), refused.text
            assert "pip install 'piste[fast]'" in refused.json()["said"]
            table = client.post("/new", data=form).json()["go"]
            hint = client.post(f"{table}/hint").json()
            assert hint["ok"], hint
            assert hint["said"].startswith("The strongest bot here, Medium, would ")
            assert client.post(f"{table}/resign").json()["ok"]
            review = client.get(f"{table}/review").json()
            assert review["failed"].endswith("pip install 'piste[fast]'")
