"""The sequential test of two hypotheses about a difference of Elo, on pairs: it stops when the question is settled.

It is the generalized sequential probability ratio test (GSPRT) on pentanomial counts, as chess engines are tested:
after each pair the likelihood of the counts is maximized under each hypothesis, that is among all distributions over
the five results of a pair whose mean is the share that the hypothesis says. The logarithm of the ratio of the two is
the LLR. No shape of the results is assumed, so it is right for any share of draws, at 0 and 100 % too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import log
from typing import NamedTuple

from piste.analysis.arena.pairs import VALUES, Pairs, share_of
from piste.core.errors import OptionError

ERROR = 0.05
REGULAR = 1e-3
"""What stands for a result that has not occurred: a likelihood needs some chance of everything."""

MODEL = "GSPRT on pairs (pentanomial), logistic Elo"


class Sprt(NamedTuple):
    """A test: is the difference E0 or lower, or E1 or higher?"""

    elo0: float
    elo1: float
    alpha: float = ERROR  # how often E1 is accepted though E0 is true
    beta: float = ERROR  # how often E0 is accepted though E1 is true

    @property
    def bounds(self) -> tuple[float, float]:
        """The LLR at which E0 is accepted, and that at which E1 is."""
        return log(self.beta / (1 - self.alpha)), log((1 - self.beta) / self.alpha)

    def llr(self, pairs: Pairs) -> float:
        """Return the logarithm of the ratio of the likelihoods under E1 and E0."""
        if not pairs.n:
            return 0.0
        counts = [count or REGULAR for count in pairs.counts]
        total = sum(counts)
        likely = [count / total for count in counts]
        zero, one = (with_mean(likely, share_of(elo)) for elo in (self.elo0, self.elo1))
        return total * sum(p * log(b / a) for p, a, b in zip(likely, zero, one, strict=True))

    def verdict(self, pairs: Pairs) -> str | None:
        """Return which hypothesis is accepted, `E0` or `E1`; None while it is open."""
        low, high = self.bounds
        llr = self.llr(pairs)
        return "E0" if llr <= low else "E1" if llr >= high else None


class SequentialTest:
    """A test in progress: takes pairs in their order, and takes no more once the question is settled."""

    def __init__(self, test: Sprt) -> None:
        self.test = test
        self.pairs = Pairs.of(())
        self.verdict: str | None = None

    @property
    def llr(self) -> float:
        return self.test.llr(self.pairs)

    def take(self, scores: Iterable[float]) -> bool:
        """Take what the first player got from further pairs, from 0 to 2; say whether the question is settled."""
        for score in scores:
            if self.verdict is not None:
                break
            counts = list(self.pairs.counts)
            counts[round(2 * score)] += 1
            self.pairs = Pairs((counts[0], counts[1], counts[2], counts[3], counts[4]))
            self.verdict = self.test.verdict(self.pairs)
        return self.verdict is not None


def parse(text: str) -> Sprt:
    """Return the test that was written as E0,E1 or E0,E1,ALPHA,BETA."""
    try:
        numbers = [float(part) for part in text.split(",")]
        test = Sprt(*numbers)
    except (ValueError, TypeError):
        raise OptionError(f"--sprt cannot be '{text}': it is E0,E1 in points of Elo, such as 0,20.") from None
    if not (-2000 <= test.elo0 < test.elo1 <= 2000 and 0 < test.alpha < 0.5 and 0 < test.beta < 0.5):
        raise OptionError(
            f"--sprt cannot be '{text}': E0 is below E1, both from -2000 to 2000, and the error rates lie between 0 "
            "and 0.5."
        )
    return test


def with_mean(likely: Sequence[float], mean: float) -> list[float]:
    """Return the distribution of this mean under which what was seen is likeliest.

    It is p / (1 + t (value - mean)), with t so that the mean is right; t is found by halving.
    """
    low, high = -1 / (VALUES[-1] - mean), 1 / (mean - VALUES[0])
    for _ in range(100):
        t = (low + high) / 2
        slope = sum(p * (v - mean) / (1 + t * (v - mean)) for p, v in zip(likely, VALUES, strict=True))
        if slope > 0:
            low = t
        else:
            high = t
        if high - low < 1e-13:
            break
    t = (low + high) / 2
    return [p / (1 + t * (v - mean)) for p, v in zip(likely, VALUES, strict=True)]
