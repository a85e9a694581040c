"""Pages and parts of pages as HTML: functions of a view model, or of the few things that stand in their arguments."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from piste import bots
from piste.core import scene
from piste.core.game import Game, Option, counted, find, names, tidy, write_option
from piste.core.protocols import SPECTATOR
from piste.core.scene import Area, Card, Handle
from piste.web.tables.room import levels as open_levels
from piste.web.views.replay import ReplayStep, chances_graph, coach_comment
from piste.web.views.rules_html import rules_html
from piste.web.views.view_models import OVER, PLAYING, WAITING, Choice, TableViewModel

FOLDER = Path(__file__).parent.parent
STATIC = FOLDER / "static"
PARTS: Mapping[str, tuple[str, ...]] = {
    "people": ("people",),
    "status": ("stage", "status", "preparing", "question", "result", "explained", "won"),
    "round": ("code", "game", "round_end"),
    "scene": (
        "code", "game", "title", "line", "seat", "door", "stage", "people", "areas", "choices", "invite", "only_here",
    ),
    "choices": (
        "code", "game", "seat", "door", "stage", "number", "people", "areas", "question", "choices", "hint",
    ),
    "notes": ("seat", "areas", "choices"),
    "offers": ("code", "game", "options", "seat", "stage", "offers", "invite", "only_here", "seat_link", "successor"),
    "fair": ("stage", "commitment", "seed", "salt"),
}  # fmt: skip
"""The parts that are sent again when they change, and the fields of the view model that each is drawn from."""

STEPPED = ("status", "round", "scene", "choices")
"""The parts that show an event on the way to the latest one."""

CACHE_SIZE = 8192
"""Rendered fragments that are kept, of each kind: most of a table stays as it was from one decision to the next."""

LONGEST_LOG = 120
"""So many lines of a log stand on a page; the others are a link away."""

LONGEST_WHOLE = 1000
"""So many stand on a page that was asked for more of them, and in one message."""


class Listing(NamedTuple):
    """One game in a list of games."""

    address: str  # of the table
    title: str
    people: tuple[str, ...]
    status: str  # whose turn, how it ended, who is waited for
    when: str = ""
    yours: bool = False  # it is this person's turn
    delete: str = ""  # where to ask for its deletion; "" if this person cannot


class Level(NamedTuple):
    """One bot as a list offers it."""

    level: str  # what is sent
    name: str  # what is shown
    basis: str  # how its play is known
    line: str


class Menu(NamedTuple):
    """One game as a list offers it."""

    name: str
    title: str
    line: str
    credit: str
    emblem: Area | None
    levels: tuple[Level, ...]
    most: int  # players


class Pages:
    """Draws everything."""

    def __init__(self) -> None:
        self.version = static_hash()
        self.environment = Environment(
            loader=FileSystemLoader(FOLDER / "templates"),
            autoescape=True,
            trim_blocks=True,
            lstrip_blocks=True,
            undefined=StrictUndefined,
            auto_reload=False,  # a server that runs must not take half of a new version
        )
        self.environment.filters.update(minus=minus, area=self.area, card=self.card, move=self.move)
        self._part = lru_cache(CACHE_SIZE)(self._drawn_part)
        self._area = lru_cache(CACHE_SIZE)(self._drawn_area)
        self._card = lru_cache(CACHE_SIZE)(self._drawn_card)
        self._move = lru_cache(CACHE_SIZE)(self._drawn_move)
        self.environment.globals.update(static=self.static, counted=counted, SPECTATOR=SPECTATOR, HIDDEN=-1)

    def static(self, name: str) -> str:
        """Return the address of a file that never changes under it."""
        return f"/static/{name}?v={self.version}"

    def page(self, name: str, /, **context: Any) -> str:
        return self.environment.get_template(f"{name}.html").render(**context)

    # The table

    def parts(self, model: TableViewModel, name: str = "", only: Sequence[str] = tuple(PARTS)) -> dict[str, str]:
        """Return the parts of a table, each a fragment; `name` stands in the field of somebody at the door."""
        # Only the offers tell how the play of bots is known, which may change while a server runs.
        made = {"offers": bots.made(find(model.game))} if model.game and "offers" in only else {}
        return {part: self._part(part, model._replace(**DROPPED[part]), name, made.get(part, 0)) for part in only}

    def _drawn_part(self, part: str, model: TableViewModel, name: str, made: int) -> str:  # noqa: ARG002 (part of the key)
        return self.page(f"parts/{part}", **self.context(model, name))

    def area(self, area: Area, choice: Mapping[int, Choice], say: Mapping[int, tuple[str, str]]) -> str:
        """Return an area as HTML."""
        open_now = scene.offered_decisions((area,)) & choice.keys()
        return self._area(area, tuple((choice[action], say[action]) for action in sorted(open_now)))

    def _drawn_area(self, area: Area, open_now: tuple[tuple[Choice, tuple[str, str]], ...]) -> str:
        choice = {one.action: one for one, _ in open_now}
        return self._macro("area", area, choice, {one.action: said for one, said in open_now})

    def card(self, card: Card, choice: Mapping[int, Choice], say: Mapping[int, tuple[str, str]]) -> str:
        """Return a card as HTML."""
        return self._card(card, choice.get(card.decision), say.get(card.decision))

    def _drawn_card(self, card: Card, choice: Choice | None, say: tuple[str, str] | None) -> str:
        known = choice is not None and say is not None
        return self._macro("card", card, *(({card.decision: choice}, {card.decision: say}) if known else ({}, {})))

    def move(self, handle: Handle, decision: int, sign: str, choice: Mapping[int, Choice]) -> str:
        """Return one of the two ways to move a line, as HTML."""
        return self._move(handle, decision, sign, choice.get(decision))

    def _drawn_move(self, handle: Handle, decision: int, sign: str, choice: Choice | None) -> str:
        return self._macro("move", handle, decision, sign, {} if choice is None else {decision: choice})

    def _macro(self, name: str, *given: Any) -> str:
        found: str = getattr(self.environment.get_template("draw.html").module, name)(*given)
        return found

    def table_page(
        self,
        model: TableViewModel,
        parts: Mapping[str, str] | None = None,
        *,
        name: str = "",
        whole: bool = False,
        to: int = 0,
    ) -> str:
        """Return the whole page of a table; `whole` shows more of a long log, `to` those lines before that one."""
        newest = model.log[-(LONGEST_WHOLE if whole and not to else LONGEST_LOG) :]
        to = min(to, len(model.log) - len(newest))
        older = model.log[max(0, to - LONGEST_WHOLE) : to]
        log = (*older, *newest)
        return self.page(
            "table",
            **self.context(model, name),
            parts=parts or self.parts(model, name),
            log=log,
            gap=newest[0].number if older and older[-1].number + 1 != newest[0].number else -1,
            earlier=log[0].number if log else 0,
            more=f"?log=all&to={log[0].number}" if whole and log else "?log=all",
        )

    def context(self, model: TableViewModel, name: str) -> dict[str, Any]:
        """Return what templates of a table have at hand."""
        playing = model.stage == PLAYING
        own = tuple(area for area in model.areas if is_own(area, model.seat))
        touched = scene.offered_decisions(model.areas)
        return {
            "model": model,
            "waiting": model.stage == WAITING,
            "playing": playing,
            "over": model.stage == OVER,
            "own": own,
            "common": tuple(area for area in model.areas if area not in own),
            "choice": {choice.action: choice for choice in model.choices},
            "say": {choice.action: confirm_text(choice) for choice in model.choices},
            "loose": tuple(
                (choice, *button_text(choice)) for choice in model.choices if choice.action not in touched
            ),
            "touched": bool(touched),
            "example": example(model.choices),
            "notes": card_notes(own, model.choices),
            "levels": levels(model.game, model.options) if model.game else (),
            "name": name,
            "seated": model.seat != SPECTATOR,
            "you": next((person for person in model.people if person.you), None),
        }

    # Pages around it

    def home(self, name: str = "", said: str = "", tables: Sequence[Listing] = ()) -> str:
        """Return the first page: every game, the ways to begin one, and a few tables that anybody may join."""
        return self.page(
            "home",
            games=sorted((menu(find(game)) for game in names()), key=lambda one: (one.most, one.title)),
            name=name,
            said=said,
            tables=tables,
            usual=bots.USUAL,
        )

    def game_page(
        self, game: Game, name: str = "", said: str = "", given: Mapping[str, str] | None = None, versus: str = ""
    ) -> str:
        """Return the page of one game with all its options; `given` and `versus` were just refused."""
        default = game.rules.Options()
        usual = {option.name: write_option(option, getattr(default, option.name)) for option in game.notation.OPTIONS}
        return self.page(
            "game",
            game=menu(game),
            options=[
                field(option, usual[option.name]) for option in game.notation.OPTIONS if option.name != "players"
            ],
            values=usual | dict(given or {}),
            name=name,
            said=said,
            usual=versus or bots.USUAL,
        )

    def watch(self, tables: Sequence[Listing]) -> str:
        """Return the tables that may be watched."""
        return self.page("list", title="Watch", tables=tables, empty=NOBODY_PLAYS, deleting=False)

    def your_games(self, tables: Sequence[Listing]) -> str:
        """Return the games of one person."""
        return self.page("list", title="Your games", tables=tables, empty=NO_GAMES, deleting=True)

    def seat_page(self, *, title: str, name: str, action: str, people: Sequence[str] = ()) -> str:
        """Return what a private seat link shows: the question whether to go on here."""
        return self.page("seat", title=title, name=name, action=action, people=people)

    def rules_page(self, game: Game, *, part: bool = False) -> str:
        """Return the rules of a game, as a page or as what goes into another."""
        text = rules_html(game)
        return text if part else self.page("rules", game=menu(game), text=text)

    def error_page(self, status: int, sentence: str) -> str:
        """Return a page that says what went wrong and what can be done."""
        return self.page("error", status=status, sentence=sentence)

    def replay_page(self, replay: ReplayStep, *, part: bool = False) -> str:
        """Return one step of a finished game with the coach's comment; or only the part that changes."""
        context = {"replay": replay, "graph": chances_graph(replay), "comment": coach_comment(replay)}
        return self.page("parts/replay" if part else "replay", **context)


