"""One game at one terminal: tells each person what they may know, asks, lets bots answer, keeps the record.

What is told comes from the seats' logs and the game's words; the table alone knows the game.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from piste.cli.prompt import Answer, Prompter
from piste.cli.terminal import Terminal
from piste.core.dealer import Dealer
from piste.core.errors import PisteError
from piste.core.game import counted, tidy
from piste.core.presentation import EventContext, Pause
from piste.core.protocols import SPECTATOR
from piste.core.record import Head, Recorder
from piste.core.table import Table

if TYPE_CHECKING:
    from piste.bots.base import Bot

YOU = "you"
ALONE = "press Enter when only you can see the screen."


class Left(Exception):
    """Somebody wants to stop now; the game is kept and can be resumed."""


class Sitting(NamedTuple):
    """Who sits on a seat: a person at this screen, or a bot."""

    spec: str
    bot: Bot | None


class Session:
    """Plays a table to its end, or until somebody leaves."""

    def __init__(
        self,
        head: Head,
        table: Table,
        recorder: Recorder,
        sittings: Sequence[Sitting],
        screen: Terminal,
        *,
        brief: bool = False,
        hints: bool = False,
        resume: Callable[[], str] = str,
        trouble: Callable[[], str] = str,
    ) -> None:
        self.head = head
        self.table = table
        self.recorder = recorder
        self.sittings = sittings
        self.screen = screen
        self.brief = brief
        self.resume = resume  # gives the command that goes on with this game, when somebody wants to know
        self.trouble = trouble  # says why the game cannot be kept; "" while it is
        self.names = head.seats
        self.words = head.game.text
        self.people = [seat for seat, sitting in enumerate(sittings) if sitting.bot is None]
        self.hints = hints or len(self.people) == 1
        self.private = self.words.HAND_OVER and len(self.people) > 1
        self.holder = self.people[0] if len(self.people) == 1 else SPECTATOR
        self._told = dict.fromkeys(range(SPECTATOR, table.seats), 0)
        self._paused = True  # nothing secret is on the screen yet
        self._open = True  # what stands there is for everybody
        self._dealer = Dealer(head.seed if head.seed is not None else "given")

    def run(self, *, resumed: bool = False) -> None:
        """Play until the game is over; raises Left, EOFError or KeyboardInterrupt when it is to be resumed."""
        self.catch_up() if resumed else self.begin()
        while True:
            self.tell_new()
            actor = self.table.to_act
            if actor is None:
                break
            bot = self.sittings[actor].bot
            if bot is None:
                self.ask(actor)
            else:
                view = self.table.view(actor)
                chosen = bot.choose(view, self._dealer.stream(f"bot {actor} {view.number}"))
                self.table.decide(actor, chosen, view.number)
        self.finish()

    def begin(self) -> None:
        """Say who plays, and what the sheet says before the first turn."""
        self.check_hiding()
        if not self.brief:
            for tip in self.head.game.tips(self.table.options):
                self.screen.note(tip)
            self.screen.note("At any question, ? helps.")
            self.screen.line()
        for seat, sitting in enumerate(self.sittings):
            if sitting.bot is not None:
                self.screen.note(f"{self.names[seat]} is the bot {self.described(sitting.spec)}.")
        if not self.head.counts:
            why = "the cards were laid by hand" if self.head.laid else "its seed was named"
            self.screen.note(f"This game does not count in your standing: {why}.")
        self.screen.lines(self.words.welcome(self.table.view(self.holder), self.names))

    def check_hiding(self) -> None:
        """Refuse a game with secrets where one person's cards could not be hidden from another."""
        if self.private and not self.screen.can_hide:
            raise PisteError(
                "Several people at one keyboard need a terminal that can be cleared: do not send the output away."
            )
        if self.private and self.screen.dumb:
            self.screen.note("This terminal can only be scrolled: do not look back up while another one plays.")

    def catch_up(self) -> None:
        """Begin in the middle of a game: each person is told again what came after their last decision.

        Who has decided nothing yet is told their newest card again, not every turn since the deal.
        """
        self.check_hiding()
        decided, steps = dict.fromkeys(self._told, 0), 0
        for text in self.recorder.lines[1:]:
            line = json.loads(text)
            if "mark" in line or "ending" in line:
                continue
            steps += 1
            for seat in self.people:
                if line.get("seat") == self.head.game.seat_name(seat):
                    decided[seat] = decided[SPECTATOR] = steps
        owners = [told.event.seat for told in self.table.view(SPECTATOR).log]
        for seat in self.people:
            own = [at for at, owner in enumerate(owners) if owner == seat]
            if own and not decided[seat]:
                decided[seat] = own[-1] + (seat != self.table.to_act)
        if not any(decided[seat] for seat in self.people if seat == self.table.to_act):
            decided[SPECTATOR] = 0
        self._told, self._open = decided, False
        self.screen.note(f"Going on with {self.head.game.notation.TITLE} after {counted(steps, 'step')}.")

    # Telling

    def tell_new(self) -> None:
        """Tell whatever has happened and has not been told, to whom it concerns."""
        if not self.private:
            self._tell_shared()
            return
        # The last event of a game is told by `finish`: nothing is secret then.
        steps = len(self.table.history()) - (self.table.to_act is None)
        for at in range(min(self._told[seat] for seat in self.people), steps):
            owner = self.table.view(SPECTATOR).log[at].event.seat
            if owner not in self.people or at < self._told[owner]:
                continue
            # A turn that passes without a decision is shown to its owner, who presses Enter (ZSD's first six).
            if not self.brief and any(isinstance(line, Pause) for line in self.phrase(owner, at)):
                self.hand_over(owner)
                self.tell(owner, at + 1)

    def _tell_shared(self) -> None:
        """Tell on a screen that everybody here may read: each event in the voice of the one it is about."""
        log = self.table.view(SPECTATOR).log
        for at in range(self._told[SPECTATOR], len(log)):
            owner = log[at].event.seat
            one = self.people[0] if len(self.people) == 1 else SPECTATOR
            if len(self.people) > 1 and owner in self.people and self.is_secret(owner, at):
                self.look_away(owner)
            self._told[SPECTATOR] = at + 1
            self.show(self.phrase(owner if owner in self.people else one, at))

    def is_secret(self, seat: int, at: int) -> bool:
        """Say whether a seat was told something that nobody else was told."""
        return self.table.view(seat).log[at].event != self.table.view(SPECTATOR).log[at].event

    def look_away(self, seat: int) -> None:
        """Let one person alone read the screen until they have decided, which shows what was private (P6)."""
        if self.holder != seat and self.screen.typed and self.screen.asking:
            if self._told[SPECTATOR]:
                self.screen.line()
            self.screen.forget_typed()
            self.wait(f"--- {self.names[seat]}: {ALONE} ---")
            self.holder = seat

    def tell(self, seat: int, upto: int | None = None) -> None:
        """Tell a seat its own log as far as it has not been told; stop where a turn of its own ended."""
        log = self.table.view(seat).log
        for at in range(self._told[seat], len(log) if upto is None else upto):
            self._told[seat] = at + 1
            lines = self.phrase(seat, at)
            self.show(lines)
            if upto is None and not self.brief and any(isinstance(line, Pause) for line in lines):
                break

    def phrase(self, seat: int, at: int) -> list[str]:
        view = self.table.view(seat)
        return self.words.lines(EventContext(seat, self.names, view.opening, view.log[: at + 1]))

    def show(self, lines: list[str]) -> None:
        for line in lines:
            if not isinstance(line, Pause):
                self.screen.line(line)
            elif not self.brief:
                self.wait(line)
            self._paused = isinstance(line, Pause) and not self.brief

    def hand_over(self, seat: int) -> None:
        """Give the screen to another person, who sees nothing of what the last one saw."""
        if self.holder == seat:
            return
        if not self._paused:
            self.wait(f"Press Enter, then hand over to {self.names[seat]}. ")
        if not self._open:
            self.screen.clear()
        self.screen.forget_typed()
        self.wait(f"--- {self.names[seat]}: {ALONE} ---")
        self.screen.clear()
        self.holder, self._paused, self._open = seat, True, False

    def wait(self, text: str) -> None:
        """Wait for Enter. Words are not thrown away: `quit` leaves, anything else asks again."""
        while True:
            typed = tidy(self.screen.pause(text))
            if typed == "quit":
                raise Left
            if not typed:
                return
            self.screen.note("Press Enter alone to go on, or type quit; the game is kept.")

    def hide(self) -> None:
        """Clear what only one of several people may see, before somebody leaves."""
        if len(self.people) > 1 and self.holder != SPECTATOR:
            self.screen.clear()

    # Asking

    def ask(self, seat: int) -> None:
        """Ask a person for a decision until one is taken."""
        if not self.screen.asking:
            raise PisteError(f"{self.names[seat]} has to decide, but --no-input was given.")
        if self.private:
            self.hand_over(seat)
            self.tell(seat)
        view = self.table.view(seat)
        asker = Prompter(self.head.game, view, self.names, self.screen, brief=self.brief)
        while True:
            answer, value = asker.answer()
            if answer is Answer.DECISION:
                self.table.decide(seat, int(value), view.number)
                break
            if answer is Answer.COMMAND and self.command(seat, str(value), asker):
                break
        self._paused = False
        if self.private:
            self.tell(seat)
        elif len(self.people) > 1:
            self.holder = SPECTATOR

    def command(self, seat: int, word: str, asker: Prompter) -> bool:
        """Carry out a word that is no decision; return whether the question is settled by it."""
        view = self.table.view(seat)
        if word == "log":
            for at in range(len(view.log)):
                self.screen.lines([line for line in self.phrase(seat, at) if not isinstance(line, Pause)])
        elif word == "hint":
            try:
                self.hint(seat)
            except PisteError as e:  # the game goes on without it
                self.screen.note(f"There is no hint: {e}")
        elif word == "save":
            trouble = self.trouble()
            self.screen.note(trouble or "The game is kept after every decision. To go on with it:")
            if not trouble:
                self.screen.whole(self.resume())
        elif word == "quit":
            raise Left
        elif word == "resign":
            if self.screen.person and not asker.confirm("Resign this game? (yes/no): "):
                return False
            self.table.resign(seat)
            return True
        return False

    def hint(self, seat: int) -> None:
        from piste import bots

        if not self.hints:
            self.screen.note("No hints here: people play each other. Begin with --hints if all agree to them.")
            return
        view = self.table.view(seat)
        best = bots.best(self.head.game, view.options)
        if bots.asks_solver(best.name, self.head.game):
            from piste.cli.background import WorkerBot

            best = WorkerBot(self.head.game, best.name)
        try:
            chosen = best.choose(view, self._dealer.stream(f"hint {seat} {view.number}"))
        except KeyboardInterrupt:  # ends the hint and not the game
            self.screen.note("The hint was stopped. The game goes on.")
            return
        name = view.decisions[view.actions.index(chosen)]
        self.recorder.mark(f"hint for seat {self.head.game.seat_name(seat)}: {name}")
        self.screen.note(
            f"The bot {self.described(best.name)} would choose {name}. (The record says that you asked.)"
        )

    def described(self, spec: str) -> str:
        """Return a bot's name and how its play is known."""
        from piste import bots

        return bots.described(self.head.game, spec, self.table.options)

    # Ending

    def finish(self) -> None:
        ending = self.table.ending()
        assert ending is not None
        if self.private:
            # Nothing is secret any more (G9): whoever ended the game is told the rest, then everybody the result.
            last = self.table.view(SPECTATOR).log[-1].event.seat
            reader = last if last in self.people else self.holder
            if reader in self.people:
                while self._told[reader] < len(self.table.history()):
                    self.tell(reader)
        view = self.table.view(self.people[0] if len(self.people) == 1 else SPECTATOR)
        self.screen.lines(self.words.farewell(view, self.names, ending))

    def close(self) -> None:
        """Let the bots go; those that are programs are told how the game ended, if it has."""
        from piste import bots

        for seat, sitting in enumerate(self.sittings):
            if sitting.bot is not None:
                bots.finish(sitting.bot, self.table.view(seat))
