"""Zero Sum Duel: the two hidden discards of a pass, as a linear program that is solved exactly.

The sender draws and discards, then the receiver; each sees the other's discard but not the draw. Afterwards nothing
hidden matters (see `sweep`), so `last` says what every outcome of the two is worth to the sender. The program asks
for the replies of the receiver that keep down the most each hand of the sender can get; its dual is the sender's mix.
All of this is in the part of Python that numba compiles.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from piste.core.bits import count, lowest, nth

SAME = 1e-13
"""Two values this near are taken as equal: rounding is smaller, differences of the game are larger."""


def after_both(mine: int, other: int, deck: int, left: int, last: Any, rank: Any, zero: Any, ends: Any) -> float:
    """Return what `last` says on average when both have discarded and two cards are in the deck.

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


def winning(hand: int, zero: Any) -> int:
    """Return the lowest card whose discard leaves a sum of zero, or -1."""
    cards = hand
    while cards:
        card = lowest(cards)
        if zero[hand ^ (1 << card)]:
            return card
        cards &= cards - 1
    return -1


def weigh(seen: int, b: int, g: Any, last: Any, ends: Any, pays: Any, everyone: int) -> int:
    """Fill pays[sender, n-th card of receiver b], times their chance, after the sender discarded `seen`.

    Return how many senders could have; pays[.., -1] holds their numbers. Senders who should have won are left out,
    unless `everyone` is asked for.
    """
    mine, other, joint, rank, zero, cards, left, row = g
    found, theirs = 0, int(other[b])
    for i in range(len(mine)):
        ours = int(mine[i])
        if (row[i] < 0 and not everyone) or joint[i, b] == 0.0 or not ours >> seen & 1:
            continue
        deck = ((1 << cards) - 1) & ~(ours | theirs)
        rest, n = theirs, 0
        while rest:
            hand = theirs ^ (rest & -rest)
            rest &= rest - 1
            worth = after_both(ours ^ (1 << seen), hand, deck, left, last, rank, zero, ends)
            pays[found, n] = joint[i, b] * worth
            n += 1
        pays[found, n] = i
        found += 1
    return found


def worthwhile(pays: Any, senders: int, options: int, alive: Any) -> int:
    """Mark the receiver's discards that no other one beats or equals against every sender; return how many."""
    left = options
    for n in range(options):
        alive[n] = 1
    for n in range(options):
        for k in range(options):
            if k == n or not alive[k]:
                continue
            beaten = True
            for i in range(senders):
                if pays[i, k] > pays[i, n] + SAME * 1e-2:
                    beaten = False
                    break
            if beaten:
                alive[n] = 0
                left -= 1
                break
    return left


def simplex(table: Any, rows: Any, columns: Any) -> int:
    """Bring a table to the least value of its last row; return how many steps it took, or -1 if it got lost.

    Row r says: variable rows[r] = table[r, -1] - sum of table[r, c] * variable columns[c]; the last row is what is
    to be least. All variables are 0 or more, and the table must hold such a point to begin with.
    """
    height, width = table.shape[0] - 1, table.shape[1] - 1
    standing = 0
    for step in range(200 * (height + width)):
        enter, most = -1, 1e-12
        for c in range(width):
            if table[height, c] > most:
                enter = c
                if standing > 200:
                    break  # after many steps in place: the one of the lowest number that helps (Bland)
                most = table[height, c]
        if enter >= 0 and standing > 200:
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
            # Of rows that are reached together the one with the largest entry, which loses least by rounding.
            better = rows[r] < rows[leave] if standing > 200 else table[r, enter] > table[leave, enter]
            if leave < 0 or ratio < nearest - 1e-12 or (ratio <= nearest + 1e-12 and better):
                leave, nearest = r, min(ratio, nearest) if leave >= 0 else ratio
        if leave < 0:
            return -1
        standing = standing + 1 if nearest <= 1e-13 else 0
        exchange(table, leave, enter)
        rows[leave], columns[enter] = columns[enter], rows[leave]
    return -1


def exchange(table: Any, row: int, column: int) -> None:
    """Let the variables of a row and of a column change places."""
    pivot = table[row, column]
    for c in range(table.shape[1]):
        table[row, c] /= pivot
    table[row, column] = 1.0 / pivot
    for r in range(table.shape[0]):
        factor = table[r, column]
        if r != row and factor != 0.0:
            table[r] -= factor * table[row]
            table[r, column] = -factor / pivot


