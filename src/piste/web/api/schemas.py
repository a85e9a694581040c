"""The shapes of what the API takes and answers, as JSON Schema."""

from __future__ import annotations

from typing import Any

from piste.web.api.problems import PROBLEMS, ROOT

Json = dict[str, Any]


def ref(name: str) -> Json:
    return {"$ref": f"#/components/schemas/{name}"}


def shape(about: str, optional: tuple[str, ...] = (), /, **fields: Json) -> Json:
    """Return an object with these fields and no others."""
    return {
        "type": "object",
        "description": about,
        "properties": fields,
        "required": [name for name in fields if name not in optional],
        "additionalProperties": False,
    }


def text(about: str = "", **more: Any) -> Json:
    return {"type": "string", **({"description": about} if about else {}), **more}


def whole(about: str = "", **more: Any) -> Json:
    return {"type": "integer", **({"description": about} if about else {}), **more}


def flag(about: str) -> Json:
    return {"type": "boolean", "description": about}


def listing(items: Json, about: str = "") -> Json:
    return {"type": "array", "items": items, **({"description": about} if about else {})}


def or_null(schema: Json) -> Json:
    return {"anyOf": [schema, {"type": "null"}]}


def only(value: str) -> Json:
    return {"const": value}


VIEW: Json = {
    "type": "object",
    "description": "What the seat sees: the fields of the game's View. Numbers may need 62 bits.",
    "additionalProperties": True,
}
LOG = listing(text(), "What the seat was told since, in the notation; ? is hidden from it")
DECISIONS = listing(text(), "The names to choose from")

