"""What stands before the tables: headers, sizes, origins, rates, and errors that tell nothing."""

from __future__ import annotations

import asyncio
import io
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some
from starlette.requests import Request
from starlette.websockets import WebSocket

from piste.web.metrics import Metrics
from piste.web.middleware.guard import HEADERS, MAX_BODY_BYTES, FormError, Guard, is_same_origin, origin, read_form
from piste.web.middleware.rate_limits import RATES, Limits, Rate
from tests.web.guarded_app import FORM, OURS, SECRET, SETTINGS, Clock, ask, connect, guarded, overheard


@pytest.fixture(name="noted")
def _noted() -> Iterator[io.StringIO]:
    with overheard() as out:
        yield out


# Headers


@pytest.mark.parametrize("path", ["/", "/nowhere", "/fails"])
def test_every_response_has_every_header_and_is_not_kept(path: str, noted: io.StringIO) -> None:
    found = ask(guarded(), path=path)
    assert {name: found.headers.get(name) for name in HEADERS} == HEADERS
    assert found.headers["cache-control"] == "no-store"
    assert "server" not in found.headers
    assert (path == "/fails") == bool(noted.getvalue())


def test_nothing_inline_and_nothing_foreign_may_run() -> None:
    policy = dict(part.strip().split(" ", 1) for part in HEADERS["content-security-policy"].split(";"))
    assert policy["default-src"] == policy["frame-ancestors"] == policy["base-uri"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == policy["form-action"] == "'self'"
    assert "unsafe" not in HEADERS["content-security-policy"]


def test_only_what_is_named_by_its_content_is_kept_for_long() -> None:
    assert "immutable" in ask(guarded(), path="/static/app.js?v=abc").headers["cache-control"]
    assert ask(guarded(), path="/static/app.js").headers["cache-control"] == "no-cache"
    assert ask(guarded(), path="/static/gone.js?v=abc").headers["cache-control"] == "no-store"
    assert ask(guarded(), path="/?v=abc").headers["cache-control"] == "no-store"


# Origins


def test_a_form_of_ours_is_taken() -> None:
    found = ask(guarded(), "POST", headers=FORM, body=b"name=An%20na&empty=")
    assert (found.status, json.loads(found.text)) == (200, {"name": "An na", "empty": ""})


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "https://table.example"},  # another scheme is another origin
        {"origin": "http://table.example:8000"},
        {"origin": "http://table.example.evil.example"},
        {"origin": "http://table.example@evil.example"},
        {"origin": "http://evil.example/http://table.example"},
        {"origin": "null"},
        {"origin": "null", "sec-fetch-site": "cross-site"},
        {"origin": "http://evil.example", "sec-fetch-site": "same-origin"},
        {"origin": "file://"},
        {"origin": "http://[bad"},
        {"origin": "http://table.example:99999999"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {},
    ],
)
@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
def test_what_a_foreign_page_sends_changes_nothing(method: str, headers: dict[str, str]) -> None:
    found = ask(guarded(), method, headers=headers, body=b"a=1")
    assert found.status == 403
    assert "nothing was done" in found.text
    assert "evil" not in found.text


@pytest.mark.parametrize("site", ["same-origin", "none"])
def test_without_an_origin_the_browser_may_vouch_in_another_way(site: str) -> None:
    form = {"content-type": FORM["content-type"], "sec-fetch-site": site}
    assert ask(guarded(), "POST", headers=form, body=b"a=1").status == 200


def test_usual_ports_and_capitals_make_no_difference() -> None:
    same = {**FORM, "host": "Table.Example:80"}
    assert ask(guarded(), "POST", headers=same, body=b"a=1").status == 200
    https = {**FORM, "origin": "https://table.example"}
    assert ask(guarded(), "POST", headers=https, body=b"a=1", scheme="https").status == 200


def test_the_public_address_is_ours_whatever_the_proxy_says() -> None:
    app = guarded(settings=SETTINGS._replace(public="https://cards.example"))
    assert ask(app, "POST", headers={**FORM, "origin": "https://cards.example"}, body=b"a=1").status == 200
    assert ask(app, "POST", headers={**FORM, "origin": "http://cards.example"}, body=b"a=1").status == 403


def test_anybody_may_look() -> None:
    assert ask(guarded(), headers={"origin": "http://evil.example"}).status == 200


