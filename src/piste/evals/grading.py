"""What a model's decisions cost, as documents that are kept in the log: all that a report needs."""

from __future__ import annotations

from typing import Any

from piste.analysis.arena.losses import phase_of
from piste.analysis.arena.plan import Entrant, Plan
from piste.analysis.arena.results import DealResult, GameResult
from piste.analysis.coach.evaluator import chance
from piste.analysis.coach.labels import Labels
from piste.analysis.coach.review import Review, decision_document
from piste.analysis.coach.tournament_review import DIGITS, evaluate_game
from piste.bots.program import ANSWER_TIMEOUT_S
from piste.bots.prompts import seat_names
from piste.core.evaluation import Evaluation
from piste.core.game import find
from piste.core.information_set import InformationSet
from piste.core.views import SeatView
from piste.evals.settings import Size

MODEL = "model"
"""The name of the evaluated model in a plan: so every model is dealt the same cards."""


def make_plan(size: Size, opponent: str, deals: int, seed: str) -> Plan:
    """Return the laboratory's plan of a model's games against a level: it alone among copies of the level."""
    seats = int(size.game.rules.seats(size.options))
    entrants = (Entrant(MODEL, MODEL), Entrant(opponent, opponent))
    return Plan(size.game, size.options, entrants, ((0, *[1] * (seats - 1)),), (deals,), seed, ANSWER_TIMEOUT_S)


def grade_game(plan: Plan, number: int, game: GameResult) -> dict[str, Any]:
    """Return the luck of the model's seat and each of its decisions; evaluated in a process of its own."""
    evaluated = evaluate_game(plan, DealResult(0, number, (game,)), game)
    seat, ending = game.seats.index(0), evaluated.table.ending()
    assert ending is not None
    names = tuple(plan.entrants[entrant].name for entrant in game.seats)
    review = Review(plan.game, plan.options, names, ending, evaluated.attribution, Labels(), 0.0, 0.0)
    decisions = []
    for one in evaluated.decisions():
        if one.seat == seat:
            at = evaluated.numbers[one.step]
            document = graded(one.view, one.evaluation, one.action, decision_document(review, one))
            decisions.append({"number": at, "phase": phase_of(at, len(game.moves)), **document})
    return {
        "luck": evaluated.luck[seat] if evaluated.luck else None,
        "exact_luck": evaluated.exact,
        "decisions": decisions,
    }


def grade_decision(view: SeatView, evaluation: Evaluation, action: int) -> dict[str, Any]:
    """Return one decision by itself, with what a random one costs on average."""
    game = find(view.game)
    values = {choice.action: chance(choice) for choice in evaluation.choices}
    best = evaluation.best.action
    explain = game.explain

    def why(of: int) -> str:
        return "" if explain is None else str(explain.why(view, evaluation, of))

    document = {
        "kind": game.kind_name(view.kind),
        "decision": game.notation.spell(view.position, action)[0],
        "told": game.told(view, action),
        "before": values[best],
        "after": values[action],
        "best": game.notation.spell(view.position, best)[0],
        "loss": max(0.0, values[best] - values[action]),
        "known": evaluation.known,
        "within": evaluation.within,
        "why": why(action),
        "best_why": why(best),
    }
    return {"number": 0, "phase": "", **graded(view, evaluation, action, document)}


def graded(view: SeatView, evaluation: Evaluation, action: int, document: dict[str, Any]) -> dict[str, Any]:
    """Return the fields that a report needs of a decision's document, with its board."""
    game = find(view.game)
    values = [chance(choice) for choice in evaluation.choices]
    kept = ("kind", "decision", "told", "best", "known", "within", "why", "best_why")
    numbers = {key: round(document[key], DIGITS) for key in ("before", "after", "loss")}
    return {
        **{key: document[key] for key in kept},
        **numbers,
        "action": action,
        "stake": round(max(values) - min(values), DIGITS),
        "random_loss": round(max(values) - sum(values) / len(values), DIGITS),
        "board": [str(row) for row in game.text.picture(view, seat_names(game, view))],
        "position": str(InformationSet.of(game, view)),
    }
