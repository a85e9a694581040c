"""What a language model answers is read as a decision or counted as a fault; nothing is guessed."""

from __future__ import annotations

import pytest

import piste
from piste.bots.answers import Answer, Fault, named_decision, read_answer
from piste.core.views import SeatView


@pytest.fixture
def view() -> SeatView:
    table = piste.open_table("prime-duel", {"first": 1}, laid="7 10 9")
    return table.view(0)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"decision": "keep"}', ("keep", None)),
        ('I think. {"decision": "discard", "chance": 0.25}', ("discard", 0.25)),
        ('First {"decision": "keep"}, no: {"decision": "discard"}', ("discard", None)),
        ('```json\n{"decision": "keep"}\n```', ("keep", None)),
        ('{"decision": "keep"} and {"note": "that is all"}', ("keep", None)),
        ('{"decision": -3}', ("-3", None)),
        ('{"decision": "keep", "chance": 63}', ("keep", None)),
        ('{"decision": "keep", "chance": true}', ("keep", None)),
        ('{"decision": null}', None),
        ('{"decision": ["keep"]}', None),
        ("keep", None),
        ("{" * 100_000, None),
        ('{"decision": "keep"' * 5_000, None),
    ],
)
def test_the_last_object_that_names_a_decision_counts(text: str, found: tuple[str, float | None] | None) -> None:
    assert named_decision(text) == found


def test_a_decision_may_be_written_as_people_write_it(view: SeatView) -> None:
    for name in ("keep", "Keep", "yes", "k"):
        assert read_answer(view, f'{{"decision": "{name}"}}', tells_legal=True) == Answer(0, None)


@pytest.mark.parametrize(
    ("text", "kind"),
    [("", "empty"), (" \n", "empty"), ("Keep it.", "unreadable"), ('{"decision": "R1+"}', "unreadable")],
)
def test_a_fault_says_what_was_wrong_and_how_to_answer(view: SeatView, text: str, kind: str) -> None:
    shown, hidden = (read_answer(view, text, tells_legal=tells) for tells in (True, False))
    assert isinstance(shown, Fault)
    assert isinstance(hidden, Fault)
    assert shown.kind == hidden.kind == kind
    assert "where NAME is keep or discard" in shown.why
    assert "discard" not in hidden.why


def test_a_decision_that_is_not_open_is_illegal_and_why_is_told() -> None:
    table = piste.open_table("zero-sum-grid", {"variant": "harvest", "first": 1}, seed="answers")
    moved = table.view(0).decisions[0]
    table.decide(0, moved)
    read = read_answer(table.view(1), f'{{"decision": "{moved}"}}', tells_legal=False)
    assert isinstance(read, Fault)
    assert read.kind == "illegal"
    assert "just moved" in read.why or "moved" in read.why
    assert read.why.endswith('Answer again and end with {"decision": "NAME"}.')