BLANK = TableViewModel(
    code="", game="", title="", line="", credit="", options=(), seat=SPECTATOR, door=False, stage="", at=0, step=0,
    undecided=False, number=0, status="", preparing=None, people=(), areas=(), question="", choices=(), tips=(),
    log=(), offers=(), hint="", round_end=None, result="", explained="", won=None, invite="", only_here="",
    seat_link="", commitment="", seed="", salt="", successor="",
)  # fmt: skip
DROPPED = {
    part: {field: getattr(BLANK, field) for field in TableViewModel._fields if field not in needs}
    for part, needs in PARTS.items()
}

NOBODY_PLAYS = "Nobody plays in public just now. Open a table, show it on the front page, and it stands here too."
NO_GAMES = "You have no games here yet."


class Field(NamedTuple):
    """One option as a form asks for it."""

    name: str
    help: str
    usual: str
    values: tuple[str, ...]  # to choose from; empty if a number or text is typed
    number: bool
    low: int
    high: int
    own: str = ""  # what whoever opens the table chooses for themselves, such as a colour


def field(option: Option, usual: str) -> Field:
    """Return how a form asks for an option: few named values are chosen, everything else is typed."""
    number = not option.names and option.read is None
    if option.each is not None:
        thing, names = option.each
        return Field(option.name, option.help, names[0], names, False, option.low, option.high, thing)
    values = tuple(option.names)
    if number and option.high - option.low < 12:
        values = tuple(str(value) for value in range(option.low, option.high + 1))
    return Field(option.name, option.help, usual, values, number, option.low, option.high)


