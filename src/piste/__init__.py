"""piste: five duels of numbers and cards, exact.

    >>> import piste
    >>> table = piste.open_table("prime-duel", {"first": 1}, seed="an example", laid="7 10 9")
    >>> view = table.view(0)
    >>> view.decisions
    ('keep', 'discard')
    >>> table.decide(0, "keep", view.number)
    >>> table.view(0).position.scores
    (7, 0)

Names are imported when they are first used, so that `import piste` costs next to nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from piste.analysis.best_response import BestResponse as BestResponse
    from piste.analysis.best_response import best_response as best_response
    from piste.api import decide as decide
    from piste.api import evaluate as evaluate
    from piste.api import load as load
    from piste.api import open_table as open_table
    from piste.api import replay as replay
    from piste.api import save as save
    from piste.compiled.stepper import Stepper as Stepper
    from piste.core.belief import Belief as Belief
    from piste.core.belief import belief as belief
    from piste.core.belief import retell as retell
    from piste.core.dealer import Commitment as Commitment
    from piste.core.dealer import Dealer as Dealer
    from piste.core.dealer import ScriptedDealer as ScriptedDealer
    from piste.core.errors import PisteError as PisteError
    from piste.core.evaluation import Evaluation as Evaluation
    from piste.core.game import Game as Game
    from piste.core.game import find as find
    from piste.core.game import names as names
    from piste.core.information_set import InformationSet as InformationSet
    from piste.core.position import Position as Position
    from piste.core.protocols import CHANCE as CHANCE
    from piste.core.protocols import SPECTATOR as SPECTATOR
    from piste.core.protocols import Event as Event
    from piste.core.record import Record as Record
    from piste.core.steps import Resignation as Resignation
    from piste.core.table import Table as Table
    from piste.core.views import Ending as Ending
    from piste.core.views import LogEntry as LogEntry
    from piste.core.views import SeatView as SeatView

_HOME = {
    "analysis.best_response": ("BestResponse", "best_response"),
    "api": ("decide", "evaluate", "load", "open_table", "replay", "save"),
    "compiled.stepper": ("Stepper",),
    "core.belief": ("Belief", "belief", "retell"),
    "core.protocols": ("CHANCE", "SPECTATOR", "Event"),
    "core.dealer": ("Commitment", "Dealer", "ScriptedDealer"),
    "core.errors": ("PisteError",),
    "core.evaluation": ("Evaluation",),
    "core.game": ("Game", "find", "names"),
    "core.information_set": ("InformationSet",),
    "core.position": ("Position",),
    "core.record": ("Record",),
    "core.steps": ("Resignation",),
    "core.table": ("Table",),
    "core.views": ("Ending", "SeatView", "LogEntry"),
}

__all__ = ["__version__", *(name for names in _HOME.values() for name in names)]  # noqa: PLE0604


def __getattr__(name: str) -> Any:
    from importlib import import_module

    for home, names in _HOME.items():
        if name in names:
            globals()[name] = value = getattr(import_module(f"piste.{home}"), name)
            return value
    raise AttributeError(f"module 'piste' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
