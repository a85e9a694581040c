"""What one audience is shown of a table, ready to be drawn, and how it is built from the room.

An audience is a seat, a spectator, or a visitor who could still sit down. Its view model is built from the seat's own
view and log. Pages and messages are drawn from view models and from nothing else, so what a view model does not hold
cannot leave the server.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import NamedTuple

from piste import bots
from piste.core.game import Game, counted, listed, option_label, option_words
from piste.core.presentation import Key, Prompt
from piste.core.protocols import SPECTATOR
from piste.core.scene import Area, RoundEnd, Standing, scene_from_rows
from piste.core.views import Ending, SeatView
from piste.web.network import Root
from piste.web.tables.again import can_try_again, own_decisions, played_again
from piste.web.tables.lessons import lesson_at, lesson_note
from piste.web.tables.results import final_score, headline, reason, result
from piste.web.tables.room import Room
from piste.web.tables.seats import BOT, OPEN, PERSON, RESERVED
from piste.web.tables.transcript import LogLine

WAITING, PLAYING, OVER = "waiting", "playing", "over"
MAX_STEPS = 24  # events that are shown one after another; of more, only the last ones are


class Person(NamedTuple):
    """One seat as everybody sees it."""

    seat: int
    name: str  # who sits there; "" if nobody does
    kind: str  # person, bot, open, kept (for somebody who has not come yet)
    bot: str = ""  # which bot sits there or stands in for a person
    level: str = ""  # what people call its level
    basis: str = ""  # how the play of that bot is known, in a word, where its level claims something
    you: bool = False
    here: bool = True  # connected now; bots always are
    turn: bool = False
    left: bool = False  # has resigned
    program: bool = False  # a program plays there, over the API


class Choice(NamedTuple):
    """One decision that is open."""

    action: int
    decision: str  # what is sent: its short name in the notation
    key: str  # what the sheet offers to type: "yes", "R", "5"
    label: str  # what it means
    note: str = ""  # what it does, where the label does not say it
    verb: str = ""  # what is done with the chosen card, where the label does not say it


class Offer(NamedTuple):
    """Something besides decisions that can be done now: a button with a word of explanation."""

    do: str  # sit, fill, hint, resign, claim, stand-in, return, rematch, again, list, delete
    label: str
    help: str = ""
    ask: str = ""  # a question to be answered with yes first; "" if none
    number: int = -1  # of the question it is about, so that it is not taken for a later one; -1 if about none
    level: str = ""  # of the bots now, where another can be chosen with it
    decisions: tuple[tuple[int, str], ...] = ()  # numbers of decisions to choose from, each with its words


class TableViewModel(NamedTuple):
    """All that one audience is shown of one room. A field that is not given shows nothing."""

    code: str = ""
    game: str = ""  # its name in addresses and commands
    title: str = ""
    line: str = ""  # one line that says what the game is
    credit: str = ""
    options: tuple[tuple[str, str], ...] = ()  # those that differ from the sheet's, as text
    seat: int = SPECTATOR  # whose view it is; SPECTATOR for all others
    door: bool = False  # a visitor who does not sit here and could
    stage: str = ""
    at: int = 0  # how many lines the log has: what a client names when it reconnects
    step: int = 0  # how many events of the game there have been
    undecided: bool = False  # this seat plays, and has not decided anything yet: perhaps it has not seen the deal
    number: int = 0  # of the question that is open; a decision must name it
    status: str = ""  # one sentence: whose turn it is, what is waited for
    preparing: int | None = None  # percent of what a bot needs before its first decision; None if none is prepared
    people: tuple[Person, ...] = ()
    standing: Standing = Standing()  # scores, rounds and turns
    areas: tuple[Area, ...] = ()
    question: str = ""  # what is asked of this seat now; "" if nothing
    choices: tuple[Choice, ...] = ()  # every decision that is open to this seat
    tips: tuple[str, ...] = ()
    log: Sequence[LogLine] = ()  # the first `at` of these: more may follow, as they are those of the transcript
    offers: tuple[Offer, ...] = ()
    lesson: str | None = None  # in a first game that teaches, the note for this seat now; None at other tables
    decide: str = ""  # the address that takes decisions; "" for that of the table
    hint: str = ""  # the hint for this question; "" if none was asked for
    round_end: RoundEnd | None = None  # of the last round, until this seat decides in the next one
    result: str = ""  # once it is over: who won, with the score
    explanation: str = ""  # why
    won: bool | None = None  # by this seat; None for a draw, for spectators, and while the game runs
    invite: str = ""  # the address for friends and spectators
    only_here: str = ""  # why other devices cannot open these links, and what to do; "" if they can
    seat_link: str = ""  # the private address of this seat; "" for others
    commitment: str = ""  # shown from the deal on
    seed: str = ""  # that it commits to, once the game is over
    salt: str = ""
    successor: str = ""  # the address of the rematch, once there is one
    rematch_call: str = ""  # that somebody else wants or plays it
    series: str = ""  # the score over rematches, where there were any
    again: str = ""  # from where on another game is played again here; such a game does not count


class Viewer(NamedTuple):
    """Who views a room, as far as it changes what is shown."""

    seat: int  # or SPECTATOR
    host: bool = False


class RenderContext(NamedTuple):
    """What the server adds to a view model."""

    now: float
    patience: float
    root: Root  # what addresses begin with
    seat_link: str = ""  # the private address of the viewer's seat


def viewer_of(room: Room, player: str) -> Viewer:
    return Viewer(room.seat_of(player), room.is_host(player))


def view_model(room: Room, viewer: Viewer, context: RenderContext) -> TableViewModel:
    """Return all that this audience is shown."""
    game, table, transcript, seat, names = room.game, room.table, room.transcript, viewer.seat, room.names()
    options, tips, line = _of_options(game, tuple(room.options.items()))
    of_room = partial(
        TableViewModel,
        code=room.code, game=game.name, title=game.notation.TITLE, line=line, credit=game.notation.CREDIT,
        options=options, seat=seat, status=status(room, viewer, context, names),
        people=people(room, viewer, context.now, names), tips=tips, offers=offers(room, viewer, context, names),
        invite=f"{context.root.text}/t/{room.code}", only_here=context.root.only_here, seat_link=context.seat_link,
        successor=f"/t/{room.successor}" if room.successor else "", rematch_call=rematch_call(room, viewer),
        series=room.series_now().text(names, seat) if room.series and room.series.games else "",
        again=played_again(room),
    )  # fmt: skip
    if table is None or transcript is None:
        return of_room(stage=WAITING, door=seat == SPECTATOR and any(one.kind == OPEN for one in room.seats))
    view = table.view(seat)
    log = transcript.entries(seat, view)
    prompt = ask(game, view, names) if view.actions and not room.seats[seat].stand_in else None
    question_key = (seat, table.number)
    model = of_room(
        stage=OVER if room.over else PLAYING, at=len(log), step=len(view.log), log=log, number=table.number,
        undecided=seat != SPECTATOR and not transcript.has_decided(seat),
        preparing=None if room.to_act is None else room.preparing,
        standing=standing(game, view, names), areas=scene(game, view if prompt else untouchable(view), names),
        question="" if prompt is None else question(game, view, prompt, names),
        choices=() if prompt is None else choices(game, prompt, view),
        hint=room.hints.get(question_key) or room.no_hints.get(question_key, ""),
        round_end=round_end(room, view, names), commitment=table.commitment,
    )  # fmt: skip
    lesson = lesson_at(room)
    if lesson is not None and seat == lesson.seat:
        asked = prompt is not None or view.ending is not None
        model = model._replace(
            lesson=(lesson_note(lesson, view, transcript.deciders) or line) if asked else "",
            standing=model.standing._replace(note=""), invite="", seat_link="", commitment="",
        )  # fmt: skip
    ending, head = view.ending, room.head
    if ending is not None and head is not None:
        model = model._replace(
            result=headline(ending, names, seat, final_score(game, view)),
            explanation=explanation(room, view, ending, names),
            won=None if ending.winner is None or seat == SPECTATOR else ending.winner == seat,
            seed=head.seed.hex() if isinstance(head.seed, bytes) else head.seed or "",
            salt=head.commitment.salt if head.commitment else "",
        )
    return model


def steps(room: Room, viewer: Viewer, latest: TableViewModel, since: int) -> tuple[TableViewModel, ...]:
    """Return what this audience saw after each event between one and the latest, oldest first; below 0, none.

    Each is made of the part of its log that it had then. Its own decisions are left out: it knows them.
    """
    if room.table is None or room.transcript is None or not 0 <= since <= latest.step - 2:
        return ()
    view, names, reach = room.table.view(viewer.seat), room.names(), room.transcript.reach(viewer.seat)
    models: list[TableViewModel] = []
    for step in range(max(since + 1, latest.step - MAX_STEPS), latest.step):
        if room.transcript.deciders[step - 1] == viewer.seat != SPECTATOR:
            continue
        then = view.at_step(step)
        said = [as_sentence(line) for line in room.transcript.lines_at(viewer.seat, step)]
        areas, score = scene(room.game, then, names), standing(room.game, then, names)
        if not said and models and areas == models[-1].areas:
            continue  # nothing has changed
        models.append(
            latest._replace(
                stage=PLAYING, at=reach[step], step=step, status=" ".join(said), preparing=None, areas=areas,
                people=acting(latest.people, shown_seat(room, then)),
                standing=score if latest.lesson is None else score._replace(note=""),  # a lesson's limit is its own
                question="", choices=(), hint="",
                lesson=None if latest.lesson is None else latest.line if latest.undecided else "",
                round_end=round_end(room, then, names), result="", explanation="", won=None, rematch_call="",
            )
        )  # fmt: skip
    return tuple(models)


def shown_seat(room: Room, view: SeatView) -> int | None:
    """Return whose move the last event of a view is; of an event that is nobody's, who decides next."""
    seat = view.log[-1].event.seat
    return seat if seat >= 0 else next_decider(room, len(view.log))


