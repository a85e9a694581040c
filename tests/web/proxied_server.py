"""A server behind a proxy, both run as docs/hosting.md says; and people who come through the proxy by https."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import os
import re
import shlex
import signal
import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from html import unescape
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from piste.cli.commands.bench.serve_clients import BUTTON, NUMBER
from piste.web.settings import LOOPBACK, PORT
from tests import ROOT
from tests.limits import PATIENCE_S, PATIENT, wait_until

PAGE = ROOT / "docs" / "hosting.md"
NAME = "cards.example"
PUBLIC = f"https://{NAME}"
BALANCER, MACHINES = "10.0.0.1", ("10.0.0.11", "10.0.0.12")
"""The addresses that the page gives as examples."""

ASKED = "X-Asked"  # a header of answers


# What the page says


def block(language: str) -> str:
    """Return the one block of the page that is written in this language."""
    (found,) = re.findall(rf"^```{language}\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    return str(found)


def commands(word: str) -> list[str]:
    """Return the command lines of the page in which a word stands."""
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    return [line.strip() for line in lines if line.startswith("    ") and word in line]


def changed(text: str, *changes: tuple[str, str]) -> str:
    """Return a text with something else in the place of what must stand there exactly once."""
    for old, new in changes:
        assert text.count(old) == 1, f"{old!r} does not stand there once:\n{text}"
        text = text.replace(old, new)
    return text


def said_of(setting: str) -> str:
    """Return what stands behind a setting of the page's unit."""
    (found,) = re.findall(rf"^{setting}=(.+)$", block("ini"), re.MULTILINE)
    return str(found)


def said_of_serve() -> list[str]:
    """Return the words of `piste serve` in the page's unit."""
    program, *words = shlex.split(said_of("ExecStart"))
    assert program == "/opt/piste/bin/piste"
    return words


# Processes


class Child:
    """A process of ours, ended with the test whatever happens; what it says is kept in a file."""

    def __init__(self, words: list[str], said: Path, env: dict[str, str] | None = None) -> None:
        self.said = said
        with said.open("a") as errors:
            self.process = subprocess.Popen(
                words, stdout=subprocess.PIPE, stderr=errors, text=True, env=env, start_new_session=True
            )
        assert self.process.stdout is not None
        self.out = self.process.stdout

    def stop(self) -> int:
        """Ask it to end and return how it did."""
        self.process.terminate()
        try:
            return self.process.wait(PATIENCE_S)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            self.out.close()


class Served:
    """`piste serve` with the words of the page: it can be stopped and started again on the same tables."""

    def __init__(
        self, words: list[str], folder: Path, *, within: tuple[str, ...] = (), db: str = "", host: str = LOOPBACK
    ) -> None:
        self._words = [*within, sys.executable, "-m", "piste", *words, "--thinkers=1"]
        self._env = {
            **{key: value for key, value in os.environ.items() if key != "WEB_CONCURRENCY"},
            **dict.fromkeys(("PISTE_HOME", "XDG_CACHE_HOME", "HOME"), str(folder)),
            "PYTHONUNBUFFERED": "1",
            "PISTE_DB": db,
        }
        self.said = folder / "tables.errors"
        self.host, self.port = host, 0
        self._child: Child | None = None
        self.start()

    def start(self) -> None:
        self._child = Child([*self._words, f"--port={self.port}"], self.said, self._env)
        told = threading.Timer(PATIENCE_S, self._child.process.kill)
        told.start()
        lines = list(until(self._child.out, "To stop"))
        told.cancel()
        found = re.search(rf"For the proxy at {LOOPBACK}: http://{self.host}:(\d+)", "".join(lines))
        if found is None:
            self.stop()
            raise AssertionError(f"the server did not begin: {lines}{self.said.read_text()[-2000:]}")
        self.port = int(found[1])

    def stop(self) -> int:
        if self._child is None:
            return 0
        child, self._child = self._child, None
        return child.stop()

    @property
    def place(self) -> str:
        return f"{self.host}:{self.port}"

    def connected(self, address: str) -> socket.socket:
        return socket.create_connection((self.host, self.port), PATIENCE_S, (address, 0))

    def events(self) -> list[dict[str, Any]]:
        """Return the lines of its log."""
        return [json.loads(line) for line in self.said.read_text().splitlines()]


def until(lines: Iterable[str], mark: str) -> Iterator[str]:
    for line in lines:
        yield line
        if mark in line:
            return


def free_port() -> int:
    with socket.create_server((LOOPBACK, 0)) as listener:
        return int(listener.getsockname()[1])


