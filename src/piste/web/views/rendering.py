"""Pages and parts of pages as HTML, rendered from view models."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import cache, lru_cache
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from piste import bots
from piste.core import scene
from piste.core.game import Game, Option, counted, find, names, option_label, option_words, tidy, write_option
from piste.core.protocols import HIDDEN, SPECTATOR
from piste.core.scene import Area
from piste.web.tables.room import levels as open_levels
from piste.web.tables.transcript import minus
from piste.web.views.replay import YOU, ReplayStep, chances_graph, coach_comment, summaries
from piste.web.views.rules_html import rules_html
from piste.web.views.view_models import OVER, PLAYING, WAITING, Choice, Person, TableViewModel

FOLDER = Path(__file__).parent.parent
STATIC = FOLDER / "static"
PART_FIELDS: Mapping[str, tuple[str, ...]] = {
    "people": ("people", "standing"),
    "status": (
        "code", "stage", "status", "preparing", "question", "result", "explanation", "won", "lesson", "series",
        "again", "successor", "rematch_call", "seat",
    ),
    "round": ("code", "game", "round_end"),
    "scene": (
        "code", "game", "title", "line", "seat", "door", "stage", "people", "areas", "choices", "invite", "only_here",
    ),
    "choices": (
        "code", "game", "seat", "door", "stage", "number", "areas", "question", "choices", "decide", "hint", "lesson",
        "offers",
    ),
    "notes": ("seat", "areas"),
    "offers": (
        "code", "game", "options", "seat", "stage", "offers", "invite", "only_here", "seat_link", "successor",
        "rematch_call",
    ),
    "fair": ("stage", "commitment", "seed", "salt", "again"),
}  # fmt: skip
"""The parts that are sent again when they change, and the fields of the view model that each is drawn from."""

PART_VALUES = {part: attrgetter(*fields) for part, fields in PART_FIELDS.items()}
STEP_PARTS = (
    "people",
    "status",
    "round",
    "scene",
    "choices",
)  # the parts that show an event on the way to the latest one
# Rendered fragments that are kept, of each kind: most of a table stays as it was from one decision to the next.
CACHE_SIZE = 8192
LOG_LINES_ON_PAGE = 120  # the newest lines of the log; a link leads to the others
MAX_CHOSEN_VALUES = 12  # of an option that are chosen from a list; of more, one is typed
MAX_LOG_LINES = 1000  # lines of the log on a page that was asked for more of them, and in one message


class TableListing(NamedTuple):
    """One table in a list of tables."""

    address: str  # of the table
    title: str
    people: tuple[str, ...]
    status: str  # whose turn, how it ended, who is waited for
    when: str = ""  # the time of its last change, in UTC, as pages write it for scripts
    yours: bool = False  # it is the viewer's turn
    delete: str = ""  # where to ask for its deletion; "" if the viewer cannot
    game: str = ""  # its name in addresses
    others: tuple[str, ...] = ()  # the people without the viewer
    over: bool = False


class BotListing(NamedTuple):
    """One bot as a list offers it."""

    level: str  # what is sent
    name: str  # what people call it
    basis: str  # how its play is known
    feel: str  # how it feels to play against it
    top: bool  # the strongest level of ours, whose name and basis say what it claims


class PageRenderer:
    """Renders the templates, and keeps fragments that were rendered before."""

    def __init__(self) -> None:
        self.version = static_hash()
        self.service_worker = (STATIC / "service_worker.js").read_text(encoding="utf-8")
        self.environment = Environment(
            loader=FileSystemLoader(FOLDER / "templates"),
            autoescape=True,
            trim_blocks=True,
            lstrip_blocks=True,
            undefined=StrictUndefined,
            auto_reload=False,  # a server that runs must not take half of a new version
        )
        self._template = cache(self.environment.get_template)
        self._part = lru_cache(CACHE_SIZE)(self._render_part)
        self._draw = lru_cache(3 * CACHE_SIZE)(self._draw_macro)
        drawing = {
            "area": self.area, "squares": track_squares, "numbers": number_row, "made_by": made_by,
            "confirm_text": confirm_text, "from_viewer": from_viewer, "row_class": row_class,
        }  # fmt: skip
        self.environment.filters.update(
            minus=minus, prose=prose, max_players=max_players, option_labels=option_labels, **drawing
        )
        self.environment.filters.update(credit=credit, utc=utc, day=day)
        drawing = {"cached_draw": self._draw, "levels_of": levels, "picture": self.picture}
        self.environment.globals.update(static=self.static, counted=counted, SPECTATOR=SPECTATOR, **drawing)

    def static(self, name: str) -> str:
        """Return the address of a file that never changes under it."""
        return f"/static/{name}?v={self.version}"

    def picture(self, game: str = "") -> str:
        """Return the address of the picture that previews of a link show; of a game without one, the site's."""
        own = f"previews/{game}.png"
        return self.static(own if game and (STATIC / own).exists() else "previews/piste.png")

    def page(self, name: str, /, **context: Any) -> str:
        return self._template(f"{name}.html").render(**context)

    # The table

    def parts(
        self, model: TableViewModel, name: str = "", only: Sequence[str] = tuple(PART_FIELDS)
    ) -> dict[str, str]:
        """Return the parts of a table, each a fragment; `name` goes into the form of a visitor who can sit down."""
        # Offers before and after a game say how the play of bots is known, which may change while a server runs.
        listed = model.game and model.stage != PLAYING and "offers" in only
        made = {"offers": bots.made(find(model.game))} if listed else {}
        return {part: self._part(part, part_values(part, model), name, made.get(part, 0)) for part in only}

    def _render_part(self, part: str, values: tuple[Any, ...], name: str, made: int) -> str:  # noqa: ARG002 (part of the key)
        model = TableViewModel(**dict(zip(PART_FIELDS[part], values, strict=True)))
        if part == "people":  # which changes with every score: as its template says, without what other parts need
            return self._draw("strip", model.people, model.standing)
        return self.page(f"parts/{part}", **self.context(model, name))

    def area(self, area: Area, choices: Sequence[Choice]) -> str:
        """Return an area as HTML, with buttons for those of the choices that are made there."""
        offered = scene.offered_decisions((area,))
        return self._draw("area", area, tuple(choice for choice in choices if choice.action in offered))

    def _draw_macro(self, name: str, *args: Any) -> str:
        html: str = getattr(self._template("draw.html").module, name)(*args)
        return html  # Markup, not escaped again

    def table_page(self, model: TableViewModel, *, name: str = "", whole: bool = False, to: int = 0) -> str:
        """Return the whole page of a table; `whole` shows more of a long log, `to` the lines before that one."""
        newest = model.log[-(MAX_LOG_LINES if whole and not to else LOG_LINES_ON_PAGE) :]
        to = min(to, len(model.log) - len(newest))
        older = model.log[max(0, to - MAX_LOG_LINES) : to]
        log = (*older, *newest)
        return self.page(
            "table",
            **self.context(model, name),
            root=model.invite.removesuffix(f"/t/{model.code}"),
            parts=self.parts(model, name),
            log=log,
            gap=newest[0].number if older and older[-1].number + 1 != newest[0].number else -1,
            earlier=log[0].number if log else 0,
            more=f"?log=all&to={log[0].number}" if whole and log else "?log=all",
        )

    def context(self, model: TableViewModel, name: str) -> dict[str, Any]:
        """Return the variables of the templates of a table."""
        own = tuple(area for area in model.areas if is_own(area, model.seat))
        pickable = scene.offered_decisions(model.areas)
        return {
            "model": model,
            **{stage: model.stage == stage for stage in (WAITING, PLAYING, OVER)},
            "own": own,
            "common": tuple(area for area in model.areas if area not in own),
            "loose": tuple(
                (choice, *button_text(choice)) for choice in model.choices if choice.action not in pickable
            ),
            "keys": shortcuts([choice for choice in model.choices if choice.action not in pickable]),
            "pickable": bool(pickable),
            "typing_example": typing_example(model.choices),
            "notes": card_notes(model.areas),
            "levels": levels(model.game, model.options) if model.offers and model.stage != PLAYING else (),
            "name": name,
            "seated": model.seat != SPECTATOR,
        }

    # Pages around it

    def home(
        self,
        name: str = "",
        tables: Sequence[TableListing] = (),
        running: Sequence[TableListing] = (),
        root: str = "",
    ) -> str:
        """Return the first page: games to go on with, every game, and a few tables that anybody may join."""
        return self.page(
            "home",
            root=root,
            running=running,
            games=sorted(map(find, names()), key=lambda game: (max_players(game), game.notation.TITLE)),
            name=name,
            tables=tables,
            usual=bots.USUAL,
        )

    def game_page(
        self,
        game: Game,
        name: str = "",
        error: str = "",
        fields: Mapping[str, str] | None = None,
        versus: str = "",
        root: str = "",
    ) -> str:
        """Return the page of one game with all its options; `fields` and `versus` are of a form that was refused."""
        options = game.rules.Options()
        default = {o.name: write_option(o, getattr(options, o.name)) for o in game.notation.OPTIONS}
        return self.page(
            "game",
            root=root,
            game=game,
            options=[form_field(option) for option in game.notation.OPTIONS if option.name != "players"],
            values=default | dict(fields or {}),
            name=name,
            error=error,
            refused=in_words(game, error),
            usual=versus or bots.USUAL,
        )

    def rules_page(self, game: Game, *, part: bool = False, root: str = "") -> str:
        """Return the rules of a game, as a page or as a part of another."""
        pictures = () if game.lesson is None else game.lesson.PICTURES
        context = {"game": game, "pictures": pictures, "text": rules_html(game)}
        return self.page("parts/rules", **context) if part else self.page("rules", **context, root=root)

    def error_page(self, status: int, sentence: str, game: Game | None = None, table: str = "") -> str:
        """Return a page that says what went wrong and what can be done; at a table, with the way back to it."""
        return self.page("error", status=status, sentence=sentence, game=game, table=table, games=map(find, names()))

    def replay_page(self, replay: ReplayStep, *, part: bool = False) -> str:
        """Return one step of a finished game with the coach's comment; or only the part that changes."""
        people = tuple(
            Person(seat, name, "", you=seat == replay.seat and name != YOU, turn=seat == replay.to_act)
            for seat, name in enumerate(replay.people)
        )
        context = {
            "replay": replay,
            "people": people,
            "viewers": ((SPECTATOR, "All hands"), *enumerate(replay.people)),
            "graph": chances_graph(replay),
            "comment": coach_comment(replay),
            "summaries": summaries(replay),
        }
        return self.page("parts/replay" if part else "replay", **context)


