"""`piste serve`: what it refuses, what it says at the start, and how it stops."""

from __future__ import annotations

import argparse
import io
import re
import socket
import subprocess
import sys
import xml.etree.ElementTree
from pathlib import Path
from typing import Any

import pytest

from piste.cli.commands import serve
from piste.cli.main import main
from piste.cli.parser import make_parser
from piste.cli.terminal import Terminal
from piste.core.errors import MissingExtraError, OptionError, PisteError
from piste.core.extras import SERVE
from piste.web import server
from piste.web.middleware import connections
from piste.web.middleware.rate_limits import MAX_SOCKETS_PER_NETWORK, RATES
from piste.web.network import lan_addresses, link, qr_lines, qr_svg
from piste.web.settings import Settings, default_db, read_public
from tests import ROOT


def arguments(*words: str) -> argparse.Namespace:
    return make_parser().parse_args(["serve", *words])


def command_parser(name: str) -> argparse.ArgumentParser:
    (tree,) = (action for action in make_parser()._actions if isinstance(action, argparse._SubParsersAction))
    found: argparse.ArgumentParser = tree.choices[name]
    return found


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PISTE_HOME", str(tmp_path / "home"))
    for variable in ("WEB_CONCURRENCY", *ENVIRONMENT):
        monkeypatch.delenv(variable, raising=False)


# What is asked for


def test_without_arguments_phones_in_the_network_can_come() -> None:
    found = serve.read_settings(arguments())
    assert (found.host, found.port, found.behind_proxy, found.keep_days, found.patience) == (
        "0.0.0.0",
        8000,
        "",
        30,
        60,
    )
    assert found.db == default_db()
    assert found.limits
    assert found.prepare
    assert found.thinkers >= 1


def test_behind_a_proxy_nobody_else_is_heard_or_believed() -> None:
    found = serve.read_settings(arguments("--behind-proxy"))
    assert (found.host, found.behind_proxy) == ("127.0.0.1", "127.0.0.1")
    found = serve.read_settings(arguments("--behind-proxy", "10.0.0.7", "--host", "10.0.0.8"))
    assert (found.host, found.behind_proxy) == ("10.0.0.8", "10.0.0.7")


def test_every_setting_can_be_chosen(tmp_path: Path) -> None:
    words = [
        "--port=0",
        "--keep=0",
        "--patience=90",
        "--thinkers=3",
        "--public=https://cards.example/",
        "--no-limits",
        "--no-prepare",
    ]
    found = serve.read_settings(arguments("--db", str(tmp_path / "x.db"), *words))
    assert found == Settings(
        tmp_path / "x.db",
        port=0,
        keep_days=0,
        patience=90.0,
        thinkers=3,
        public="https://cards.example",
        limits=False,
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--port", "70000"], "0 to 65535"),
        (["--port", "http"], "whole number"),
        (["--keep", "-1"], "whole number"),
        (["--patience", "1"], "5 to"),
        (["--thinkers", "0"], "1 to"),
        (["--behind-proxy", "example.com"], "is no address"),
        (["--public", "cards.example"], "https://cards.example"),
        (["--bot-workers", "0"], "1 to"),
        (["--workers", "2"], "keep the tables in PostgreSQL"),
        (["--workers", "0"], "1 to"),
        (["--db", "mysql://localhost/x"], "--db takes a file, or the address"),
        (["--db", "postgresql://localhost"], "--db takes a file, or the address"),
    ],
)
def test_what_cannot_be_is_refused_with_a_sentence(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["serve", *words]) == 2
    assert said in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    "text",
    ["https://a.example/games", "ftp://a.example", "https://", "https://a?b", "https://a:x", "https://me@a", "//a"],
)
def test_a_public_address_is_a_whole_one(text: str) -> None:
    with pytest.raises(OptionError):
        read_public(text)


