"""Pages and parts of pages as HTML, rendered from view models."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple, ParamSpec

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from piste import bots
from piste.core.game import Game, Option, counted, find, names, option_label, option_words, write_option
from piste.core.protocols import SPECTATOR
from piste.core.scene import Area
from piste.web.tables.levels import levels as open_levels
from piste.web.tables.transcript import minus
from piste.web.views.drawing import draw_area, draw_emblem, draw_strip
from piste.web.views.parts import PARTS, Part, TemplatePart
from piste.web.views.replay import YOU, ReplayStep, chances_graph, coach_comment, summaries
from piste.web.views.rules_html import rules_html
from piste.web.views.table_parts import draw_lesson, typing_example
from piste.web.views.view_models import OVER, PLAYING, WAITING, Choice, Person, TableViewModel

FOLDER = Path(__file__).parent.parent
STATIC = FOLDER / "static"
CACHE_SIZE = 256  # kept of texts that depend on a game and its options alone
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
    """Renders the templates."""

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
        self.environment.filters.update(
            minus=minus, prose=prose, option_labels=option_labels, credit=credit, utc=utc,
            day=day, area=area_html,
        )  # fmt: skip
        self.environment.globals.update(
            static=self.static, counted=counted, SPECTATOR=SPECTATOR, picture=self.picture,
            levels_of=levels, usual_of=bots.usual,
            emblem=as_markup(draw_emblem), strip=as_markup(draw_strip), lesson=as_markup(draw_lesson),
        )  # fmt: skip

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

    def parts(self, model: TableViewModel, name: str = "", only: Sequence[str] = tuple(PARTS)) -> dict[str, str]:
        """Return the parts of a table, each a fragment; `name` goes into the form of a visitor who can sit down."""
        return {part: self.draw(PARTS[part](model, name)) for part in only}

    def draw(self, part: Part) -> str:
        return (
            self.page(f"parts/{part.template}", **part.context()) if isinstance(part, TemplatePart) else part.draw()
        )

    def table_page(self, model: TableViewModel, *, name: str = "", whole: bool = False, to: int = 0) -> str:
        """Return the whole page of a table; `whole` shows more of a long log, `to` the lines before that one."""
        newest = model.log[-(MAX_LOG_LINES if whole and not to else LOG_LINES_ON_PAGE) :]
        to = min(to, len(model.log) - len(newest))
        older = model.log[max(0, to - MAX_LOG_LINES) : to]
        log = (*older, *newest)
        return self.page(
            "table",
            model=model,
            **{stage: model.stage == stage for stage in (WAITING, PLAYING, OVER)},
            seated=model.seat != SPECTATOR,
            typing_example=typing_example(model.choices),
            name=name,
            root=model.invite.removesuffix(f"/t/{model.code}"),
            parts=self.parts(model, name),
            log=log,
            gap=newest[0].number if older and older[-1].number + 1 != newest[0].number else -1,
            earlier=log[0].number if log else 0,
            more=f"?log=all&to={log[0].number}" if whole and log else "?log=all",
        )

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
            games=sorted(map(find, names()), key=lambda game: (game.player_counts[-1], game.notation.TITLE)),
            name=name,
            tables=tables,
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
            usual=versus or bots.usual(game),
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


P = ParamSpec("P")


def as_markup(draw: Callable[P, str]) -> Callable[P, Markup]:
    """Return a function that draws HTML as one that templates can use: they do not escape its result."""
    return lambda *args, **kwargs: Markup(draw(*args, **kwargs))


def area_html(area: Area, choices: Sequence[Choice] = ()) -> Markup:
    """Return an area as HTML, with buttons for those of the choices that are made there."""
    return Markup(draw_area(area, {choice.action: choice for choice in choices}))


def prose(text: object) -> str:
    """Return text with true minus signs, as in R1−, and with each per cent sign on the line of its number."""
    return re.sub(r"(?<=\w)-(?!\w)", "−", minus(text)).replace(" %", "\u00a0%")


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


def static_hash() -> str:
    """Return a digest of everything in the folder of static files."""
    digest = hashlib.sha256()
    for path in sorted(STATIC.rglob("*")):
        if path.is_file():
            digest.update(path.relative_to(STATIC).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:12]
