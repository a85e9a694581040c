"""Secrets stay secret: two games that differ only in what a seat may not know look the same to it, byte for byte.

The list of secrets stands here, in the test's own words (Z3, P2, D3, D8, D12, D13, D15, the dealer's future). It is
not asked of the code under test: a second history is found with the rules alone, never with what seats are told.
"""

from __future__ import annotations

import contextlib
import pickle
import random
import threading
from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest
from mcp import Client

import piste
import piste.bots
from piste.analysis.arena.match import play_out
from piste.bots import tasks
from piste.bots.prompts import CHOICES, PromptStyle, instructions, question
from piste.cli.commands.mcp.local_games import LocalGame
from piste.cli.commands.mcp.server import GameServer
from piste.core.dealer import Dealer, RandomStream, ScriptedDealer
from piste.core.game import find
from piste.core.presentation import EventContext
from piste.core.protocols import CHANCE, OVER, SPECTATOR
from piste.core.replay import new_head, seated
from piste.core.views import SeatView
from tests.cli.mcp_client import Answer, call, with_client
from tests.game_setups import FULL, ODD, Kind, actions, choices, games, played, walked
from tests.limits import PATIENCE_S
from tests.sizes import sized

HIDING = tuple(kind for kind in (*FULL, *ODD) if kind.game in ("zero-sum-duel", "positive-negative", "mccoy-duel"))
OPEN = tuple(kind for kind in (*FULL, *ODD) if kind not in HIDING)


def is_secret(kind: Kind, s: Any, seat: int, *, last: bool) -> bool:
    """Say whether `seat` may not know which action is taken at s."""
    what = find(kind.game).kind_name(find(kind.game).rules.kind(s))
    if kind.game == "zero-sum-duel":
        return what == "draw" and s.seat != seat  # Z3
    if kind.game == "positive-negative":
        return what == "draw" and s.seat != seat and last  # P2: public as soon as it is decided on
    if what in ("bury", "disarm"):
        return bool(s.target != seat)  # D3, D12
    if what == "draw":
        return bool(s.seat != seat)  # D8
    return what == "give" and seat not in (s.seat, s.target)  # D13


def must_agree(kind: Kind, s: Any) -> bool:
    """Say whether everything is shown at s: after a game (G9), after a round of Duel (D15)."""
    rules = find(kind.game).rules
    return rules.to_act(s) == OVER or find(kind.game).kind_name(rules.kind(s)) == "next"


def another_history(kind: Kind, steps: tuple[int, ...], seat: int, chooser: random.Random) -> tuple[int, ...] | None:
    """Return a different legal history in which only secrets of others differ, or None if none was found."""
    rules = find(kind.game).rules
    states = [s for s, _ in walked(kind, steps)]
    budget = 4000
    stack: list[tuple[Any, tuple[int, ...]]] = [(states[0], ())]
    while stack and budget:
        budget -= 1
        s, so_far = stack.pop()
        at = len(so_far)
        if at == len(steps):
            if so_far != steps:
                return so_far
            continue
        secret = is_secret(kind, states[at], seat, last=at == len(steps) - 1)
        possible = choices(kind, s)
        if not secret:
            possible = [step for step in possible if step == steps[at]]
        chooser.shuffle(possible)
        for step in possible:
            after = rules.apply(s, step)
            same = (rules.to_act(after), rules.kind(after)) == (
                rules.to_act(states[at + 1]),
                rules.kind(states[at + 1]),
            )
            if same and (not must_agree(kind, after) or after == states[at + 1]):
                stack.append((after, (*so_far, step)))
    return None


def moments(kind: Kind, steps: tuple[int, ...]) -> Iterator[piste.Table]:
    """Yield the table of a history, before its first decision and after each."""
    rules = find(kind.game).rules
    chance = [step for s, step in walked(kind, steps) if step is not None and rules.to_act(s) == CHANCE]
    decided = [
        (rules.to_act(s), step) for s, step in walked(kind, steps) if step is not None and rules.to_act(s) >= 0
    ]
    table = piste.open_table(kind.game, kind.options, outcomes=chance)
    yield table
    for actor, step in decided:
        table.decide(actor, step)
        yield table
    assert table.history() == steps


def screens(kind: Kind, steps: tuple[int, ...], seat: int) -> list[bytes]:
    """Return, as bytes, everything a seat has before it at every decision of a history."""
    views = [table.view(seat) for table in moments(kind, steps)]
    return [*(repr(view).encode() for view in views), repr(log_lines(kind, views[-1])).encode()]


STYLES = [
    *(PromptStyle(legal, "none") for legal in CHOICES["legal"]),
    # A position as text lists every world that a seat thinks possible, which takes seconds in the largest setups.
    *(PromptStyle("shown", "none", *chosen) for chosen in product(CHOICES["notation"], CHOICES["memory"])),
]


