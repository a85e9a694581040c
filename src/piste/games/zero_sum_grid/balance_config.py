"""Zero-Sum Grid in balance reports: how many games to play, and what is true of it."""

from __future__ import annotations

from piste.core.bits import count, signed_value
from piste.games.zero_sum_grid import rules
from piste.games.zero_sum_grid.rules import ANY, HARVEST, WINNABLE, Options

RATE = 0.1
"""The share of the decisions that the solver evaluates."""


def sizes(options: Options) -> dict[str, int]:
    """Return how many games a level plays by default: two that know what they do take the whole turn limit."""
    if options.variant == HARVEST:
        return dict.fromkeys(("steady", "strong", "perfect"), 500)
    return {"novice": 200, "steady": 100, "strong": 80, "perfect": 80}


def truths(options: Options) -> list[tuple[str, str]]:
    """Say what a designer should know of the deal and of who can win; each with how it is known."""
    if options.variant == HARVEST:
        return harvest_truths(options)
    odd, winnable = winnable_deals(options)
    whole = (2 * options.top) ** 9
    once = f"once in {whole / winnable:,.0f} ({winnable:,} of {whole:,} grids)"
    any_deal = f"This deal can be won {once}: in all others no play of any kind leads to zeros."
    drawn = "Every grid that can be won is a draw if both play well: who cannot win can always step away."
    parity = (
        "In each deal that can be won only one player can ever win, however badly both play: the first player in "
        f"{100 * odd / winnable:.2f} % of these deals, the second in {100 - 100 * odd / winnable:.2f} %."
    )
    sheet = f"Dealt as the sheet says, with deal=any, a grid could be won {once}."
    truths = [(drawn, "proven"), (parity, "exact, by the parity rule (R2)")]
    return [(any_deal, "exact"), *truths] if options.deal == ANY else [*truths, (sheet, "exact")]


def harvest_truths(options: Options) -> list[tuple[str, str]]:
    """Say what is true of harvest, where the parity rule decides nothing."""
    if options.deal == ANY:
        return []
    from piste.games.zero_sum_grid.solver import harvest_tables

    tally = harvest_tables.tally(options)
    sentence = (
        f"With best play the first player wins {tally.first:,} of the {tally.deals:,} deals, the second "
        f"{tally.second + tally.level:,}, of which {tally.level:,} are level and go to the second by the rule (R5)."
    )
    return [(sentence, "exact")]


def winnable_deals(options: Options) -> tuple[int, int]:
    """Return at how many winnable deals the first player could win, and how many there are.

    A deal is a first column and two amounts by which the others differ from it, so the sum of its cells is odd if the
    first column and the two amounts together are; and then the distance is odd (R2).
    """
    top, odd = options.top, 0
    start = rules.start(options._replace(deal=WINNABLE))
    values = [signed_value(top, outcome) for outcome in range(2 * top)]
    evens = sum(1 << i for i in range(0, 4 * top + 1, 2))  # amounts are numbered from 2 * top, which is even
    for a in values:
        for b in values:
            two = rules.shifts(top, a) & rules.shifts(top, b)
            for c in values:
                amounts = two & rules.shifts(top, c)
                even, all_of_them = count(amounts & evens), count(amounts)
                apart = 2 * even * (all_of_them - even)  # one even, one odd
                odd += apart if (a + b + c) % 2 == 0 else all_of_them**2 - apart
    return odd, rules.spread(start)