SCHEMAS: Json = {
    "Any": {"type": "object", "additionalProperties": True},
    "Text": {"type": "string"},
    "Index": shape("Where to begin", openapi=text(), addresses=listing(text())),
    "Problem": shape(
        "A refusal (RFC 9457)", ("retry_after",),
        type=text(enum=[f"{ROOT}/problems#{name}" for name in PROBLEMS]), title=text(), status=whole(),
        detail=text("What is wrong, in a sentence"), hint=text("What can be done"),
        retry_after=whole("After how many seconds to ask again", minimum=1),
    ),
    "Problems": shape(
        "Every kind of refusal",
        problems=listing(shape("One", type=text(), status=whole(), title=text(), hint=text())),
    ),
    "Option": shape(
        "One option of a game", name=text(), label=text(), help=text(), default=text("As it is written"),
        low=whole(), high=whole(),
        names={"type": "object", "description": "Names for values", "additionalProperties": {"type": "integer"}},
    ),
    "Bot": shape(
        "A bot of the server", name=text(), line=text("What it does"),
        basis=or_null(text("How its play is known, in a word")),
    ),
    "Game": shape(
        "A game", name=text(), title=text(), line=text(), credit=text(),
        seats=listing(text(), "What seats are called"),
        kinds=listing(text(), "What kinds of events there are"), rules=text("The address of its rules"),
        options=listing(ref("Option")), bots=listing(ref("Bot"), "Weakest first"),
    ),
    "Games": shape("All games", games=listing(ref("Game"))),
    "Token": shape("A token. It is shown once", token=text(), scope=text(enum=["device", "seat"])),
    "OpenTable": shape(
        "A table to open", ("options", "versus", "name"), game=text("Its name"),
        options={
            "type": "object", "description": "Options that differ from the usual ones",
            "additionalProperties": {"type": ["string", "integer"]},
        },
        versus=text("A bot's name, or friend for free seats", default="steady"),
        name=text("What the program is called at the table", maxLength=24),
    ),
    "Sit": shape(
        "Who sits down; with `seat` and `link`, on the seat whose private link ends in these",
        ("name", "seat", "link"),
        name=text("What the program is called at the table", maxLength=24), seat=whole("From 0"), link=text(),
    ),
    "Decision": shape("A decision", number=whole("Of the question", minimum=0), decision=text("Its name")),
    "Person": shape(
        "A seat as everybody sees it", seat=whole("From 0"), seat_name=text("As the notation has it"), name=text(),
        kind=text(enum=["person", "program", "bot", "open", "kept"]), bot=text("Which bot plays there, or stands in"),
        here=flag("Connected now"), turn=flag("To decide now"), resigned=flag("Has resigned"),
    ),
    "Table": shape(
        "What everybody may know of a table", code=text(), link=text("Its page, for people"), game=text(),
        title=text(),
        options={"type": "object", "additionalProperties": {"type": "string"}},
        stage=text(enum=["waiting", "playing", "over"]), status=text("Whose turn it is, in a sentence"),
        number=whole("Of the question that is open"), seat=or_null(whole("Which is the program's own")),
        people=listing(ref("Person")), away=or_null(whole("The seat whose turn can be claimed")),
        commitment=text("The fingerprint of the seed"), successor=text("The code of the rematch, once there is one"),
    ),
    "Hello": shape(
        "Where the program sits", type=only("hello"), piste=whole("The version of these messages"), game=text(),
        options={"type": "object", "additionalProperties": {"type": "string"}}, origin=text(), kinds=listing(text()),
        seat=text("Its own; watcher for none"), seats=listing(text()),
    ),
    "Waiting": shape("The game has not begun", type=only("waiting")),
    "Decide": shape(
        "A question to this seat", type=only("decide"), number=whole(), decisions=DECISIONS, view=VIEW, log=LOG,
        random=whole("The same whenever this question is seen", minimum=0, maximum=(1 << 32) - 1),
    ),
    "Told": shape("It is for another seat to decide", type=only("told"), number=whole(), view=VIEW, log=LOG),
    "End": shape(
        "The game is over", type=only("end"), winner=or_null(text("A seat; null in a draw")), reason=text(),
        payoffs=listing(whole()), view=VIEW, log=LOG,
    ),
    "Now": {"oneOf": [ref("Waiting"), ref("Decide"), ref("Told"), ref("End")]},
    "Seen": shape(
        "The table, and what the seat is told", table=ref("Table"), hello=or_null(ref("Hello")), now=ref("Now")
    ),
    "Seated": shape(
        "The same, and the token of the seat if the program sent none", ("token",), table=ref("Table"),
        hello=or_null(ref("Hello")), now=ref("Now"), token=text("It is shown once"),
    ),
    "Taken": shape(
        "What was done, and what is there now", taken=ref("Done"), table=ref("Table"), hello=or_null(ref("Hello")),
        now=ref("Now"),
    ),
    "Done": shape(
        "What was done", ("number", "decision"), do=text(enum=["decide", "resign", "claim", "return"]),
        number=whole(),
        decision=text("Its name in the notation"),
    ),
    "Ending": shape("How a game ended", winner=or_null(whole("From 0")), reason=text(), payoffs=listing(whole())),
    "Entry": shape(
        "An event, and what the seat saw after it", event=listing(whole(), "kind, seat, what, also"), view=VIEW
    ),
    "History": shape(
        "The whole view of a seat", number=whole(), kind=or_null(whole("Of the question")), decisions=DECISIONS,
        actions=listing(whole(), "The same as numbers"), view=VIEW, opening=VIEW,
        counts=flag("Dealt by chance alone"),
        ending=or_null(ref("Ending")), since=whole(), length=whole("How many events there were"),
        entries=listing(ref("Entry"), "From `since` on, some hundred at most"),
    ),
    "TableEvent": shape("Something about the table has changed", type=only("table"), table=ref("Table")),
    "TakenEvent": shape(
        "Over a websocket: what was sent was done", ("number", "decision"), type=only("taken"), do=text(),
        number=whole(), decision=text(),
    ),
    "Refused": shape("Over a websocket: what was sent was refused", type=only("refused"), problem=ref("Problem")),
    "Ping": shape("The connection lives", type=only("ping")),
    "Bye": shape("The stream ends", type=only("bye"), reason=text(enum=["restart", "gone"])),
    "Event": {
        "description": "One message. Skip those of a type that is not known.",
        "oneOf": [
            ref(name)
            for name in ("TableEvent", "Hello", "Decide", "Told", "End", "TakenEvent", "Refused", "Ping", "Bye")
        ],
    },
}  # fmt: skip
