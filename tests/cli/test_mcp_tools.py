"""The tools of `piste mcp`: whole games, and a sentence for everything that is refused."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from piste.bots import tasks
from piste.cli.commands.mcp import local_games, server
from piste.cli.commands.mcp.local_games import kept_games_folder, load_record
from piste.cli.commands.mcp.seated_game import NUMBERED, UNGUESSABLE
from piste.cli.commands.mcp.server import GameServer
from piste.core.game import names
from piste.core.marks import Hint
from piste.core.replay import replay
from tests.cli.mcp_client import ask, call, game_id, open_decisions, play, refusal, with_client
from tests.limits import PATIENCE_S


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PISTE_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


TOOLS = ("list_games", "rules", "new_game", "look", "decide", "hint", "review", "puzzle", "join")


def test_the_tools_are_listed_with_what_they_take() -> None:
    async def use(client: Client, _: GameServer) -> None:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert set(TOOLS) <= set(tools)
        for tool in tools.values():
            assert tool.description
            assert tool.annotations is not None
            properties: dict[str, Any] = tool.input_schema["properties"]
            assert all(argument["description"] for argument in properties.values()), tool.name
            assert "context" not in properties

    with_client(use)


@pytest.mark.parametrize("game", names())
def test_a_whole_game_is_played_by_reading_texts(game: str) -> None:
    async def use(client: Client, _: GameServer) -> str:
        name, text = await play(client, game, opponent="novice", seed=f"one game of {game}")
        assert await ask(client, "look", game_id=name) == text
        assert text.count("You won") + text.count("You lost") + text.count("It is a draw") == 1
        return name

    name = with_client(use)
    assert name == f"{game}-1"
    record = load_record(kept_games_folder() / f"{name}.jsonl")
    assert record.ending is not None
    assert replay(record)[0].ending() is not None
    assert record.head.notes == {"seat 1": "you", "seat 2": "novice"}


def test_a_game_of_several_players_names_all_of_them() -> None:
    async def use(client: Client, _: GameServer) -> None:
        text = await ask(client, "new_game", game="mccoy-duel", opponent="random", options={"players": 4})
        for player in ("Player 2", "Player 3", "Player 4"):
            assert f"{player} is the bot random" in text

    with_client(use)


def test_a_position_says_what_happened_whose_turn_it_is_and_what_can_be_decided() -> None:
    async def use(client: Client, _: GameServer) -> None:
        options = {"first": "1"}
        begun = await ask(client, "new_game", game="prime-duel", options=options, seed="told 1")
        assert "Land on 50 exactly" in begun, "the rules in three lines"
        assert "It is your turn: question 0." in begun
        assert "One of: keep, discard" in begun
        after = await ask(client, "decide", game_id="prime-duel-1", decision="keep", question=0)
        assert "Since your last decision:\n  You kept" in after
        assert "question 0" not in after
        assert "  Player 2 drew" in after
        whole = await ask(client, "look", game_id="prime-duel-1", whole_log=True)
        assert "The whole log:\n  You drew" in whole
        assert whole.endswith(after.partition("\n")[2])

    with_client(use)


def test_the_decisions_of_duel_stand_there_with_what_they_do() -> None:
    async def use(client: Client, _: GameServer) -> None:
        text = await ask(client, "new_game", game="duel", opponent="random", options={"first": "1"}, seed="cards")
        assert len(open_decisions(text)) > 2
        assert "(The Killing Blow: Bury a face up card.)" in text
        assert "\u2212" not in text, "a minus is written as decisions have it"

    with_client(use)


def test_games_and_rules_are_told_in_text() -> None:
    async def use(client: Client, _: GameServer) -> None:
        listed = await ask(client, "list_games")
        for game in names():
            assert f"{game}: " in listed
            short = await ask(client, "rules", game=game)
            assert len(await ask(client, "rules", game=game, everything=True)) > len(short) > 500
            assert "piste rules" not in short, "a client has no terminal"
        assert "go on" not in listed
        await ask(client, "new_game", game="prime-duel")
        assert "Your games that go on: prime-duel-1" in await ask(client, "list_games")

    with_client(use)


@pytest.mark.parametrize(
    ("tool", "arguments", "sentence"),
    [
        ("deal", {}, "There is no tool 'deal'. The tools are: list_games, rules"),
        ("decide", {}, "decide needs the argument game_id. decide needs the argument decision."),
        ("rules", {"game": 5}, "The argument game of rules cannot be '5': input should be a valid string."),
        ("rules", {"game": "chess"}, "There is no game 'chess'. The games are:"),
        ("new_game", {"game": "chess"}, "There is no game 'chess'."),
        ("new_game", {"game": "duel", "opponent": "cmd:ls"}, "There is no opponent 'cmd:ls' in Duel. It is random,"),
        ("new_game", {"game": "duel", "opponent": "os:getcwd"}, "There is no opponent 'os:getcwd' in Duel."),
        ("new_game", {"game": "prime-duel", "options": {"top": 99}}, "The option 'top' cannot be '99'"),
        ("new_game", {"game": "prime-duel", "options": {"tip": 9}}, "Prime Duel has no option 'tip'."),
        ("new_game", {"game": "prime-duel", "seed": "\ud800"}, "cannot be"),
        ("look", {"game_id": "prime-duel-7"}, "There is no game 'prime-duel-7'. These are running: prime-duel-1."),
        ("look", {"game_id": "../games/x"}, "There is no game '../games/x'."),
        ("look", {"game_id": "x" * 300}, "The argument game_id of look cannot be"),
        ("decide", {"game_id": "prime-duel-1", "decision": "7"}, "'7' is not a decision here. You can choose keep"),
        ("decide", {"game_id": "prime-duel-1", "decision": "keep", "question": 9}, "but question 0 is open. Look"),
        ("review", {"game_id": "prime-duel-1"}, "prime-duel-1 is not over: a review would tell what is"),
        ("puzzle", {"game": "prime-duel", "level": "mad"}, "There is no level 'mad' of puzzles. It is easy, medium"),
        ("puzzle", {"game": "prime-duel", "number": 0}, "The argument number of puzzle cannot be '0'"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_a_tool_error_with_a_sentence(
    tool: str, arguments: dict[str, Any], sentence: str
) -> None:
    async def use(client: Client, _: GameServer) -> str:
        await ask(client, "new_game", game="prime-duel", options={"first": "1"})
        return await refusal(client, tool, **arguments)

    said = with_client(use)
    assert sentence in said
    assert "Error executing" not in said
    assert "pydantic" not in said
    assert said.endswith((".", "?")), said


def test_after_the_end_there_is_nothing_to_decide() -> None:
    async def use(client: Client, _: GameServer) -> None:
        await ask(client, "new_game", game="prime-duel", options={"first": "1"})
        text = await ask(client, "decide", game_id="prime-duel-1", decision="resign")
        assert "The game is over. You lost: resigned." in text
        assert "the game is over" in await refusal(client, "decide", game_id="prime-duel-1", decision="keep")
        assert "the game is over" in await refusal(client, "decide", game_id="prime-duel-1", decision="resign")
        assert "there is no hint" in await refusal(client, "hint", game_id="prime-duel-1")

    with_client(use)


def test_a_fault_of_ours_is_told_without_its_words(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object, **__: object) -> str:
        raise RuntimeError("the seed is 1234")

    monkeypatch.setattr(server, "rules_text", fail)

    async def use(client: Client, _: GameServer) -> str:
        return await refusal(client, "rules", game="duel")

    assert with_client(use) == "rules failed through a fault of piste itself. The log of the server says more."
    assert "the seed is 1234" in caplog.text


def test_a_hint_is_what_the_strongest_bot_would_do_and_is_on_record() -> None:
    async def use(client: Client, _: GameServer) -> tuple[str, str]:
        text = await ask(client, "new_game", game="zero-sum-grid", opponent="random", seed="hint")
        name = game_id(text)
        said = await ask(client, "hint", game_id=name)
        assert await ask(client, "hint", game_id=name) == said
        return said, name

    said, name = with_client(use)
    (mark,) = load_record(kept_games_folder() / f"{name}.jsonl").marks
    assert isinstance(mark, Hint)
    assert said == f"The bot perfect (proven) would choose {mark.decision}. The record says that you asked."


def test_a_review_says_what_decisions_cost() -> None:
    async def use(client: Client, _: GameServer) -> None:
        name, _text = await play(client, "zero-sum-grid", opponent="steady", seed="review")
        said = await ask(client, "review", game_id=name)
        assert said.startswith("Zero-Sum Grid: ")
        assert "Player 1: from" in said
        assert "Player 2: from" not in said
        assert "Player 2: from" in await ask(client, "review", game_id=name, all_seats=True)

    with_client(use)


def test_a_puzzle_is_shown_and_judged() -> None:
    async def use(client: Client, _: GameServer) -> None:
        asked = {"game": "zero-sum-grid", "level": "easy", "number": 2}
        text = await ask(client, "puzzle", **asked)
        assert text == await ask(client, "puzzle", **asked)
        assert text.startswith("Zero-Sum Grid, puzzle 2. You are Player ")
        decisions = open_decisions(text.rpartition("\n")[0])
        answers = [await ask(client, "puzzle", answer=decision, **asked) for decision in decisions]
        assert sum(answer.startswith("Right: ") for answer in answers) == 1
        wrong = [answer for answer in answers if not answer.startswith("Right: ")]
        assert all(answer.startswith("No: ") and "of winning chance away." in answer for answer in wrong)
        assert "is not a decision here" in await refusal(client, "puzzle", answer="x", **asked)

    with_client(use)


# Games that are kept


def test_a_game_goes_on_after_a_restart() -> None:
    async def begin(client: Client, _: GameServer) -> str:
        await ask(client, "new_game", game="zero-sum-duel", seed="after a restart")
        return await ask(client, "look", game_id="zero-sum-duel-1", whole_log=True)

    async def go_on(client: Client, _: GameServer) -> str:
        text = await ask(client, "look", game_id="zero-sum-duel-1", whole_log=True)
        (first, *_others) = open_decisions(text)
        await ask(client, "decide", game_id="zero-sum-duel-1", decision=first)
        assert game_id(await ask(client, "new_game", game="zero-sum-duel")) == "zero-sum-duel-2"
        return text

    assert with_client(begin) == with_client(go_on)


def test_two_servers_of_one_user_do_not_share_a_running_game() -> None:
    async def use(client: Client, _: GameServer) -> None:
        await ask(client, "new_game", game="prime-duel", options={"first": "1"})
        other = GameServer(NUMBERED)
        try:
            async with Client(other) as second:
                said = await refusal(second, "look", game_id="prime-duel-1")
                assert said.startswith("The game prime-duel-1 is open in another window.")
                assert game_id(await ask(second, "new_game", game="prime-duel")) == "prime-duel-2"
        finally:
            other.close()

    with_client(use)


def test_a_client_of_several_can_neither_list_nor_guess_the_games_of_others() -> None:
    async def own(client: Client, _: GameServer) -> None:
        await ask(client, "new_game", game="prime-duel")

    async def use(client: Client, _: GameServer) -> None:
        name = game_id(await ask(client, "new_game", game="prime-duel"))
        assert len(name) == len("prime-duel-") + 16
        assert "go on" not in await ask(client, "list_games")
        for other in ("prime-duel-1", "prime-duel-" + "a" * 16, f"{name[:-1]}", "*", "prime-duel-*"):
            said = await refusal(client, "look", game_id=other)
            assert said == f"There is no game '{other}'. Begin one with new_game."

    with_client(own)
    with_client(use, UNGUESSABLE)


def test_the_number_of_games_is_limited_and_old_ones_make_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_games, "MAX_GAMES", 2)

    async def use(client: Client, _: GameServer) -> None:
        for _turn in range(2):
            await ask(client, "new_game", game="prime-duel", options={"first": "1"})
        said = await refusal(client, "new_game", game="prime-duel")
        assert said.startswith("There are 2 games that go on, and no room for another.")
        await ask(client, "decide", game_id="prime-duel-2", decision="resign")
        assert game_id(await ask(client, "new_game", game="duel")) == "mccoy-duel-1"
        assert "There is no game" in await refusal(client, "look", game_id="prime-duel-2")
        await ask(client, "look", game_id="prime-duel-1")

    with_client(use)


# Work that takes long


class Gate:
    """Bots that think until they are let through."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.open = threading.Event()
        choose = tasks.choose

        def wait_and_choose(*arguments: Any, **named: Any) -> int:
            assert self.open.wait(PATIENCE_S), "nobody opened the gate"
            return choose(*arguments, **named)

        monkeypatch.setattr(tasks, "choose", wait_and_choose)


