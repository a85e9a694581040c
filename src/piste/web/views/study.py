"""What the pages of puzzles, progress and the analysis board show, ready to be drawn."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from piste.analysis.coach.board import Board
from piste.analysis.coach.progress import Average, GameProgress, first_and_last
from piste.core.evaluation import ESTIMATED, WITHIN, Chances, Evaluation
from piste.core.game import Game, find, tidy
from piste.core.presentation import Drawn, EventContext, Pause
from piste.core.protocols import CHANCE, HIDDEN, OVER
from piste.core.scene import with_minus_sign
from piste.core.views import SeatView
from piste.web.study.tasks import SolvedPuzzle
from piste.web.views.replay import with_open_hands
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
    points: float  # the chance to win, a draw as half a win
    chances: str  # of a win and of a draw, where there are draws
    less: str  # than the best, in points; "" for the best
    mix: str  # how often the best play takes it; "" if there is one best decision
    reason: str
    best: bool  # and another one is not
    chosen: bool


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


def seat_names(game: Game, view: SeatView) -> tuple[str, ...]:
    return tuple(f"Player {name}" for name in game.notation.SEATS[: game.rules.seats(view.options)])


def study_model(game: Game, view: SeatView, to_act: int, *, decide: str = "") -> TableViewModel:
    """Return a position as a table shows it, for the seat whose view it is; decisions go to the address `decide`."""
    names = seat_names(game, view)
    prompt = game.text.ask(view, names) if view.actions and decide else None
    shown = view if prompt else untouchable(view)
    model = TableViewModel(
        game=game.name, title=game.notation.TITLE, seat=view.seat, stage=PLAYING, decide=decide,
        options=tuple(game.option_texts(view.options, changed_only=True).items()),
        people=tuple(
            Person(i, name, "", you=i == view.seat, turn=i == to_act) for i, name in enumerate(names)
        ),
        standing=standing(game, view, names), areas=scene(game, shown, names), tips=game.tips(view.options),
    )  # fmt: skip
    if prompt is not None:
        asked = question(game, view, prompt, names)
        model = model._replace(question=asked, choices=choices(game, prompt, view))
    return model


def told_lines(game: Game, view: SeatView) -> tuple[str, ...]:
    """Return what the seat of a puzzle was told last."""
    names, lines = seat_names(game, view), []
    said = game.log.lines if game.log else game.text.lines
    for at in range(max(0, len(view.log) - MAX_EVENTS), len(view.log)):
        lines += said(EventContext(view.seat, names, view.opening, view.log[: at + 1]))
    return tuple(str(line).strip() for line in lines if line.strip() and not isinstance(line, Pause | Drawn))


def puzzle_model(puzzle: SolvedPuzzle, decide: str) -> TableViewModel:
    """Return a puzzle without its answer."""
    return study_model(find(puzzle.game), puzzle.view, puzzle.view.seat, decide=decide)


def points(chances: Chances) -> float:
    return chances.win + chances.draw / 2


def percent(part: float) -> str:
    return f"{100 * part:.1f} %"


def chances_text(chances: Chances) -> str:
    """Return how a game ends after a decision."""
    draws = f", draws {percent(chances.draw)}" if chances.draw >= LEAST_LOSS else ""
    return f"wins {percent(chances.win)}{draws}"


def known_text(evaluation: Evaluation) -> str:
    """Return how values are known, and by how much they may be off."""
    if evaluation.known == WITHIN:
        return f"Within {100 * evaluation.within:.2g} points"
    if evaluation.known == ESTIMATED:
        return f"Estimated: ± {100 * evaluation.within:.2g} points, in 19 cases of 20"
    return evaluation.known.capitalize()


def decision_values(
    game: Game, view: SeatView, evaluation: Evaluation, reasons: Sequence[str], chosen: int = HIDDEN
) -> tuple[Value, ...]:
    """Return what each decision is worth, the best first."""
    prompt = game.text.ask(view, seat_names(game, view)) if view.actions else None
    labels = {} if prompt is None else {one.action: one for one in choices(game, prompt, view)}
    best = max((points(choice.chances) for choice in evaluation.choices), default=0.0)
    differ = any(best - points(choice.chances) > LEAST_LOSS for choice in evaluation.choices)
    mixed = differ and sum(choice.mix > LEAST_LOSS for choice in evaluation.choices) > 1
    values = []
    for choice, reason in zip(evaluation.choices, reasons, strict=True):
        less = best - points(choice.chances)
        name, label = choice.name, labels[choice.action].label if choice.action in labels else ""
        if tidy(name) in tidy(label):
            name, label = label[0].upper() + label[1:], ""
        values.append(
            Value(
                choice.name, name, label, points(choice.chances),
                chances_text(choice.chances) if choice.chances.draw >= LEAST_LOSS else "",
                f"{100 * less:.1f}" if less > LEAST_LOSS else "",
                f"{100 * choice.mix:.0f} %" if mixed and choice.mix >= LEAST_MIX else "",
                reason, less <= LEAST_LOSS and differ, choice.action == chosen,
            )
        )  # fmt: skip
    return tuple(sorted(values, key=lambda value: -value.points))


def verdict(puzzle: SolvedPuzzle, chosen: int) -> Verdict:
    """Return the answer to a puzzle for who chose this decision; HIDDEN if none."""
    game = find(puzzle.game)
    values = decision_values(game, puzzle.view, puzzle.evaluation, puzzle.reasons, chosen)
    best = values[0]
    mine = next((value for value in values if value.chosen), None)
    named = with_minus_sign(f"{best.name} {best.label}".strip())
    if mine is None:
        title, text = f"The answer: {named}", best.reason
    elif mine.best:
        title, text = f"Right: {named}", best.reason
    else:
        title, text = (
            f"No, better: {named}",
            f"{mine.decision} gives {mine.less} points of winning chance away.",
        )
        text = f"{text} {best.reason}"
    right = mine is not None and mine.best
    return Verdict(right, title, text, values, known_text(puzzle.evaluation), puzzle.evaluation.how)


# The analysis board


class AnalysisModel(NamedTuple):
    """A position with what can come next."""

    model: TableViewModel
    position: str
    turn: str  # whose turn it is
    steps: tuple[tuple[str, str], ...]
    over: bool


def analysis_model(board: Board) -> AnalysisModel:
    """Return a board as it is drawn: every hand that everybody knows lies open."""
    game, view = find(board.game), board.view
    names = seat_names(game, view)
    model = study_model(game, view, board.to_act, decide=f"/analysis/{game.name}")
    areas = model.areas
    if board.whole and len(board.views) > 1:
        others = ((seat, other) for seat, other in enumerate(board.views) if seat != board.seat)
        areas = with_open_hands(areas, {seat: scene(game, untouchable(other), names) for seat, other in others})
    if board.to_act == OVER:
        turn = "The game is over."
        if view.ending is not None:
            winner = view.ending.winner
            turn = f"{'A draw' if winner is None else f'{names[winner]} wins'}: {view.ending.reason}."
    elif board.to_act == CHANCE:
        turn = "Chance is next. Choose what comes."
    elif board.to_act == board.seat:
        turn = f"{names[board.seat]} is to decide."
    else:
        turn = f"{names[board.to_act]} is to decide. Choose what {names[board.seat]} is told."
    return AnalysisModel(model._replace(areas=areas), board.position, turn, board.steps, board.to_act == OVER)


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
        title = find(name).notation.TITLE
        charts.append(GameChart(title, name, dots, line, *first_and_last(judged), tuple(reversed(own))))
    return tuple(charts)


def day_number(now: float) -> int:
    """Return the number of a day, by UTC."""
    return math.floor(now / 86400)
