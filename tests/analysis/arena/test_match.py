"""Matches between bots: the same games with any number of processes, seats swapped, and what is done is kept."""

from __future__ import annotations

import argparse
import io
import json
import os
import shlex
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import piste
from piste import bots
from piste.analysis.arena import match
from piste.analysis.arena.match import Result, Time, against, effort, ladder, play, with_turn_limit
from piste.bots import Plain
from piste.cli.commands.match import run
from piste.cli.terminal import Terminal
from piste.compiled.simulate import share
from piste.core.dealer import RandomStream
from piste.core.errors import BotError, OptionError, PisteError, UnknownNameError
from piste.core.game import find, names
from tests import ROOT
from tests.limits import PATIENCE_S

SMALL: dict[str, int | str] = {"target": 20}
LAST = """\
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "decide":
        print(json.dumps({"decision": message["decisions"][-1]}), flush=True)
"""


def matched(name: str, one: str, two: str, games: int, given: dict[str, int | str] | None = None) -> Result:
    game = find(name)
    return play(game, with_turn_limit(game, given or {}), (one, two), games)


def by_seat(result: Result) -> dict[tuple[int, int], int | None]:
    """Return who won each game, by deal and by the seat of the first player."""
    return {(game.deal, game.seat): game.winner for game in result.outcomes}


# What is played