class Proxy:
    """A proxy in a process of its own, before one server."""

    def __init__(self, words: list[str], folder: Path, port: int, trusted: Path) -> None:
        self.port = port
        self.said = folder / "said"
        mine = {key: str(folder) for key in ("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME")}
        self._child = Child(words, self.said, {**os.environ, **mine})
        try:
            self._wait(lambda: trusted.exists() and self._listens())
            # Nothing is believed but the certificate that was made here.
            self.trust = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            self.trust.load_verify_locations(trusted)
            self._wait(self._shakes_hands)
        except BaseException:
            self.stop()
            raise

    def _wait(self, done: Callable[[], bool]) -> None:
        def settled() -> bool:
            assert self._child.process.poll() is None, self.said.read_text()
            return done()

        wait_until(settled, self.said.read_text)

    def _listens(self) -> bool:
        with contextlib.suppress(ConnectionRefusedError):
            socket.create_connection((LOOPBACK, self.port), PATIENCE_S).close()
            return True
        return False

    def _shakes_hands(self) -> bool:
        """Caddy makes its certificate after it has begun to listen."""
        with contextlib.suppress(ssl.SSLError, ConnectionError):
            self.connected(LOOPBACK).close()
            return True
        return False

    def reached(self, address: str) -> socket.socket:
        return socket.create_connection((LOOPBACK, self.port), PATIENCE_S, (address, 0))

    def connected(self, address: str) -> ssl.SSLSocket:
        """Return a connection by https from this address of the computer."""
        plain = self.reached(address)
        try:
            return self.trust.wrap_socket(plain, server_hostname=NAME)
        except BaseException:
            plain.close()
            raise

    def stop(self) -> None:
        self._child.stop()


def unit_server(db: Path, *, public: bool = False, within: tuple[str, ...] = ()) -> Served:
    """Start a server with the words of the page's unit."""
    words = said_of_serve()
    words[words.index("--db") + 1] = str(db)
    words.remove("--quiet")  # it says at which port it listens
    if not public:  # so that all depends on what the proxy says
        at = words.index("--public")
        assert words[at + 1] == PUBLIC
        del words[at : at + 2]
    return Served(words, db.parent, within=within)


def balanced_server(db: str, folder: Path, host: str) -> Served:
    """Start one of several servers with the words that the page has for them, at this address of the computer."""
    (line,) = commands(f"--host {MACHINES[0]}")
    words = shlex.split(changed(line, (MACHINES[0], host), (BALANCER, LOOPBACK)))
    return Served(words[1:], folder, db=db, host=host)


def nginx(program: str, openssl: str, folder: Path, *servers: Served) -> Proxy:
    """Start nginx with the page's block within a file like Debian's, everything that is written below one folder.

    With several servers it balances between them as the page says. Its answers say which of them it asked.
    """
    port, key, certificate = free_port(), folder / "key.pem", folder / "certificate.pem"
    subprocess.run(
        [openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
         "-subj", f"/CN={NAME}", "-addext", f"subjectAltName=DNS:{NAME}", "-keyout", key, "-out", certificate],
        capture_output=True, check=True, timeout=PATIENCE_S,
    )  # fmt: skip
    upstream, location = "", f"proxy_pass http://{servers[0].place};"
    if len(servers) > 1:
        upstream, location = re.split("^# in the location.*$", block("conf"), flags=re.MULTILINE)
        places = ((f"{machine}:{PORT}", server.place) for machine, server in zip(MACHINES, servers, strict=True))
        upstream = changed(upstream, *places)
    ours = changed(
        block("nginx"),
        ("listen 443 ssl;", f"listen {LOOPBACK}:{port} ssl;"),
        ("# ssl_certificate ...;", f"ssl_certificate {certificate};"),
        (" ssl_certificate_key ...;", f"\nssl_certificate_key {key};"),
        ("/var/log/nginx/error.log", "stderr"),
        (f"proxy_pass http://{LOOPBACK}:{PORT};", location),
    )  # fmt: skip
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    written = [
        "daemon off;",
        "worker_processes 1;",
        f"pid {folder}/pid;",
        "error_log stderr;",
        *(["user root;"] if os.geteuid() == 0 else []),  # the folder is its maker's only
        "events { worker_connections 768; }",
        "http {",
        f"access_log {folder}/said;",
        *(f"{kind}_temp_path {folder}/{kind};" for kind in kinds),
        f"add_header {ASKED} $upstream_addr always;",
        upstream,
        ours,
        "}",
    ]
    (folder / "nginx.conf").write_text("\n".join(written))
    return Proxy(
        [program, "-p", str(folder), "-c", str(folder / "nginx.conf"), "-e", "stderr"], folder, port, certificate
    )


def caddy(program: str, folder: Path, to: int) -> Proxy:
    """Start Caddy with the page's file; it makes its certificate itself, here without asking anybody."""
    port = free_port()
    ours = [
        "{", "admin off", "auto_https disable_redirects", "local_certs", "skip_install_trust",
        f"default_bind {LOOPBACK}", f"https_port {port}", "",
    ]  # fmt: skip
    text = changed(block("caddyfile"), (f"{LOOPBACK}:{PORT}", f"{LOOPBACK}:{to}"))
    assert text.startswith("{\n")
    (folder / "Caddyfile").write_text("\n".join(ours) + text.removeprefix("{\n"))
    words = [program, "run", "--config", str(folder / "Caddyfile"), "--adapter", "caddyfile"]
    return Proxy(words, folder, port, folder / "caddy" / "pki" / "authorities" / "local" / "root.crt")


