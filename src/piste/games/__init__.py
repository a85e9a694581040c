"""A room for each game: its rules, its words and, where it has one, its solver."""