def test_any_number_of_processes_gives_the_same_result() -> None:
    game = find("prime-duel")
    options = with_turn_limit(game, SMALL)
    one, two, three = (play(game, options, ("steady", "random"), 14, "same", n) for n in (1, 2, 3))
    assert one == two == three
    assert [outcome.deal for outcome in three.outcomes] == [i // 2 for i in range(14)]
    assert sum(time.decisions for time in one.times) == sum(time.decisions for time in three.times) > 0
    assert play(game, options, ("steady", "random"), 14, "other") != one


def test_a_match_goes_on_where_a_shorter_one_ended() -> None:
    short, long = (matched("positive-negative", "steady", "random", games) for games in (6, 10))
    assert long.outcomes[:6] == short.outcomes


def test_how_long_it_took_is_no_part_of_the_result() -> None:
    result = matched("prime-duel", "steady", "random", 2)
    slower = replace(result, outcomes=tuple(replace(game, times=(Time(), Time())) for game in result.outcomes))
    assert slower == result
    assert slower.times != result.times


@pytest.mark.parametrize("name", names())
def test_a_bot_against_itself_is_even_over_each_deal(name: str) -> None:
    result = matched(name, "steady", "steady", 8, {"rounds": 1} if name == "mccoy-duel" else {})
    won = by_seat(result)
    assert all(won[deal, 0] == won[deal, 1] for deal in range(4))  # the same game twice, the players swapped
    assert result.score(0).won == result.score(0).lost == result.score(1).won


def test_the_first_bot_sits_in_every_seat_in_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []

    def noted(view: piste.SeatView, stream: RandomStream) -> int:  # noqa: ARG001
        seen.append(view.seat)
        return view.actions[0]

    honest = bots.find
    monkeypatch.setattr(
        bots, "find", lambda spec, game, _: Plain(spec, noted) if spec == "noted" else honest(spec, game)
    )
    matched("prime-duel", "noted", "random", 2, SMALL)
    assert sorted(set(seen)) == [0, 1]
    assert seen == sorted(seen)  # first the game in which it has seat 0, then the other


def test_games_are_those_of_a_table_with_the_same_seed() -> None:
    result = matched("zero-sum-duel", "steady", "random", 6, {"turns": 40})
    for game in result.outcomes:
        seed = f"{match.DEFAULT_SEED} {game.deal}"
        table = piste.open_table("zero-sum-duel", {"turns": 40}, seed=seed)
        seated = [bots.find("steady" if seat == game.seat else "random", table.game) for seat in range(2)]
        while table.to_act is not None:
            view = table.view(table.to_act)
            stream = piste.Dealer(seed).stream(bots.stream_name(view))
            table.decide(view.seat, seated[view.seat].choose(view, stream), view.number)
        ending = table.ending()
        assert ending is not None
        assert ending.winner == game.winner


@pytest.mark.parametrize("players", [3, 4])
def test_at_a_larger_table_one_sits_among_copies_of_the_other(players: int) -> None:
    result = matched("mccoy-duel", "steady", "random", 7, {"players": players, "rounds": 1})
    assert result.seats == players
    assert result.games == result.asked == -(-7 // players) * players  # whole deals
    assert [game.seat for game in result.outcomes] == [*range(players)] * (result.games // players)
    one, two = result.score(0), result.score(1)
    assert one.won.of + one.drawn.of + one.lost.of == result.games
    assert (one.won, one.lost) == (two.lost, two.won)
    assert one.rounds is not None
    assert one.rounds.of == one.won.of  # one round is the whole match


def test_a_bot_among_its_copies_wins_its_fair_share_of_each_deal() -> None:
    result = matched("mccoy-duel", "steady", "steady", 12, {"players": 3, "rounds": 1})
    assert result.score(0).won.of * 3 == result.games


def test_rounds_are_counted_where_a_match_has_some() -> None:
    result = matched("mccoy-duel", "steady", "random", 4)
    one, two = result.score(0).rounds, result.score(1).rounds
    assert one is not None
    assert two is not None
    assert one.of + two.of == sum(sum(game.rounds) for game in result.outcomes) >= 3 * 4
    assert matched("prime-duel", "steady", "random", 2, SMALL).score(0).rounds is None


def test_shares_have_the_interval_of_wilson() -> None:
    score = matched("prime-duel", "steady", "random", 40, SMALL).score(0)
    assert score.won == share(score.won.of, 40)
    assert 0 < score.won.low < score.won.share < score.won.high < 1
    known = share(74, 100)  # worked out by hand
    assert (round(known.low, 4), round(known.high, 4)) == (0.6463, 0.8160)


def test_endless_games_get_a_turn_limit_unless_one_is_given() -> None:
    for name, wanted in (("prime-duel", 200), ("zero-sum-duel", 200), ("zero-sum-grid", 200)):
        assert with_turn_limit(find(name), {}).turns == wanted
        assert with_turn_limit(find(name), {"turns": "7"}).turns == 7
    assert not hasattr(with_turn_limit(find("positive-negative"), {}), "turns")


# What can go wrong


def test_ctrl_c_keeps_whole_deals() -> None:
    game = find("prime-duel")
    whole = matched("prime-duel", "steady", "random", 20, SMALL)

    def after_three(done: int, whole: int, what: str) -> None:  # noqa: ARG001
        if done == 6:
            raise KeyboardInterrupt

    for processes in (1, 2):
        result = play(
            game, with_turn_limit(game, SMALL), ("steady", "random"), 20, processes=processes, progress=after_three
        )
        assert result.stopped
        assert (result.games, result.asked) == (6, 20)
        assert result.outcomes == whole.outcomes[:6]


def test_ctrl_c_in_the_middle_of_a_game_leaves_no_half_deal(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = 0
    honest = bots.stream_name

    def pressed(view: piste.SeatView) -> str:
        nonlocal calls
        calls += 1
        if calls == 60:
            raise KeyboardInterrupt
        return honest(view)

    monkeypatch.setattr(bots, "stream_name", pressed)
    result = matched("prime-duel", "steady", "random", 100)
    assert 0 < result.games < 100
    assert result.games % 2 == 0


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C is sent as a signal")
def test_ctrl_c_at_a_terminal_stops_all_processes_and_shows_what_is_done() -> None:
    code = (
        "import sys\nfrom piste.analysis.arena.match import with_turn_limit, play\nfrom piste.core.game import find\n"
        "if __name__ == '__main__':\n"
        "    game = find('prime-duel')\n"
        "    def told(done, whole, what):\n        print(done, flush=True)\n"
        "    options = with_turn_limit(game, {})\n"
        "    result = play(game, options, ('steady', 'random'), 1000000, processes=2, progress=told)\n"
        "    print('kept', result.games, result.stopped)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        while (line := process.stdout.readline()) and int(line) < 10:
            pass
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to all of them
        out, errors = process.communicate(timeout=PATIENCE_S)  # returns when nobody is left who holds these pipes
    assert process.returncode == 0
    assert errors == ""
    kept = out.splitlines()[-1].split()
    assert kept[0] == "kept"
    assert int(kept[1]) >= 10
    assert kept[2] == "True"


def test_what_cannot_be_played_is_refused_with_a_sentence() -> None:
    game = find("prime-duel")
    options = with_turn_limit(game, {})
    with pytest.raises(UnknownNameError, match=r"no bot 'stedy' for Prime Duel\. Did you mean steady\?"):
        play(game, options, ("random", "stedy"), 2)
    with pytest.raises(OptionError, match="played by two bots, and 3 were given"):
        play(game, options, ("random",) * 3, 2)
    with pytest.raises(OptionError, match="at least one game and one process"):
        play(game, options, ("random", "random"), 0)
    with pytest.raises(BotError, match="cannot be started"):
        play(game, options, ("random", "cmd:/no/such/program"), 2, processes=2)


def program(tmp_path: Path, text: str) -> str:
    path = tmp_path / "bot.py"
    path.write_text(text, encoding="utf-8")
    return f"cmd:{shlex.join([sys.executable, str(path)])}"


@pytest.mark.skipif(sys.platform == "win32", reason="the command line is quoted for a POSIX shell")
def test_programs_take_part_in_any_process(tmp_path: Path) -> None:
    game = find("positive-negative")
    options = game.options({"top": 2})
    spec = program(tmp_path, LAST)
    one, two = (play(game, options, (spec, "random"), 4, processes=n) for n in (1, 2))
    assert one == two
    assert one.games == 4


@pytest.mark.skipif(sys.platform == "win32", reason="the command line is quoted for a POSIX shell")
@pytest.mark.parametrize("processes", [1, 2])
def test_a_program_that_fails_ends_the_match_with_its_sentence(processes: int, tmp_path: Path) -> None:
    game = find("positive-negative")
    spec = program(tmp_path, "import sys\nsys.stdin.readline()\nsys.exit(3)\n")
    with pytest.raises(PisteError, match=r"The bot 'cmd:.* ended with exit code 3"):
        play(game, game.options(), (spec, "random"), 4, processes=processes)


# Every level against every level


def test_a_ladder_has_every_pair_once_and_says_both_ways() -> None:
    game = find("prime-duel")
    levels = ["random", "novice", "steady"]
    results = ladder(game, with_turn_limit(game, SMALL), levels, lambda one, _: 4 if one == "random" else 2)
    assert [result.specs for result in results] == [("random", "novice"), ("random", "steady"), ("novice", "steady")]
    assert [result.games for result in results] == [4, 4, 2]
    scores = against(results)
    assert len(scores) == 6
    assert scores["steady", "random"].won == scores["random", "steady"].lost
    assert effort(results, "novice") == results[0].times[1] + results[2].times[0]


def test_a_ladder_at_a_larger_table_has_both_orders() -> None:
    game = find("mccoy-duel")
    results = ladder(game, with_turn_limit(game, {"players": 3, "rounds": 1}), ["random", "steady"], 3)
    assert [result.specs for result in results] == [("random", "steady"), ("steady", "random")]
    assert set(against(results)) == {("random", "steady"), ("steady", "random")}


def test_ctrl_c_ends_a_ladder_with_the_matches_there_are() -> None:
    game = find("prime-duel")

    def in_the_second(done: int, whole: int, what: str) -> None:  # noqa: ARG001
        if what == "2/3 random, steady: playing" and done == 2:
            raise KeyboardInterrupt

    levels = ["random", "novice", "steady"]
    results = ladder(game, with_turn_limit(game, SMALL), levels, 4, progress=in_the_second)
    assert [(result.games, result.stopped) for result in results] == [(4, False), (2, True)]


def test_times_add_up() -> None:
    assert Time(2, 0.5, 0.3) + Time(1, 0.1, 0.1) == Time(3, 0.6, 0.3)
    assert Time(4, 1.0, 0.3).mean == 0.25
    assert Time().mean == 0.0


# The command


def asked(*words: str, **other: Any) -> tuple[int, str]:
    """Return the exit code of `piste match` and what it prints."""
    usual = {"all": False, "games": "4", "set": None, "seed": "x", "processes": "1", "engine": None, "json": False}
    out = io.StringIO()
    given = argparse.Namespace(game=words[0], bots=list(words[1:]), **{**usual, **other})
    code = run(given, Terminal(out, colour=False))
    return code, out.getvalue()


def test_the_command_shows_shares_and_times() -> None:
    code, text = asked("prime-duel", "steady", "random", set=["target=20"])
    head, one, two, *_ = text.splitlines()
    assert code == 0
    assert head == (
        "Prime Duel turns=200 target=20: steady against random, 4 games (2 deals, each from every seat)"
    )  # fmt: skip
    assert one.startswith("  steady wins ")
    assert two.startswith("  random wins ")
    assert "ms on average" in text
    text = asked("mccoy-duel", "steady", "random", set=["players=3"])[1]
    assert "steady against 2 times random, 6 games" in text
    assert "of the rounds" in text


def test_the_command_speaks_json() -> None:
    code, text = asked("zero-sum-grid", "steady", "random", json=True, set=["turns=10"])
    found = json.loads(text)
    assert code == 0
    assert (found["format"], found["game"], found["games"], found["asked"]) == (1, "zero-sum-grid", 4, 4)
    assert [player["bot"] for player in found["players"]] == ["steady", "random"]
    assert sum(found["players"][0][key]["of"] for key in ("won", "drawn", "lost")) == 4
    assert found["players"][0]["cpu"]["decisions"] > 0


def test_the_command_makes_the_table_of_all_levels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("piste.bots.playable", lambda *_: (["random", "novice", "steady"], ["No perfect."]))
    code, text = asked("zero-sum-grid", all=True, games="2", set=["turns=10"])
    lines = text.splitlines()
    assert code == 0
    assert lines[0] == "No perfect."
    assert lines[2].split() == ["random", "novice", "steady"]
    assert [line.split()[0] for line in lines[3:6]] == ["random", "novice", "steady"]
    assert "% drawn" in lines
    found = json.loads(asked("zero-sum-grid", all=True, games="2", set=["turns=10"], json=True)[1])
    assert found["levels"] == ["random", "novice", "steady"]
    assert len(found["matches"]) == 3


def test_the_command_refuses_with_a_sentence() -> None:
    with pytest.raises(OptionError, match="between two bots"):
        asked("prime-duel", "steady")
    with pytest.raises(OptionError, match="no bot is to be named"):
        asked("prime-duel", "steady", all=True)
    with pytest.raises(OptionError, match="--games cannot be 'many'"):
        asked("prime-duel", "steady", "random", games="many")
    with pytest.raises(UnknownNameError, match="no bot 'x'"):
        asked("prime-duel", "steady", "x")


def test_the_command_shows_what_is_done_when_it_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    class Pressed:
        def __init__(self, what: str) -> None: ...
        def __enter__(self) -> Pressed:
            return self

        def __exit__(self, *_: object) -> None: ...
        def __call__(self, done: int, whole: int, what: str = "") -> None:  # noqa: ARG002
            if done == 2:
                raise KeyboardInterrupt

    monkeypatch.setattr("piste.cli.commands.match.ProgressBar", Pressed)
    code, text = asked("prime-duel", "steady", "random", games="10")
    assert code == 130
    assert text.startswith("Stopped after 2 of 10 games")


def test_the_tool_writes_its_tables_between_the_marks(tmp_path: Path) -> None:
    page = tmp_path / "bots.md"
    page.write_text("before\n<!-- ladder -->\nold\n<!-- /ladder -->\nafter\n", encoding="utf-8")
    command = ["-m", "tools.bots_table", "zero-sum-grid", "--scale", "0.001", "--page", str(page)]
    subprocess.run([sys.executable, *command], cwd=ROOT, check=True)
    text = page.read_text(encoding="utf-8")
    assert text.startswith("before\n<!-- ladder -->\n")
    assert text.endswith("<!-- /ladder -->\nafter\n")
    assert "old" not in text
    assert "### Zero-Sum Grid (`turns=60`)" in text
    for level in ("random", *bots.LEVELS):
        assert f"\n| {bots.described(find('zero-sum-grid'), level)} | " in text
