"""Duel's opening book: what it says, who reads it, and how it is made and measured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import piste
from piste.compiled import table_cache
from piste.compiled.compiler import link_modules
from piste.core.dealer import Dealer
from piste.core.evaluation import quiet
from piste.core.game import members
from piste.core.protocols import CHANCE
from piste.core.views import SeatView
from piste.games.mccoy_duel import notation, rules
from piste.games.mccoy_duel.bots import perfect, steady
from piste.games.mccoy_duel.rules import COPY, GIVE, KILL, PLAY, TAKE, State
from piste.games.mccoy_duel.solver import (
    abstraction,
    book,
    cfr_kernels,
    infoset_kernels,
    infosets,
    ismcts,
    solutions,
    solver,
)
from piste.games.mccoy_duel.solver.abstraction import card_at, places_open
from piste.games.mccoy_duel.solver.infosets import Observed
from tests.game_setups import Kind, games, played, walked
from tests.games.solver.mccoy_duel_plain_cfr import show
from tools import (
    duel_adversaries,
    duel_blueprint,
    duel_book,
    duel_exploitability,
    duel_kernels,
    duel_match,
    duel_openings,
)
from tools.duel_adversaries import Frozen
from tools.duel_kernels import PLACES

SMALL = rules.Options(powers=notation.read_powers("05*"))
SMALL_SOLVED = notation.read_powers("0136*")
WHOLE = games(1) >= 50  # the sizes of a proof
TWO = Kind("mccoy-duel", {"rounds": 1})


# What the book counts


def test_every_choice_has_a_place_of_its_own_and_back() -> None:
    seen = set()
    for seed in range(games(60)):
        for s, _ in walked(TWO, played(TWO, seed).history()):
            if s.phase not in (PLAY, KILL, TAKE, COPY, GIVE) or rules.to_act(s) == CHANCE:
                continue
            cards = [card_at(s, place) for place in members(places_open(s))]
            both = s.phase in (PLAY, GIVE)
            assert sorted(cards) == members(rules.choices(s) if both else infoset_kernels.distinct_choices(s))
            seen.add((s.phase, len({card % 9 for card in cards}) < len(cards)))
    assert {(PLAY, True), (PLAY, False), (GIVE, False), (KILL, False)} <= seen


def test_places_name_two_cards_of_one_power_by_whose_colour_they_are() -> None:
    s = rules.open_round(rules.deal(rules.start(rules.Options(2, 1, 1)), 0), 1)
    s = s._replace(hands=(0b1, 0b100 | 0b100 << 9 | 1 << 17, 0, 0))  # the second player holds 2a, 2b and its trump
    assert members(places_open(s)) == [0, 2, 8]  # the own 2 has the place of the lowest power that is not there
    assert [card_at(s, place) for place in (0, 2, 8)] == [11, 2, 17]


def decisions(seed: object, **options: Any) -> list[tuple[SeatView, int]]:
    """Play a round between random players, and return what was seen at each decision, and what was decided."""
    table = piste.open_table("mccoy-duel", {"rounds": 1, **options}, seed=f"book {seed}")
    stream, found = Dealer(f"book {seed}").stream("players"), []
    while (actor := table.to_act) is not None:
        view = table.view(actor)
        action = view.actions[stream.below(len(view.actions))]
        found.append((view, action))
        table.decide(actor, action, view.number)
    return found


def asked(view: SeatView) -> tuple[State, tuple[Observed, ...]]:
    state, events = infosets.observed_round(view)
    assert state is not None
    return state, events


@pytest.mark.slow
def test_a_key_says_nothing_that_the_seat_does_not_know() -> None:
    """Every state that a seat holds possible has the same key, in exact and in later plays."""
    late = 0
    for seed in range(games(12)):
        for view, _ in decisions(seed, first=1):
            if len(view.actions) == 1:
                continue
            state, events = asked(view)
            own = infosets.possible_states(state, events, view.seat)
            plays = sum(told.event.kind == PLAY for told in events)
            keys = {
                book.key_of(row, infoset_kernels.unpack(state.options, row), view.seat, plays) for row in own.rows
            }
            assert len(keys) == 1
            late += plays > abstraction.EXACT_PLAYS
    assert late > 10


@pytest.mark.slow
def test_what_a_seat_knows_is_what_it_was_shown() -> None:
    """By the first principles: a card's place is known if every state that the seat holds possible agrees on it."""
    for seed in range(games(8)):
        for view, _ in decisions(seed, first=1):
            if len(view.actions) == 1:
                continue
            state, events = asked(view)
            own = infosets.possible_states(state, events, view.seat)
            known = int(own.rows[0, infoset_kernels.KNOWN_COLUMN]) >> 18 * view.seat & abstraction.ALL_CARDS
            for card in members(known):
                places = {
                    (int(row[4]) >> card & 1, int(row[5]) >> card & 1, int(row[8]) >> card & 1) for row in own.rows
                }
                assert len(places) == 1


