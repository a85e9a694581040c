"""What the server notes about itself: JSON for machines, words for a person."""

from __future__ import annotations

import json
import logging
from typing import Any

from piste.web import logging as logs


def entry(event: str, /, **fields: object) -> logging.LogRecord:
    return logging.makeLogRecord(
        {"name": logs.LOGGER_NAME, "levelno": 30, "levelname": "WARNING", "msg": event, "fields": fields}
    )


def test_no_field_replaces_what_the_log_itself_says() -> None:
    found: dict[str, Any] = json.loads(
        logs.JsonFormatter().format(entry("bot tired", level="strong", time=3, event="another", game="prime-duel"))
    )
    assert (found["level"], found["event"], found["game"]) == ("warning", "bot tired", "prime-duel")
    assert found["time"].endswith("Z")
    assert (found["field_level"], found["field_time"], found["field_event"]) == ("strong", 3, "another")


def test_a_person_reads_words() -> None:
    said = logs.TextFormatter().format(entry("bot tired", game="prime-duel", bot="strong"))
    assert said.endswith(" warning: bot tired (game prime-duel, bot strong)")
    assert "{" not in said


def test_words_tell_where_an_error_came_from_and_not_what_it_said() -> None:
    try:
        raise KeyError("Ann's card")
    except KeyError as e:
        record = entry("failed", id="c1f06ab2d9e4")
        record.exc_info = (type(e), e, e.__traceback__)
    said = logs.TextFormatter().format(record)
    assert (
        "failed (id c1f06ab2d9e4, error KeyError)\n    tests/web/test_logging.py:" in said
        or "test_logging.py:" in said
    )
    assert "Ann" not in said
