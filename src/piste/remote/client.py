"""A client of the API of `piste serve`, made of the standard library alone.

    client = Client("http://localhost:8000")
    table = client.open("prime-duel", versus="steady", name="Mine")
    code = table["table"]["code"]
    now = table["now"]
    client.decide(code, now["number"], now["decisions"][0])

Every request may be sent again: what was done already is not done twice. So a client that is given `patience` asks
again, after a while, where the server is away, busy or wants it to wait; else it raises the refusal at once.
"""

from __future__ import annotations

import http.client
import json
import random
import ssl
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple
from urllib.parse import urlencode, urlsplit

from piste import __version__
from piste.core.errors import OptionError, PisteError
from piste.core.game import quoted

Json = dict[str, Any]

ANSWER_TIMEOUT_S = 30.0
SILENCE_TIMEOUT_S = 60.0  # a stream tells more often than this that it lives
MAX_ANSWER_BYTES = 8_000_000
MAX_LINE_BYTES = 2_000_000
FIRST_WAIT_S, MAX_WAIT_S = 0.5, 30.0  # from one attempt to the next
WORTH_WAITING = (408, 429, 502, 503, 504)


class RemoteError(PisteError):
    """A server that refused something, or could not be asked."""

    def __init__(self, sentence: str, *, status: int = 0, kind: str = "", wait: float = 0.0) -> None:
        super().__init__(sentence)
        self.status = status  # of HTTP; 0 if there was no answer
        self.kind = kind  # of the refusal, as the API names it: "stale-decision"; "" if it was none of the API's
        self.wait = wait  # seconds after which the server wants to be asked again

    @property
    def temporary(self) -> bool:
        """Whether the same may be answered later."""
        return self.status in WORTH_WAITING


class ConnectionLostError(RemoteError):
    """A server that cannot be reached now, or a connection that broke."""

    @property
    def temporary(self) -> bool:
        return True


class TableLink(NamedTuple):
    """What the link of a table, or the private link of a seat, says."""

    server: str  # such as https://cards.example
    code: str
    seat: int | None = None
    secret: str = ""  # of the seat


def read_link(text: str) -> TableLink:
    """Return what a link to a table says, or refuse it."""
    url = urlsplit(text.strip())
    parts = url.path.strip("/").split("/")
    try:
        valid = url.scheme in ("http", "https") and bool(url.hostname) and (url.port or 1) > 0
    except ValueError:
        valid = False
    server = f"{url.scheme}://{url.netloc.rpartition('@')[2]}"
    if valid and len(parts) == 2 and parts[0] == "t" and parts[1].isalnum():
        return TableLink(server, parts[1])
    if valid and len(parts) == 4 and parts[0] == "s" and parts[1].isalnum() and parts[2].isdecimal():
        return TableLink(server, parts[1], int(parts[2]), parts[3])
    shown = f"{server}/{parts[0]}/..." if valid else text  # a private link is not repeated
    raise OptionError(
        f"{quoted(shown, 80)} is not the link of a table. Copy it from the table's page: it looks like "
        "http://localhost:8000/t/CODE, and the private link of a seat like http://localhost:8000/s/CODE/0/SECRET."
    )