def prose(text: object) -> str:
    """Return text with true minus signs, as in R1−, and with each per cent sign on the line of its number."""
    return re.sub(r"(?<=\w)-(?!\w)", "−", minus(text)).replace(" %", "\u00a0%")


def part_values(part: str, model: TableViewModel) -> tuple[Any, ...]:
    """Return what a part is drawn from: of the areas only those that it looks at, so that others change nothing."""
    if part == "choices":
        asked = bool(model.question)
        areas = (a for a in model.areas if is_own(a, model.seat) or (asked and scene.offered_decisions((a,))))
        hint = tuple(offer for offer in model.offers if offer.do == "hint") if asked else ()
        model = model._replace(areas=tuple(areas), offers=hint)
    elif part == "notes":
        model = model._replace(areas=tuple(area for area in model.areas if any(card.word for card in area.cards)))
    values: tuple[Any, ...] = PART_VALUES[part](model)
    return values


class FormField(NamedTuple):
    """One option as a form asks for it."""

    name: str  # what is sent
    label: str  # what people call it
    note: str
    values: tuple[tuple[str, str], ...]  # to choose from, as sent and as shown; empty if a number or text is typed
    number: bool = False
    own: str = ""  # what the host chooses for themselves, such as a colour


def form_field(option: Option) -> FormField:
    """Return how a form asks for an option: few named values are chosen, everything else is typed."""
    label, note = option_label(option), option.note if option.label else option.help
    if option.each is not None:
        thing, names = option.each
        return FormField(option.name, label, note, tuple((name, name) for name in names), own=thing)
    number, values = not option.names and option.read is None, tuple(option.names.values())
    if number and option.high - option.low < MAX_CHOSEN_VALUES:
        # Where values have words, those without one cannot be had: a match is best of an odd number of rounds.
        values = tuple(option.words) or tuple(range(option.low, option.high + 1))
    shown = tuple((write_option(option, value), option_words(option, value)) for value in values)
    return FormField(option.name, label, note, shown, number)


