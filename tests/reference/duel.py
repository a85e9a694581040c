"""Sean McCoy's Duel for two, three and four players."""

from __future__ import annotations

from typing import ClassVar, NamedTuple

from tests.reference import Expected, Given, Referee, fair

POWERS = "01234567*"
TRUMP = 8


class Card(NamedTuple):
    power: int  # the trump counts 8
    colour: str

    def name(self) -> str:
        return POWERS[self.power] + self.colour


class Duel(Referee):
    """`stage` says what comes next; `seat` is whose turn it is, `target` on whom an ability acts."""

    defaults: ClassVar[Given] = {"players": 2, "rounds": 5, "first": "reveal", "powers": POWERS, "colours": "abcd"}

    def __init__(self, options: Given) -> None:
        super().__init__(options)
        self.seats = self.number("players")
        self.needed = (self.number("rounds") + 1) // 2
        self.in_match = list(range(self.seats))
        self.wins = [0] * self.seats
        # The reveal (D2): the cards each player has shown, who must still show one, and what was shown this time.
        self.shown: list[list[Card]] = [[] for _ in range(self.seats)]
        self.waiting: list[int] = []
        self.latest: dict[int, Card] = {}
        # A round.
        self.round = 1
        self.hands: list[list[Card]] = [[] for _ in range(self.seats)]  # of those put out too, set aside
        self.tower: list[Card] = []  # the last one is on top
        self.buried: list[Card] = []
        self.in_round = list(range(self.seats))
        self.lost: list[int] = []  # in the order in which they were put out
        self.picker = 0  # of the second round and later ones
        self.power: int | None = None  # to beat; nothing before the lead
        self.trumped = False  # 0 may not be played on this one card
        self.stance = False  # Change Stance is in force
        self.seat: int | None = None
        self.target: int | None = None
        self.ability: int | None = None  # while a target is chosen
        if self.options["first"] == "reveal":
            self.stage = "reveal"
            self.waiting = list(self.in_match)
        else:
            self.deal()
            self.seat = self.number("first") - 1

    # What is asked and what may happen

    def expects(self) -> Expected:
        if self.stage == "over":
            return "over", set()
        if self.stage == "next":
            return "chance", fair(["round"])
        if self.stage == "lot":
            return "chance", fair(str(seat + 1) for seat in self.tied())
        if self.stage in ("reveal", "bury", "draw", "feint", "disarm"):
            return "chance", fair(card.name() for card in self.cards())
        assert self.seat is not None
        if self.stage == "pick":
            return self.seat, {str(seat + 1) for seat in self.in_match}
        # D6: a choice with one answer is not asked. D19: a play always is.
        if self.stage == "target":
            seats = [str(seat + 1) for seat in self.targets()]
            return ("chance", fair(seats)) if len(seats) == 1 else (self.seat, set(seats))
        cards = self.cards()
        if self.stage != "play" and len(cards) == 1:
            return "chance", fair([cards[0].name()])
        # D22: the colour is said only where the power alone would not be clear.
        if self.stage == "play":
            return self.seat, {short_name(card, self.hands[self.seat]) for card in cards}
        if self.stage == "give":
            assert self.target is not None
            return self.target, {short_name(card, cards) for card in cards}
        return self.seat, {short_name(card, self.tower) for card in cards}

    def cards(self) -> list[Card]:
        """Return the cards that can be played, chosen or drawn now."""
        if self.stage == "reveal":
            seat = self.waiting[0]
            return [card for card in self.own_cards(seat) if card not in self.shown[seat]]
        if self.stage == "draw":
            return self.buried
        if self.stage in ("kill", "take"):
            return self.tower[:-1]  # D7: any but the card just played
        if self.stage == "copy":
            return [card for card in self.tower[:-1] if card.power != 4]  # D10
        if self.stage in ("bury", "feint", "disarm", "give"):
            assert self.target is not None
            return self.hands[self.target]
        assert self.stage == "play"
        assert self.seat is not None
        return self.playable(self.seat)

    def playable(self, seat: int) -> list[Card]:
        """D5, D11."""
        found = []
        for card in self.hands[seat]:
            if self.power is None or card.power == TRUMP:
                found.append(card)
            elif self.stance:
                if card.power > 5:
                    found.append(card)
            elif card.power < self.power and not (self.trumped and card.power == 0):
                found.append(card)
        return found

    def targets(self) -> list[int]:
        """D14."""
        return [seat for seat in self.in_round if seat != self.seat and self.hands[seat]]

    def own_cards(self, seat: int) -> list[Card]:
        colour = str(self.options["colours"])[seat]
        return [Card(POWERS.index(mark), colour) for mark in POWERS if mark in str(self.options["powers"])]

    def tied(self) -> list[int]:
        """Return who showed the lowest card this time."""
        lowest = min(card.power for card in self.latest.values())
        return [seat for seat, card in self.latest.items() if card.power == lowest]

    def card_called(self, name: str) -> Card:
        for card in self.cards():
            if name in (card.name(), POWERS[card.power]):
                return card
        raise AssertionError(f"no card {name}")

    # What happens

    def do(self, name: str) -> None:
        if self.stage == "reveal":
            self.reveal(self.card_called(name))
        elif self.stage == "lot":
            self.ask_pick(int(name) - 1)
        elif self.stage == "pick":
            self.pick(int(name) - 1)
        elif self.stage == "bury":
            self.bury(self.card_called(name))
        elif self.stage == "play":
            self.play(self.card_called(name))
        elif self.stage == "next":
            self.next_round()
        else:
            self.act(name)

    def reveal(self, card: Card) -> None:
        seat = self.waiting.pop(0)
        self.shown[seat].append(card)
        self.latest[seat] = card
        if self.waiting:
            return
        tied = self.tied()
        if len(tied) == 1:
            self.ask_pick(tied[0])
        elif len(self.shown[tied[0]]) == len(self.own_cards(tied[0])):
            self.stage = "lot"  # all has been shown, and still nobody is lowest
        else:
            self.waiting = tied
            self.latest = {}

    def ask_pick(self, seat: int) -> None:
        self.seat = seat
        self.stage = "pick"

    def pick(self, seat: int) -> None:
        self.seat = seat
        if self.round == 1:
            self.deal()  # D2: in the first round the pick comes before the bury
        else:
            self.ask_play()

    def deal(self) -> None:
        """D21: all cards go back to their colour's owner. Then each player in the match buries one (D3)."""
        self.hands = [self.own_cards(seat) if seat in self.in_match else [] for seat in range(self.seats)]
        self.tower = []
        self.buried = []
        self.in_round = list(self.in_match)
        self.lost = []
        self.beat(None)
        self.stage = "bury"
        self.target = self.in_match[0]

    def bury(self, card: Card) -> None:
        assert self.target is not None
        self.hands[self.target].remove(card)
        self.buried.append(card)
        still = [seat for seat in self.in_match if seat > self.target]
        if still:
            self.target = still[0]
            return
        self.target = None
        if self.round == 1:
            self.ask_play()
        else:
            self.ask_pick(self.picker)

    def ask_play(self) -> None:
        self.stage = "play"

    def beat(self, power: int | None, *, trumped: bool = False) -> None:
        self.power = power
        self.trumped = trumped
        self.stance = False

    def play(self, card: Card) -> None:
        assert self.seat is not None
        self.hands[self.seat].remove(card)
        self.tower.append(card)
        self.beat(card.power)
        self.use(card.power)

    def use(self, power: int) -> None:
        """Begin an ability: ask for what it needs, or end the turn where it has nothing to act on (D6)."""
        if power == 5:
            self.stance = True
            self.end_turn()
        elif power == TRUMP:
            self.beat(TRUMP, trumped=True)
            self.end_turn()
        elif power in (3, 6, 7):
            self.ability = power
            self.ask("target", something=bool(self.targets()))
        else:
            self.ask({0: "kill", 1: "draw", 2: "take", 4: "copy"}[power])

    def ask(self, stage: str, something: bool | None = None) -> None:
        self.stage = stage
        if something is None:
            something = bool(self.cards())
        if not something:
            self.end_turn()

    def act(self, name: str) -> None:
        """Go on with an ability after a choice or a blind draw."""
        assert self.seat is not None
        hand = self.hands[self.seat]
        if self.stage == "target":
            assert self.ability is not None
            self.target = int(name) - 1
            self.stage = {3: "feint", 6: "disarm", 7: "give"}[self.ability]
            self.ability = None
            return
        card = self.card_called(name)
        if self.stage == "copy":
            self.use(card.power)
            return
        if self.stage == "kill":
            self.tower.remove(card)
            self.buried.append(card)
        elif self.stage == "draw":
            self.buried.remove(card)
            hand.append(card)
        elif self.stage == "take":
            self.tower.remove(card)
            hand.append(card)
        else:
            assert self.target is not None
            self.hands[self.target].remove(card)
            if self.stage == "feint":
                self.tower.append(card)
                self.beat(card.power, trumped=card.power == TRUMP)  # D9: no ability, so no stance
            elif self.stage == "disarm":
                self.buried.append(card)
            else:
                hand.append(card)
        self.end_turn()

    def end_turn(self) -> None:
        """Pass clockwise; who cannot play is put out, and the next one faces the same power (D15)."""
        assert self.seat is not None
        self.target = None
        self.ability = None
        while len(self.in_round) > 1:
            self.seat = self.clockwise(self.seat, self.in_round)
            if self.playable(self.seat):
                self.ask_play()
                return
            self.put_out(self.seat)
        self.end_round()

    def clockwise(self, seat: int, among: list[int]) -> int:
        """Return the next of these seats: rising numbers, then round again (D20)."""
        seat = (seat + 1) % self.seats
        while seat not in among:
            seat = (seat + 1) % self.seats
        return seat

    def put_out(self, seat: int) -> None:
        self.in_round.remove(seat)
        self.lost.append(seat)

    def end_round(self) -> None:
        self.seat = self.in_round[0]
        self.target = None
        self.ability = None
        self.wins[self.seat] += 1
        if self.wins[self.seat] == self.needed:
            self.end(self.seat, "rounds won")
        else:
            self.stage = "next"

    def next_round(self) -> None:
        """D4: the first to lose the round before, of those still in the match, will pick."""
        self.round += 1
        self.picker = next(seat for seat in self.lost if seat in self.in_match)
        self.seat = None
        self.deal()

    def resign(self, seat: int) -> None:
        """D4, D20: who leaves counts as put out now, and what they were about to do does not happen."""
        self.in_match.remove(seat)
        if seat in self.in_round:
            self.put_out(seat)
        if len(self.in_match) == 1:
            self.seat = self.in_match[0]
            self.target = None
            self.ability = None
            self.end(self.seat, "resigned")
        elif len(self.in_round) == 1:
            self.end_round()
        elif self.stage == "pick":
            if seat == self.seat:
                self.seat = self.clockwise(seat, self.in_match)
        elif seat == self.seat or (self.stage == "give" and seat == self.target):
            self.end_turn()


def short_name(card: Card, among: list[Card]) -> str:
    """Return the power alone where only one card of these has it, else power and colour."""
    same = [other for other in among if other.power == card.power]
    return POWERS[card.power] if len(same) == 1 else card.name()
