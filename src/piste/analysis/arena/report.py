"""What a tournament came to: ratings, cross table, pairs, forfeits, CPU time; as values, as JSON and as text.

Everything is worked out from the results alone, so a file that was gone on with gives the same report.
"""

from __future__ import annotations

from collections import Counter
from math import isfinite
from typing import Any, NamedTuple

from piste import bots
from piste.analysis.arena.game_play import Forfeit, Time
from piste.analysis.arena.losses import PHASES, EntrantLosses, Loss, losses
from piste.analysis.arena.luck import Adjusted, adjusted_pairings
from piste.analysis.arena.pairs import Interval, Pairs, cluster_share
from piste.analysis.arena.plan import Plan
from piste.analysis.arena.ratings import PRIOR_GAMES, Deals, Ratings, fit
from piste.analysis.arena.results import DealResult, GameResult, Results
from piste.analysis.arena.sprt import MODEL, SequentialTest
from piste.analysis.arena.tournament import pair_scores

VERSION = 1
MAX_REASONS = 5


class Standing(NamedTuple):
    """One entrant."""

    entrant: int
    games: int  # in seats: at a table with several copies each counts
    share: Interval  # of the points
    rating: Interval | None  # None at tables for more than two
    los: float | None  # how likely it is better than the next one
    forfeits: tuple[Forfeit, ...]
    time: Time
    by_seat: tuple[tuple[Interval, int], ...]  # the share of wins in each seat, and of how many games


class Report(NamedTuple):
    """A tournament, or as much of it as has been played."""

    plan: Plan
    deals: tuple[DealResult, ...]  # those that count; with a sequential test those up to the verdict
    standings: tuple[Standing, ...]  # the best first
    pairs: dict[tuple[int, int], Pairs]  # by lineup, at a table for two
    ratings: Ratings | None
    test: SequentialTest | None
    adjusted: dict[tuple[int, int], Adjusted]  # by lineup, where games were reviewed with exact values
    losses: tuple[EntrantLosses, ...]  # of each entrant, where games were reviewed

    @property
    def games(self) -> int:
        return sum(len(deal.games) for deal in self.deals)

    @property
    def finished(self) -> bool:
        settled = self.test is not None and self.test.verdict is not None
        return settled or len(self.deals) == sum(self.plan.deals)

    def name(self, entrant: int) -> str:
        """Return what people are told an entrant is called."""
        name, spec = self.plan.entrants[entrant]
        return bots.shown(self.plan.game, spec, self.plan.options) if name == spec else name

    def against(self, one: int, two: int) -> Pairs | None:
        """Return the pairs of two entrants, from the side of the first."""
        if (one, two) in self.pairs:
            return self.pairs[one, two]
        return self.pairs[two, one].reversed() if (two, one) in self.pairs else None


def report(results: Results) -> Report:
    """Work out all that a tournament has come to so far."""
    plan = results.plan
    test = None
    deals = [results.deals[key] for key in sorted(results.deals)]
    if plan.sprt is not None:
        test = SequentialTest(plan.sprt)
        test.take(pair_scores(results, 0))
        deals = deals[: test.pairs.n]  # later ones were played while the verdict was not yet known
    pairs: dict[tuple[int, int], Pairs] = {}
    ratings = None
    if plan.seats == 2:
        for lineup, (one, two) in enumerate(plan.lineups):
            pairs[one, two] = Pairs.of(deal.points(one)[0] for deal in deals if deal.lineup == lineup)
        ratings = fit(len(plan.entrants), rated_deals(plan, deals), *plan.anchor)
    standings = [_standing(plan, entrant, deals, ratings) for entrant in range(len(plan.entrants))]
    standings.sort(key=lambda one: (-one.share.value if one.rating is None else -one.rating.value, one.entrant))
    if ratings is not None:
        following = [*standings[1:], None]
        standings = [
            one._replace(los=None if after is None else ratings.los(one.entrant, after.entrant))
            for one, after in zip(standings, following, strict=True)
        ]
    reviewed = bool(results.reviews)
    adjusted = adjusted_pairings(results, None if test is None else test.pairs.n) if reviewed else {}
    lost = tuple(losses(results, one.entrant) for one in standings) if reviewed else ()
    return Report(plan, tuple(deals), tuple(standings), pairs, ratings, test, adjusted, lost)


def rated_deals(plan: Plan, deals: list[DealResult]) -> Deals:
    """Return the deals as ratings are fitted to them."""
    counts: dict[tuple[int, int], Counter[tuple[tuple[int, float], ...]]] = {
        (one, two): Counter() for one, two in plan.lineups
    }
    for deal in deals:
        one, two = plan.lineups[deal.lineup]
        counts[one, two][tuple(_rated(game, one) for game in deal.games)] += 1
    return counts


