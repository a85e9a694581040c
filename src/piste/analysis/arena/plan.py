"""The plan of a tournament: who plays whom, how many deals, from which seed; and its form as the head of a file.

The unit is the deal. Each deal is played once for every order of its players at the table, so that nobody has the
better cards. A deal's seed is made of the tournament's seed, the names of those who play and the number of the deal:
so no game depends on which were played before, where, or who else takes part.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import combinations, combinations_with_replacement, permutations
from typing import Any, NamedTuple

from piste import bots
from piste.analysis.arena.sprt import Sprt
from piste.bots.program import ANSWER_TIMEOUT_S
from piste.core.errors import OptionError
from piste.core.evaluation import Progress, quiet
from piste.core.game import Game, find, quoted

DEFAULT_SEED = "tournament"
FORMAT = "piste tournament"
VERSION = 1
NAMED = re.compile(r"([\w.-]{1,40})=(.+)", re.DOTALL)
ANCHOR = "random"


class Entrant(NamedTuple):
    """Who takes part: a name, and how its bot is found."""

    name: str
    spec: str


class Plan(NamedTuple):
    """What is to be played."""

    game: Game
    options: Any
    entrants: tuple[Entrant, ...]
    lineups: tuple[tuple[int, ...], ...]  # the entrants at one table, by number
    deals: tuple[int, ...]  # how many each lineup plays
    seed: str
    limit: float  # seconds that a bot which is not ours has for a decision
    sprt: Sprt | None = None
    anchor: tuple[int, float] = (0, 0.0)  # an entrant, and the rating that it has by definition

    @property
    def seats(self) -> int:
        return int(self.game.rules.seats(self.options))

    @property
    def games(self) -> int:
        return sum(n * len(self.orders(lineup)) for lineup, n in enumerate(self.deals))

    def orders(self, lineup: int) -> list[tuple[int, ...]]:
        """Return every order in which a lineup can sit, each as the entrants by seat."""
        return list(dict.fromkeys(permutations(self.lineups[lineup])))

    def deal_seed(self, lineup: int, number: int) -> str:
        names = " ".join(quoted(self.entrants[entrant].name) for entrant in self.lineups[lineup])
        return f"{self.seed} {names} {number}"

    def prepare(self, progress: Progress = quiet, *, ours: bool = False) -> None:
        """Let all bots, or only those that are ours, load or compute what they need; refuse who cannot play."""
        for entrant in self.entrants:
            if ours and not bots.is_own(entrant.spec, self.game):
                continue
            bot = bots.find(entrant.spec, self.game, self.options)
            try:
                bots.prepare(bot, self.options, progress)
            finally:
                bot.close()

    def document(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "version": VERSION,
            "game": self.game.name,
            "options": self.game.option_texts(self.options),
            "entrants": [entrant._asdict() for entrant in self.entrants],
            "lineups": [list(lineup) for lineup in self.lineups],
            "deals": list(self.deals),
            "seed": self.seed,
            "limit": self.limit,
            "sprt": None if self.sprt is None else list(self.sprt),
            "anchor": list(self.anchor),
        }


def read_plan(document: dict[str, Any]) -> Plan:
    """Return the plan that a document describes; anything wrong with it raises KeyError, TypeError or ValueError."""
    if document["format"] != FORMAT or document["version"] != VERSION:
        raise ValueError("another format")
    game = find(document["game"])
    number, rating = document["anchor"]
    return Plan(
        game,
        game.options(document["options"]),
        tuple(Entrant(str(one["name"]), str(one["spec"])) for one in document["entrants"]),
        tuple(tuple(int(n) for n in lineup) for lineup in document["lineups"]),
        tuple(int(n) for n in document["deals"]),
        str(document["seed"]),
        float(document["limit"]),
        None if document["sprt"] is None else Sprt(*document["sprt"]),
        (int(number), float(rating)),
    )


def read_entrants(words: Sequence[str]) -> tuple[Entrant, ...]:
    """Return the entrants that were written as SPEC or NAME=SPEC; each needs a name of its own."""
    entrants = []
    for word in words:
        named = NAMED.fullmatch(word.strip())
        spec = bots.level_of(named[2] if named else word)
        entrants.append(Entrant(named[1] if named else spec, spec))
    names = [entrant.name for entrant in entrants]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise OptionError(f"Two entrants are called {quoted(twice)}. Give one another name: other={twice}")
    return tuple(entrants)


def make_plan(
    game: Game,
    options: Any,
    entrants: Sequence[Entrant],
    games: int,
    *,
    seed: str = DEFAULT_SEED,
    gauntlet: bool = False,
    limit: float = ANSWER_TIMEOUT_S,
    sprt: Sprt | None = None,
    anchor: str | None = None,
) -> Plan:
    """Plan a round robin, or a gauntlet of the first entrant: so many games each, rounded up to whole deals."""
    if len(entrants) < 2:
        raise OptionError("A tournament has at least two entrants: piste tournament prime-duel random steady")
    seats = int(game.rules.seats(options))
    if sprt is not None and (len(entrants) != 2 or seats != 2):
        raise OptionError("--sprt is a question about two entrants at a table for two.")
    lineups = _lineups(len(entrants), seats)
    if gauntlet:
        lineups = [lineup for lineup in lineups if 0 in lineup]
    plan = Plan(game, options, tuple(entrants), tuple(lineups), (), seed, limit, sprt, _anchor(entrants, anchor))
    return plan._replace(deals=tuple(-(-games // len(plan.orders(at))) for at in range(len(lineups))))


def _lineups(entrants: int, seats: int) -> list[tuple[int, ...]]:
    """Return who sits together: all different where there are enough, else each mix of at least two."""
    if entrants >= seats:
        return list(combinations(range(entrants), seats))
    return [lineup for lineup in combinations_with_replacement(range(entrants), seats) if len(set(lineup)) > 1]


def _anchor(entrants: Sequence[Entrant], text: str | None) -> tuple[int, float]:
    """Return whose rating is fixed: the one that was named, `random`, or the first."""
    names = [entrant.name for entrant in entrants]
    if text is None:
        specs = [entrant.spec for entrant in entrants]
        return (specs.index(ANCHOR) if ANCHOR in specs else 0), 0.0
    name, _, rating = text.partition("=")
    try:
        return names.index(bots.level_of(name)), float(rating or 0)
    except ValueError:
        raise OptionError(
            f"--anchor cannot be {quoted(text)}: it is an entrant's NAME=RATING, such as random=0."
        ) from None