def menu(game: Game) -> Menu:
    return _menu(game, bots.made(game))


@lru_cache(64)
def _menu(game: Game, made: int) -> Menu:  # noqa: ARG001 (part of the key)
    notation = game.notation
    most = max((option.high for option in notation.OPTIONS if option.name == "players"), default=2)
    return Menu(game.name, notation.TITLE, notation.LINE, notation.CREDIT, emblem(game), levels(game.name), most)


def emblem(game: Game) -> Area | None:
    """Return a game's small picture, if it has one."""
    return None if game.scene is None else game.scene.EMBLEM


def levels(name: str, changed: tuple[tuple[str, str], ...] = ()) -> tuple[Level, ...]:
    """Return the bots that can play a game here, with these options, weakest first."""
    game = find(name)
    return _levels(game, changed, bots.made(game))


@lru_cache(CACHE_SIZE)
def _levels(game: Game, changed: tuple[tuple[str, str], ...], made: int) -> tuple[Level, ...]:  # noqa: ARG001 (key)
    options, lines = game.options(dict(changed)), bots.lines(game)
    return tuple(
        Level(level, bots.shown(game, level, options), str(bots.basis(game, level, options)), lines[level])
        for level in open_levels(game, options)
    )


@lru_cache(CACHE_SIZE)
def minus(text: object) -> str:
    """Return text with the sign that is as wide as a plus, where a number is below zero."""
    return re.sub(r"(?<![\w.])-(?=\d)", "−", str(text))


def example(choices: Sequence[Choice]) -> str:
    """Return what can be typed, or, of many such things, one."""
    keys = [min(choice.decision, choice.key, key=len) for choice in choices]
    return " or ".join(keys) if len(keys) < 4 else f"such as {keys[0]}"


@lru_cache(CACHE_SIZE)
def button_text(choice: Choice) -> tuple[str, str]:
    """Return what a button says: the decision in a few words, and what it does."""
    return choice.label[:1].upper() + choice.label[1:], choice.note


@lru_cache(CACHE_SIZE)
def confirm_text(choice: Choice) -> tuple[str, str]:
    """Return what the button that confirms a chosen card says: as `button_text`, with the card and the verb."""
    text, note = button_text(choice)
    if not choice.key.isalpha() and tidy(choice.key) not in tidy(text):
        text = f"{min(choice.decision, choice.key, key=len)} {text}"
    return f"{choice.verb} {text}".strip(), note


def is_own(area: Area, seat: int) -> bool:
    """Say whether an area is the hand of whoever looks, which lies nearest to them."""
    return seat != SPECTATOR and area.kind == scene.HAND and area.seat == seat


def card_notes(areas: Sequence[Area], choices: Sequence[Choice]) -> tuple[tuple[str, str], ...]:
    """Return what the cards of a hand do, where the card and its button do not say it already."""
    said = {choice.action: tidy(confirm_text(choice)[0]) for choice in choices}
    found = {}
    for area in areas:
        for card in area.cards:
            if card.note and tidy(card.note) != said.get(card.decision):
                found[card.text + (f" {card.mark}" if card.mark else "")] = card.note
    return tuple(found.items())


def static_hash() -> str:
    """Return a digest of everything in the folder of static files."""
    digest = hashlib.sha256()
    for path in sorted(STATIC.rglob("*")):
        if path.is_file():
            digest.update(path.relative_to(STATIC).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:12]