# The book


def test_a_book_is_read_as_it_was_written() -> None:
    stream = np.random.default_rng(1)
    keys = stream.integers(1, 1 << 61, 5000) | 1
    sums = np.where(stream.random((5000, PLACES)) < 0.3, stream.random((5000, PLACES)), 0.0)
    sums[np.arange(5000), stream.integers(0, PLACES, 5000)] = 2.0
    packed = book.unpack_book(book.pack(keys, sums, 0.6))
    for key, row in zip(keys.tolist(), sums, strict=True):
        shares = book.shares_at(packed, key)
        assert shares is not None
        assert sum(shares.values()) == pytest.approx(1)
        assert all(abs(shares.get(i, 0.0) - row[i] / row.sum()) < 1.5 / book.SHARES for i in range(PLACES))
    assert book.shares_at(packed, 12345) is None
    assert book.shares_at(book.unpack_book(book.pack(keys[:1], sums[:1], 0.6)), int(keys.max()) + 2) is None


def test_the_shipped_book_is_small_and_sound() -> None:
    shipped = book.shipped()
    assert Path(book.__file__).with_name(book.FILE).stat().st_size <= duel_book.MAX_BYTES
    assert (np.diff(shipped.keys) > 0).all()
    assert (shipped.places > 0).all()
    assert int(shipped.first[-1]) == len(shipped.shares)
    assert 0.66 < shipped.leader < 0.69


@pytest.mark.slow
def test_a_lead_for_each_card_buried_stands_in_the_book_whoever_leads() -> None:
    """Seats and colours exchanged, the book says the same."""
    said: dict[int, set[tuple[tuple[int, float], ...]]] = {}
    for first in (0, 1):
        for seed in range(games(40)):
            table = piste.open_table("mccoy-duel", {"rounds": 1, "first": first + 1}, seed=f"lead {seed}")
            view = table.view(first)
            found = book.look_up(*asked(view), first)
            assert found is not None
            assert set(found[0]) <= set(view.actions)
            assert sum(found[1]) == pytest.approx(1)
            buried = rules.COLOUR & ~(view.position.hand >> 9 * first)
            mix = tuple((card - 9 * first, share) for card, share in zip(*found, strict=True))
            said.setdefault(buried, set()).add(mix)
    assert set(said) == {1 << power for power in range(9)}
    assert {len(mixes) for mixes in said.values()} == {1}


@pytest.mark.slow
def test_the_book_speaks_in_later_rounds_too_where_the_loser_picks_who_leads() -> None:
    found = 0
    for seed in range(games(10)):
        for view, _ in decisions(seed, rounds=3):
            state, events = infosets.observed_round(view)
            if state is not None and not any(told.event.kind == PLAY for told in events) and view.kind == PLAY:
                told = book.look_up(state, events, view.seat)
                assert told is not None
                assert set(told[0]) <= set(view.actions)
                found += any(event.event.kind == rules.PICK for event in events)
    assert found >= games(10)


@pytest.mark.slow
def test_the_book_says_nothing_of_other_rounds() -> None:
    for changed in ({"powers": "0123567*"}, {"players": 3}):
        view = next(view for view, _ in decisions("other", first=1, **changed) if view.kind == PLAY)
        assert book.look_up(*asked(view), view.seat) is None


