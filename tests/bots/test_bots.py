"""Bots are seats like any other: they get a seat's view, choose among its decisions, and know nothing more."""

from __future__ import annotations

import importlib.metadata
import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

import piste
from piste import bots
from piste.bots import Plain
from piste.core.errors import UnknownNameError
from piste.core.evaluation import Basis
from piste.core.game import find, names
from piste.core.protocols import CHANCE
from piste.core.views import SeatView
from piste.games.mccoy_duel.bots import steady as duel
from piste.games.zero_sum_duel.bots import steady as zero_sum
from piste.games.zero_sum_grid import rules as grid_rules
from piste.games.zero_sum_grid.bots import steady as grid
from tests.game_setups import FULL, ODD, Kind, actions, walked
from tests.sizes import sized, slow_if

OURS = ("random", *bots.LEVELS)
HIDING = (Kind("zero-sum-duel", {"turns": 60}), Kind("mccoy-duel", {"rounds": 1}))


def ask(bot: bots.Bot, view: SeatView, seed: str) -> int:
    return bot.choose(view, piste.Dealer(seed).stream(bots.stream_name(view)))


def play_on(table: piste.Table, specs: Sequence[str], seed: str, most: int = 100_000) -> None:
    """Let bots decide until the end, or so often."""
    seated = [bots.find(spec, table.game) for spec in specs]
    for _ in range(most):
        if table.to_act is None:
            break
        view = table.view(table.to_act)
        action = ask(seated[view.seat], view, seed)
        assert action in view.actions
        table.decide(view.seat, action, view.number)
    for seat, bot in enumerate(seated):
        bots.finish(bot, table.view(seat))


def any_of(view: SeatView) -> int:
    """Return some decision or other, the same every time."""
    return random.Random(repr(view.position)).choice(view.actions)


def position_view(text: str) -> SeatView:
    """Return what the seat to act has before it when a game begins with this position."""
    position = piste.Position.parse(text)
    table = piste.Table(position.game, position.state.options, piste.ScriptedDealer(()), origin=position.state)
    assert position.to_act is not None
    return table.view(position.to_act)


def steady_choices(text: str) -> set[str]:
    """Return the decisions that the steady bot takes at a position, whatever its stream says."""
    view = position_view(text)
    bot = bots.find("steady", find(view.game))
    return {view.decisions[view.actions.index(ask(bot, view, f"stream {i}"))] for i in range(12)}


def takes_long(kind: Kind, name: str) -> bool:
    """Say whether a whole game takes long, and is left to the whole run."""
    if name not in ("strong", "perfect"):
        return False
    if kind.game == "mccoy-duel":
        return True  # compiling its solver takes half a minute
    return int(kind.options.get("top", 0)) > 5 and kind.game != "prime-duel"


def players(kinds: Iterable[Kind]) -> list[Any]:
    return [
        pytest.param(kind, name, id=f"{kind}-{name}", marks=[pytest.mark.slow] if takes_long(kind, name) else [])
        for kind in kinds
        for name in OURS
    ]


@pytest.mark.parametrize(("kind", "name"), players((*FULL, *ODD)))
def test_every_bot_plays_every_game_to_its_end(kind: Kind, name: str) -> None:
    table = piste.open_table(kind.game, kind.options, seed=f"bots {kind}")
    play_on(table, [name] * table.seats, "ours")
    assert table.ending() is not None


@pytest.mark.parametrize(("kind", "name"), players(FULL))
def test_the_same_view_and_stream_give_the_same_choice(kind: Kind, name: str) -> None:
    table = piste.open_table(kind.game, kind.options, seed="same")
    play_on(table, ["random"] * table.seats, "some way in", most=5)
    assert table.to_act is not None
    view = table.view(table.to_act)
    first, second = (bots.find(name, table.game) for _ in range(2))
    for seed in ("a", "b", "c"):
        chosen = ask(first, view, seed)
        assert chosen == ask(first, view, seed) == ask(second, view, seed)


@pytest.mark.parametrize("kind", FULL, ids=str)
def test_a_game_taken_up_again_goes_on_the_same(kind: Kind) -> None:
    whole = piste.open_table(kind.game, kind.options, seed="resume")
    seats = ["steady", *["random"] * (whole.seats - 1)]
    play_on(whole, seats, "resume", most=7)
    again = piste.replay(whole.record())
    play_on(whole, seats, "resume", most=20)
    play_on(again, seats, "resume", most=20)
    assert again.history() == whole.history()


