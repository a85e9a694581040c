"""What a position of Duel is worth, and how that is known.

Between two, whoever wins more rounds wins the match, a round won is never worse than one lost, and nothing of a round
but its winner affects the next (the cards go back, and the loser picks). So the best play of a match is the best play
of each round, and every search stays within one round.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np

from piste.compiled.compile_progress import Shares, compiling
from piste.core.belief import Belief
from piste.core.bits import count, lane, nth
from piste.core.dealer import RandomStream, draw_outcome
from piste.core.evaluation import ESTIMATED, EXACT, WITHIN, Chances, Choice, Evaluation, Progress, quiet
from piste.core.game import find
from piste.core.information_set import InformationSet
from piste.core.position import Position
from piste.core.protocols import CHANCE, HIDDEN, OVER, SPECTATOR, Event
from piste.games.mccoy_duel import notation, rules
from piste.games.mccoy_duel.rules import LOT, PICK, REVEAL, Options, State
from piste.games.mccoy_duel.solver import book, cfr, infoset_kernels, infosets, ismcts, ismcts_kernels, solutions
from piste.games.mccoy_duel.solver.infoset_kernels import KEY_COLUMN, distinct_choices, round_over, unpack
from piste.games.mccoy_duel.solver.infosets import Array, Observed, PossibleStates
from piste.games.mccoy_duel.solver.solutions import Solution

VERSION = 1
EVALUATION_PASSES = 200_000  # of ISMCTS
LEAD_PASSES = 1_000_000  # of ISMCTS to value a whole round
LOW_EXPLORATION = 0.3  # while the value is measured; a third of it at last
TABLE_SIZE = 1 << 20  # information sets
MAX_NODES = 3_000_000  # of the CFR+ tree
MAX_CARDS = 10  # in both hands: beyond that the tree never fits
MAX_SOLUTION_ERROR = 0.02  # where a solution of the whole round says less, the rest of the round is solved anew
OPENING_PASSES = 1_000_000  # for each variant of the opening
PASSES_PER_CALL = 50_000
OPENING_VALUES = 1 + 81  # for each variant


def evaluate(known: InformationSet, progress: Progress = quiet) -> Evaluation:
    """Return what a position is worth to a seat: its chances in the match between two, in the round with more."""
    known = since_last_deal(known)
    s: State = next(iter(known.belief.states))
    to_act = rules.to_act(s)
    seat = known.seat if known.seat >= 0 else max(to_act, 0)
    if to_act == OVER:
        won = float(rules.payoff(s, seat) > 0)
        return Evaluation(seat, Chances(won, 0.0, 1 - won), (), EXACT, 0.0, "The game is over.")
    if before_deal(s) or round_over(s):
        return evaluate_before_deal(s, seat, progress)
    state, events = skip_to_deal(*infosets.observed_events(known))
    solved = evaluate_by_solution(s, state, events, seat, progress) if known.seat >= 0 or not events else None
    if solved is not None:
        return solved
    own = infosets.with_same_question(infosets.possible_states(state, events, known.seat), s)
    key = int(own.rows[0, KEY_COLUMN + seat])
    # A spectator does not see the hand, so the value is the mean over all hands, and there are no choices to list.
    deciding = known.seat >= 0 and to_act == seat and count(distinct_choices(s)) > 0
    with compiling(progress, EVALUATION_COMPILE_SHARES):
        if state.options.players == 2 and sum(map(count, s.hands)) <= MAX_CARDS and infosets.compiled():
            public = infosets.with_same_question(infosets.possible_states(state, events, SPECTATOR), s)
            # Without a decision, what this seat alone knows is not an infoset of the tree.
            if deciding or len(own.rows) == len(public.rows):
                solved = evaluate_by_cfr(s, public, seat, key if deciding else None, MAX_NODES)
                if solved is not None:
                    return solved
        sampled = sample_value(state.options, own, seat, key, EVALUATION_PASSES, choosing=deciding)
    return sampled_evaluation(s, seat, own, sampled)


BOOK_TEXT = (
    "What the strategy that the opening book was made from wins against itself. No adversary that knew the book "
    "gained more than the interval in a seat, but nothing bounds what one could."
)
ERROR_NOTE = (
    "The interval is that of the sampling and how far the value moved while the search settled; what it never found "
    "is not covered."
)


def before_deal(s: State) -> bool:
    """Say whether no round has begun: all is public then, and only who will lead counts."""
    return s.phase in (REVEAL, LOT) or (s.phase == PICK and not s.tower.buried)


ChoiceShare = tuple[int, float, float]
"""A decision, the share of rounds that it wins, and the probability that it is played."""


class SampledValue(NamedTuple):
    """The share of rounds that a seat wins by sampling, its error, and the same of its choices."""

    share: float
    error: float
    choices: list[ChoiceShare]
    passes: int


def sampled_evaluation(s: State, seat: int, own: PossibleStates, sampled: SampledValue) -> Evaluation:
    how = f"{sampled.passes} sampled rounds over {len(own.rows)} possible deals. {ERROR_NOTE}"
    return match_evaluation(s, seat, sampled.share, sampled.choices, ESTIMATED, sampled.error, how)


def sample_value(
    options: Options, states: PossibleStates, seat: int, key: int, passes: int,
    *, choosing: bool = True, table_size: int = TABLE_SIZE,
) -> SampledValue:  # fmt: skip
    """Search long, then measure play with low exploration: while seats still explore much, the value is off.

    One stage learns, the next two show how far the value has settled, and the last, with the lowest exploration, is
    the value.
    """
    if not infosets.compiled():
        passes //= ismcts.UNCOMPILED_SLOWDOWN
    wide = ismcts.EXPLORATION
    parts = ((2, wide), (4, wide), (8, LOW_EXPLORATION), (8, LOW_EXPLORATION / 3))
    stages = tuple((max(1, passes // part), exploration) for part, exploration in parts)
    settling = ismcts.search_stages(options, states, seat if choosing else HIDDEN, key, stages, 1, table_size)[1:]
    last = settling[-1]
    if not last.choices:
        shares = [float(stage.round_wins[seat] / stage.round_wins.sum()) for stage in settling]
        return SampledValue(shares[-1], sampling_error(shares, int(last.round_wins.sum())), [], passes)
    visits, wins = sum(stage.visits for stage in settling), sum(stage.wins for stage in settling)
    best = int(np.argmax(visits))
    shares = [float(stage.wins[best] / max(1, stage.visits[best])) for stage in settling if stage.visits[best]]
    others = wins / np.maximum(1, visits)
    choices = [
        (action, shares[-1] if i == best else min(shares[-1], float(others[i])), float(i == best))
        for i, action in enumerate(last.choices)
    ]
    return SampledValue(shares[-1], sampling_error(shares, int(last.visits[best])), choices, passes)


def sampling_error(shares: list[float], samples: int) -> float:
    """Return the error of the last of some shares: its sampling, and how far it is from the others."""
    return 1.96 * math.sqrt(0.25 / max(1, samples)) + max(abs(shares[-1] - share) for share in shares)


def evaluate_by_cfr(
    s: State, public: PossibleStates, seat: int, key: int | None, nodes: int, max_error: float = 1.0
) -> Evaluation | None:
    """Solve by CFR+ and bound the error by best responses; None if the tree is too large or the error too large.

    `public` are the states that everybody holds possible; `key` is the infoset of a seat that is to decide.
    """
    solution = cfr.solve(s.options, public, nodes)
    responses = cfr.best_responses(s.options, public, solution) if solution is not None else None
    if solution is None or responses is None:
        return None
    how = f"CFR+ on {solution.nodes} nodes over {len(public.rows)} deals, with the best answers to it worked out."
    if key is None:
        share = (responses.wins[seat] + (1 - responses.wins[1 - seat])) / 2
        return match_evaluation(s, seat, share, [], WITHIN, responses.nash_conv, how)
    # The loss in this infoset is at most the NashConv, and the infoset has this share of all deals.
    error = min(1.0, responses.nash_conv / max(float(public.in_infoset(seat, key).weights.sum()), 1e-9))
    infoset = solution.infoset(key)
    if infoset < 0 or error > max_error:
        return None
    left, values = distinct_choices(s), responses.values[seat][infoset]
    probabilities = solution.choice_probabilities(infoset)
    choices = [(nth(left, i), float(values[i]), float(probabilities[i])) for i in range(count(left))]
    return match_evaluation(s, seat, max(value for _, value, _ in choices), choices, WITHIN, error, how)


def evaluate_by_solution(
    s: State, state: State, events: tuple[Observed, ...], seat: int, progress: Progress = quiet
) -> Evaluation | None:
    """Evaluate a round from the solution of the whole of it; None if there is none, or if it says too little here.

    At the deal with all nine cards it is what the opening book says.

    `s` is a possible state now, `state` the one at which the round began.
    """
    if not events:
        solution = solutions.find_for(state, progress)
        if solution is None and book.speaks_of(state):
            lead, error = picker_chance(s.options) if state.seat == HIDDEN else lead_chance(s.options)
            share = lead if seat == solutions.first_seat(state) else 1 - lead
            return match_evaluation(s, seat, share, [], ESTIMATED, error, BOOK_TEXT)
        if solution is None:
            return None
        first = seat == solutions.first_seat(state)
        share = solution.share if first else 1 - solution.share
        return match_evaluation(s, seat, share, [], WITHIN, solution.bound / 2, solution_text(solution, state))
    if rules.to_act(s) != seat:
        return None
    found = solutions.look_up(state, events, seat, progress)
    if found is None or found[1].reach == 0:
        return None
    solution, mix = found
    error = min(1.0, solution.bound / mix.reach)  # as in a solution of the end of a round
    if error > MAX_SOLUTION_ERROR:
        return None
    choices = list(zip(mix.actions, mix.values.tolist(), mix.probabilities.tolist(), strict=True))
    return match_evaluation(s, seat, max(mix.values.tolist()), choices, WITHIN, error, solution_text(solution, None))


def solution_text(solution: Solution, state: State | None) -> str:
    """Say how a round is solved and, at its beginning, how it is led."""
    gain = f"{100 * solution.bound:.2g} % of a round"
    text = f"The whole round is solved by CFR+: best responses to both strategies together gain {gain}."
    if state is None or state.seat == HIDDEN:
        return text
    leads = ", ".join(
        f"{notation.POWERS[lead.power]} {lead.played:.1%}" for lead in solutions.leads(state.options, solution)
    )
    return f"{text} Leads: {leads}."


def skip_to_deal(state: State, events: tuple[Observed, ...]) -> tuple[State, tuple[Observed, ...]]:
    """Apply the events before the deal, which are public; return the state then, and the events after it."""
    done = 0
    while before_deal(state) or state.phase == rules.NEXT:
        event = events[done].event
        state = rules.apply(state, 0 if event.kind == rules.NEXT else event.what)
        done += 1
    return state, events[done:]


def since_last_deal(known: InformationSet) -> InformationSet:
    """Return the same information set with the last deal as its base: at a deal everything is public."""
    game = known.base.game
    for at in range(len(known.events), 0, -1):
        if known.events[at - 1].kind == rules.NEXT:
            base = next(iter(known.belief.layer(at)))
            belief = Belief(game, base, known.seat)
            for event in known.events[at:]:
                belief.hear(event)
            belief.only(lambda state: state in known.belief.states)
            return InformationSet(known.seat, Position(game, base), known.events[at:], belief)
    return known


def match_evaluation(
    s: State, seat: int, share: float, choice_shares: list[ChoiceShare], known: str, error: float, how: str
) -> Evaluation:
    """Return an evaluation of the match from shares of the round."""
    win, lose, match_error = match_after(s, seat)

    def chances(share: float) -> Chances:
        chance = lose + (win - lose) * share
        return Chances(chance, 0.0, 1 - chance)

    choices = tuple(Choice(action, chances(share), probability) for action, share, probability in choice_shares)
    if s.options.players > 2:
        how += " Chances are those of this round."
    elif match_error > 0 and solutions.find(s.options, picking=True) is None:
        known = ESTIMATED
        how += " What the other rounds bring is estimated from the chance of the one who leads."
    return Evaluation(seat, chances(share), choices, known, error * (win - lose) + match_error, how)


def match_after(s: State, seat: int) -> tuple[float, float, float]:
    """Return a seat's chance in the match if it wins this round and if it loses it, and the error of both."""
    if s.options.players > 2:
        return 1.0, 0.0, 0.0
    need = s.options.rounds // 2 + 1
    mine, theirs = need - lane(s.wins, seat), need - lane(s.wins, 1 - seat)
    if mine == theirs == 1:
        return 1.0, 0.0, 0.0
    lead, error = picker_chance(s.options)
    win, lose = match_chance(mine - 1, theirs, 1 - lead, lead), match_chance(mine, theirs - 1, lead, lead)
    high = lead + error
    win_high, lose_high = match_chance(mine - 1, theirs, 1 - high, high), match_chance(mine, theirs - 1, high, high)
    return win, lose, max(abs(win_high - win), abs(lose_high - lose))


