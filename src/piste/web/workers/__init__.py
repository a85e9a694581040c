"""Processes in which bots, hints and reviews are computed."""
