"""Refusals of the API as problem documents (RFC 9457): what is wrong, in a sentence, and what can be done."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import Scope

from piste.core.errors import (
    AmbiguousDecisionError,
    IllegalDecisionError,
    MissingExtraError,
    OptionError,
    PisteError,
    StaleDecisionError,
    UnknownNameError,
    UnreadableDecisionError,
)
from piste.web.middleware.rate_limits import RateLimitError
from piste.web.storage.schema import StorageError
from piste.web.tables.programs import NoProgramGamesError
from piste.web.tables.registry import TableNotFoundError
from piste.web.workers.worker_pool import WorkersBusyError

PREFIX = "/api/"
ROOT = "/api/v1"
MEDIA_TYPE = "application/problem+json"
BUSY_WAIT_S = 2.0  # after this time, what could not be done just now may be asked for again


def is_api(scope: Scope) -> bool:
    """Say whether a request is for the API."""
    return str(scope["path"]).startswith(PREFIX)


def is_stream(scope: Scope) -> bool:
    """Say whether a request is for a stream of events, which stays open."""
    return is_api(scope) and str(scope["path"]).endswith("/events")


class Problem(NamedTuple):
    """One kind of refusal."""

    status: int
    title: str
    hint: str


PROBLEMS: Mapping[str, Problem] = {
    "unreadable-request": Problem(
        400, "The request cannot be read",
        "Send one JSON object with the header Content-Type: application/json; the document at "
        "/api/v1/openapi.json says which fields it has.",
    ),
    "no-token": Problem(
        401, "A token is needed",
        "Send the header Authorization: Bearer TOKEN. You get a token when you open a table or sit down, from "
        "POST /api/v1/tokens, or at the table's page under “Connect a program”.",
    ),
    "not-your-seat": Problem(
        403, "This token has no seat here",
        "Sit down first: POST /api/v1/tables/CODE/seats. Without a seat you can only look.",
    ),
    "foreign-page": Problem(
        403, "A page of another site asked",
        "Programs send no Origin header. A page in a browser can use the API of its own server only.",
    ),
    "no-program-games": Problem(
        403, "No games without a person",
        'Open the table with "versus": "friend" and let a person sit down, or run a server of your own: piste serve.',
    ),
    "no-such-address": Problem(404, "There is nothing at this address", "GET /api/v1 lists the addresses."),
    "no-such-table": Problem(
        404, "There is no such table", "Look at the code in the table's link. Old tables are deleted after a while."
    ),
    "no-such-name": Problem(
        404, "There is no game or bot of that name", "GET /api/v1/games lists games, options and bots."
    ),
    "wrong-method": Problem(405, "That cannot be done at this address", "The Allow header says what can be."),
    "too-slow": Problem(408, "The request took too long to arrive", "Send it again, whole."),
    "stale-decision": Problem(
        409, "That question has been answered",
        "Look again, GET /api/v1/tables/CODE, and answer the question whose number stands there.",
    ),
    "not-now": Problem(
        409, "That cannot be done now", "Look again, GET /api/v1/tables/CODE: it says whose turn it is."
    ),
    "too-large": Problem(413, "The request is too large", "No request needs more than some hundred bytes."),
    "wrong-options": Problem(
        422, "The game cannot be played so", "GET /api/v1/games/GAME lists the options and their values."
    ),
    "unreadable-decision": Problem(
        422, "That is no decision here", "Send one of the names in `decisions`, exactly as it stands there."
    ),
    "other-request": Problem(
        422, "This key belongs to another request", "Use a new Idempotency-Key for every table that you want to open."
    ),
    "too-many": Problem(
        429, "Too much from your network",
        "Wait for as many seconds as the Retry-After header says, then go on more slowly.",
    ),
    "failed": Problem(
        500, "Something went wrong in the server",
        "Nothing is lost. Try again; tell whoever runs it the mark in the detail.",
    ),
    "not-there": Problem(
        501, "This server lacks a library", "Choose another bot or option, or ask whoever runs the server."
    ),
    "busy": Problem(
        503, "The server is busy", "Wait for as many seconds as the Retry-After header says, then ask again."
    ),
}  # fmt: skip
"""Every kind of refusal, by its name in the `type` of a document."""

KINDS: tuple[tuple[type[PisteError] | tuple[type[PisteError], ...], str], ...] = (
    (TableNotFoundError, "no-such-table"),
    (RateLimitError, "too-many"),
    (NoProgramGamesError, "no-program-games"),
    ((WorkersBusyError, StorageError), "busy"),
    (MissingExtraError, "not-there"),
    (UnknownNameError, "no-such-name"),
    (OptionError, "wrong-options"),
    (StaleDecisionError, "stale-decision"),
    ((UnreadableDecisionError, AmbiguousDecisionError), "unreadable-decision"),
    (IllegalDecisionError, "not-now"),
    (PisteError, "not-now"),
)
STATUSES = {
    400: "unreadable-request", 403: "foreign-page", 404: "no-such-address", 405: "wrong-method", 408: "too-slow",
    413: "too-large", 429: "too-many", 500: "failed", 503: "busy",
}  # fmt: skip
"""What a refusal that has no other name is called, by its status."""


class ApiError(PisteError):
    """A refusal of the API itself."""

    def __init__(self, kind: str, detail: str) -> None:
        super().__init__(detail)
        self.kind = kind


def kind_of(error: PisteError) -> str:
    """Return the kind of refusal that an error is."""
    if isinstance(error, ApiError):
        return error.kind
    if type(error) is PisteError and error.__cause__ is not None:  # what is behind it is not the caller's fault
        return "busy" if isinstance(error.__cause__, StorageError) else "failed"
    return next(name for kinds, name in KINDS if isinstance(error, kinds))


def document(kind: str, detail: str, *, wait: float = 0.0) -> dict[str, Any]:
    """Return a problem document; `wait` is in seconds."""
    problem = PROBLEMS[kind]
    about = {
        "type": f"{ROOT}/problems#{kind}",
        "title": problem.title,
        "status": problem.status,
        "detail": detail,
        "hint": problem.hint,
    }
    return {**about, **({"retry_after": seconds(wait)} if wait else {})}


def document_of(error: PisteError) -> dict[str, Any]:
    """Return the problem document of an error."""
    kind = kind_of(error)
    return document(kind, str(error), wait=wait_of(error, kind))


def wait_of(error: PisteError, kind: str) -> float:
    """Return after how many seconds a request may be sent again that was refused so; 0 if waiting does not help."""
    return error.wait if isinstance(error, RateLimitError) else BUSY_WAIT_S if kind == "busy" else 0.0


def seconds(wait: float) -> int:
    return max(1, math.ceil(min(wait, 3600)))


def response(kind: str, detail: str, *, wait: float = 0.0, headers: Mapping[str, str] | None = None) -> Response:
    """Return a refusal."""
    retry = {"retry-after": str(seconds(wait))} if wait else {}
    known = {"www-authenticate": 'Bearer realm="piste"'} if kind == "no-token" else {}
    body = json.dumps(document(kind, detail, wait=wait), ensure_ascii=False)
    return Response(body, PROBLEMS[kind].status, {**retry, **known, **(headers or {})}, media_type=MEDIA_TYPE)


def response_to(error: PisteError) -> Response:
    """Return the refusal that an error is."""
    kind = kind_of(error)
    return response(kind, str(error), wait=wait_of(error, kind))


def refused_by(error: Exception) -> Response:
    """Return the refusal that an error is: one of ours, or of the routes."""
    if isinstance(error, HTTPException):
        kind = by_status(error.status_code)
        return response(kind, f"{PROBLEMS[kind].title}.", headers=error.headers)
    assert isinstance(error, PisteError)
    return response_to(error)


def by_status(status: int) -> str:
    """Return the kind of a refusal of which only the status is known."""
    return STATUSES.get(status, "failed" if status >= 500 else "unreadable-request")
