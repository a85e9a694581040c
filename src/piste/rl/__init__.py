"""piste's games in the shape of the libraries that learners and researchers use.

Each module is an edge: it holds no rule, and shows a seat what the game's own view shows it. Nothing is imported
here, so that each needs only the library it serves.
"""