def match_chance(mine: int, theirs: int, now: float, lead: float) -> float:
    """Return the chance in a match from the rounds that each needs; `now` is that of the next; the loser leads."""
    if mine == 0 or theirs == 0:
        return float(mine == 0)
    lost = match_chance(mine, theirs - 1, lead, lead)
    return now * match_chance(mine - 1, theirs, 1 - lead, lead) + (1 - now) * lost


@cache
def lead_chance(options: Options) -> tuple[float, float]:
    """Return about how often the one who leads a round wins it, and the error: a bound if solved, else estimated."""
    solution = solutions.find(options)
    if solution is not None:
        return solution.share, solution.bound / 2
    if book.covers(options):
        return book.shipped().leader, book.LEADER_ERROR
    plain = Options(options.players, 1, 1, options.powers)
    sampled = sample_value(plain, infosets.possible_states(rules.start(plain), (), SPECTATOR), 0, 0, LEAD_PASSES)
    return sampled.share, sampled.error


def picker_chance(options: Options) -> tuple[float, float]:
    """Return the same for the one who picks who leads, with a card buried already: the loser of the round before."""
    solution = solutions.find(options, picking=True)
    return lead_chance(options) if solution is None else (solution.share, solution.bound / 2)


def evaluate_before_deal(s: State, seat: int, progress: Progress = quiet) -> Evaluation:
    """Return what a position before the deal is worth: only who will lead counts."""
    for picking in (False, True):
        solutions.find(s.options, progress, picking=picking)
    game, stream = find("mccoy-duel"), RandomStream(b"piste verdict", "reveal")
    lead, error = picker_chance(s.options) if round_over(s) else lead_chance(s.options)
    n = s.options.players
    other = (1 - lead) / (n - 1)
    picks = 0
    tries = 400 if s.phase in (REVEAL, LOT) else 1
    for _ in range(tries):
        after: Any = s
        while rules.to_act(after) == CHANCE and after.phase != rules.BURY:
            after = rules.apply(after, draw_outcome(game, after, stream))
        picker = after.seat if after.phase == PICK else rules.first_to_lose(after)
        picks += picker == seat
    best = lead if round_over(s) else max(lead, other)
    share = picks / tries * best + (1 - picks / tries) * (1 - best) / (n - 1)
    choices: list[ChoiceShare] = []
    if s.phase == PICK and rules.to_act(s) == seat:
        for leader in range(n):
            if s.present >> leader & 1:
                chance = lead if leader == seat else other
                choices.append((rules.SEAT + leader, chance, float((leader == seat) == (lead >= other))))
    solved = solutions.find(s.options, picking=round_over(s)) is not None
    source, note = "by long sampled play.", ERROR_NOTE
    if solved:
        source, note = "by a solution of the whole round.", "" if tries == 1 else ERROR_NOTE
    elif book.covers(s.options):
        source, note = "by the opening book.", BOOK_TEXT
    how = (
        f"The one who {'picks' if solved and round_over(s) else 'leads'} wins {'' if solved else 'about '}{lead:.1%} "
        f"of rounds (within {error:.1%}) {source} {note}"
    ).rstrip()
    error += 1.96 * math.sqrt(0.25 / tries) if tries > 1 else 0.0
    known = WITHIN if solved and tries == 1 else ESTIMATED
    return match_evaluation(s, seat, share, choices, known, error, how)