def next_decider(room: Room, step: int) -> int | None:
    """Return who decided next after so many events, or is to decide now."""
    deciders = room.transcript.deciders[step:] if room.transcript else ()
    return next((seat for seat in deciders if seat != SPECTATOR), room.to_act)


def acting(people: tuple[Person, ...], seat: int | None) -> tuple[Person, ...]:
    """Return the same people with the turn of another."""
    return tuple(one._replace(turn=one.seat == seat) if one.turn != (one.seat == seat) else one for one in people)


def as_sentence(line: str) -> str:
    """Return a line of the log with a stop, where it has none."""
    return line.strip() if line.strip().endswith((".", "!", "?", ":")) else f"{line.strip()}."


def round_end(room: Room, view: SeatView, names: tuple[str, ...]) -> RoundEnd | None:
    """Return the end of the last round, until this seat decides in the next; for a spectator, until any seat does."""
    of = getattr(room.game.scene, "round_end", None)
    if of is None or room.transcript is None or view.ending is not None:
        return None
    for step in range(len(view.log), 0, -1):
        end: RoundEnd | None = of(view.at_step(step), names)
        decider = room.transcript.deciders[step - 1]
        if end is not None:
            # The step after it is told in one line: who won the round.
            return end._replace(line=room.transcript.reach(view.seat)[step] + 1)
        if decider != SPECTATOR and view.seat in (SPECTATOR, decider):
            return None
    return None