def place(hand: int, card: int) -> int:
    """Return how many cards of a hand lie below this one."""
    return count(hand & ((1 << card) - 1))


def least(pays: Any, senders: int, options: int, alive: Any) -> int:
    """Return the receiver's best discard if it is only known how likely each sender is by chance."""
    best, worth = -1, 0.0
    for n in range(options):
        total = 0.0
        for k in range(senders):
            total += pays[k, n]
        if alive[n] and (best < 0 or total < worth - SAME):
            best, worth = n, total
    return best


def chance_of(joint: Any, i: int) -> float:
    """Return how likely a sender is."""
    total = 0.0
    for b in range(joint.shape[1]):
        total += joint[i, b]
    return total


def stage(g: Any, last: Any, sends: Any, replies: Any) -> Any:
    """Solve the two hidden discards of a pass; return the sender's value, or nan, and how many replies were open.

    g is (the sender's hands with one card too many, the receiver's, how likely each pair is, rank, zero, number of
    cards, left, row); row is filled here, with -1 for a sender who wins at once. The mixes go to
    sends[sender, discard] and replies[discard seen, receiver, discard].
    """
    mine, other, joint, _, zero, cards, _, row = g
    options = count(int(mine[0]))
    value, rows, senders = 0.0, 0, 0
    sends.fill(0.0)
    replies.fill(0.0)
    for i in range(len(mine)):
        card = winning(int(mine[i]), zero)
        row[i] = -1
        if card >= 0:
            value += chance_of(joint, i)
            sends[i, card] = 1.0
        else:
            row[i] = rows
            rows += options
            senders += 1
    ends = np.array([-1.0, 0.0])
    pays = np.zeros((len(mine), options + 1))
    alive = np.zeros(options, dtype=np.int64)
    fixed = np.zeros(rows)
    blocks, width = 0, senders
    for seen in range(cards):
        for b in range(len(other)):
            found = weigh(seen, b, g, last, ends, pays, 0)
            if found:
                open_replies = worthwhile(pays, found, options, alive)
                blocks += int(open_replies > 1)
                width += open_replies - 1
    table = np.zeros((rows + blocks + 1, width + 1))
    variables = np.zeros((width, 4), dtype=np.int64)  # discard seen, receiver, discard, in place of which
    blocks, width = 0, senders
    for seen in range(cards):
        for b in range(len(other)):
            found = weigh(seen, b, g, last, ends, pays, 0)
            if not found:
                continue
            open_replies = worthwhile(pays, found, options, alive)
            base = least(pays, found, options, alive)
            replies[seen, b, nth(int(other[b]), base)] = 1.0
            for n in range(options):
                if not alive[n]:
                    continue
                for k in range(found):
                    i = int(pays[k, options])
                    at = row[i] + place(int(mine[i]), seen)
                    if n == base:
                        fixed[at] += pays[k, n]
                    else:
                        table[at, width] = pays[k, n] - pays[k, base]
                if n != base:
                    table[rows + blocks, width] = 1.0
                    variables[width, 0], variables[width, 1] = seen, b
                    variables[width, 2], variables[width, 3] = nth(int(other[b]), n), nth(int(other[b]), base)
                    width += 1
            if open_replies > 1:
                table[rows + blocks, -1] = 1.0
                blocks += 1
    worth = program(table, g, fixed, senders, options, variables, sends, replies)
    return value + worth, blocks


