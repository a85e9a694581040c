"""What reviewers found, each with the sentence or the state that should have been there."""

from __future__ import annotations

from pathlib import Path

import pytest

import piste
from piste.core.game import find


def test_d21_a_card_laid_for_somebody_who_left_goes_to_nobody_else() -> None:
    table = piste.open_table("duel", {"players": 3}, seed="0", laid="4 7 2")
    table.resign(0)
    actor = table.to_act
    assert actor is not None
    table.decide(actor, "2")
    position = piste.Position.parse(table.position_text())
    assert piste.find("duel").notation.fields(position.state)["buried"] == "2c,7b"


@pytest.mark.parametrize(
    "told",
    ["resigns@3 resigns@2 resigns@1", "resigns@1 resigns@1", "resigns@1"],
)
def test_a_resignation_where_nobody_decides_or_of_who_has_left_is_refused(told: str) -> None:
    start = piste.Position.start("mccoy-duel", {"players": 3})
    with pytest.raises(piste.PisteError, match="cannot follow"):
        piste.InformationSet.parse(f"{start} | 1 | {told} | over")


def test_g7_a_decision_whose_outcome_cannot_be_dealt_has_not_happened() -> None:
    table = piste.open_table("prime-duel", {"first": 1}, outcomes=[6])
    before, record = table.view(0), table.record()
    with pytest.raises(piste.PisteError, match="run out"):
        table.decide(0, "keep")
    assert table.view(0) == before
    assert table.record() == record
    table.resign(0)
    assert piste.replay(table.record()).ending() == table.ending()


def test_z3_no_sentence_of_a_given_deal_lists_what_is_in_the_deck() -> None:
    game = find("zero-sum-duel")
    with pytest.raises(piste.PisteError) as refusal:
        piste.Table(game, game.options({"first": "a"}), piste.ScriptedDealer([3, 3]))
    assert not any(card in str(refusal.value) for card in ("+1", "-5", "+5"))


@pytest.mark.parametrize("where", ["seed", "seats", "laid"])
def test_half_a_letter_is_refused_at_the_start(where: str) -> None:
    given = {"seed": "\ud800", "seats": ("\ud800", "b"), "laid": "\ud800"}[where]
    with pytest.raises(piste.PisteError, match="half a letter"):
        piste.open_table("positive-negative", **{where: given})  # type: ignore[arg-type]


def test_seed_and_given_outcomes_do_not_go_together() -> None:
    with pytest.raises(piste.PisteError, match="not both"):
        piste.open_table("prime-duel", seed="s", outcomes=[0, 6])


def test_seats_that_are_not_there_see_nothing() -> None:
    for seat in (7, 2, -2):
        with pytest.raises(piste.PisteError, match="no seat"):
            piste.Position.start("mccoy-duel").seen_by(seat)


def test_a_record_that_cannot_be_written_gets_a_sentence_and_spares_the_old_one(tmp_path: Path) -> None:
    table = piste.open_table("prime-duel", seed="save")
    with pytest.raises(piste.PisteError, match="cannot be written"):
        piste.save(table, tmp_path / "nowhere" / "x.jsonl")
    with pytest.raises(piste.PisteError, match="cannot be opened"):
        piste.load("a\0b")
    piste.save(table, tmp_path / "game.jsonl")
    table.resign(0)
    piste.save(table, tmp_path / "game.jsonl")
    assert [path.name for path in tmp_path.iterdir()] == ["game.jsonl"]
    assert piste.load(tmp_path / "game.jsonl").ending is not None


def test_what_editors_do_to_a_file_does_no_harm() -> None:
    table = piste.open_table("prime-duel", {"first": 1}, seed="editors")
    table.resign(0)
    text = table.record()
    for touched in (text.replace("\n", "\r\n"), "\ufeff" + text, text + "\n\n"):
        assert piste.replay(piste.Record.parse(touched)).record() == text


def test_a_line_that_piste_would_not_have_written_is_found_where_it_is() -> None:
    table = piste.open_table("prime-duel", {"first": 1}, seed="spaces")
    lines = table.record().splitlines()
    for touched in (lines[1].replace(": ", ":  ", 1), lines[1].replace('"n": 1', '"n": 1, "n": 1')):
        with pytest.raises(piste.PisteError, match=r"Line 2 .*check"):
            piste.Record.parse("\n".join([lines[0], touched]))


def test_a_crash_in_the_middle_of_a_letter_can_be_mended() -> None:
    table = piste.open_table("prime-duel", {"first": 1}, seed="letter")
    raw = table.record().encode() + '{"n": 2, "mark": "é'.encode()[:-1]
    assert piste.replay(piste.Record.parse(raw, mend=True)).record() == table.record()


def test_the_promise_can_be_shown_at_the_deal_and_kept_at_the_end() -> None:
    table = piste.open_table("prime-duel", seed="promise")
    head = piste.Record.parse(table.record()).head
    assert head.commitment is not None
    assert table.commitment == head.commitment.digest
    assert "promise" not in table.commitment
    assert piste.Commitment(table.commitment, head.commitment.salt).keeps("promise")


@pytest.mark.parametrize("name", ["Zero-Sum Grid", "zero sum grid", "positive negative", "Duel", "PRIME DUEL"])
def test_games_are_found_by_their_titles(name: str) -> None:
    assert find(name).notation.TITLE.casefold().replace("-", " ") == name.casefold().replace("-", " ")
