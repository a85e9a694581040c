"""What Inspect finds under the name `piste`: the tasks `piste/decisions` and `piste/games`, and bots as models.

The entry point in pyproject.toml names this module. Inspect loads it when one of them is asked for.
"""

from __future__ import annotations

from piste.evals.bot_models import piste
from piste.evals.decisions_task import decisions
from piste.evals.games_task import games

__all__ = ["decisions", "games", "piste"]
