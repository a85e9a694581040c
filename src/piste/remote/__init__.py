"""Seats at tables of other computers, over the API of `piste serve`. The standard library is enough for it."""
