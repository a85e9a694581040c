"""The public functions, as somebody uses them who has read docs/api.md and nothing else."""

from __future__ import annotations

import json

import pytest

import piste
from piste.cli.main import main
from piste.core.errors import DealError, IllegalDecisionError, MissingExtraError, PositionError
from piste.core.game import tidy

ZERO_SUM = "zero-sum-duel{first=a} A=- B=- pile=- to=A phase=draw turns=0"


# Outcomes by name


@pytest.mark.parametrize("name", piste.names())
def test_every_outcome_is_read_by_its_name_in_any_spelling(name: str) -> None:
    position = piste.Position.start(name)
    for _ in range(12):
        if position.to_act != piste.CHANCE:
            position = position.after(next(iter(position.decisions())))
            continue
        names = list(position.outcomes())
        for outcome in names:
            plain = outcome.removeprefix("+")
            signed = outcome if outcome[0] in "+-" or not outcome.isdigit() else f"+{outcome}"
            for spelling in (outcome, plain, signed, f" {plain.upper()} ", plain.replace("-", "−")):
                assert position.after(spelling) == position.after(outcome), spelling
        assert len({tidy(outcome).removeprefix("+") for outcome in names}) == len(names)
        position = position.after(names[0])


def test_a_table_takes_outcomes_by_name_by_number_and_in_one_text() -> None:
    options = {"first": "a"}
    named = piste.open_table("zero-sum-duel", options, outcomes=["+3", "-2", "−5", "4", "+1", "-1", "5"])
    text = piste.open_table("zero-sum-duel", options, outcomes="3 -2, -5 4 1 -1 5")
    numbered = piste.open_table("zero-sum-duel", options, outcomes=[7, 3, 0, 8, 5, 4, 9])
    assert named.view(0) == text.view(0) == numbered.view(0)
    assert named.view(0).decisions == ("-5", "+1", "+3", "+5")


@pytest.mark.parametrize(
    ("outcomes", "said"),
    [
        (["11"], "'11' is not possible for 'draw' now. Write each outcome by its name"),
        ([99], "Outcome number 99 is not possible for 'draw' now. Write each outcome by its name"),
        ([2.5], "An outcome cannot be '2.5'. Write each outcome by its name"),
        ([None], "An outcome cannot be 'None'."),
        ([True], "An outcome cannot be 'True'."),
        (7, "Outcomes are a list, not '7'."),
        ([], "The given outcomes have run out: the game now needs one for 'draw'."),
    ],
)
def test_outcomes_that_cannot_be_used_are_refused_with_a_sentence(outcomes: object, said: str) -> None:
    with pytest.raises(DealError) as refused:
        piste.open_table("prime-duel", {"first": 1}, outcomes=outcomes)  # type: ignore[arg-type]
    assert said in str(refused.value)


def test_a_step_that_is_no_text_is_refused_with_a_sentence() -> None:
    start = piste.Position.start("prime-duel", {"first": 1})
    with pytest.raises(IllegalDecisionError, match=r"as text: after\('3'\), not after\(3\)"):
        start.after(3)  # type: ignore[arg-type]


# Events that cannot follow


@pytest.mark.parametrize(
    ("events", "to_act", "said"),
    [
        (
            "draw@A:+3 discard@B:?",
            "A",
            "Event 2, 'discard@B:?', cannot follow what stands before it: draw@B comes next",
        ),
        ("draw@A:+3 draw@A:+2", "A", "Event 2, 'draw@A:+2', cannot follow what stands before it: draw@B comes next"),
        ("draw@A:+3 draw@B:+2", "A", "cannot follow what stands before it: after the colon it can be ?."),
        ("draw@A:+9", "A", "after the colon it can be +1, +2, +3, +4, +5, -1, -2, -3, -4 or -5."),
        ("drew@A:+3", "A", "the kinds of events are toss, draw, discard and resigns."),
        ("draw@A:+3", "A", "After these events 'A' is not to act: write chance."),
    ],
)
def test_an_event_that_cannot_follow_is_refused_with_the_reason(events: str, to_act: str, said: str) -> None:
    with pytest.raises(PositionError) as refused:
        piste.InformationSet.parse(f"{ZERO_SUM} | A | {events} | {to_act}")
    assert said in str(refused.value)


def test_no_event_follows_the_end_of_a_game() -> None:
    text = "zero-sum-grid{first=1} cells=1,1,1/0,0,0/0,0,0 to=1 phase=move turns=0 | 1 | move@1:R1- move@2:R1- | over"
    with pytest.raises(PositionError, match=r"Event 2, .* the game is over there"):
        piste.InformationSet.parse(text)


