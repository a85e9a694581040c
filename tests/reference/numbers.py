"""The four games of numbers: Zero Sum Duel, Positive-Negative, Zero-Sum Grid and Prime Duel."""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import ClassVar

from tests.reference import Expected, Given, Referee, fair

Grid = tuple[int, int, int, int, int, int, int, int, int]


class ZeroSumDuel(Referee):
    defaults: ClassVar[Given] = {"first": "toss", "turns": 0, "top": 5, "hand": 3}

    def __init__(self, options: Given) -> None:
        super().__init__(options)
        top = self.number("top")
        self.deck = [card for card in range(-top, top + 1) if card != 0]
        self.pile: list[int] = []
        self.hands: list[list[int]] = [[], []]  # in the order drawn (Z5)
        self.turns = 0
        self.seat = 0
        self.stage = "toss"
        if self.options["first"] != "toss":
            self.begin(["a", "b"].index(str(self.options["first"])))

    def begin(self, seat: int) -> None:
        self.seat = seat
        self.stage = "draw"

    def expects(self) -> Expected:
        if self.stage == "toss":
            return "chance", fair(["A", "B"])
        if self.stage == "draw":
            # Z4: a draw that finds the deck empty comes from the whole pile.
            return "chance", fair(f"{card:+d}" for card in self.deck or self.pile)
        if self.stage == "discard":
            return self.seat, {f"{card:+d}" for card in self.hands[self.seat]}
        return "over", set()

    def do(self, name: str) -> None:
        hand = self.hands[self.seat]
        if self.stage == "toss":
            self.begin(["A", "B"].index(name))
        elif self.stage == "draw":
            if not self.deck:
                self.deck = self.pile
                self.pile = []
            self.deck.remove(int(name))
            hand.append(int(name))
            if len(hand) > self.number("hand"):
                self.stage = "discard"
            else:
                self.evaluate()
        elif self.stage == "discard":
            hand.remove(int(name))
            self.pile.append(int(name))
            self.evaluate()

    def evaluate(self) -> None:
        """Z1, Z6: only the hand left after the discard counts, and only its owner's."""
        self.turns += 1
        if sum(self.hands[self.seat]) == 0:
            self.end(self.seat, "sum is zero")
        elif self.turns == self.number("turns"):
            self.end(None, "turn limit")
        else:
            self.begin(1 - self.seat)


class PositiveNegative(Referee):
    defaults: ClassVar[Given] = {"top": 10}

    def __init__(self, options: Given) -> None:
        super().__init__(options)
        top = self.number("top")
        self.deck = [card for card in range(-top, top + 1) if card != 0]
        self.pile: list[int] = []
        self.kept: list[list[int]] = [[], []]
        self.card: int | None = None  # drawn, and not yet decided on
        self.seat = 0  # G1: Player 1 always starts
        self.stage = "draw"

    def scores(self) -> list[int]:
        return [sum(cards) for cards in self.kept]

    def expects(self) -> Expected:
        if self.stage in ("draw", "redraw"):
            return "chance", fair(str(card) for card in self.deck)
        if self.stage == "decide":
            return self.seat, {"keep", "discard"}
        return "over", set()

    def do(self, name: str) -> None:
        if self.stage == "draw":
            self.card = int(name)
            self.deck.remove(self.card)
            self.stage = "decide"
        elif self.stage == "redraw":
            self.deck.remove(int(name))
            self.kept[self.seat].append(int(name))
            self.end_turn()
        elif self.stage == "decide":
            assert self.card is not None
            card = self.card
            self.card = None
            if name == "keep":
                self.kept[self.seat].append(card)
                self.end_turn()
            else:
                self.pile.append(card)
                if self.deck:
                    self.stage = "redraw"
                else:
                    self.end_turn()  # P1: no card is left for the second draw

    def end_turn(self) -> None:
        if self.deck:
            self.seat = 1 - self.seat
            self.stage = "draw"
            return
        first, second = self.scores()
        if first == second:
            self.end(None, "same score")
        else:
            self.end(0 if first > second else 1, "higher score")


