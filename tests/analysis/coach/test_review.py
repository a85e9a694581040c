"""Reviews of whole games: whose loss is whose, what it is called, and who may not be reviewed."""

from __future__ import annotations

import io
import random
import re
from typing import Any

import pytest

import piste
from piste import bots
from piste.analysis.coach import board
from piste.analysis.coach import review as coach
from piste.analysis.coach.attribution import RESIGNATION, Decision, attribute
from piste.analysis.coach.labels import Labels, accuracy, label, read_labels
from piste.analysis.coach.review import certainty, document, review
from piste.analysis.coach.timeline import Timeline
from piste.cli.commands import review as reviewing
from piste.cli.terminal import Terminal
from piste.core.belief import retell
from piste.core.dealer import RandomStream
from piste.core.errors import OptionError, PisteError
from piste.core.evaluation import Chances, Choice, Evaluation, quiet
from piste.core.game import find, names
from piste.core.protocols import CHANCE
from piste.games.zero_sum_duel.solver.solver import OFF_PATH
from tests.analysis.coach.review_cases import KINDS, judge, many, record_of, walked
from tests.game_setups import Kind, actions, played

HIDING = tuple(kind for kind in KINDS if kind.game in ("zero-sum-duel", "positive-negative"))
SHEETS = {
    "zero-sum-duel": Kind("zero-sum-duel", {}),
    "positive-negative": Kind("positive-negative", {"top": 5}),
    "zero-sum-grid": Kind("zero-sum-grid", {"turns": 30}),
    "prime-duel": Kind("prime-duel", {"top": 4, "copies": 2, "target": 12}),
}


@pytest.mark.parametrize("name", SHEETS)
def test_perfect_bots_lose_nothing(name: str) -> None:
    kind, game = SHEETS[name], find(name)
    bot = bots.find("perfect", game)
    bots.prepare(bot, game.options(kind.options), quiet)
    for seed in range(many(3)):
        table = piste.open_table(name, kind.options, seed=f"perfect {seed}")
        while (seat := table.to_act) is not None:
            view = table.view(seat)
            table.decide(
                seat, bot.choose(view, RandomStream(b"bots", f"{seed} {bots.stream_name(view)}")), view.number
            )
        found = attribute(table, judge(kind))
        most = max((decision.loss for decision in found.decisions), default=0.0)
        assert most < (1e-6 if name == "zero-sum-duel" else 1e-9)


class GoesOn:
    """Gives the outcomes it was given, then deals from a seed."""

    def __init__(self, outcomes: list[int], seed: str) -> None:
        self._left = list(reversed(outcomes))
        self._then = piste.Dealer(seed)

    def outcome(self, game: piste.Game, state: Any) -> int:
        return self._left.pop() if self._left else self._then.outcome(game, state)


def gone_on(kind: Kind, steps: tuple[int, ...], seed: str) -> piste.Table:
    """Return a game that began with these steps and was then played at random to its end."""
    game = find(kind.game)
    state, outcomes, decided = game.rules.start(game.options(kind.options)), [], []
    for step in steps:
        if game.rules.to_act(state) == CHANCE:
            outcomes.append(step)
        else:
            decided.append((game.rules.to_act(state), step))
        state = game.rules.apply(state, step)
    table = piste.Table(game, game.options(kind.options), GoesOn(outcomes, seed))
    for seat, step in decided:
        table.decide(seat, step)
    chooser = random.Random(seed)
    while (actor := table.to_act) is not None:
        table.decide(actor, chooser.choice(table.view(actor).actions))
    assert table.history()[: len(steps)] == steps
    return table


def of_seat(found: Any, seat: int, upto: int) -> list[Decision]:
    return [decision for decision in found.decisions if decision.seat == seat and decision.step <= upto]