def _rated(game: GameResult, first: int) -> tuple[int, float]:
    began = 0 if game.began is None else 1 if game.seats[game.began] == first else -1
    return began, game.points(game.seats.index(first))


def _standing(plan: Plan, entrant: int, deals: list[DealResult], ratings: Ratings | None) -> Standing:
    own = [deal for deal in deals if entrant in plan.lineups[deal.lineup]]
    share, games = cluster_share(deal.points(entrant) for deal in own)
    by_seat = tuple(cluster_share(_wins(deal, entrant, seat) for deal in own) for seat in range(plan.seats))
    places = [
        (game, seat) for deal in own for game in deal.games for seat, who in enumerate(game.seats) if who == entrant
    ]
    forfeits = tuple(forfeit for game, seat in places for forfeit in game.forfeits if forfeit.seat == seat)
    time = sum((game.times[seat] for game, seat in places), Time())
    rating = None if ratings is None else ratings.interval(entrant)
    return Standing(entrant, games, share, rating, None, forfeits, time, by_seat)


def _wins(deal: DealResult, entrant: int, seat: int) -> tuple[float, int]:
    games = [game for game in deal.games if game.seats[seat] == entrant]
    return float(sum(game.winner == seat for game in games)), len(games)


# JSON


def document(report: Report) -> dict[str, Any]:
    """Return the report as JSON data."""
    plan, ratings, test = report.plan, report.ratings, report.test
    names = [entrant.name for entrant in plan.entrants]
    return {
        "game": plan.game.name,
        "options": plan.options._asdict(),
        "seed": plan.seed,
        "seats": plan.seats,
        "limit": plan.limit,
        "finished": report.finished,
        "games": report.games,
        "asked": plan.games,
        "entrants": [_standing_document(report, one) for one in report.standings],
        "pairings": [
            {
                "entrants": [names[one], names[two]],
                "pairs": list(pairs.counts),
                "score": interval_document(pairs.score),
                "elo": interval_document(pairs.elo),
                "los": pairs.los,
            }
            for (one, two), pairs in report.pairs.items()
        ],
        "luck_adjusted": [
            {
                "entrants": [names[one], names[two]],
                "deals": found.deals,
                "score": interval_document(found.raw),
                "adjusted": interval_document(found.adjusted),
                "coefficient": found.coefficient,
                "mean_luck": interval_document(found.mean_luck),
                "worth_times_as_many_games": found.factor,
                "used": found.used,
            }
            for (one, two), found in report.adjusted.items()
        ],
        "losses": [
            {
                "name": names[lost.entrant],
                "computed": [_loss_document(*one) for one in lost.known.items()],
                "estimated": [_loss_document(*one) for one in lost.estimated.items()],
            }
            for lost in report.losses
        ],
        "model": None if ratings is None else {
            "anchor": names[ratings.anchor],
            "anchored_at": plan.anchor[1],
            "prior_games": PRIOR_GAMES,
            "first_seat": interval_document(ratings.advantage),
            "draw_rate": ratings.draw_rate,
            "los": {
                one: {two: ratings.los(a, b) for b, two in enumerate(names) if a != b} for a, one in enumerate(names)
            },
        },
        "sprt": None if test is None else {
            **test.test._asdict(),
            "model": MODEL,
            "bounds": list(test.test.bounds),
            "llr": test.llr,
            "pairs": test.pairs.n,
            "verdict": test.verdict,
        },
    }  # fmt: skip


def _standing_document(report: Report, one: Standing) -> dict[str, Any]:
    name, spec = report.plan.entrants[one.entrant]
    program = bots.is_program(spec)
    return {
        "name": name,
        "bot": spec,
        "games": one.games,
        "rating": None if one.rating is None else interval_document(one.rating),
        "los_over_next": one.los,
        "score": interval_document(one.share),
        "wins_by_seat": [{**interval_document(share), "games": games} for share, games in one.by_seat],
        "forfeits": len(one.forfeits),
        "forfeit_reasons": [
            {"why": why, "games": n} for why, n in Counter(one.why for one in one.forfeits).most_common(MAX_REASONS)
        ],
        "cpu": None if program else {**one.time._asdict(), "mean": one.time.mean},
    }


def _loss_document(cell: tuple[str, str], loss: Loss) -> dict[str, Any]:
    phase, kind = cell
    return {
        "phase": phase or None,
        "kind": kind or None,
        "decisions": loss.decisions,
        "loss": interval_document(loss.mean),
    }