class ZeroSumGrid(Referee):
    """Cells are numbered 0 to 8, row by row. `order` is the order in which cells are dealt."""

    defaults: ClassVar[Given] = {"first": "toss", "turns": 200, "top": 5, "deal": "winnable", "variant": "sheet"}

    def __init__(self, options: Given, order: tuple[int, ...] = (), laid: Grid | None = None) -> None:
        super().__init__(options)
        self.harvest = self.options["variant"] == "harvest"
        if self.harvest and "turns" not in options:
            self.options["turns"] = 16
        self.points = [0, 0]
        self.line = ""  # the one moved last
        self.starter = 0
        self.top = self.number("top")
        self.order = list(order) if self.options["deal"] == "winnable" else list(range(9))
        self.dealt: list[int] = []
        self.possible: list[Grid] = []  # the grids that can still be dealt, each as likely as any other
        self.cells: list[int] = []
        self.turns = 0
        self.seat = 0
        self.stage = "deal"
        if laid is not None:
            self.deal_ends(laid)
        elif self.options["deal"] == "winnable":
            self.possible = grids_that_can_be_zeroed(self.top)

    def deal_ends(self, cells: Grid) -> None:
        self.cells = list(cells)
        self.possible = []
        self.stage = "toss"
        if self.options["first"] != "toss":
            self.begin(["1", "2"].index(str(self.options["first"])))

    def begin(self, seat: int) -> None:
        self.seat = seat
        if self.turns == 0:
            self.starter = seat
        self.stage = "move"
        if self.harvest and not self.open_moves():
            self.count_points()

    def count_points(self) -> None:
        """R5: the higher score wins, level goes to the second player."""
        first, second = self.points[self.starter], self.points[1 - self.starter]
        if first > second:
            self.end(self.starter, "higher score")
        else:
            self.end(1 - self.starter, "level score" if first == second else "higher score")

    def after(self, name: str) -> list[int]:
        """Return the cells after a move."""
        line, step = int(name[1]) - 1, 1 if name[2] == "+" else -1
        cells = list(self.cells)
        for row in range(3):
            for column in range(3):
                if line == (row if name[0] == "R" else column):
                    cells[3 * row + column] += step
        return cells

    def open_moves(self) -> set[str]:
        moves = {f"{line}{n}{sign}" for line in "RC" for n in (1, 2, 3) for sign in "+-"}
        if not self.harvest:
            return moves
        rested = [name for name in moves if name[:2] != self.line]
        return {name for name in rested if max(abs(cell) for cell in self.after(name)) <= self.top}

    def harvest_move(self, name: str) -> None:
        """R5: score the zeros of the line that was moved; only the number of turns ends the game."""
        self.cells = self.after(name)
        n = int(name[1]) - 1
        line = self.cells[3 * n : 3 * n + 3] if name[0] == "R" else self.cells[n::3]
        self.points[self.seat] += line.count(0)
        self.line = name[:2]
        self.turns += 1
        if self.turns == self.number("turns"):
            self.seat = 1 - self.seat
            self.count_points()
        else:
            self.begin(1 - self.seat)

    def expects(self) -> Expected:
        if self.stage == "deal":
            cell = self.order[len(self.dealt)]
            if self.options["deal"] == "any":
                return "chance", fair(str(n) for n in range(-self.top, self.top + 1) if n != 0)
            return "chance", fair(str(grid[cell]) for grid in self.possible)
        if self.stage == "toss":
            return "chance", fair(["1", "2"])
        if self.stage == "move":
            return self.seat, self.open_moves()
        return "over", set()

    def do(self, name: str) -> None:
        if self.stage == "deal":
            self.deal(int(name))
        elif self.stage == "toss":
            self.begin(["1", "2"].index(name))
        elif self.harvest:
            self.harvest_move(name)
        elif self.stage == "move":
            line = int(name[1]) - 1
            step = 1 if name[2] == "+" else -1
            for row in range(3):
                for column in range(3):
                    if line == (row if name[0] == "R" else column):
                        self.cells[3 * row + column] += step
            self.turns += 1
            if all(cell == 0 for cell in self.cells):
                self.end(self.seat, "grid is zero")
            elif self.turns == self.number("turns"):
                self.end(None, "turn limit")
            else:
                self.begin(1 - self.seat)

    def deal(self, value: int) -> None:
        cell = self.order[len(self.dealt)]
        self.dealt.append(value)
        if self.options["deal"] == "any":
            if len(self.dealt) == 9:
                a, b, c, d, e, f, g, h, i = self.dealt
                self.deal_ends((a, b, c, d, e, f, g, h, i))
            return
        self.possible = [grid for grid in self.possible if grid[cell] == value]
        if len(self.dealt) == len(self.order):
            assert len(self.possible) == 1, "the deal stopped before the grid was known"
            self.deal_ends(self.possible[0])