def test_events_are_as_lenient_as_decisions_and_written_in_one_way() -> None:
    strict = piste.InformationSet.parse(f"{ZERO_SUM} | A | draw@A:+3 draw@B:? draw@A:-5 | chance")
    lenient = piste.InformationSet.parse(f"{ZERO_SUM} | A | draw@A:3 draw@b:? Draw@A:−5 | chance")
    assert str(strict) == str(lenient)
    assert strict.events == lenient.events


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1=7 2=0 deck=4,4,4,4,4,4,3,4,4,4 to=2 phase=draw turns=1", "write to=1 turns=0 extra=yes."),
        ("1=7 2=0 deck=2,2,2,2,2,2,2,2,2,2 to=1 phase=draw turns=2", "write extra=yes."),
    ],
)
def test_a_prime_score_says_how_an_extra_turn_is_written(text: str, said: str) -> None:
    with pytest.raises(PositionError) as refused:
        piste.Position.parse(f"prime-duel {text}")
    assert str(refused.value).endswith(said)
    written = dict(word.split("=") for word in text.split()) | dict(
        word.split("=") for word in said.removeprefix("write ").rstrip(".").split()
    )
    piste.Position.parse("prime-duel " + " ".join(f"{key}={value}" for key, value in written.items()))


# Evaluations

GRID = "zero-sum-grid cells=1,1,1/0,0,0/0,0,0 to=1 phase=move turns=0"


def test_an_evaluation_names_its_decisions_and_has_the_document_of_solve(capsys: pytest.CaptureFixture[str]) -> None:
    evaluation = piste.evaluate(GRID)
    assert (evaluation.chances.win, evaluation.known, evaluation.best.name) == (1.0, "proven", "R1-")
    assert evaluation.policy == {choice.name: float(choice.name == "R1-") for choice in evaluation.choices}
    assert main(("solve", "zero-sum-grid", "--position", GRID, "--json")) == 0
    assert json.loads(capsys.readouterr().out) == json.loads(json.dumps(evaluation.document()))


@pytest.mark.parametrize(
    ("text", "distance"),
    [
        (GRID, 1),
        ("zero-sum-grid cells=1,1,1/0,0,0/0,0,-1 to=1 phase=move turns=0", None),
        ("zero-sum-grid cells=2,1,1/1,0,0/1,0,0 to=2 phase=move turns=3", 2),
    ],
)
def test_the_distance_of_a_grid_is_a_field(text: str, distance: int | None) -> None:
    assert piste.evaluate(text).document()["distance"] == distance


def test_a_position_is_evaluated_for_the_seat_to_act_or_for_another() -> None:
    position = piste.Position.parse(GRID)
    assert piste.evaluate(position) == piste.evaluate(GRID) == piste.evaluate(position, seat=0)
    assert piste.evaluate(position, seat=1).chances == (0.0, 0.0, 1.0)
    assert piste.evaluate(position, seat=1).policy == {}


def test_a_view_an_information_set_and_its_text_are_evaluated_alike() -> None:
    options: dict[str, int | str] = {"first": "a", "top": 3, "hand": 2, "turns": 6}
    view = piste.open_table("zero-sum-duel", options, outcomes="+3 -2 -1 +1 +2").view(0)
    asked = piste.InformationSet.of(piste.find("zero-sum-duel"), view)
    assert piste.evaluate(view) == piste.evaluate(asked) == piste.evaluate(str(asked))
    assert set(piste.evaluate(view).policy) == set(view.decisions)


@pytest.mark.parametrize(
    ("asked", "seat", "said"),
    [
        (5, None, "A position is asked for as a Position, an InformationSet, a SeatView or a text, not"),
        (GRID, 2, "There is no seat 2 here: seats are 0 to 1."),
        (f"{GRID} | 1 | | 1", 1, "This says already which seat it is about"),
        ("zero-sum-grid cells=0,0,0/0,0,0/0,0,0 to=1 phase=over turns=1 winner=1 reason=grid-is-zero", None, "over"),
    ],
)
def test_what_cannot_be_evaluated_is_refused_with_a_sentence(asked: str, seat: int | None, said: str) -> None:
    with pytest.raises(PositionError) as refused:
        piste.evaluate(asked, seat=seat)
    assert said in str(refused.value)


def test_a_missing_extra_is_named_in_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("piste.core.extras.find_spec", lambda _: None)
    with pytest.raises(MissingExtraError, match=r"pip install 'piste\[fast\]'"):
        piste.evaluate(str(piste.Position.start("prime-duel", {"first": 1})))
