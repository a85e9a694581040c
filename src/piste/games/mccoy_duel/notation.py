"""Sean McCoy's Duel: how its options, decisions and positions are written.

A card is its power and the letter of its colour: `5b` is the blue five, `*a` the amber trump.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache

from piste.core.bits import count, lane, lane_one
from piste.core.errors import DealError, PositionError
from piste.core.game import Deal, Each, Option, members, quoted, tidy
from piste.core.position import Fields
from piste.core.protocols import HIDDEN
from piste.games.mccoy_duel import rules
from piste.games.mccoy_duel.rules import DONE, LEAD, PICK, PLAY, SEAT, TRUMP, Four, Options, State, Tower, View

TITLE = "Duel"
LINE = "Play a lower card, use its ability, and be the last one who can play. For 2 to 4."
CREDIT = "Duel is a game by Sean McCoy: https://www.tuesdayknightgames.com/"
SEATS = ("1", "2", "3", "4")
KINDS = (
    "reveal", "lot", "pick", "bury", "play", "kill", "take", "copy",
    "target", "feint", "draw", "disarm", "give", "next",
)  # fmt: skip
PHASES = (*KINDS, "over")
REASONS = {rules.ROUNDS_WON: "rounds won", rules.RESIGNED: "resigned"}
LAID = "deck"
COLOURS = ("amber", "blue", "crimson", "dun")
POWERS = "01234567*"
DEMANDS = ("plain", "trumped", "stance")
NAMES = (
    "The Killing Blow", "Hidden Strength", "Precision Strike", "Feint", "Copycat",
    "Change Stance", "Disarm", "Backstab", "Dodge",
)  # fmt: skip
WORDS = ("Bury", "Draw", "Take", "Feint", "Copy", "Stance", "Disarm", "Demand", "Trump")
"""What each ability does in a word, as a browser prints it on the card. The sheet's names are in NAMES."""

FROM_TOWER = (rules.KILL, rules.TAKE, rules.COPY)  # the phases that choose a card of the tower


def read_powers(text: str) -> int:
    if not text or any(letter not in POWERS for letter in text) or len(set(text)) != len(text):
        raise ValueError(f"write the cards that are in, each once, such as {POWERS}")
    return sum(1 << POWERS.index(letter) for letter in text)


def write_powers(powers: int) -> str:
    return "".join(POWERS[power] for power in members(powers))


def read_colours(text: str) -> int:
    letters = [colour[0] for colour in COLOURS]
    named = text.split(",")
    text = "".join(name[0] for name in named) if all(name in COLOURS for name in named) else text
    if not 1 <= len(text) <= 4 or any(letter not in letters for letter in text) or len(set(text)) != len(text):
        raise ValueError("write the letter of each seat's colour, such as ab or dcba, or names, such as blue,amber")
    given = [letters.index(letter) for letter in text]
    given += [colour for colour in range(4) if colour not in given]
    return sum(colour << (2 * seat) for seat, colour in enumerate(given))


def write_colours(colours: int) -> str:
    return "".join(COLOURS[(colours >> (2 * seat)) & 3][0] for seat in range(4))


COLOUR_OF_EACH = Each("colour", COLOURS)
OPTIONS = (
    Option("players", "how many play", 2, 4, label="Players"),
    Option(
        "rounds", "best of so many rounds, an odd number", 1, 9,
        label="Match", words={1: "one round"} | {n: f"best of {n} rounds" for n in (3, 5, 7, 9)},
    ),
    Option(
        "first", "who leads the first round", 0, 4, {"reveal": 0, "1": 1, "2": 2, "3": 3, "4": 4},
        label="First lead", words={0: "by showing a card each"} | {n: f"Player {n}" for n in (1, 2, 3, 4)},
    ),
    Option(
        "powers", "which cards are in", 1, 511, {}, read_powers, write_powers,
        label="Cards", note="everybody's; * is the trump",
    ),
    Option(
        "colours", "the colour of each seat", 0, 255, {}, read_colours, write_colours, each=COLOUR_OF_EACH,
        label="Colours",
    ),
)  # fmt: skip


def check(options: Options) -> str:
    if options.rounds % 2 == 0:
        return f"A match is best of an odd number of rounds, not of {options.rounds}."
    if options.first > options.players:
        return f"Player {options.first} cannot lead: there are {options.players} players."
    if count(options.powers) < 2:
        return "Each player needs at least two cards: one is buried before the first play."
    if len({(options.colours >> (2 * seat)) & 3 for seat in range(4)}) < 4:
        return "No two seats have the same colour."
    return ""


