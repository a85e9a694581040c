"""The games in OpenSpiel: what is registered, what seats are told and see, and that it is the same game."""

from __future__ import annotations

import pickle
import random
import subprocess
import sys
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest

pyspiel = pytest.importorskip("pyspiel")

import piste  # noqa: E402
from piste.core.errors import OptionError  # noqa: E402
from piste.core.game import find, members, names  # noqa: E402
from piste.core.protocols import SPECTATOR  # noqa: E402
from piste.core.views import SeatView  # noqa: E402
from piste.rl import openspiel  # noqa: E402
from piste.rl.encoder import Encoder, learner_options  # noqa: E402
from tests.game_setups import FULL, ODD, Kind, actions, games, played  # noqa: E402
from tests.sizes import slow_if  # noqa: E402

KINDS = tuple(Kind(kind.game, {"turns": 200, **kind.options}) if kind in ODD[:1] else kind for kind in (*FULL, *ODD))
SECRET = ("mccoy-duel", "positive-negative", "zero-sum-duel")
HIDING = tuple(kind for kind in KINDS if kind.game in SECRET)
NONE, OWN, EVERY = (
    pyspiel.PrivateInfoType.NONE,
    pyspiel.PrivateInfoType.SINGLE_PLAYER,
    pyspiel.PrivateInfoType.ALL_PLAYERS,
)
WAYS = tuple(product((False, True), (False, True), (NONE, OWN, EVERY)))  # recall, public, private

# Small enough for a walk through all of it; the second has rounds, at whose end everything is shown.
TINY = (
    "python_piste_mccoy_duel(powers=05*,rounds=1,first=1)",
    "python_piste_mccoy_duel(powers=0*,rounds=3,first=1)",
    "python_piste_positive_negative(top=2)",
    "python_piste_prime_duel(top=2,copies=1,target=3,turns=4,first=1)",
    "python_piste_zero_sum_duel(top=3,hand=2,turns=5,first=a)",
    "python_piste_zero_sum_grid(top=1,turns=1,first=1)",
)


def loaded(kind: Kind) -> Any:
    game = find(kind.game)
    return pyspiel.load_game(
        openspiel.short_name(kind.game), openspiel.parameters(game, learner_options(game, kind.options))
    )


def observers(game: Any) -> dict[tuple[Any, ...], Any]:
    return {
        way: game.make_py_observer(
            pyspiel.IIGObservationType(perfect_recall=way[0], public_info=way[1], private_info=way[2])
        )
        for way in WAYS
    }


def at_random(kind: Kind, seed: object) -> Iterator[Any]:
    """Yield every state of a random game; each is of its own."""
    state, chooser = loaded(kind).new_initial_state(), random.Random(f"{kind} {seed}")
    while not state.is_terminal():
        yield state.clone()
        if state.is_chance_node():
            outcomes, weights = zip(*state.chance_outcomes(), strict=True)
            state.apply_action(chooser.choices(outcomes, weights)[0])
        else:
            state.apply_action(chooser.choice(state.legal_actions()))
    yield state


def everywhere(state: Any) -> Iterator[Any]:
    yield state
    for action in state.legal_actions():
        yield from everywhere(state.child(action))


def test_every_game_is_registered_and_to_register_again_is_harmless() -> None:
    openspiel.register()
    registered = [name for name in pyspiel.registered_names() if "piste" in name]
    assert registered == sorted(f"python_piste_{name.replace('-', '_')}" for name in names())


def test_types_say_what_the_games_are() -> None:
    types = {t.short_name: t for t in pyspiel.registered_games() if "piste" in t.short_name}
    for name in names():
        found = types[openspiel.short_name(name)]
        hides = name in SECRET
        information = pyspiel.GameType.Information
        assert found.information == (information.IMPERFECT_INFORMATION if hides else information.PERFECT_INFORMATION)
        assert found.chance_mode == pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC
        assert found.utility == pyspiel.GameType.Utility.ZERO_SUM
        assert (found.min_num_players, found.max_num_players) == ((2, 4) if name == "mccoy-duel" else (2, 2))
        # The log of a whole game as numbers: only where it is short.
        assert found.provides_information_state_tensor == (name == "positive-negative")