def solve_fully(options: Options, progress: Progress) -> str:
    """Solve a round between two, or evaluate its first plays by long ISMCTS; cache what was found."""
    lead = solutions.find(options, progress, max_ends=solutions.MAX_ENDS)
    if lead is not None:
        pick = solutions.find(options, progress, picking=True, max_ends=solutions.MAX_ENDS)
        return round_text(options, lead, pick)
    values = opening(options, progress)
    low, fair, high = (f"{float(values[variant][0]):.1%}" for variant in VARIANTS)
    text = (
        f"In {OPENING_PASSES} sampled rounds each, whoever leads won {fair}; {low} if the other saw the card buried "
        f"by the leader, {high} if the leader saw the other's. What each lead is worth is kept with it in the cache."
    )
    if book.covers(options):
        text += f" By the strategy of the opening book, which is better, the leader wins {book.shipped().leader:.1%}."
    return text


def round_text(options: Options, lead: Solution, pick: Solution | None) -> str:
    """Say what a solution of a whole round says of its beginning."""
    text = f"Whoever leads wins {lead.share:.2%} of the rounds (within {50 * lead.bound:.2g} points). "
    if pick is not None:
        text += f"Whoever picks, with a card buried, wins {pick.share:.2%} (within {50 * pick.bound:.2g} points). "
    leads = "; ".join(
        f"{notation.POWERS[x.power]} wins {x.share:.2%} and is led {x.played:.1%} of the time"
        for x in solutions.leads(options, lead)
        if x.share is not None
    )
    return f"{text}Leads: {leads}. The mixes of every decision are kept in the cache."


