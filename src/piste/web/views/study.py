"""What the pages of puzzles, progress and the analysis board show, ready to be drawn."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from piste.analysis.coach.board import Board
from piste.analysis.coach.progress import Average, GameProgress, first_and_last
from piste.core.evaluation import ESTIMATED, WITHIN, Chances, Choice, Evaluation, Unit
from piste.core.game import Game, find, tidy
from piste.core.presentation import Drawn, EventContext, Pause
from piste.core.protocols import CHANCE, HIDDEN, OVER
from piste.core.scene import with_minus_sign
from piste.core.views import SeatView
from piste.web.study.tasks import SolvedPuzzle
from piste.web.views.replay import YOU, with_names, with_open_hands
from piste.web.views.view_models import (
    PLAYING,
    Person,
    TableViewModel,
    choices,
    question,
    scene,
    standing,
    untouchable,
)

MAX_EVENTS = 10  # that a puzzle tells: what the seat was told last
GAVE_UP = "none"  # what stands for an answer in an address if somebody wanted to be shown it
LEAST_LOSS = 0.0005  # a smaller difference is rounding
LEAST_MIX = 0.005


class Value(NamedTuple):
    """What one decision is worth."""

    decision: str  # its short name
    name: str  # what it is called on its button, if that has the short name in it
    label: str  # what it means, where the name does not say it
    points: float  # the chance to win, a draw as half a win; or the payoff from 0 to 1
    shown: str  # the same in words: a per cent, how it ends where that is certain, or the expected payoff
    chances: str  # of a win and of a draw, where there are draws
    less: str  # than the best: "4.2 %", or "0.33" of a payoff; "" for the best
    mix: str  # how often the best play takes it; "" if there is one best decision
    reason: str
    best: bool  # and another one is not
    chosen: bool
    in_payoff: bool  # whether values are expected payoffs


class Verdict(NamedTuple):
    """The answer to a puzzle, and what each decision is worth."""

    right: bool
    title: str
    text: str
    values: tuple[Value, ...]
    known: str
    how: str


class Streak(NamedTuple):
    """What a device has answered of one kind of puzzles."""

    asked: int = 0
    right: int = 0
    row: int = 0
    best: int = 0
    last: int = 0  # the number of the last one that was counted

    def after(self, number: int, right: bool, *, every: bool = False) -> Streak:
        """Return the counts after an answer; with `every`, one that was left out ends the row."""
        before = 0 if every and number > self.last + 1 else self.row
        row = before + 1 if right else 0
        return Streak(self.asked + 1, self.right + right, row, max(self.best, row), number)


def seat_names(game: Game, view: SeatView, given: Sequence[str] = ()) -> tuple[str, ...]:
    """Return what the seats are called: as given, if that is a name for each, or by the game's own names."""
    names = tuple(f"Player {name}" for name in game.notation.SEATS[: game.rules.seats(view.options)])
    return tuple(given) if len(given) == len(names) and all(given) else names


def solver_names(game: Game, view: SeatView) -> tuple[str, ...]:
    """Return what the seats of a puzzle are called to whoever solves it."""
    return tuple(YOU if seat == view.seat else name for seat, name in enumerate(seat_names(game, view)))


def study_model(
    game: Game, view: SeatView, to_act: int, *, decide: str = "", names: tuple[str, ...] = ()
) -> TableViewModel:
    """Return a position as a table shows it, for the seat whose view it is; decisions go to the address `decide`."""
    names = seat_names(game, view, names)
    prompt = game.text.ask(view, names) if view.actions and decide else None
    shown = view if prompt else untouchable(view)
    model = TableViewModel(
        game=game.name, title=game.notation.TITLE, seat=view.seat, stage=PLAYING, decide=decide,
        options=tuple(game.option_texts(view.options, changed_only=True).items()),
        people=tuple(
            Person(i, name, "", you=i == view.seat, turn=i == to_act)
            for i, name in enumerate(names)
        ),
        standing=standing(game, view, names), areas=scene(game, shown, names), tips=game.tips(view.options),
    )  # fmt: skip
    if prompt is not None:
        asked = question(game, view, prompt, names)
        model = model._replace(question=asked, choices=choices(game, prompt, view))
    return model


def told_lines(game: Game, view: SeatView) -> tuple[str, ...]:
    """Return what the seat of a puzzle was told last."""
    names, lines = solver_names(game, view), []
    said = game.log.lines if game.log else game.text.lines
    for at in range(max(0, len(view.log) - MAX_EVENTS), len(view.log)):
        lines += said(EventContext(view.seat, names, view.opening, view.log[: at + 1]))
    return tuple(str(line).strip() for line in lines if line.strip() and not isinstance(line, Pause | Drawn))


