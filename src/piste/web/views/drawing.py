"""What lies on a table as HTML: cards, areas, the strip of players, and the panel where a decision is made.

Every decision draws these again, for everybody at the table, so they are functions that put strings together: a
template takes several times as long. Whatever is drawn less often is a template. Text is escaped where it is put in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from markupsafe import escape

from piste.core import scene
from piste.core.game import counted, tidy
from piste.core.protocols import HIDDEN
from piste.core.scene import Area, Card, Handle, Score, Standing, Token
from piste.web.tables.transcript import minus
from piste.web.views.view_models import Choice, Person

Choices = Mapping[int, Choice]
"""The decisions that are open, by their actions."""

NO_CHOICES: Choices = {}
# The same few hundred cards and texts are drawn at every table: these are kept, and nothing that one table alone has.
CACHED_CARDS = 1024
CACHED_TEXTS = 2048
CACHED_SIDES = 4096  # those of the tables that are played at now: with every turn, two of them come back


@lru_cache(CACHED_TEXTS)
def safe(text: object) -> str:
    """Return text as HTML."""
    return str(escape(text))


@lru_cache(CACHED_TEXTS)
def safe_minus(text: object) -> str:
    """Return text as HTML, with true minus signs."""
    return str(escape(minus(text)))


# Cards


def inside(card: Card) -> str:
    """Return what is printed on a card."""
    many = f'<span class="many" aria-hidden="true">×{card.copies}</span>' if card.copies > 1 else ""
    if card.tone == "back" and not card.text:
        return f'<span class="weave" aria-hidden="true"></span>\n{many}'
    text = safe_minus(card.text)
    mark = f"<i>{safe(card.mark)}</i>" if card.mark else ""
    corner = f'<span class="corner" aria-hidden="true">{text}{mark}</span>\n'
    if card.icon:
        return (
            f'{corner}<svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">'
            f'<path d="{safe(card.icon)}"/></svg>'
            f'<span class="word" aria-hidden="true">{safe(card.word)}</span>\n{many}'
        )
    pip = f'<span class="pip" aria-hidden="true">{safe(card.mark)}</span>' if card.tone else ""
    return f'{corner}<span class="big" aria-hidden="true">{text}</span>\n{pip}{many}'


def aloud(card: Card) -> str:
    """Return what a screen reader says of a card."""
    name = safe(card.name)
    if not name:
        name = (safe_minus(card.text) or "a hidden card") + (f", {card.copies} times" if card.copies > 1 else "")
    return f"{name}, its ability happens now" if card.active else name


def look(card: Card) -> str:
    """Return the classes of a card."""
    words = [
        "card",
        f"t-{card.tone}" if card.tone else "",
        "able" if card.icon else "",
        "dim" if card.dim else "",
        "active" if card.active else "",
        "heap" if card.copies > 1 else "",
        "long" if len(card.text) > 3 else "",
    ]
    return " ".join(filter(None, words))


@lru_cache(CACHED_CARDS)
def draw_card(card: Card, choice: Choice | None = None) -> str:
    """Return a card; one that can be chosen is a button of the form `decide`."""
    note = safe_minus(card.note)
    title = f' title="{note}"' if note else ""
    if choice is None:
        said = f"{aloud(card)}: {note}" if note and (card.dim or card.icon) else aloud(card)
        return f'<li><span class="{look(card)}"{title}>\n{inside(card)}<span class="sr">{said}</span></span></li>\n'
    say, more = map(safe_minus, confirm_text(choice))
    said = f"{aloud(card)}: {note}" if note else aloud(card)
    zero = " zero" if card.below == "0" else ""
    below = f'<span class="below{zero}" aria-hidden="true">{safe(card.below)}</span>' if card.below else ""
    return (
        f'<li><button class="{look(card)} pick" id="d-{card.decision}" form="decide" name="decision" '
        f'value="{safe(choice.decision)}" data-say="{say}" data-more="{more}"{title}>\n{inside(card)}'
        f'<span class="sr">{said}</span></button>\n{below}</li>\n'
    )


@lru_cache(CACHED_CARDS)
def draw_backs(card: Card) -> str:
    """Return a hand that is hidden: its backs side by side."""
    back = '<span class="card t-back" aria-hidden="true"><span class="weave"></span></span>'
    return f'<li class="backs"><span class="sr">{safe(card.name)}</span>{back * card.copies}</li>\n'


def button_text(choice: Choice) -> tuple[str, str]:
    """Return what a button says: the decision in a few words, and what it does."""
    return choice.label[:1].upper() + choice.label[1:], choice.note


def confirm_text(choice: Choice) -> tuple[str, str]:
    """Return what the button that confirms a chosen card says: as `button_text`, with the card and the verb."""
    text, note = button_text(choice)
    if not choice.key.isalpha() and tidy(choice.key) not in tidy(text):
        text = f"{min(choice.decision, choice.key, key=len)} {text}"
    return f"{choice.verb} {text}".strip(), note


# Areas


def draw_area(area: Area, choices: Choices = NO_CHOICES) -> str:
    """Return an area, with buttons for those of the choices that are made there."""
    note = f" <small>{safe_minus(area.note)}</small>" if area.note and area.kind != scene.FACT else ""
    badge = ""
    if area.badge[0]:
        label, number, more = map(safe, area.badge)
        more = f" <small>{more}</small>" if more else ""
        badge = f'<p class="badge"><small>{label}</small> <b>{number}</b>{more}</p>\n'
    return (
        f'<section class="area k-{area.kind}">\n<h3>{safe(area.label)}{note}</h3>\n'
        f"{_content(area, choices)}{badge}</section>\n"
    )


def _content(area: Area, choices: Choices) -> str:
    if area.kind == scene.GRID:
        return draw_grid(area, choices)
    if area.kind == scene.TRACK:
        return draw_track(area)
    if area.kind == scene.SCORE:
        return draw_bars(area)
    if area.kind == scene.NUMBERS:
        return draw_numbers(area.minimum, area.maximum, area.marks)
    if area.kind == scene.FACT:
        cells = "".join(f"<b>{safe_minus(card.text)}</b> " for card in area.cards)
        note = f"<small>{safe_minus(area.note)}</small>" if area.note else ""
        return f"<p>{cells}{note}</p>\n"
    if area.cards:
        return draw_cards(area, choices)
    return "" if area.note else '<p class="none">none</p>\n'


def draw_cards(area: Area, choices: Choices) -> str:
    """Return a row of cards; its class says how many there are, and whether one can be chosen."""
    backs, many, counted_cards, can_choose = area.kind == scene.HAND, len(area.cards), False, False
    drawn = []
    for card in area.cards:
        choice = choices.get(card.decision)
        counted_cards = counted_cards or card.copies > 1
        can_choose = can_choose or choice is not None
        hidden = backs and card.tone == "back" and card.copies > 1
        drawn.append(draw_backs(card) if hidden else draw_card(card, choice))
    lots = " lots" if many > 6 and area.kind != scene.TOWER else ""
    heaps = " counted" if counted_cards and many > 1 else ""
    return f'<ul class="cards{lots}{heaps}{" open" if can_choose else ""}">\n{"".join(drawn)}</ul>\n'


@lru_cache(CACHED_CARDS)
def draw_move(handle: Handle, sign: str, choice: Choice | None) -> str:
    """Return the button that adds to a line of a grid, or subtracts."""
    if choice is None:
        return f'<span class="handle off" aria-hidden="true">{sign}</span>\n'
    label, note = safe(choice.label), safe(choice.note)
    return (
        f'<button class="handle pick" id="d-{choice.action}" form="decide" name="decision" '
        f'value="{safe(choice.decision)}" data-line="{"r" if handle.row else "c"}{handle.line}" '
        f'data-change="{"more" if sign == "+" else "less"}" data-say="{label}" data-more="{note}" '
        f'aria-label="{label}{", " if note else ""}{note}">{sign}</button>\n'
    )


def draw_grid(area: Area, choices: Choices) -> str:
    """Return cells in rows of `columns`, with the moves of each row beside it and those of the columns below."""

    def moves(handle: Handle, *signs: str) -> str:
        made = {"+": choices.get(handle.add), "−": choices.get(handle.subtract)}
        return f'<td class="moves">{"".join(draw_move(handle, sign, made[sign]) for sign in signs)}</td>\n'

    beside = {handle.line: moves(handle, "−", "+") for handle in area.handles if handle.row}
    below = [moves(handle, "+", "−") for handle in area.handles if not handle.row]
    end = "<td></td>" if beside else ""
    rows = []
    for row in range(0, len(area.cards), area.columns):
        cells = area.cards[row : row + area.columns]
        line = row // area.columns
        drawn = "".join(
            [draw_cell(cell, line, column, choices.get(cell.decision)) for column, cell in enumerate(cells)]
        )
        name = safe(area.row_names[line]) if area.row_names else ""
        rows.append(
            f'<tr><th scope="row"><span aria-hidden="true">{name or f"R{line + 1}"}</span><span class="sr">Row '
            f"{name or line + 1}</span></th>\n{drawn}{beside.get(line, '')}</tr>\n"
        )
    foot = f"<tfoot><tr><td></td>\n{''.join(below)}{end}</tr></tfoot>\n" if below else ""
    return (
        f'<table class="grid">\n<caption class="sr">{safe(area.label)}</caption>\n'
        f"<thead><tr><td></td>{column_heads(area.columns, area.column_names)}{end}</tr></thead>\n"
        f"<tbody>\n{''.join(rows)}</tbody>\n{foot}</table>\n"
    )


@lru_cache(CACHED_CARDS)
def draw_cell(cell: Card, row: int, column: int, choice: Choice | None = None) -> str:
    """Return a cell of a grid; one that can be chosen holds a button of the form `decide`."""
    tone = f" t-{cell.tone}" if cell.tone else ""
    tone += " moved" if cell.active else ""
    moved = f' data-more="{safe(cell.more)}" data-less="{safe(cell.less)}"' if cell.more else ""
    inner = f"<span>{safe_minus(cell.text)}</span>"
    if choice is not None:
        say, more = map(safe_minus, confirm_text(choice))
        inner = (
            f'<button class="place pick" id="d-{choice.action}" form="decide" name="decision" '
            f'value="{safe(choice.decision)}" data-say="{say}" data-more="{more}" aria-label="{aloud(cell)}">'
            f"{inner}</button>"
        )
    return f'<td class="cell r{row} c{column}{tone}"{moved}>{inner}</td>\n'


@lru_cache(64)
def column_heads(columns: int, names: tuple[str, ...]) -> str:
    shown = [(safe(name), safe(name)) for name in names] or [(f"C{at}", str(at)) for at in range(1, columns + 1)]
    return "".join(
        f'<th scope="col"><span aria-hidden="true">{short}</span><span class="sr">Column {name}</span></th>'
        for short, name in shown
    )


def draw_track(area: Area) -> str:
    """Return the squares of a track with the tokens on them, and whose they are."""
    squares = list(empty_squares(area.minimum, area.maximum, area.marks))
    legend = []
    for token in area.tokens:
        look = f'<i class="token {side_of(area, token)}"></i>'
        squares[token.value - area.minimum] += look
        if token.reach != HIDDEN:
            squares[token.reach - area.minimum] += '<i class="reach"></i>'
        note = f" <small>{safe(token.note)}</small>" if token.note else ""
        legend.append(f"<li>{look}{safe(token.name)} <b>{safe_minus(token.value)}</b>{note}</li>")
    return (
        f'<ol class="track" aria-hidden="true">{"</li>".join([*squares, ""])}</ol>\n'
        f'<ul class="legend">{"".join(legend)}<li><i class="square"></i>prime</li></ul>\n'
    )


def side_of(area: Area, token: Token) -> str:
    """Return on which side of the strip the owner of a token stands: the viewer is first there, or the first seat."""
    first = token.own or (token == area.tokens[0] and not any(other.own for other in area.tokens))
    return "first" if first else "second"


@lru_cache(64)
def empty_squares(first: int, last: int, marks: tuple[int, ...]) -> tuple[str, ...]:
    kinds = {last: ' class="goal"', **dict.fromkeys(marks, ' class="prime"')}
    return tuple(f"<li{kinds.get(at, '')}>{at}" for at in range(first, last + 1))


def draw_bars(area: Area) -> str:
    """Return bars from zero, to the right for more and to the left for less."""
    span = area.maximum - area.minimum or 1
    zero = 100 * (0 - area.minimum) / span
    middle = f'<path d="M{zero:.1f} 0V10"/>' if area.minimum < 0 else ""
    bars = []
    for token in area.tokens:
        long = 100 * token.value / span
        note = f" <small>{safe(token.note)}</small>" if token.note else ""
        bars.append(
            f'<li class="{"own" if token.own else ""}"><span>{safe(token.name)}</span>'
            '<svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true" focusable="false">'
            f'<rect class="all" width="100" height="10"/><rect class="{"down" if token.value < 0 else "part"}" '
            f'x="{min(zero, zero + long):.1f}" width="{abs(long):.1f}" height="10"/>{middle}</svg>'
            f"<b>{safe_minus(token.value)}</b>{note}</li>\n"
        )
    return f'<ul class="bars">\n{"".join(bars)}</ul>\n'


def draw_numbers(minimum: int, maximum: int, marks: tuple[int, ...]) -> str:
    """Return numbers, negative ones above the positive, in one sentence for those who listen."""
    bright, faint = number_cells(minimum, maximum, False), number_cells(minimum, maximum, True)
    marked = set(marks)
    below = "".join([(bright if n in marked else faint)[n] for n in range(minimum, 0)])
    above = "".join([(bright if n in marked else faint)[n] for n in range(1, maximum + 1)])
    aloud = ", ".join([minus(n) for n in marks]) or "none"
    return (
        f'<p class="sr">{aloud}</p><p class="numbers" aria-hidden="true"><span>{below}</span>'
        f"<span>{above}</span></p>\n"
    )


@lru_cache(64)
def number_cells(minimum: int, maximum: int, faint: bool) -> dict[int, str]:
    look = " class=seen" if faint else ""
    return {n: f"<i{look}>{minus(n)}</i>" for n in range(minimum, maximum + 1)}


# The strip


def draw_strip(people: Sequence[Person], standing: Standing, ended: int = 0) -> str:
    """Return everybody with their scores, whose turn it is, and the number of the turn or round.

    In the order of turns, the viewer first: in a rematch seats change, but not one's side. While the end of a round
    is shown, its number stands there, too.
    """
    first = next((i for i, person in enumerate(people) if person.you), 0)
    scores = standing.scores
    sides = [draw_side(one, scores[one.seat] if scores else None) for one in (*people[first:], *people[:first])]
    count = ""
    if standing.label:
        note = f" <small>{safe(standing.note)}</small>" if standing.note else ""
        count = f"<small>{safe(standing.label)}</small> <b>{safe(standing.value)}</b>{note}"
    over = f'<p class="count ended"><small>{safe(standing.label)}</small> <b>{ended}</b> <small>over</small></p>\n'
    return (
        f'<div class="strip n{len(people)}">\n<ul role="list">\n{"".join(sides)}</ul>\n'
        f'<p class="count">{count}</p>\n{over if ended else ""}</div>\n'
    )


@lru_cache(CACHED_SIDES)
def draw_side(person: Person, score: Score | None) -> str:
    """Return one player."""
    look = f"side{' turn' if person.turn else ''}{' you' if person.you else ''}"
    if person.left or not person.name:
        look += " gone"
    chip = '<span class="lamp" aria-hidden="true"></span>'
    if score and score.tone:
        chip = (
            f'<span class="chip t-{score.tone}"><span aria-hidden="true">{safe(score.mark)}</span>'
            f'<span class="sr">{safe(score.colour)}</span></span>'
        )
    stand_in = person.bot and person.kind != "bot"
    idle = " idle" if person.here and person.name and not (person.turn or person.left or stand_in) else ""
    return (
        f'<li class="{look}">\n{chip}<span class="who"><bdi>{safe(person.name or "Open seat")}</bdi></span>\n'
        f'<span class="what{idle}">{what_person_does(person)}</span>\n{draw_score(score)}</li>\n'
    )


def what_person_does(person: Person) -> str:
    """Return the words below a name."""
    if person.you:
        words = "" if person.turn or person.name == "You" else "you"
    elif person.kind == "bot":
        words = f"{safe(person.level)} bot{f' ({safe(person.basis)})' if person.basis else ''}"
    else:
        words = {"kept": "invited", "open": "nobody yet", "": ""}.get(person.kind, "here" if person.here else "away")
    if person.program:
        words = f"program{f', {words}' if words else ''}"
    if person.bot and person.kind != "bot":
        words += f", {safe(person.level)} bot plays"
    if person.left:
        return f"{words}, resigned"
    if not person.turn:
        return words
    return f"{words}<b>Your turn</b>" if person.you else f"{words}<b>{', ' if person.kind else ''}to play</b>"


def draw_score(score: Score | None) -> str:
    """Return rounds won as pips, or points."""
    if not score or not (score.pips or score.points):
        return ""
    note = f"<small>{safe(score.note)}</small>" if score.note else ""
    if not score.pips:
        return f'<span class="points"><b>{safe(score.points)}</b>{note}</span>\n'
    pips = "".join('<i class="won"></i>' if pip < score.wins else "<i></i>" for pip in range(score.pips))
    said = f"{counted(score.wins, 'round')} won of {score.pips}"
    return f'<span class="wins">{pips}<span class="sr">{said}</span>{note}</span>\n'


# In lists of games


def draw_emblem(area: Area | None) -> str:
    """Return the small picture of a game; empty for a game without one."""
    if area is None:
        content = ""
    elif area.kind == scene.GRID:
        cells = (
            f'<span class="cell{f" t-{cell.tone}" if cell.tone else ""}">{safe_minus(cell.text)}</span>'
            for cell in area.cards
        )
        content = f'<div class="nine">{"".join(cells)}</div>\n'
    else:
        cards = (f'<span class="{look(card)}">{inside(card)}</span>' for card in area.cards)
        content = f'<div class="fan k-{area.kind}">{"".join(cards)}</div>\n'
    return f'<div class="emblem" aria-hidden="true">\n{content}</div>\n'
