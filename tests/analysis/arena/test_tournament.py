"""Tournaments: the unit is the deal, results depend on nothing but the plan, and bad entrants forfeit."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from piste.analysis.arena.match import with_turn_limit
from piste.analysis.arena.plan import Plan, make_plan, read_entrants, read_plan
from piste.analysis.arena.report import Report, document, report, standings_lines, text
from piste.analysis.arena.results import DealResult, Results
from piste.analysis.arena.sprt import Sprt
from piste.analysis.arena.tournament import play_chunk, play_tournament
from piste.analysis.engine import open_engine
from piste.bots import isolated
from piste.core.errors import BotError, OptionError, PisteError, UnknownNameError
from piste.core.game import find
from tests.analysis.arena.entrants import HERE, Busy
from tests.limits import PATIENCE_S

POSIX = pytest.mark.skipif(sys.platform == "win32", reason="a POSIX shell or signal")


def planned(
    name: str, *entrants: str, games: int = 8, given: dict[str, int | str] | None = None, **more: Any
) -> Plan:
    game = find(name)
    return make_plan(game, with_turn_limit(game, given or {}), read_entrants(entrants), games, **more)


def played(plan: Plan, processes: int = 1) -> Results:
    results = Results(plan)
    with open_engine(None, processes) as engine:
        play_tournament(results, engine)
    return results


def timeless(results: Results) -> dict[tuple[int, int], DealResult]:
    """Return the results without CPU times."""
    return {
        key: deal._replace(games=tuple(game._replace(times=()) for game in deal.games))
        for key, deal in sorted(results.deals.items())
    }


def told(found: Report) -> list[str]:
    """Return the report as text without CPU times."""
    blind = [one._replace(time=type(one.time)()) for one in found.standings]
    return text(found._replace(standings=tuple(blind)))


# What is played


def test_any_number_of_processes_gives_the_same_table() -> None:
    plan = planned("prime-duel", "random", "novice", "steady", given={"target": 20})
    one, two = played(plan), played(plan, 2)
    assert timeless(one) == timeless(two)
    assert told(report(one)) == told(report(two))


def test_a_deal_is_played_from_every_order_of_its_players() -> None:
    plan = planned("prime-duel", "random", "steady", given={"target": 9}, games=5)
    assert plan.deals == (3,)  # whole deals
    for deal in played(plan).deals.values():
        assert [game.seats for game in deal.games] == [(0, 1), (1, 0)]
    three = planned("mccoy-duel", "random", "novice", "steady", given={"players": 3, "rounds": 1}, games=6)
    assert three.lineups == ((0, 1, 2),)
    (deal,) = played(three).deals.values()
    assert len({game.seats for game in deal.games}) == 6


def test_where_entrants_are_fewer_than_seats_they_sit_there_more_than_once() -> None:
    plan = planned("mccoy-duel", "random", "steady", given={"players": 3, "rounds": 1}, games=3)
    assert plan.lineups == ((0, 0, 1), (0, 1, 1))
    assert plan.orders(0) == [(0, 0, 1), (0, 1, 0), (1, 0, 0)]
    found = report(played(plan))
    assert found.ratings is None
    best = found.standings[0]
    assert [games for _, games in best.by_seat] == [3, 3, 3]
    assert "wins by seat" in "\n".join(text(found))


def test_the_cards_of_a_deal_depend_on_its_number_its_players_and_the_seed_alone() -> None:
    alone = planned("prime-duel", "random", "steady", given={"target": 20})
    among = planned("prime-duel", "novice", "random", "steady", given={"target": 20})
    (deal,) = play_chunk(alone, 0, (3,))
    (same,) = play_chunk(among, among.lineups.index((1, 2)), (3,))
    assert [game.moves for game in same.games] == [game.moves for game in deal.games]
    (other,) = play_chunk(alone._replace(seed="another"), 0, (3,))
    assert [game.moves for game in other.games] != [game.moves for game in deal.games]


def test_a_gauntlet_has_the_first_entrant_in_every_pairing() -> None:
    plan = planned("prime-duel", "steady", "random", "novice", gauntlet=True)
    assert plan.lineups == ((0, 1), (0, 2))
    assert plan.anchor == (1, 0.0)  # random


def test_a_plan_is_the_same_when_it_is_read_back() -> None:
    plan = planned("zero-sum-duel", "mine=steady", "random", sprt=Sprt(0, 20), anchor="mine=100", limit=2.5)
    assert read_plan(plan.document()) == plan
    assert plan.anchor == (0, 100.0)


@pytest.mark.parametrize(
    ("words", "more", "why"),
    [
        (("steady",), {}, "at least two entrants"),
        (("steady", "steady"), {}, "Two entrants are called 'steady'"),
        (("random", "steady", "novice"), {"sprt": Sprt(0, 10)}, "two entrants at a table for two"),
        (("random", "steady"), {"anchor": "perfect=3"}, "--anchor cannot be"),
    ],
)
def test_what_cannot_be_played_is_refused(words: tuple[str, ...], more: dict[str, Any], why: str) -> None:
    with pytest.raises(OptionError, match=why):
        planned("prime-duel", *words, **more)


# Python bots


def test_a_function_of_a_module_makes_a_bot() -> None:
    plan = planned("positive-negative", f"last={HERE}:Last", "random", given={"top": 4})
    assert plan.entrants[0].name == "last"
    assert report(played(plan)).standings[0].games == 8


def test_a_bot_of_an_installed_package_takes_part_by_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "careful-1.0.dist-info"
    package.mkdir()
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: careful\nVersion: 1.0\n", encoding="utf-8")
    (package / "entry_points.txt").write_text(f"[piste.bots]\ncareful = {HERE}:Last\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    named, direct = (
        played(planned("positive-negative", f"x={spec}", "random", given={"top": 3}, games=2))
        for spec in ("careful", f"{HERE}:Last")
    )
    assert timeless(named) == timeless(direct)


@pytest.mark.parametrize(
    ("spec", "kind", "why"),
    [
        ("no.such.module:bot", UnknownNameError, "cannot be loaded: ModuleNotFoundError"),
        (f"{HERE}:nothing", UnknownNameError, "cannot be loaded: AttributeError"),
        (f"{HERE}:no_bot", BotError, r"no_bot\(game\) has to return an object with choose"),
        (f"{HERE}:refuses", PisteError, "I do not play prime-duel"),
    ],
)
def test_what_is_no_bot_is_refused_before_anything_is_played(spec: str, kind: type[Exception], why: str) -> None:
    with pytest.raises(kind, match=why):
        played(planned("prime-duel", spec, "random"))


@pytest.mark.parametrize(
    ("name", "why"),
    [("Raises", "raised ZeroDivisionError: by nothing"), ("Illegal", "chose '-7', which is not open")],
)
def test_a_bot_that_fails_forfeits_its_games(name: str, why: str) -> None:
    plan = planned("positive-negative", f"bad={HERE}:{name}", "random")
    found = report(played(plan))
    best, worst = found.standings
    assert (best.share.value, worst.share.value) == (1.0, 0.0)
    assert len(worst.forfeits) == 8
    assert any(why in line for line in text(found))
    assert document(found)["entrants"][1]["forfeits"] == 8


def test_at_a_larger_table_the_others_play_on() -> None:
    words = (f"bad={HERE}:Illegal", "random", "novice")
    found = report(played(planned("mccoy-duel", *words, given={"players": 3, "rounds": 1}, games=6)))
    assert found.standings[-1].share.value == 0
    assert sum(one.share.value for one in found.standings) == pytest.approx(1)


@pytest.mark.parametrize("name", ["Sleeps", "Loops"])
@pytest.mark.parametrize("processes", [1, 2])
def test_a_bot_that_never_answers_is_killed_and_forfeits(name: str, processes: int) -> None:
    found = report(
        played(planned("positive-negative", f"bad={HERE}:{name}", "random", games=4, limit=0.2), processes)
    )
    best, worst = found.standings
    assert (found.name(worst.entrant), worst.share.value) == ("bad", 0.0)
    assert [forfeit.why for forfeit in worst.forfeits] == [
        f"The bot {HERE}:{name} gave no answer within 0.2 seconds."
    ] * 4
    assert not best.forfeits  # ours have no limit


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("DiesFirst", "ended its process"),
        ("DiesBetween", "ended its process"),
        ("Leaves", "raised SystemExit: enough"),
        ("Interrupts", "raised KeyboardInterrupt"),
    ],
)
@pytest.mark.parametrize("processes", [1, 2])
def test_a_bot_that_dies_forfeits_alone(name: str, why: str, processes: int) -> None:
    words = (f"bad={HERE}:{name}", f"good={HERE}:Last", "random")
    found = report(played(planned("positive-negative", *words, games=2, given={"top": 4}), processes))
    assert found.finished
    for one in found.standings:
        assert len(one.forfeits) == (4 if found.name(one.entrant) == "bad" else 0)
        assert all(why in forfeit.why for forfeit in one.forfeits)


@POSIX
def test_a_bot_that_dies_at_its_last_decision_has_played_until_then() -> None:
    results = played(planned("positive-negative", f"bad={HERE}:DiesLast", "random", games=2))
    for deal in results.deals.values():
        for game in deal.games:
            assert [forfeit.seat for forfeit in game.forfeits] == [game.seats.index(0)]
            assert "ended its process" in game.forfeits[0].why
            assert len(game.moves) >= 8


def test_a_bot_that_hangs_when_the_game_is_over_changes_nothing() -> None:
    """What it was told comes too late to cost it anything, and the next game has a process of its own."""
    one, two = (
        played(
            planned("positive-negative", f"x={HERE}:{name}", "random", games=2, given={"top": 3}, limit=PATIENCE_S)
        )
        for name in ("SleepsAtTheEnd", "Last")
    )
    assert timeless(one) == timeless(two)


def test_a_bot_that_is_not_ready_in_time_forfeits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(isolated, "READY_TIMEOUT_S", 0.2)
    plan = planned("positive-negative", f"bad={HERE}:SleepsWhenMade", "random", games=2, limit=0.1)
    worst = report(played(plan)).standings[-1]
    assert [forfeit.why for forfeit in worst.forfeits] == [
        f"The bot {HERE}:SleepsWhenMade was not ready within 0.2 seconds."
    ] * 2


def test_what_a_bot_prints_is_not_shown_and_its_errors_are_short(capfd: pytest.CaptureFixture[str]) -> None:
    worst = report(played(planned("positive-negative", f"bad={HERE}:Prints", "random", games=2))).standings[-1]
    assert len(worst.forfeits[0].why) < 400
    shown = capfd.readouterr()
    assert (shown.out, shown.err) == ("", "")


def test_the_processor_time_of_a_bot_in_its_own_process_is_counted() -> None:
    plan = planned("positive-negative", f"busy={HERE}:Busy", "random", games=2, given={"top": 3})
    times = {plan.entrants[one.entrant].name: one.time for one in report(played(plan)).standings}
    assert times["busy"].mean >= Busy.seconds


def test_no_process_of_a_bot_is_left() -> None:
    played(planned("positive-negative", f"a={HERE}:Last", f"b={HERE}:Last", games=4, given={"top": 3}))
    assert not any(isolated._idle.values())


# Programs

ANSWER = """\
import json, sys
asked = 0
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] != "decide":
        continue
    asked += 1
    {trouble}
    print(json.dumps({{"decision": message["decisions"][-1]}}), flush=True)