def rebuilt(kind: Kind, steps: tuple[int, ...], decisions: int) -> piste.Table:
    """Return a table with this history, after so many decisions."""
    rules = find(kind.game).rules
    made = [(s, step) for s, step in walked(kind, steps) if step is not None]
    table = piste.open_table(
        kind.game, kind.options, outcomes=[step for s, step in made if rules.to_act(s) == CHANCE]
    )
    for seat, step in [(rules.to_act(s), step) for s, step in made if rules.to_act(s) != CHANCE][:decisions]:
        table.decide(seat, step)
    return table


@pytest.mark.parametrize("name", slow_if(lambda name: name in ("strong", "perfect"), OURS))
@pytest.mark.parametrize("kind", HIDING, ids=str)
def test_games_that_a_seat_cannot_tell_apart_get_the_same_choice(kind: Kind, name: str) -> None:
    game = find(kind.game)
    bot = bots.find(name, game)
    others = 0
    for seed in range(sized(3, 8)):
        table = piste.open_table(kind.game, kind.options, seed=f"retold {seed}")
        while table.to_act is not None and table.number < 40:
            view = table.view(table.to_act)
            chosen = ask(bot, view, "retold")
            steps = piste.belief(game, view).retell(piste.Dealer(f"{seed} {view.number}").stream("retell"))
            if steps != table.history():
                others += 1
                retold = rebuilt(kind, actions(steps), view.number)
                assert retold.history() == steps
                assert retold.view(view.seat) == view
                assert ask(bot, retold.view(view.seat), "retold") == chosen
            table.decide(view.seat, any_of(view))
    assert others > sized(7, 20), "hardly any other history was found: the test would show nothing"


# Zero Sum Duel


def test_zero_sum_duel_takes_the_discard_that_wins() -> None:
    text = "zero-sum-duel A=-3,+1,+2,+5 B=-5,-4,+4 pile=- to=A phase=discard turns=6"
    assert steady_choices(text) == {"+5"}


def test_zero_sum_duel_keeps_the_three_cards_that_most_draws_complete() -> None:
    # With -3, -1, +5 each of -4, -2 and +4 wins next turn, and all are unseen; every other three wait for one card.
    text = "zero-sum-duel A=-5,-3,-1,+5 B=-4,+3,+4 pile=+1 to=A phase=discard turns=7"
    assert steady_choices(text) == {"-5"}


def test_zero_sum_duel_does_not_feed_the_opponent_from_the_pile() -> None:
    # The deck is empty: the opponent is known to hold -1, -2, -4 and draws from the pile next. Alone, +5 would be the
    # best discard; but with it, as with +3, the opponent would have one more card that wins.
    text = "zero-sum-duel A=-5,+1,+3,+5 B=-4,-2,-1 pile=-3,+2,+4 to=A phase=discard turns=9"
    assert steady_choices(text) == {"+1"}


def test_zero_sum_duel_remembers_a_hand_that_an_empty_deck_gave_away() -> None:
    known = 0
    for seed in range(20):
        table = piste.open_table("zero-sum-duel", {"turns": 40}, seed=f"memory {seed}")
        while table.to_act is not None:
            view = table.view(table.to_act)
            state = piste.Position.parse(table.position_text()).state
            sure = zero_sum.opponents(view)
            assert sure & ~state.hands[1 - view.seat] == 0
            if view.position.left == 0:
                assert sure == state.hands[1 - view.seat] != 0
                known += 1
            table.decide(view.seat, any_of(view))
    assert known > 10


# Positive-Negative


@pytest.mark.parametrize(("card", "decision"), [("10", "keep"), ("1", "keep"), ("-1", "discard"), ("-10", "discard")])
def test_positive_negative_weighs_a_card_against_the_unseen_average(card: str, decision: str) -> None:
    assert steady_choices(f"positive-negative 1=- 2=- pile=- to=1 phase=decide card={card}") == {decision}