@pytest.mark.parametrize("kind", HIDING, ids=str)
def test_a_verdict_does_not_depend_on_what_the_seat_could_not_know(kind: Kind) -> None:
    """The game told again up to a decision, with other cards where the seat saw none: its verdicts stay the same."""
    told_apart = 0
    game = find(kind.game)
    for seed in range(max(3, many(3))):
        true = played(kind, f"retold {seed}")
        history, decisions = actions(true.history()), attribute(true, judge(kind)).decisions
        if not decisions:
            continue
        last = random.Random(seed).choice(decisions)
        steps = actions(retell(game, last.view, RandomStream(b"retold", str(seed))))
        assert len(steps) == last.step
        told_apart += steps != history[: last.step]
        one, two = (
            attribute(gone_on(kind, (*begun, last.action), f"{seed} {begun == steps}"), judge(kind))
            for begun in (history[: last.step], steps)
        )
        assert of_seat(one, last.seat, last.step) == of_seat(two, last.seat, last.step)
    assert told_apart or kind.game == "positive-negative", "no second history was ever found"


def test_after_a_move_no_perfect_player_makes_every_deal_that_fits_counts_the_same() -> None:
    kind, strayed, trusted = KINDS[1], 0, 0
    for seed in range(many(3)):
        table = played(kind, f"strays {seed}")
        timeline = Timeline(table, judge(kind))
        for seat in range(2):
            for at in range(len(table.history())):
                known = timeline.known(at, seat)
                by_chance, weights = known.belief.states, judge(kind).weights(known)
                same = all(abs(weights.get(state, 0.0) - p) < 1e-12 for state, p in by_chance.items())
                if timeline.evaluate(at, seat).how.endswith(OFF_PATH):
                    assert same
                    strayed += 1
                else:
                    trusted += not same
    assert strayed > 0
    assert trusted > 0, "a player who is trusted never told anything: the test would show nothing"


@pytest.mark.parametrize("name", SHEETS)
def test_who_resigns_gives_up_what_was_left(name: str) -> None:
    for seed in range(4):
        found = walked(SHEETS[name], f"leaves {seed}", resigning=0.2)
        left = [decision for decision in found.decisions if decision.action == RESIGNATION]
        for decision in left:
            assert decision.after == 0.0
            assert decision.loss == decision.before
            assert found.columns[decision.seat].result == 0.0


@pytest.mark.parametrize("name", names())
def test_a_running_game_is_not_reviewed(name: str) -> None:
    table = piste.open_table(name, seed="still running")
    with pytest.raises(PisteError, match="is not over"):
        review(record_of(table))


def test_a_game_without_a_decision_is_answered_without_a_judge(monkeypatch: pytest.MonkeyPatch) -> None:
    def asked(*_: object) -> None:
        raise AssertionError("there is nothing to judge")

    monkeypatch.setattr(coach, "evaluator_of", asked)
    tables = (piste.open_table("zero-sum-duel", seed=f"early {i}") for i in range(100))
    table = next(table for table in tables if table.to_act is None)
    found = review(record_of(table))
    assert found.decisions() == []
    assert certainty(found) == "Nobody had anything to decide, so there is nothing to judge."
    page = io.StringIO()
    reviewing.show(found, (0, 1), Terminal(page, colour=False))
    assert "Nobody had anything to decide" in page.getvalue()
    assert coach.document(found, (0, 1))["decisions"] == []


def test_each_decision_is_told_as_soon_as_it_is_judged() -> None:
    kind = Kind("positive-negative", {"top": 4})
    told: list[Decision] = []
    moments: list[int] = []

    def tell(decision: Decision, chances: tuple[tuple[float, ...], ...]) -> None:
        told.append(decision)
        moments.append(len(chances))

    found = review(record_of(played(kind, "as they come")), tell=tell)
    assert tuple(told) == found.attribution.decisions
    assert moments == [decision.step + 1 for decision in told]