def interval_document(interval: Interval) -> dict[str, float | None]:
    """Return an interval as JSON has it; what is infinite is null there."""
    return {key: value if isfinite(value) else None for key, value in interval._asdict().items()}


# Text


def title(plan: Plan) -> str:
    changed = plan.game.option_texts(plan.options, changed_only=True)
    return " ".join([plan.game.notation.TITLE, *(f"{key}={value}" for key, value in changed.items())])


def text(report: Report, width: int | None = None) -> list[str]:
    """Return the report for people, line by line; tables that are wider than the screen go on below."""
    plan = report.plan
    games = f"{report.games:,} games" if report.finished else f"{report.games:,} of {plan.games:,} games"
    lines = [f"{title(plan)}: {len(plan.entrants)} entrants, {games} ({len(report.deals):,} deals)"]
    lines += standings_lines(report, width)
    if plan.seats > 2:
        lines += seat_lines(report, width)
    elif len(plan.entrants) > 2:
        lines += cross_lines(report, width)
    lines += pair_lines(report, width)
    lines += luck_lines(report, width)
    lines += loss_lines(report, width)
    lines += model_lines(report)
    lines += forfeit_lines(report)
    return lines


def standings_lines(report: Report, width: int | None = None) -> list[str]:
    """Return the standings: rating, points, LOS over the next, forfeits and CPU time where there are any."""
    rated = report.ratings is not None
    head = ["", *(["rating", "±"] if rated else []), "points", "±", "games", *(["LOS"] if rated else []),
            "forfeits", "ms a decision"]  # fmt: skip
    rows = []
    for place, one in enumerate(report.standings, 1):
        program = bots.is_program(report.plan.entrants[one.entrant].spec)
        rating = [] if one.rating is None else [f"{one.rating.value:.0f}", f"{one.rating.half:.0f}"]
        rows.append([
            f"{place} {report.name(one.entrant)}", *rating, f"{100 * one.share.value:.1f} %",
            f"{100 * one.share.half:.1f}", f"{one.games:,}",
            *([""] if rated and one.los is None else [f"{100 * (one.los or 0):.1f} %"] if rated else []),
            str(len(one.forfeits)), "-" if program or not one.time.decisions else f"{1000 * one.time.mean:.2f}",
        ])  # fmt: skip
    return aligned(head, rows, width)


def seat_lines(report: Report, width: int | None = None) -> list[str]:
    """Return each entrant's share of wins in each seat."""
    head = ["wins by seat", *(report.plan.game.seat_name(seat) for seat in range(report.plan.seats))]
    rows = [[report.name(one.entrant), *(share_text(share) for share, _ in one.by_seat)] for one in report.standings]
    return aligned(head, rows, width)


def cross_lines(report: Report, width: int | None = None) -> list[str]:
    """Return the cross table: points of the row against the column, in percent."""
    order = [one.entrant for one in report.standings]
    rows = []
    for one in order:
        found = [report.against(one, two) for two in order]
        cells = ["-" if pairs is None or not pairs.n else f"{100 * pairs.mean:.1f}" for pairs in found]
        rows.append([report.name(one), *cells])
    return aligned(["% of the points", *(report.name(one) for one in order)], rows, width)


def pair_lines(report: Report, width: int | None = None) -> list[str]:
    """Return each pairing's pentanomial counts, its points and the difference of Elo, with intervals."""
    if not report.pairs:
        return []
    rows = []
    for (one, two), pairs in report.pairs.items():
        counts = " ".join(map(str, pairs.counts))
        los = f"{100 * pairs.los:.1f} %"
        who = f"{report.name(one)} - {report.name(two)}"
        rows.append([who, counts, share_text(pairs.score), elo_text(pairs.elo), los])
    return aligned(["pairs", "0 ½ 1 1½ 2", "points", "Elo", "LOS"], rows, width)


def luck_lines(report: Report, width: int | None = None) -> list[str]:
    """Return the luck-adjusted result beside the raw one, of each pairing whose values are exact."""
    if not report.adjusted:
        return []
    rows = []
    for (one, two), found in report.adjusted.items():
        who = f"{report.name(one)} - {report.name(two)}"
        worth = f"{found.factor:.1f}" if found.used else "not used"
        better = share_text(found.adjusted) if found.used else "-"
        luck = f"{100 * found.mean_luck.value:+.1f} ± {100 * found.mean_luck.half:.1f}"
        rows.append([who, share_text(found.raw), better, f"{found.coefficient:.2f}", luck, worth])
    return aligned(["luck taken off", "raw", "adjusted", "coefficient", "mean luck", "games' worth"], rows, width)


