"""What a request to the API says: whose token it has, and the fields of its body."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from starlette.requests import HTTPConnection, Request

from piste.web.api.problems import ApiError
from piste.web.tables.tokens import SEAT_BEARER, is_token, player_of

MAX_KEY_LENGTH = 200
SCHEME = "bearer"


class Caller(NamedTuple):
    """Who sent a request."""

    player: str = ""  # "" without a token
    one_seat: bool = False  # whether the token is for one seat and nothing else


def caller_of(connection: HTTPConnection) -> Caller:
    """Return who sent a request; one that cannot be a token is refused rather than taken for none."""
    header = connection.headers.get("authorization")
    if header is None:
        return Caller()
    scheme, _, token = header.strip().partition(" ")
    token = token.strip()
    if scheme.lower() != SCHEME or not is_token(token.removeprefix(SEAT_BEARER)):
        raise ApiError("no-token", "The Authorization header has no token of this server in it.")
    return Caller(player_of(token), token.startswith(SEAT_BEARER))


def need_caller(connection: HTTPConnection) -> Caller:
    """Return who sent a request, which must have a token."""
    caller = caller_of(connection)
    if not caller.player:
        raise ApiError("no-token", "This is for those who have a seat, and the request has no token.")
    return caller


async def read_body(request: Request, allowed: Mapping[str, type]) -> dict[str, Any]:
    """Return the fields of a JSON body, each of its type; no body is an empty one."""
    body = await request.body()
    if not body.strip():
        return {}
    kind = request.headers.get("content-type", "").partition(";")[0].strip().casefold()
    if kind != "application/json":
        raise ApiError("unreadable-request", "The body is not said to be JSON (Content-Type: application/json).")
    return read_fields(body, allowed)


def read_fields(body: bytes | str, allowed: Mapping[str, type]) -> dict[str, Any]:
    """Return the fields of a JSON object, each of its type."""
    try:
        fields = json.loads(body)
        json.dumps(fields, ensure_ascii=False).encode()
    except (ValueError, RecursionError):  # no JSON, no UTF-8, a lone surrogate, too deep, or too long a number
        raise ApiError("unreadable-request", "The body is not JSON.") from None
    if not isinstance(fields, dict):
        raise ApiError("unreadable-request", "The body is not one JSON object.")
    for name, value in fields.items():
        if name not in allowed:
            known = f"It can have: {', '.join(allowed)}." if allowed else "It can have none."
            raise ApiError("unreadable-request", f"The body has a field that is not known here. {known}")
        if type(value) is not allowed[name]:
            words = {str: "a text", int: "a whole number", dict: "an object"}[allowed[name]]
            raise ApiError("unreadable-request", f"The field {name} is not {words}.")
    return fields


def read_options(fields: Mapping[str, Any]) -> dict[str, str]:
    """Return the options of a game as people write them; numbers may be sent as numbers."""
    options = fields.get("options", {})
    if not all(type(value) in (str, int) for value in options.values()):
        raise ApiError("unreadable-request", "Each option is a text or a whole number.")
    return {name: str(value) for name, value in options.items()}


def idempotency_key(request: Request) -> str:
    """Return the key by which a request that is sent again is known; "" if it has none."""
    key = request.headers.get("idempotency-key", "").strip()
    if len(key) > MAX_KEY_LENGTH:
        raise ApiError("unreadable-request", f"An Idempotency-Key has at most {MAX_KEY_LENGTH} characters.")
    return key
