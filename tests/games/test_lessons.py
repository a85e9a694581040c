"""First games that teach: short whatever is decided, with notes that fit, come once and tell nothing hidden."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import NamedTuple

import pytest

import piste
from piste import bots
from piste.core.dealer import Dealer
from piste.core.game import Game, find, names
from piste.core.lesson import Lesson, latest_note, lesson_head, lesson_of
from piste.core.protocols import CHANCE
from piste.core.replay import seated
from piste.core.table import Table
from piste.core.views import SeatView
from piste.web.workers.worker_pool import seed_of_bots
from tests.game_setups import Kind, actions, walked
from tests.test_secrecy import another_history

TAUGHT = tuple(name for name in names() if find(name).lesson is not None)
MOST_DECISIONS = 8
"""With a note to read at each, about two minutes."""

MOST_LETTERS = 150
"""Of a note: what is read in a few seconds."""


class Played(NamedTuple):
    decisions: list[str]
    notes: list[str]  # one for each decision and one for the end, "" where there was none
    moments: list[SeatView]
    table: Table


def lesson_named(name: str) -> tuple[Game, Lesson]:
    game = find(name)
    assert game.lesson is not None
    return game, game.lesson.LESSON


def play(name: str, decide: Callable[[SeatView, int], str]) -> Played:
    """Play a lesson to its end, with the bot as a server seats it."""
    game, lesson = lesson_named(name)
    head = lesson_head(game, lesson, ("You", "Bot"))
    table, _ = seated(head)
    bot, dealer = bots.find(lesson.bot, game), Dealer(seed_of_bots(head))
    played = Played([], [], [], table)
    while table.to_act is not None:
        view = table.view(table.to_act)
        if view.seat == lesson.seat:
            played.moments.append(view)
            played.notes.append(latest_note(lesson, played.moments))
            played.decisions.append(decide(view, len(played.decisions)))
            table.decide(view.seat, played.decisions[-1])
        else:
            table.decide(view.seat, bot.choose(view, dealer.stream(bots.stream_name(view))))
    played.moments.append(table.view(lesson.seat))
    played.notes.append(latest_note(lesson, played.moments))
    return played


def at_random(name: str, seed: int) -> Played:
    chooser = random.Random(seed)
    return play(name, lambda view, _: chooser.choice(view.decisions))


def notes_after(kind: Kind, steps: tuple[int, ...], lesson: Lesson) -> list[str]:
    """Return every note that fits after these steps."""
    rules = find(kind.game).rules
    taken = [(rules.to_act(state), step) for state, step in walked(kind, steps) if step is not None]
    table = piste.open_table(kind.game, kind.options, outcomes=[step for actor, step in taken if actor == CHANCE])
    for actor, step in taken:
        if actor != CHANCE:
            table.decide(actor, step)
    view = table.view(lesson.seat)
    return [text for note in lesson.notes if (text := note(view))]


def test_the_five_games_have_a_lesson() -> None:
    assert set(TAUGHT) >= {"zero-sum-duel", "positive-negative", "zero-sum-grid", "prime-duel", "mccoy-duel"}


@pytest.mark.parametrize("name", TAUGHT)
def test_the_suggested_decisions_lead_to_a_win_with_a_note_at_each(name: str) -> None:
    _, lesson = lesson_named(name)
    played = play(name, lambda _, at: lesson.suggested[at])
    assert tuple(played.decisions) == lesson.suggested
    ending = played.table.ending()
    assert ending is not None
    assert ending.winner == lesson.seat
    assert all(played.notes)
    assert 3 <= len(played.notes) <= 6


@pytest.mark.parametrize("name", TAUGHT)
def test_whatever_is_decided_a_lesson_is_short_and_ends_with_a_note(name: str) -> None:
    for seed in range(60):
        played = at_random(name, seed)
        assert len(played.decisions) <= MOST_DECISIONS
        shown = [note for note in played.notes if note]
        assert len(set(shown)) == len(shown) <= 6
        assert played.notes[0]
        assert played.notes[-1]


@pytest.mark.parametrize("name", TAUGHT)
def test_notes_are_short_sentences(name: str) -> None:
    for note in {note for seed in range(60) for note in at_random(name, seed).notes if note}:
        assert note[0].isupper() or note[0].isdigit()
        assert note.endswith((".", "?"))
        assert len(note) <= MOST_LETTERS, note


@pytest.mark.parametrize("name", TAUGHT)
def test_a_lesson_does_not_count_and_its_record_says_what_it_is(name: str) -> None:
    game, lesson = lesson_named(name)
    head = lesson_head(game, lesson, ("You", "Bot"))
    assert not head.counts
    assert lesson_of(head) is lesson
    text = at_random(name, 1).table.record()
    again = piste.Record.parse(text).head
    assert lesson_of(again) is lesson
    assert lesson_of(again._replace(notes={})) is None


@pytest.mark.parametrize("name", TAUGHT)
def test_notes_come_from_what_the_seat_saw_at_each_moment(name: str) -> None:
    """At the end the log alone gives the same notes as the table did on the way."""
    _, lesson = lesson_named(name)
    played = at_random(name, 3)
    last = played.moments[-1]
    again = [last.at_step(len(moment.log)) for moment in played.moments]
    assert [latest_note(lesson, again[: at + 1]) for at in range(len(again))] == played.notes


@pytest.mark.parametrize("name", ["zero-sum-duel", "mccoy-duel"])  # in the others all is open when one decides
def test_notes_are_the_same_in_games_that_the_seat_cannot_tell_apart(name: str) -> None:
    _, lesson = lesson_named(name)
    kind, found = Kind(name, dict(lesson.options)), 0
    for seed in range(12):
        chooser, played = random.Random(seed), at_random(name, seed)
        for moment in played.moments[:-1]:
            steps = actions(played.table.history()[: len(moment.log)])
            other = another_history(kind, steps, lesson.seat, chooser)
            if other is not None:
                found += 1
                assert notes_after(kind, steps, lesson) == notes_after(kind, other, lesson) != []
    assert found > 0, "no second history was ever found: the test would show nothing"


GOALS = {
    "zero-sum-duel": "You win when the cards you keep, two or three, add up to 0.",
    "positive-negative": "The higher score wins",
    "zero-sum-grid": "Whoever makes all nine numbers 0 wins.",
    "prime-duel": "You win with exactly 20 points.",
    "mccoy-duel": "The last one who can play wins the round.",
}


@pytest.mark.parametrize("name", GOALS)
def test_the_first_note_gives_the_goal(name: str) -> None:
    assert GOALS[name] in at_random(name, 0).notes[0]


def test_prime_duel_tells_of_cards_that_are_too_high_before_they_come_and_gives_a_reason_to_discard() -> None:
    _, lesson = lesson_named("prime-duel")
    notes = play("prime-duel", lambda _, at: lesson.suggested[at]).notes
    assert notes[1].endswith("10 makes 15, not a prime. Discard it, and 12 of 38 cards make a prime or 20.")
    assert notes[2].startswith("8 makes 19, a prime")
    assert "You see at most two cards a turn." in notes[2]
    assert "To stay on 19 gave no extra turn" in notes[3]


def test_prime_duel_remarks_on_a_win_that_was_thrown_away() -> None:
    _, lesson = lesson_named("prime-duel")
    decisions = (*lesson.suggested[:-1], "discard")
    notes = play("prime-duel", lambda _, at: decisions[at]).notes
    thrown = "The 1 that you discarded would have won: 19 + 1 = 20."
    assert notes[-1] == f"{thrown} That is the whole game. A real one goes to 50."


def test_duel_says_that_any_card_wins_against_an_empty_hand() -> None:
    _, lesson = lesson_named("mccoy-duel")
    played = play("mccoy-duel", lambda _, at: lesson.suggested[at])
    assert played.moments[2].position.sizes[1] == 0
    assert played.notes[2].endswith("Your opponent has no cards left: play, and you win.")


def test_the_grid_warns_of_leaving_one_move() -> None:
    _, lesson = lesson_named("zero-sum-grid")
    played = play("zero-sum-grid", lambda _, at: lesson.suggested[at])
    assert played.notes[-2].endswith("Never leave one move yourself.")
    assert "Who leaves one move to 0 loses: with two left, move away from 0 instead." in played.notes[-1]
