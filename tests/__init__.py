"""Tests: folders as in `src/piste`; what holds for every game or for the whole tree stands here."""

from pathlib import Path

ROOT = Path(__file__).parents[1]
