"""What one audience has before it, ready to be drawn: a seat, somebody who looks on, or somebody at the door.

A face is made from the seat's own view and log. Pages and messages are drawn from faces and from nothing else, so
what a face does not hold cannot leave the server.
"""

from __future__ import annotations

from typing import NamedTuple

from piste.core.scene import Area, RoundEnd

WAITING, PLAYING, OVER = "waiting", "playing", "over"


class Person(NamedTuple):
    """One seat as everybody sees it."""

    seat: int
    name: str  # who sits there; "" if nobody does
    kind: str  # person, bot, open, kept (for somebody who has not come yet)
    bot: str = ""  # which bot sits there or stands in for a person
    basis: str = ""  # how the play of that bot is known, in a word
    you: bool = False
    here: bool = True  # connected now; bots always are
    turn: bool = False
    left: bool = False  # has resigned


class Choice(NamedTuple):
    """One decision that is open."""

    action: int
    decision: str  # what is sent: its short name in the notation
    key: str  # what the sheet offers to type: "yes", "R", "5"
    label: str  # what it means


class Entry(NamedTuple):
    """One line of the log."""

    number: int  # from 0, for ever the same
    text: str
    kind: str  # said (by the sheet), drawn (by it, in letters), own (a decision), note (by the house)


class Offer(NamedTuple):
    """Something besides decisions that can be done now: a button with a word of explanation."""

    do: str  # sit, fill, hint, resign, claim, stand-in, return, rematch, list, delete
    label: str
    help: str = ""
    ask: str = ""  # a question to be answered with yes first; "" if none
    number: int = -1  # of the question it is about, so that it is not taken for a later one; -1 if about none


class TableViewModel(NamedTuple):
    """All that one audience is shown of one room."""

    code: str
    game: str  # its name in addresses and commands
    title: str
    line: str  # one line that says what the game is
    credit: str
    options: tuple[tuple[str, str], ...]  # those that differ from the sheet's, as text
    seat: int  # whose face it is; SPECTATOR for all others
    door: bool  # somebody who does not sit here and could
    stage: str
    at: int  # how many things have happened in this room: what a client names when it comes back
    step: int  # how many events of the game there have been
    undecided: bool  # this seat plays, and has not decided anything yet: perhaps it has not seen the deal either
    number: int  # of the question that is open; a decision must name it
    status: str  # one sentence: whose turn it is, what is waited for
    preparing: int | None  # percent of what a bot needs before its first decision; None if nothing is prepared
    people: tuple[Person, ...]
    areas: tuple[Area, ...]
    question: str  # what is asked of this seat now; "" if nothing
    choices: tuple[Choice, ...]  # every decision that is open to this seat
    tips: tuple[str, ...]
    log: tuple[Entry, ...]
    offers: tuple[Offer, ...]
    hint: str  # what a hint said, for this question; "" if none was asked for
    round_end: RoundEnd | None  # of the last round, until this seat decides in the next one
    result: str  # once it is over, in a sentence
    explained: str  # what brought that about, where it needs to be said
    won: bool | None  # by this seat; None for a draw, for those who look on, and while it goes on
    invite: str  # the address for friends and for those who look on
    only_here: str  # why no other device can follow these links, and what to do; "" if others can
    seat_link: str  # the private address of this seat; "" for others
    commitment: str  # shown from the deal on
    seed: str  # and what it promised, once the game is over
    salt: str
    successor: str  # the address of the rematch, once there is one
