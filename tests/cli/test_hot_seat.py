"""Two or three people at one keyboard: what one of them sees does not depend on what only another may know."""

from __future__ import annotations

import random
from collections import defaultdict

import pytest

from piste.cli.players import seat_players
from piste.cli.session import Session
from piste.cli.terminal import Terminal
from piste.core.dealer import ScriptedDealer
from piste.core.game import find
from piste.core.protocols import CHANCE
from piste.core.record import Head
from piste.core.replay import seated
from tests.cli.terminal_user import Keyboard, Page
from tests.game_setups import Kind, games, walked
from tests.test_secrecy import another_history, prefixes

KINDS = (
    Kind("zero-sum-duel", {"turns": 60}),
    Kind("mccoy-duel", {"rounds": 3}),
    Kind("mccoy-duel", {"players": 3, "rounds": 1}),
)


class Watched(Page):
    """A page that remembers who held the screen when something was written."""

    session: Session | None = None

    def __init__(self) -> None:
        super().__init__()
        self.seen: dict[int, list[str]] = defaultdict(list)
        self.order: list[tuple[int, str]] = []

    def without(self, seat: int) -> str:
        """Return everything that was written while another than this seat held the screen."""
        return "".join(text for holder, text in self.order if holder != seat)

    def write(self, text: str) -> int:
        self.order.append((-1 if self.session is None else self.session.holder, text))
        self.seen[-1 if self.session is None else self.session.holder].append(text)
        return super().write(text)


def shown(kind: Kind, steps: tuple[int, ...]) -> dict[int, bytes]:
    """Play a history at one keyboard; return, for each seat, every byte written while it held the screen."""
    page = page_of(kind, steps)
    assert page.session is not None
    return {seat: "".join(page.seen[seat]).encode() for seat in range(page.session.table.seats)}


def page_of(kind: Kind, steps: tuple[int, ...]) -> Watched:
    """Play a history at one keyboard; return the page."""
    game = find(kind.game)
    options = game.options(kind.options)
    chance: list[int] = []
    decided: list[int] = []
    for s, step in walked(kind, steps):
        if step is not None:
            (chance if game.rules.to_act(s) == CHANCE else decided).append(step)
    count = game.rules.seats(options)
    head = Head(game, options, tuple(f"Player {game.seat_name(i)}" for i in range(count)), None, None)
    page = Watched()
    table, recorder = seated(head, dealer=ScriptedDealer(chance))
    answers = iter(decided)

    def typed() -> str:
        if "ress Enter" in page.getvalue().rpartition("\n")[2]:
            page.write("\n")
            return "\n"
        actor, step = table.to_act, next(answers, None)
        if actor is None or step is None:
            raise EOFError
        view = table.view(actor)
        name = view.decisions[view.actions.index(step)]
        page.write(name + "\n")
        return name + "\n"

    terminal = Terminal(page, Keyboard(typed), colour=False)
    page.session = Session(head, table, recorder, seat_players(game, head.options, ["you"] * count), terminal)
    with pytest.raises(EOFError):
        page.session.run()
    assert table.history() == steps
    return page


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_the_screen_tells_a_seat_nothing_it_may_not_know(kind: Kind) -> None:
    compared = 0
    for seed in range(games(10) // 100 + 10):
        chooser = random.Random(seed)
        cuts = prefixes(kind, f"hot seat {seed}")
        if not cuts:
            continue
        steps = chooser.choice(cuts)
        for seat in range(find(kind.game).rules.seats(find(kind.game).options(kind.options))):
            other = another_history(kind, steps, seat, chooser)
            if other is not None:
                one, two = shown(kind, steps), shown(kind, other)
                assert one[seat] == two[seat]
                compared += one != two
    assert compared > 3, "no two screens ever differed for anybody: the test would show nothing"


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_the_screen_is_cleared_before_another_person_gets_it(kind: Kind) -> None:
    steps = max((prefixes(kind, f"clear {seed}") for seed in range(9)), key=len)[-1]
    game = find(kind.game)
    page_of = shown(kind, steps)
    assert all(len(text) > 0 for text in page_of.values())
    everything = b"".join(page_of.values())
    assert everything.count(b"\x1b[3J") >= game.rules.seats(game.options(kind.options))


# Positive-Negative: a card is private from the draw to the decision (P2, P6)

PRIVATE_DRAW = Kind("positive-negative", {"top": 3})


def test_p6_the_other_looks_away_from_the_draw_to_the_decision() -> None:
    compared = 0
    for seed in range(12):
        chooser = random.Random(seed)
        steps = chooser.choice(prefixes(PRIVATE_DRAW, f"look away {seed}"))
        for seat in (0, 1):
            other = another_history(PRIVATE_DRAW, steps, seat, chooser)
            if other is not None:
                # What is written while the other one alone may look is not seen; everything else is.
                one, two = (page_of(PRIVATE_DRAW, history) for history in (steps, other))
                assert one.without(1 - seat) == two.without(1 - seat)
                compared += one.getvalue() != two.getvalue()
    assert compared > 3


def test_p6_one_enter_for_a_turn_and_nothing_is_cleared() -> None:
    steps = max((prefixes(PRIVATE_DRAW, f"turns {seed}") for seed in range(9)), key=len)[-1]
    text = page_of(PRIVATE_DRAW, steps).getvalue()
    asked = text.count("press Enter when only you can see the screen")
    assert asked == text.count("'s Turn]") > 3
    assert "\x1b[" not in text.partition("End of Game")[0]