@pytest.mark.parametrize("name", names())
def test_every_option_is_a_parameter_with_the_default_of_the_sheet(name: str) -> None:
    game = find(name)
    found = pyspiel.load_game(openspiel.short_name(name)).get_parameters()
    assert set(found) == {option.name for option in game.notation.OPTIONS}
    given = {key: value.strip("'") if isinstance(value, str) else value for key, value in found.items()}
    limit = {"turns": 200} if "turns" in game.rules.Options._fields else {}
    assert game.options(given) == game.options(limit)


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_parameters_reach_the_rules_and_a_game_can_be_loaded_again_from_its_text(kind: Kind) -> None:
    game = loaded(kind)
    assert game.spec.options == learner_options(find(kind.game), kind.options)
    assert game.num_players() == find(kind.game).rules.seats(game.spec.options)
    for again in (pyspiel.load_game(str(game)), pickle.loads(pickle.dumps(game))):
        assert str(again) == str(game)
        assert again.spec.options == game.spec.options


def test_text_of_digits_is_written_in_quotes() -> None:
    game = pyspiel.load_game("python_piste_mccoy_duel(powers='05',rounds=1)")
    assert game.spec.options.powers == 0b100001
    assert pyspiel.load_game(str(game)).spec.options.powers == 0b100001


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("zero_sum_duel(top=99)", "The option 'top' cannot be '99': it is a whole number from 3 to 15."),
        ("zero_sum_duel(turns=0)", "Learners need a turn limit: turns must be 1 or more."),
        ("zero_sum_duel(first=c)", "The option 'first' cannot be 'c': it is toss, a or b."),
        ("mccoy_duel(rounds=2)", "A match is best of an odd number of rounds, not of 2."),
        ("mccoy_duel(powers='99')", "write the cards that are in, each once"),
    ],
)
def test_bad_parameters_are_answered_with_a_sentence(text: str, sentence: str) -> None:
    with pytest.raises(OptionError) as caught:
        pyspiel.load_game(f"python_piste_{text}")
    assert sentence in str(caught.value)


def test_without_openspiel_the_answer_is_the_command_that_installs_it() -> None:
    code = (
        "import sys; sys.modules['pyspiel'] = None\n"
        "try:\n    import piste.rl.openspiel\n"
        "except Exception as e:\n    print(type(e).__name__, e)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (
        done.stdout == "MissingExtraError OpenSpiel needs the extra 'openspiel'. "
        "Install it with: pip install 'piste[openspiel]'\n"
    )


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_a_game_at_a_table_is_the_same_game_step_by_step(kind: Kind) -> None:
    options = find(kind.game).option_texts(learner_options(find(kind.game), kind.options))
    table = played(Kind(kind.game, dict(options)), "openspiel")
    game = loaded(kind)
    state, encoder = game.new_initial_state(), Encoder(table.game, table.options)
    position = piste.Position.start(kind.game, options)
    for step in actions(table.history()):
        assert not state.is_terminal()
        if state.is_chance_node():
            exact = position.outcomes()
            found = {state.action_to_string(outcome): p for outcome, p in state.chance_outcomes()}
            assert found == {name: float(p) for name, p in exact.items()}
        else:
            assert state.current_player() == position.to_act
            assert state.legal_actions() == sorted(position.decisions().values())
            named = {state.action_to_string(action) for action in state.legal_actions()}
            assert len(named) == len(state.legal_actions())
        for seat in range(table.seats):
            seen = encoder.encode(table.game.rules.look(position.state, seat))
            assert np.array_equal(np.array(state.observation_tensor(seat), np.float32), seen)
        assert state.string_to_action(state.action_to_string(step)) == step
        state.apply_action(step)
        position = piste.Position(table.game, table.game.rules.apply(position.state, step))
    assert state.is_terminal()
    ending = table.ending()
    assert ending is not None
    assert state.returns() == list(map(float, ending.payoffs))
    for seat in range(table.seats):
        given: SeatView = state.node.view(seat)
        assert given == table.view(seat)._replace(counts=False)


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_no_game_is_longer_than_it_says(kind: Kind) -> None:
    game = loaded(kind)
    for seed in range(games(3, kind) if games(3) < 50 else 50):
        steps = list(at_random(kind, seed))[-1].full_history()
        drawn = sum(step.player == pyspiel.PlayerId.CHANCE for step in steps)
        assert drawn <= game.max_chance_nodes_in_history()
        assert len(steps) - drawn <= game.max_game_length()


@pytest.mark.parametrize("game", TINY)
def test_two_strings_are_the_same_exactly_where_a_seat_was_told_and_shown_the_same(game: str) -> None:
    texts: dict[tuple[int, str], Any] = {}
    logs: dict[Any, str] = {}
    states = 0
    for state in everywhere(pyspiel.load_game(game).new_initial_state()):
        states += 1
        for seat in range(state.num_players()):
            text, log = state.information_state_string(seat), state.node.view(seat).log
            assert texts.setdefault((seat, text), log) == log
            assert logs.setdefault((seat, log), text) == text
    hides = state.get_game().get_type().information == pyspiel.GameType.Information.IMPERFECT_INFORMATION
    assert (len(texts) < 2 * states) == hides


