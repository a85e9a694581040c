"""Prompts for language models say what the seat knows, and how to answer, in every style."""

from __future__ import annotations

import json

import pytest

import piste
from piste.bots.prompts import CHOICES, PromptStyle, instructions, prompt_style, question
from piste.core.errors import OptionError
from piste.core.game import find, names
from piste.core.views import SeatView


def some_view(game: str) -> SeatView:
    """Return a view with a choice and a log, of the first game that has one."""
    for seed in range(20):
        table = piste.open_table(game, seed=f"prompts {seed}")
        while table.to_act is not None and table.number < 50:
            view = table.view(table.to_act)
            if len(view.actions) > 1 and len(view.log) > 4:
                return view
            table.decide(table.to_act, view.actions[0])
    raise AssertionError("no game went on so long")


@pytest.mark.parametrize("name", names())
def test_a_prompt_has_the_rules_the_log_the_position_and_the_decisions(name: str) -> None:
    view = some_view(name)
    style = PromptStyle()
    told, asked = instructions(view, style), question(view, style)
    assert told.startswith(f"You play {find(name).notation.TITLE} as Player {find(name).seat_name(view.seat)} of ")
    assert "## The rules" in told
    assert ">>>" not in told
    assert "What happened so far" in asked
    assert "What you see now:" in asked
    assert all(decision in asked.partition("Open to you: ")[2] for decision in view.decisions)
    assert asked.rstrip().endswith("The last such object counts.")


@pytest.mark.parametrize("name", names())
def test_each_choice_changes_what_it_says(name: str) -> None:
    view = some_view(name)
    assert "Open to you" not in question(view, PromptStyle(legal="hidden"))
    full, short, none = (instructions(view, PromptStyle(rules=length)) for length in CHOICES["rules"])
    assert len(full) > len(short) > len(none)
    assert "What happened so far" not in question(view, PromptStyle(memory="view"))
    position = question(view, PromptStyle(notation="position"))
    assert f"\n{name}" in position
    document = json.loads(question(view, PromptStyle(notation="json")).splitlines()[0])
    assert document["seat"] == find(name).seat_name(view.seat)
    assert len(document["log"]) == len(view.log)
    assert "log" not in json.loads(question(view, PromptStyle(notation="json", memory="view")).splitlines()[0])


def test_other_options_than_those_of_the_rules_page_are_told() -> None:
    table = piste.open_table("prime-duel", {"first": 1, "target": 30}, seed="other options")
    assert "target is 30 instead of 50" in instructions(table.view(0), PromptStyle())
    assert "target is 30 instead of 50" in instructions(table.view(0), PromptStyle(rules="short"))


def test_a_style_that_does_not_exist_is_refused() -> None:
    with pytest.raises(OptionError, match="rules cannot be 'long': it is full or short or none"):
        prompt_style(rules="long")