def test_positive_negative_takes_the_last_card_away_from_the_opponent() -> None:
    # 3 is more than the 2 that is left; but with 3 the opponent gets the 2 for a draw, with the 2 the game is won.
    assert steady_choices("positive-negative{top=3} 1=-2 2=-1 pile=-3,1 to=1 phase=decide card=3") == {"discard"}


def test_positive_negative_plays_safe_when_ahead_at_the_end() -> None:
    # -1 is worse than the average of -3 and 2, but it wins for certain.
    assert steady_choices("positive-negative{top=3} 1=3 2=-2 pile=1 to=1 phase=decide card=-1") == {"keep"}


# Prime Duel


@pytest.mark.parametrize(
    ("what", "decision"),
    [
        ("1=44 2=40 deck=3,3,3,3,3,3,3,3,3,3 turns=20 card=6", "keep"),  # exactly 50
        ("1=0 2=0 deck=4,4,4,4,4,4,3,4,4,4 turns=0 card=7", "keep"),  # a prime: another turn
        ("1=0 2=0 deck=3,4,4,4,4,4,4,4,4,4 turns=0 card=1", "discard"),  # hardly a step
        ("1=41 2=40 deck=2,2,2,2,2,2,2,2,2,2 turns=20 card=2", "keep"),  # a prime near the target
        ("1=41 2=40 deck=0,0,0,0,0,0,0,0,4,0 turns=20 card=2", "discard"),  # only nines are left, and 9 wins
    ],
)
def test_prime_duel_weighs_target_primes_and_the_cards_left(what: str, decision: str) -> None:
    assert steady_choices(f"prime-duel {what} to=1 phase=decide") == {decision}


# Zero-Sum Grid


def test_zero_sum_grid_takes_a_win_at_once() -> None:
    assert steady_choices("zero-sum-grid cells=1,1,1/0,0,0/0,0,0 to=1 phase=move turns=4") == {"R1-"}


def test_zero_sum_grid_never_leaves_the_last_step_to_the_opponent() -> None:
    text = "zero-sum-grid cells=1,1,2/0,0,1/0,0,1 to=1 phase=move turns=4"
    view = position_view(text)
    safe = {
        name
        for name, action in zip(view.decisions, view.actions, strict=True)
        if grid.distance(grid.after_move(view.position.cells, action)) == 3
    }
    assert safe < set(view.decisions)
    assert steady_choices(text) <= safe


def test_zero_sum_grid_leaves_a_grid_that_nobody_can_win_tidy() -> None:
    assert steady_choices("zero-sum-grid cells=5,0,0/0,0,0/0,0,0 to=1 phase=move turns=4") <= {"R1-", "C1-"}


def test_zero_sum_grid_distance_is_the_least_number_of_moves() -> None:
    start: grid_rules.Cells = (0, 0, 0, 0, 0, 0, 0, 0, 0)
    far: dict[grid_rules.Cells, int] = {start: 0}
    edge = [start]
    for steps in range(1, 5):
        edge = [
            cells for cells in {grid.after_move(c, action) for c in edge for action in range(12)} if cells not in far
        ]
        far |= dict.fromkeys(edge, steps)
    assert len(far) > 1000
    assert all(grid.distance(cells) == steps for cells, steps in far.items())


@pytest.mark.parametrize("seed", range(6))
def test_zero_sum_grid_does_not_lose(seed: int) -> None:
    table = piste.open_table("zero-sum-grid", seed=f"never {seed}")
    play_on(table, ["steady", "random"] if seed % 2 else ["random", "steady"], "never")
    ending = table.ending()
    assert ending is not None
    assert ending.winner in (None, 0 if seed % 2 else 1)


# Duel

TWO = "in=12 match=12 out=0,0 wins=0,0"


