"""The OpenAPI document of the API. Tests compare it with the routes and with real answers."""

from __future__ import annotations

from functools import cache
from typing import Any

from piste import __version__
from piste.web.api.problems import PROBLEMS, ROOT
from piste.web.api.schemas import SCHEMAS, ref

Json = dict[str, Any]

GUARD = ("too-many", "busy", "failed")  # any request may be refused so
POSTED = ("unreadable-request", "too-slow", "too-large", "foreign-page", *GUARD)
AT_TABLE = ("no-such-table",)
OPENING = ("no-such-name", "wrong-options", "no-program-games", "not-there")


@cache
def openapi() -> Json:
    """Return the whole document."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "piste",
            "version": __version__,
            "summary": "Seats for programs at tables of five duels of numbers and cards",
            "description": (
                "A program opens a table or sits down at one, is told what its seat may know, and decides. What it "
                "is told is what programs on the same computer are told: docs/bots.md describes the messages. "
                "A decision names the number of the question it answers; one that is sent twice is taken once."
            ),
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "servers": [{"url": "/"}],
        "paths": _paths(),
        "components": {
            "schemas": SCHEMAS,
            "parameters": _parameters(),
            "responses": {name: _problem(name) for name in PROBLEMS},
            "securitySchemes": {
                "token": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": (
                        "The token of a device, or of one seat. A server stores a digest of it, and shows it once. "
                        "It is sent in the Authorization header and nowhere else."
                    ),
                }
            },
        },
    }


def _paths() -> Json:
    table = f"{ROOT}/tables/{{code}}"
    code, since, key = _parameter("code"), _parameter("since"), _parameter("idempotency-key")
    game = _parameter("game")
    return {
        ROOT: _get("index", "The addresses of the API", "Index"),
        f"{ROOT}/openapi.json": _get("openapi", "This document", "Any"),
        f"{ROOT}/problems": _get("problems", "Every kind of refusal, with what can be done", "Problems"),
        f"{ROOT}/games": _get("games", "The games, with their options and bots", "Games"),
        f"{ROOT}/games/{{game}}": _get("game", "One game", "Game", [game], refusals=("no-such-name",)),
        f"{ROOT}/games/{{game}}/rules": _get(
            "rules", "The rules of a game, as text in Markdown", "Text", [game], "text/markdown", ("no-such-name",)
        ),
        f"{ROOT}/tokens": _post("newToken", "Make a token for a device", "", {"201": "Token"}),
        f"{ROOT}/tables": _post(
            "openTable", "Open a table, and sit on its first seat", "OpenTable", {"201": "Seated"}, [key],
            (*OPENING, "no-token", "not-your-seat", "other-request"), token=OPTIONAL,
        ),
        table: _get(
            "see", "See the table; with a token, what its seat is told, from the event `since` on", "Seen",
            [code, since], refusals=(*AT_TABLE, "no-token"), token=OPTIONAL,
        ),
        f"{table}/seats": _post(
            "sit", "Sit down on a free seat, or on the seat of a private link", "Sit",
            {"200": "Seated", "201": "Seated"}, [code],
            (*AT_TABLE, "no-token", "not-your-seat", "not-now", "wrong-options", "no-program-games"), token=OPTIONAL,
        ),
        f"{table}/tokens": _post(
            "newSeatToken", "Make a token for this seat alone", "", {"201": "Token"}, [code],
            (*AT_TABLE, "no-token", "not-your-seat", "not-now", "no-program-games"), token=NEEDED,
        ),
        f"{table}/decisions": _acting("decide", "Decide", "Decision", ("stale-decision", "unreadable-decision")),
        f"{table}/resign": _acting("resign", "Resign the game"),
        f"{table}/claim": _acting("claim", "Claim the turn of a player who has been away for too long"),
        f"{table}/return": _acting("return", "Take the seat back from the bot that stood in for it"),
        f"{table}/history": _get(
            "history", "The whole view of the seat, with what it saw after each event", "History", [code, since],
            refusals=(*AT_TABLE, "no-token", "not-now"), token=OPTIONAL,
        ),
        f"{table}/record": _get(
            "record", "The record of a game that is over: lines of JSON", "Text", [code], "application/x-ndjson",
            (*AT_TABLE, "not-now"),
        ),
        f"{table}/events": _get(
            "events",
            "What happens, one message a line, for as long as the connection is open. As a websocket the same, and "
            "it takes decisions: {\"decision\": \"keep\", \"number\": 1}, or {\"do\": \"resign\"}",
            "Event", [code, since], "application/x-ndjson", (*AT_TABLE, "no-token"), token=OPTIONAL,
        ),
    }  # fmt: skip


OPTIONAL: list[Json] = [{}, {"token": []}]
NEEDED: list[Json] = [{"token": []}]


def _get(
    name: str,
    summary: str,
    schema: str,
    parameters: list[Json] | None = None,
    media: str = "application/json",
    refusals: tuple[str, ...] = (),
    token: list[Json] | None = None,
) -> Json:
    return {"get": _operation(name, summary, {"200": schema}, parameters, (*refusals, *GUARD), token, media)}


def _post(
    name: str,
    summary: str,
    body: str,
    answers: Json,
    parameters: list[Json] | None = None,
    refusals: tuple[str, ...] = (),
    token: list[Json] | None = None,
) -> Json:
    operation = _operation(name, summary, answers, parameters, (*refusals, *POSTED), token, "application/json")
    if body:
        operation["requestBody"] = {"required": body != "Sit", "content": {"application/json": {"schema": ref(body)}}}
    return {"post": operation}


def _acting(name: str, summary: str, body: str = "", refusals: tuple[str, ...] = ()) -> Json:
    told = (*AT_TABLE, "no-token", "not-your-seat", "not-now", *refusals)
    return _post(name, summary, body, {"200": "Taken"}, [_parameter("code"), _parameter("since")], told, NEEDED)


def _operation(
    name: str,
    summary: str,
    answers: Json,
    parameters: list[Json] | None,
    refusals: tuple[str, ...],
    token: list[Json] | None,
    media: str,
) -> Json:
    statuses: dict[str, list[str]] = {}
    for kind in dict.fromkeys(refusals):
        statuses.setdefault(str(PROBLEMS[kind].status), []).append(kind)
    good = {
        status: {"description": summary, "content": {media: {"schema": ref(schema)}}}
        for status, schema in answers.items()
    }
    return {
        "operationId": name,
        "summary": summary,
        **({"parameters": parameters} if parameters else {}),
        "security": token or [],
        "responses": {**good, **{status: _refusals(kinds) for status, kinds in sorted(statuses.items())}},
    }


def _refusals(kinds: list[str]) -> Json:
    """Return a response for the kinds of refusals that have one status."""
    if len(kinds) == 1:
        return {"$ref": f"#/components/responses/{kinds[0]}"}
    described = " ".join(f"`{kind}`: {PROBLEMS[kind].title}." for kind in kinds)
    return {"description": described, "content": {"application/problem+json": {"schema": ref("Problem")}}}


def _problem(name: str) -> Json:
    problem = PROBLEMS[name]
    retry = {"Retry-After": {"description": "Seconds to wait", "schema": {"type": "integer", "minimum": 1}}}
    return {
        "description": f"`{name}`: {problem.title}. {problem.hint}",
        **({"headers": retry} if name in ("too-many", "busy") else {}),
        "content": {"application/problem+json": {"schema": ref("Problem")}},
    }


def _parameter(name: str) -> Json:
    return {"$ref": f"#/components/parameters/{name}"}


def _parameters() -> Json:
    return {
        "code": {
            "name": "code", "in": "path", "required": True, "description": "The code in the link of a table",
            "schema": {"type": "string", "pattern": "^[2-9a-hjkmnp-zA]{16}$"},
        },
        "game": {
            "name": "game", "in": "path", "required": True, "description": "The name of a game",
            "schema": {"type": "string"}, "example": "prime-duel",
        },
        "since": {
            "name": "since", "in": "query", "required": False,
            "description": "How many events of the log the program has already",
            "schema": {"type": "integer", "minimum": 0, "default": 0},
        },
        "idempotency-key": {
            "name": "Idempotency-Key", "in": "header", "required": False,
            "description": "A text of the program's own, with a device's token: sent again, it opens no second table",
            "schema": {"type": "string", "maxLength": 200},
        },
    }  # fmt: skip