def puzzle_model(puzzle: SolvedPuzzle, decide: str) -> TableViewModel:
    """Return a puzzle without its answer: what a card leads to is left to whoever solves it."""
    game, view = find(puzzle.game), puzzle.view
    model = study_model(game, view, view.seat, decide=decide, names=solver_names(game, view))
    telling = {card.decision for area in model.areas for card in area.cards if card.below}
    areas = tuple(
        area._replace(cards=tuple(card._replace(below="", note="") if card.below else card for card in area.cards))
        for area in model.areas
    )
    choices = tuple(one._replace(note="") if one.action in telling else one for one in model.choices)
    return model._replace(areas=areas, choices=choices)


def points(choice: Choice) -> float:
    return (1 + choice.value) / 2


def points_text(choice: Choice) -> str:
    """Return the chance to win, or how the game ends where that is certain; or the expected payoff."""
    certain = [word for word, part in zip(("Win", "Draw", "Loss"), choice.chances, strict=True) if part == 1]
    shown = Unit.of(choice.payoff).value(points(choice))
    return certain[0] if certain and choice.payoff is None else shown


def percent(part: float) -> str:
    return f"{100 * part:.1f} %"


def chances_text(chances: Chances) -> str:
    """Return how a game ends after a decision."""
    if chances.draw == 1:
        return "a draw"
    draws = f", draws {percent(chances.draw)}" if chances.draw >= LEAST_LOSS else ""
    return f"wins {percent(chances.win)}{draws}"


def worth_text(evaluation: Evaluation) -> str:
    """Return what is to be expected of a position."""
    chances = chances_text(evaluation.chances)
    return chances if evaluation.payoff is None else f"expects {evaluation.payoff.mean:+.2f}, {chances}"


def known_text(evaluation: Evaluation) -> str:
    """Return how values are known, and by how much they may be off."""
    if evaluation.known == WITHIN:
        return f"Within {Unit.of(evaluation.payoff).bound(evaluation.within)}"
    if evaluation.known == ESTIMATED:
        return f"Estimated: ± {Unit.of(evaluation.payoff).bound(evaluation.within)}, in 19 cases of 20"
    return evaluation.known.capitalize()


def decision_values(
    game: Game,
    view: SeatView,
    evaluation: Evaluation,
    reasons: Sequence[str],
    chosen: int = HIDDEN,
    names: Sequence[str] = (),
) -> tuple[Value, ...]:
    """Return what each decision is worth, the best first."""
    names = seat_names(game, view, names)
    prompt = game.text.ask(view, names) if view.actions else None
    labels = {} if prompt is None else {one.action: one for one in choices(game, prompt, view)}
    best = max((points(choice) for choice in evaluation.choices), default=0.0)
    differ = any(best - points(choice) > LEAST_LOSS for choice in evaluation.choices)
    mixed = differ and sum(choice.mix > LEAST_LOSS for choice in evaluation.choices) > 1
    values = []
    for choice, reason in zip(evaluation.choices, reasons, strict=True):
        less, unit = best - points(choice), Unit.of(choice.payoff)
        name, label = choice.name, labels[choice.action].label if choice.action in labels else ""
        if tidy(name) in tidy(label) or (label and name in game.notation.SEATS):
            name, label = label[0].upper() + label[1:], ""
        values.append(
            Value(
                choice.name, name, label, points(choice), points_text(choice),
                chances_text(choice.chances) if LEAST_LOSS <= choice.chances.draw < 1 else "",
                f"{unit.amount(less)}{' %' if unit.largest is None else ''}" if less > LEAST_LOSS else "",
                f"{100 * choice.mix:.0f} %" if mixed and choice.mix >= LEAST_MIX else "",
                with_names(reason, game.notation.SEATS, names),
                less <= LEAST_LOSS and differ, choice.action == chosen, unit.largest is not None,
            )
        )  # fmt: skip
    return tuple(sorted(values, key=lambda value: -value.points))


