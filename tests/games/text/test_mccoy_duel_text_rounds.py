"""Duel in words: a whole round for two and one for three, as one of the players reads it."""

from __future__ import annotations

from piste import Position, Table
from piste.core.dealer import ScriptedDealer
from piste.core.presentation import Row
from tests.games.text.test_mccoy_duel_text import Terminal, last, play, row, words

TWO_PLAYERS = """\
Welcome to Duel!
Duel is a game by Sean McCoy: https://www.tuesdayknightgames.com/

Best of 5 rounds.
Player 1 has amber (a).
Player 2 has blue (b).
Player 1 reveals 3.
You reveal 3.
A tie for lowest: Player 1 and you.
Player 1 reveals *.
You reveal 2.
You have the lowest card.

Player 2 picks who goes first.
Choose who goes first:
[1] Player 1
[2] Player 2
Enter choice (1/2): 1
You pick Player 1 to go first.

Round 1 begins.
Player 1 buries a card.
You bury 7.
Player 1 plays 6, Disarm:
  Opponent buries a card at random.
You bury * at random.

Player 2's turn.
Round: 1 (best of 5)
Player 1: 7 cards (0 rounds won)
Player 2: 7 cards (0 rounds won)
Tower: 6a
Power to beat: 6
Buried: 3 cards (you know 7b *b)
Your hand: 0 1 2 3 4 5 6
You can play: 0 1 2 3 4 5
Play which card? 5
You play 5, Change Stance:
  The next card played must be greater than 5.
Player 1 plays *, Dodge:
  Trumps the last card played. Then counts as an 8.

Player 2's turn.
Round: 1 (best of 5)
Player 1: 6 cards (0 rounds won)
Player 2: 6 cards (0 rounds won)
Tower: 6a 5b *a
Power to beat: 8 (no 0 after the trump)
Buried: 3 cards (you know 7b *b)
Your hand: 0 1 2 3 4 6
You can play: 1 2 3 4 6
Play which card? copycat
You play 4, Copycat:
  Copy the ability of any face up card.
You can copy: 6a 5b *a
Copy which card? 5
You copy 5b, Change Stance:
  The next card played must be greater than 5.
Player 1 plays 7, Backstab:
  Opponent gives you a card of their choice.

Player 2 gives a card to Player 1.
Round: 1 (best of 5)
Player 1: 5 cards (0 rounds won)
Player 2: 5 cards (0 rounds won)
Tower: 6a 5b *a 4b 7a
Power to beat: 7
Buried: 3 cards (you know 7b *b)
Your hand: 0 1 2 3 6
You can give: 0 1 2 3 6
Give which card? 0
You give 0 to Player 1.

Player 2's turn.
Round: 1 (best of 5)
Player 1: 6 cards (0 rounds won)
Player 2: 4 cards (0 rounds won)
Tower: 6a 5b *a 4b 7a
Power to beat: 7
Buried: 3 cards (you know 7b *b)
Your hand: 1 2 3 6
You can play: 1 2 3 6
Play which card? 3
You play 3, Feint:
  Play an opponent's random card and ignore the ability.
Player 1's 1 is played. Its ability is ignored.
Player 1 plays 0b, The Killing Blow:
  Bury a face up card.
Player 1 buries *a.
You cannot play and are out of the round.
Player 1 wins round 1.
Rounds won, best of 5: Player 1 (1), Player 2 (0).
Player 1's hand: 0 2 3 5
Player 2's hand: 1 2 6
Buried: 4a 7b *a *b

Round 2 begins.
Player 1 buries a card.
You bury 3.

Player 2 picks who goes first.
Round: 2 (best of 5)
Player 1: 8 cards (1 round won)
Player 2: 8 cards (0 rounds won)
Tower: empty
Power to beat: none (any card may lead)
Buried: 2 cards (you know 3b)
Your hand: 0 1 2 4 5 6 7 *
Choose who goes first:
[1] Player 1
[2] Player 2
Enter choice (1/2): 2
You pick to go first."""

ROUND_FOR_TWO = (
    "reveal:3a reveal:3b reveal:*a reveal:2b 2:1 bury:4a bury:7b 1:6 target:2 disarm:*b 2:5 1:* 2:copycat 2:5 "
    "1:7 target:2 2:0 2:3 target:1 feint:1a 1:0b 1:*a next:round bury:0a bury:3b 2:2"
)

