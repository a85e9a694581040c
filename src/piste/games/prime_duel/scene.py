"""Prime Duel as a browser draws it: two scores on their way to the target, and what is left in the deck."""

from __future__ import annotations

from functools import lru_cache

from piste.core.bits import lane, lane_one
from piste.core.game import counted
from piste.core.protocols import HIDDEN
from piste.core.scene import (
    CARDS,
    HAND,
    SCORE,
    TRACK,
    Area,
    Card,
    Score,
    Standing,
    Token,
    other_seats,
    player_name,
    turn_standing,
)
from piste.core.views import SeatView
from piste.games.prime_duel import notation
from piste.games.prime_duel.rules import DECIDE, DISCARD, KEEP, Options, View, is_prime, whole_deck
from piste.games.prime_duel.text import size

EMBLEM = Area(HAND, notation.TITLE, tuple(map(Card, "2357")))


LONGEST_TRACK = 100  # squares; a longer way to the target is drawn as bars


def scene(view: SeatView, names: tuple[str, ...]) -> tuple[Area, ...]:
    position: View = view.position
    in_hand = 0 if position.card == HIDDEN else lane_one(position.card)
    pile = whole_deck(position.options) - position.deck - in_hand  # Q1: as in the words' picture
    areas = [race(view, names)]
    areas.append(
        Area(CARDS, "Deck", stacks(position.options, position.deck), counts(position.options, position.deck))
    )
    used = tuple(card for card in stacks(position.options, pile) if not card.dim)
    areas.append(Area(CARDS, "Pile", used, counts(position.options, pile)))
    if not in_hand:
        return tuple(areas)
    drew = Area(HAND, f"{player_name(view, names, position.seat)} drew", (Card(str(position.card + 1)),))
    drew = drew._replace(seat=position.seat)  # which all may see (Q5)
    return (*areas, drew) if position.seat == view.seat else (areas[0], drew, *areas[1:])


def race(view: SeatView, names: tuple[str, ...]) -> Area:
    """Return the way to the target: its primes, both players, and where the card drawn would bring its owner."""
    position: View = view.position
    target = position.options.target
    order = [*other_seats(view.seat, len(names)), *([view.seat] if view.seat >= 0 else [])]
    tokens = tuple(token(view, names, seat) for seat in order)
    if target > LONGEST_TRACK:
        return Area(SCORE, f"Race to {target}", maximum=target, tokens=tokens)
    return Area(TRACK, f"Race to {target}", maximum=target, marks=primes_below(target), tokens=tokens)


@lru_cache(maxsize=64)
def primes_below(target: int) -> tuple[int, ...]:
    return tuple(n for n in range(target) if is_prime(n))


def token(view: SeatView, names: tuple[str, ...], seat: int) -> Token:
    position: View = view.position
    score = position.scores[seat]
    decides = position.phase == DECIDE and seat == position.seat
    reach = score + position.card + 1 if decides and position.card != HIDDEN else HIDDEN
    return Token(player_name(view, names, seat), score, note(view, seat), seat == view.seat, reach)


def note(view: SeatView, seat: int) -> str:
    position: View = view.position
    if position.extra and seat == position.seat and view.ending is None:
        return "prime: extra turn"
    return "prime" if is_prime(position.scores[seat]) else ""


def question(view: SeatView, _names: tuple[str, ...]) -> str:
    return f"You drew {view.position.card + 1}. Keep it?"


def choice_texts(view: SeatView) -> dict[int, tuple[str, str]]:
    """Return where keeping leads (Q6: the target goes before the primes), and what discarding obliges to (Q3)."""
    position: View = view.position
    score, target = position.scores[view.seat] + position.card + 1, position.options.target
    what = "you win" if score == target else "prime: extra turn" if is_prime(score) else "not prime: turn ends"
    return {
        KEEP: (f"Keep → {score}", what),
        DISCARD: ("Discard", f"the next card counts unless over {target}"),
    }


def standing(view: SeatView, _names: tuple[str, ...]) -> Standing:
    position: View = view.position
    scores = tuple(Score(str(score), "prime" if is_prime(score) else "") for score in position.scores)
    turn = turn_standing(view, scores)
    return turn if turn.label or view.ending else Standing(scores, "Race to", str(position.options.target))


def stacks(options: Options, cards: int) -> tuple[Card, ...]:
    """Return every card there is, with how many of it; faint where there is none."""
    return tuple([stack(i + 1, lane(cards, i)) for i in range(options.top)])


@lru_cache(maxsize=256)
def stack(number: int, many: int) -> Card:
    return Card(str(number), f"{counted(many, 'card')} with {number}", dim=many == 0, copies=many)


def counts(options: Options, cards: int) -> str:
    return counted(size(options, cards), "card") if cards else "empty"
