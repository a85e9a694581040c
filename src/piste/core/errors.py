"""Everything piste refuses, it refuses with one of these, and with a sentence."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any


class PisteError(Exception):
    """What was asked, why not, and what can be done: `str(error)` is meant for a person."""


def is_interrupt(error: BaseException) -> bool:
    """Say whether this is Ctrl-C; while compiled code runs it comes out of it wrapped."""
    if isinstance(error, SystemError):
        return isinstance(error.__cause__ or error.__context__, KeyboardInterrupt)
    return isinstance(error, KeyboardInterrupt)


class UnknownNameError(PisteError):
    """No game, option or kind of that name."""


class OptionError(PisteError):
    """An option's value, or the options together, that the rules cannot be played with."""


class UnreadableDecisionError(PisteError):
    """A decision that is not in the game's notation."""


class IllegalDecisionError(PisteError):
    """A decision that can be read but may not be taken now, or not by this seat."""


class AmbiguousDecisionError(IllegalDecisionError):
    """A decision that could mean two things."""


class StaleDecisionError(IllegalDecisionError):
    """A decision that answers an earlier question than the one now asked."""


class NameClashError(PisteError):
    """A name that has two meanings in modules that are compiled together."""


class PositionError(PisteError):
    """A position that is not in the notation, or that breaks the rules."""


class DealError(PisteError):
    """Cards or a grid laid by hand that cannot be dealt."""


class RecordError(PisteError):
    """A record that is cut, damaged, edited or foreign, or that is of other rules."""


class BotError(PisteError):
    """A bot that did not start, did not answer, or answered with something that is no decision."""


class CacheWarning(UserWarning):
    """What was computed cannot be kept; everything goes on without it."""


def tell_cache_warnings(tell: Callable[[str], object]) -> None:
    """Have each CacheWarning told as a sentence; other warnings are shown as before."""
    other = warnings.showwarning

    def show(message: Warning | str, category: type[Warning], *where: Any, **named: Any) -> None:
        if issubclass(category, CacheWarning):
            tell(str(message))
        else:
            other(message, category, *where, **named)

    warnings.showwarning = show
    warnings.simplefilter("always", CacheWarning)


class MissingExtraError(PisteError, ImportError):
    """Something needs a library that is not installed, or that is there but cannot be loaded.

    Also an ImportError, since modules that serve a library raise it when they are imported.
    """

    def __init__(self, extra: str, purpose: str, trouble: str = "") -> None:
        how = f"pip install --force-reinstall 'piste[{extra}]'" if trouble else f"pip install 'piste[{extra}]'"
        again = f": {trouble}. Install it again" if trouble else ". Install it"
        super().__init__(f"{purpose} needs the extra '{extra}'{again} with: {how}")
        self.extra, self.purpose, self.trouble = extra, purpose, trouble

    def __reduce__(self) -> tuple[type[MissingExtraError], tuple[str, str, str]]:
        return type(self), (self.extra, self.purpose, self.trouble)  # so that it comes back from a worker as it was
