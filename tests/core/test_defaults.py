"""A game that is nothing but its rules: its notation, text and positions by default, and how they are replaced."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import pytest

import piste
from piste.compiled.codegen import packing, row_storage
from piste.core.belief import event_text
from piste.core.default_notation import DefaultNotation
from piste.core.default_rules import add_missing
from piste.core.errors import DealError, OptionError, PositionError, UnknownNameError
from piste.core.presentation import EventContext
from piste.core.protocols import CHANCE, HIDDEN, Event
from piste.core.scene import BACK, scene_from_rows
from piste.core.survey import survey, survey_of
from tests.bare_game import BARE, bare_game
from tests.installed_games import EXAMPLES, Install


@pytest.fixture(autouse=True)
def bare(tmp_path: Path, install_game: Install) -> piste.Game:
    return bare_game(tmp_path, install_game)


def test_a_game_is_found_by_its_entry_point_and_listed_after_those_of_the_tree(bare: piste.Game) -> None:
    assert piste.names()[-1] == "bare-game"
    assert piste.find("Bare_Game") is bare
    assert bare.notation.TITLE == "Bare game"
    assert bare.notation.LINE == "Both get a coin, and the first guesses whether they are equal."


def test_functions_that_rules_leave_out_are_added(bare: piste.Game) -> None:
    rules = bare.rules
    first = rules.start(rules.Options())
    assert rules.seats(rules.Options()) == 2
    assert (rules.to_act(first), rules.kind(first), rules.outcomes(first)) == (CHANCE, 0, 0b11)
    assert rules.reason(first) == 0
    assert [rules.weight(first, coin) for coin in range(3)] == [1, 1, 0]
    assert [rules.drawn(first, at) for at in range(rules.spread(first))] == [0, 1]


def test_a_position_reads_back_and_one_that_no_game_comes_to_is_refused(bare: piste.Game) -> None:
    for state in survey_of("bare-game", bare.options()).states:
        assert piste.Position.parse(str(piste.Position(bare, state))).state == state
    for text, why in (
        ("stage=1 seat=0 coins=1,7 winner=-1", "No game with these options"),
        ("stage=1 seat=0 coins=1 winner=-1", "too few numbers"),
        ("stage=0 seat=0 coins=-1,-1,-1 winner=-1", "too many numbers"),
        ("stage=0 seat=0 coins=-1,x winner=-1", "cannot be 'x'"),
        ("stage=0 seat=0 coins=-1,-1", "'winner' is missing"),
        ("stage=1 seat=9 coins=-1,-1 winner=-1", "to_act returns 9"),
    ):
        with pytest.raises(PositionError, match=why):
            piste.Position.parse(f"bare-game {text}")


def test_a_game_is_played_and_told_without_a_word_of_its_own(bare: piste.Game) -> None:
    table = piste.open_table("bare-game", outcomes=["1", "0"])
    view = table.view(0)
    assert view.decisions == ("0", "1")
    assert bare.text.ask(view, ("Ann", "Bo")).last_line == "Decision: 0 or 1? "
    told = [EventContext(1, ("Ann", "Bo"), view.opening, table.view(1).log[: at + 1]) for at in range(2)]
    assert [bare.text.lines(moment) for moment in told] == [["Ann, chance: hidden."], ["You, chance: 0."]]
    assert list(map(str, bare.text.picture(view, ("Ann", "Bo")))) == [
        "Stage: 1", "Turn: Ann", "Your coins: 1", "Bo's coins: -1",
    ]  # fmt: skip
    table.decide(0, "0")
    ending = table.ending()
    assert ending is not None
    assert bare.text.farewell(table.view(0), ("Ann", "Bo"), ending)[-3:] == [
        "Bo wins: the game is over.", "Ann: -2", "Bo: +2",
    ]  # fmt: skip
    assert bare.text.HAND_OVER
    assert piste.replay(table.record()).ending() == ending


def test_a_card_that_is_hidden_and_one_that_is_not_there_are_shown_differently(install_game: Install) -> None:
    install_game(EXAMPLES / "leduc-poker")
    view, names = piste.open_table("leduc-poker", outcomes=["J", "Q"]).view(0), ("Ann", "Bo")
    text = piste.find("leduc-poker").text
    assert list(map(str, text.picture(view, names)))[:4] == [
        "Turn: Ann", "Your cards: J", "Bo's cards: ?", "Board: -",
    ]  # fmt: skip
    _, own, other, board, *_ = scene_from_rows(view, names, text)
    assert (own.cards[0].text, other.cards, (board.cards, board.note)) == ("J", (BACK,), ((), "none"))


def test_how_many_can_play_is_read_from_the_option_or_the_rules(bare: piste.Game) -> None:
    assert bare.player_counts == range(2, 3)
    assert piste.find("mccoy-duel").player_counts == range(2, 5)


def test_outcomes_can_be_laid_by_name() -> None:
    table = piste.open_table("bare-game", laid="0 0")
    assert table.view(0).position.coins == (0, -1)
    with pytest.raises(DealError, match="'tails' is no outcome"):
        piste.open_table("bare-game", laid="tails")


def test_each_name_can_be_replaced_alone(bare: piste.Game) -> None:
    own = ModuleType("own")
    vars(own).update(ACTIONS={0: ("heads", "tails"), 1: ("same", "other")}, KINDS=("toss", "guess"))
    notation = DefaultNotation("bare-game", bare.rules, own)
    assert notation.name(None, 0, 1) == "tails"
    view: Any = bare.rules.look(bare.rules.start(bare.options()), 0)
    assert notation.spell(view._replace(stage=1), 0) == ("same",)
    assert notation.TITLE == "Bare game"
    game = piste.Game("bare-game", bare.rules, notation, bare.package)
    assert game.kind_name(1) == "guess"


def test_an_option_without_a_range_stays_as_it_is(bare: piste.Game) -> None:
    assert bare.options({"stake": 5}).stake == 5
    with pytest.raises(OptionError, match="whole number from 1 to 5"):
        bare.options({"stake": 6})
    with pytest.raises(OptionError, match="whole number from 2 to 2"):
        bare.options({"coins": 3})


def test_what_is_known_of_a_large_game_is_a_sample() -> None:
    game = piste.find("prime-duel")
    known = survey(game, game.options(), most=100)
    assert (known.complete, known.payoffs, known.hides) == (False, (-1, 1), False)
    assert survey(piste.find("mccoy-duel"), piste.find("mccoy-duel").options(), most=100).hides


def test_rules_that_cannot_be_loaded_or_lack_a_function_are_refused(tmp_path: Path, install_game: Install) -> None:
    for name, text, why in (
        ("unread", "def", "cannot be loaded: SyntaxError"),
        ("untold", BARE.replace("def tell", "def hear"), "untold.rules has no tell"),
    ):
        with pytest.raises(UnknownNameError, match=why):
            bare_game(tmp_path, install_game, text, name)


def test_fields_of_a_state_say_what_functions_of_their_names_would() -> None:
    class State(NamedTuple):
        phase: int
        reason: int
        winner: int

    rules: Any = ModuleType("rules_by_field")
    rules.State = State
    add_missing(rules)
    s = State(2, 3, 1)
    assert (rules.kind(s), rules.reason(s), rules.payoff(s, 0), rules.payoff(s, 1)) == (2, 3, -1, 1)


class NoOptions(NamedTuple):
    pass


class StateWithoutOptions(NamedTuple):
    options: NoOptions
    turn: int


def test_a_game_may_have_no_options() -> None:
    assert "return StateWithoutOptions(NoOptions(), int(line[0]))" in packing(StateWithoutOptions)
    assert "row[2] = s.turn" in row_storage(StateWithoutOptions, 2)


def test_names_with_spaces_are_written_without_them_in_what_a_seat_knows(bare: piste.Game) -> None:
    own = ModuleType("own")
    vars(own).update(ACTIONS={1: ("they are equal", "they are not")})
    game = piste.Game("bare-game", bare.rules, DefaultNotation("bare-game", bare.rules, own), bare.package)
    assert event_text(game, None, Event(1, 0, 1, HIDDEN)) == "decision@1:theyarenot"


def test_rules_with_all_functions_stay_as_they_are() -> None:
    rules: Any = piste.find("zero-sum-duel").rules
    before = dict(vars(rules))
    add_missing(rules)
    assert vars(rules) == before