@pytest.mark.parametrize(
    ("what", "decision"),
    [
        # Every 6, 7 and * of the opponent lies face up: Change Stance has no answer.
        (
            "1=3a,4a,5a 2=1b,2b,4b up=6a,7a,6b,7b,*b buried=0a,1a,2a,*a,0b,3b,5b "
            "top=6a power=6 demand=plain phase=play to=1",
            "5",
        ),
        # Their trump lies face up: nothing can follow the 0.
        (
            "1=0a,3a,4a,*a 2=1b,2b,4b up=6a,7a,6b,7b,*b buried=1a,2a,5a,0b,3b,5b "
            "top=6a power=6 demand=plain phase=play to=1",
            "0",
        ),
        # The trump is kept for later while another card will do.
        (
            "1=2a,*a 2=1b,2b,4b up=6a,7a,6b,7b,3b buried=0a,1a,3a,4a,5a,0b,5b,*b "
            "top=3b power=3 demand=plain phase=play to=1",
            "2",
        ),
        (
            "1=3a,4a 2=1b,4b,7b up=2a,6a,6b,*b buried=0a,1a,5a,7a,*a,0b,2b,3b,5b "
            "top=2a power=2 demand=plain phase=take to=1",
            "*",
        ),
        (
            "1=3a,4a 2=1b,4b,7b up=0a,6a,6b,*b buried=1a,2a,5a,7a,*a,0b,2b,3b,5b "
            "top=0a power=0 demand=plain phase=kill to=1",
            "*",
        ),
        # Copying Change Stance has no answer; copying 6 or 7 has.
        (
            "1=1a,2a 2=1b,2b,4b up=4a,5a,6a,7a,6b,7b,*b buried=0a,3a,*a,0b,3b,5b "
            "top=4a power=4 demand=plain phase=copy to=1",
            "5",
        ),
        (
            "1=2a,5a,*a 2=1b,2b,4b up=6a,7a,6b,7b,*b buried=0a,1a,3a,4a,0b,3b,5b "
            "top=7b power=7 demand=plain phase=give target=1 to=2",
            "5",
        ),
        (
            "1=- 2=- up=- buried=- top=- power=lead demand=plain phase=pick to=1 shown=0a/*b waiting=- low=0 lows=1",
            "1",
        ),
    ],
)
def test_duel_takes_the_obvious_decision(what: str, decision: str) -> None:
    assert steady_choices(f"mccoy-duel {what} {TWO}") == {decision}


def test_duel_aims_at_the_player_with_most_cards() -> None:
    text = (
        "mccoy-duel{players=3} 1=0a,1a 2=1b,2b,4b 3=0c,1c,2c,3c,4c up=6a,7a,5b,7b "
        "buried=2a,3a,4a,5a,*a,0b,3b,6b,*b,5c,6c,7c,*c top=6a power=6 demand=plain phase=target ability=6 "
        "to=1 in=123 match=123 out=0,0,0 wins=0,0,0"
    )
    assert steady_choices(text) == {"3"}


def test_duel_never_rules_out_a_card_that_the_opponent_holds() -> None:
    seen = 0
    for seed in range(12):
        table = piste.open_table("mccoy-duel", {"rounds": 3}, seed=f"count {seed}")
        while table.to_act is not None:
            view = table.view(table.to_act)
            held = piste.Position.parse(table.position_text()).state.hands[1 - view.seat]
            guess = duel.hand_beliefs(view)[1 - view.seat]
            assert sum(1 << card for card in guess) & held == held
            assert all(0 < p <= 1 for p in guess.values())
            seen += 1
            table.decide(view.seat, any_of(view))
    assert seen > 200


# Finding bots


class Entry:
    """An entry point as an installed package would offer it."""

    dist = None

    def __init__(self, name: str, factory: Callable[[piste.Game], bots.Bot]) -> None:
        self.name = name
        self._factory = factory

    def load(self) -> Callable[[piste.Game], bots.Bot]:
        return self._factory


def install(monkeypatch: pytest.MonkeyPatch, *entries: Entry) -> None:
    def entry_points(*, group: str) -> list[Entry]:
        return list(entries) if group == "piste.bots" else []

    monkeypatch.setattr(importlib.metadata, "entry_points", entry_points)


def test_an_installed_package_can_offer_a_bot(monkeypatch: pytest.MonkeyPatch) -> None:
    def first(game: piste.Game) -> bots.Bot:
        return Plain(f"first of {game.name}", lambda view, _: view.actions[0])

    def never(game: piste.Game) -> Any:
        raise AssertionError(f"our own random was asked for, not another one for {game.name}")

    install(monkeypatch, Entry("first", first), Entry("random", never))
    game = find("prime-duel")
    assert bots.names(game) == ("random", *bots.LEVELS, "first")
    assert bots.lines(game)["first"] == "From an installed package."
    assert bots.find("first", game).name == "first of prime-duel"
    assert bots.find("random", game).name == "random"
    table = piste.open_table("prime-duel", seed="installed")
    play_on(table, ["first", "steady"], "installed")
    assert table.ending() is not None