"""
TROUBLE = {
    "crashes at the first decision": ("sys.exit(3)", "ended with exit code 3"),
    "crashes at the last decision": (
        "if message['view']['left'] <= 2: sys.exit(4)",
        "ended with exit code 4",
    ),
    "prints megabytes": ("print('x' * 5_000_000, flush=True)", "sent a line of more than 4096 bytes"),
    "prints megabytes of lines": (
        "print('{}\\n' * 1_000_000, flush=True)",
        "answered more than once|an answer looks",
    ),
    "complains by megabytes": ("sys.stderr.write('x' * 5_000_000); sys.exit(5)", "ended with exit code 5"),
    "says something else": ("print('hello', flush=True)", "which is not JSON|answered more than once"),
    "hangs": ("import time; time.sleep(600)", "gave no answer within 0.2 seconds"),
}


@POSIX
@pytest.mark.parametrize("trouble", TROUBLE)
def test_a_program_that_misbehaves_forfeits_and_the_tournament_goes_on(trouble: str, tmp_path: Path) -> None:
    path = tmp_path / "bot.py"
    code, why = TROUBLE[trouble]
    path.write_text(ANSWER.format(trouble=code), encoding="utf-8")
    bad = f"bad=cmd:{shlex.join([sys.executable, str(path)])}"
    limit = 0.2 if trouble == "hangs" else 600.0
    plan = planned("positive-negative", bad, "random", games=2, limit=limit)
    worst = report(played(plan)).standings[-1]
    assert worst.forfeits
    assert worst.share.value == 0
    assert all(re.search(why, forfeit.why) for forfeit in worst.forfeits)


@POSIX
def test_a_good_program_plays_as_its_twin_in_python(tmp_path: Path) -> None:
    path = tmp_path / "bot.py"
    path.write_text(ANSWER.format(trouble="pass"), encoding="utf-8")
    program = f"x=cmd:{shlex.join([sys.executable, str(path)])}"
    one, two = (played(planned("positive-negative", spec, "random", games=2)) for spec in (program, f"x={HERE}:Last"))
    assert timeless(one) == timeless(two)


# The sequential test


def test_a_question_that_is_settled_stops_the_tournament_at_the_same_deal_everywhere() -> None:
    plan = planned("prime-duel", "steady", "random", games=2000, sprt=Sprt(0, 200), given={"target": 20})
    reports = []
    for processes in (1, 2):
        results = played(plan, processes)
        assert len(results.deals) < 1000
        reports.append(report(results))
    one, two = reports
    assert one.test is not None
    assert one.test.verdict == "E1"
    assert told(one) == told(two)
    assert one.games == 2 * one.test.pairs.n
    assert one.finished
    line = next(line for line in text(one) if line.startswith("SPRT"))
    assert "E1 is accepted" in line
    assert "LLR" in line
    assert "bounds -2.94 and 2.94" in line
    assert "pentanomial" in line


def test_a_question_that_is_open_says_so() -> None:
    found = report(played(planned("prime-duel", "steady", "novice", games=4, sprt=Sprt(0, 5))))
    assert found.test is not None
    assert found.test.verdict is None
    assert any("the question is open after 2 pairs" in line for line in text(found))


# Interrupted


def test_what_was_played_before_ctrl_c_is_kept_and_gone_on_with() -> None:
    plan = planned("prime-duel", "random", "novice", "steady", given={"target": 20})
    whole, results = played(plan), Results(plan)

    def pressed(_: Results) -> None:
        if len(results.deals) >= 5:
            raise KeyboardInterrupt

    with open_engine() as engine, pytest.raises(KeyboardInterrupt):
        play_tournament(results, engine, tell=pressed)
    assert 5 <= len(results.deals) < 12
    with open_engine() as engine:
        play_tournament(results, engine)
    assert timeless(results) == timeless(whole)


def test_standings_are_balanced_while_it_runs() -> None:
    plan = planned("prime-duel", "random", "novice", "steady", given={"target": 9})
    results = Results(plan)
    played_so_far: list[list[int]] = []

    def noted(now: Results) -> None:
        played_so_far.append([sum(key[0] == lineup for key in now.deals) for lineup in range(3)])

    with open_engine() as engine:
        play_tournament(results, engine, tell=noted)
    assert all(max(counts) - min(counts) <= 1 for counts in played_so_far)


def test_the_text_has_ratings_cross_table_and_pairs() -> None:
    lines = text(report(played(planned("prime-duel", "random", "novice", "steady"))))
    assert lines[0].startswith("Prime Duel turns=200: 3 entrants, 24 games (12 deals)")
    assert lines[1].split()[:3] == ["rating", "±", "points"]
    whole = "\n".join(lines)
    for wanted in ("% of the points", "0 ½ 1 1½ 2", "random = 0", "decides first", "each deal is one trial"):
        assert wanted in whole


@pytest.mark.parametrize("width", [40, 60])
def test_tables_that_are_wider_than_the_screen_go_on_below(width: int) -> None:
    found = report(played(planned("prime-duel", "random", "novice", "steady", games=4)))
    wide, narrow = standings_lines(found), standings_lines(found, width)
    assert max(map(len, wide)) > width >= max(map(len, narrow))
    assert "±" not in [line.split()[0] for line in narrow]  # it stays beside its number
    assert set(" ".join(wide).split()) == set(" ".join(narrow).split())
    firsts = [line.split()[:2] for line in narrow if line.startswith("1 ")]
    assert len(firsts) == len(narrow) // len(wide) > 1
    assert all(first == firsts[0] for first in firsts)
