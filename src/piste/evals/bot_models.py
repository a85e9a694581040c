"""Bots as models of Inspect: `piste/random` to `piste/perfect`, through the very same tasks, to calibrate the scale.

A bot reads no English. It decides from the seat's view, which is set aside while its prompt is sent, and its answer
is text like that of any model.
"""

from __future__ import annotations

import json
from typing import Any

from inspect_ai.model import (
    ChatMessage,
    GenerateConfig,
    ModelAPI,
    ModelOutput,
    ModelUsage,
    modelapi,
)
from inspect_ai.tool import ToolChoice, ToolInfo

from piste import bots
from piste.bots.model import asking
from piste.core.errors import PisteError
from piste.core.game import find
from piste.evals.work import decide


class BotAPI(ModelAPI):
    """A bot that answers the prompts of piste's tasks."""

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig = GenerateConfig(),  # noqa: B008 (as Inspect's own classes have it)
        **_: Any,
    ) -> None:
        super().__init__(model_name, base_url, api_key, [], config)
        if model_name not in ("random", *bots.LEVELS, bots.EXPERT):
            known = ", ".join(f"piste/{level}" for level in ("random", *bots.LEVELS))
            raise PisteError(f"There is no bot piste/{model_name}. There are: {known}.")

    async def generate(
        self,
        input: list[ChatMessage],  # noqa: ARG002
        tools: list[ToolInfo],  # noqa: ARG002
        tool_choice: ToolChoice,  # noqa: ARG002
        config: GenerateConfig,  # noqa: ARG002
    ) -> ModelOutput:
        asked = asking.get()
        if asked is None:
            raise PisteError("The models piste/... are bots: they answer the tasks piste/decisions and piste/games.")
        view = asked.view
        action = await decide(view.game, bots.level_of(self.model_name), view, asked.stream)
        name = find(view.game).notation.spell(view.position, action)[0]
        output = ModelOutput.from_content(f"piste/{self.model_name}", json.dumps({"decision": name}))
        output.usage = ModelUsage()
        return output

    def max_connections(self) -> int:
        return 10


@modelapi(name="piste")
def piste() -> type[ModelAPI]:
    """Return the provider of bots."""
    return BotAPI
