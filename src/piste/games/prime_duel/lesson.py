"""A first game of Prime Duel that teaches: to 20 instead of 50, with primes and cards that are too high."""

from __future__ import annotations

from piste.core.lesson import Lesson, Picture
from piste.core.protocols import HIDDEN
from piste.core.scene import HAND, TRACK, Area, Card, Token
from piste.core.views import SeatView
from piste.games.prime_duel.rules import DECIDE, DONE, Options, View, is_prime


def new_score(view: SeatView) -> int:
    """Return the score that keeping the card would make; 0 if this seat has nothing to decide."""
    p: View = view.position
    return p.scores[view.seat] + p.card + 1 if p.phase == DECIDE and p.seat == view.seat else 0


def start(view: SeatView) -> str:
    p: View = view.position
    if not new_score(view):
        return ""
    return (
        f"You win with exactly {p.options.target} points. Keep this card to add {p.card + 1}, "
        "or discard it: then you must keep the next one."
    )


def exact(view: SeatView) -> str:
    p: View = view.position
    if new_score(view) != p.options.target:
        return ""
    return (
        f"{p.scores[view.seat]} + {p.card + 1} is exactly {p.options.target}: keep it and you win. {too_high(view)}"
    )


def too_high(view: SeatView) -> str:
    return (
        f"Cards that would take you past {view.position.options.target} are discarded without asking; "
        "after two of them your turn is over."
    )


def extra_turn(view: SeatView) -> str:
    p: View = view.position
    if not new_score(view) or not p.extra:
        return ""
    primes = ", ".join(str(n) for n in range(p.options.target) if is_prime(n))
    return f"{p.scores[view.seat]} is a prime, so you have an extra turn! Primes here: {primes}."


def lands_on_prime(view: SeatView) -> str:
    p, score = view.position, new_score(view)
    if not score or not is_prime(score):
        return ""
    return f"Keep it, and {p.scores[view.seat]} + {p.card + 1} = {score} is a prime: another extra turn."


def near_the_end(view: SeatView) -> str:
    p: View = view.position
    near = p.card != HIDDEN and p.scores[view.seat] + p.options.top > p.options.target
    return too_high(view) if near and new_score(view) else ""


def result(view: SeatView) -> str:
    return "" if view.position.phase != DONE else f"That is the whole game. A real one goes to {Options().target}."


def track(own: int, reach: int, note: str) -> Area:
    """Return the way to the target with the learner on it, and where a card would lead."""
    target = Options().target
    token = Token("You", own, note, True, reach)
    return Area(
        TRACK, f"Race to {target}", maximum=target, marks=tuple(filter(is_prime, range(target))), tokens=(token,)
    )


PICTURES = (
    Picture(
        "Draw a card",
        (Area(HAND, "You drew", (Card("5"),)),),
        "Keep the card, and its number is added to your score. Discard it, and you must keep the next one.",
    ),
    Picture(
        "A prime: go again",
        (track(8, 13, "with a 5: 13"),),
        "If your new score is a prime, marked here, you have an extra turn at once.",
    ),
    Picture(
        "Exactly 50",
        (track(44, 50, "with a 6: 50"),),
        "Exactly 50 wins. A card that would take you past 50 is discarded; after two of them your turn is over.",
    ),
)

LESSON = Lesson(
    options={"first": "1", "target": "20"},
    laid="5 10 6 8 8 9 5 8 10 9 1 1",
    seed="first lesson",
    notes=(start, exact, extra_turn, lands_on_prime, near_the_end, result),
    suggested=("keep", "discard", "keep", "keep"),
)