# People


class ActionResult(NamedTuple):
    status: int
    headers: http.client.HTTPMessage
    text: str


class Visitor:
    """Somebody with a browser: they know only the public name, and their address is their own.

    Who comes to a server straight comes as through a proxy that says nothing of them.
    """

    def __init__(self, way: Proxy | Served, address: str = LOOPBACK) -> None:
        self._way = way
        self._address = address
        self.cookie = ""

    def ask(
        self,
        path: str,
        fields: dict[str, str] | None = None,
        *,
        body: bytes | Iterable[bytes] | None = None,
        headers: dict[str, str] | None = None,
    ) -> ActionResult:
        """Ask for a page, or send a form as a page of ours does."""
        given = {"Accept": "application/json"} if fields is not None else {}
        if fields is not None or body is not None:
            given |= {"Origin": PUBLIC, "Content-Type": "application/x-www-form-urlencoded"}
        if self.cookie:
            given["Cookie"] = self.cookie
        given |= headers or {}
        line = http.client.HTTPConnection(NAME)
        line.sock = self._way.connected(self._address)
        with contextlib.closing(line):
            sent = body if fields is None else urlencode(fields).encode()
            line.request("GET" if sent is None else "POST", path, sent, given)
            found = line.getresponse()
            answer = ActionResult(found.status, found.headers, found.read().decode())
        if "set-cookie" in answer.headers:
            self.cookie = answer.headers["set-cookie"].partition(";")[0]
        return answer

    @contextlib.contextmanager
    def listening(self, path: str, headers: dict[str, str]) -> Iterator[http.client.HTTPResponse]:
        """Ask for an answer that goes on, and yield it to be read line by line."""
        line = http.client.HTTPConnection(NAME)
        line.sock = self._way.connected(self._address)
        with contextlib.closing(line):
            line.request("GET", path, headers=headers)
            found = line.getresponse()
            assert found.status == 200
            yield found

    def do(self, path: str, **fields: str) -> str:
        """Do something at a table, or open one, and return where it is."""
        answer = self.ask(path, fields)
        assert answer.status == 200, answer
        return str(json.loads(answer.text)["go"])

    @contextlib.asynccontextmanager
    async def watch(self, table: str, since: int = 0, origin: str = PUBLIC) -> AsyncIterator[Line]:
        """Connect as the page of a table does."""
        assert isinstance(self._way, Proxy)
        async with connect(
            f"wss://{NAME}{table}/socket?since={since}",
            sock=self._way.reached(self._address),
            ssl=self._way.trust,
            server_hostname=NAME,
            additional_headers={"Cookie": self.cookie, "Origin": origin},
            proxy=None,
            **PATIENT,
        ) as socket:
            line = Line(socket)
            await line.hear()
            yield line


class Line:
    """A page's websocket, and what the page shows by it."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self.parts: dict[str, str] = {}
        self.log: list[str] = []
        self.at = -1

    async def hear(self) -> dict[str, Any]:
        """Wait for a message and show what it says."""
        message: dict[str, Any] = json.loads(await asyncio.wait_for(self._socket.recv(), PATIENCE_S))
        self.parts |= message.get("parts", {})
        self.log += [text for _, _, text in message.get("log", ())]
        self.at = message.get("at", self.at)
        return message

    async def hear_until(self, done: Callable[[dict[str, Any]], bool]) -> None:
        while not done(await self.hear()):
            pass

    @property
    def choices(self) -> list[str]:
        return [unescape(found) for part in self.parts.values() for found in BUTTON.findall(part)]

    @property
    def number(self) -> str:
        """The question's number."""
        found = NUMBER.search(self.parts["choices"])
        assert found is not None
        return found[1]

    async def decide(self) -> None:
        """Take the first decision, and wait until it is answered and shown."""
        before = self.at
        asked = {"id": "mine", "do": "decide", "decision": self.choices[0], "number": int(self.number)}
        await self._socket.send(json.dumps(asked))
        answers: list[dict[str, Any]] = []
        while not answers or self.at == before:
            message = await self.hear()
            if "re" in message:
                answers.append(message)
        assert [(one["re"], one["ok"]) for one in answers] == [("mine", True)]

    async def last(self) -> tuple[dict[str, Any], int | None]:
        """Listen to the end; return the last message and the code with which the line was closed."""
        message: dict[str, Any] = {}
        with contextlib.suppress(ConnectionClosed):
            while True:
                message = await self.hear()
        return {key: value for key, value in message.items() if key != "n"}, self._socket.close_code