def test_a_loss_within_the_margin_is_told_as_nothing_more() -> None:
    found = review(record_of(played(Kind("positive-negative", {"top": 4}), "margin")))
    lost = max(found.decisions(), key=lambda decision: decision.loss)
    assert lost.loss > 0.01
    assert ", loss " in reviewing.decision_line(found, lost)
    margin_of = lost._replace(evaluation=lost.evaluation._replace(within=lost.loss))
    assert "the best, within the margin (" in reviewing.decision_line(found, margin_of)
    assert "best " + found.spelled(lost, lost.best) not in reviewing.decision_line(found, margin_of)
    assert reviewing.reasons(found, margin_of) == [found.why(lost, lost.action)]
    assert reviewing.reasons(found, lost) == [found.why(lost, lost.action), found.why(lost, lost.best)]
    assert found.label(margin_of) == ""


def test_a_reason_does_not_argue_against_the_best_decision() -> None:
    """Where the next card is better on average and keeping is best all the same, the other chance is told too."""
    text = "positive-negative{top=5} 1=-1,4 2=2,1 pile=-5 to=1 phase=draw | 1 | draw@1:-2 | 1"
    (best, reason), _ = board.by_value(board.evaluate(text))
    assert best.name == "keep"
    assert reason == (
        "Keeping -2 leaves 37.5 %: it makes 1 to 3; discarding leaves 25.0 %, "
        "though the next card adds +0.2 on average."
    )


def test_games_from_cards_laid_by_hand_are_reviewed() -> None:
    table = piste.open_table("zero-sum-grid", {"first": 1}, laid="1 1 1 / 0 0 0 / 0 0 0")
    table.decide(0, "R2+")
    table.resign(1)
    found = review(record_of(table))
    missed, resigned = found.decisions()
    assert found.label(missed) == "missed win"
    assert found.why(missed, missed.best) == "R1- leaves nothing but zeros and wins"
    assert (missed.before, missed.after) == (1.0, 0.5)
    assert found.label(resigned) == "blunder"
    assert [columns.left for columns in found.attribution.columns] == [0.0, 0.0]
    deck = piste.open_table("positive-negative", {"top": 3}, laid="-3 3 2 1 -1 -2")
    while deck.to_act is not None:
        deck.decide(deck.to_act, "keep")
    first = review(record_of(deck)).decisions()[0]
    assert first.loss > 0
    found = review(record_of(deck))
    kept, discarded = found.why(first, first.action), found.why(first, first.best)
    assert kept.endswith("it makes -3 to 0, where the next card would add +0.6 on average")
    assert discarded.endswith("5 of the 5 cards left are better")
    assert (found.told(first), found.told(first, first.best)) == ("keep -3", "discard -3")


def made(loss: float, *, before: float = 0.9, within: float = 0.0) -> Decision:
    view: Any = None
    known = "estimated" if within else "exact"
    worths = (before, before - loss, before - loss - 0.01)
    choices = tuple(Choice(i, Chances(p, 0.0, 1 - p), 0.0) for i, p in enumerate(worths))
    verdict = Evaluation(0, choices[0].chances, choices, known, within, "")
    return Decision(0, 0, 1, before, before - loss, before - loss - 0.01, 0, verdict, view)


def test_losses_have_names_at_five_ten_and_fifteen_points() -> None:
    names_of = [label(made(loss / 100), Labels()) for loss in (0.0, 4.9, 5.1, 9.9, 10.1, 14.9, 15.1)]
    assert names_of == ["", "", "slip", "slip", "mistake", "mistake", "blunder"]
    assert label(made(0.03), read_labels("2, 4,6")) == "slip"
    assert label(made(0.2, before=1.0), Labels()) == "missed win"


def test_no_name_is_given_to_a_loss_inside_the_interval() -> None:
    assert label(made(0.12, within=0.07), Labels()) == ""
    assert label(made(0.12, within=0.05), Labels()) == "mistake"
    assert label(made(0.2, before=1.0, within=0.02), Labels()) == "blunder"  # the win was not certain