@pytest.mark.parametrize("game", [game for game in TINY if "rounds=3" not in game])
def test_two_logs_as_numbers_are_the_same_exactly_where_the_strings_are(game: str) -> None:
    found: dict[bytes, str] = {}
    back: dict[str, bytes] = {}
    for state in everywhere(pyspiel.load_game(game).new_initial_state()):
        for seat in range(state.num_players()):
            if not state.is_terminal():  # what is shown at the end is no event
                text = state.information_state_string(seat)
                line = np.array(state.information_state_tensor(seat)).tobytes()
                assert found.setdefault(line, text) == text
                assert back.setdefault(text, line) == line


@pytest.mark.parametrize("kind", slow_if(lambda kind: "players" in kind.options, HIDING), ids=str)
def test_two_games_that_a_seat_cannot_tell_apart_look_the_same_to_it(kind: Kind) -> None:
    draw, game = openspiel.Resampler("secrets"), loaded(kind)
    mine = {way: seer for way, seer in observers(game).items() if way[2] != EVERY}
    others = 0
    many = game.num_players() > 2 and game.spec.options.powers == 511  # then a seat holds very much possible
    for seed in range(1 if many else 2):
        states = [state for state in at_random(kind, seed) if not state.is_chance_node()]
        for state in states[2:3] if many else states[:: 1 + len(states) // 8]:
            for seat in range(game.num_players()):
                other = draw(state, seat)
                others += other.history() != state.history()
                assert other.information_state_string(seat) == state.information_state_string(seat)
                assert other.observation_string(seat) == state.observation_string(seat)
                assert other.current_player() == state.current_player()
                if state.current_player() == seat:
                    assert other.legal_actions() == state.legal_actions()
                for way, seer in mine.items():
                    seen = []
                    for one in (state, other):
                        seer.set_from(one, seat)
                        seen.append(
                            (seer.string_from(one, seat), None if seer.tensor is None else seer.tensor.tobytes())
                        )
                    assert seen[0] == seen[1], way
    assert others > 0


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_observers_show_what_they_are_asked_for(kind: Kind) -> None:
    game = loaded(kind)
    hides, seers = kind.game in SECRET, observers(game)
    confided = 0
    states = list(at_random(kind, 1))
    for state in states[:: 1 + len(states) // 20]:
        node = state.node
        texts = {way: [s.string_from(state, p) for p in range(game.num_players())] for way, s in seers.items()}
        for recall in (False, True):
            assert set(texts[recall, False, NONE]) == {""}
            assert len(set(texts[recall, True, NONE])) == 1  # what is public is the same for all
            own = [text for text in texts[recall, False, OWN] if text]
            confided += len(own)
            for text in own:
                assert text in texts[recall, False, EVERY][0]
                assert text in texts[recall, True, EVERY][0]
        assert texts[True, True, NONE][0] == node.log_text(SPECTATOR)
        assert texts[True, True, OWN] == [state.information_state_string(p) for p in range(game.num_players())]
        assert texts[False, True, OWN] == [state.observation_string(p) for p in range(game.num_players())]
        for way, seer in seers.items():
            if seer.tensor is None:
                assert way[0]
                assert not game.get_type().provides_information_state_tensor
                continue
            seer.set_from(state, 0)
            assert np.isfinite(seer.tensor).all()
            assert np.array_equal(
                np.concatenate([np.zeros(0), *(p.ravel() for p in seer.dict.values())]), seer.tensor
            )
            if not way[1] and not texts[way[0], False, way[2]][0]:
                assert not np.delete(seer.tensor, np.s_[: game.num_players() if "player" in seer.dict else 0]).any()
    assert (confided > 0) == hides


def test_observers_take_no_parameters() -> None:
    with pytest.raises(ValueError, match="no parameters"):
        pyspiel.load_game("python_piste_prime_duel").make_py_observer(None, {"size": 3})


@pytest.mark.parametrize("kind", FULL, ids=str)
def test_copies_go_their_own_way_and_states_go_through_text(kind: Kind) -> None:
    state = list(at_random(kind, 2))[-2]
    before, copy = str(state), state.clone()
    copy.apply_action(
        members(copy.node.spec.rules.outcomes(copy.node.state))[0]
        if copy.is_chance_node()
        else copy.legal_actions()[0]
    )
    assert (str(state), len(state.history())) == (before, len(copy.history()) - 1)
    text = state.serialize()
    assert len(text) < 4000  # the steps, not every state on the way
    again = state.get_game().deserialize_state(text)
    assert again.history() == state.history()
    for seat in range(state.num_players()):
        assert again.information_state_string(seat) == state.information_state_string(seat)