VARIANTS = ("shown", "fair", "peeking")
"""The leader's buried card shown to the other, the round as it is, the other's card shown to the leader."""


def opening(options: Options, progress: Progress = quiet, passes: int = OPENING_PASSES) -> dict[str, Any]:
    """Return for each variant the leader's share, and for each card buried by the leader the share of each lead."""
    from piste.compiled import table_cache

    values: dict[str, Any] = {}
    stamp = f"rules {rules.VERSION}, solver {VERSION}"
    for i, variant in enumerate(VARIANTS):  # a table each, so that an interrupted solve can be resumed
        name = f"mccoy-duel opening {variant} powers={options.powers},passes={passes}"
        table = table_cache.load(name, stamp)
        try:
            if table is not None:
                values[variant] = table.read("shares")
        except table_cache.DamagedTableError:
            table_cache.delete(name, stamp)
        if variant not in values:
            report = partial(report_opening, progress, i, passes)
            values[variant] = search_leads(Options(2, 1, 1, options.powers), variant, passes, report)
            table_cache.try_save(name, stamp, {"shares": values[variant]})
    return values


def report_opening(progress: Progress, variant: int, passes: int, done: int) -> None:
    progress(variant * passes + done, len(VARIANTS) * passes, "playing the first plays")


def search_leads(options: Options, variant: str, passes: int, report: Callable[[int], None]) -> Array:
    """Return the leader's share, then nine rows, by the power buried, with the share of each lead."""
    events = tuple(Observed(Event(rules.BURY, seat, HIDDEN, HIDDEN), None) for seat in range(2))
    states = infosets.possible_states(rules.start(options), events, SPECTATOR)
    rows = states.rows
    for row in rows:
        buried = (int(row[9]) & 511, int(row[9]) >> 9)
        if variant == "shown":
            row[KEY_COLUMN + 1] = infoset_kernels.mix_hash(int(row[KEY_COLUMN + 1]), buried[0])
        if variant == "peeking":
            row[KEY_COLUMN] = infoset_kernels.mix_hash(int(row[KEY_COLUMN]), buried[1])
    keys, visits, wins = tables = ismcts.empty_tables(1 << 21)
    won = np.zeros(4, np.int64)
    for done in range(0, passes, PASSES_PER_CALL):
        if 2 * done >= passes > 2 * (done - PASSES_PER_CALL):
            won[:] = 0  # the first half learns
        report(done)
        n = min(PASSES_PER_CALL, passes - done)
        ismcts.run(options, states, n, done + 1, ismcts.EXPLORATION, tables, won)
    values = np.zeros(OPENING_VALUES)
    values[0] = won[0] / won.sum()
    tries = np.zeros(81)
    for row in rows:
        slot = ismcts_kernels.table_slot(keys, int(row[KEY_COLUMN]) | 1)
        left = distinct_choices(unpack(options, row))
        card = int(row[9] & 511).bit_length() - 1
        for i in range(count(left)):
            lead = 9 * card + nth(left, i)
            values[1 + lead] += wins[slot, i]
            tries[lead] += visits[slot, i]
    values[1:] /= np.maximum(tries, 1)
    return values


