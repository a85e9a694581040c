"""The OpenAPI document is valid, has exactly the routes that there are, and describes real answers."""

from __future__ import annotations

import re
from typing import Any

import jsonschema
import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator, validate
from starlette.routing import Route

from piste import __version__
from piste.core.game import names
from piste.web.api.openapi import openapi
from piste.web.api.problems import PROBLEMS
from tests.web.api.program_client import API, Program, two_programs
from tests.web.in_process_server import Got, InProcessServer


def check(schema: str, value: Any) -> None:
    """Compare a value with a schema of the document."""
    whole = {"$ref": f"#/components/schemas/{schema}", "components": openapi()["components"]}
    jsonschema.Draft202012Validator(whole).validate(value)


def check_answer(path: str, method: str, got: Got) -> None:
    """Compare an answer with what the document says of its address."""
    operation = openapi()["paths"][path][method]
    said = operation["responses"].get(str(got.status))
    assert said is not None, f"{method} {path} is not said to answer {got.status}: {got.text}"
    if "$ref" in said:
        said = openapi()["components"]["responses"][said["$ref"].rpartition("/")[2]]
    media = got.header("content-type").partition(";")[0]
    assert media in said["content"], f"{method} {path} answers {media}"
    if media.endswith("json") and not media.endswith("ndjson"):
        check(said["content"][media]["schema"]["$ref"].rpartition("/")[2], got.json)
    if "Retry-After" in said.get("headers", {}):
        assert int(got.header("retry-after")) >= 1


def test_the_document_is_valid() -> None:
    validate(openapi(), cls=OpenAPIV31SpecValidator)
    assert openapi()["openapi"].startswith("3.1.")
    assert openapi()["info"]["version"] == __version__


def test_every_schema_and_refusal_is_used() -> None:
    text = repr(openapi())
    for kind in ("schemas", "responses", "parameters"):
        for name in openapi()["components"][kind]:
            if kind == "responses" and name in ("no-such-address", "wrong-method"):
                continue  # of addresses that are not in the document
            assert f"#/components/{kind}/{name}'" in text or f"`{name}`" in text


async def test_it_has_the_routes_that_there_are(house: InProcessServer) -> None:
    served = {
        (route.path, method)
        for route in house.app.routes
        if isinstance(route, Route) and route.path.startswith(API)
        for method in (route.methods or set()) - {"HEAD"}
    }
    told = {(path, method.upper()) for path, item in openapi()["paths"].items() for method in item}
    assert served == told
    assert (await Program(house).get("/openapi.json")).json == openapi()


@pytest.mark.parametrize("game", names())
async def test_it_describes_real_answers(house: InProcessServer, game: str) -> None:
    table = f"{API}/tables/{{code}}"
    watcher = Program(house)
    for path in ("", "/openapi.json", "/problems", "/games"):
        check_answer(API + path, "get", await watcher.get(path))
    check_answer(f"{API}/games/{{game}}", "get", await watcher.get(f"/games/{game}"))
    check_answer(f"{API}/games/{{game}}/rules", "get", await watcher.get(f"/games/{game}/rules"))
    check_answer(f"{API}/tokens", "post", await watcher.post("/tokens"))
    ada, ben = Program(house), Program(house)
    opened = await ada.post("/tables", {"game": game, "versus": "friend", "name": "Ada"})
    check_answer(f"{API}/tables", "post", opened)
    code = opened.json["table"]["code"]
    check_answer(table, "get", await ada.get(f"/tables/{code}"))
    check_answer(f"{table}/seats", "post", await ben.post(f"/tables/{code}/seats", {"name": "Ben"}))
    check_answer(f"{table}/seats", "post", await ben.post(f"/tables/{code}/seats"))
    check_answer(f"{table}/tokens", "post", await ben.post(f"/tables/{code}/tokens"))
    lines = await ada.listens(code)
    socket = await ben.connect(code)
    for _ in range(6):
        for program in (ada, ben, watcher):
            check_answer(table, "get", await program.get(f"/tables/{code}"))
            check_answer(f"{table}/history", "get", await program.get(f"/tables/{code}/history"))
            if (await program.sees(code))["now"]["type"] == "decide":
                check_answer(f"{table}/decisions", "post", await program.decides_first(code))
    await socket.raw('{"do": "claim"}')
    check_answer(f"{table}/resign", "post", await ada.post(f"/tables/{code}/resign"))
    check_answer(table, "get", await ada.get(f"/tables/{code}"))
    check_answer(f"{table}/history", "get", await ada.get(f"/tables/{code}/history"))
    check_answer(f"{table}/record", "get", await ada.get(f"/tables/{code}/record"))
    for message in (*lines.messages, *socket.messages):
        check("Event", message)
    assert "end" in lines.types
    await lines.leave()
    await socket.leave()


async def test_it_describes_refusals(house: InProcessServer) -> None:
    table = f"{API}/tables/{{code}}"
    code, (ada, ben) = await two_programs(house, "prime-duel", options={"first": 1})
    stranger = Program(house)
    for path, address in ((table, f"/tables/{code}"), (f"{table}/history", f"/tables/{code}/history")):
        check_answer(path, "get", await Program(house, "short").get(address))
        check_answer(path, "get", await ada.get(address.replace(code, "2" * 16)))
    check_answer(f"{table}/record", "get", await ada.get(f"/tables/{code}/record"))
    check_answer(f"{API}/games/{{game}}", "get", await ada.get("/games/poker"))
    wrong: list[Any] = [{"game": "poker"}, {"game": "prime-duel", "options": {"target": 0}}, [], b"x" * 9000]
    for fields in wrong:
        check_answer(f"{API}/tables", "post", await stranger.post("/tables", fields))
    for decision in ("keep", "fold"):
        for program in (ben, stranger, Program(house, "w" * 43), ada):
            check_answer(f"{table}/decisions", "post", await program.decides(code, decision, 0))
    for do in ("claim", "return", "resign"):
        for program in (ben, stranger, Program(house, "w" * 43)):
            check_answer(f"{table}/{do}", "post", await program.post(f"/tables/{code}/{do}"))
    check_answer(f"{table}/seats", "post", await stranger.post(f"/tables/{code}/seats"))


def test_every_refusal_has_a_hint_that_names_only_what_there_is() -> None:
    known = {re.sub(r"\{\w+\}", "", path) for path in openapi()["paths"]}
    for problem in PROBLEMS.values():
        assert problem.hint.endswith(".")
        for address in re.findall(r"/api/v1[\w/.-]*[\w]", problem.hint):
            assert re.sub(r"CODE|GAME", "", address) in known


async def test_every_history_is_told_whole_page_by_page(house: InProcessServer) -> None:
    code, (ada, ben) = await two_programs(house, "zero-sum-grid", options={"turns": 200})
    for _ in range(110):
        for program in (ada, ben):
            if (await program.sees(code))["now"]["type"] == "decide":
                await program.decides_first(code)
    first = (await ada.get(f"/tables/{code}/history")).json
    assert len(first["entries"]) == 200 < first["length"]
    rest = (await ada.get(f"/tables/{code}/history?since=200")).json
    assert len(rest["entries"]) == first["length"] - 200
    assert rest["entries"][-1]["view"] == first["view"] == rest["view"]
