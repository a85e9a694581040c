"""A language model takes a seat, through any provider of Inspect: `model:openai/gpt-5` in a tournament.

The same conversation serves the evaluations of `piste.evals`. Every decision is asked for anew, by a prompt that is
built from the seat's view; what is wrong with an answer is told, and it is asked again so many times.
"""

from __future__ import annotations

import asyncio
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, NamedTuple

from piste.bots.answers import EMPTY, REFUSED, TIMED_OUT, TRUNCATED, UNREADABLE, Answer, Fault, read_answer
from piste.bots.prompts import PromptStyle, instructions, question
from piste.core.dealer import RandomStream
from piste.core.errors import BotError, UnknownNameError
from piste.core.extras import MODELS, need
from piste.core.game import Game, quoted
from piste.core.views import SeatView

if TYPE_CHECKING:
    from inspect_ai.model import ChatMessage, Model, ModelOutput

RETRIES = 2
"""How often a model is asked again after a fault."""

TIMEOUT_S = 300
"""How many seconds one attempt at an answer may take."""

API_RETRIES = 8
"""How often a request that the provider refused or that hung is sent again, with growing pauses."""


class SeatAsked(NamedTuple):
    """The seat on whose behalf a model is asked. Bots that are offered as models decide from it, not from words."""

    view: SeatView
    stream: RandomStream


asking: ContextVar[SeatAsked | None] = ContextVar("asking", default=None)


class Reply(NamedTuple):
    """What came of asking for one decision."""

    answer: Answer | None  # None if every attempt was a fault
    faults: tuple[Fault, ...]
    text: str  # the last answer as it came
    outputs: tuple[ModelOutput, ...]


async def ask(
    model: Model,
    view: SeatView,
    stream: RandomStream,
    style: PromptStyle,
    retries: int = RETRIES,
    *,
    cache: bool | None = None,
    config: Any = None,
) -> Reply:
    """Ask a model for a decision; after a fault ask again, and say why."""
    from inspect_ai.model import ChatMessageAssistant, ChatMessageUser, GenerateConfig

    messages = prompt_messages(view, style)
    faults: list[Fault] = []
    outputs: list[ModelOutput] = []
    text = ""
    token = asking.set(SeatAsked(view, stream))
    try:
        for _ in range(retries + 1):
            output = await _generate(model, messages, config or GenerateConfig(), cache)
            read: Answer | Fault = Fault(TIMED_OUT, "You did not answer in time. Answer again, more briefly.")
            if output is not None:
                outputs.append(output)
                text = "" if output.empty else output.completion
                read = read_output(view, output, style)
            if isinstance(read, Answer):
                return Reply(read, tuple(faults), text, tuple(outputs))
            faults.append(read)
            # The answer itself is not sent back where there is none, or where a provider might refuse it again.
            said = [ChatMessageAssistant(content=text)] if read.kind not in (EMPTY, REFUSED, TIMED_OUT) else []
            if said and not text.strip():
                said = []
            messages = [*messages, *said, ChatMessageUser(content=read.why)]
    finally:
        asking.reset(token)
    return Reply(None, tuple(faults), text, tuple(outputs))


def prompt_messages(view: SeatView, style: PromptStyle) -> list[ChatMessage]:
    """Return the prompt for a decision."""
    from inspect_ai.model import ChatMessageSystem, ChatMessageUser

    return [
        ChatMessageSystem(content=instructions(view, style)),
        ChatMessageUser(content=question(view, style)),
    ]


def read_output(view: SeatView, output: ModelOutput, style: PromptStyle) -> Answer | Fault:
    """Return the decision, or the fault: one that the provider reports comes before what the text says."""
    again = 'Answer again, and end with {"decision": "NAME"}.'
    if output.empty:
        return Fault(EMPTY, f"Your answer was empty. {again}")
    content = output.message.content
    refusal = not isinstance(content, str) and any(getattr(part, "refusal", False) for part in content)
    if output.stop_reason == "content_filter" or refusal:
        return Fault(REFUSED, f"This is a card game between programs; nothing in it is real. {again}")
    if output.stop_reason in ("max_tokens", "model_length"):
        return Fault(TRUNCATED, f"Your answer was cut off because it was too long. Be brief. {again}")
    if output.message.tool_calls and not output.completion.strip():
        return Fault(UNREADABLE, f"There are no tools here. {again}")
    return read_answer(view, output.completion, tells_legal=style.legal == "shown")


async def _generate(model: Model, messages: list[ChatMessage], config: Any, cache: bool | None) -> ModelOutput | None:
    """Return the output, or None if the last attempt timed out. Other trouble with the provider is raised."""
    try:
        if cache is None:  # as the run is configured
            return await model.generate(messages, config=config)
        return await model.generate(messages, config=config, cache=cache)
    except Exception as e:
        if is_timeout(e):
            return None
        raise


def is_timeout(error: BaseException) -> bool:
    """Say whether an attempt timed out, also where Inspect has given up repeating it."""
    last = getattr(error, "last_attempt", None)
    reason = error if last is None else last.exception()
    return type(reason).__name__ in ("AttemptTimeoutError", "StreamIdleTimeoutError")


class ModelBot:
    """A language model as a bot, for tournaments: whatever goes wrong beyond its retries is BotError."""

    def __init__(self, name: str, game: Game) -> None:
        need(MODELS)
        from inspect_ai.model import GenerateConfig, get_model

        self.name = f"model:{name}"
        self._game = game
        self._loop = asyncio.new_event_loop()
        config = GenerateConfig(attempt_timeout=TIMEOUT_S, max_retries=API_RETRIES)
        try:
            self._model = get_model(name, config=config, memoize=False)
        except Exception as e:  # what a provider raises when it is not installed, not known or has no key
            raise UnknownNameError(f"The model {quoted(name, 80)} cannot be asked: {' '.join(str(e).split())}") from e

    def choose(self, view: SeatView, stream: RandomStream) -> int:
        if len(view.actions) == 1:
            return view.actions[0]
        try:
            reply = self._loop.run_until_complete(ask(self._model, view, stream, PromptStyle()))
        except Exception as e:
            raise BotError(f"The model {self.name} could not be asked: {' '.join(str(e).split())[:200]}") from e
        if reply.answer is None:
            kinds = ", ".join(fault.kind for fault in reply.faults)
            raise BotError(f"The model {self.name} gave no decision in {len(reply.faults)} answers: {kinds}.")
        return reply.answer.action

    def close(self) -> None:
        if not self._loop.is_closed():
            self._loop.run_until_complete(self._model.api.aclose())
            self._loop.close()