def explanation(room: Room, view: SeatView, ending: Ending, names: tuple[str, ...]) -> str:
    """Return why the game ended so, as the game says it, and whether it needed no decision."""
    log = room.game.log
    why = (log.decisive(view, names, ending) if log else "") or reason(ending, names, view.seat)
    sentences = [as_sentence(why[0].upper() + why[1:])]
    transcript = room.transcript
    if transcript is None or not transcript.answers:
        sentences.append("The game was over before anybody had to decide.")
    elif (
        view.seat != SPECTATOR and not transcript.has_decided(view.seat) and transcript.answers[-1].name != "resigns"
    ):
        sentences.append("The game was over before you had to decide.")
    return " ".join(filter(None, sentences))


def untouchable(view: SeatView) -> SeatView:
    """Return a view in which nothing can be decided."""
    return view._replace(decisions=(), actions=()) if view.actions else view


def scene(game: Game, view: SeatView, names: tuple[str, ...]) -> tuple[Area, ...]:
    """Return a view as areas to be drawn, by the game's own scene or from its text."""
    own = game.scene
    return scene_from_rows(view, names, game.text) if own is None else own.scene(view, names)


@lru_cache(maxsize=1024)
def _of_options(
    game: Game, given: tuple[tuple[str, int | str], ...]
) -> tuple[tuple[tuple[str, str], ...], tuple[str, ...], str]:
    """Return the options that differ from the sheet's, the tips, and the line that says what the game is."""
    options = game.options(dict(given))
    texts = game.option_texts(options, changed_only=True)
    return tuple(texts.items()), game.tips(options), game.line(options)


