"""Analysis of games: the coach, balance reports, and matches between bots."""