@pytest.mark.slow
def test_the_book_says_nothing_to_two_whom_a_third_has_left() -> None:
    table = piste.open_table("mccoy-duel", {"rounds": 3, "players": 3}, seed="left")
    stream, seen = Dealer("left").stream("players"), 0
    table.resign(2)
    while (actor := table.to_act) is not None:
        view = table.view(actor)
        state, events = infosets.observed_round(view)
        if state is not None and state.hands[:3] == (rules.COLOUR, rules.COLOUR << 9, 0) and view.kind == PLAY:
            assert book.look_up(state, events, actor) is None
            seen += 1
        table.decide(actor, view.actions[stream.below(len(view.actions))], view.number)
    assert seen


@pytest.mark.slow
def test_perfect_plays_by_the_book_without_a_search(monkeypatch: pytest.MonkeyPatch) -> None:
    def search_refused(*_: object) -> None:
        raise AssertionError("a search for what stands in the book")

    monkeypatch.setattr(ismcts, "search", search_refused)
    view = next(view for view, _ in decisions("plays", first=1) if view.kind == PLAY)
    chosen = {perfect.choose(view, Dealer(f"asked {i}").stream("bot")) for i in range(16)}
    found = book.look_up(*asked(view), view.seat)
    assert found is not None
    assert chosen <= set(found[0])
    again = [perfect.choose(view, Dealer("asked 1").stream("bot")) for _ in range(2)]
    assert again[0] == again[1]


# How it is made and measured


@pytest.mark.slow
def test_compiled_and_plain_kernels_agree() -> None:
    options, states = duel_blueprint.dealt(notation.read_powers("05*"))
    plain = link_modules(rules, abstraction, infoset_kernels, cfr_kernels, duel_kernels, compiled=False)
    tables = []
    for k in (duel_blueprint.kernels(), plain):
        table, nobody = duel_blueprint.empty_table(10), duel_blueprint.no_policy()
        stack = np.zeros((400, duel_kernels.STACK_WIDTH), np.int64)
        k.run_mccfr_rounds(
            options, states.rows, states.sums, table, nobody, nobody, duel_kernels.NO_SEAT, 99, 0, 16, 1, 60, 7,
            stack, np.zeros((400, PLACES)), np.zeros(3),
        )  # fmt: skip
        tables.append(table)
    assert (tables[0].keys == tables[1].keys).all()
    assert np.allclose(tables[0].sums, tables[1].sums)
    assert tables[0].sums.any()