@pytest.mark.parametrize(
    "text", ["", "5", "5,10", "10,5,15", "a,b,c", "0,1,2", "5,10,101", "5,5,6", "-1,2,3", "1e9,2,3"]
)
def test_labels_that_cannot_be_are_refused(text: str) -> None:
    with pytest.raises(OptionError, match="three numbers"):
        read_labels(text)


def test_accuracy_is_what_was_kept_of_what_could_be_lost() -> None:
    assert accuracy([]) is None
    assert accuracy([made(0.0), made(0.0)]) == 100
    assert accuracy([made(0.1)]) == pytest.approx(100 * (1 - 0.1 / 0.11))
    mixed = made(0.0)
    within = mixed._replace(evaluation=mixed.evaluation._replace(known="within", within=0.006))
    assert accuracy([within]) is None  # what depends on it is less than the bound leaves open
    assert accuracy([within, made(0.1)]) == accuracy([made(0.1)])
    kind = SHEETS["positive-negative"]
    shares = [accuracy(walked(kind, f"share {seed}").decisions) for seed in range(10)]
    assert all(share is None or 0 <= share <= 100 for share in shares)


@pytest.mark.parametrize("name", SHEETS)
def test_every_decision_has_a_sentence_with_its_reason(name: str) -> None:
    for seed in range(2):
        found = review(record_of(played(SHEETS[name], f"why {seed}")))
        for decision in found.decisions():
            for choice in decision.evaluation.choices:
                why = found.why(decision, choice.action)
                assert found.spelled(decision, choice.action) in why or name != "zero-sum-grid"
                assert len(why) > 20
                assert "\n" not in why
                assert not why.endswith(".")
            # Two choices that are not worth the same have two reasons, not one with other numbers of percent.
            given = [
                re.sub(r"\d+ %", "", why).partition(": ")[2] or why for why in reviewing.reasons(found, decision)
            ]
            assert len(set(given)) == len(given) >= 1
        whole = document(found, (0, 1))
        assert whole["version"] == 1
        assert len(whole["chances"]) == len(found.attribution.chances)
        assert all(row["loss"] >= 0 for row in whole["decisions"])


@pytest.mark.slow
def test_a_move_of_harvest_is_explained_by_what_it_scores() -> None:
    for seed in range(3):
        table = played(Kind("zero-sum-grid", {"variant": "harvest", "first": 1}), f"harvest {seed}")
        found = review(record_of(table))
        assert found.exact
        for decision in found.decisions():
            said = found.why(decision, decision.action)
            points = decision.view.position.points
            assert "zero:" not in said
            assert " scores " in said
            assert f"to {points[1 - decision.seat]}" in said
            assert ("make sure of the game" in said) or said.endswith("at the end")


def test_good_moves_are_told_with_their_card_and_a_certain_win_has_no_interval() -> None:
    table = piste.open_table("prime-duel", {"first": 1, "target": 10}, seed="wins", laid="10")
    table.decide(0, "keep")
    found = review(record_of(table))
    (won,) = found.decisions()
    assert reviewing.decision_line(found, won) == "2. Player 1: keep 10, 100.0 % (wins)"
    unsure = won._replace(evaluation=won.evaluation._replace(within=0.02))
    assert "±" not in reviewing.decision_line(found, unsure), "the game has ended with it"
    earlier = unsure._replace(step=0, before=0.6, after=0.6, worst=0.5)
    assert reviewing.decision_line(found, earlier) == "1. Player 1: keep 10, 60.0 % ±2.0 (best)"


def test_the_chart_is_that_of_the_one_person_who_played() -> None:
    record = record_of(played(Kind("positive-negative", {"top": 4}), "chart"))
    seats = {f"seat {i}": spec for i, spec in enumerate(("steady", "you"), 1)}
    person = record._replace(head=record.head._replace(notes=seats))
    assert reviewing.charted_seat(person, (0, 1)) == 1
    assert reviewing.charted_seat(person, (0,)) == 0
    assert reviewing.charted_seat(record, (0, 1)) == 0
