"""Duel's observations as numbers, and the bounds of everything in them.

Cards and players stand in the order of their numbers, not with one's own first: so a card's place here is the number
of the decision to play it, and a player's place that of the decision to choose them.
"""

from __future__ import annotations

from piste.core.bits import count
from piste.core.observation import alone, amounts, flags, one_of
from piste.games.mccoy_duel.notation import DEMANDS, PHASES, POWERS, SEATS, card_name
from piste.games.mccoy_duel.rules import SEAT, Options, State

SHOWN = ("hands", "grave")

CARD_KEEPING_POWERS = 1 << 1 | 1 << 2 | 1 << 4  # the powers that may leave as many cards in hands as there were (D18)


def actions(options: Options) -> int:
    return SEAT + 4  # all cards of four colours, and the players


chances = actions


def longest(options: Options) -> tuple[int, int]:
    """The bound of D18 on plays in a round; a play asks at most for a card to copy, a target and a card to give."""
    n, powers = options.players, count(options.powers)
    cards = n * (powers - 1)
    plays = cards + count(options.powers & CARD_KEEPING_POWERS) * (cards + 1)
    rounds = (options.rounds // 2) * n + 1  # nobody has more than half until the last
    reveals = 0 if options.first else powers * n + 1
    return rounds * (1 + 4 * plays), reveals + rounds * (n + 3 * plays + 1)


def cut(s: State) -> int:
    return 0  # it always ends by itself


def players(options: Options) -> tuple[str, ...]:
    return SEATS[: options.players]


def cards(options: Options) -> list[str]:
    return [card_name(options, i) for i in range(9 * options.players)]


LAYOUT = (
    one_of("phase", "what happens next", lambda v: v.phase, lambda _: PHASES),
    one_of("me", "which player this seat is", lambda v: v.viewer, players),
    one_of("turn", "whose turn it is, who picks, or who has won the round", lambda v: v.seat, players),
    one_of("target", "on whom an ability acts", lambda v: v.target, players),
    one_of("ability", "the ability that asks for a target", lambda v: v.ability, lambda _: POWERS),
    flags("hand", "the cards this seat holds", lambda v: v.hand, cards),
    flags("up", "the face-up cards of the tower", lambda v: v.up, cards),
    one_of("top", "the card played last", lambda v: v.top, cards),
    one_of("power", "the power to beat", lambda v: v.power, lambda _: (*POWERS, "any")),
    one_of("demand", "what the next card must be besides", lambda v: v.demand, lambda _: DEMANDS),
    flags("revealed", "cards revealed to find out who picks",
          lambda v: v.revealed[0] | v.revealed[1] | v.revealed[2] | v.revealed[3], cards),
    amounts("sizes", "cards in each hand, of nine", lambda v: v.sizes, players, lambda _: 9, lambda o: 9 * o.players),
    amounts("buried", "buried cards, of all cards", lambda v: (v.buried,), alone, lambda o: 9 * o.players),
    flags("playing", "who is still in the round", lambda v: v.playing, players),
    flags("present", "who is still in the match", lambda v: v.present, players),
    amounts("out", "who lost this round as which, of all players", lambda v: v.out, players, lambda o: o.players),
    amounts("wins", "rounds won, of all rounds", lambda v: v.wins, players, lambda o: o.rounds),
)  # fmt: skip