THREE_PLAYERS = """\
Welcome to Duel!
Duel is a game by Sean McCoy: https://www.tuesdayknightgames.com/

Best of 1 round.
Player 1 has amber (a).
Player 2 has blue (b).
Player 3 has crimson (c).
Player 1 will go first.

Round 1 begins.
You bury 6.
Player 2 buries a card.
Player 3 buries a card.

Player 1's turn.
Round: 1 (best of 1)
Player 1: 8 cards (0 rounds won)
Player 2: 8 cards (0 rounds won)
Player 3: 8 cards (0 rounds won)
Tower: empty
Power to beat: none (any card may lead)
Buried: 3 cards (you know 6a)
Your hand: 0 1 2 3 4 5 7 *
You can play: 0 1 2 3 4 5 7 *
Play which card? 7
You play 7, Backstab:
  Opponent gives you a card of their choice.
Choose an opponent:
[2] Player 2, 8 cards
[3] Player 3, 8 cards
Enter choice (2/3): 3
You choose Player 3.
Player 3 gives you 5c.
Player 2 plays 6, Disarm:
  Opponent buries a card at random.
Player 2 chooses you.
You bury 0 at random.
Player 3 plays 4, Copycat:
  Copy the ability of any face up card.
Player 3 copies 7a, Backstab:
  Opponent gives you a card of their choice.
Player 3 chooses Player 2.
Player 2 gives a card to Player 3.

Player 1's turn.
Round: 1 (best of 1)
Player 1: 7 cards (0 rounds won)
Player 2: 6 cards (0 rounds won)
Player 3: 7 cards (0 rounds won)
Tower: 7a 6b 4c
Power to beat: 4
Buried: 4 cards (you know 0a 6a)
Your hand: 1 2 3 4 5a 5c *
You can play: 1 2 3 *
Play which card? 2
You play 2, Precision Strike:
  Put a face up card in your hand.
You can take: 7a 6b 4c
Take which card? 4c
You take 4c.
Player 2 plays 1, Hidden Strength:
  Draw a buried card.
Player 2 draws a buried card.
Player 3 plays *b, Dodge:
  Trumps the last card played. Then counts as an 8.

Player 1's turn.
Round: 1 (best of 1)
Player 1: 7 cards (0 rounds won)
Player 2: 6 cards (0 rounds won)
Player 3: 6 cards (0 rounds won)
Tower: 7a 6b 2a 1b *b
Power to beat: 8 (no 0 after the trump)
Buried: 3 cards (0a 6a if not drawn since)
Your hand: 1 3 4a 4c 5a 5c *
You can play: 1 3 4a 4c 5a 5c *
Play which card? 3
You play 3, Feint:
  Play an opponent's random card and ignore the ability.
Choose an opponent:
[2] Player 2, 6 cards
[3] Player 3, 6 cards
Enter choice (2/3): 2
You choose Player 2.
Player 2's 0a is played. Its ability is ignored.
Player 2 cannot play and is out of the round.
Player 3 cannot play and is out of the round.

Player 1 wins round 1.
Rounds won, best of 1: Player 1 (1), Player 2 (0), Player 3 (0).
Player 1 wins!
Player 1's hand: 1 4a 4c 5a 5c *
Player 2's hand: 0 2 4 5 7
Player 3's hand: 0 1 2 3 6 7
Buried: 3b 6a *c"""

ROUND_FOR_THREE = (
    "bury:6a bury:3b bury:*c 1:7 1:3 3:5 2:6 2:1 disarm:0a 3:4 3:7a 3:2 2:* "
    "1:2 1:4c 2:1 draw:0a 3:*b 1:3 1:2 feint:0a"
)


def test_a_round_for_two_reads_as_written_here() -> None:
    assert "\n".join(play(ROUND_FOR_TWO, 1).lines) == TWO_PLAYERS


def test_a_round_for_three_reads_as_written_here() -> None:
    assert "\n".join(play(ROUND_FOR_THREE, 0, first=1, players=3, rounds=1).lines) == THREE_PLAYERS


def laid(position: str, *outcomes: int) -> Terminal:
    """Return Player 1's screen of a table that begins at this position."""
    start = Position.parse(f"mccoy-duel{{}} {position}")
    return Terminal(Table(start.game, start.state.options, ScriptedDealer(outcomes), origin=start.state), 0)


def test_d17_of_a_tower_laid_by_hand_only_the_top_has_a_place() -> None:
    screen = laid(
        "1=0a,1a,6a,7a,*a 2=1b,2b,4b,5b,6b,7b,*b up=2a,3a,4a,5a,3b buried=0b top=3b power=3 demand=plain "
        "phase=play to=1 in=12 match=12 out=0,0 wins=0,0"
    )
    assert row(screen, "Tower").cells == ("5a", "4a", "3a", "2a", "3b")  # by power, the top last
    assert row(screen, "Buried") == Row("Buried", ("1 card",), "")
    screen.table.decide(0, "*")
    assert row(screen, "Tower").cells == ("5a", "4a", "3a", "2a", "3b", "*a")


def test_d2_who_is_lowest_is_not_guessed_where_the_first_cards_were_not_told() -> None:
    middle = "up=- buried=- top=- power=lead demand=plain phase=reveal to=- in=12 match=12 out=0,0 wins=0,0"
    screen = laid(f"1=- 2=- {middle} shown=4a/- waiting=2 low=4 lows=1", 9 + 6)
    assert last(screen, 1) == ["Player 2 reveals 6."]
    assert screen.table.to_act == 0


def test_d2_before_the_bury_the_table_shows_the_cards_revealed() -> None:
    screen = play("reveal:3a reveal:3b reveal:*a reveal:2b", 0)
    assert words.picture(screen.table.view(0), screen.names) == [
        Row("Turn", ("Player 2",), "picks who goes first"),
        Row("Round", ("1",), "best of 5"),
        Row("Player 1", ("3", "*"), "revealed"),
        Row("Player 2", ("2", "3"), "revealed"),
    ]