@pytest.mark.parametrize("name", names())
def test_each_game_has_every_level_with_a_line_each(name: str) -> None:
    game = find(name)
    assert bots.names(game)[:5] == ("random", *bots.LEVELS)
    lines = bots.lines(game)
    assert set(lines) == set(bots.names(game))
    assert all(line.endswith(".") and "\n" not in line and len(line) < 120 for line in lines.values())
    assert bots.best(game).name == "perfect"


@pytest.mark.parametrize("name", names())
def test_levels_have_peoples_names_and_say_how_they_feel(name: str) -> None:
    game = find(name)
    words = [bots.level_name(game, level) for level in bots.names(game)[:5]]
    top = "Perfect" if bots.basis(game, bots.TOP) in (Basis.PROVEN, Basis.EXACT) else "Expert"
    assert words == ["Random", "Easy", "Medium", "Hard", top]
    feels = [bots.feel(game, level) for level in bots.names(game)[:5]]
    assert len(set(feels)) == 5
    assert all(feel.endswith((".", "?")) and len(feel) < 120 for feel in feels)
    if top == "Expert":
        assert "not perfect" in feels[-1]


def test_harvest_is_spoken_of_only_where_it_is_played() -> None:
    game = find("zero-sum-grid")
    harvest = game.options({"variant": "harvest"})
    for level in bots.LEVELS:
        usual = bots.lines(game)[level] + bots.feel(game, level)
        assert "harvest" not in usual.lower()
        assert bots.lines(game, harvest)[level] != bots.lines(game)[level]
        assert bots.feel(game, level, harvest) != bots.feel(game, level)
    assert bots.level_name(game, "expert", game.options({"variant": "harvest", "deal": "any"})) == "Expert"


def test_an_unknown_bot_is_answered_with_the_bots_there_are() -> None:
    with pytest.raises(
        UnknownNameError,
        match=r"no bot 'stedy' for Duel\. Did you mean steady\? .* random, novice, steady, strong, expert;",
    ):
        bots.find("stedy", find("mccoy-duel"))
    with pytest.raises(UnknownNameError) as refused:
        bots.find("xyzzy", find("mccoy-duel"))
    assert "Did you mean" not in str(refused.value)


def test_a_bot_for_one_game_loads_no_other_game_and_nothing_heavy() -> None:
    code = (
        "import sys, piste\nfrom piste import bots\ngame = piste.find('prime-duel')\n"
        "bots.find('steady', game); bots.find('random', game); bots.best(game)\nprint('\\n'.join(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    modules = set(done.stdout.split())
    assert "piste.games.prime_duel.bots.steady" in modules
    assert not any(name.startswith("piste.games.") and "prime_duel" not in name for name in modules)
    assert not {"importlib.metadata", "subprocess", "asyncio", "numpy", "numba", "piste.bots.program"} & modules


QUICK_LEVELS = """
import sys
import piste
from piste import bots

def choose_once(name, level):
    game = piste.find(name)
    tables = (piste.open_table(name, seed=str(i)) for i in range(100))
    table = next(table for table in tables if table.to_act is not None)
    view = table.view(table.to_act)
    bot = bots.find(level, game)
    bots.prepare(bot, view.options, lambda *_: None)
    assert bot.choose(view, piste.Dealer("a").stream("bot")) in view.actions

for name in piste.names():
    for level in ("random", "novice", "steady"):
        choose_once(name, level)
assert "numba" not in sys.modules
from numba.core import event
with event.install_recorder("numba:compile") as compiled:
    for level in ("strong", "perfect"):
        choose_once("zero-sum-duel", level)
assert not compiled.buffer
"""


def test_simple_levels_load_no_compiler_and_the_usual_zero_sum_duel_compiles_nothing(tmp_path: Path) -> None:
    pytest.importorskip("numba")
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    subprocess.run([sys.executable, "-c", QUICK_LEVELS], check=True, env=environment)
