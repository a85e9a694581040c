"""Puzzles: one decision is clearly better, the same seed gives the same one, and answers are counted."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from piste.analysis.coach.evaluator import evaluator_of
from piste.analysis.coach.puzzles import (
    CERTAIN_GAMES,
    LEVELS,
    Puzzle,
    any_puzzle,
    fits,
    ordered,
    points,
    puzzle,
    sample_decisions,
)
from piste.cli.main import main
from piste.core.dealer import Dealer
from piste.core.errors import OptionError, UnknownNameError
from piste.core.evaluation import EXACT, Chances, Choice, Evaluation
from piste.core.game import find
from piste.core.information_set import InformationSet
from piste.games.mccoy_duel.rules import PICK
from tests.game_setups import games


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("PISTE_HOME", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "80")
    return tmp_path


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", ["positive-negative", "zero-sum-duel"])
def test_a_puzzle_has_one_decision_that_is_better_by_what_its_level_says(name: str, level: str) -> None:
    game = find(name)
    least, most = LEVELS[level]
    for number in range(games(3) if games(3) < 100 else 100):
        found = puzzle(game, game.options(), "a seed", number, level)
        known = InformationSet.told(game, found.view)
        again = evaluator_of(game, game.options()).evaluate(known)
        worth = sorted((points(choice) for choice in again.choices), reverse=True)
        assert least <= worth[0] - worth[1] < most
        assert found.view.seat == known.seat
        assert {choice.action for choice in again.choices} == set(found.view.actions)


def test_the_same_seed_gives_the_same_puzzle_and_numbers_give_others() -> None:
    game = find("positive-negative")
    first, again, other = (puzzle(game, game.options(), "s", number) for number in (1, 1, 2))
    assert first.view == again.view
    assert first.view != other.view


def test_a_margin_that_is_not_known_well_enough_is_no_puzzle() -> None:
    game = find("positive-negative")
    view = puzzle(game, game.options(), "s", 1).view
    choices = tuple(Choice(i, Chances(win, 0.0, 1 - win), 0.0) for i, win in enumerate((0.6, 0.5)))
    for within, good in ((0.0, True), (0.024, True), (0.03, False)):
        verdict = Evaluation(0, choices[0].chances, choices, EXACT, within, "")
        assert fits(Puzzle(1, view, verdict), "medium") == good
    assert [choice.action for choice in ordered(verdict)] == [0, 1]


@pytest.mark.parametrize("level", LEVELS)
def test_of_two_answers_a_draw_says_which_one_shall_be_right(level: str) -> None:
    game, options = find("positive-negative"), find("positive-negative").options()
    wanted, answers = [], []
    for number in range(30):
        dealer = Dealer(f"puzzle {game.name} {game.option_texts(options)} {level} two answers {number}")
        wanted.append(dealer.stream("answer").below(2))
        answers.append(puzzle(game, options, "two answers", number, level).evaluation.best.action)
    assert answers == wanted
    assert 10 < sum(wanted) < 20


def test_duel_asks_in_no_puzzle_who_goes_first() -> None:
    game, dealer = find("mccoy-duel"), Dealer("kinds")
    views = [
        view
        for number in range(30)
        for view in sample_decisions(game, game.options(), f"kinds {number}", dealer.stream("puzzle"))
    ]
    assert len(views) > 100
    assert PICK not in {view.kind for view in views}
    assert len({view.kind for view in views}) > 3


def test_what_there_is_not_gets_a_sentence() -> None:
    game = find("positive-negative")
    with pytest.raises(UnknownNameError, match="easy, medium, hard"):
        puzzle(game, game.options(), "s", 1, "nasty")
    grid = find("zero-sum-grid")
    with pytest.raises(OptionError, match="No hard puzzle"):
        puzzle(grid, grid.options({"turns": 4}), "s", 1, "hard")


def test_where_every_decision_is_certain_nobody_searches_for_long() -> None:
    grid, looked = find("zero-sum-grid"), []

    def look(done: int, _whole: int, _what: str) -> None:
        looked.append(done)

    level, found = any_puzzle(grid, grid.options(), "s", 1, look)
    assert level == "easy"
    assert found.margin >= LEVELS["easy"][0]
    assert max(looked) < 2 * CERTAIN_GAMES


def asked(monkeypatch: pytest.MonkeyPatch, typed: str, *words: str) -> int:
    monkeypatch.setattr("sys.stdin", io.StringIO(typed))
    return main(["puzzle", *words])


def test_answers_are_judged_and_the_streak_is_kept(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], home: Path
) -> None:
    words = ("positive-negative", "--seed", "3")
    assert main(["puzzle", *words, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    good, bad = sorted(document["decisions"], key=lambda name: name != document["answer"])
    assert document["version"] == 1
    assert document["chances"][good] - document["chances"][bad] == pytest.approx(document["margin"])
    known = InformationSet.parse(document["position"])
    assert find("positive-negative").seat_name(known.seat) == document["seat"]
    assert main(["puzzle", *words, "--answer", good]) == 0
    said = capsys.readouterr().out
    assert "Right:" in said
    assert "Right in a row: 1 (best 1); 1 of 1 in all." in said
    assert asked(monkeypatch, f"nonsense\n{bad}\nn\n", *words) == 0
    said = capsys.readouterr().out
    assert "'nonsense' is not a decision here" in said
    assert "No:" in said
    assert said.count("eeping ") == said.count("iscarding ") == 1, "why, of the answer and of the best one"
    assert "points of winning chance away" in said
    assert "Right in a row: 0 (best 1); 1 of 2 in all." in said
    (home / "puzzles.json").write_text("{ damaged")
    assert main(["puzzle", *words, "--answer", good]) == 0
    assert "1 of 1 in all" in capsys.readouterr().out
    assert asked(monkeypatch, "q\n", *words) == 0
    assert "in a row" not in capsys.readouterr().out


def test_another_one_is_another_one(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert asked(monkeypatch, "keep\n\nkeep\nno\n", "positive-negative", "--seed", "5", "--number", "7") == 0
    said = capsys.readouterr().out
    assert "medium puzzle 7" in said
    assert "medium puzzle 8" in said
    assert "medium puzzle 9" not in said


def test_a_sheet_is_one_page_with_the_answers_at_the_back(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["puzzle", "positive-negative", "--print", "--seed", "2"]) == 0
    front, back = capsys.readouterr().out.split("\f")
    assert len(front.splitlines()) <= 60
    count = front.count("Answer: ____")
    assert count >= 2
    assert back.splitlines()[0] == "Answers (medium, seed 2)"
    assert [line.partition(".")[0] for line in back.splitlines()[2:]] == [str(i + 1) for i in range(count)]
    assert "points" not in front
    assert main(["puzzle", "positive-negative", "--print", "--seed", "2"]) == 0
    assert capsys.readouterr().out == f"{front}\f{back}"


def test_a_sheet_begins_with_the_number_that_is_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["puzzle", "positive-negative", "--print", "--seed", "2"]
    assert main(words) == 0
    first = capsys.readouterr().out
    assert main([*words, "--number", "2"]) == 0
    later = capsys.readouterr().out
    assert later.startswith("Puzzles (medium, seed 2, from number 2)")

    def positions(text: str) -> list[str]:
        return [part.partition("\n")[2] for part in text.split("\f", maxsplit=1)[0].split("Answer: ____")]

    assert positions(later)[0].split("\n", 2)[2] == positions(first)[1].split("\n", 2)[2]


def test_help_rules_and_hint_work_at_a_puzzle(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], home: Path
) -> None:
    words = ("positive-negative", "--seed", "3")
    assert asked(monkeypatch, "?\nrules\nhand\nhint\nkeep\nn\n", *words) == 0
    said = capsys.readouterr().out
    assert "Answer with one of: keep, discard. Or type:" in said
    assert "Options, an example and the rulings: piste rules positive-negative --all" in said
    assert said.count("Open to you: keep, discard") == 2
    assert "The best one wins " in said
    assert "Right:" in said or "No:" in said
    assert "in a row" not in said
    assert not (home / "puzzles.json").exists()


@pytest.mark.parametrize("said", ["nonsense", "hint", "7", ""])
def test_an_answer_that_is_no_open_decision_is_an_error(
    said: str, capsys: pytest.CaptureFixture[str], home: Path
) -> None:
    assert main(["puzzle", "positive-negative", "--seed", "3", "--answer", said]) == 2
    assert "is not a decision here" in capsys.readouterr().err.replace("\n", " ")
    assert not (home / "puzzles.json").exists()


def test_an_answer_that_is_not_the_best_is_no_error(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["puzzle", "positive-negative", "--seed", "3"]
    assert main([*words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    worst = min(found["chances"], key=found["chances"].__getitem__)
    assert main([*words, "--answer", worst]) == 0
    assert "No:" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ((), "Puzzles of which game?"),
        (("positive-negative", "--number", "x"), "piste: --number cannot be 'x'"),
        (("positive-negative", "--print", "--number", "0"), "--number cannot be '0'"),
        (("positive-negative", "--level", "nasty"), "There is no level"),
        (("--print", "--set", "top=3"), "Options are those of one game"),
    ],
)
def test_bad_input_gets_a_sentence(words: tuple[str, ...], sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["puzzle", *words]) in (1, 2)
    assert sentence in capsys.readouterr().err


def test_a_game_without_medium_puzzles_gives_an_easy_one_unless_asked(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("zero-sum-grid", "--seed", "1", "--set", "variant=harvest")
    assert main(["puzzle", *words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["level"] == "easy"
    assert main(["puzzle", *words, "--level", "medium"]) == 2
    assert "No medium puzzle" in capsys.readouterr().err
