"""What Duel's solver needs: a compiler. Without one its search takes about a hundred times as long."""

from __future__ import annotations

from piste.core.extras import NUMBA
from piste.games.mccoy_duel.rules import Options


def solver(options: Options) -> tuple[str, ...]:  # noqa: ARG001
    return NUMBA
