"""Prime Duel: its solver. docs/solve/prime-duel.md says what is solved, how, and what it costs."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache, partial
from typing import NamedTuple

import numpy as np

from piste.compiled.compile_progress import Shares, compiling
from piste.core.bits import lane_one
from piste.core.dealer import RandomStream
from piste.core.evaluation import ESTIMATED, EXACT, WITHIN, Chances, Choice, Evaluation, Progress, quiet
from piste.core.game import members
from piste.core.information_set import InformationSet
from piste.core.protocols import HIDDEN, OVER, SPECTATOR
from piste.games.prime_duel import rules
from piste.games.prime_duel.guarantees import (
    MAX_INTERPRETED_POSITIONS,
    MAX_POSITIONS_ON_DEMAND,
    long_turn_limit,
    position_count,
    value_options,
)
from piste.games.prime_duel.rules import DECIDE, Options, State, View
from piste.games.prime_duel.solver import tablebase
from piste.games.prime_duel.solver.score_pairs import ScorePair, card_counts, successors
from piste.games.prime_duel.solver.value_sources import (
    DeckEndgame,
    FixedOddsModel,
    LookAhead,
    SoloRaceModel,
    SolvedGame,
    SolvedWithTurnLimit,
    ValueSource,
    WinLoss,
    chances,
    empty_deck_values,
    flipped,
    is_compiled,
    load_kernels,
    next_score_pairs,
)

HEAVY = True
"""`solve_fully` takes minutes and gigabytes: it is measured only when it is asked for by name."""

MODEL_ERROR = 0.06
"""At the sheet's size, with 14 cards left or more, the model is off by less than this in 95 % of positions."""

TURN_LIMIT_ERROR = 0.0002
"""Error of leaving out a `long_turn_limit`: the model's draws in other sizes came to less."""

EVALUATION_WORK_FACTOR = 6
"""How many times as much an evaluation may compute as a bot's decision."""

LOOKAHEAD_CARDS = 3
"""How many cards are looked ahead before the tablebase's formula is asked."""

ERROR_FACTOR, LEAST_ERROR, MOST_ERROR = 2.0, 0.00003, 0.005
"""For `lookahead_error`: with these it is large enough at each of 10 000 positions of the sheet's size.

In none of those the error was more than 0.004; in other sizes there is no upper limit.
"""

MAX_PREPARED_TARGET = 100
"""With targets above this the end of a deck takes long to solve."""

COMPILED = Shares(
    {"sweep_decks": 21.3, "add_cards": 11.3},
    other=0.9,
    compiled=53.2,
)


class WorkLimits(NamedTuple):
    """How much may be computed for a decision."""

    game: int  # positions of a game that is solved completely
    endgame: int  # positions before the reshuffle
    model: int  # steps of a model with a turn limit


def work_limits() -> WorkLimits:
    if is_compiled(load_kernels()):
        return WorkLimits(MAX_POSITIONS_ON_DEMAND, 15_000_000, 8_000_000)
    return WorkLimits(MAX_INTERPRETED_POSITIONS, 5_000, 200_000)


class SelectedSource(NamedTuple):
    """The best source of values for a position, and how good it is."""

    source: ValueSource
    known: str
    within: float
    how: str


def state_of(view: View) -> State:
    """Return the state that a seat sees: nothing in this game is hidden (Q5)."""
    v = view
    return State(v.options, v.phase, v.seat, v.scores, v.deck, v.card, v.extra, v.turns, v.winner, v.reason)


solved_game = lru_cache(maxsize=2)(SolvedGame)
solved_with_turn_limit = lru_cache(maxsize=2)(SolvedWithTurnLimit)


@lru_cache(maxsize=64)
def model(options: Options, deck: int, least: int, left: int) -> FixedOddsModel:
    return FixedOddsModel(load_kernels(), options, deck, least, left)


def turns_left(s: State) -> int:
    """Return how many turns are left, 0 if there is no limit or hardly a game reaches it."""
    left = s.options.turns - s.turns if s.options.turns else 0
    return left if left < long_turn_limit(s.options) else 0


def model_with_limit(s: State, left: int) -> FixedOddsModel | SoloRaceModel:
    """Return a model of a game with this many turns left: the finer one, if it is not too much work."""
    least, options = min(s.scores), s.options
    if (options.target - least) ** 2 * left * 2 * options.top <= work_limits().model:
        return model(options, s.deck, least, left)
    return SoloRaceModel(load_kernels(), options, s.deck, left)