def prompts(view: SeatView) -> list[bytes]:
    """Return, in every style, what a language model in this seat is asked; nothing if another is to act."""
    if not view.actions:
        return []
    whole = [instructions(view, PromptStyle(rules=length)).encode() for length in CHOICES["rules"]]
    return [*whole, *(question(view, style).encode() for style in STYLES)]


def log_lines(kind: Kind, view: SeatView) -> list[list[str]]:
    """Return what a browser says of each event, to a seat."""
    log = find(kind.game).log
    if log is None:
        return []
    names = ("Ada", "Ben", "Cleo", "Dan")[: find(kind.game).rules.seats(view.options)]
    told = [EventContext(view.seat, names, view.opening, view.log[: at + 1]) for at in range(len(view.log))]
    return [log.start(view, names), *map(log.lines, told)]


def prefixes(kind: Kind, seed: object) -> list[tuple[int, ...]]:
    """Return the histories up to each decision of a random game."""
    rules = find(kind.game).rules
    history = actions(played(kind, seed).history())
    return [history[:at] for at, (s, _) in enumerate(walked(kind, history)) if rules.to_act(s) >= 0]


@pytest.mark.parametrize("kind", HIDING, ids=str)
def test_a_seat_cannot_tell_apart_what_it_may_not_know(kind: Kind) -> None:
    found = 0
    seats = find(kind.game).rules.seats(find(kind.game).options(kind.options))
    for seed in range(games(6) // 100 + 6):
        chooser = random.Random(seed)
        cuts = prefixes(kind, f"secrets {seed}")
        if not cuts:
            continue
        steps = chooser.choice(cuts)
        for seat in (SPECTATOR, *range(seats)):
            other = another_history(kind, steps, seat, chooser)
            if other is not None:
                found += 1
                assert screens(kind, steps, seat) == screens(kind, other, seat)
    assert found > 0, "no second history was ever found: the test would show nothing"


def tool_answers(kind: Kind, steps: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> list[Answer]:
    """Return all that the tools of `piste mcp` say to the first seat after a history, while the others think."""
    rules = find(kind.game).rules
    head = new_head(kind.game, kind.options)._replace(seed=None, commitment=None)
    chance = [step for s, step in walked(kind, steps) if step is not None and rules.to_act(s) == CHANCE]
    table, recorder = seated(head, None, ScriptedDealer(chance))
    for s, step in walked(kind, steps):
        if step is not None and rules.to_act(s) >= 0:
            table.decide(rules.to_act(s), step)
    assert table.history() == steps
    # Of a hint the secrecy is tested, not the strength: any bot is given the same view.
    monkeypatch.setattr(piste.bots, "best", lambda game, *_: piste.bots.find("steady", game))
    stop, choose = threading.Event(), tasks.choose

    def think(game: str, level: str, view: SeatView, stream: RandomStream) -> int:
        assert view.seat == 0 or stop.wait(PATIENCE_S)
        return choose(game, level, view, stream)

    monkeypatch.setattr(tasks, "choose", think)

    async def use(client: Client, server: GameServer) -> list[Answer]:
        server.jobs.wait_s = PATIENCE_S if table.to_act == 0 else 0
        game = LocalGame("game-1", head, table, recorder, None, server.jobs)
        monkeypatch.setattr(server.games, "get", lambda _: game)
        named = {"game_id": "game-1"}
        return [
            await call(client, "look", **named),
            await call(client, "look", whole_log=True, **named),
            await call(client, "decide", decision="unheard of", **named),
            await call(client, "decide", decision="keep", question=10**6, **named),
            await call(client, "review", **named),
            await call(client, "hint", **named),
        ]

    try:
        return with_client(use)
    finally:
        stop.set()
        monkeypatch.undo()


@pytest.mark.parametrize("kind", HIDING, ids=str)
def test_tools_say_the_same_in_games_that_their_seat_cannot_tell_apart(
    kind: Kind, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = find(kind.game).rules
    found = 0
    for seed in range(12):
        chooser = random.Random(f"tools {seed}")
        history = actions(played(kind, f"tools {seed}").history())
        cuts = [history[:at] for at, (s, _) in enumerate(walked(kind, history)) if rules.to_act(s) >= 0]
        steps = chooser.choice(cuts) if cuts else ()
        other = another_history(kind, steps, 0, chooser) if cuts else None
        if other is not None:
            found += 1
            answers = tool_answers(kind, steps, monkeypatch)
            assert answers == tool_answers(kind, other, monkeypatch)
            assert [answer.refused for answer in answers[:-1]] == [False, False, True, True, True]
            assert answers[-1].refused == ("It is not your turn." in answers[0].text)
        if found == 3:
            return
    assert found > 0, "no second history was ever found: the test would show nothing"


@pytest.mark.parametrize("kind", HIDING, ids=str)
def test_a_language_model_is_asked_the_same_where_its_seat_knows_the_same(kind: Kind) -> None:
    compared = 0
    rules = find(kind.game).rules
    for seed in range(sized(3, 12)):
        chooser = random.Random(seed)
        cuts = prefixes(kind, f"prompts {seed}")
        for steps in chooser.sample(cuts, min(4, len(cuts))):
            *_, (last, _) = walked(kind, steps)
            seat = rules.to_act(last)
            other = another_history(kind, steps, seat, chooser)
            if other is not None:
                *_, here = moments(kind, steps)
                *_, there = moments(kind, other)
                asked = prompts(here.view(seat))
                assert any(b"Open to you: " in prompt for prompt in asked)
                assert asked == prompts(there.view(seat))
                compared += 1
                if compared == sized(1, 2):
                    return
    if kind.game != "positive-negative":  # there nothing is secret to the one who is to decide
        assert compared > 0, "no second history was ever found: the test would show nothing"


class GoesOn:
    """Gives the outcomes it was given, then deals from a seed."""

    def __init__(self, outcomes: list[int], seed: str) -> None:
        self._left = list(reversed(outcomes))
        self._then = piste.Dealer(seed)

    def outcome(self, game: piste.Game, state: Any) -> int:
        return self._left.pop() if self._left else self._then.outcome(game, state)


@pytest.mark.parametrize("kind", [*HIDING, *OPEN], ids=str)
def test_nobody_sees_what_the_dealer_will_bring(kind: Kind) -> None:
    """The same game so far, with dealers that would go on differently: what comes later must not show now."""
    rules = find(kind.game).rules
    for seed in range(4):
        for steps in prefixes(kind, f"future {seed}")[:12]:
            chance = [step for s, step in walked(kind, steps) if step is not None and rules.to_act(s) == CHANCE]
            game = find(kind.game)
            tables = [
                piste.Table(game, game.options(kind.options), GoesOn(chance, future))
                for future in ("one", "two", "six")
            ]
            for table in tables:
                for s, step in walked(kind, steps):
                    if step is not None and rules.to_act(s) >= 0:
                        table.decide(rules.to_act(s), step)
            for seat in (SPECTATOR, *range(tables[0].seats)):
                assert len({repr(table.view(seat)) for table in tables}) == 1


@pytest.mark.parametrize("kind", [*HIDING, *OPEN], ids=str)
def test_no_view_holds_a_state_or_the_seed(kind: Kind) -> None:
    rules = find(kind.game).rules
    table = piste.open_table(kind.game, kind.options, seed="quite-a-secret")
    for seat in (SPECTATOR, *range(table.seats)):
        view = table.view(seat)
        assert "quite-a-secret" not in repr(view)
        assert not any(isinstance(part, rules.State) for part in (*view, *(told.after for told in view.log)))
        sent = pickle.dumps(table.view(seat))  # what a worker gets, or a bot's process
        assert pickle.loads(sent) == view
        assert not any(secret in sent for secret in (b"quite-a-secret", b"State", b"Table", b"Dealer"))


@pytest.mark.parametrize("kind", [*HIDING, *OPEN], ids=str)
def test_a_bot_is_given_no_way_back_to_the_table(kind: Kind) -> None:
    views: list[SeatView] = []

    class Curious:
        name = "curious"

        def choose(self, view: SeatView, stream: RandomStream) -> int:  # noqa: ARG002
            views.append(view)
            raise EOFError

        def close(self) -> None:
            pass

    for seed in ("1", "2", "3", "4"):  # chance alone may end a game
        table = piste.open_table(kind.game, kind.options, seed=seed)
        with contextlib.suppress(EOFError):
            play_out(table, Dealer(seed), [Curious()] * table.seats)
    assert views
    assert not any(hasattr(view, "_later") for view in views)


@pytest.mark.parametrize("kind", [*HIDING, *OPEN], ids=str)
def test_a_view_that_is_read_late_is_what_it_would_have_been_at_once(kind: Kind) -> None:
    early: list[SeatView] = []
    late: list[SeatView] = []
    for read in (early, late):
        table = piste.open_table(kind.game, kind.options, seed="read late")
        chooser = random.Random(str(kind))
        for _ in range(12):
            views = [table.view(seat) for seat in (SPECTATOR, *range(table.seats))]
            if read is early:
                repr(views)
            read.extend(views)
            if table.to_act is not None:
                table.decide(table.to_act, chooser.choice(table.view(table.to_act).actions))
    assert late == early