COMPILE_SHARES = Shares(
    {"run_ismcts": 13.4, "advance": 9.3, "apply_in_round": 5.8, "act": 3.4, "end_turn": 2.0}, other=0.6, compiled=60.0
)
EVALUATION_COMPILE_SHARES = Shares(
    {
        "run_cfr": 9.0, "run_ismcts": 6.7, "opponent_reach": 5.7, "advance": 4.7, "best_response": 3.6,
        "resolve_child": 3.2, "apply_in_round": 3.0, "expand": 2.1,
    },
    other=0.42, compiled=60.0,
)  # fmt: skip


DECISION_COMPILE_SHARES = Shares(
    {"run_cfr": 28.2, "resolve_child": 9.6, "expand": 6.6, "add_roots": 4.4, "infoset_index": 4.0},
    other=1.9,
    compiled=64.4,
)
"""Of what the first decision late in a round compiles."""


def prepare(options: Options, progress: Progress) -> None:
    """Compile what the first decision of a round needs, on the smallest round there is.

    What solves the end of a round is compiled when it is first needed: most of a person's first wait is saved so.
    """
    with compiling(progress, COMPILE_SHARES):
        small = Options(options.players, 1, 1, 257)
        events = (Observed(Event(rules.BURY, 0, HIDDEN, HIDDEN), None),)
        states = infosets.possible_states(rules.start(small), events, SPECTATOR)
        ismcts.search(small, states, 0, 1, 2, 1)
    if book.covers(options):
        book.shipped()
    for picking in (False, True):
        solutions.find(options, progress, picking=picking)


def prepare_evaluation(options: Options, progress: Progress) -> None:
    """Compile all that an evaluation calls."""
    with compiling(progress, EVALUATION_COMPILE_SHARES):
        prepare(options, quiet)
        if options.players == 2 and infosets.compiled():
            cfr.best_responses(*solve_smallest_round())


def solve_smallest_round() -> tuple[Options, PossibleStates, cfr.Solution]:
    """Compile what solves the end of a round between two, and return the smallest such end with its solution."""
    small = Options(2, 1, 1, 257)
    states = infosets.possible_states(rules.start(small), (), SPECTATOR)
    solution = cfr.solve(small, states, 1000)
    assert solution is not None
    return small, states, solution
