"""A first game of Prime Duel that teaches: to 20 instead of 50, with primes and cards that are too high."""

from __future__ import annotations

from piste.core.bits import lane
from piste.core.game import counted
from piste.core.lesson import Lesson, Picture
from piste.core.scene import HAND, TRACK, Area, Card, Token
from piste.core.views import SeatView
from piste.games.prime_duel.rules import DECIDE, DISCARD, DONE, Options, View, is_prime


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
    score = p.scores[view.seat]
    if new_score(view) != p.options.target:
        return ""
    stayed = is_prime(score) and not p.extra
    why = f" To stay on {score} gave no extra turn: your score has to reach a prime." if stayed else ""
    return f"{score} + {p.card + 1} is exactly {p.options.target}: keep it and you win.{why}"


def thrown_away(view: SeatView) -> str:
    """Tell of a discard that would have won, at the next decision or at the end."""
    if not new_score(view) and not result(view):
        return ""
    decided = [
        at for at, entry in enumerate(view.log) if entry.event.kind == DECIDE and entry.event.seat == view.seat
    ]
    if not decided or view.log[decided[-1]].event.what != DISCARD:
        return ""
    before: View = view.at_step(decided[-1]).position
    score, target = before.scores[view.seat], before.options.target
    if score + before.card + 1 != target:
        return ""
    card = before.card + 1
    return f"The {card} that you discarded would have won: {score} + {card} = {target}. {result(view)}".strip()


def extra_turn(view: SeatView) -> str:
    p: View = view.position
    if not new_score(view) or not p.extra:
        return ""
    return f"{p.scores[view.seat]} is a prime, marked on the track: you have an extra turn. {prospects(view)}"


def prospects(view: SeatView) -> str:
    """Say whether keeping reaches a prime and, if not, how many cards would after a discard."""
    p, score = view.position, new_score(view)
    if is_prime(score):
        return f"{p.card + 1} makes {score}, a prime too."
    goals = {n for n in range(p.options.target) if is_prime(n)} | {p.options.target}
    left = [lane(p.deck, at) for at in range(p.options.top)]
    good = sum(many for at, many in enumerate(left) if p.scores[view.seat] + at + 1 in goals)
    what = f"{good} of {counted(sum(left), 'card')} make a prime or {p.options.target}"
    return f"{p.card + 1} makes {score}, not a prime. Discard it, and {what}."


def near_the_end(view: SeatView) -> str:
    """Tell of cards that are too high before the first of them can come."""
    p, score = view.position, new_score(view)
    if not score or score + p.options.top <= p.options.target:
        return ""
    prime = f"{p.card + 1} makes {score}, a prime: an extra turn. " if is_prime(score) else ""
    return (
        f"{prime}A card that would take you past {p.options.target} is discarded without asking. "
        "You see at most two cards a turn."
    )


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
        "If your new score is a prime, marked here, you have an extra turn at once. To stay on a prime gives none.",
    ),
    Picture(
        "Exactly 50",
        (track(44, 50, "with a 6: 50"),),
        "Exactly 50 wins. A card that would take you past 50 is discarded. You see at most two cards a turn.",
    ),
)

LESSON = Lesson(
    options={"first": "1", "target": "20"},
    laid="5 10 6 8 8 9 5 8 10 9 1 7",
    seed="first lesson",
    notes=(start, exact, thrown_away, extra_turn, near_the_end, result),
    suggested=("keep", "discard", "keep", "keep"),
)