def standing(game: Game, view: SeatView, names: tuple[str, ...]) -> Standing:
    """Return scores, rounds and turns, where the game's scene tells them."""
    own = getattr(game.scene, "standing", None)
    found: Standing = own(view, names) if own else Standing()
    return found


def ask(game: Game, view: SeatView, names: tuple[str, ...]) -> Prompt:
    """Return the question with its answers; where a game can leave out what only a terminal prints, without that."""
    own: Callable[[SeatView, tuple[str, ...]], Prompt] = getattr(game.text, "prompt", game.text.ask)
    return own(view, names)


def question(game: Game, view: SeatView, prompt: Prompt, names: tuple[str, ...]) -> str:
    """Return what is asked; where a terminal asks step by step, a page asks for the whole decision at once."""
    own = getattr(game.scene, "question", None)
    if own:
        return str(own(view, names))
    nested = any(isinstance(key.then, Prompt) for key in prompt.keys)
    return f"Choose a {game.kind_name(view.kind)}" if nested else prompt.question


def choices(game: Game, prompt: Prompt, view: SeatView) -> tuple[Choice, ...]:
    """Return every decision with what the sheet offers to type for it and what it means or leads to."""
    names = dict(zip(view.actions, view.decisions, strict=True))
    texts: dict[int, tuple[str, str]] = getattr(game.scene, "choice_texts", lambda _: {})(view)
    found = []
    for action, key, *words, verb in answers(prompt.keys, prompt.verb):
        label, note = texts.get(action, words)
        found.append(Choice(action, names[action], key, label, note, verb))
    return tuple(found)


@lru_cache(maxsize=512)  # the same answers are open again and again
def answers(keys: tuple[Key, ...], verb: str) -> tuple[tuple[int, str, str, str, str], ...]:
    """Return each decision that keys lead to, with all that is typed, a label, a note and a verb."""
    found: list[tuple[int, str, str, str, str]] = []

    def walk(keys: tuple[Key, ...], verb: str, typed: str, labels: tuple[str, ...]) -> None:
        for key in keys:
            path = (*labels, key.label)
            if isinstance(key.then, Prompt):
                walk(key.then.keys, key.then.verb, typed + key.key, path)
            else:
                # Of questions one after another the first only leads to the second: Row, Row 1, Add 1.
                label, *more = path[1:] or path
                found.append((key.then, typed + key.key, label, ": ".join(filter(None, (*more, key.note))), verb))

    walk(keys, verb, "", ())
    return tuple(found)


def people(room: Room, viewer: Viewer, now: float, names: tuple[str, ...]) -> tuple[Person, ...]:
    to_act = room.to_act
    found = []
    for at, seat in enumerate(room.seats):
        kind, bot, you = seat.kind, seat.bot or seat.stand_in, at == viewer.seat
        name = "" if kind == OPEN else "You" if you and not seat.name else names[at]
        level, basis = (room.level_name(bot), room.basis(bot) if bot == bots.TOP else "") if bot else ("", "")
        here = kind == BOT or (kind == PERSON and (you or room.here(at, now)))
        left, turn = room.has_left(at), at == to_act
        found.append(Person(at, name, kind, bot, level, basis, you, here, turn, left, seat.program))
    return tuple(found)


def status(room: Room, viewer: Viewer, context: RenderContext, names: tuple[str, ...]) -> str:
    """Return one sentence: whose turn it is, or what is waited for."""
    if room.table is None:
        missing = sum(seat.kind == OPEN for seat in room.seats)
        kept = [names[i] for i, seat in enumerate(room.seats) if seat.kind == RESERVED]
        waits = [counted(missing, "more player")] if missing else []
        return f"Waiting for {listed([*kept, *waits], 'and')}."
    at = room.table.to_act
    if at is None:
        ending = room.table.ending()
        assert ending is not None
        return result(ending, names, viewer.seat)
    if room.stuck:
        return room.stuck
    if room.seats[at].bot:
        return f"{names[at]} is {'thinking' if room.preparing is None else 'being prepared, first time only'}."
    if room.seats[at].stand_in:
        level = room.level_name(room.seats[at].stand_in)
        return f"A bot ({level}) plays for {'you' if at == viewer.seat else names[at]}."
    if at == viewer.seat:
        return "Your turn."
    if not room.here(at, context.now):
        return f"{names[at]}'s turn, but {names[at]} is away."
    return f"{names[at]}'s turn."


