"""Zero Sum Duel: the linear program of the two hidden discards of a pass, in the part of Python that numba compiles.

`signaling` says what the game is. The LP minimises, over the receiver's mixed replies, the most that each hand of the
sender can get; its dual is the sender's mix. It is solved by the simplex method. Loops are written out and arrays are
of few kinds: both compile in less time.
"""

from __future__ import annotations

from typing import Any

import numpy as np

TOLERANCE = 1e-13
"""Two values this near are equal: rounding errors are smaller, differences of the game larger."""


def solve_games(payoffs: Any, joint: Any, at: Any, sender_mix: Any, receiver_mix: Any, values: Any) -> None:
    """Fill in the mixes and the senders' values of several games, nan where an LP was not solved.

    payoffs[game, sender, receiver, discard, reply] are times the chance joint[game, sender, receiver], and
    at[game, sender, card] is the place of a card in a sender's hand, or -1; a sender without cards takes no part.
    Mixes go to sender_mix[game, sender, discard] and receiver_mix[game, card seen, receiver, reply].
    """
    _, hands, receivers, _, options = payoffs.shape
    cards = at.shape[2]
    row, senders, is_open = np.zeros(hands, np.int64), np.zeros(hands, np.int64), np.zeros(options, np.int64)
    for game in range(len(payoffs)):
        rows = 0
        for i in range(hands):
            row[i] = -1
            for card in range(cards):
                if at[game, i, card] == 0:
                    row[i] = rows
                    rows += options
        height, width = rows, rows // options
        for seen in range(cards):
            for b in range(receivers):
                _, many, _ = find_replies(payoffs, joint, at, game, seen, b, senders, is_open)
                height += int(many > 1)
                width += max(many - 1, 0)
        table, fixed, replies = np.zeros((height + 1, width + 1)), np.zeros(rows), np.zeros(width, np.int64)
        height, width = rows, rows // options
        for seen in range(cards):
            for b in range(receivers):
                sender_count, many, base = find_replies(payoffs, joint, at, game, seen, b, senders, is_open)
                if sender_count == 0:
                    continue
                receiver_mix[game, seen, b, base] = 1.0
                for n in range(options):
                    if not is_open[n]:
                        continue
                    for k in range(sender_count):
                        i, place = senders[k], at[game, senders[k], seen]
                        worth = payoffs[game, i, b, place, n]
                        if n == base:
                            fixed[row[i] + place] += worth
                        else:
                            table[row[i] + place, width] = worth - payoffs[game, i, b, place, base]
                    if n != base:
                        table[height, width] = 1.0
                        replies[width] = ((seen * receivers + b) * options + n) * options + base
                        width += 1
                if many > 1:
                    table[height, table.shape[1] - 1] = 1.0
                    height += 1
        values[game] = solve_lp(table, fixed, replies, joint, row, game, sender_mix, receiver_mix)


def find_replies(
    payoffs: Any, joint: Any, at: Any, game: int, seen: int, b: int, senders: Any, is_open: Any
) -> tuple[int, int, int]:
    """List the senders who can have discarded `seen`, and mark receiver b's replies that are not weakly dominated.

    Return how many of each there are, and the best reply if senders are as likely as chance alone makes them.
    """
    sender_count, many, best, least = 0, 0, -1, 0.0
    for i in range(len(senders)):
        if at[game, i, seen] >= 0 and joint[game, i, b] > 0.0:
            senders[sender_count] = i
            sender_count += 1
    if sender_count == 0:
        return 0, 0, -1
    for n in range(len(is_open)):
        is_open[n] = 1
    for n in range(len(is_open)):
        total = 0.0
        for k in range(sender_count):
            total += payoffs[game, senders[k], b, at[game, senders[k], seen], n]
        for other in range(len(is_open)):
            k = 0 if other != n and is_open[other] else sender_count + 1
            while k < sender_count:
                i, place = senders[k], at[game, senders[k], seen]
                worse = payoffs[game, i, b, place, other] > payoffs[game, i, b, place, n] + TOLERANCE * 1e-2
                k += sender_count + 1 if worse else 1
            if k == sender_count:
                is_open[n] = 0
        many += is_open[n]
        if is_open[n] and (best < 0 or total < least - TOLERANCE):
            best, least = n, total
    return sender_count, many, best


