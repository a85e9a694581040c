"""One game at one terminal: tells each person what they may know, asks for decisions, lets bots decide.

What is told comes from the seats' logs and the game's texts; only the table holds the state.
"""

from __future__ import annotations

import contextlib
import signal
import sys
from collections.abc import Sequence

from piste import bots
from piste.cli import saved_games
from piste.cli.players import Player
from piste.cli.prompt import Answer, Prompter
from piste.cli.styles import game_marker
from piste.cli.terminal import Terminal, complain
from piste.core.dealer import Dealer
from piste.core.errors import PisteError
from piste.core.extras import missing, solving
from piste.core.game import counted, tidy
from piste.core.marks import Hint
from piste.core.presentation import EventContext, Pause
from piste.core.protocols import SPECTATOR
from piste.core.record import Head, Recorder
from piste.core.table import Table

ONLY_YOU = "press Enter when only you can see the screen."
STOP_SIGNALS = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
"""What a closed window or a stopping system sends."""


class PlayerLeftError(Exception):
    """A person wants to stop now; the game is saved and can be resumed."""


class StopSignalError(PlayerLeftError):
    """A signal asks the program to stop."""

    def __init__(self, number: int) -> None:
        self.number = number


class Session:
    """Plays a table to its end, or until a person leaves."""

    def __init__(
        self,
        head: Head,
        table: Table,
        recorder: Recorder,
        players: Sequence[Player],
        terminal: Terminal,
        *,
        brief: bool = False,
        hints: bool = False,
        record_file: saved_games.RecordFile | None = None,
    ) -> None:
        self.head = head
        self.table = table
        self.recorder = recorder
        self.players = players
        self.terminal = terminal
        self.brief = brief
        self.record_file = record_file
        self.names = head.seats
        self.text = head.game.text
        self.people = [seat for seat, player in enumerate(players) if player.bot is None]
        self.hints = hints or len(self.people) == 1
        self.private = self.text.HAND_OVER and len(self.people) > 1
        self.holder = self.people[0] if len(self.people) == 1 else SPECTATOR
        self._log_position = dict.fromkeys((SPECTATOR, *range(table.seats)), 0)
        self._paused = True  # nothing secret is on the screen yet
        self._open = True  # what stands there is for everybody
        self._dealer = Dealer(head.seed if head.seed is not None else "given")
        terminal.marker = game_marker(head.game, table.options, self.names, lambda: self.holder, self.people)

    def run(self, *, resumed: bool = False) -> None:
        """Play to the end; PlayerLeftError, EOFError or KeyboardInterrupt is raised when it is to be resumed."""
        self.catch_up() if resumed else self.begin()
        while True:
            self.tell_new()
            actor = self.table.to_act
            if actor is None:
                break
            bot = self.players[actor].bot
            if bot is None:
                self.ask(actor)
            else:
                view = self.table.view(actor).complete()
                action = bot.choose(view, self._dealer.stream(f"bot {actor} {view.number}"))
                self.table.decide(actor, action, view.number)
        self.finish()

    def begin(self) -> None:
        """Say who plays, and what the sheet says before the first turn."""
        self.check_hiding()
        if not self.brief:
            for tip in self.head.game.tips(self.table.options):
                self.terminal.note(tip)
            self.terminal.note("At any question, ? helps.")
            self.terminal.line()
        for seat, player in enumerate(self.players):
            if player.bot is not None:
                self.terminal.note(f"{self.names[seat]} is the bot {self.described(player.spec)}.")
        if not self.head.counts:
            why = "the cards were laid by hand" if self.head.laid else "its seed was named"
            self.terminal.note(f"This game does not count in your standing: {why}.")
        self.terminal.lines(self.text.welcome(self.table.view(self.holder), self.names))

    def check_hiding(self) -> None:
        """Refuse a game with secrets where one person's cards could not be hidden from another."""
        if self.private and not self.terminal.can_hide:
            raise PisteError(
                "Several people at one keyboard need a terminal that can be cleared: do not send the output away."
            )
        if self.private and self.terminal.dumb:
            self.terminal.note("This terminal can only be scrolled: do not look back up while another one plays.")

    def catch_up(self) -> None:
        """Begin in the middle of a game: tell each person again what came after their last decision.

        A person who has not decided yet is told their newest card again, not every turn since the deal.
        """
        self.check_hiding()
        decided = dict.fromkeys(self._log_position, 0)  # after how many steps each one decided last
        actors = self.table.actors()
        for step, actor in enumerate(actors, 1):
            if actor in self.people:
                decided[actor] = decided[SPECTATOR] = step
        owners = [entry.event.seat for entry in self.table.view(SPECTATOR).log]
        for seat in self.people:
            own = [at for at, owner in enumerate(owners) if owner == seat]
            if own and not decided[seat]:
                decided[seat] = own[-1] + (seat != self.table.to_act)
        if not any(decided[seat] for seat in self.people if seat == self.table.to_act):
            decided[SPECTATOR] = 0
        self._log_position, self._open = decided, False
        self.terminal.note(f"Going on with {self.head.game.notation.TITLE} after {counted(len(actors), 'step')}.")

    # Telling

    def tell_new(self) -> None:
        """Tell what is new to those whom it concerns."""
        if not self.private:
            self._tell_shared()
            return
        # The last event of a game is told by `finish`: nothing is secret then.
        steps = len(self.table.history()) - (self.table.to_act is None)
        for at in range(min(self._log_position[seat] for seat in self.people), steps):
            owner = self.table.view(SPECTATOR).log[at].event.seat
            if owner not in self.people or at < self._log_position[owner]:
                continue
            # A turn that passes without a decision is shown to its owner, who presses Enter (ZSD's first six).
            if not self.brief and any(isinstance(line, Pause) for line in self.phrase(owner, at)):
                self.hand_over(owner)
                self.tell(owner, at + 1)

    def _tell_shared(self) -> None:
        """Tell on a screen that everybody here may read: each event in the voice of the one it is about."""
        log = self.table.view(SPECTATOR).log
        for at in range(self._log_position[SPECTATOR], len(log)):
            owner = log[at].event.seat
            one = self.people[0] if len(self.people) == 1 else SPECTATOR
            if len(self.people) > 1 and owner in self.people and self.is_secret(owner, at):
                self.look_away(owner)
            self._log_position[SPECTATOR] = at + 1
            self.show(self.phrase(owner if owner in self.people else one, at))

    def is_secret(self, seat: int, at: int) -> bool:
        """Return whether a seat was told something that nobody else was told."""
        return self.table.view(seat).log[at].event != self.table.view(SPECTATOR).log[at].event

    def look_away(self, seat: int) -> None:
        """Let one person alone read the screen until they have decided, which shows what was private (P6)."""
        if self.holder != seat and self.terminal.typed and self.terminal.asking:
            if self._log_position[SPECTATOR]:
                self.terminal.line()
            self.terminal.forget_typed()
            self.wait(f"--- {self.names[seat]}: {ONLY_YOU} ---")
            self.holder = seat

    def tell(self, seat: int, upto: int | None = None) -> None:
        """Tell a seat its own log as far as it has not been told; stop where a turn of its own ended."""
        log = self.table.view(seat).log
        for at in range(self._log_position[seat], len(log) if upto is None else upto):
            self._log_position[seat] = at + 1
            lines = self.phrase(seat, at)
            self.show(lines)
            if upto is None and not self.brief and any(isinstance(line, Pause) for line in lines):
                break

    def phrase(self, seat: int, at: int) -> list[str]:
        view = self.table.view(seat)
        return self.text.lines(EventContext(seat, self.names, view.opening, view.log[: at + 1]))

    def show(self, lines: list[str]) -> None:
        for line in lines:
            if not isinstance(line, Pause):
                self.terminal.line(line)
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
            self.terminal.clear()
        self.terminal.forget_typed()
        self.wait(f"--- {self.names[seat]}: {ONLY_YOU} ---")
        self.terminal.clear()
        self.holder, self._paused, self._open = seat, True, False

    def wait(self, text: str) -> None:
        """Wait for Enter. Words are not discarded: `quit` leaves, anything else asks again."""
        while True:
            typed = tidy(self.terminal.pause(text))
            if typed == "quit":
                raise PlayerLeftError
            if not typed:
                return
            self.terminal.note("Press Enter alone to go on, or type quit; the game is kept.")

    def hide(self) -> None:
        """Clear what only one of several people may see, before a person leaves."""
        if len(self.people) > 1 and self.holder != SPECTATOR:
            self.terminal.clear()

    # Asking

    def ask(self, seat: int) -> None:
        """Ask a person for a decision until one is taken."""
        if not self.terminal.asking:
            raise PisteError(f"{self.names[seat]} has to decide, but --no-input was given.")
        if self.private:
            self.hand_over(seat)
            self.tell(seat)
        view = self.table.view(seat)
        prompter = Prompter(self.head.game, view, self.names, self.terminal, brief=self.brief)
        while True:
            answer, value = prompter.answer()
            if answer is Answer.DECISION:
                self.table.decide(seat, int(value), view.number)
                break
            if answer is Answer.COMMAND and self.command(seat, str(value), prompter):
                break
        self._paused = False
        if self.private:
            self.tell(seat)
        elif len(self.people) > 1:
            self.holder = SPECTATOR

    def command(self, seat: int, word: str, prompter: Prompter) -> bool:
        """Carry out a command that is no decision; return whether it settles the question."""
        view = self.table.view(seat)
        if word == "log":
            for at in range(len(view.log)):
                self.terminal.lines([line for line in self.phrase(seat, at) if not isinstance(line, Pause)])
        elif word == "hint":
            try:
                self.hint(seat)
            except PisteError as e:  # the game goes on without it
                self.terminal.note(f"There is no hint: {e}")
        elif word == "save":
            error = "" if self.record_file is None else self.record_file.error
            self.terminal.note(error or "The game is kept after every decision. To go on with it:")
            if not error:
                self.terminal.whole(self.resume_command())
        elif word == "quit":
            raise PlayerLeftError
        elif word == "resign":
            if self.terminal.person and not prompter.confirm("Resign this game? (yes/no): "):
                return False
            self.table.resign(seat)
            return True
        return False

    def resume_command(self) -> str:
        return "piste resume" if self.record_file is None else saved_games.command("resume", self.record_file.name)

    def hint(self, seat: int) -> None:
        if not self.hints:
            self.terminal.note("No hints here: people play each other. Begin with --hints if all agree to them.")
            return
        view = self.table.view(seat).complete()
        best = bots.best(self.head.game, view.options)
        if bots.asks_solver(best.name, self.head.game):
            from piste.cli.background import WorkerBot

            best = WorkerBot(self.head.game, best.name)
        try:
            action = best.choose(view, self._dealer.stream(f"hint {seat} {view.number}"))
        except KeyboardInterrupt:  # ends the hint and not the game
            self.terminal.note("The hint was stopped. The game goes on.")
            return
        name = view.decisions[view.actions.index(action)]
        self.recorder.mark(Hint(seat, name))
        self.terminal.note(
            f"The bot {self.described(best.name)} would choose {name}. (The record says that you asked.)"
        )

    def described(self, spec: str) -> str:
        """Return a bot's name and how its play is known."""
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
                while self._log_position[reader] < len(self.table.history()):
                    self.tell(reader)
        view = self.table.view(self.people[0] if len(self.people) == 1 else SPECTATOR)
        self.terminal.lines(self.text.farewell(view, self.names, ending))

    def close(self) -> None:
        """Close the bots; those that are programs are told how the game ended, if it has."""
        for seat, player in enumerate(self.players):
            if player.bot is not None:
                bots.finish(player.bot, self.table.view(seat))