def test_a_bot_that_thinks_long_is_waited_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    gate = Gate(monkeypatch)

    async def use(client: Client, games: GameServer) -> None:
        games.jobs.wait_s = 0
        text = await ask(client, "new_game", game="prime-duel", options={"first": "2"})
        assert "Player 2 is thinking. Look again to go on waiting." in text
        assert "It is not your turn." in text
        assert "it is for Player 2" in await refusal(client, "decide", game_id="prime-duel-1", decision="keep")
        assert "is thinking" in await ask(client, "look", game_id="prime-duel-1")
        games.jobs.wait_s = PATIENCE_S
        gate.open.set()
        assert "It is your turn" in await ask(client, "look", game_id="prime-duel-1")

    with_client(use)


def test_while_a_bot_thinks_progress_is_told_and_other_calls_are_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    gate = Gate(monkeypatch)
    told: list[str] = []

    async def use(client: Client, games: GameServer) -> None:
        games.jobs.wait_s = PATIENCE_S

        async def tell(progress: float, total: float | None, message: str | None) -> None:
            assert total == PATIENCE_S
            assert progress > 0
            told.append(message or "")
            assert (await call(client, "rules", game="duel")).text
            gate.open.set()

        arguments = {"game": "prime-duel", "options": {"first": "2"}}
        result = await client.call_tool("new_game", arguments, progress_callback=tell)
        assert not result.is_error

    with_client(use)
    assert told
    assert set(told) == {"Player 2 is thinking"}


def test_a_call_that_is_given_up_leaves_the_game_as_it_should_be(monkeypatch: pytest.MonkeyPatch) -> None:
    gate = Gate(monkeypatch)

    async def use(client: Client, games: GameServer) -> None:
        games.jobs.wait_s = PATIENCE_S
        begun = asyncio.create_task(call(client, "new_game", game="prime-duel", options={"first": "2"}))
        while not (kept_games_folder() / "prime-duel-1.jsonl").exists():
            await asyncio.sleep(0)
        begun.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await begun
        gate.open.set()
        assert "It is your turn" in await ask(client, "look", game_id="prime-duel-1")

    with_client(use)


def test_what_is_waiting_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    gate = Gate(monkeypatch)
    monkeypatch.setattr("piste.cli.commands.mcp.jobs.MAX_WAITING", 1)

    async def use(client: Client, games: GameServer) -> None:
        games.jobs.wait_s = 0
        await ask(client, "new_game", game="prime-duel", options={"first": "2"})
        said = await refusal(client, "new_game", game="prime-duel", options={"first": "2"})
        assert said == "Too much is being computed here already. Try it again in a minute."
        gate.open.set()

    with_client(use)