@given(some.text(max_size=40), some.text(max_size=20))
def test_no_origin_passes_but_the_same_one(text: str, host: str) -> None:
    letters = text.encode("utf-8", "replace"), host.encode("utf-8", "replace")
    scope = {
        "type": "http", "scheme": "http", "headers": [(b"origin", letters[0]), (b"host", letters[1])]
    }  # fmt: skip
    if is_same_origin(scope):
        read = letters[0].decode("latin-1")
        assert origin(read) is not None
        assert origin(read) == origin(f"http://{letters[1].decode('latin-1')}")


def test_a_socket_of_ours_opens() -> None:
    sent = connect(guarded(), OURS)
    assert [message["type"] for message in sent] == ["websocket.accept", "websocket.send", "websocket.close"]


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "table.example"},
        {"host": "table.example", "origin": "null"},
        {"host": "table.example", "sec-fetch-site": "same-origin"},
        {"host": "table.example", "origin": "http://evil.example"},
        {"origin": "http://table.example"},
    ],
)
@pytest.mark.parametrize("extension", [True, False])
def test_a_socket_of_a_foreign_page_does_not_open(headers: dict[str, str], extension: bool) -> None:
    sent = connect(guarded(), headers, extension=extension)
    if extension:
        assert sent[0]["type"] == "websocket.http.response.start"
        assert sent[0]["status"] == 403
    else:
        assert sent == [{"type": "websocket.close", "code": 1008}]


def test_strangers_cannot_fill_the_log(noted: io.StringIO) -> None:
    app = guarded(Limits(Clock(), {**RATES, "requests": Rate(5, 1)}))
    found = [ask(app, "POST", headers={"origin": "http://evil.example"}, body=b"a=1").status for _ in range(50)]
    assert found == [403] * 5 + [429] * 45
    assert len(noted.getvalue().splitlines()) == 5
    logging.getLogger("uvicorn.error").warning("Invalid HTTP request received.")
    assert len(noted.getvalue().splitlines()) == 5


# Sizes


def test_a_body_may_be_as_large_as_allowed_and_no_larger() -> None:
    at_most = b"a" * MAX_BODY_BYTES
    assert ask(guarded(), "POST", "/long", OURS, at_most).text == str(MAX_BODY_BYTES)
    found = ask(guarded(), "POST", "/long", OURS, at_most + b"a")
    assert found.status == 413
    assert found.headers["connection"] == "close"
    assert "Nothing was done" in found.text


def test_a_body_that_does_not_tell_its_size_is_counted() -> None:
    assert ask(guarded(), "POST", "/long", OURS, [b"a" * 4096, b"a" * 4096]).text == "8192"
    assert ask(guarded(), "POST", "/long", OURS, [b"a" * 4096, b"a" * 4096, b"a"]).status == 413


@pytest.mark.parametrize("length", ["-1", "1e3", "99999999999999999999", "٣", "0x10", "8193"])
def test_a_length_that_cannot_be_is_refused_before_anything_is_read(length: str) -> None:
    headers = {**OURS, "content-length": length.encode().decode("latin-1")}
    assert ask(guarded(), "POST", "/long", headers, b"abc").status == 413


def test_a_body_that_breaks_off_reaches_nobody() -> None:
    broken = {**OURS, "transfer-encoding": "chunked"}
    messages = [{"type": "http.request", "body": b"a=", "more_body": True}, {"type": "http.disconnect"}]
    reached = []

    async def app(*_: Any) -> None:
        reached.append(True)

    sent: list[Any] = []

    async def receive() -> Any:
        return messages.pop(0)

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": "http", "method": "POST", "path": "/", "scheme": "http", "client": ("203.0.113.5", 1),
        "headers": [(name.encode(), value.encode()) for name, value in broken.items()],
    }  # fmt: skip
    asyncio.run(Guard(app, SETTINGS, Limits(), Metrics())(scope, receive, send))
    assert not reached
    assert sent[0]["status"] == 400