def select_source(
    s: State, work_factor: int = 1, progress: Progress = quiet, *, use_tablebase: bool = True
) -> SelectedSource:
    """Return the best source of values for a position that takes at most `work_factor` times the usual work."""
    options, limits, left = s.options, work_limits(), turns_left(s)
    if options.turns and position_count(options) * options.turns <= limits.game:
        how = "Every position of this game was worked out, turn by turn."
        return SelectedSource(solved_with_turn_limit(options), EXACT, 0.0, how)
    if left:
        source: ValueSource = model_with_limit(s, left)
        if isinstance(source, SoloRaceModel):
            how = "Each player's chance to reach the target in time was worked out by itself, with the deck as it is."
            return SelectedSource(source, ESTIMATED, 0.5, how)
        how = "A model was solved in which every draw has the odds of the deck as it is, by turns left."
        return SelectedSource(source, ESTIMATED, MODEL_ERROR, how)
    options = value_options(options)
    if position_count(options) <= limits.game:
        how = "Every position of this game was worked out."
        return without_limit(s, SelectedSource(solved_game(options), EXACT, 0.0, how))
    table = tablebase.load(options) if use_tablebase else None
    if table is not None and table.has_next(s):
        how = "It stands in the full solution."
        return without_limit(s, SelectedSource(table, WITHIN, tablebase.ROUNDING_ERROR, how))
    fitted = table is not None and table.has_formula(sum(card_counts(options, s.deck)) - LOOKAHEAD_CARDS)
    needed = table is not None and not fitted and is_compiled(load_kernels())
    if needed or endgame_work(s) <= limits.endgame * work_factor:
        return endgame_source(s, deck_endgame(s, next_score_pairs(s), table, progress), table)
    if table is not None and fitted:
        source = LookAhead(options, s.deck, next_score_pairs(s), table.estimates, LOOKAHEAD_CARDS)
        how = "By looking some cards ahead, to values from a formula that was fitted to the full solution."
        return without_limit(s, SelectedSource(source, ESTIMATED, lookahead_error(s, table), how))
    how = "A model was solved in which every draw has the odds of the deck as it is."
    source = model(options, s.deck, min(s.scores), 0)
    return without_limit(s, SelectedSource(source, ESTIMATED, MODEL_ERROR, how))


def lookahead_error(s: State, table: tablebase.Tablebase) -> float:
    """Return how far a value found by looking ahead may be off: see docs/solve/prime-duel.md.

    It is off by more where the formula is, for the scores that come next or after those; and with unusual decks,
    which the formula was not fitted to. Those are told by the fourth powers of how far each count is off.
    """
    counts = np.array(card_counts(s.options, s.deck))
    choices = [rules.apply(s, action) for action in members(rules.legal(s))] if s.phase == DECIDE else [s]
    groups = [next_score_pairs(choice) for choice in choices]
    groups += [{later for pair in pairs for later in successors(s.options, pair)} for pairs in groups]
    cards = int(counts.sum()) - LOOKAHEAD_CARDS
    formula_error = max((table.formula_error(pairs, cards) for pairs in groups if pairs), default=0.0)
    share = counts.mean() / s.options.copies
    deviations = (counts - counts.mean()) / np.sqrt(s.options.copies * share * (1 - share))
    unusual = float((deviations**4).mean()) / 3  # about 1 in a random deck
    error = LEAST_ERROR + ERROR_FACTOR * formula_error * (0.5 + unusual**0.75)
    return float(min(error, MOST_ERROR) if table.options == Options() else error)


def without_limit(s: State, selected: SelectedSource) -> SelectedSource:
    """Return a source that knows no turn limit, as it is known in a game that may have one."""
    if not s.options.turns:
        return selected
    how = f"{selected.how} The turn limit was left out: it is so far that hardly a game reaches it."
    return selected._replace(known=ESTIMATED, within=selected.within + TURN_LIMIT_ERROR, how=how)


def endgame_work(s: State) -> int:
    """Return about how many positions come before the reshuffle."""
    decks = int(np.prod(np.array(card_counts(s.options, s.deck)) + 1))
    return decks * (s.options.target - s.scores[0]) * (s.options.target - s.scores[1])


def deck_endgame(
    s: State,
    roots: Iterable[ScorePair],
    table: tablebase.Tablebase | None,
    progress: Progress = quiet,
) -> DeckEndgame:
    """Solve the rest of the deck; what follows it comes from the tablebase, or from a model without one."""
    options = value_options(s.options)
    beyond = table or model(options, rules.whole_deck(options), 0, 0)
    empty = table.empty_deck_values if table is not None else partial(empty_deck_values, options, beyond)

    def report(done: int, of: int) -> None:
        progress(done, of, "working out this deck")

    return DeckEndgame(options, s.deck, roots, beyond, empty, dtype=np.float32, progress=report)


