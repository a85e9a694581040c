"""A finished game step by step, from the view of any seat, with the coach's review: a graph and comments."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from piste.core.errors import IllegalDecisionError
from piste.core.evaluation import IN_CHANCES, Unit
from piste.core.game import Game, counted, listed
from piste.core.protocols import HIDDEN, RESIGNS, SPECTATOR
from piste.core.scene import HAND, Area, Standing
from piste.core.views import SeatView
from piste.web.tables.again import can_try_again, decision_after
from piste.web.tables.bot_runner import ReviewStatus
from piste.web.tables.results import result
from piste.web.tables.room import Room
from piste.web.tables.transcript import Transcript
from piste.web.views.view_models import scene, standing, untouchable

NOTHING_YET = ReviewStatus()
LEAST_LOSS = 0.0005  # a smaller one is rounding
MAX_COMPARED = 3  # decisions whose chances stand beside a comment
# In percent. Who made no mistake and kept less than this of what could be lost had little to lose.
LOW_ACCURACY = 50
YOU = "You"  # who has no name, to themselves


class ReplayStep(NamedTuple):
    """One step of a finished game."""

    code: str
    game: str
    title: str
    people: tuple[str, ...]  # by seat, as whoever looks calls them
    labels: tuple[str, ...]  # what the seats are called in the game, as the review names them
    step: int
    first: int  # the one to begin with: a deal of which nothing is told until its end is left out
    steps: int  # the last one
    seat: int  # from whose view; SPECTATOR for that of nobody, with all hands open
    own: int  # the seat of whoever looks; SPECTATOR if none
    areas: tuple[Area, ...]
    standing: Standing
    lines: tuple[str, ...]  # what was said at this step
    result: str
    review: Mapping[str, Any] | None  # the coach's document, once there is one
    reviewing: bool = False  # the coach is still at work: the document is there as far as it goes
    progress: float = 0.0  # of the coach, from 0 to 1
    note: str = ""  # how the coach's numbers are known
    failed: str = ""  # why the review is not finished, or why there is none
    resumable: bool = False  # the coach can go on with it
    to_act: int = SPECTATOR  # whose turn it is: who decides, draws or is dealt a card next
    again: int = HIDDEN  # after so many steps the viewer can try again against bots; HIDDEN if not here
    analyse: int = 0  # the step whose position the analysis board shows: after a decision, the one before it
    analyse_seat: int = SPECTATOR  # and whose knowledge of it: after a decision, that of who decided


class ChancesGraph(NamedTuple):
    """Winning chances in a box of 1000 by 100: lines, marked decisions and the current step."""

    title: str  # whose chances they are, and by whose knowledge
    lines: tuple[tuple[str, str, str], ...]  # name, points, the chance at this step in percent
    marks: tuple[tuple[int, float, float, str], ...]  # which line, where, what it is called
    now: float  # where the current step is
    labelled: tuple[tuple[int, str], ...]  # step and sentence of each decision that the coach labels
    scale: tuple[str, str, str] = ("100 %", "50 %", "0 %")  # from the top


class Summary(NamedTuple):
    """How one seat played, in a line."""

    who: str
    text: str  # how many decisions, how good they were, and what the coach calls them
    step: int  # after the decision that cost most; 0 if none did
    cost: str


def replay_step(
    room: Room, step: int, seat: int, review: str | None, status: ReviewStatus = NOTHING_YET, own: int = SPECTATOR
) -> ReplayStep:
    """Return one step of a finished game; a step or seat that does not exist is brought to the nearest.

    Below 0 it is the one to begin with. `review` is the coach's finished document; while there is none, `status`
    holds it as far as it goes. `own` is the seat of whoever looks, from whichever seat that is.
    """
    if room.table is None or room.transcript is None or not room.over:
        raise IllegalDecisionError("The game is not over: it can be seen again when it is.")
    seat = seat if 0 <= seat < room.table.seats else SPECTATOR
    view = room.table.view(seat)
    names = room.names()
    # In the labels of the table a nameless player stays "Player 1" to others, as in "Player 1's hand".
    people = tuple(YOU if i == own and not room.seats[i].name else name for i, name in enumerate(names))
    ending = room.table.ending()
    assert ending is not None
    text = status.partial_review if review is None else review
    document: dict[str, Any] = json.loads(text) if text else {}
    failed = str(document.get("failed", "")) if review else ""
    labels = tuple(room.game.seat_name(i) for i in range(room.table.seats))
    deciders = room.transcript.deciders
    if step < 0:
        step = costliest(document if review else {}, "" if seat == SPECTATOR else labels[seat])
        if not step:  # the first decision is ahead
            step = next((at for at, decider in enumerate(deciders) if decider != SPECTATOR), 0)
    first = first_step(room.transcript, seat, len(view.log))
    step = max(first, min(step, len(view.log)))
    decided = step > 0 and deciders[step - 1] != SPECTATOR
    again = step - 1 if can_try_again(room, own) and decision_after(room, own, step - 1) is not None else HIDDEN
    areas = scene(room.game, view.at_step(step), names)
    if seat == SPECTATOR:  # the game is over: nothing has to be hidden any more
        areas = with_open_hands(
            areas,
            {
                one: scene(room.game, untouchable(room.table.view(one).at_step(step)), names)
                for one in range(room.table.seats)
            },
        )
    return ReplayStep(
        code=room.code,
        game=room.game.name,
        title=room.game.notation.TITLE,
        people=people,
        labels=labels,
        step=step,
        first=first,
        steps=len(view.log),
        seat=seat,
        own=own,
        areas=areas,
        standing=standing(room.game, view.at_step(step), names),
        lines=tuple(lines_at(room.transcript, seat, step, first)) or (event_sentence(room.game, view, step, names),),
        result=result(ending, names, own),
        review=document if "decisions" in document else None,
        reviewing=review is None,
        progress=status.fraction,
        note=str(document.get("certainty", "")),
        failed=failed,
        resumable=bool(failed and document.get("resumable")),
        to_act=turn_at(view, deciders, step),
        again=again,
        analyse=step - decided,
        analyse_seat=deciders[step - 1] if decided else seat,
    )


def first_step(transcript: Transcript, seat: int, steps: int) -> int:
    """Return the step to begin with: 0, or the first one of which something is told if a deal comes before it."""
    if not steps or transcript.lines_at(seat, 1):
        return 0
    return next((step for step in range(1, steps + 1) if transcript.lines_at(seat, step)), 0)


def lines_at(transcript: Transcript, seat: int, step: int, first: int) -> list[str]:
    """Return what was said at a step; at the one to begin with, also what was said before."""
    before = transcript.lines_at(seat, 0) if step == first > 0 else []
    return before + transcript.lines_at(seat, step)


def with_open_hands(areas: tuple[Area, ...], seen: Mapping[int, tuple[Area, ...]]) -> tuple[Area, ...]:
    """Return a table with the hands of these seats open, as each sees its own: `seen` has their tables by seat."""
    hands = {
        area.seat: area
        for seat, table in seen.items()
        for area in table
        if area.kind == HAND and area.seat == seat != SPECTATOR
    }
    return tuple(
        hands[area.seat]._replace(label=area.label) if area.kind == HAND and area.seat in hands else area
        for area in areas
    )


def turn_at(view: SeatView, deciders: Sequence[int], step: int) -> int:
    """Return whose turn it is after so many steps: who decides next, or whose card or throw comes next."""
    if step >= len(view.log):
        return SPECTATOR
    if deciders[step] != SPECTATOR:
        return deciders[step]
    seat = view.log[step].event.seat
    return SPECTATOR if seat == HIDDEN else seat


def costliest(review: Mapping[str, Any], seat: str) -> int:
    """Return the step of the decision that cost most, of this seat if it lost anything; 0 if none did."""
    costly = [one for one in review.get("decisions", ()) if one["loss"] > max(LEAST_LOSS, margin_of(one))]
    own = [one for one in costly if one["seat"] == seat]
    return max((own or costly), key=lambda one: one["loss"])["step"] + 1 if costly else 0


def event_sentence(game: Game, view: SeatView, step: int, names: tuple[str, ...]) -> str:
    """Return what happened at a step, where the game's text says nothing of it."""
    if step == 0:
        return "The game begins."
    event = view.log[step - 1].event
    who = "" if event.seat == HIDDEN else f"{'You' if event.seat == view.seat else names[event.seat]}: "
    if event.kind == RESIGNS:
        return f"{who}resigned."
    what = "" if event.what == HIDDEN else f" {game.notation.name(view.options, event.kind, event.what)}"
    return f"{who}{game.kind_name(event.kind)}{what}."