def test_after_the_body_the_application_learns_when_somebody_leaves() -> None:
    heard: list[str] = []

    async def app(_: Any, receive: Any, __: Any) -> None:
        heard.extend([(await receive())["type"], (await receive())["type"]])

    messages = [{"type": "http.request", "body": b"a=1", "more_body": False}, {"type": "http.disconnect"}]

    async def receive() -> Any:
        return messages.pop(0)

    async def send(_: Any) -> None: ...

    scope = {
        "type": "http", "method": "POST", "path": "/", "scheme": "http", "client": None,
        "headers": [(b"origin", b"http://h"), (b"host", b"h"), (b"content-length", b"3")],
    }  # fmt: skip
    asyncio.run(Guard(app, SETTINGS, Limits(), Metrics())(scope, receive, send))
    assert heard == ["http.request", "http.disconnect"]


# Forms


def form(body: bytes, kind: str = "application/x-www-form-urlencoded") -> dict[str, str]:
    async def receive() -> Any:
        return {"type": "http.request", "body": body, "more_body": False}

    scope = {"type": "http", "method": "POST", "path": "/", "headers": [(b"content-type", kind.encode())]}
    return asyncio.run(read_form(Request(scope, receive)))


def test_forms_are_read_as_browsers_send_them() -> None:
    assert form(b"") == {}
    assert form(
        b"name=%C3%89va+Kov%C3%A1cs&decision=%2B3&x=", "Application/X-WWW-form-urlencoded; charset=UTF-8"
    ) == {
        "name": "Éva Kovács",
        "decision": "+3",
        "x": "",
    }


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"a=1&a=2", "application/x-www-form-urlencoded"),
        (b"a=%FF", "application/x-www-form-urlencoded"),
        (b"a=%ED%A0%80", "application/x-www-form-urlencoded"),  # half a letter
        (b"a=\xff", "application/x-www-form-urlencoded"),
        (b"&".join(b"k%d=1" % i for i in range(65)), "application/x-www-form-urlencoded"),
        (b"a=" + b"1" * MAX_BODY_BYTES, "application/x-www-form-urlencoded"),
        (b'{"a": 1}', "application/json"),
        (b"a=1", "text/plain"),
        (b"a=1", ""),
    ],
)
def test_other_forms_are_refused_with_a_sentence(body: bytes, kind: str) -> None:
    with pytest.raises(FormError) as refusal:
        form(body, kind)
    assert str(refusal.value).endswith(".")


@given(some.binary(max_size=200))
def test_any_bytes_are_a_form_or_refused(body: bytes) -> None:
    try:
        found = form(body)
    except FormError:
        return
    assert all(isinstance(key, str) and value.encode() is not None for key, value in found.items())


# Errors


def test_an_error_is_told_without_itself_and_with_its_place_in_the_log(noted: io.StringIO) -> None:
    found = ask(guarded(), path="/fails")
    assert found.status == 500
    assert SECRET not in found.text
    assert "Traceback" not in found.text
    line = json.loads(noted.getvalue())
    assert line["id"] in found.text
    assert line["level"] == "error"
    assert line["error"] == "KeyError"
    assert any("web/guarded_app.py" in where and "fails" in where for where in line["where"])
    assert SECRET not in noted.getvalue()


def test_where_even_the_page_for_errors_fails_a_plain_one_is_left(noted: io.StringIO) -> None:
    def broken(_: int, __: str) -> str:
        raise ZeroDivisionError

    found = ask(guarded(_page=broken), path="/fails")
    assert found.status == 500
    assert "try again" in found.text
    assert [json.loads(line)["error"].split()[0] for line in noted.getvalue().splitlines()] == [
        "KeyError",
        "ZeroDivisionError",
    ]


def test_a_socket_that_fails_is_closed_and_says_nothing(noted: io.StringIO) -> None:
    sent = connect(guarded(), OURS, says=SECRET)
    assert sent[-1] == {"type": "websocket.close", "code": 1011}
    assert SECRET not in noted.getvalue()
    assert json.loads(noted.getvalue())["error"] == "AssertionError"


def test_people_who_leave_are_no_error(noted: io.StringIO) -> None:
    async def leaves(scope: Any, receive: Any, send: Any) -> None:
        socket = WebSocket(scope, receive, send)
        await socket.accept()
        await socket.receive_text()
        await socket.receive_text()

    sent = connect(Guard(leaves, SETTINGS, Limits(), Metrics()), OURS)
    assert [message["type"] for message in sent] == ["websocket.accept"]
    assert noted.getvalue() == ""
