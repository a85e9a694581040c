"""Prime Duel: how its options, decisions and positions are written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from piste.core.bits import lane, lane_one
from piste.core.errors import DealError, PositionError
from piste.core.game import Deal, Option, quoted, without_plus
from piste.core.position import Fields, broken_limit, ending_fields, number
from piste.core.protocols import HIDDEN
from piste.games.prime_duel import rules
from piste.games.prime_duel.rules import DECIDE, DONE, DRAW, REDRAW, TOSS, Options, State, View

TITLE = "Prime Duel"
CREDIT = ""
SEATS = ("1", "2")
KINDS = ("toss", "draw", "decide", "redraw")
REASONS = {rules.TARGET_REACHED: "target reached", rules.TURN_LIMIT: "turn limit", rules.RESIGNED: "resigned"}
LAID = "deck"
OPTIONS = (
    Option(
        "first", "who takes the first turn", 0, 2, {"toss": 0, "1": 1, "2": 2},
        label="First turn", words={0: "coin toss", 1: "Player 1", 2: "Player 2"},
    ),
    Option(
        "turns", "turn limit for both together, 0 for none", 0, 1_000_000, words={0: "none"},
        label="Turn limit", note="for both together, 0 for none",
    ),
    Option("top", "the highest card", 1, 15, label="Highest card"),
    Option("copies", "how many there are of each card", 1, 15, label="Copies of each card"),
    Option("target", "the score that wins", 1, 1000, label="Winning score"),
)  # fmt: skip

ANSWERS = (("keep", "yes", "y", "k"), ("discard", "no", "n", "d"))


def line(options: Options) -> str:
    return f"Race to exactly {options.target}; landing on a prime number earns an extra turn."


LINE = line(Options())


def check(options: Options) -> str:
    return ""


def name(options: Options, kind: int, action: int) -> str:
    if kind == TOSS:
        return SEATS[action]
    return ANSWERS[action][0] if kind == DECIDE else str(action + 1)


def decisions(view: View, kind: int) -> Iterable[int]:
    return (rules.KEEP, rules.DISCARD)


def spell(view: View, action: int) -> tuple[str, ...]:
    return ANSWERS[action]


def why_not(view: View, action: int) -> str:
    return f"You cannot {ANSWERS[action][0]} now."


def lay(options: Options, text: str) -> Deal:
    left = [options.copies] * options.top
    cards = []
    for word in text.replace(",", " ").split():
        key = without_plus(word)
        if not (key.isascii() and key.isdigit() and len(key) < 4 and 1 <= int(key) <= options.top):
            raise DealError(
                f"This deck cannot be laid: {quoted(word)} is not a card of this game (1 to {options.top})."
            )
        card = int(key) - 1
        if left[card] == 0:
            raise DealError(f"This deck cannot be laid: there are only {options.copies} cards with {card + 1}.")
        left[card] -= 1
        cards.append(card)
    return Deal(rules.start(options), frozenset({DRAW, REDRAW}), tuple(cards))


def fields(s: State) -> Mapping[str, str]:
    texts = {
        "1": str(s.scores[0]),
        "2": str(s.scores[1]),
        "deck": ",".join(str(lane(s.deck, i)) for i in range(s.options.top)),
        "to": SEATS[s.seat],
        "phase": (*KINDS, "over")[s.phase],
        "turns": str(s.turns),
    }
    if s.card != HIDDEN:
        texts["card"] = str(s.card + 1)
    if s.extra:
        texts["extra"] = "yes"
    return texts | (ending_fields(s, SEATS, REASONS) if s.phase == DONE else {})


def build(options: Options, fields: Mapping[str, str]) -> State:
    f = Fields(fields)
    scores = (f.number("1", 0, options.target), f.number("2", 0, options.target))
    counts = f.words("deck")
    if len(counts) != options.top:
        raise PositionError(f"The field 'deck' has {len(counts)} counts: one for each card from 1 to {options.top}.")
    deck = sum(
        lane_one(i) * number(f"count of card {i + 1} in the deck", text, 0, options.copies)
        for i, text in enumerate(counts)
    )
    seat = f.choice("to", SEATS)
    phase = f.choice("phase", (*KINDS, "over"))
    turns = f.number("turns", 0, options.turns or 10**9)
    extra = f.choice("extra", ("no", "yes"), "no")
    winner, reason = f.ending(SEATS, REASONS) if phase == DONE else (HIDDEN, 0)
    held = phase == DECIDE or reason == rules.RESIGNED
    card = f.number("card", 1, options.top) - 1 if held else HIDDEN
    f.end()
    s = State(options, phase, seat, scores, deck, card, extra, turns, winner, reason)
    complaint = broken(s)
    if complaint:
        raise PositionError(complaint)
    return s


def broken(s: State) -> str:
    """Return which rule a position breaks, or ""."""
    target, mine = s.options.target, s.scores[s.seat]
    if s.card != HIDDEN and lane(s.deck, s.card) == s.options.copies:
        return f"All cards with {s.card + 1} are in the deck: none of them can have been drawn."
    if s.card != HIDDEN and mine + s.card + 1 > target:
        return f"A {s.card + 1} would carry the score past {target}: there is nothing to decide (Q2)."
    if s.phase == TOSS:
        if s.options.first:
            return f"With first={s.options.first} there is no toss."
        fresh = s == rules.start(s.options)
        return "" if fresh else "Before the toss all cards are in the deck and both scores are 0; write to=1."
    whole = s.deck == rules.whole_deck(s.options)
    if whole and (s.phase == REDRAW or s.turns or s.extra):
        return "The whole deck is there, but a card has been drawn: at least that one lies on the pile."
    if s.extra and not rules.is_prime(mine):
        return f"An extra turn is earned with a prime score, and {mine} is none."
    ended_by_a_turn = s.phase == DONE and s.reason != rules.RESIGNED
    # Turns that the mover and the other have ended.
    done = (s.turns // 2 + s.turns % 2, s.turns // 2) if ended_by_a_turn else (s.turns // 2, s.turns - s.turns // 2)
    for score, ended in ((0 if s.extra else mine, done[0]), (s.scores[1 - s.seat], done[1])):
        if score and not ended:
            return f"A player who has not had a turn yet has no points, not {score}."
    # A turn does not end on a prime score, unless both its cards would have gone past the target (Q3).
    turn_over = [1 - s.seat]
    if s.reason == rules.TURN_LIMIT or not (s.extra or ended_by_a_turn):
        turn_over.append(s.seat)
    for seat in turn_over:
        score = s.scores[seat]
        if rules.is_prime(score) and score + s.options.top <= target:
            why = f"A turn does not end with {score} points: a prime earns an extra turn."
            if ended_by_a_turn:
                return why
            extra = "extra=yes" if seat == s.seat else f"to={SEATS[seat]} turns={s.turns - 1} extra=yes"
            return f"{why} If it is being played, write {extra}."
    gone = [s.options.copies - lane(s.deck, i) - (s.card == i) for i in range(s.options.top)]
    # Two draws a turn at most, and an extra turn for each prime passed on the way: fewer than the cards there are
    # means that nothing was reshuffled yet, and every point was drawn from what is gone.
    extras = sum(rules.is_prime(n) for score in s.scores for n in range(score + 1))
    points = sum(n * (i + 1) for i, n in enumerate(gone))
    if 2 * (s.turns + 1 + extras) <= s.options.top * s.options.copies and sum(s.scores) > points:
        return f"The cards that were drawn are worth {points} points together, not {sum(s.scores)}."
    if not ended_by_a_turn:
        drawn = 0 if s.card == HIDDEN else lane_one(s.card)
        first_turn = s.turns == 0 and not s.extra
        if first_turn and s.phase == REDRAW and sum(gone) != 1:
            return "In the first turn one card has been drawn before a second one."
        if first_turn and s.phase != REDRAW and s.deck + drawn != rules.whole_deck(s.options):
            return "In the first turn no card has been drawn before: the others are all in the deck."
    started = s.seat if (s.turns - ended_by_a_turn) % 2 == 0 else 1 - s.seat
    if s.options.first and started != s.options.first - 1:
        return f"With first={s.options.first} it cannot be Player {SEATS[s.seat]} after {s.turns} turns."
    reached = [score == target for score in s.scores]
    if s.phase == DONE and s.reason == rules.TARGET_REACHED:
        fine = s.winner == s.seat and reached[s.seat] and not reached[1 - s.seat] and s.turns > 0
        return "" if fine else f"The winner has not reached {target}."
    if any(reached):
        return f"A score of {target} ends the game."
    return broken_limit(s, s.phase == DONE, s.reason == rules.TURN_LIMIT)