@cache
def grids_that_can_be_zeroed(top: int) -> list[Grid]:
    """R1: all grids without a 0 whose rows differ from each other by the same amount in each column."""
    values = [n for n in range(-top, top + 1) if n != 0]
    found: list[Grid] = []
    for a in values:
        for b in values:
            for c in values:
                rows = []
                for start in values:
                    row = (start, b + start - a, c + start - a)
                    if all(cell in values for cell in row):
                        rows.append(row)
                for d, e, f in rows:
                    for g, h, i in rows:
                        found.append((a, b, c, d, e, f, g, h, i))
    return found


class PrimeDuel(Referee):
    defaults: ClassVar[Given] = {"first": "toss", "turns": 0, "top": 10, "copies": 4, "target": 50}

    def __init__(self, options: Given) -> None:
        super().__init__(options)
        self.deck = [card for card in range(1, self.number("top") + 1) for _ in range(self.number("copies"))]
        self.pile: list[int] = []
        self.scores = [0, 0]
        self.card: int | None = None  # the first card of the turn, while it is decided on
        self.extra = False
        self.turns = 0
        self.seat = 0
        self.stage = "toss"
        if self.options["first"] != "toss":
            self.begin(["1", "2"].index(str(self.options["first"])))

    def begin(self, seat: int) -> None:
        self.seat = seat
        self.stage = "draw"

    def deck_counts(self) -> list[int]:
        counts = Counter(self.deck)
        return [counts[card] for card in range(1, self.number("top") + 1)]

    def expects(self) -> Expected:
        if self.stage == "toss":
            return "chance", fair(["1", "2"])
        if self.stage in ("draw", "redraw"):
            # Q4: a draw that finds the deck empty comes from the whole pile.
            return "chance", fair(str(card) for card in self.deck or self.pile)
        if self.stage == "decide":
            return self.seat, {"keep", "discard"}
        return "over", set()

    def do(self, name: str) -> None:
        if self.stage == "toss":
            self.begin(["1", "2"].index(name))
        elif self.stage == "draw":
            card = self.draw(name)
            if self.too_much(card):
                self.pile.append(card)  # Q2: nothing is asked
                self.stage = "redraw"
            else:
                self.card = card
                self.stage = "decide"
        elif self.stage == "decide":
            assert self.card is not None
            card = self.card
            self.card = None
            self.pile.append(card)  # Q1: kept or not
            if name == "keep":
                self.score(card)
            else:
                self.stage = "redraw"
        elif self.stage == "redraw":
            card = self.draw(name)
            self.pile.append(card)
            if self.too_much(card):
                self.end_turn()  # Q3: no extra turn, even on a prime
            else:
                self.score(card)

    def draw(self, name: str) -> int:
        if not self.deck:
            self.deck = self.pile
            self.pile = []
        self.deck.remove(int(name))
        return int(name)

    def too_much(self, card: int) -> bool:
        return self.scores[self.seat] + card > self.number("target")

    def score(self, card: int) -> None:
        self.scores[self.seat] += card
        if self.scores[self.seat] == self.number("target"):
            self.turns += 1
            self.extra = False
            self.end(self.seat, "target reached")  # Q6: before the prime check
        elif is_prime(self.scores[self.seat]):
            self.extra = True  # G5: still the same turn
            self.stage = "draw"
        else:
            self.end_turn()

    def end_turn(self) -> None:
        self.turns += 1
        self.extra = False
        if self.turns == self.number("turns"):
            self.end(None, "turn limit")
        else:
            self.begin(1 - self.seat)


def is_prime(n: int) -> bool:
    return n > 1 and all(n % divisor != 0 for divisor in range(2, n))