def test_a_second_process_on_a_file_is_refused_wherever_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("WEB_CONCURRENCY", "PISTE_WORKERS"):
        monkeypatch.setenv(variable, "4")
        with pytest.raises(OptionError, match=rf"{variable} cannot be '4' with a file.*PostgreSQL"):
            serve.run(arguments(), Terminal(io.StringIO(), io.StringIO()))
        monkeypatch.setenv(variable, "1")
    assert serve.read_settings(arguments("--workers", "1")).workers == 1


def test_several_processes_share_a_postgresql(monkeypatch: pytest.MonkeyPatch) -> None:
    address = "postgresql://piste@localhost/piste"
    assert serve.read_settings(arguments("--db", address)).workers == 1
    assert serve.read_settings(arguments("--db", address, "--workers", "3")).workers == 3
    monkeypatch.setenv("WEB_CONCURRENCY", "2")
    assert serve.read_settings(arguments("--db", address)).workers == 2


# The environment


ENVIRONMENT = {
    "PISTE_HOST": "127.0.0.1",
    "PISTE_PORT": "8080",
    "PISTE_DB": "postgresql://piste@localhost/piste",
    "PISTE_BEHIND_PROXY": "10.0.0.7",
    "PISTE_PUBLIC": "https://cards.example",
    "PISTE_KEEP": "7",
    "PISTE_PATIENCE": "90",
    "PISTE_NO_PREPARE": "yes",
    "PISTE_BOT_WORKERS": "3",
    "PISTE_WORKERS": "2",
    "PISTE_PROGRAM_GAMES": "9",
    "PISTE_OPEN_METRICS": "1",
    "PISTE_NO_LIMITS": "true",
    "PISTE_NO_OPEN": "on",
    "PISTE_LOG": "text",
    "PISTE_QUIET": "yes",
}


def test_every_option_has_a_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    options = {action.dest for action in command_parser("serve")._actions if action.help != argparse.SUPPRESS}
    assert {f"PISTE_{option.upper()}" for option in options - {"help"}} == set(ENVIRONMENT)
    for variable, text in ENVIRONMENT.items():
        monkeypatch.setenv(variable, text)
    assert serve.read_settings(arguments()) == Settings(
        ENVIRONMENT["PISTE_DB"],
        host="127.0.0.1",
        port=8080,
        behind_proxy="10.0.0.7",
        public="https://cards.example",
        keep_days=7,
        patience=90.0,
        thinkers=3,
        workers=2,
        program_games=9,
        open_metrics=True,
        limits=False,
        prepare=False,
    )
    assert serve.read_manner(arguments()) == serve.Manner(quiet=True, browse=False, log="text")


def test_what_is_typed_wins_over_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for variable, text in ENVIRONMENT.items():
        monkeypatch.setenv(variable, text)
    words = ["--port=0", "--bot-workers=5", "--workers=1", "--keep=0", "--log=json", "--db", str(tmp_path / "x.db")]
    found = serve.read_settings(arguments(*words))
    assert (found.port, found.thinkers, found.workers, found.keep_days) == (0, 5, 1, 0)
    assert found.db == tmp_path / "x.db"
    assert serve.read_manner(arguments(*words)).log == "json"


def test_on_a_shared_database_slow_decisions_can_be_left_to_other_processes() -> None:
    assert serve.read_settings(arguments("--db", ENVIRONMENT["PISTE_DB"], "--bot-workers", "0")).thinkers == 0