def in_words(game: Game, refusal: str) -> str:
    """Return a refusal that names an option of a form by what the form calls it."""
    for option in game.notation.OPTIONS:
        refusal = refusal.replace(f"The option '{option.name}'", f"“{option_label(option)}”")
    return refusal


def max_players(game: Game) -> int:
    return max((option.high for option in game.notation.OPTIONS if option.name == "players"), default=2)


def levels(name: str, changed: tuple[tuple[str, str], ...] = ()) -> tuple[BotListing, ...]:
    """Return the bots that can play a game here, with these options, weakest first."""
    game = find(name)
    return _levels(game, changed, bots.made(game))


@lru_cache(CACHE_SIZE)
def _levels(game: Game, changed: tuple[tuple[str, str], ...], made: int) -> tuple[BotListing, ...]:  # noqa: ARG001 (key)
    options = game.options(dict(changed))
    return tuple(
        BotListing(
            level, bots.level_name(game, level, options), str(bots.basis(game, level, options)),
            bots.feel(game, level, options), level == bots.TOP,
        )
        for level in open_levels(game, options)
    )  # fmt: skip


@lru_cache(CACHE_SIZE)
def credit(text: str) -> Markup:
    """Return whose game it is as HTML; an address at the end becomes a link."""
    words = re.fullmatch(r"(.*?):? (https://\S+)", text)
    if words is None:
        return escape(text)
    link = Markup('<a href="{}" rel="noreferrer noopener" target="_blank">{}</a>')
    return link.format(words[2], words[1])