def loss_lines(report: Report, width: int | None = None) -> list[str]:
    """Return what each entrant's decisions cost, by phase, in points of winning chance."""
    lines = []
    for title, part in (("loss a decision", 0), ("loss a decision, estimated", 1)):
        rows = []
        for lost in report.losses:
            cells = (lost.known, lost.estimated)[part]
            kinds = sorted({kind for _, kind in cells if kind})
            for kind in ["", *(kinds if len(kinds) > 1 else [])]:
                whole = [cells.get((phase, kind)) for phase in ("", *PHASES)]
                if whole[0] is not None:
                    name = report.name(lost.entrant) if not kind else f"  {kind}"
                    rows.append([name, *(loss_text(loss) for loss in whole), f"{whole[0].decisions:,}"])
        if rows:
            lines += aligned([title, "all", *PHASES, "decisions"], rows, width)
    return lines


def loss_text(loss: Loss | None) -> str:
    return "-" if loss is None else f"{100 * loss.mean.value:.2f} ± {100 * loss.mean.half:.2f}"


def model_lines(report: Report) -> list[str]:
    """Return the sentences on the model, and on the sequential test."""
    lines = []
    ratings, test = report.ratings, report.test
    if ratings is not None:
        first = ratings.advantage
        draws = f" Two equals draw {100 * ratings.draw_rate:.1f} % of their games." if ratings.draw_rate else ""
        lines.append(
            f"Ratings: Bradley-Terry with {'draws (Davidson)' if ratings.draw_rate else 'no draws'}, "
            f"{report.name(ratings.anchor)} = {report.plan.anchor[1]:g}; 400 points are odds of 10 to 1. The seat "
            f"that decides first is {first.value:+.0f} ± {first.half:.0f} ahead.{draws} Prior: half a win for either "
            "side of each pairing."
        )
    if test is not None:
        low, high = test.test.bounds
        asked = f"E0 = {test.test.elo0:g}, E1 = {test.test.elo1:g}"
        said = {"E0": "E0 is accepted", "E1": "E1 is accepted", None: "the question is open"}[test.verdict]
        lines.append(
            f"SPRT {asked}: {said} after {test.pairs.n:,} pairs; LLR {test.llr:.2f}, bounds {low:.2f} and "
            f"{high:.2f}. Model: {MODEL}; errors {test.test.alpha:g} and {test.test.beta:g}."
        )
    if report.losses:
        lines.append(
            "Losses are in points of winning chance, early, middle and late by thirds of a game's decisions. Games' "
            "worth: so many times as many games the raw result would need for the same interval."
        )
    lines.append("After ± and in brackets: where the true number lies 19 times out of 20; each deal is one trial.")
    return lines


def forfeit_lines(report: Report) -> list[str]:
    lines = []
    for one in report.standings:
        for why, n in Counter(forfeit.why for forfeit in one.forfeits).most_common(MAX_REASONS):
            lines.append(f"{report.name(one.entrant)} forfeited {n} {'game' if n == 1 else 'games'}: {why}")
    return lines


def share_text(share: Interval) -> str:
    """Return a share with its interval, which ends at 0 and 100 % even where it was worked out without these."""
    return f"{100 * share.value:.1f} % ({100 * max(0, share.low):.1f} to {100 * min(1, share.high):.1f})"


def elo_text(elo: Interval) -> str:
    if isfinite(elo.low) and isfinite(elo.high) and isfinite(elo.value):
        return f"{elo.value:+.1f} ± {elo.half:.1f}"
    return f"above {elo.low:+.0f}" if isfinite(elo.low) else f"below {elo.high:+.0f}" if isfinite(elo.high) else "?"


def aligned(head: list[str], rows: list[list[str]], width: int | None = None) -> list[str]:
    """Return a table in columns: the first flush left, the others right.

    Columns that do not fit into the width are a further table below, in which the first column is repeated.
    """
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
    groups: list[list[int]] = []  # columns that stay together: a number and what stands after ±
    for column, name in enumerate(head[1:], 1):
        if name == "±":
            groups[-1].append(column)
        else:
            groups.append([column])
    blocks, used = [[0]], widths[0]
    for group in groups:
        wide = sum(widths[column] + 2 for column in group)
        if width is not None and used + wide > width and len(blocks[-1]) > 1:
            blocks.append([0])
            used = widths[0]
        blocks[-1] += group
        used += wide
    return [
        "  ".join(row[i].rjust(widths[i]) if i else row[i].ljust(widths[i]) for i in block).rstrip()
        for block in blocks
        for row in [head, *rows]
    ]