@pytest.mark.parametrize("variable", sorted(set(ENVIRONMENT) - {"PISTE_HOST"}))
def test_a_bad_variable_is_refused_by_its_name(
    variable: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(variable, "mysql://perhaps:secret@x")
    assert main(["serve"]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert said.startswith(f"piste: {variable} ")
    assert variable != "PISTE_DB" or "secret" not in said


def test_an_empty_variable_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ENVIRONMENT:
        monkeypatch.setenv(variable, "")
    found = serve.read_settings(arguments())
    assert (found.port, found.db, found.workers, found.limits) == (8000, default_db(), 1, True)


def test_without_the_libraries_of_postgresql_it_says_how_to_install_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'piste\[postgres\]'"):
        serve.read_settings(arguments("--db", "postgresql://piste@localhost/piste"))


def test_without_the_libraries_it_says_how_to_install_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'piste\[web\]'"):
        serve.run(arguments(), Terminal(io.StringIO(), io.StringIO()))


def test_the_extra_holds_what_is_needed() -> None:
    import tomllib

    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    names = {re.split("[<>=]", line)[0] for line in tomllib.loads(text)["project"]["optional-dependencies"]["web"]}
    named = {name.replace("_", "-") for name in SERVE.libraries}
    faster = {"uvloop"}  # used where it is there
    assert {"markdown-it" if name == "markdown-it-py" else name for name in names} - faster == named


def test_a_port_that_is_taken_gets_a_sentence_and_another_port() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(PisteError, match=f"Port {port} is taken.*--port"):
            server.listen("127.0.0.1", port)


def test_an_address_of_another_computer_gets_a_sentence() -> None:
    with pytest.raises(PisteError, match="no address of this computer"):
        server.listen("198.51.100.77", 0)


def test_a_place_that_cannot_be_written_gets_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(PisteError, match="--db"):
        serve.create_database_file(tmp_path / "file" / "tables.db")


@pytest.mark.skipif(sys.platform == "win32", reason="no such permissions there")
def test_the_file_is_for_its_owner_only(tmp_path: Path) -> None:
    serve.create_database_file(tmp_path / "deep" / "tables.db")
    assert (tmp_path / "deep" / "tables.db").stat().st_mode & 0o077 == 0


def test_the_page_for_hosts_names_every_option_and_the_true_limits() -> None:
    page = " ".join((ROOT / "docs" / "hosting.md").read_text(encoding="utf-8").split())
    done = subprocess.run(
        [sys.executable, "-m", "piste", "serve", "--help"], capture_output=True, text=True, check=True
    )
    options = set(re.findall(r"--[a-z-]+", done.stdout)) - {"--help"}
    assert len(options) >= 12
    assert {option for option in options if f"`{option}" not in page} == set()
    asked, posts, sockets, said = (RATES[kind] for kind in ("requests", "posts", "sockets", "messages"))
    assert f"{asked.per_second:g} requests a second in the long run and {asked.burst:g} at once" in page
    assert f"{posts.per_second:g} posts and {posts.burst:g}" in page
    assert RATES["rooms"].per_second == 0.2
    assert f"a table every five seconds and {RATES['rooms'].burst:g} at once" in page
    assert f"{sockets.per_second:g} sockets a second and {sockets.burst:g} at once, and hold" in page
    assert f"and hold {MAX_SOCKETS_PER_NETWORK} of them" in page
    assert f"{said.per_second:g} messages a second and {said.burst:g} at once" in page
    allowed = connections.ALLOWED_BYTES
    assert f"{allowed.per_second / 1000:g} kB and {allowed.burst / 1000:g}" in page


# What is said


class TtyOutput(io.StringIO):
    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


def welcomed(settings: Settings, monkeypatch: pytest.MonkeyPatch, out: io.StringIO, *addresses: str) -> str:
    monkeypatch.setattr("piste.web.network.lan_addresses", lambda: list(addresses))
    serve.welcome(settings, Terminal(out, io.StringIO(), colour=False))
    return out.getvalue()


def test_the_start_says_where_to_go_where_things_are_and_how_to_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    text = welcomed(Settings(Path("tables.db")), monkeypatch, TtyOutput(), "192.168.1.20")
    assert "http://localhost:8000" in text
    assert "http://192.168.1.20:8000" in text
    assert "tables.db, for 30 days" in text
    assert "Ctrl-C" in text
    assert all(line in text for line in qr_lines("http://192.168.1.20:8000", colour=False))


def test_the_start_shows_no_password(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = Settings("postgresql://piste:s3cret@db.example/tables?password=s3cret&sslmode=require")
    text = welcomed(settings, monkeypatch, io.StringIO())
    assert "kept in postgresql://piste:***@db.example/tables, for 30 days" in text
    assert "s3cret" not in text


def test_a_pipe_gets_no_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "█" not in welcomed(Settings(Path("tables.db")), monkeypatch, io.StringIO(), "192.168.1.20")


def test_without_a_network_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "in no network" in welcomed(Settings(Path("tables.db")), monkeypatch, TtyOutput())


def test_behind_a_proxy_the_public_address_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = Settings(
        Path("tables.db"), host="127.0.0.1", behind_proxy="127.0.0.1", public="https://cards.example", keep_days=0
    )
    text = welcomed(settings, monkeypatch, TtyOutput(), "192.168.1.20")
    assert "192.168.1.20" not in text
    assert "https://cards.example" in text
    assert "until they are deleted" in text
    assert qr_lines("https://cards.example", colour=False)[5] in text


def test_no_browser_opens_where_nobody_sits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.delenv("SSH_CONNECTION", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.setenv("DISPLAY", ":0")
    assert serve.can_browse(Terminal(TtyOutput(), io.StringIO()))
    assert not serve.can_browse(Terminal(io.StringIO(), io.StringIO()))
    monkeypatch.setenv("SSH_CONNECTION", "somewhere")
    assert not serve.can_browse(Terminal(TtyOutput(), io.StringIO()))
    monkeypatch.delenv("SSH_CONNECTION")
    monkeypatch.delenv("DISPLAY")
    assert not serve.can_browse(Terminal(TtyOutput(), io.StringIO()))


def test_addresses_are_found_without_a_word_to_anybody(monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody(*_: Any, **__: Any) -> Any:
        raise AssertionError("nobody is to be asked")

    for asking in ("getaddrinfo", "gethostbyname", "gethostbyname_ex", "create_connection"):
        monkeypatch.setattr(socket, asking, nobody)
    monkeypatch.setattr(socket.socket, "send", nobody)
    monkeypatch.setattr(socket.socket, "sendto", nobody)
    for address in lan_addresses():
        assert not address.startswith(("127.", "169.254.", "0."))


def test_links_are_as_browsers_want_them() -> None:
    assert link("192.168.1.20", 8000) == "http://192.168.1.20:8000"
    assert link("192.168.1.20", 80) == "http://192.168.1.20"
    assert link("2001:db8::1", 8000) == "http://[2001:db8::1]:8000"


@pytest.mark.parametrize("text", ["http://192.168.1.20:8000", "https://cards.example/t/" + "A" * 16])
def test_the_picture_is_the_same_for_light_and_dark(text: str) -> None:
    """Read the squares back from both drawings: dark ones are printed with colour, light ones without."""
    halves = {"█": (True, True), "▀": (True, False), "▄": (False, True), " ": (False, False)}

    def squares(lines: list[str], printed: bool) -> list[list[bool]]:
        rows: list[list[bool]] = []
        for line in lines:
            plain = re.sub("\x1b\\[[0-9;]*m", "", line)
            rows += [[halves[letter][half] == printed for letter in plain] for half in (0, 1)]
        return rows

    dark = squares(qr_lines(text, colour=True), True)
    assert dark == squares(qr_lines(text, colour=False), False)
    assert not any(any(row) for row in dark[:4] + [row[:4] for row in dark])  # the quiet zone
    assert dark[4][4:11] == [True] * 7  # the corner that readers look for
    assert dark[5][4:11] == [True, *[False] * 5, True]


def test_the_picture_for_pages_needs_no_style() -> None:
    root = xml.etree.ElementTree.fromstring(qr_svg("https://cards.example/t/" + "A" * 16))
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    for element in root.iter():
        assert not {"style", "class", "onload"} & set(element.attrib)
        assert not element.tag.endswith(("style", "script", "image"))
