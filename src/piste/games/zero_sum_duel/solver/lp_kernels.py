"""Zero Sum Duel: the two hidden discards of a pass, a signaling game that is solved by a linear program.

The sender draws and discards, then the receiver; each sees the other's discard but not the draw. Afterwards nothing
hidden matters (see `kernels`), so `last` holds what every outcome of the two is worth to the sender. The LP
minimises, over the receiver's mixed replies, the most that each hand of the sender can get; its dual is the sender's
mix. It is solved by the simplex method. All of this is in the part of Python that numba compiles.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from piste.core.bits import count, lowest, nth

TOLERANCE = 1e-13
"""Two values this near are equal: rounding errors are smaller, differences of the game larger."""


def value_after_both(
    mine: int, other: int, deck: int, left: int, last: Any, rank: Any, zero: Any, ends: Any
) -> float:
    """Return the mean of `last` when both have discarded and two cards are in the deck.

    `left` counts from before the two discards; ends[0] stands for a win of the receiver, ends[1] for a draw.
    """
    if left <= 1:
        return float(ends[1])
    if zero[other]:
        return float(ends[0])
    if left <= 2:
        return float(ends[1])
    first = deck & -deck
    second = deck ^ first
    here = last[rank[mine | first], rank[other | second]]
    there = last[rank[mine | second], rank[other | first]]
    return float(0.5 * (here + there))


def winning_discard(hand: int, zero: Any) -> int:
    """Return the lowest card whose discard leaves a sum of zero, or -1."""
    cards = hand
    while cards:
        card = lowest(cards)
        if zero[hand ^ (1 << card)]:
            return card
        cards &= cards - 1
    return -1


def fill_payoffs(seen: int, b: int, game: Any, last: Any, ends: Any, payoffs: Any, all_senders: int) -> int:
    """Fill payoffs[sender, n-th card of receiver b], times their chance, after the sender discarded `seen`.

    Return how many senders could have; payoffs[.., -1] holds their numbers. Senders who should have won are left out,
    unless `all_senders` is asked for.
    """
    mine, other, joint, rank, zero, cards, left, row = game
    found, theirs = 0, int(other[b])
    for i in range(len(mine)):
        ours = int(mine[i])
        if (row[i] < 0 and not all_senders) or joint[i, b] == 0.0 or not ours >> seen & 1:
            continue
        deck = ((1 << cards) - 1) & ~(ours | theirs)
        rest, n = theirs, 0
        while rest:
            hand = theirs ^ (rest & -rest)
            rest &= rest - 1
            worth = value_after_both(ours ^ (1 << seen), hand, deck, left, last, rank, zero, ends)
            payoffs[found, n] = joint[i, b] * worth
            n += 1
        payoffs[found, n] = i
        found += 1
    return found


def mark_undominated(payoffs: Any, senders: int, options: int, undominated: Any) -> int:
    """Mark the receiver's discards that are not weakly dominated against the senders; return how many."""
    left = options
    for n in range(options):
        undominated[n] = 1
    for n in range(options):
        for k in range(options):
            if k == n or not undominated[k]:
                continue
            beaten = True
            for i in range(senders):
                if payoffs[i, k] > payoffs[i, n] + TOLERANCE * 1e-2:
                    beaten = False
                    break
            if beaten:
                undominated[n] = 0
                left -= 1
                break
    return left


def simplex(table: Any, rows: Any, columns: Any) -> int:
    """Minimise by the simplex method, in place; return how many pivots it took, or -1 if it failed.

    Row r says: variable rows[r] = table[r, -1] - sum of table[r, c] * variable columns[c]; the last row is the
    objective. All variables are 0 or more, and the table must begin at a feasible point.
    """
    height, width = table.shape[0] - 1, table.shape[1] - 1
    degenerate_steps = 0
    for step in range(200 * (height + width)):
        enter, most = -1, 1e-12
        for c in range(width):
            if table[height, c] > most:
                enter = c
                if degenerate_steps > 200:
                    break  # after many degenerate steps: Bland's rule, the lowest number that helps
                most = table[height, c]
        if enter >= 0 and degenerate_steps > 200:
            for c in range(width):
                if table[height, c] > 1e-12 and columns[c] < columns[enter]:
                    enter = c
        if enter < 0:
            return step
        leave, nearest = -1, 0.0
        for r in range(height):
            if table[r, enter] <= 1e-9:
                continue
            ratio = max(table[r, width], 0.0) / table[r, enter]
            # Of rows that tie, the one with the largest entry, which loses least by rounding.
            better = rows[r] < rows[leave] if degenerate_steps > 200 else table[r, enter] > table[leave, enter]
            if leave < 0 or ratio < nearest - 1e-12 or (ratio <= nearest + 1e-12 and better):
                leave, nearest = r, min(ratio, nearest) if leave >= 0 else ratio
        if leave < 0:
            return -1
        degenerate_steps = degenerate_steps + 1 if nearest <= 1e-13 else 0
        swap_basis(table, leave, enter)
        rows[leave], columns[enter] = columns[enter], rows[leave]
    return -1