def solve_lp(
    table: Any, fixed: Any, replies: Any, joint: Any, row: Any, game: int, sender_mix: Any, receiver_mix: Any
) -> float:
    """Solve the LP of a game, first replies filled in, and read the mixes off; return its value, or nan."""
    height, width = table.shape[0] - 1, table.shape[1] - 1
    receivers, options = joint.shape[2], sender_mix.shape[2]
    rows, columns = np.zeros(height, np.int64), np.zeros(width, np.int64)
    for r in range(height):
        rows[r] = width + r
    for c in range(width):
        columns[c] = c
    shift = 0.0
    for i in range(len(row)):
        if row[i] < 0:
            continue
        chance = 0.0
        for b in range(receivers):
            chance += joint[game, i, b]
        shift += chance
        best, sender = row[i], row[i] // options
        for at in range(row[i], row[i] + options):
            for c in range(width):
                table[at, c] /= chance
            table[at, sender] = -1.0
            table[at, width] = -fixed[at] / chance - 1.0  # values go from -1 to 1; shifted they are never below 0
            if fixed[at] > fixed[best]:
                best = at
        table[height, sender] = -chance
        swap_basis(table, best, sender, rows, columns)
    if not simplex(table, rows, columns):
        return np.nan
    for r in range(height):
        share = table[r, width]
        if len(fixed) <= rows[r] * options < width * options and share > 0.0:
            reply = replies[rows[r]]
            base, n, place = reply % options, reply // options % options, reply // (options * options)
            seen, b = place // receivers, place % receivers
            receiver_mix[game, seen, b, n] = share
            receiver_mix[game, seen, b, base] = max(receiver_mix[game, seen, b, base] - share, 0.0)
    for c in range(width):
        at = columns[c] - width
        if 0 <= at < len(fixed) and table[height, c] < 0.0:
            for i in range(len(row)):
                if 0 <= row[i] <= at < row[i] + options:
                    sender_mix[game, i, at - row[i]] = -table[height, c]
    return float(table[height, width] - shift)


def simplex(table: Any, rows: Any, columns: Any) -> bool:
    """Minimise by the simplex method, in place; say whether that was done.

    Row r says: variable rows[r] = table[r, -1] - sum of table[r, c] * variable columns[c]; the last row is the
    objective. All variables are 0 or more, and the table must begin at a feasible point.
    """
    height, width = table.shape[0] - 1, table.shape[1] - 1
    degenerate_steps = 0
    for _ in range(200 * (height + width)):
        bland = degenerate_steps > 200  # after many degenerate steps: Bland's rule, the lowest number that helps
        enter, most = width, 1e-12
        for c in range(width):
            helps = table[height, c]
            if bland and helps > 1e-12 and (enter == width or columns[c] < columns[enter]):
                enter = c
            elif not bland and helps > most:
                enter, most = c, helps
        if enter == width:
            return True
        leave, nearest = height, 0.0
        for r in range(height):
            if table[r, enter] <= 1e-9:
                continue
            ratio = max(table[r, width], 0.0) / table[r, enter]
            if leave == height:
                leave, nearest = r, ratio
                continue
            # Of rows that tie, the one with the largest entry, which loses least by rounding.
            better = rows[r] < rows[leave] if bland else table[r, enter] > table[leave, enter]
            if ratio < nearest - 1e-12 or (ratio <= nearest + 1e-12 and better):
                leave, nearest = r, min(ratio, nearest)
        if leave == height:
            return False
        degenerate_steps = degenerate_steps + 1 if nearest <= 1e-13 else 0
        swap_basis(table, leave, enter, rows, columns)
    return False


def swap_basis(table: Any, row: int, column: int, rows: Any, columns: Any) -> None:
    """Pivot: swap the variables of a row and of a column."""
    rows[row], columns[column] = columns[column], rows[row]
    pivot = table[row, column]
    for c in range(table.shape[1]):
        table[row, c] /= pivot
    table[row, column] = 1.0 / pivot
    for r in range(table.shape[0]):
        factor = table[r, column]
        if r != row and factor != 0.0:
            for c in range(table.shape[1]):
                table[r, c] -= factor * table[row, c]
            table[r, column] = -factor / pivot
