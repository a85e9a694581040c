"""Zero Sum Duel: how its options, decisions and positions are written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from piste.core.bits import count, signed_sum, signed_value
from piste.core.cards import laid_deck, listed_cards, placed
from piste.core.errors import PositionError
from piste.core.game import Deal, Option, counted
from piste.core.position import Fields, broken_limit, ending_fields
from piste.core.protocols import HIDDEN
from piste.games.zero_sum_duel import rules
from piste.games.zero_sum_duel.rules import DISCARD, DONE, DRAW, TOSS, Options, State, View

TITLE = "Zero Sum Duel"
CREDIT = ""
SEATS = ("A", "B")
KINDS = ("toss", "draw", "discard")
REASONS = {rules.SUM_IS_ZERO: "sum is zero", rules.TURN_LIMIT: "turn limit", rules.RESIGNED: "resigned"}
LAID = "deck"
OPTIONS = (
    Option(
        "first", "who takes the first turn", 0, 2, {"toss": 0, "a": 1, "b": 2},
        label="First turn", words={0: "coin toss", 1: "Player A", 2: "Player B"},
    ),
    Option(
        "turns", "turn limit for both together, 0 for none", 0, 1_000_000, words={0: "none"},
        label="Turn limit", note="for both together, 0 for none",
    ),
    Option(
        "top", "the highest card; there is one of each from -top to +top", 3, 15,
        label="Highest card", note="the lowest is its negative",
    ),
    Option("hand", "how many cards a player may keep", 2, 14, label="Cards in a hand"),
)  # fmt: skip


def line(options: Options) -> str:
    many = {2: "two", 3: "three", 4: "four", 5: "five"}.get(options.hand, str(options.hand))
    return f"Draw and discard until the cards you keep, {many} at most, sum to zero."


LINE = line(Options())


def check(options: Options) -> str:
    if options.hand >= options.top:
        return (
            f"With cards up to {options.top} a hand has at most {options.top - 1} cards, not {options.hand}: "
            "otherwise a draw could find neither deck nor pile."
        )
    return ""


def card_name(top: int, card: int) -> str:
    return f"{signed_value(top, card):+d}"


def name(options: Options, kind: int, action: int) -> str:
    return SEATS[action] if kind == TOSS else card_name(options.top, action)


def decisions(view: View, kind: int) -> Iterable[int]:
    return range(2 * view.options.top)


def spell(view: View, action: int) -> tuple[str, ...]:
    short = card_name(view.options.top, action)
    return (short, short.removeprefix("+"))


def why_not(view: View, action: int) -> str:
    return f"You cannot discard {card_name(view.options.top, action)}: it is not in your hand."


def lay(options: Options, text: str) -> Deal:
    return Deal(rules.start(options), frozenset({DRAW}), laid_deck(options.top, text, card_name))


def fields(s: State) -> Mapping[str, str]:
    top = s.options.top
    return {
        "A": listed_cards(top, s.hands[0], card_name),
        "B": listed_cards(top, s.hands[1], card_name),
        "pile": listed_cards(top, rules.pile(s), card_name),
        "to": SEATS[s.seat],
        "phase": (*KINDS, "over")[s.phase],
        "turns": str(s.turns),
        **(ending_fields(s, SEATS, REASONS) if s.phase == DONE else {}),
    }


def build(options: Options, fields: Mapping[str, str]) -> State:
    f = Fields(fields)
    everything = rules.every_card(options)
    places = placed(options.top, f, (*SEATS, "pile"), card_name)
    hands = (places[0], places[1])
    seat = f.choice("to", SEATS)
    phase = f.choice("phase", (*KINDS, "over"))
    turns = f.number("turns", 0, options.turns or 10**9)
    winner, reason = f.ending(SEATS, REASONS) if phase == DONE else (HIDDEN, 0)
    f.end()
    s = State(options, phase, seat, hands, everything & ~sum(places), turns, winner, reason)
    complaint = broken(s)
    if complaint:
        raise PositionError(complaint)
    return s


def broken(s: State) -> str:
    """Return which rule a position breaks, or ""."""
    most = s.options.hand
    mine, other = s.hands[s.seat], s.hands[1 - s.seat]
    me, you = SEATS[s.seat], SEATS[1 - s.seat]
    waiting = s.phase == DISCARD or (s.phase == DONE and s.reason == rules.RESIGNED)
    for label, cards, limit in ((me, mine, most + waiting), (you, other, most)):
        if count(cards) > limit:
            has = counted(count(cards), "card")
            return f"The hand of Player {label} has {has}, but at most {limit} are possible here."
    if s.phase == TOSS:
        if s.options.first:
            return f"With first={SEATS[s.options.first - 1].lower()} there is no toss."
        fresh = s == rules.start(s.options)
        return "" if fresh else "Before the toss there are no cards in hands or pile, no turns, and A is named."
    if waiting and count(mine) != most + 1:
        return f"Player {me} has {counted(count(mine), 'card')}: there is nothing to discard."
    held = count(mine) + count(other) - (count(mine) > most)
    if held != min(s.turns, 2 * most):
        should = counted(min(s.turns, 2 * most), "card")
        return f"After {counted(s.turns, 'turn')} the hands hold {should} together, not {held}."
    shorter = count(mine) if s.phase != DONE or s.reason == rules.RESIGNED else count(other)
    if s.turns < 2 * most and shorter != s.turns // 2:
        return "The hands differ by more cards than turns allow, or it is the other player's turn."
    # Every turn after the hands are full adds a discard; a draw that finds the deck empty takes them all (Z4).
    discards, spare = max(s.turns - 2 * most, 0), 2 * s.options.top - 2 * most
    in_pile = discards % spare if waiting else (discards - 1) % spare + 1 if discards else 0
    if count(rules.pile(s)) != in_pile:
        return (
            f"After {counted(s.turns, 'turn')} the pile has {counted(in_pile, 'card')}, not {count(rules.pile(s))}."
        )
    started = s.seat if s.turns % 2 == 0 else 1 - s.seat
    if s.phase == DONE and s.reason != rules.RESIGNED:
        started = 1 - started
    if s.options.first and started != s.options.first - 1:
        return f"With first={SEATS[s.options.first - 1].lower()} it cannot be Player {me} after {s.turns} turns."
    return broken_end(s)


def broken_end(s: State) -> str:
    """Return what is wrong with how the game ended, or did not, or ""."""
    held = [seat for seat in (0, 1) if s.hands[seat] and signed_sum(s.options.top, s.hands[seat]) == 0]
    # Four cards are not yet a hand (Z7), so those of a player who is to discard say nothing.
    zero = [SEATS[seat] for seat in held if count(s.hands[seat]) <= s.options.hand]
    won = s.phase == DONE and s.reason == rules.SUM_IS_ZERO
    if won and (s.winner != s.seat or SEATS[s.seat] not in zero):
        return "The winner's hand does not sum to zero."
    earlier = [label for label in zero if not won or label != SEATS[s.seat]]
    if earlier:
        return f"The hand of Player {earlier[0]} sums to zero already: the game was over then (Z6)."
    if won:
        return ""
    return broken_limit(s, s.phase == DONE, s.reason == rules.TURN_LIMIT)