def swap_basis(table: Any, row: int, column: int) -> None:
    """Pivot: swap the variables of a row and of a column."""
    pivot = table[row, column]
    for c in range(table.shape[1]):
        table[row, c] /= pivot
    table[row, column] = 1.0 / pivot
    for r in range(table.shape[0]):
        factor = table[r, column]
        if r != row and factor != 0.0:
            table[r] -= factor * table[row]
            table[r, column] = -factor / pivot


def index_in_hand(hand: int, card: int) -> int:
    """Return how many cards of a hand lie below this one."""
    return count(hand & ((1 << card) - 1))


def best_reply(payoffs: Any, senders: int, options: int, undominated: Any) -> int:
    """Return the receiver's best response if each sender is as likely as chance alone makes it."""
    best, worth = -1, 0.0
    for n in range(options):
        total = 0.0
        for k in range(senders):
            total += payoffs[k, n]
        if undominated[n] and (best < 0 or total < worth - TOLERANCE):
            best, worth = n, total
    return best


def sender_chance(joint: Any, i: int) -> float:
    """Return the prior probability of a sender."""
    total = 0.0
    for b in range(joint.shape[1]):
        total += joint[i, b]
    return total


def solve_signaling_game(game: Any, last: Any, sender_mix: Any, receiver_mix: Any) -> Any:
    """Solve the two hidden discards of a pass; return the sender's value, or nan, and how many replies were open.

    `game` is (the sender's hands with one card too many, the receiver's, how likely each pair is, rank, zero, number
    of cards, left, row); row is filled here, with -1 for a sender who wins at once. The mixes go to
    sender_mix[sender, discard] and receiver_mix[discard seen, receiver, discard].
    """
    mine, other, joint, _, zero, cards, _, row = game
    options = count(int(mine[0]))
    value, rows, senders = 0.0, 0, 0
    sender_mix.fill(0.0)
    receiver_mix.fill(0.0)
    for i in range(len(mine)):
        card = winning_discard(int(mine[i]), zero)
        row[i] = -1
        if card >= 0:
            value += sender_chance(joint, i)
            sender_mix[i, card] = 1.0
        else:
            row[i] = rows
            rows += options
            senders += 1
    ends = np.array([-1.0, 0.0])
    payoffs = np.zeros((len(mine), options + 1))
    undominated = np.zeros(options, dtype=np.int64)
    fixed = np.zeros(rows)
    blocks, width = 0, senders
    for seen in range(cards):
        for b in range(len(other)):
            found = fill_payoffs(seen, b, game, last, ends, payoffs, 0)
            if found:
                open_replies = mark_undominated(payoffs, found, options, undominated)
                blocks += int(open_replies > 1)
                width += open_replies - 1
    table = np.zeros((rows + blocks + 1, width + 1))
    variables = np.zeros((width, 4), dtype=np.int64)  # discard seen, receiver, discard, in index_in_hand of which
    blocks, width = 0, senders
    for seen in range(cards):
        for b in range(len(other)):
            found = fill_payoffs(seen, b, game, last, ends, payoffs, 0)
            if not found:
                continue
            open_replies = mark_undominated(payoffs, found, options, undominated)
            base = best_reply(payoffs, found, options, undominated)
            receiver_mix[seen, b, nth(int(other[b]), base)] = 1.0
            for n in range(options):
                if not undominated[n]:
                    continue
                for k in range(found):
                    i = int(payoffs[k, options])
                    at = row[i] + index_in_hand(int(mine[i]), seen)
                    if n == base:
                        fixed[at] += payoffs[k, n]
                    else:
                        table[at, width] = payoffs[k, n] - payoffs[k, base]
                if n != base:
                    table[rows + blocks, width] = 1.0
                    variables[width, 0], variables[width, 1] = seen, b
                    variables[width, 2], variables[width, 3] = nth(int(other[b]), n), nth(int(other[b]), base)
                    width += 1
            if open_replies > 1:
                table[rows + blocks, -1] = 1.0
                blocks += 1
    worth = solve_lp(table, game, fixed, senders, options, variables, sender_mix, receiver_mix)
    return value + worth, blocks


