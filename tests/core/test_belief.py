"""What a seat can know: the same histories, with the same probabilities, as a search through all of them."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest

import piste
from piste.core.belief import belief
from piste.core.dealer import Dealer
from piste.core.game import find
from piste.core.protocols import CHANCE, OVER, SPECTATOR
from tests.game_setups import Kind, actions, choices, played, walked
from tests.sizes import slow_if

SMALL = (
    Kind("zero-sum-duel", {"top": 3, "hand": 2, "turns": 9}),
    Kind("positive-negative", {"top": 2}),
    Kind("mccoy-duel", {"powers": "016*", "rounds": 1, "first": 1}),
    Kind("mccoy-duel", {"players": 3, "powers": "17", "rounds": 1, "first": 2}),
)
WIDE = (
    Kind("zero-sum-duel", {"turns": 40}),
    Kind("positive-negative", {}),
    Kind("zero-sum-grid", {"turns": 6}),
    Kind("prime-duel", {}),
    Kind("mccoy-duel", {"rounds": 3}),
    Kind("mccoy-duel", {"players": 3, "powers": "0167*", "rounds": 1}),
)


def mid_game(kind: Kind, seed: int) -> piste.Table | None:
    """Return a table stopped at some decision of a random game."""
    chooser = random.Random(seed)
    table = piste.open_table(kind.game, kind.options, seed=f"belief {seed}")
    for _ in range(chooser.randrange(8)):
        actor = table.to_act
        if actor is None:
            return None
        table.decide(actor, chooser.choice(table.view(actor).actions))
    return None if table.to_act is None else table


def every_history(kind: Kind, table: piste.Table, seat: int) -> dict[tuple[int, ...], float]:
    """Search all histories that show the seat what it saw, with the chance of their outcomes."""
    rules = find(kind.game).rules
    log = table.view(seat).log
    found: dict[tuple[int, ...], float] = {}

    def search(s: Any, so_far: tuple[int, ...], chance: float) -> None:
        if len(so_far) == len(log):
            found[so_far] = chance
            return
        if rules.to_act(s) == OVER:
            return
        steps = choices(kind, s)
        dealt = rules.to_act(s) == CHANCE
        total = sum(rules.weight(s, step) for step in steps) if dealt else 1
        for step in steps:
            after = rules.apply(s, step)
            told = log[len(so_far)]
            if rules.tell(s, step, seat) == told.event and rules.look(after, seat) == told.after:
                search(after, (*so_far, step), chance * (rules.weight(s, step) if dealt else 1) / total)

    search(rules.start(find(kind.game).options(kind.options)), (), 1.0)
    total = sum(found.values())
    return {history: chance / total for history, chance in found.items()}


@pytest.mark.parametrize("kind", SMALL, ids=str)
def test_belief_is_what_a_full_search_finds(kind: Kind) -> None:
    game = find(kind.game)
    compared = 0
    for seed in range(25):
        table = mid_game(kind, seed)
        if table is None:
            continue
        for seat in (SPECTATOR, *range(table.seats)):
            wanted: Counter[Any] = Counter()
            for history, chance in every_history(kind, table, seat).items():
                *_, (state, _) = walked(kind, history)
                wanted[state] += chance  # type: ignore[assignment]
            held = belief(game, table.view(seat)).states
            assert set(held) == set(wanted)
            assert all(abs(held[state] - wanted[state]) < 1e-12 for state in held)
            compared += len(held) > 1
    assert compared > 5


@pytest.mark.parametrize("kind", SMALL, ids=str)
def test_retold_histories_come_as_often_as_they_should(kind: Kind) -> None:
    game, draws = find(kind.game), 3000
    table = next(
        t for seed in range(99) if (t := mid_game(kind, seed)) and len(every_history(kind, t, SPECTATOR)) > 3
    )
    wanted = every_history(kind, table, SPECTATOR)
    held = belief(game, table.view(SPECTATOR))
    stream = Dealer("retell").stream("bot 0")
    seen = Counter(held.retell(stream) for _ in range(draws))
    assert set(seen) <= set(wanted)
    likely = {history: chance for history, chance in wanted.items() if chance * draws > 5}
    squared = sum((seen[h] - draws * p) ** 2 / (draws * p) for h, p in likely.items())
    # Mean and spread of chi-square: far outside by chance once in more than a thousand times.
    assert squared < len(likely) + 4 * (2 * len(likely)) ** 0.5


@pytest.mark.parametrize("kind", WIDE, ids=str)
def test_retold_games_look_the_same_and_hold_the_truth(kind: Kind) -> None:
    game = find(kind.game)
    for seed in range(3):
        table = mid_game(kind, seed)
        if table is None:
            continue
        for seat in (SPECTATOR, *range(table.seats)):
            view = table.view(seat)
            held = belief(game, view)
            *_, (truth, _) = walked(kind, table.history())
            assert truth in held.states
            again = held.retell(Dealer(f"{seed}").stream("bot 0"))
            *_, (state, _) = walked(kind, again)
            assert game.rules.look(state, seat) == view.position
            assert len(again) == len(table.history())


@pytest.mark.parametrize("kind", slow_if(lambda kind: kind.game == "zero-sum-duel", WIDE), ids=str)
def test_what_a_seat_knows_prints_and_parses(kind: Kind) -> None:
    game = find(kind.game)
    for seed in range(6):
        table = mid_game(kind, seed)
        if table is None:
            continue
        if seed == 5 and table.seats == 3:
            table.resign(0)
        for seat in (SPECTATOR, *range(table.seats)):
            known = piste.InformationSet.of(game, table.view(seat))
            again = piste.InformationSet.parse(str(known))
            assert str(again) == str(known)
            assert again.belief.states.keys() == known.belief.states.keys()
            assert all(abs(again.belief.states[s] - p) < 1e-12 for s, p in known.belief.states.items())


@pytest.mark.parametrize("kind", WIDE, ids=str)
def test_what_all_players_know_begins_at_one_place_and_is_all_a_watcher_hears(kind: Kind) -> None:
    game = find(kind.game)
    for seed in range(6):
        table = mid_game(kind, seed)
        if table is None:
            continue
        known = [piste.InformationSet.of(game, table.view(seat)) for seat in range(table.seats)]
        assert len({(each.base, len(each.events)) for each in known}) == 1
        # Whatever a seat holds possible, a watcher was told the same.
        for seat in range(table.seats):
            steps = belief(game, table.view(seat)).retell(Dealer(f"{seed}").stream("bot 0"))
            heard = []
            for state, step in walked(kind, actions(steps)):
                if step is not None:
                    heard.append(game.rules.tell(state, step, SPECTATOR))
            assert heard == [told.event for told in table.view(SPECTATOR).log]


def test_a_card_that_one_seat_looks_at_is_not_at_the_head() -> None:
    table = piste.open_table("positive-negative", {"top": 4}, laid="3")
    text = str(piste.InformationSet.of(table.game, table.view(0)))
    assert text == "positive-negative{top=4} 1=- 2=- pile=- to=1 phase=draw | 1 | draw@1:3 | 1"


def test_that_chance_is_to_act_can_be_written() -> None:
    start = piste.Position.start("zero-sum-duel", {"first": "a"})
    known = piste.InformationSet.parse(f"{start} | A | draw@A:+3 draw@B:? | chance")
    assert str(known).endswith("| A | draw@A:+3 draw@B:? | chance")
    assert len(known.belief.states) == 9


def test_what_a_seat_knows_of_a_finished_game_is_the_game() -> None:
    kind = Kind("zero-sum-duel", {"turns": 40})
    table = played(kind, "done")
    known = piste.InformationSet.of(find(kind.game), table.view(1))
    assert str(known).endswith("| B |  | over")
    assert [str(position) for position in known.positions()] == [table.position_text()]


def test_older_events_still_matter_after_a_reshuffle() -> None:
    """After the deck was rebuilt a seat that kept its log knows more than the picture shows."""
    kind = Kind("zero-sum-duel", {"turns": 60})
    game = find(kind.game)
    table = piste.open_table(kind.game, kind.options, seed="reshuffle 4")
    while table.to_act is not None and table.view(0).position.turns < 11:
        table.decide(table.to_act, table.view(table.to_act).actions[0])
    assert table.to_act is not None
    seat = table.to_act
    hidden_from_picture = {
        state
        for state in belief(game, table.view(seat)).states
        if game.rules.look(state, seat) == table.view(seat).position
    }
    unseen = 10 - 4 - bin(table.view(seat).position.pile).count("1")
    assert len(hidden_from_picture) < unseen * (unseen - 1) * (unseen - 2) // 6


def test_a_sample_is_kept_when_there_is_too_much_to_hold() -> None:
    kind = Kind("mccoy-duel", {"players": 3, "rounds": 1, "first": 1})
    game = find(kind.game)
    table = piste.open_table(kind.game, kind.options, seed="sample")
    view = table.view(SPECTATOR)
    whole = piste.Belief(game, game.rules.start(view.options), SPECTATOR)
    thin = piste.Belief(game, game.rules.start(view.options), SPECTATOR, most=100)
    for told in view.log:
        whole.see(told)
        thin.see(told)
    assert len(whole.states) == 729
    assert not whole.sampled
    assert thin.sampled
    assert len(thin.states) == 100
    assert set(thin.states) < set(whole.states)
    assert abs(sum(thin.states.values()) - 1) < 1e-9


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("prime-duel", "four parts"),
        ("{zsd} | C | | A", "The seat cannot be 'C'"),
        ("{zsd} | A | draw@B:+1 | A", "Event 1, 'draw@B:\\+1', cannot follow"),
        ("{zsd} | A | draw@A:+1 nonsense | A", "Event 2"),
        ("{zsd} | A | | A", "'A' is not to act: write chance"),
        ("x" * 50_000, "at most"),
    ],
)
def test_impossible_knowledge_is_refused(text: str, words: str) -> None:
    start = str(piste.Position.start("zero-sum-duel", {"first": "a"}))
    with pytest.raises(piste.PisteError, match=words):
        piste.InformationSet.parse(text.replace("{zsd}", start))