def chances_graph(replay: ReplayStep) -> ChancesGraph | None:
    """Return the graph of a reviewed game: the chances of the seat from whose view it is seen, or of every seat."""
    review = replay.review or {}
    chances = review.get("chances", ())
    if not chances and not replay.reviewing:  # a graph without lines keeps the place of the one that is to come
        return None
    wide, first = 1000 / max(1, replay.steps - replay.first), replay.first
    who = dict(zip(replay.labels, replay.people, strict=False))
    known = chances[0] if chances else replay.labels
    seats = [label for i, label in enumerate(replay.labels) if label in known and replay.seat in (i, SPECTATOR)]
    by = "each" if len(seats) > 1 else who[seats[0]].lower() if who[seats[0]] == YOU else who[seats[0]]
    unit = Unit(review.get("largest_payoff"))
    what, scale = "Chance of winning", ("100 %", "50 %", "0 %")
    if unit.largest is not None:
        what, scale = "Expected payoff", (f"+{unit.largest:g}", "0", f"−{unit.largest:g}")
    lines, marks, labelled = [], [], []
    for label in seats:
        points = " ".join(
            f"{i * wide:.1f},{100 * (1 - moment[label]):.1f}" for i, moment in enumerate(chances[first:])
        )
        now = now_text(chances[replay.step][label], unit) if replay.step < len(chances) else "–"
        lines.append((who[label], points, now))
    for decision in review.get("decisions", ()):
        if decision["label"]:
            step = decision["step"] + 1
            if decision["seat"] in seats:
                height = 100 * (1 - chances[min(step, len(chances) - 1)][decision["seat"]])
                marks.append((seats.index(decision["seat"]), (step - first) * wide, height, decision["label"]))
            cost = f"{cost_text(decision, unit)} of {'winning chance' if unit.largest is None else 'expected payoff'}"
            sentence = f"{who[decision['seat']]}: {told(decision)}, {decision['label']}, {cost}"
            labelled.append((step, sentence))
    title, now_at = f"{what}, as {by} saw it", (replay.step - first) * wide
    return ChancesGraph(title, tuple(lines), tuple(marks), now_at, tuple(labelled), scale)


