"""Where chance is decided: from a seed, or from outcomes that somebody gave.

The seeded dealer is counter-mode BLAKE2b. It is the same for ever, on every platform and release: nothing in it
depends on Python's own generators. Who sees some outcomes learns nothing of the next without the seed.
"""

from __future__ import annotations

import hmac
import os
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Any, NamedTuple, Protocol

from piste.core.errors import DealError
from piste.core.game import Deal, Game, actions_of, quoted

_WORD = 1 << 64


class ChanceSource(Protocol):
    """Whoever decides what chance brings."""

    def outcome(self, game: Game, state: Any) -> int:
        """Return one of the possible outcomes at a chance node."""


class RandomStream:
    """An endless row of fair numbers, one of many that come from the same seed."""

    def __init__(self, key: bytes, name: str) -> None:
        self._key = key
        self._name = name.encode()
        self._counter = 0
        self._words: list[int] = []

    def _word(self) -> int:
        if not self._words:
            block = blake2b(self._counter.to_bytes(8, "big") + self._name, key=self._key).digest()
            self._counter += 1
            self._words = [int.from_bytes(block[i : i + 8], "big") for i in range(56, -8, -8)]
        return self._words.pop()

    def below(self, n: int) -> int:
        """Return a whole number from 0 to n - 1, each exactly equally likely."""
        if not 0 < n <= _WORD:
            raise ValueError(f"below({n}): n must be from 1 to 2**64")
        fair = _WORD - _WORD % n  # numbers from here on would favour small results: draw again
        while True:
            word = self._word()
            if word < fair:
                return word % n

    def fraction(self) -> float:
        """Return a number from 0 up to, not including, 1."""
        return (self._word() >> 11) / (1 << 53)

    def weighted(self, weights: Sequence[float]) -> int:
        """Return an index, each as likely as its weight says."""
        return index_at(weights, self.fraction() * sum(weights))


def index_at(weights: Sequence[float], at: float) -> int:
    """Return the index in whose share of the sum of all weights `at` lies."""
    for index, weight in enumerate(weights):
        if at < weight:
            return index
        at -= weight
    return max((index for index, weight in enumerate(weights) if weight > 0), default=0)  # the sum was rounded up


class Dealer:
    """Deals from a seed: the same seed deals the same game for the same decisions."""

    def __init__(self, seed: str | bytes) -> None:
        self.seed = seed
        self._key = blake2b(_bytes(seed), digest_size=32, person=b"piste dealer").digest()
        self._streams = {name: self.stream(name) for name in ("deal", "toss")}

    def stream(self, name: str) -> RandomStream:
        """Return a stream of its own, from the beginning: what is drawn from it changes no other."""
        return RandomStream(self._key, name)

    def outcome(self, game: Game, state: Any) -> int:
        return draw_outcome(game, state, self.chance(game, game.rules.kind(state)))

    def chance(self, game: Game, kind: int) -> RandomStream:
        """Return the stream that decides chance of this kind."""
        return self._streams["toss" if game.notation.KINDS[kind] == "toss" else "deal"]


def draw_outcome(game: Game, state: Any, stream: RandomStream) -> int:
    """Return an outcome, each as likely as its weight says."""
    rules = game.rules
    possible, cards = actions_of(rules.outcomes(state)), rules.spread(state)
    card = stream.below(cards)
    if cards == len(possible):  # one of each
        return possible[card]
    for outcome in possible:
        card -= rules.weight(state, outcome)
        if card < 0:
            return outcome
    raise AssertionError("the outcomes weigh less than all of them together")


class PresetDealer:
    """Deals what somebody laid, then leaves the rest to another dealer."""

    def __init__(self, deal: Deal, then: ChanceSource) -> None:
        self._kinds = deal.kinds
        self._outcomes = list(reversed(deal.outcomes))
        self._then = then

    def outcome(self, game: Game, state: Any) -> int:
        if game.rules.kind(state) in self._kinds:
            possible = game.rules.outcomes(state)
            while self._outcomes:
                outcome = self._outcomes.pop()
                if possible >> outcome & 1:
                    return outcome
                # A card laid for somebody who has left (Duel): it is not dealt to anybody else.
        return self._then.outcome(game, state)


class ScriptedDealer:
    """Deals a list of outcomes in order, by name or number, then leaves the rest to another dealer if there is one.

    For tests, teaching and replays. Names in one text stand between spaces or commas.
    """

    def __init__(self, outcomes: Iterable[int | str] | str, then: ChanceSource | None = None) -> None:
        if not isinstance(outcomes, Iterable):
            raise DealError(f"Outcomes are a list, not {quoted(outcomes)}. {WRITE_OUTCOMES}")
        self._outcomes = iter(outcomes.replace(",", " ").split() if isinstance(outcomes, str) else outcomes)
        self._then = then

    def outcome(self, game: Game, state: Any) -> int:
        scripted = next(self._outcomes, RAN_OUT)
        kind = game.kind_name(game.rules.kind(state))
        if scripted is RAN_OUT:
            if self._then is not None:
                return self._then.outcome(game, state)
            raise DealError(f"The given outcomes have run out: the game now needs one for '{kind}'.")
        if isinstance(scripted, str):
            named = game.read_outcome(state, scripted)
            if named is None:
                raise DealError(f"{quoted(scripted)} is not possible for '{kind}' now. {WRITE_OUTCOMES}")
            return named
        if isinstance(scripted, bool) or not isinstance(scripted, int):
            raise DealError(f"An outcome cannot be {quoted(scripted)}. {WRITE_OUTCOMES}")
        if scripted < 0 or not game.rules.outcomes(state) >> scripted & 1:
            raise DealError(f"Outcome number {scripted} is not possible for '{kind}' now. {WRITE_OUTCOMES}")
        return scripted


RAN_OUT = object()
WRITE_OUTCOMES = "Write each outcome by its name, as Position.outcomes lists them, or by its number."


class Commitment(NamedTuple):
    """A promise about a seed: the digest may be shown at once, the salt only with the seed, at the end."""

    digest: str
    salt: str

    @classmethod
    def to(cls, seed: str | bytes, salt: bytes | None = None) -> Commitment:
        salt = os.urandom(32) if salt is None else salt
        return cls(_commit(seed, salt), salt.hex())

    def keeps(self, seed: str | bytes) -> bool:
        """Say whether this is the seed that was promised."""
        try:
            salt = bytes.fromhex(self.salt)
        except ValueError:
            return False
        return hmac.compare_digest(_commit(seed, salt).encode(), self.digest.encode())


def _commit(seed: str | bytes, salt: bytes) -> str:
    length = len(salt).to_bytes(8, "big")
    return blake2b(length + salt + _bytes(seed), digest_size=32, person=b"piste promise").hexdigest()


def _bytes(seed: str | bytes) -> bytes:
    return seed if isinstance(seed, bytes) else seed.encode("utf-8", "surrogatepass")


def fresh_seed() -> str:
    """Return a seed that nobody can guess: 256 bits from the system."""
    return os.urandom(32).hex()
