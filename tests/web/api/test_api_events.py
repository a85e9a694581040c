"""What happens at a table reaches a program as lines and over a websocket, and a websocket takes decisions."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from tests.limits import PATIENCE_S
from tests.web.api.program_client import Program, two_programs
from tests.web.in_process_server import Device, InProcessServer, Socket

GAME = "prime-duel"


async def say(socket: Socket, text: str | bytes) -> dict[str, Any]:
    """Send something and return what is answered to it, which is not news of the table."""
    found = [json.loads(one) for one in await socket.raw(text)]
    (answer,) = (one for one in found if one["type"] in ("taken", "refused"))
    return dict(answer)


async def test_lines_tell_a_program_what_one_on_this_computer_is_told(house: InProcessServer) -> None:
    code, (ada, ben) = await two_programs(house, GAME, options={"first": 1})
    lines = await ada.listens(code)
    assert lines.status == 200
    assert lines.types == ["table", "hello", "decide"]
    assert lines.messages[1:] == [(await ada.sees(code))["hello"], (await ada.sees(code))["now"]]
    heard = lines.messages[2]["log"]
    while lines.types[-1] != "end":
        for program in (ada, ben):
            if (await program.sees(code))["now"]["type"] == "decide":
                await program.decides_first(code)
    for message in lines.messages[3:]:
        heard += message.get("log", [])
    assert heard == (await ada.sees(code))["now"]["log"]  # each event once, none left out
    assert not lines.ended
    await lines.leave()


async def test_a_program_that_comes_back_is_told_the_rest_of_the_log(house: InProcessServer) -> None:
    code, (ada, _) = await two_programs(house, GAME, options={"first": 1})
    whole = (await ada.sees(code))["now"]["log"]
    lines = await ada.listens(code, since=1)
    assert lines.messages[2]["log"] == whole[1:]
    await lines.leave()


async def test_whoever_waits_is_told_when_the_game_begins(house: InProcessServer) -> None:
    program = Program(house)
    code = await program.opens(GAME, options={"first": 1})
    lines = await program.listens(code)
    assert lines.types == ["table"]
    friend = Device(house)
    await friend.do(code, "sit", name="Eve")
    assert lines.types[1:] == ["table", "hello", "decide"]
    assert [one["kind"] for one in lines.messages[1]["table"]["people"]] == ["program", "person"]
    await lines.leave()


async def test_a_program_with_a_stream_is_here_and_without_one_it_is_away(house: InProcessServer) -> None:
    code, (ada, ben) = await two_programs(house, GAME)
    lines = await ada.listens(code)
    house.clock.now += 100
    people = (await ben.sees(code))["table"]["people"]
    assert people[0]["here"]
    await lines.leave()
    house.clock.now += 100
    people = (await ben.sees(code))["table"]["people"]
    assert not people[0]["here"]


async def test_a_websocket_takes_decisions_and_resignations(house: InProcessServer) -> None:
    code, (ada, ben) = await two_programs(house, GAME, options={"first": 1})
    sockets = [await one.connect(code) for one in (ada, ben)]
    assert [one["type"] for one in sockets[0].messages] == ["table", "hello", "decide"]
    assert [one["type"] for one in sockets[1].messages] == ["table", "hello", "told"]
    asked = sockets[0].messages[-1]
    answer = json.dumps({"decision": "keep", "number": asked["number"]})
    for _ in range(2):  # the second time it is answered and not taken
        taken = await say(sockets[0], answer)
        assert taken == {"type": "taken", "do": "decide", "decision": "keep", "number": asked["number"]}
    assert sockets[1].messages[-1]["log"][0] == "decide@1:keep"
    late = await say(sockets[0], json.dumps({"decision": "discard", "number": asked["number"]}))
    assert late["problem"]["type"] == "/api/v1/problems#stale-decision"
    assert await say(sockets[1], '{"do": "resign"}') == {"type": "taken", "do": "resign"}
    assert [socket.messages[-1]["type"] for socket in sockets] in (["end", "end"], ["end", "taken"])
    for socket in sockets:
        await socket.leave()


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("{", "unreadable-request"),
        ("[]", "unreadable-request"),
        ('{"decision": "keep"}', "unreadable-request"),
        ('{"number": 0}', "unreadable-request"),
        ('{"decision": "keep", "number": "0"}', "unreadable-request"),
        ('{"decision": "keep", "number": 0, "more": 1}', "unreadable-request"),
        ('{"do": "delete"}', "unreadable-request"),
        ('{"do": "rematch"}', "unreadable-request"),
        ('{"decision": "fold", "number": 0}', "unreadable-decision"),
        ('{"decision": "keep", "number": 7}', "stale-decision"),
        ('{"do": "claim"}', "not-now"),
        (" " * 2000, "too-large"),
    ],
)
async def test_what_cannot_be_done_over_a_websocket_is_refused(house: InProcessServer, text: str, kind: str) -> None:
    code, (ada, _) = await two_programs(house, GAME, options={"first": 1})
    socket = await ada.connect(code)
    refused = await say(socket, text)
    assert refused["problem"]["type"].endswith(f"#{kind}")
    assert refused["problem"]["hint"]
    await socket.leave()


async def test_a_spectator_is_told_what_everybody_may_know_and_decides_nothing(house: InProcessServer) -> None:
    code, _ = await two_programs(house, "zero-sum-duel")
    socket = await Program(house).connect(code)
    assert socket.messages[1]["seat"] == "watcher"
    refused = await say(socket, '{"do": "resign"}')
    assert refused["problem"]["type"].endswith("#not-your-seat")
    await socket.leave()


async def test_a_stream_says_when_the_server_stops(house: InProcessServer) -> None:
    code, (ada, ben) = await two_programs(house, GAME)
    lines, socket = await ada.listens(code), await ben.connect(code)
    house.service.registry.close_subscriptions()
    await lines.until(lambda: lines.ended)
    await house.settle()
    assert lines.messages[-1] == {"type": "bye", "reason": "restart"}
    assert socket.messages[-1] == {"type": "bye", "reason": "restart"}
    assert socket.closed == 1012
    await lines.leave()
    await socket.leave()


async def test_a_stream_ends_when_its_table_is_gone(house: InProcessServer) -> None:
    program = Program(house)
    code = await program.opens(GAME)
    lines, socket = await program.listens(code), await program.connect(code)
    await house.service.registry.delete(code)
    await lines.until(lambda: lines.ended)
    await house.settle()
    assert lines.messages[-1] == socket.messages[-1] == {"type": "bye", "reason": "gone"}
    assert socket.closed == 4404
    await lines.leave()
    await socket.leave()


async def test_a_socket_to_no_table_or_with_no_token_is_refused(house: InProcessServer) -> None:
    socket = await Program(house).connect("2222222222222222")
    assert socket.last["problem"]["type"].endswith("#no-such-table")
    assert socket.closed == 4404
    code = await Program(house).opens(GAME)
    refused = await Program(house, "short").connect(code)
    assert refused.refused[0]["status"] == 401


async def test_a_quiet_stream_says_that_it_lives(db: Any) -> None:
    async with InProcessServer(db, ping=0.01) as house:
        program = Program(house)
        code = await program.opens(GAME)
        lines = await program.listens(code)
        await lines.until(lambda: "ping" in lines.types)
        await lines.leave()


async def test_a_token_that_sits_down_meanwhile_hears_from_its_seat(house: InProcessServer) -> None:
    code = await Program(house).opens(GAME, options={"first": 2})
    device = Program(house, "d" * 43)
    lines = await device.listens(code)
    assert lines.messages[0]["table"]["seat"] is None
    await device.sits(code, "Ben")
    assert lines.types == ["table", "table", "hello", "decide"]
    assert lines.messages[1]["table"]["seat"] == 1
    await lines.leave()


async def test_messages_are_limited_in_rate(db: Any) -> None:
    async with InProcessServer(db, limits=True) as house:
        code, (ada, _) = await two_programs(house, GAME)
        socket = await ada.connect(code)
        for _ in range(60):
            socket.put('{"do": "claim"}')
        async with asyncio.timeout(PATIENCE_S):
            while socket.closed is None:
                await asyncio.sleep(0)
        assert socket.closed == 1013
        (last,) = [one for one in socket.messages if one.get("problem", {}).get("status") == 429]
        assert last["problem"]["retry_after"] >= 1
        await socket.leave()
