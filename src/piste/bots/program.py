"""A program in any language takes a seat: one line of JSON each way. docs/bots.md describes what is said.

The program is started without a shell, in a process group of its own, when it is first asked. Three threads carry
its input, output and errors, so that one that does not read, does not answer or floods its output holds up nothing.
A program on another computer is in `bots/remote_program.py`.
"""

from __future__ import annotations

import json
import os
import queue
import shlex
import shutil
import signal
import subprocess
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from piste.bots import messages
from piste.core.dealer import RandomStream
from piste.core.errors import BotError
from piste.core.game import Game, quoted
from piste.core.views import SeatView

ANSWER_TIMEOUT_S = 10.0
"""How many seconds a program has for an answer."""
EXIT_TIMEOUT_S = 1.0
"""How many seconds a program has to leave, first by itself and then when it is told to."""
MAX_LINE_BYTES = 4096
"""How many bytes an answer may have."""
MAX_QUOTED = 60
"""How much of what a program sent is quoted in a complaint."""


Pipe = Any  # one end of a buffered pipe of bytes; the library's types say that it might be missing
_KILL = getattr(signal, "SIGKILL", signal.SIGTERM)


class LineBot:
    """A seat played over lines. Whatever the other side does wrong raises BotError, and by then it has been ended."""

    def __init__(self, name: str, game: Game, *, limit: float, grace: float) -> None:
        self.name = name
        self._game = game
        self._limit = limit
        self._grace = grace
        self._running: Lines | None = None
        self._closed = False
        self.ended_by: int | None = None  # the signal that it took to end the program, 0 for none; None before
        self.last_words: list[bytes] = []  # what it sent after its last answer
        self._told = 0  # how much of the log the program has been sent

    def _start(self) -> Lines:
        """Return the lines to the program, which is then to be greeted."""
        raise NotImplementedError

    def choose(self, view: SeatView, stream: RandomStream) -> int:
        if self._closed:
            raise BotError(f"The bot {self._who} has been closed.")
        try:
            return self._ask(view, stream)
        except BaseException:
            self.close()  # nothing that failed, or was interrupted, is left running
            raise

    def end(self, view: SeatView) -> None:
        """Tell the program how the game ended; what it makes of it is its own business."""
        if self._running is not None and view.ending is not None:
            self._send(messages.end(self._game, view, view.ending, self._told))
        self.close()

    def close(self) -> None:
        """End the program: close its input, then ask it to leave, then make it. Returns when it is gone."""
        self._closed = True
        running, self._running = self._running, None
        if running is not None:
            self.ended_by = running.stop(self._grace)
            self.last_words = running.heard() or []

    def _send(self, message: dict[str, Any]) -> None:
        assert self._running is not None
        self._running.send(message)

    def _ask(self, view: SeatView, stream: RandomStream) -> int:
        if self._running is None:
            self._running = self._start()
            self._send(messages.hello(self._game, view))
        early = self._running.heard()
        if early is not None:
            raise self._complaint(early, "spoke before it was asked")
        self._send(messages.decide(self._game, view, self._told, stream.below(1 << 32)))
        self._told = len(view.log)
        return self._read(view, self._running.heard(self._limit))

    def _read(self, view: SeatView, heard: list[bytes] | None) -> int:
        """Return the decision that was answered, or say what is wrong with the answer."""
        if heard is None:
            raise BotError(f"The bot {self._who} gave no answer within {self._limit:g} seconds.{self._errors()}")
        if len(heard) != 1 or not heard[0].endswith(b"\n") or len(heard[0]) > MAX_LINE_BYTES:
            raise self._complaint(heard, "answered more than once")
        sent = quoted_bytes(heard[0])
        try:
            answer = json.loads(heard[0])
        except (ValueError, RecursionError):
            raise BotError(f"The bot {self._who} sent {sent}, which is not JSON.{self._errors()}") from None
        decision = answer.get("decision") if isinstance(answer, dict) else None
        if not isinstance(decision, str):
            raise BotError(f'The bot {self._who} sent {sent}; an answer looks like {{"decision": "NAME"}}.')
        if answer.get("number", view.number) != view.number:
            raise BotError(f"The bot {self._who} sent {sent}, but question {view.number} was asked.")
        if decision not in view.decisions:
            names = ", ".join(view.decisions)
            raise BotError(f"The bot {self._who} chose {quoted(decision)}, which is not open. There were: {names}.")
        return view.actions[view.decisions.index(decision)]

    def _complaint(self, heard: list[bytes], else_: str) -> BotError:
        """Return what is wrong with output that is not one whole line."""
        if heard and len(heard[0]) > MAX_LINE_BYTES:
            return BotError(
                f"The bot {self._who} sent a line of more than {MAX_LINE_BYTES} bytes: {quoted_bytes(heard[0])}."
            )
        if not heard or not heard[0].endswith(b"\n"):
            assert self._running is not None
            sent = f" after {quoted_bytes(heard[0])}" if heard else ""
            return BotError(f"The bot {self._who} ended{sent}{self._running.code(self._grace)}.{self._errors()}")
        return BotError(f"The bot {self._who} {else_}: it sent {quoted_bytes(b' '.join(heard))}.")

    @property
    def _who(self) -> str:
        return quoted(self.name, MAX_QUOTED)

    def _errors(self) -> str:
        """Return what the program wrote to its standard error last, as a sentence."""
        said = self._running.said(self._grace) if self._running is not None else ""
        return f" It wrote: {quoted(said, 4 * MAX_QUOTED)}." if said else ""