@pytest.mark.slow
@pytest.mark.parametrize("powers", ["0257*", "0136*"])
def test_what_is_learned_loses_little_where_the_truth_is_known(
    powers: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(table_cache, "folder", lambda: tmp_path)
    start = solutions.start_state(notation.read_powers(powers), picking=False)
    tree = duel_exploitability.tree_of(start.options.powers)
    solution = solutions.find(start.options)
    assert solution is not None
    ask = duel_openings.way("blueprint", start.options, 1, 200_000)
    for seat in range(2):
        mixes = duel_exploitability.mixes(start, seat, ask)
        gain = duel_exploitability.exploitability(tree, solution.share, seat, mixes).gain
        assert -solution.bound <= gain < 0.01


@pytest.mark.slow
@pytest.mark.parametrize("name", ["response", "search"])
def test_adversaries_gain_much_from_random_play_and_little_from_what_is_learned(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_small(monkeypatch)
    options, states = duel_blueprint.dealt(SMALL_SOLVED)
    late = duel_blueprint.average(options, 200_000)
    random = late._replace(sums=np.ones_like(late.sums))
    learned, guessed = (
        duel_adversaries.measured(name, options, states, Frozen(opening, plays, late))[0].together
        for opening, plays in ((duel_blueprint.no_policy(), 0), (random, duel_blueprint.ALL_PLAYS))
    )
    assert learned < 0.02
    assert guessed > 0.1


@pytest.mark.slow
def test_a_book_is_made_of_what_was_learned_from_many_visits(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(duel_blueprint, "FILE", tmp_path / "blueprint.npz")
    duel_blueprint.learn_and_save(3_000, 20)
    kept = np.load(duel_blueprint.FILE)
    every, often = (duel_book.made(20_000, least) for least in (1, 30))
    assert 9 < often.size < every.size < len(kept["keys"])
    assert 0 < often.share < every.share < 1
    found = book.unpack_book(often.packed)
    assert len(found.keys) == often.size
    assert set(found.keys.tolist()) <= set(book.short_key(kept["keys"][kept["visits"] >= 30]).tolist())
    leading, following = zip(*duel_book.wins_by_burial(2_000), strict=True)
    assert np.mean(leading) == pytest.approx(often.leader, abs=0.03)
    assert np.mean(following) == pytest.approx(1 - often.leader, abs=0.03)


def make_small(monkeypatch: pytest.MonkeyPatch) -> None:
    for constant, size in (("TRIALS", 30_000), ("PASSES", 100_000), ("TABLE_BITS", 16), ("ROUNDS", 100_000)):
        monkeypatch.setattr(duel_adversaries, constant, size)


@pytest.mark.slow
def test_a_bot_is_asked_for_its_own_mixes_where_its_book_ends(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """What it is asked is what it was told in a round that comes there, and then the adversary knows it."""
    monkeypatch.setattr(table_cache, "folder", lambda: tmp_path)
    make_small(monkeypatch)
    options, states = duel_blueprint.dealt(SMALL_SOLVED)
    late = duel_blueprint.average(options, 20_000)
    bot = Frozen(duel_blueprint.no_policy(), duel_blueprint.ALL_PLAYS, late)
    response = duel_adversaries.by_mccfr(options, states, bot, 0)
    ends = duel_adversaries.unknown(options, states, bot, response, 1, 8)
    assert int(ends.visits.sum()) == ends.decided  # it has no book at all
    assert (np.diff(ends.visits) <= 0).all()
    grown = duel_adversaries.with_own_mixes(options, states, bot, ends, 1, 20, 1)
    still = duel_adversaries.unknown(options, states, grown, response, 1, 8)
    assert len(still.keys) == len(set(still.keys.tolist()) - set(ends.keys[:20].tolist()))
    assert int(still.visits.sum()) < still.decided
    for root, path in zip(ends.roots[:20], ends.paths[:20], strict=True):
        start, events = duel_adversaries.events_of(options, states, int(root), path, 1)
        key, _ = duel_adversaries.as_places(start, events, 1, {})
        slot = duel_kernels.table_index(grown.opening.keys, key)
        assert grown.opening.sums[slot].sum() == pytest.approx(1)


@pytest.mark.slow
@pytest.mark.parametrize("bot", ["book", "search"])
def test_adversaries_gain_little_from_the_book_and_much_from_the_search_before_it(
    bot: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In full the strategy is learned if it is not there (minutes); PPO takes part where torch is installed."""
    names = duel_adversaries.available() if WHOLE else ["response", "search"]
    options, states = duel_blueprint.dealt()
    if WHOLE:
        show(capsys, f"adversaries: {', '.join(names)}")
        if not duel_blueprint.FILE.exists():
            duel_blueprint.learn_and_save(duel_blueprint.TRIALS, duel_blueprint.TABLE_BITS)
    else:
        make_small(monkeypatch)
        monkeypatch.setattr(duel_blueprint, "FILE", tmp_path / "blueprint.npz")
        monkeypatch.setattr(duel_adversaries, "SEARCHED_PLAYS", (1, 1))
        duel_blueprint.learn_and_save(3_000, 20)
    streams = duel_adversaries.STREAMS if WHOLE else 1
    infosets_asked = 0 if bot == "search" else duel_adversaries.ASKED if WHOLE else 2
    policies = duel_adversaries.frozen(bot, options, streams)
    known = policies.opening.keys != 0
    assert known.sum() >= 9  # nine leads at least
    if WHOLE and bot == "book":
        # The book was made from the strategy that goes on behind it.
        assert set(book.short_key(policies.opening.keys[known]).tolist()) == set(book.shipped().keys.tolist())
    assert (policies.opening.sums[known].sum(axis=1) > 0).all()
    leader = book.shipped().leader
    for name in names:
        asked = infosets_asked if name == names[0] else 0
        gain, policies = duel_adversaries.measured(name, options, states, policies, asked, streams)
        shares = f"{gain.shares[0]:.2%} as the leader, {gain.shares[1]:.2%} as the other"
        own = f"{gain.own[0]:.1%} and {gain.own[1]:.1%} of its choices are its own"
        show(capsys, f"{name} against {bot}: {shares}, gains {gain.together:.2%}; {own}; {gain.seconds:.0f} CPU s")
        assert -0.2 < gain.together < 0.5
        if WHOLE and bot == "book":
            assert gain.together < 0.02
            assert gain.shares[0] < leader + book.LEADER_ERROR
            assert gain.shares[1] < 1 - leader + book.LEADER_ERROR
        elif WHOLE:
            assert gain.together > 0.05


def matched(one: duel_match.Choose, other: duel_match.Choose, deals: int) -> duel_match.Result:
    pairs = [tuple(duel_match.won(deal, seat, one, other) for seat in range(2)) for deal in range(deals)]
    return duel_match.result(pairs)


@pytest.mark.slow
def test_the_book_is_no_step_back(capsys: pytest.CaptureFixture[str]) -> None:
    deals = 1000 if WHOLE else 2
    found = matched(duel_match.perfect, duel_match.without_book, deals)
    show(capsys, f"against perfect without a book {found.share:.1%} +- {found.off:.1%} of {2 * deals} rounds")
    assert found.share - found.off > 0.47 or not WHOLE
    assert found.share == (found.led + found.followed) / 2


@pytest.mark.slow
def test_the_book_is_no_step_back_against_a_bot_that_errs(capsys: pytest.CaptureFixture[str]) -> None:
    deals = 200 if WHOLE else 1
    now, before = (matched(one, steady.choose, deals) for one in (duel_match.perfect, duel_match.without_book))
    shares = f"{now.share:.1%} +- {now.off:.1%} with the book, {before.share:.1%} +- {before.off:.1%} without it"
    show(capsys, f"against steady in the same {2 * deals} rounds: {shares}")
    assert now.share >= before.share - 0.01 or not WHOLE


# What a match is worth, by sampled rounds


@pytest.mark.slow
def test_a_variant_of_the_opening_that_is_damaged_or_missing_is_worked_out_again_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(table_cache, "folder", lambda: tmp_path)
    whole = solver.opening(SMALL, quiet, 1000)
    name, stamp = (
        f"mccoy-duel opening fair powers={SMALL.powers},passes=1000",
        f"rules {rules.VERSION}, solver {solver.VERSION}",
    )
    for junk in (None, b"", b"junk", bytes(8 * solver.OPENING_VALUES)):
        table = table_cache.load(name, stamp)
        assert table is not None
        if junk is None:
            table_cache.delete(name, stamp)
        else:
            (table.folder / "shares.bin").write_bytes(junk)
        reports: list[int] = []
        again = solver.opening(SMALL, lambda done, *_, reports=reports: reports.append(done), 1000)
        assert all((again[way] == whole[way]).all() for way in solver.VARIANTS)
        assert reports == [1000]  # the second of three variants of 1000 passes each begins there


@pytest.mark.slow
def test_the_value_of_the_lead_says_how_far_off_it_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    """A short search is off, and its interval has to cover a longer one; with all cards the book knows more."""
    eight = rules.Options(powers=notation.read_powers("0123567*"))
    found = []
    for passes in (50_000, 400_000):
        monkeypatch.setattr(solver, "LEAD_PASSES", passes)
        solver.lead_chance.cache_clear()
        found.append(solver.lead_chance(eight))
    solver.lead_chance.cache_clear()
    (short, off), (long, closer) = found
    assert abs(short - long) <= off + closer
    assert 0.005 < off < 0.3
    assert solver.lead_chance(rules.Options()) == (book.shipped().leader, book.LEADER_ERROR)
