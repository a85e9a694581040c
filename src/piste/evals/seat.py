"""The model's seat in a task: it is asked, some of its prompts twice, and what it costs is counted."""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

from inspect_ai.model import get_model

from piste.bots.answers import MAX_ANSWER_TEXT, Answer
from piste.bots.model import Reply, ask
from piste.core.dealer import Dealer
from piste.core.errors import OptionError, PisteError
from piste.core.game import find, quoted
from piste.core.views import SeatView
from piste.evals.settings import Settings


class BudgetError(PisteError):
    """The money for a task is spent."""


class AskedDecision(NamedTuple):
    """One decision that a model was asked for."""

    number: int  # which decision of the game
    action: int | None  # None if every answer was a fault
    document: dict[str, Any]  # what the log keeps of it


class ModelSeat:
    """Asks the model of a run. One is made for each task, so that it knows what all samples cost together."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._spent = 0.0

    async def decide(self, view: SeatView, dealer: Dealer, stream: str, number: int) -> AskedDecision:
        """Ask for a decision. The stream is the one that a bot in this seat would draw from."""
        settings = self._settings
        twice = dealer.stream(f"twice {stream}").below(100) < settings.twice
        reply = await self._ask(view, dealer, stream, fresh=twice)
        again = await self._ask(view, dealer, f"{stream} again", fresh=True, retries=0) if twice else None
        action = None if reply.answer is None else reply.answer.action
        document: dict[str, Any] = {
            "number": number,
            "action": action,
            "faults": [fault.kind for fault in reply.faults],
            "reasons": [fault.why for fault in reply.faults],
            "chance": None if reply.answer is None else reply.answer.chance,
            "answer": quoted(
                " ".join(reply.text[-4 * MAX_ANSWER_TEXT :].split())[-MAX_ANSWER_TEXT:], MAX_ANSWER_TEXT
            ),
        }
        if again is not None:
            document["again"] = {"decision": _spelled(view, again.answer), "action": _action(again.answer)}
        return AskedDecision(number, action, document)

    async def _ask(
        self, view: SeatView, dealer: Dealer, stream: str, *, fresh: bool, retries: int | None = None
    ) -> Reply:
        """Ask, unless the budget is spent. What is asked twice comes from no cache, the first time neither."""
        settings = self._settings
        if settings.max_cost is not None and self._spent >= settings.max_cost:
            raise BudgetError(
                f"The budget of {settings.max_cost:g} dollars is spent. What was finished is in the log; "
                "`inspect eval-retry` goes on from it with the same budget again."
            )
        tries = settings.retries if retries is None else retries
        model = get_model()
        reply = await ask(model, view, dealer.stream(stream), settings.style, tries, cache=False if fresh else None)
        for output in reply.outputs:
            cost = None if output.usage is None else output.usage.total_cost
            if settings.max_cost is not None and cost is None:
                raise OptionError(
                    f"There is no price for {quoted(str(model), 80)}, so max_cost cannot be kept: give prices with "
                    "--model-cost-config."
                )
            self._spent += cost or 0.0
        return reply


def asked_facts(asked: list[dict[str, Any]]) -> dict[str, Any]:
    """Return what a sample's document says of the documents of what was asked: faults by kind, and a forfeit."""
    lost = next((one for one in asked if one["action"] is None), None)
    return {
        "forfeit": None if lost is None else lost["faults"][-1],
        "forfeit_reasons": [] if lost is None else lost["reasons"],
        "faults": dict(Counter(kind for one in asked for kind in one["faults"])),
        "asked": len(asked),
    }


def _action(answer: Answer | None) -> int | None:
    return None if answer is None else answer.action


def _spelled(view: SeatView, answer: Answer | None) -> str | None:
    return None if answer is None else find(view.game).notation.spell(view.position, answer.action)[0]
