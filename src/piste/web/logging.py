"""The server's log on standard error: a JSON object on each line, or text for people.

No token, cookie, room code, name or address is ever written. A room appears as a short keyed hash of its code, the
same in all lines of one run; the key is never stored.
"""

from __future__ import annotations

import json
import logging
import secrets
import sys
import time
import traceback
from collections.abc import Mapping
from hashlib import blake2b
from typing import Any, TextIO

LOGGER_NAME = "piste.web"
PRIVATE_FIELDS = frozenset(
    (
        "address", "authorization", "body", "client", "code", "cookie", "decision", "form", "headers", "host",
        "invite", "ip", "link", "name", "names", "origin", "path", "player", "query", "referer", "salt",
        "seat_link", "seed", "sentence", "text", "token", "url", "user",
    )
)  # fmt: skip
"""Fields that would reveal who plays, from where, or with which cards: their values are never written."""

# Fields of the log itself: another field of that name is written as `field_level` and so on.
RESERVED_FIELDS = frozenset(("time", "level", "event", "message", "error", "where"))
MAX_VALUE_LENGTH = 200
MAX_FRAMES = 12

_log = logging.getLogger(LOGGER_NAME)
_key = secrets.token_bytes(32)


def room_hash(code: str) -> str:
    """Return the hash that stands for a room in the log."""
    return blake2b(code.encode("utf-8", "replace"), key=_key, digest_size=6).hexdigest()


def info(event: str, /, **fields: object) -> None:
    """Log an expected event."""
    _log.info(event, extra={"fields": fields})


def warning(event: str, /, **fields: object) -> None:
    """Log something that the operator may want to look at."""
    _log.warning(event, extra={"fields": fields})


def error(event: str, exception: BaseException, /, **fields: object) -> str:
    """Log an unexpected error, and return the id by which the line can be entry."""
    error_id = secrets.token_hex(6)
    _log.error(event, extra={"fields": {"id": error_id, **fields}}, exc_info=exception)
    return error_id


class JsonFormatter(logging.Formatter):
    """Writes a log entry as one JSON object."""

    def format(self, record: logging.LogRecord) -> str:
        return json.dumps(self.fields(record), ensure_ascii=True)

    def fields(self, record: logging.LogRecord) -> dict[str, Any]:
        """Return all fields of an entry that may be written."""
        entry: dict[str, Any] = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created)) + f".{int(record.msecs):03d}Z",
            "level": record.levelname.lower(),
        }
        if record.name == LOGGER_NAME:
            entry |= {"event": record.msg, **safe_fields(getattr(record, "fields", {}))}
        else:
            # Libraries put addresses and paths into their messages: only the first line of the pattern is written.
            pattern = record.msg if isinstance(record.msg, str) else ""
            entry |= {"event": record.name, "message": pattern.partition("\n")[0][:MAX_VALUE_LENGTH]}
        if record.exc_info and record.exc_info[1] is not None:
            entry |= error_fields(record.exc_info[1])
        return entry


class TextFormatter(JsonFormatter):
    """Writes a log entry as text for people."""

    def format(self, record: logging.LogRecord) -> str:
        entry = self.fields(record)
        when, level, event = (entry.pop(name) for name in ("time", "level", "event"))
        places = entry.pop("where", [])
        more = ", ".join(f"{name} {value}" for name, value in entry.items())
        head = f"{when[11:19]} {level}: {event}{f' ({more})' if more else ''}"
        return "\n".join([head, *(f"    {place}" for place in places)]).encode("ascii", "backslashreplace").decode()


def safe_fields(fields: Mapping[str, object]) -> dict[str, object]:
    """Return fields that may be written: plain values, nothing private."""
    entry: dict[str, object] = {}
    for field, value in fields.items():
        name = f"field_{field}" if field in RESERVED_FIELDS else field
        plain = value is None or isinstance(value, bool | int | float)
        shown = value if plain else str(value)[:MAX_VALUE_LENGTH]
        entry[name] = "(withheld)" if field in PRIVATE_FIELDS else shown
    return entry


def error_fields(error: BaseException) -> dict[str, object]:
    """Return an error's type and place; its message may hold what must not be written."""
    frames = traceback.extract_tb(error.__traceback__)[-MAX_FRAMES:]
    # The last parts of a file's path: the rest may name a user.
    paths = ["/".join(frame.filename.replace("\\", "/").split("/")[-3:]) for frame in frames]
    where = [f"{path}:{frame.lineno} {frame.name}" for path, frame in zip(paths, frames, strict=True)]
    kinds = [type(error).__name__]
    cause = error.__cause__ or error.__context__
    while cause is not None and len(kinds) < MAX_FRAMES:
        kinds.append(type(cause).__name__)
        cause = cause.__cause__ or cause.__context__
    return {"error": " from ".join(kinds), "where": where}


def configure(
    *, level: int = logging.INFO, stream: TextIO | None = None, form: logging.Formatter | None = None
) -> logging.Handler:
    """Write the log to a stream: the server's own entries from this level on, those of libraries from warnings on."""
    handler = logging.StreamHandler(sys.stderr if stream is None else stream)
    handler.setFormatter(form or JsonFormatter())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    _log.setLevel(level)
    logging.getLogger("uvicorn.error").addFilter(_is_worth_logging)
    return handler


# Why the server could not start is reported elsewhere; a websocket that is refused is no error; and clients that send
# no HTTP must not be able to fill the log.
IGNORED_MESSAGES = ("Application startup failed", "ASGI callable returned without completing", "Invalid HTTP request")


def _is_worth_logging(record: logging.LogRecord) -> bool:
    return not str(record.msg).startswith(IGNORED_MESSAGES)