def verdict(puzzle: SolvedPuzzle, chosen: int) -> Verdict:
    """Return the answer to a puzzle for who chose this decision; HIDDEN if none."""
    game, view = find(puzzle.game), puzzle.view
    names = solver_names(game, view)
    values = decision_values(game, view, puzzle.evaluation, puzzle.reasons, chosen, names)
    best = values[0]
    mine = next((value for value in values if value.chosen), None)
    told = {choice.name: told_with_names(game, view, choice.action, names) for choice in puzzle.evaluation.choices}
    right = mine is not None and mine.best
    named = with_minus_sign(told[mine.decision if mine is not None and right else best.decision])
    title = f"{'The answer' if mine is None else 'Right' if right else 'No, better'}: {named}"
    text = best.reason
    if mine is not None and right:
        text = mine.reason
    elif mine is not None:
        wrong = with_minus_sign(told[mine.decision])
        what = "expected payoff" if mine.in_payoff else "winning chance"
        text = f"{wrong[0].upper()}{wrong[1:]} gives away {mine.less} of {what}. {best.reason}"
    # It stands above the list already.
    values = tuple(one._replace(reason="") if one.reason and one.reason in text else one for one in values)
    return Verdict(right, title, text, values, known_text(puzzle.evaluation), puzzle.evaluation.how)


def told_with_names(game: Game, view: SeatView, action: int, names: Sequence[str]) -> str:
    """Return a decision with its card, in people's names."""
    return with_names(game.told(view, action), game.notation.SEATS, names)


# The analysis board


class AnalysisModel(NamedTuple):
    """A position with what can come next."""

    model: TableViewModel
    position: str
    turn: str  # whose turn it is
    steps: tuple[tuple[str, str], ...]
    over: bool
    seen: str  # whose view it is, where that is not clear


def analysis_model(board: Board, given: Sequence[str] = ()) -> AnalysisModel:
    """Return a board as it is drawn, with the names that were given: every hand that everybody knows lies open."""
    game, view = find(board.game), board.view
    names = seat_names(game, view, given)
    model = study_model(game, view, board.to_act, decide=f"/analysis/{game.name}", names=names)
    areas = model.areas
    if board.whole and len(board.views) > 1:
        others = ((seat, other) for seat, other in enumerate(board.views) if seat != board.seat)
        areas = with_open_hands(areas, {seat: scene(game, untouchable(other), names) for seat, other in others})
    if board.to_act == OVER:
        turn = "The game is over."
        if view.ending is not None:
            winner = view.ending.winner
            won = "" if winner is None else "You win" if names[winner] == YOU else f"{names[winner]} wins"
            turn = f"{won or 'A draw'}: {view.ending.reason}."
    elif board.to_act == CHANCE:
        turn = "Chance is next. Choose what comes."
    else:
        turn = "You are to decide." if names[board.to_act] == YOU else f"{names[board.to_act]} is to decide."
    steps = tuple(
        (step.name, step.words if step.seat in (HIDDEN, board.to_act) else f"{names[step.seat]}: {step.words}")
        for step in board.steps
    )
    seen = f"As {names[board.seat]} sees it: “your” cards are those of {names[board.seat]}."
    other = YOU in names and board.seat >= 0 and names[board.seat] != YOU
    over = board.to_act == OVER
    return AnalysisModel(model._replace(areas=areas), board.position, turn, steps, over, seen if other else "")


# Progress


class PlayedGame(NamedTuple):
    """One finished game of a device, as far as it has been reviewed."""

    code: str
    game: str
    when: float
    result: str
    progress: GameProgress | None  # None while there is no review
    note: str = ""  # why there is none


class GameChart(NamedTuple):
    """One game's accuracy over time, in a box of 1000 by 100."""

    title: str
    name: str
    points: tuple[tuple[float, float], ...]
    line: str  # the same, as a polyline takes it
    at_first: Average
    lately: Average
    games: tuple[PlayedGame, ...]  # the newest first
    unit: str  # what a loss is a part of


def game_charts(played: Sequence[PlayedGame]) -> tuple[GameChart, ...]:
    """Return a chart for each game in which something could be lost; games come oldest first."""
    charts = []
    for name in dict.fromkeys(one.game for one in played):
        own = [one for one in played if one.game == name]
        judged = [one.progress for one in own if one.progress is not None and one.progress.accuracy is not None]
        if not judged:
            continue
        wide = 1000 / max(1, len(judged) - 1)
        dots = tuple(
            (500.0 if len(judged) == 1 else at * wide, 100 - (one.accuracy or 0.0)) for at, one in enumerate(judged)
        )
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in dots)
        game = find(name)
        # A game that is solved by its rules may pay any amounts; losses are then parts of the range between them.
        unit = "winning chance" if game.has_own_solver else "what can be won or lost"
        averages, newest = first_and_last(judged), tuple(reversed(own))
        charts.append(GameChart(game.notation.TITLE, name, dots, line, *averages, newest, unit))
    return tuple(charts)


def day_number(now: float) -> int:
    """Return the number of a day, by UTC."""
    return math.floor(now / 86400)