def endgame_source(s: State, endgame: DeckEndgame, table: tablebase.Tablebase | None) -> SelectedSource:
    how = "Worked out to the last card of this deck; what follows the reshuffle "
    if table is not None:
        how += "stands in the full solution."
        return without_limit(s, SelectedSource(endgame, WITHIN, tablebase.ROUNDING_ERROR, how))
    return without_limit(s, SelectedSource(endgame, ESTIMATED, MODEL_ERROR, f"{how}was taken from a model."))


def decisions(s: State, *, use_tablebase: bool = True) -> dict[int, WinLoss]:
    """Return each decision of the player to act with the chances to win and to lose after it."""
    selected = select_source(s, use_tablebase=use_tablebase)
    return decision_chances(s, selected.source)


def decision_chances(s: State, source: ValueSource) -> dict[int, WinLoss]:
    return {action: chances(rules.apply(s, action), s.seat, source) for action in members(rules.legal(s))}


def model_decisions(s: State) -> dict[int, WinLoss]:
    """Return the decisions by the model, which knows the cards left but not that they run out."""
    left = turns_left(s)
    source = model_with_limit(s, left) if left else model(value_options(s.options), s.deck, min(s.scores), 0)
    return decision_chances(s, source)


def best_decision(decisions: dict[int, WinLoss], stream: RandomStream) -> int:
    """Return the best decision; of those that are equally good, any."""
    best = max(win - loss for win, loss in decisions.values())
    good = [action for action, (win, loss) in decisions.items() if win - loss == best]
    return good[stream.below(len(good))]


def evaluate(known: InformationSet, progress: Progress = quiet) -> Evaluation:
    """Return the chances of the seat that asks, and how they are known."""
    (s,) = known.belief.states  # nothing is hidden
    seat = s.seat if known.seat == SPECTATOR else known.seat
    if rules.to_act(s) == OVER:
        pair = chances(s, seat, model(value_options(s.options), 0, s.options.target, 0))
        return Evaluation(seat, _chances(pair), (), EXACT, 0.0, "The game is over.")
    return evaluation(s, seat, select_source(s, EVALUATION_WORK_FACTOR, progress))


def evaluation(s: State, seat: int, selected: SelectedSource) -> Evaluation:
    """Return a seat's evaluation of a game that goes on, by this source."""
    source, known, within, how = selected
    choices: tuple[Choice, ...] = ()
    if s.phase == DECIDE:
        pairs = decision_chances(s, source)
        best = max(pairs, key=lambda action: pairs[action][0] - pairs[action][1])
        pair = pairs[best] if s.seat == seat else flipped(pairs[best])
        if s.seat == seat:
            choices = tuple(Choice(action, _chances(each), float(action == best)) for action, each in pairs.items())
    else:
        pair = chances(s, seat, source)
    return Evaluation(seat, _chances(pair), choices, known, within, how)


def _chances(pair: WinLoss) -> Chances:
    return Chances(pair[0], max(0.0, 1.0 - pair[0] - pair[1]), pair[1])


def prepare(options: Options, progress: Progress = quiet) -> None:
    """Make what decisions need: compile the kernels, solve a small game."""
    with compiling(progress, COMPILED):
        s = rules.start(options._replace(first=1))
        first = rules.apply(s, members(rules.outcomes(s))[0])
        if first.phase == DECIDE:
            decisions(first)
        # The end of a deck has kernels of its own: compile them now and not during a game.
        # With a high target to solve it takes minutes, which only a decision may ask for.
        small = options if options.target <= MAX_PREPARED_TARGET else Options()
        few = sum(lane_one(i) for i in range(min(small.top, 3)))
        state = State(small, DECIDE, 0, (0, 0), few, 0, 0, 0, HIDDEN, 0)
        decisions(state, use_tablebase=small is options)


def solve_fully(options: Options, progress: Progress = quiet) -> str:
    """Solve the whole game once and store what bots and evaluations need; it can be interrupted and resumed."""
    options = value_options(options)
    if position_count(options) <= work_limits().game:
        solved_game(options)
        return "This game is so small that it is solved whenever it is needed: nothing has to be kept."
    return tablebase.solve(options, load_kernels(), progress)
