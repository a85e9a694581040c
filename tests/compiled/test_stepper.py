"""A stepper plays the game that a table plays, compiled or interpreted, and refuses what is not open."""

from __future__ import annotations

import pickle
import random
import subprocess
import sys

import pytest

import piste
from piste.compiled.stepper import Stepper
from piste.core.dealer import Dealer, ScriptedDealer
from piste.core.game import find, members
from piste.core.position import Position
from piste.core.protocols import CHANCE, OVER
from tests.game_setups import FULL, ODD, Kind

WAYS = pytest.mark.parametrize("compiled", [True, False], ids=["compiled", "interpreted"])


@WAYS
@pytest.mark.parametrize("kind", [*FULL, *ODD], ids=str)
def test_a_stepper_deals_and_plays_what_the_rules_and_the_dealer_do(kind: Kind, compiled: bool) -> None:
    game = find(kind.game)
    rules = game.rules
    for seed in ("a", "b"):
        stepper = Stepper(kind.game, kind.options, seed=seed, compiled=compiled)
        dealer, chooser = Dealer(seed), random.Random(seed)
        state = rules.start(game.options(kind.options))
        stepper.deal()
        for _ in range(500):
            while rules.to_act(state) == CHANCE:
                state = rules.apply(state, dealer.outcome(game, state))
            assert stepper.position() == Position(game, state)
            if rules.to_act(state) == OVER:
                break
            assert (stepper.to_act, stepper.asked) == (rules.to_act(state), rules.legal(state))
            action = chooser.choice(members(stepper.legal))
            stepper.advance(action)
            state = rules.apply(state, action)
        assert stepper.payoffs() == Position(game, state).payoffs()


@WAYS
@pytest.mark.parametrize("name", piste.names())
def test_each_card_is_as_likely_as_its_outcome(name: str, compiled: bool) -> None:
    stepper = Stepper(name, compiled=compiled)
    while stepper.asked < 0 and stepper.spread < 1000:
        position = stepper.position()
        shares = dict(stepper.outcomes())
        named = {position.game.outcome_name(position.state, outcome): share for outcome, share in shares.items()}
        assert named == {text: float(share) for text, share in position.outcomes().items()}
        assert stepper.to_act == CHANCE
        drawn = [piste.Position(position.game, _drawn(stepper, card)) for card in range(stepper.spread)]
        assert {after: drawn.count(after) / len(drawn) for after in drawn} == {
            position.after(text): share for text, share in named.items()
        }
        stepper.draw(stepper.spread // 2)


def _drawn(stepper: Stepper, card: int) -> object:
    other = stepper.copy()
    other.draw(card)
    return other.position().state


@WAYS
def test_what_is_not_open_is_refused_and_costs_nothing(compiled: bool) -> None:
    stepper = Stepper("prime-duel", {"first": 1}, compiled=compiled)
    before = stepper.position()
    for call, number in ((stepper.apply, 10), (stepper.apply, -1), (stepper.apply, 99), (stepper.draw, 40)):
        with pytest.raises(piste.PisteError):
            call(number)
    with pytest.raises(piste.PisteError, match="no dealer"):
        stepper.deal()
    with pytest.raises(piste.PisteError, match="resign"):
        stepper.resign(0)
    for wrong in ("0", None, 1.0, 10**30, -(10**30)):
        for call in (stepper.apply, stepper.draw):
            with pytest.raises(piste.PisteError):
                call(wrong)  # type: ignore[arg-type]
    assert (stepper.position(), stepper.legal, stepper.spread) == (before, 0, 40)
    stepper.draw(0)
    for action in (2, -1, 62):
        with pytest.raises(piste.PisteError, match="not open"):
            stepper.apply(action)
    with pytest.raises(piste.PisteError, match="no card"):
        stepper.draw(0)
    stepper.resign(0)
    assert (stepper.to_act, stepper.asked, stepper.payoffs(), stepper.outcomes()) == (None, 0, (-1, 1), [])


@WAYS
def test_copies_and_pickles_go_on_by_themselves_with_the_same_cards(compiled: bool) -> None:
    stepper = Stepper("prime-duel", seed="copies", compiled=compiled)
    stepper.deal()
    others = [stepper.copy(), pickle.loads(pickle.dumps(stepper))]
    before = stepper.position()
    stepper.advance(1)
    for other in others:
        assert other.position() == before
        other.advance(1)
        assert other.position() == stepper.position()


def test_whole_numbers_of_any_type_are_taken_without_compiling_again() -> None:
    import numpy as np

    stepper = Stepper("prime-duel", {"first": 1}, compiled=True)
    stepper.draw(np.int32(3))  # type: ignore[arg-type]
    stepper.apply(np.uint8(0))  # type: ignore[arg-type]
    assert [len(kernel.overloads) for kernel in (stepper._take, stepper._draw)] == [1, 1]  # type: ignore[attr-defined]


def test_a_stepper_goes_on_from_a_position_with_any_dealer() -> None:
    position = Position.start("prime-duel", {"first": 1}).after("7")
    stepper = Stepper.at(position, ScriptedDealer(["10", "9"]))
    stepper.advance(0)
    assert stepper.position() == position.after("keep").after("10")


def test_without_numba_and_numpy_a_stepper_is_interpreted() -> None:
    code = (
        "import sys; sys.modules['numba'] = sys.modules['numpy'] = None\n"
        "import piste.core.extras\n"
        "from piste.compiled.stepper import Stepper\n"
        "stepper = Stepper('prime-duel', {'first': 1}, compiled=False)\n"
        "assert len(stepper.outcomes()) == 10 and stepper.draw(0) == 3 and stepper.apply(0) < 0"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