def program(
    table: Any, g: Any, fixed: Any, senders: int, options: int, variables: Any, sends: Any, replies: Any
) -> float:
    """Solve the table of `stage`, with the first replies filled in; return the value of the senders in it, or nan."""
    mine, joint, row = g[0], g[2], g[7]
    height, width = table.shape[0] - 1, table.shape[1] - 1
    rows, columns = np.arange(width, width + height), np.arange(width)
    shift, number = 0.0, 0
    for i in range(len(mine)):
        if row[i] < 0:
            continue
        chance = chance_of(joint, i)
        shift += chance
        best = row[i]
        for at in range(row[i], row[i] + options):
            for c in range(width):
                table[at, c] /= chance
            table[at, number] = -1.0
            table[at, width] = -fixed[at] / chance - 1.0  # values go from -1 to 1; moved up they are never below 0
            if fixed[at] > fixed[best]:
                best = at
        table[height, number] = -chance
        exchange(table, best, number)
        rows[best], columns[number] = columns[number], rows[best]
        number += 1
    if simplex(table, rows, columns) < 0:
        return np.nan
    for r in range(height):
        if senders <= rows[r] < width and table[r, width] > 0.0:
            seen, b, card, base = variables[rows[r]]
            replies[seen, b, card] = table[r, width]
            replies[seen, b, base] = max(replies[seen, b, base] - table[r, width], 0.0)
    for c in range(width):
        at = columns[c] - width
        if 0 <= at < len(fixed) and table[height, c] < 0.0:
            i = 0
            while row[i] < 0 or row[i] + options <= at:
                i += 1
            sends[i, nth(int(mine[i]), int(at - row[i]))] = -table[height, c]
    for i in range(len(mine)):
        if row[i] >= 0:
            total = 0.0
            for card in range(sends.shape[1]):
                total += sends[i, card]
            for card in range(sends.shape[1]):
                sends[i, card] /= total
    return float(table[height, width] - shift)


def outlook(g: Any, last: Any, ends: Any, replies: Any) -> Any:
    """Return [sender, receiver, discard]: what `last` and `ends` come to on average, times the chance of the pair."""
    mine, other, cards = g[0], g[1], g[5]
    options = count(int(mine[0]))
    found = np.zeros((len(mine), len(other), cards))
    pays = np.zeros((len(mine), options + 1))
    for seen in range(cards):
        for b in range(len(other)):
            for k in range(weigh(seen, b, g, last, ends, pays, 1)):
                found[int(pays[k, options]), b, seen] = mixed(seen, b, k, other, pays, options, replies)
    return found


def mixed(seen: int, b: int, k: int, other: Any, pays: Any, options: int, replies: Any) -> float:
    """Return what one sender of `weigh` can expect from the replies."""
    total = 0.0
    for n in range(options):
        total += replies[seen, b, nth(int(other[b]), n)] * pays[k, n]
    return total


def settle(g: Any, last: Any, sends: Any, replies: Any) -> None:
    """Where the sender's mix never leads, let the receiver reply as if only chance had chosen the sender's hand.

    That is done as long as no sender would gain by leading there; else the reply of the linear program stays.
    """
    mine, other, row, cards = g[0], g[1], g[7], g[5]
    options = count(int(mine[0]))
    ends = np.array([-1.0, 0.0])
    pays = np.zeros((len(mine), options + 1))
    alive = np.ones(options, dtype=np.int64)
    worth = np.zeros((len(mine), cards))
    best = np.zeros(len(mine))
    found = outlook(g, last, ends, replies)
    for i in range(len(mine)):
        for seen in range(cards):
            for b in range(len(other)):
                worth[i, seen] += found[i, b, seen]
            best[i] += sends[i, seen] * worth[i, seen]
    for seen in range(cards):
        for b in range(len(other)):
            senders = weigh(seen, b, g, last, ends, pays, 1)
            reply, fits = least(pays, senders, options, alive), senders > 0
            for k in range(senders):
                i = int(pays[k, options])
                gain = pays[k, reply] - mixed(seen, b, k, other, pays, options, replies)
                fits = fits and sends[i, seen] <= 1e-12
                fits = fits and (row[i] < 0 or worth[i, seen] + gain <= best[i] + SAME)
            if not fits:
                continue
            for k in range(senders):
                worth[int(pays[k, options]), seen] += pays[k, reply] - mixed(
                    seen, b, k, other, pays, options, replies
                )
            for card in range(cards):
                replies[seen, b, card] = 1.0 if card == nth(int(other[b]), reply) else 0.0


def drawn_of(g: Any, last_drawn: Any, sends: Any, replies: Any) -> float:
    """Return the chance of a draw when both play these mixes; who can win at once does."""
    mine, other, row = g[0], g[1], g[7]
    found = outlook(g, last_drawn, np.array([0.0, 1.0]), replies)
    total = 0.0
    for i in range(len(mine)):
        for b in range(len(other)):
            for seen in range(sends.shape[1]):
                if row[i] >= 0:
                    total += sends[i, seen] * found[i, b, seen]
    return total
