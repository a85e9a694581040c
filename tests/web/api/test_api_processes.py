"""Programs at two servers on one PostgreSQL: each hears what happens at the other; asked twice is done once."""

from __future__ import annotations

import asyncio

from tests.limits import until
from tests.postgres_server import PostgresServer
from tests.web.api.program_client import Program
from tests.web.test_several_processes import two_servers


def at(program: Program, other: Program) -> Program:
    """Return the same program at another server."""
    return Program(other.house, program.token)


async def test_a_stream_at_one_server_tells_what_happens_at_the_other(postgres: PostgresServer) -> None:
    async with two_servers(postgres) as (first, second):
        ada, ben = Program(first), Program(second)
        code = await ada.opens("prime-duel", options={"first": 1}, name="Ada")
        lines = await ada.listens(code)
        await ben.sits(code, "Ben")
        await until(lambda: "decide" in lines.types, lambda: f"heard {lines.types}")
        kinds = [one["kind"] for one in lines.messages[-3]["table"]["people"]]
        assert kinds == ["program", "program"]  # the flag reaches the other process, too
        question = lines.messages[-1]
        assert (await at(ada, ben).sees(code))["now"] == question  # with the same number to take luck from
        assert (await at(ada, ben).decides(code, "keep", question["number"])).status == 200
        await until(lambda: lines.messages[-1].get("log", [""])[0] == "decide@1:keep", lambda: repr(lines.types))
        assert (await ada.decides(code, "keep", question["number"])).status == 200  # answered again, taken once
        assert (await ada.decides(code, "discard", question["number"])).json["status"] == 409
        await lines.leave()


async def test_a_table_that_is_asked_for_at_both_with_one_key_is_opened_once(postgres: PostgresServer) -> None:
    async with two_servers(postgres) as (first, second):
        programs = [Program(server, "d" * 43) for server in (first, second)]
        fields, key = {"game": "prime-duel", "versus": "friend"}, {"idempotency-key": "one"}
        one = await programs[0].post("/tables", fields, **key)
        two = await programs[1].post("/tables", fields, **key)
        assert one.status == two.status == 201
        assert one.json["table"]["code"] == two.json["table"]["code"]
        for attempt in range(5):  # at the same moment
            key = {"idempotency-key": f"both {attempt}"}
            both = await asyncio.gather(*(program.post("/tables", fields, **key) for program in programs))
            assert [got.status for got in both] == [201, 201], [got.text for got in both]
            assert len({got.json["table"]["code"] for got in both}) == 1