class Client:
    """A program that uses a server. Its token is the one of a device or of a seat; without one it gets one."""

    def __init__(
        self,
        server: str,
        token: str = "",
        *,
        patience: float = 0.0,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
        waiting: Callable[[RemoteError], None] | None = None,
    ) -> None:
        self.server = server.rstrip("/")
        self.token = token
        self._patience = patience  # for how many seconds a request is sent again
        self._sleep, self._clock = sleep, clock
        self._waiting = waiting  # is told of every refusal after which the client asks again
        # No redirects: they would carry the token to wherever the answer points.
        self._opener = urllib.request.OpenerDirector()
        for handler in (
            urllib.request.ProxyHandler, urllib.request.HTTPHandler, urllib.request.HTTPSHandler,
            urllib.request.HTTPErrorProcessor, urllib.request.HTTPDefaultErrorHandler,
        ):  # fmt: skip
            self._opener.add_handler(handler())

    # What there is

    def games(self) -> list[Json]:
        """Return the games of the server, with their options and bots."""
        return list(self._asked("GET", "/games")["games"])

    def rules(self, game: str) -> str:
        """Return the rules of a game, in Markdown."""
        return self._patiently(lambda: self._text("GET", f"/games/{game}/rules"))

    # A seat

    def open(
        self, game: str, options: Mapping[str, int | str] | None = None, *, versus: str = "steady", name: str = ""
    ) -> Json:
        """Open a table and sit on its first seat; return what `see` returns."""
        self._need_token()
        fields = {"game": game, "options": dict(options or {}), "versus": versus, "name": name}
        return self._asked("POST", "/tables", fields, {"Idempotency-Key": uuid.uuid4().hex})

    def sit(self, code: str, name: str = "") -> Json:
        """Sit down on a free seat, or on one's own again; return what `see` returns."""
        self._need_token()
        return self._asked("POST", f"/tables/{code}/seats", {"name": name})

    def take(self, link: TableLink) -> Json:
        """Sit on the seat of a private link; return what `see` returns."""
        self._need_token()
        return self._asked("POST", f"/tables/{link.code}/seats", {"seat": link.seat, "link": link.secret})

    def new_seat_token(self, code: str) -> str:
        """Return a token for one's seat alone, to be given to another program."""
        return str(self._asked("POST", f"/tables/{code}/tokens")["token"])

    def _need_token(self) -> None:
        """Get a token, if there is none: with it, a request that is sent again is known."""
        if not self.token:
            self.token = str(self._asked("POST", "/tokens")["token"])

    # At the table

    def see(self, code: str, since: int = 0) -> Json:
        """Return the table, where the program sits, and what it is told now, its log from `since` on."""
        return self._asked("GET", f"/tables/{code}{_since(since)}")

    def history(self, code: str, since: int = 0) -> Json:
        """Return the whole view of the seat, with what it saw after each event from `since` on, as far as it fits."""
        return self._asked("GET", f"/tables/{code}/history{_since(since)}")

    def record(self, code: str) -> str:
        """Return the record of a game that is over."""
        return self._patiently(lambda: self._text("GET", f"/tables/{code}/record"))

    def decide(self, code: str, number: int, decision: str) -> Json:
        """Answer the question of this number; return what is there then."""
        return self._asked("POST", f"/tables/{code}/decisions", {"number": number, "decision": decision})

    def resign(self, code: str) -> Json:
        return self._asked("POST", f"/tables/{code}/resign")

    def claim(self, code: str) -> Json:
        """Claim the turn of a player who has been away for too long."""
        return self._asked("POST", f"/tables/{code}/claim")

    def take_back(self, code: str) -> Json:
        """Take the seat back from a bot that stood in for it."""
        return self._asked("POST", f"/tables/{code}/return")

    def events(self, code: str, since: int = 0) -> Iterator[Json]:
        """Yield what happens at a table for as long as the connection lives; a broken one raises."""
        with self._open("GET", f"/tables/{code}/events{_since(since)}", timeout=SILENCE_TIMEOUT_S) as answer:
            while True:
                try:
                    line = answer.readline(MAX_LINE_BYTES)
                except (OSError, http.client.HTTPException) as e:
                    raise self._lost(e) from None
                if not line.endswith(b"\n"):
                    return
                yield self._read(line)

    # How it is asked

    def _asked(self, method: str, path: str, fields: Json | None = None, headers: Mapping[str, str] = {}) -> Json:
        return self._read(self._patiently(lambda: self._text(method, path, fields, headers)))

    def _patiently(self, ask: Callable[[], str]) -> str:
        """Ask, and again after a while where that may help and there is time."""
        began, waits = self._clock(), backoff()
        while True:
            try:
                return ask()
            except RemoteError as e:
                wait = max(e.wait, next(waits))
                if not e.temporary or self._clock() - began + wait > self._patience:
                    raise
                if self._waiting is not None:
                    self._waiting(e)
                self._sleep(wait)

    def _text(self, method: str, path: str, fields: Json | None = None, headers: Mapping[str, str] = {}) -> str:
        with self._open(method, path, fields, headers) as answer:
            try:
                body: bytes = answer.read(MAX_ANSWER_BYTES + 1)
                if answer.length and len(body) <= MAX_ANSWER_BYTES:
                    raise http.client.IncompleteRead(body, answer.length)
            except (OSError, http.client.HTTPException) as e:
                raise self._lost(e) from None
        if len(body) > MAX_ANSWER_BYTES:
            raise RemoteError(f"The server at {self.server} sent more than {MAX_ANSWER_BYTES:,} bytes.")
        return body.decode("utf-8", "replace")

    def _open(
        self,
        method: str,
        path: str,
        fields: Json | None = None,
        headers: Mapping[str, str] = {},
        timeout: float = ANSWER_TIMEOUT_S,
    ) -> Any:
        body = None if fields is None else json.dumps(fields).encode()
        sent = {"User-Agent": f"piste/{__version__}", "Accept": "application/json, */*", **headers}
        if self.token:
            sent["Authorization"] = f"Bearer {self.token}"
        if body is not None:
            sent["Content-Type"] = "application/json"
        try:
            request = urllib.request.Request(f"{self.server}/api/v1{path}", body, sent, method=method)
            return self._opener.open(request, timeout=timeout)
        except urllib.error.HTTPError as e:
            raise self._refusal(e) from None
        except (OSError, http.client.HTTPException, ValueError) as e:  # ValueError: no address at all
            raise self._lost(e) from None

    def _refusal(self, error: urllib.error.HTTPError) -> RemoteError:
        """Return what a server refused, in its own words if it is one of ours."""
        with error:
            try:
                problem = json.loads(error.read(1 << 16))
                sentence = f"{problem['detail']} {problem['hint']}"
                kind = str(problem["type"]).partition("#")[2]
            except (ValueError, KeyError, TypeError, OSError, http.client.HTTPException):
                kind, sentence = "", self._foreign(error)
        wait = error.headers.get("retry-after", "")
        seconds = float(wait) if wait.isascii() and wait.isdigit() else 0.0
        return RemoteError(sentence, status=error.code, kind=kind, wait=min(seconds, 3600.0))

    def _foreign(self, error: urllib.error.HTTPError) -> str:
        """Return what to say of an answer that no piste server gives."""
        if 300 <= error.code < 400:
            where = urlsplit(error.headers.get("location", ""))
            place = f" at {where.scheme}://{where.netloc}" if where.netloc else ""
            return (
                f"The server at {self.server} says that it is{place or ' elsewhere'} now. Use a link that begins so."
            )
        if error.code == 404:
            return f"There is no API for programs at {self.server}. Is it a piste server, and new enough?"
        return f"The server at {self.server}, or a proxy before it, answered with status {error.code} and no reason."

    def _lost(self, error: Exception) -> RemoteError:
        """Return why a server could not be asked."""
        cause = error.reason if isinstance(error, urllib.error.URLError) else error
        if isinstance(cause, ssl.SSLCertVerificationError):
            return RemoteError(f"The certificate of {self.server} is not valid: {cause.verify_message}.")
        why = getattr(cause, "strerror", None) or str(cause) or type(cause).__name__
        return ConnectionLostError(f"The server at {self.server} cannot be reached: {str(why).rstrip('.')}.")

    def _read(self, text: bytes | str) -> Json:
        try:
            answer = json.loads(text)
        except (ValueError, RecursionError):
            answer = None
        if not isinstance(answer, dict):
            raise RemoteError(f"The server at {self.server} sent something that is no answer of the API.")
        return answer


def backoff() -> Iterator[float]:
    """Yield how long to wait before each further attempt: longer and longer, and not all clients at once."""
    wait = FIRST_WAIT_S
    while True:
        yield wait * (0.5 + random.random() / 2)
        wait = min(2 * wait, MAX_WAIT_S)


def _since(since: int) -> str:
    return f"?{urlencode({'since': since})}" if since else ""
