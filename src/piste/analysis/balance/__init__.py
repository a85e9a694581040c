"""The balance report: whether a game is fair, how long it lasts, and how much skill there is in it."""