RESIGN = Offer("resign", "Resign", "", "Resign this game?")
UNLIST = Offer("unlist", "Take it off the front page", "Only people with the link can come.")
LIST_OPEN = Offer("list", "Show it on the front page", "Anybody here can sit down or watch.")
LIST = LIST_OPEN._replace(help="Anybody here can watch.")


def listing(room: Room) -> Offer:
    """Return the way to put a table on the front page, or to take it off."""
    return UNLIST if room.listed else LIST_OPEN if room.table is None else LIST


def rematch_call(room: Room, viewer: Viewer) -> str:
    """Return what those are told of a rematch who did not ask for it."""
    if not room.successor or room.rematch_by in (SPECTATOR, viewer.seat):
        return ""
    if viewer.seat == SPECTATOR:
        return f"{listed(list(room.names()), 'and')} play again."
    return f"{room.names()[room.rematch_by]} wants a rematch."


def who_starts(room: Room, seat: int) -> str:
    """Return who takes the first turn of a rematch, in which everybody sits one seat on."""
    game, options = room.game, room.game.options(room.options)
    first = getattr(options, "first", 0) - 1
    option = next((one for one in game.notation.OPTIONS if one.name == "first"), None)
    if option is not None and first < 0:
        return f"{option_label(option)}: {option_words(option, 0)}."
    if option is None:
        first = getattr(game.notation, "STARTS", SPECTATOR)
    if first < 0:
        return "Seats swapped." if len(room.seats) == 2 else "Everybody sits one seat on."
    starter = (first + 1) % len(room.seats)
    return "You start this time." if starter == seat else f"{room.names()[starter]} starts this time."


def after_game(room: Room, seat: int) -> tuple[Offer, ...]:
    """Return what a player can do when the game is over."""
    bots_only = room.against_bots(seat)
    level = next((one.bot for one in room.seats if one.bot), "") if bots_only else ""
    offered = [Offer("rematch", "Rematch", f"A new deal. {who_starts(room, seat)}", level=level)]
    if can_try_again(room, seat):
        own = own_decisions(room, seat)
        decisions = [(own[0], "from the start"), (own[-1], "from my last decision")][: len(own)]
        offered += [
            Offer(
                "again", "Try again", "The same deal. It does not count in your results.", decisions=tuple(decisions)
            )
        ]
    if lesson_at(room) is not None:
        offered = []  # it leads to a game of its own
    sure = "Remove this game from your games? This cannot be undone."
    return (*offered, Offer("delete", "Delete this game", "", sure))


def offers(room: Room, viewer: Viewer, context: RenderContext, names: tuple[str, ...]) -> tuple[Offer, ...]:
    """Return what this audience can do besides deciding."""
    if room.table is None:
        fill = Offer("fill", "Fill empty seats with bots", "The game begins at once.")
        close = Offer("delete", "Close this table", "", "Close this table?")
        return (fill, listing(room), close) if viewer.host else ()
    if viewer.seat == SPECTATOR:
        return ()
    if room.over:
        return after_game(room, viewer.seat)
    if lesson_at(room) is not None:
        return ()  # it can be skipped at any time
    offers: list[Offer] = []
    mine = room.seats[viewer.seat]
    if mine.stand_in:
        offers += [Offer("return", "Take my seat back", "A bot plays for you.")]
    away = room.absent(context.now, context.patience)
    if away not in (SPECTATOR, viewer.seat) and not room.has_left(viewer.seat):
        name = names[away]
        left = f"{name} leaves the game." if room.table.seats > 2 else f"{name} is away and gives up the game."
        sure, number = f"{name} is away. Take their turn as a resignation?", room.table.number
        offers += [Offer("claim", "Claim the turn", left, sure, number)]
        takes = f"A bot takes {name}'s turns until {name} is back."
        offers += [Offer("stand-in", "Let a bot play on", takes, "", number)]
    if room.against_bots(viewer.seat) and room.table.to_act == viewer.seat and not mine.stand_in:
        offers += [Offer("hint", "Hint", "What the strongest bot here would choose. The record says that you asked.")]
    if not room.has_left(viewer.seat):
        offers += [RESIGN]
    if viewer.host:
        offers += [listing(room)]
    return tuple(offers)