class ProgramBot(LineBot):
    """A seat played by a program of this computer."""

    def __init__(
        self, command: str, game: Game, *, limit: float = ANSWER_TIMEOUT_S, grace: float = EXIT_TIMEOUT_S
    ) -> None:
        super().__init__(f"cmd:{command}", game, limit=limit, grace=grace)
        self._words = program_words(command)

    def _start(self) -> Lines:
        try:
            return RunningProgram(self._words)
        except (OSError, ValueError) as e:
            why = getattr(e, "strerror", None) or e
            raise BotError(f"The bot {self._who} cannot be started: {why}.") from None


def program_words(command: str) -> list[str]:
    """Return the words of a command line whose program can be started here; refuse any other."""
    who = quoted(f"cmd:{command}", MAX_QUOTED)
    try:
        words = shlex.split(command, posix=os.name == "posix")
    except ValueError as e:
        raise BotError(f"The bot {who} cannot be started: its command line has {str(e).lower()}.") from None
    if not words:
        raise BotError("A bot 'cmd:' needs a command line: cmd:./mybot --flag")
    if shutil.which(words[0]) is None:
        what = quoted(words[0], MAX_QUOTED)
        raise BotError(f"The bot {who} cannot be started: {what} is not there, or may not be run.")
    return words


class Lines:
    """Lines to a program and from it, carried by threads."""

    def __init__(self, to: Pipe, from_: Pipe) -> None:
        self._outgoing: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._incoming: queue.SimpleQueue[list[bytes]] = queue.SimpleQueue()
        self._writer = _carried(self._write, to)
        self._reader = _carried(self._read, from_)

    def send(self, message: dict[str, Any]) -> None:
        self.send_line(json.dumps(message, ensure_ascii=True).encode() + b"\n")

    def send_line(self, line: bytes) -> None:
        self._outgoing.put(line)

    def heard(self, seconds: float | None = 0.0) -> list[bytes] | None:
        """Return the lines that came together; [] at the end of the output, None if nothing comes in time.

        What is no whole line comes without its line break: cut off by the end, or too long.
        """
        try:
            return self._incoming.get(timeout=seconds) if seconds != 0 else self._incoming.get_nowait()
        except queue.Empty:
            return None

    def code(self, seconds: float) -> str:
        """Return, for a sentence, how a program that has closed its output ended."""
        raise NotImplementedError

    def said(self, seconds: float) -> str:  # noqa: ARG002
        """Return what the program said beside its answers, as far as that is known."""
        return ""

    def stop(self, grace: float) -> int:
        """End the program, and return the signal that it took; 0 if it left by itself."""
        raise NotImplementedError

    def _write(self, pipe: Pipe) -> None:
        try:
            with pipe:
                while (line := self._outgoing.get()) is not None:
                    pipe.write(line)
                    pipe.flush()
        except OSError:
            pass  # it no longer reads; its output will say why

    def _read(self, pipe: Pipe) -> None:
        rest = b""
        with pipe, suppress(OSError):  # a connection may break
            # Two lots that nobody has asked for are enough to complain about: the rest need not be kept.
            while self._incoming.qsize() < 2 and len(rest) <= MAX_LINE_BYTES:
                lot = pipe.read1(1 << 16)
                *lines, rest = (rest + lot).split(b"\n")
                if lines:
                    self._incoming.put([line + b"\n" for line in lines])
                if not lot:
                    break
        self._incoming.put([rest] if rest else [])


class RunningProgram(Lines):
    """A program that runs, and the threads that carry its lines."""

    def __init__(self, words: list[str]) -> None:
        pipe = subprocess.PIPE
        # A group of its own: Ctrl-C at our terminal is not meant for it, and what it starts can be ended with it.
        self._process = subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True)
        self._last: deque[bytes] = deque(maxlen=3)
        super().__init__(self._process.stdin, self._process.stdout)
        self._listener = _carried(self._listen, self._process.stderr)

    def code(self, seconds: float) -> str:
        try:
            return f" with exit code {self._process.wait(seconds)}"
        except subprocess.TimeoutExpired:
            return " its output"

    def said(self, seconds: float) -> str:
        """Return the last lines of the standard error; if the program is gone, all that it wrote has been read."""
        if self._process.poll() is not None:
            self._listener.join(seconds)
        return " / ".join(line.decode("utf-8", "replace").strip() for line in tuple(self._last))

    def stop(self, grace: float) -> int:
        needed = 0
        self._outgoing.put(None)  # the writer closes the input when it has written what was left
        for how in (0, signal.SIGTERM, _KILL):
            needed = how
            if how:
                self._signal(how)
            try:
                self._process.wait(None if how == _KILL else grace)
                break
            except subprocess.TimeoutExpired:
                pass
        self._signal(_KILL)  # what it started and left behind
        for thread in (self._writer, self._reader, self._listener):
            thread.join(grace)  # each closes its own pipe
        return int(needed)

    def _signal(self, which: int) -> None:
        try:
            if os.name == "posix":
                os.killpg(self._process.pid, which)
            else:
                self._process.terminate()
        except (ProcessLookupError, PermissionError):
            pass  # nobody is left there

    def _listen(self, pipe: Pipe) -> None:
        with pipe:
            while line := pipe.readline(1 << 12):
                self._last.append(line)


def _carried(carry: Callable[[Pipe], None], pipe: Pipe) -> threading.Thread:
    thread = threading.Thread(target=carry, args=(pipe,), daemon=True)
    thread.start()
    return thread


def quoted_bytes(sent: bytes) -> str:
    """Return what a program sent, for a sentence."""
    return quoted(sent[: 4 * MAX_QUOTED].decode("utf-8", "replace").strip(), MAX_QUOTED)
