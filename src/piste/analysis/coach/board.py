"""A position from its text, to be studied: what its seat sees, what can come next, and what each decision is worth.

The text is a position that everybody knows, or what one seat knows; it is all that is used here.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from piste.core.belief import event_text
from piste.core.dealer import Dealer, RandomStream
from piste.core.errors import IllegalDecisionError, PositionError
from piste.core.evaluation import Choice, Evaluation, Progress, described, quiet
from piste.core.extras import solver_of
from piste.core.game import Game, quoted
from piste.core.information_set import InformationSet
from piste.core.position import Position
from piste.core.protocols import CHANCE, HIDDEN, OVER, SPECTATOR
from piste.core.steps import apply_step, tell_step
from piste.core.table import Table
from piste.core.views import LogEntry, SeatView

MAX_STEPS = 60
"""How many of the things that can come next are listed."""

MAX_DENOMINATOR = 60
"""The largest of a probability that is written as a fraction."""


class NextStep(NamedTuple):
    """Something that can come next."""

    name: str
    seat: int  # who does it or whose card it is; HIDDEN if nobody
    words: str


class Board(NamedTuple):
    """A position as it is laid out to be studied."""

    game: str
    position: str  # as the notation writes it
    seat: int  # whose knowledge it is
    to_act: int  # a seat, CHANCE or OVER, as rules have it
    whole: bool  # whether everybody knows the whole position
    views: tuple[SeatView, ...]  # what the seat sees; where everybody knows everything, what each seat sees
    steps: tuple[NextStep, ...]  # what can come next, if it is no decision of the seat

    @property
    def view(self) -> SeatView:
        """What the seat sees."""
        return self.views[self.seat if len(self.views) > 1 else 0]


class Worth(NamedTuple):
    """What a position is worth, with a sentence for each decision where the game has them."""

    evaluation: Evaluation
    reasons: tuple[str, ...]  # in the order of the evaluation's choices


def read(text: str) -> InformationSet:
    """Return what a text describes: a position that everybody knows, or what one seat knows."""
    return InformationSet.parse(text) if "|" in text else InformationSet.common(Position.parse(text))


def board(text: str) -> Board:
    """Return a position as it is laid out."""
    known = read(text)
    game = known.base.game
    state = next(iter(known.belief.states))
    actor, whole = next_actor(known), not known.events
    own = seat_view(known)
    views = [own]
    if whole and known.seat != SPECTATOR:
        seats = range(game.rules.seats(state.options))
        views = [own if seat == known.seat else seat_view(InformationSet.common(known.base, seat)) for seat in seats]
    steps = () if actor in (known.seat, OVER) else next_steps(known)
    return Board(game.name, written(known), known.seat, actor, whole, tuple(views), steps)


def written(known: InformationSet) -> str:
    """Return the shortest text: the seat to act goes without saying where everybody knows the position."""
    usual = InformationSet.common(known.base).seat
    return str(known.base) if not known.events and known.seat == usual else str(known)


def seat_view(known: InformationSet) -> SeatView:
    """Return a view that a seat with this knowledge could have; its log is one that fits."""
    game, seat, state = known.base.game, known.seat, known.base.state
    opening, log = game.rules.look(state, seat), []
    for step in known.belief.retell(RandomStream(b"piste board", str(known))):
        event, state = tell_step(game.rules, state, step, seat), apply_step(game.rules, state, step)
        log.append(LogEntry(event, game.rules.look(state, seat)))
    actor = game.rules.to_act(state)
    decisions = game.decision_names(state) if actor == seat else {}
    return SeatView(
        game=game.name, options=state.options, seat=seat, number=0,
        kind=HIDDEN if actor == OVER else game.rules.kind(state), position=game.rules.look(state, seat),
        decisions=tuple(decisions), actions=tuple(decisions.values()), opening=opening, log=tuple(log),
        origin=str(known.base), counts=False, ending=game.ending(state) if actor == OVER else None,
    )  # fmt: skip


def next_steps(known: InformationSet) -> tuple[NextStep, ...]:
    """Return what can come next, by name and in words."""
    game, options = known.base.game, known.base.state.options
    if not known.events:
        outcomes = known.base.outcomes()
        if outcomes:
            kind = game.kind_name(game.rules.kind(known.base.state))
            steps = [
                NextStep(name, HIDDEN, f"{kind} {name} ({share_text(share)})") for name, share in outcomes.items()
            ]
        else:
            actor = game.rules.to_act(known.base.state)
            steps = [NextStep(name, actor, name) for name in known.base.decisions()]
        return tuple(steps[:MAX_STEPS])
    events = []
    for event in known.belief.next_events():
        what = "unseen" if event.what == HIDDEN else game.notation.name(options, event.kind, event.what)
        words = what if what.isalpha() and event.what != HIDDEN else f"{game.kind_name(event.kind)} {what}"
        events.append(NextStep(event_text(game, options, event), event.seat, words))
    return tuple(events[:MAX_STEPS])


def share_text(share: Fraction) -> str:
    """Return how likely an outcome is: exactly, where people can read that."""
    exact = share.denominator <= MAX_DENOMINATOR
    return f"{share.numerator} in {share.denominator}" if exact else f"{100 * float(share):.1f} %"


def first_position(game: Game) -> str:
    """Return what the player who decides first knows then, in the first game of a fixed seed."""
    table = Table(game, game.options(), Dealer("piste board"), counts=False)
    return written(InformationSet.of(game, table.view(table.to_act or 0)))


def follow(text: str, step: str) -> str:
    """Return the text of the position after a decision of its seat, or after something else that can come next.

    What must come then, such as a card that nobody but its owner sees, comes at once.
    """
    known = after(read(text), step)
    while next_actor(known) == CHANCE and len(forced := next_steps(known)) == 1:
        known = after(known, forced[0].name)
    return written(known)


def next_actor(known: InformationSet) -> int:
    return known.base.game.rules.to_act(next(iter(known.belief.states)))


def after(known: InformationSet, step: str) -> InformationSet:
    """Return what is known after a step."""
    if not known.events:
        return InformationSet.common(known.base.after(step))
    game, seat, state = known.base.game, known.seat, next(iter(known.belief.states))
    event = step
    if next_actor(known) == seat:
        legal, kind = game.rules.legal(state), game.rules.kind(state)
        action = game.read_decision(game.rules.look(state, seat), kind, legal, step)
        event = event_text(game, state.options, game.rules.tell(state, action, seat))
    return heard(known, event)


def heard(known: InformationSet, event: str) -> InformationSet:
    """Return what a seat knows after one more event, from the last position on that everybody then knows."""
    game = known.base.game
    *parts, _ = str(known).split("|")
    seats = [game.seat_name(seat) for seat in range(game.rules.seats(known.base.state.options))]
    first_error: PositionError | None = None
    for actor in (*seats, "chance", "over"):
        try:
            longer = "|".join([*parts[:2], f"{parts[2].rstrip()} {event} ", f" {actor}"])
            return InformationSet.of(game, seat_view(InformationSet.parse(longer)))
        except PositionError as e:
            first_error = first_error or e
    raise first_error or PositionError(f"{quoted(event)} cannot come next.")


def position_of(game: Game, view: SeatView) -> str:
    """Return the text of what a seat of a finished game knew at a step."""
    return written(InformationSet.of(game, view))


def evaluate(text: str, progress: Progress = quiet) -> Worth:
    """Return what a position is worth, and why, as far as that is known."""
    known = read(text)
    game, state = known.base.game, next(iter(known.belief.states))
    if next_actor(known) == OVER:
        raise IllegalDecisionError("The game is over in this position.")
    if known.seat == SPECTATOR:
        raise PositionError("This is what a watcher knows; values are computed for a seat. Write a seat instead.")
    solver = solver_of(game, state.options)
    evaluation = described(solver.evaluate(known, progress), known)
    return Worth(evaluation, reasons(game, seat_view(known), evaluation))


def reasons(game: Game, view: SeatView, evaluation: Evaluation) -> tuple[str, ...]:
    """Return a sentence on each decision, "" where the game has none."""
    explain = game.explain
    return tuple(
        "" if explain is None else sentence(str(explain.why(view, evaluation, choice.action)))
        for choice in evaluation.choices
    )


def sentence(text: str) -> str:
    """Return words as a sentence."""
    return text and f"{text[0].upper()}{text[1:]}{'' if text.endswith('.') else '.'}"


def by_value(worth: Worth) -> list[tuple[Choice, str]]:
    """Return the decisions with their reasons, the best first."""
    both = zip(worth.evaluation.choices, worth.reasons, strict=True)
    return sorted(both, key=lambda one: -one[0].value)
