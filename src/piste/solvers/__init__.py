"""Solvers for any game: they know its rules by the contract of `core/protocols.py` and nothing else."""
