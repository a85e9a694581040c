"""What the server notes about itself on the standard error: a JSON object a line, or words for a person.

Who plays is nobody's business: no token, cookie, room code, name or address is ever written. A room appears as a
short keyed hash of its code, the same in all lines of one run; the key is never kept.
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

OURS = "piste.web"
PRIVATE = frozenset(
    (
        "address", "body", "client", "code", "cookie", "decision", "form", "headers", "host", "invite", "ip", "link",
        "name", "names", "origin", "path", "player", "query", "referer", "salt", "seat_link", "seed", "sentence",
        "text", "token", "url", "user",
    )
)  # fmt: skip
"""Fields that would tell who plays, where, or with which cards: their values are never written."""

OWN = frozenset(("time", "level", "event", "message", "error", "where"))
"""What the log itself writes: a field of that name is written as `field_level` and so on, and replaces nothing."""

LONGEST = 200
FRAMES = 12

_log = logging.getLogger(OURS)
_key = secrets.token_bytes(32)


def room_hash(code: str) -> str:
    """Return what stands for a room in the log."""
    return blake2b(code.encode("utf-8", "replace"), key=_key, digest_size=6).hexdigest()


def info(event: str, /, **fields: object) -> None:
    """Note something that is as it should be."""
    _log.info(event, extra={"fields": fields})


def warning(event: str, /, **fields: object) -> None:
    """Note something that whoever runs the server may want to look at."""
    _log.warning(event, extra={"fields": fields})


def error(event: str, exception: BaseException, /, **fields: object) -> str:
    """Note an error that nobody expected, and return the id by which the line can be found."""
    mark = secrets.token_hex(6)
    _log.error(event, extra={"fields": {"id": mark, **fields}}, exc_info=exception)
    return mark


class JsonFormatter(logging.Formatter):
    """Writes a log entry as one JSON object."""

    def format(self, record: logging.LogRecord) -> str:
        return json.dumps(self.fields(record), ensure_ascii=True)

    def fields(self, record: logging.LogRecord) -> dict[str, Any]:
        """Return all that may be told of an entry."""
        found: dict[str, Any] = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created)) + f".{int(record.msecs):03d}Z",
            "level": record.levelname.lower(),
        }
        if record.name == OURS:
            found["event"] = record.msg
            found |= safe_fields(getattr(record, "fields", {}))
        else:
            # Others fill addresses and paths into their messages: the first line of the pattern says what happened.
            found["event"] = record.name
            found["message"] = str(record.msg).partition("\n")[0][:LONGEST] if isinstance(record.msg, str) else ""
        if record.exc_info and record.exc_info[1] is not None:
            found |= error_fields(record.exc_info[1])
        return found


class TextFormatter(JsonFormatter):
    """Writes a log entry for a person who sits before the server."""

    def format(self, record: logging.LogRecord) -> str:
        found = self.fields(record)
        when, level, event = (found.pop(name) for name in ("time", "level", "event"))
        places = found.pop("where", [])
        more = ", ".join(f"{name} {value}" for name, value in found.items())
        head = f"{when[11:19]} {level}: {event}{f' ({more})' if more else ''}"
        return "\n".join([head, *(f"    {place}" for place in places)]).encode("ascii", "backslashreplace").decode()


def safe_fields(fields: Mapping[str, object]) -> dict[str, object]:
    """Return fields that may be written: plain values, and nothing private."""
    found: dict[str, object] = {}
    for given, value in fields.items():
        name = f"field_{given}" if given in OWN else given
        if given in PRIVATE:
            found[name] = "(withheld)"
        elif value is None or isinstance(value, bool | int | float):
            found[name] = value
        else:
            found[name] = str(value)[:LONGEST]
    return found


def error_fields(error: BaseException) -> dict[str, object]:
    """Return an error's type and where it came from; its message may hold what must not be written."""
    frames = traceback.extract_tb(error.__traceback__)[-FRAMES:]
    where = [f"{short_path(frame.filename)}:{frame.lineno} {frame.name}" for frame in frames]
    kinds = [type(error).__name__]
    cause = error.__cause__ or error.__context__
    while cause is not None and len(kinds) < FRAMES:
        kinds.append(type(cause).__name__)
        cause = cause.__cause__ or cause.__context__
    return {"error": " from ".join(kinds), "where": where}


def short_path(file: str) -> str:
    """Return the last parts of a file's path: the rest says where somebody lives."""
    return "/".join(file.replace("\\", "/").split("/")[-3:])


def configure(
    *, level: int = logging.INFO, stream: TextIO | None = None, form: logging.Formatter | None = None
) -> logging.Handler:
    """Send everything that is logged there in this form, ours from this level on and others' from warnings on."""
    handler = logging.StreamHandler(sys.stderr if stream is None else stream)
    handler.setFormatter(form or JsonFormatter())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    _log.setLevel(level)
    for name in ("uvicorn", "uvicorn.error", "uvicorn.access", "uvicorn.asgi", "websockets"):
        other = logging.getLogger(name)
        other.handlers.clear()
        other.propagate = True
        other.setLevel(logging.WARNING)
    logging.getLogger("uvicorn.access").disabled = True
    logging.getLogger("uvicorn.error").addFilter(_is_news)
    return handler


# Why the server could not begin is told better elsewhere; a socket that we refuse with a sentence is no error; and
# what strangers send that is not even HTTP would let them fill the log.
NO_NEWS = ("Application startup failed", "ASGI callable returned without completing", "Invalid HTTP request")


def _is_news(record: logging.LogRecord) -> bool:
    return not str(record.msg).startswith(NO_NEWS)