def colour_name(options: Options, card: int) -> str:
    return COLOURS[(options.colours >> (2 * (card // 9))) & 3]


@lru_cache(maxsize=4096)
def card_name(options: Options, card: int) -> str:
    return POWERS[card % 9] + colour_name(options, card)[0]


def cards_text(options: Options, cards: int) -> str:
    return ",".join(card_name(options, card) for card in by_power(cards)) or "-"


@lru_cache(maxsize=4096)  # the same hands are written again and again
def by_power(cards: int) -> tuple[int, ...]:
    """Return cards from the lowest power to the highest."""
    return tuple(sorted(members(cards), key=lambda card: (card % 9, card)))


def name(options: Options, kind: int, action: int) -> str:
    if kind == rules.NEXT:
        return "round"
    return SEATS[action - SEAT] if action >= SEAT else card_name(options, action)


def cards_to_choose(view: View) -> int:
    """Return the cards among which the viewer chooses now, playable or not."""
    return view.up if view.phase in FROM_TOWER else view.hand


def decisions(view: View, kind: int) -> Iterable[int]:
    if kind in (PICK, rules.TARGET):
        return range(SEAT, SEAT + view.options.players)
    # Cards that are there come first, so that a refusal speaks of those.
    return sorted(range(9 * view.options.players), key=lambda card: not cards_to_choose(view) >> card & 1)


PLAYERS = tuple((seat, f"player{seat}") for seat in SEATS)


def spell(view: View, action: int) -> tuple[str, ...]:
    if action >= SEAT:
        return PLAYERS[action - SEAT]
    same = same_power(view, action)
    return card_spellings(view.options, action, same & (same - 1) == 0)


@lru_cache(maxsize=4096)
def card_spellings(options: Options, card: int, alone: bool) -> tuple[str, ...]:
    """Return how a card may be written; `alone`: whether its power says which card it is."""
    full, power = card_name(options, card), card % 9
    short = [POWERS[power], NAMES[power], *(["trump"] if power == TRUMP else [])]
    long = [full, *(f"{name}{full[1]}" for name in short[1:])]
    return tuple(short + long if alone else long + short)


def same_power(view: View, card: int) -> int:
    """Return the cards of this power among which the viewer chooses."""
    return cards_to_choose(view) & rules.of_powers(1 << card % 9)


def why_not(view: View, action: int) -> str:
    if action >= SEAT:
        return f"You cannot choose Player {SEATS[action - SEAT]} here."
    others = same_power(view, action) & ~(1 << action)
    card = card_name(view.options, action) if others else POWERS[action % 9]
    if view.phase in FROM_TOWER:
        verb = ("bury", "take", "copy")[FROM_TOWER.index(view.phase)]
        if not view.up >> action & 1:
            return f"You cannot {verb} {card}: it does not lie face up."
        if view.phase == rules.COPY and action != view.top:
            return f"You cannot copy {card}: a 4 cannot be copied."
        return f"You cannot {verb} {card}: it is the card just played."
    if not view.hand >> action & 1:
        return f"You cannot {'give' if view.phase == rules.GIVE else 'play'} {card}: it is not in your hand."
    if view.demand == rules.STANCE:
        return f"You cannot play {card}: the next card must be greater than 5."
    if view.demand == rules.TRUMPED:
        return f"You cannot play {card}: a 0 may not follow the trump."
    return f"You cannot play {card}: the power to beat is {view.power}."


def read_card(options: Options, word: str) -> int:
    """Return a card by its full name; the text of a ValueError says what is wrong."""
    key = tidy(word)
    for card in range(9 * options.players):
        if key == card_name(options, card) and options.powers >> (card % 9) & 1:
            return card
    raise ValueError(f"{quoted(word)} is not a card of this game (write power and colour, such as 5a)")


def lay(options: Options, text: str) -> Deal:
    """Read the card that each player buries in the first round, in the order of seats; powers are enough."""
    words = text.replace(",", " ").split()
    if len(words) > (n := options.players):
        raise DealError(f"This deal names {len(words)} buried cards: there is one for each of {n} players.")
    cards = []
    for seat, word in enumerate(words):
        key = tidy(word)
        if len(key) not in (1, 2) or key[0] not in POWERS or not options.powers >> POWERS.index(key[0]) & 1:
            raise DealError(f"This deal cannot be laid: {quoted(word)} is not a card of this game.")
        card = 9 * seat + POWERS.index(key[0])
        if len(key) == 2 and key != card_name(options, card):
            raise DealError(f"This deal cannot be laid: {quoted(word)} is not Player {SEATS[seat]}'s colour.")
        cards.append(card)
    return Deal(rules.start(options), frozenset({rules.BURY}), tuple(cards))


def seats_text(players: int) -> str:
    return "".join(SEATS[seat] for seat in members(players)) or "-"


def fields(s: State) -> Mapping[str, str]:
    o, t, n = s.options, s.tower, range(s.options.players)
    texts = {SEATS[seat]: cards_text(o, s.hands[seat]) for seat in n}
    texts |= {
        "up": cards_text(o, t.up),
        "buried": cards_text(o, t.buried),
        "top": "-" if t.top == HIDDEN else card_name(o, t.top),
        "power": "lead" if t.power == LEAD else POWERS[t.power],
        "demand": DEMANDS[t.demand],
        "phase": PHASES[s.phase],
        "to": "-" if s.seat == HIDDEN else SEATS[s.seat],
        "in": seats_text(s.playing),
        "match": seats_text(s.present),
        "out": ",".join(str(lane(s.out, seat)) for seat in n),
        "wins": ",".join(str(lane(s.wins, seat)) for seat in n),
    }
    if s.target != HIDDEN:
        texts["target"] = SEATS[s.target]
    if s.ability != HIDDEN:
        texts["ability"] = POWERS[s.ability]
    if s.phase in (rules.REVEAL, rules.LOT, PICK, DONE) and s.reveal != rules.NOTHING:
        texts["shown"] = "/".join(cards_text(o, s.reveal.shown & rules.COLOUR << 9 * seat) for seat in n)
        texts["waiting"] = seats_text(s.reveal.waiting)
        texts["low"] = "-" if s.reveal.low == LEAD else POWERS[s.reveal.low]
        texts["lows"] = seats_text(s.reveal.lows)
    if s.phase == DONE:
        texts["reason"] = REASONS[s.reason].replace(" ", "-")
    return texts


def four(numbers: Iterable[int]) -> Four:
    """Return a number for each of four seats: 0 where nobody sits."""
    a, b, c, d = (*numbers, 0, 0, 0)[:4]
    return (a, b, c, d)


def build(options: Options, fields: Mapping[str, str]) -> State:
    f = Fields(fields)
    n = options.players
    names = SEATS[:n]

    def cards(key: str, words: list[str]) -> int:
        try:
            named = [read_card(options, word) for word in words]
        except ValueError as e:
            raise PositionError(f"In the field '{key}', {e}.") from None
        if len(set(named)) < len(named):
            raise PositionError(f"In the field '{key}', a card is there twice.")
        return sum(1 << card for card in named)

    def players(key: str) -> int:
        text = f.text(key)
        if text == "-":
            return 0
        if any(mark not in names for mark in text) or len(set(text)) < len(text):
            raise PositionError(f"The field '{key}' names seats, each once, such as {''.join(names)}.")
        return sum(1 << names.index(mark) for mark in text)

    def numbers(key: str, most: int) -> int:
        words = f.words(key)
        if len(words) != n or any(word not in map(str, range(most + 1)) for word in words):
            raise PositionError(f"The field '{key}' has a number from 0 to {most} for each of {n} players.")
        return sum(lane_one(seat) * int(word) for seat, word in enumerate(words))

    phase = f.choice("phase", PHASES)
    hands = four([cards(name, f.words(name)) for name in names])
    up, buried, tops = (cards(key, f.words(key)) for key in ("up", "buried", "top"))
    if count(tops) > 1:
        raise PositionError("The field 'top' holds one card.")
    power = f.choice("power", (*POWERS, "lead"))
    tower = Tower(up, buried, members(tops)[0] if tops else HIDDEN, power, f.choice("demand", DEMANDS))
    wins = numbers("wins", options.rounds // 2 + 1)
    seat = f.choice("to", ("-", *names)) - 1
    target = f.choice("target", ("-", *names), "-") - 1
    ability = f.choice("ability", ("-", *POWERS), "-") - 1
    playing, present, out = players("in"), players("match"), numbers("out", 4)
    reveal = rules.NOTHING
    if phase in (rules.REVEAL, rules.LOT, PICK, DONE) and "shown" in fields:
        shown = [cards("shown", [] if part == "-" else part.split(",")) for part in f.text("shown").split("/")]
        if len(shown) != n or any(part & ~(511 << 9 * i) for i, part in enumerate(shown)):
            raise PositionError(f"The field 'shown' has, between slashes, the cards that each of {n} players showed.")
        low = f.choice("low", (*POWERS, "-"))
        reveal = rules.Reveal(sum(shown), players("waiting"), low, players("lows"))
    reason = 0
    if phase == DONE:
        reason = 1 + f.choice("reason", tuple(text.replace(" ", "-") for text in REASONS.values()))
    f.end()
    s = State(options, phase, seat, target, ability, hands, tower, playing, present, out, wins, reveal, reason)
    complaint = broken_cards(s) or broken_tower(s) or broken_players(s) or broken_phase(s)
    if complaint:
        raise PositionError(complaint)
    return s


def broken_cards(s: State) -> str:
    """Return which card is twice or missing, or ""."""
    seen = 0
    for cards in (*s.hands, s.tower.up, s.tower.buried):
        if seen & cards:
            return f"The card {card_name(s.options, members(seen & cards)[0])} is in two places."
        seen |= cards
    for seat in range(4):
        whole = s.options.powers << 9 * seat
        if seen & whole not in (0, whole):
            return f"The card {card_name(s.options, members(whole & ~seen)[0])} is missing."
        if s.phase >= rules.BURY and s.phase != DONE and s.playing >> seat & 1 and not seen & whole:
            return f"Player {SEATS[seat]} is in the round without cards of their colour."
    if s.phase in (rules.REVEAL, rules.LOT) and seen:
        return "Before the bury no cards are in play."
    if s.phase in (rules.NEXT, DONE) and s.reason != rules.RESIGNED and not seen:
        return "A round that was won has cards."
    most = count(s.options.powers) - 1  # one is buried, and no play leaves a hand larger than it was (D18)
    for seat in range(4):
        held = count(s.hands[seat])
        if PLAY <= s.phase < DONE and held > most:
            return f"The hand of Player {SEATS[seat]} has {held} cards, but at most {most} are possible."
    leads = s.phase == PLAY and s.tower.top == HIDDEN and not s.tower.up
    if leads or (s.phase == PICK and s.tower.buried and not s.tower.up):
        for seat in range(4):
            whole = s.options.powers << 9 * seat
            if seen & whole and (s.hands[seat] & ~whole or count(s.hands[seat]) != count(whole) - 1):
                return f"Before the first play Player {SEATS[seat]} has all cards of their colour but the buried one."
    return ""


def broken_tower(s: State) -> str:
    t = s.tower
    if t.top == HIDDEN:
        return "" if t == t._replace(up=0, power=LEAD, demand=rules.PLAIN) else "A tower without a top card is empty."
    if not t.up >> t.top & 1:
        return "The top card of the tower does not lie face up."
    own = t.top % 9
    fits = {
        rules.PLAIN: t.power == own < TRUMP,
        rules.STANCE: own in (4, 5) and t.power == own,
        rules.TRUMPED: own in (4, TRUMP) and t.power == TRUMP,
    }
    return "" if fits[t.demand] else "The power to beat and the demand do not fit the top card."


def broken_players(s: State) -> str:
    n, need = s.options.players, s.options.rounds // 2 + 1
    if s.playing & ~s.present:
        return "A player who has left the match is still in the round."
    if (count(s.present) < 2) != (s.phase == DONE and s.reason == rules.RESIGNED):
        return "A match goes on while at least two players are in it, and ends when one is left."
    if s.phase in (PICK, rules.BURY) and s.playing != s.present:
        return "Before the first play everybody who is in the match is in the round."
    order = [rank for rank in (lane(s.out, seat) for seat in range(4)) if rank]
    if sorted(order) != list(range(1, len(order) + 1)):
        return "The field 'out' numbers the players who lost the round 1, 2 and so on."
    if (PLAY <= s.phase <= rules.NEXT or s.reason == rules.ROUNDS_WON) and any(
        (s.playing >> seat & 1) == (lane(s.out, seat) > 0) for seat in members(s.present)
    ):
        return "Who is in the round has not lost it, and who is not in it has."
    won = [lane(s.wins, seat) for seat in range(n)]
    if s.phase == DONE and s.reason == rules.ROUNDS_WON:
        if s.seat == HIDDEN or [w for w in range(n) if won[w] == need] != [s.seat]:
            return f"The winner of the match, and nobody else, has won {need} rounds."
    elif max(won) >= need:
        return f"{need} rounds win the match: it is over."
    if s.phase == DONE and s.reason == rules.RESIGNED and members(s.present) != [s.seat]:
        return "The winner is the one who is left."
    return ""


def broken_phase(s: State) -> str:
    """Return why the question that the position asks cannot be open, or ""."""
    there = s.present | s.playing
    who = f"Player {SEATS[s.seat]}" if s.seat != HIDDEN else "Nobody"
    if s.seat != HIDDEN and not there >> s.seat & 1:
        return f"{who} has left the match."
    if (s.ability != HIDDEN) != (s.phase == rules.TARGET):
        return "An ability is named where it asks for a target, and only there."
    first_round = s.phase in (rules.REVEAL, rules.LOT) or (s.phase == PICK and not s.tower.buried)
    if first_round and (s.wins or s.out or s.options.first):
        return "The reveal, and the pick that follows it, come before the first round, and only with first=reveal."
    if first_round and s.phase != PICK and count(s.present) < s.options.players:
        return "Nobody can have left during the reveal."
    if s.phase == PICK and s.tower.buried and (not s.wins or not s.out):
        return "Who goes first is picked after the bury only when a round has been played."
    if s.phase == rules.REVEAL:
        r = s.reveal
        unseen = [s.options.powers << 9 * seat & ~r.shown for seat in members(r.waiting)]
        fine = r.waiting and not r.waiting & ~s.present and all(unseen) and s.seat == HIDDEN
        return "" if fine else "The reveal waits for players who still have a card to show."
    if s.phase == rules.LOT:
        fine = count(s.reveal.lows) > 1 and not s.reveal.lows & ~s.present and s.seat == HIDDEN
        fine = fine and not any(s.options.powers << 9 * seat & ~s.reveal.shown for seat in members(s.reveal.lows))
        return "" if fine else "Lot decides among at least two players of the match who tied."
    if s.phase == rules.BURY:
        return broken_bury(s)
    if s.seat == HIDDEN:
        return "Somebody has to be named in the field 'to'."
    if s.phase in (PICK, rules.NEXT, DONE):
        if s.phase == PICK and s.tower.up:
            return "Who goes first is picked before the first play."
        if s.phase == rules.NEXT and (members(s.playing) != [s.seat] or not lane(s.wins, s.seat)):
            return "A round is over when one player is left in it, who has won it."
        return ""
    if count(s.playing) < 2:
        return "One player is left in the round: it is over."
    if not s.playing >> s.seat & 1:
        return f"{who} is out of the round."
    if s.phase in (rules.FEINT, rules.DISARM, rules.GIVE):
        if s.target in (HIDDEN, s.seat) or not s.playing >> s.target & 1:
            return "The ability acts on an opponent who is in the round."
    elif s.target != HIDDEN:
        return "Nothing acts on a player here."
    if s.phase != PLAY:
        return broken_ability(s)
    return "" if rules.choices(s) else f"{who} has no playable card and is out of the round (D15)."


def broken_bury(s: State) -> str:
    done = s.present & ((1 << max(s.target, 0)) - 1)
    fine = s.target != HIDDEN and s.present >> s.target & 1 and s.playing == s.present
    for seat in members(s.present):
        whole = s.options.powers << 9 * seat
        short = 1 if done >> seat & 1 else 0
        fine = fine and s.hands[seat] & ~whole == 0 and count(s.hands[seat]) == count(whole) - short
    later = any(lane(s.out, seat) for seat in members(s.present))
    fine = fine and (s.seat == HIDDEN) == later and bool(s.wins) == later
    return "" if fine and not s.tower.up else "Players bury one card each, in the order of their seats."


def broken_ability(s: State) -> str:
    phases = (rules.KILL, rules.DRAW, rules.TAKE, rules.FEINT, rules.COPY, HIDDEN, rules.DISARM, rules.GIVE)
    ability = s.ability if s.phase == rules.TARGET else phases.index(s.phase)
    if s.phase == rules.TARGET and ability not in (3, 6, 7):
        return "Only 3, 6 and 7 ask for a target."
    if s.tower.top == HIDDEN or s.tower.top % 9 not in (ability, 4) or s.tower.demand != rules.PLAIN:
        return f"The card just played does not have the ability of {POWERS[ability]}."
    return "" if rules.choices(s) else "The ability has nothing to act on, so the turn is over (D6)."