def now_text(chance: float, unit: Unit) -> str:
    return f"{100 * chance:.0f} %" if unit.largest is None else unit.value(chance)


def cost_text(decision: Mapping[str, Any], unit: Unit) -> str:
    """Return what a decision cost, with how far that may be off."""
    margin = margin_of(decision)
    beside = f" ± {unit.amount(margin)}" if unit.shows(margin) else ""
    return f"{unit.amount(decision['loss'])}{beside}{' %' if unit.largest is None else ''}"


def told(decision: Mapping[str, Any]) -> str:
    """Return a decision with its card; old stored reviews have its short name alone."""
    return str(decision.get("told") or decision["decision"])


def margin_of(decision: Mapping[str, Any]) -> float:
    """Return by how much a loss may be off; old stored reviews do not say it themselves."""
    return float(decision.get("margin", 2 * decision.get("within", 0.0)))


def coach_comment(replay: ReplayStep) -> dict[str, Any] | None:
    """Return the coach's comment on the decision that led to this step, if it was one."""
    if replay.review is None:
        return None
    for decision in replay.review["decisions"]:
        if decision["step"] == replay.step - 1:
            who = dict(zip(replay.labels, replay.people, strict=True))[decision["seat"]]
            clear = decision["loss"] > margin_of(decision)
            unit = Unit(replay.review.get("largest_payoff"))
            extra = {"who": who, "cost": cost_text(decision, unit), "told": told(decision), "best_why": ""}
            made = {**extra, **decision}
            made |= {
                key: with_names(str(made.get(key) or ""), replay.labels, replay.people)
                for key in ("told", "why", "best_why")
            }
            return {**made, "clear": clear, "compared": compared(decision, unit)}
    return None


def with_names(text: str, labels: Sequence[str], names: Sequence[str]) -> str:
    """Return a sentence of the coach with people's names in it; "Player 1 (you)" keeps its verbs right."""
    people = {f"Player {label}": name for label, name in zip(labels, names, strict=False)}

    def named(found: re.Match[str]) -> str:
        return f"{found[0]} (you)" if people[found[0]] == YOU else people[found[0]]

    return re.sub("|".join(rf"{re.escape(player)}\b" for player in people), named, text)


def compared(decision: Mapping[str, Any], unit: Unit = IN_CHANCES) -> tuple[tuple[str, str, bool], ...]:
    """Return the best decisions and the one that was made: name, chance and whether it was made; the best first."""
    choices = sorted(decision.get("choices", ()), key=lambda one: -one["chance"])
    made = decision["decision"]
    shown = choices[:MAX_COMPARED]
    if len(choices) < 2 or made not in [one["decision"] for one in choices]:
        return ()  # such as a resignation
    if made not in [one["decision"] for one in shown]:
        shown = [*shown[:-1], *(one for one in choices if one["decision"] == made)]
    return tuple((one["decision"], unit.value(one["chance"]), one["decision"] == made) for one in shown)


def summaries(replay: ReplayStep) -> tuple[Summary, ...]:
    """Return how the seat played from whose view the game is seen, or every seat; () before the review is done."""
    if replay.review is None or replay.reviewing:
        return ()
    found = []
    for column in replay.review.get("columns", ()):
        seat = replay.labels.index(column["seat"])
        if replay.seat not in (seat, SPECTATOR) or not column.get("decisions"):
            continue
        own = [one for one in replay.review["decisions"] if one["seat"] == column["seat"]]
        named = Counter(one["label"] for one in own if one["label"]) or {"mistake": 0}
        faults = listed([counted(many, label) if many else "no mistakes" for label, many in named.items()], "and")
        accuracy = "" if column["accuracy"] is None else f", {column['accuracy']:.0f} % accuracy"
        if not any(named.values()) and (column["accuracy"] or 0) < LOW_ACCURACY:
            accuracy, faults = "", f"{faults}: little depended on them" if accuracy else faults
        text = f"{counted(column['decisions'], 'decision')}{accuracy}, {faults}"
        step = costliest({"decisions": own}, column["seat"])
        cost = next(
            (cost_text(one, Unit(replay.review.get("largest_payoff"))) for one in own if one["step"] == step - 1), ""
        )
        found.append(Summary(replay.people[seat], text, step, cost))
    return tuple(found)