def utc(when: str) -> str:
    """Return a time as it is read where no script makes it local: 2026-01-31 09:05 UTC."""
    return when.replace("T", " ").replace("Z", " UTC")


@lru_cache(CACHE_SIZE)
def option_labels(changed: tuple[tuple[str, str], ...], name: str) -> str:
    """Return a game's changed options in people's words."""
    game = find(name)
    return ", ".join(game.option_labels(game.options(dict(changed))))


def day(when: float) -> str:
    """Return the date of a time, by UTC."""
    return datetime.fromtimestamp(when, UTC).strftime("%Y-%m-%d")


def typing_example(choices: Sequence[Choice]) -> str:
    """Return what can be typed; of more than three decisions, one."""
    keys = [choice.key if len(choice.key) == 1 else choice.decision for choice in choices]
    return " or ".join(keys) if len(keys) < 4 else f"such as {keys[0]}"


def shortcuts(choices: Sequence[Choice]) -> dict[int, str]:
    """Return the key that takes each choice: the one it is offered under, else its letter if no other has it."""
    letters = [button_text(choice)[0][:1].upper() for choice in choices]
    return {
        choice.action: choice.key if len(choice.key) == 1 else letter if letters.count(letter) == 1 else ""
        for choice, letter in zip(choices, letters, strict=True)
    }


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


def made_by(choices: Sequence[Choice], action: int) -> Choice | None:
    """Return the choice that an action makes, if it is open."""
    return next((choice for choice in choices if choice.action == action), None)


def row_class(area: Area, choices: Sequence[Choice]) -> str:
    """Return the class of a row of cards: how many there are, and whether one can be chosen."""
    many, actions = len(area.cards), {choice.action for choice in choices}
    words = [
        "cards",
        "lots" if many > 6 and area.kind != scene.TOWER else "",
        "counted" if many > 1 and any(card.copies > 1 for card in area.cards) else "",
        "open" if any(card.decision in actions for card in area.cards) else "",
    ]
    return " ".join(filter(None, words))


def is_own(area: Area, seat: int) -> bool:
    """Say whether an area is the hand of the viewer, which is drawn nearest to them."""
    return seat != SPECTATOR and area.kind == scene.HAND and area.seat == seat


def card_notes(areas: Sequence[Area]) -> tuple[tuple[str, str, str], ...]:
    """Return what the cards with an ability do, each once: its text, the word, and a sentence."""
    able = [card for area in areas for card in area.cards if card.word]
    return tuple(sorted({card.text: (card.text, card.word, card.note) for card in able}.values()))


def track_squares(area: Area) -> Markup:
    """Return the squares of a track with the tokens on them; there are many, so no template goes through them."""
    squares = list(empty_squares(area.minimum, area.maximum, area.marks))
    for number, token in enumerate(area.tokens):
        squares[token.value - area.minimum] += f'<i class="token{" own" if token.own else ""} n{number}"></i>'
        if token.reach != HIDDEN:
            squares[token.reach - area.minimum] += '<i class="reach"></i>'
    return Markup("</li>".join([*squares, ""]))


@lru_cache(64)
def empty_squares(first: int, last: int, marks: tuple[int, ...]) -> tuple[str, ...]:
    kinds = {last: ' class="goal"', **dict.fromkeys(marks, ' class="prime"')}
    return tuple(f"<li{kinds.get(at, '')}>{at}" for at in range(first, last + 1))


def number_row(area: Area) -> Markup:
    """Return the numbers of an area, negative ones above the positive, in one sentence for those who listen."""
    bright = set(area.marks)
    rows = (range(area.minimum, 0), range(1, area.maximum + 1))
    cells = ("".join(f"<i{'' if n in bright else ' class=seen'}>{minus(n)}</i>" for n in row) for row in rows)
    aloud = minus(", ".join(map(str, area.marks))) or "none"
    rows_html = "".join(f"<span>{row}</span>" for row in cells)
    return Markup(f'<p class="sr">{aloud}</p><p class="numbers" aria-hidden="true">{rows_html}</p>')


def from_viewer(people: tuple[Person, ...]) -> tuple[Person, ...]:
    """Return people in the order of turns, the viewer first: in a rematch seats change, but not one's side."""
    at = next((i for i, person in enumerate(people) if person.you), 0)
    return (*people[at:], *people[:at])


def static_hash() -> str:
    """Return a digest of everything in the folder of static files."""
    digest = hashlib.sha256()
    for path in sorted(STATIC.rglob("*")):
        if path.is_file():
            digest.update(path.relative_to(STATIC).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:12]