def solve_lp(
    table: Any, game: Any, fixed: Any, senders: int, options: int, variables: Any, sender_mix: Any, receiver_mix: Any
) -> float:
    """Solve the LP of `solve_signaling_game`, first replies filled in; return the value of its senders, or nan."""
    mine, joint, row = game[0], game[2], game[7]
    height, width = table.shape[0] - 1, table.shape[1] - 1
    rows, columns = np.arange(width, width + height), np.arange(width)
    shift, number = 0.0, 0
    for i in range(len(mine)):
        if row[i] < 0:
            continue
        chance = sender_chance(joint, i)
        shift += chance
        best = row[i]
        for at in range(row[i], row[i] + options):
            for c in range(width):
                table[at, c] /= chance
            table[at, number] = -1.0
            table[at, width] = -fixed[at] / chance - 1.0  # values go from -1 to 1; shifted they are never below 0
            if fixed[at] > fixed[best]:
                best = at
        table[height, number] = -chance
        swap_basis(table, best, number)
        rows[best], columns[number] = columns[number], rows[best]
        number += 1
    if simplex(table, rows, columns) < 0:
        return np.nan
    for r in range(height):
        if senders <= rows[r] < width and table[r, width] > 0.0:
            seen, b, card, base = variables[rows[r]]
            receiver_mix[seen, b, card] = table[r, width]
            receiver_mix[seen, b, base] = max(receiver_mix[seen, b, base] - table[r, width], 0.0)
    for c in range(width):
        at = columns[c] - width
        if 0 <= at < len(fixed) and table[height, c] < 0.0:
            i = 0
            while row[i] < 0 or row[i] + options <= at:
                i += 1
            sender_mix[i, nth(int(mine[i]), int(at - row[i]))] = -table[height, c]
    for i in range(len(mine)):
        if row[i] >= 0:
            total = 0.0
            for card in range(sender_mix.shape[1]):
                total += sender_mix[i, card]
            for card in range(sender_mix.shape[1]):
                sender_mix[i, card] /= total
    return float(table[height, width] - shift)


def expected_payoffs(game: Any, last: Any, ends: Any, receiver_mix: Any) -> Any:
    """Return [sender, receiver, discard]: the mean of `last` and `ends`, times the chance of the pair."""
    mine, other, cards = game[0], game[1], game[5]
    options = count(int(mine[0]))
    found = np.zeros((len(mine), len(other), cards))
    payoffs = np.zeros((len(mine), options + 1))
    for seen in range(cards):
        for b in range(len(other)):
            for k in range(fill_payoffs(seen, b, game, last, ends, payoffs, 1)):
                found[int(payoffs[k, options]), b, seen] = expected_payoff(
                    seen, b, k, other, payoffs, options, receiver_mix
                )
    return found


def expected_payoff(seen: int, b: int, k: int, other: Any, payoffs: Any, options: int, receiver_mix: Any) -> float:
    """Return what one sender of `fill_payoffs` can expect from the receiver's mix."""
    total = 0.0
    for n in range(options):
        total += receiver_mix[seen, b, nth(int(other[b]), n)] * payoffs[k, n]
    return total


def refine_off_path(game: Any, last: Any, sender_mix: Any, receiver_mix: Any) -> None:
    """Off the equilibrium path, let the receiver reply as if only chance had chosen the sender's hand.

    That is done as long as no sender would gain by deviating to it; else the reply of the LP stays.
    """
    mine, other, row, cards = game[0], game[1], game[7], game[5]
    options = count(int(mine[0]))
    ends = np.array([-1.0, 0.0])
    payoffs = np.zeros((len(mine), options + 1))
    undominated = np.ones(options, dtype=np.int64)
    worth = np.zeros((len(mine), cards))
    best = np.zeros(len(mine))
    found = expected_payoffs(game, last, ends, receiver_mix)
    for i in range(len(mine)):
        for seen in range(cards):
            for b in range(len(other)):
                worth[i, seen] += found[i, b, seen]
            best[i] += sender_mix[i, seen] * worth[i, seen]
    for seen in range(cards):
        for b in range(len(other)):
            senders = fill_payoffs(seen, b, game, last, ends, payoffs, 1)
            reply, fits = best_reply(payoffs, senders, options, undominated), senders > 0
            for k in range(senders):
                i = int(payoffs[k, options])
                gain = payoffs[k, reply] - expected_payoff(seen, b, k, other, payoffs, options, receiver_mix)
                fits = fits and sender_mix[i, seen] <= 1e-12
                fits = fits and (row[i] < 0 or worth[i, seen] + gain <= best[i] + TOLERANCE)
            if not fits:
                continue
            for k in range(senders):
                worth[int(payoffs[k, options]), seen] += payoffs[k, reply] - expected_payoff(
                    seen, b, k, other, payoffs, options, receiver_mix
                )
            for card in range(cards):
                receiver_mix[seen, b, card] = 1.0 if card == nth(int(other[b]), reply) else 0.0


def draw_chance(game: Any, last_drawn: Any, sender_mix: Any, receiver_mix: Any) -> float:
    """Return the chance of a draw when both play these mixes; a sender who can win at once does."""
    mine, other, row = game[0], game[1], game[7]
    found = expected_payoffs(game, last_drawn, np.array([0.0, 1.0]), receiver_mix)
    total = 0.0
    for i in range(len(mine)):
        for b in range(len(other)):
            for seen in range(sender_mix.shape[1]):
                if row[i] >= 0:
                    total += sender_mix[i, seen] * found[i, b, seen]
    return total