def play_session(session: Session, record_file: saved_games.RecordFile, *, resumed: bool = False) -> int:
    """Play and return the exit code; however it ends, say how to go on."""
    terminal = session.terminal
    handlers = {number: signal.signal(number, _stop) for number in STOP_SIGNALS}
    if terminal.person:  # Ctrl-C works at a terminal, even where the parent process had it ignored
        handlers[signal.SIGINT] = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        session.run(resumed=resumed)
        if record_file.error:
            complain(f"There was no room for the whole game in {record_file.path.parent}. It cannot be shown again.")
            return 0
        terminal.note("To see this game again:")
        terminal.whole(saved_games.command("replay", record_file.name))
        refused = missing(solving(session.head.game, session.table.options, "A review"))
        terminal.note("To learn what each decision cost:" if refused is None else str(refused))
        if refused is None:
            terminal.whole(saved_games.command("review", record_file.name))
        return 0
    except StopSignalError as e:
        return _say_how_to_resume(session, record_file, "", 128 + e.number)
    except (PlayerLeftError, EOFError):
        return _say_how_to_resume(session, record_file, "", 0)
    except KeyboardInterrupt:
        return _say_how_to_resume(session, record_file, "", 130)
    except PisteError as e:
        return _say_how_to_resume(session, record_file, f"{e} ", 1)
    except OSError:
        _say_how_to_resume(session, record_file, "", 1)  # the terminal or the reader of a pipe is gone
        raise
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        session.close()
        record_file.close()


def _stop(number: int, _: object) -> None:
    raise StopSignalError(number)


def _say_how_to_resume(session: Session, record_file: saved_games.RecordFile, why: str, code: int) -> int:
    """Say how to go on with a game that was left, without what only one person may see; return the exit code."""
    text = "The game is kept. To go on with it:"
    if record_file.error:
        lost = "the end of the game" if record_file.begun else "the game"
        text = f"There was no room for {lost} in {record_file.path.parent}."
        text += " To go on from an earlier decision:" if record_file.begun else ""
    with contextlib.suppress(OSError):
        session.hide()
        print(f"\n{why}{text}", file=sys.stderr)
        if record_file.begun:
            print(session.resume_command(), file=sys.stderr, flush=True)
    return code
