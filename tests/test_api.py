"""The public functions, as somebody uses them who has read docs/api.md and nothing else."""

from __future__ import annotations

import json
from hashlib import blake2b

import pytest

import piste
from piste.cli.main import main
from piste.core.errors import DealError, IllegalDecisionError, MissingExtraError, PositionError, RecordError
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


# Tables and bots from a given position

PRIME = "prime-duel{first=1} 1=26 2=8 deck=4,4,3,4,3,4,3,3,3,2 to=1 phase=decide turns=2 card=10"
KNOWN_TO_A = (
    f"{ZERO_SUM} | A | draw@A:+3 draw@B:? draw@A:-5 draw@B:? draw@A:+1 draw@B:? draw@A:+5 "
    "discard@A:-5 draw@B:? discard@B:-4 draw@A:-1 | A"
)


def test_a_table_goes_on_from_a_position() -> None:
    table = piste.open_table(position=PRIME, seed="on")
    assert table.position_text() == PRIME
    assert not table.view(0).counts
    table.decide(0, "keep")
    assert table.view(0).position.scores == (36, 8)
    again = piste.replay(table.record())
    assert again.view(1) == table.view(1)
    assert again.record() == table.record()


def test_a_table_from_a_position_takes_outcomes_by_name() -> None:
    table = piste.open_table(position=piste.Position.parse(PRIME), outcomes=["7"])
    table.decide(0, "keep")
    assert (table.to_act, table.view(1).position.card) == (1, 6)
    assert piste.replay(table.record()).view(1) == table.view(1)


def test_a_table_from_an_information_set_holds_what_the_seat_knows_and_draws_the_rest() -> None:
    asked = piste.InformationSet.parse(KNOWN_TO_A)
    tables = [piste.open_table(position=asked, seed=f"{i}") for i in range(12)]
    assert len({table.position_text() for table in tables}) > 3
    assert {piste.Position.parse(table.position_text()) for table in tables} <= set(asked.positions())
    assert all(table.view(0) == tables[0].view(0) for table in tables)  # the seat cannot tell them apart
    assert str(piste.InformationSet.of(piste.find("zero-sum-duel"), tables[0].view(0))) == KNOWN_TO_A
    assert piste.open_table(position=KNOWN_TO_A, seed="3").position_text() == tables[3].position_text()
    table = tables[0]
    assert table.view(1).origin == ""  # the other seat is told its own cards and no more
    table.decide(0, "+3")
    assert piste.replay(table.record()).view(0) == table.view(0)


def test_a_table_is_for_a_game_or_from_a_position() -> None:
    with pytest.raises(PositionError, match="give it alone"):
        piste.open_table("prime-duel", position=PRIME)
    with pytest.raises(PositionError, match="The game is over in this position"):
        piste.open_table(position=piste.Position.parse(GRID).after("R1-"))
    with pytest.raises(piste.PisteError, match="Name a game, or give a position"):
        piste.open_table()


@pytest.mark.parametrize(
    "change", [{"position": 5}, {"position": "prime-duel nonsense"}, {"options": {"first": "2"}}]
)
def test_a_record_whose_position_does_not_fit_is_refused(change: dict[str, object]) -> None:
    first, *_ = piste.open_table(position=PRIME, seed="on").record().splitlines()
    head = json.loads(first) | change
    head.pop("check")
    body = json.dumps(head, ensure_ascii=False)
    check = blake2b(f"\n{body}".encode(), digest_size=4).hexdigest()
    with pytest.raises(RecordError, match="Line 1 of the record cannot be used"):
        piste.Record.parse(f'{body[:-1]}, "check": "{check}"}}\n')


@pytest.mark.parametrize("bot", ["random", "novice", "steady"])
@pytest.mark.parametrize("asked", [GRID, PRIME, KNOWN_TO_A])
def test_a_bot_decides_at_a_given_position(bot: str, asked: str) -> None:
    decision = piste.decide(bot, asked, seed="x")
    assert decision == piste.decide(bot, asked, seed="x")
    assert decision in piste.open_table(position=asked, seed="x").view(0).decisions
    assert len({piste.decide("steady", asked, seed=f"{i}") for i in range(5)}) == 1


def test_a_bot_of_ones_own_decides_from_a_view() -> None:
    class Last:
        name = "last"

        def choose(self, view: piste.SeatView, _: object) -> int:
            return view.actions[-1]

        def close(self) -> None:
            raise AssertionError("whoever made it closes it")

    view = piste.open_table(position=KNOWN_TO_A, seed="x").view(0)
    assert piste.decide(Last(), view) == view.decisions[-1] == piste.decide(Last(), KNOWN_TO_A)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (str(piste.Position.start("prime-duel")), "nothing to decide here: chance is to act"),
        (f"{GRID} | 2 | | 1", "nothing to decide here: another seat is to act"),
        ("zero-sum-grid cells=0,0,0/0,0,0/0,0,0 to=1 phase=over turns=1 winner=1 reason=grid-is-zero", "is over"),
    ],
)
def test_where_no_decision_is_due_a_bot_is_not_asked(asked: str, said: str) -> None:
    with pytest.raises(PositionError, match=said):
        piste.decide("steady", asked)


def test_a_bot_or_a_seed_that_is_none_is_refused_with_a_sentence() -> None:
    with pytest.raises(piste.PisteError, match="There is no bot 'clever' for Zero-Sum Grid"):
        piste.decide("clever", GRID)
    with pytest.raises(DealError, match="Write it as text"):
        piste.decide("steady", GRID, seed=5)  # type: ignore[arg-type]


def test_there_is_no_best_decision_where_no_seat_is_to_act() -> None:
    evaluation = piste.evaluate(piste.Position.start("positive-negative", {"top": 2}))
    assert evaluation.policy == {}
    with pytest.raises(piste.PisteError, match="no seat is to act"):
        _ = evaluation.best


def test_a_best_response_is_shown_in_a_line() -> None:
    start = piste.Position.start("positive-negative", {"top": 1})
    response = piste.best_response(start, lambda view: dict.fromkeys(view.decisions, 1 / len(view.decisions)), 0)
    assert repr(response) == "<BestResponse of seat 0: worth 1, 2 decisions>"


def test_positions_refuse_action_numbers_that_are_not_open() -> None:
    start = piste.Position.start("prime-duel", {"first": 1})
    assert start.legal_actions() == tuple(range(10))
    for wrong in (-1, 10, 62, 10**30, "keep", None, 1.5):
        with pytest.raises(piste.PisteError, match="no action number"):
            start.child(wrong)  # type: ignore[arg-type]
    over = start.child(0).resign(0)
    assert (over.legal_actions(), over.to_act) == ((), None)
    with pytest.raises(piste.PisteError, match="The game is over"):
        over.child(0)
