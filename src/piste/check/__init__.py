"""Checks of any game: its rules, its secrets, its notation and its records, as `piste check` and pytest run them."""
