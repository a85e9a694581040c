"""How piste's own solvers play, as a policy for OpenSpiel: for its best responses, tournaments and comparisons."""

from __future__ import annotations

from typing import Any

from piste.core.extras import solver_of
from piste.core.information_set import InformationSet
from piste.rl.openspiel import PisteGame, PisteState  # first, for its sentence where OpenSpiel is missing

from open_spiel.python import policy  # isort: skip


class SolverPolicy(policy.Policy):  # type: ignore[misc]
    """Plays the mixed strategy of the game's solver at every information state."""

    def __init__(self, game: PisteGame) -> None:
        super().__init__(game, list(range(game.num_players())))
        self._solver: Any = solver_of(game.spec.game, game.spec.options)
        self._mixes: dict[tuple[int, str], dict[int, float]] = {}

    def value(self, seat: int = 0) -> float:
        """Return the solver's value of the game to a seat: its payoff, or where chances say all, wins less losses."""
        spec = self.game.spec
        evaluation = self._solver.evaluate(InformationSet.of(spec.game, spec.first.view(seat)))
        return float(evaluation.chances.value if evaluation.payoff is None else evaluation.payoff.mean)

    def action_probabilities(self, state: PisteState, player_id: int | None = None) -> dict[int, float]:
        seat = state.current_player() if player_id is None else player_id
        key = seat, state.information_state_string(seat)
        if key not in self._mixes:
            game = state.node.spec.game
            evaluation = self._solver.evaluate(InformationSet.of(game, state.node.view(seat)))
            mix = {choice.action: choice.mix for choice in evaluation.choices}
            total = sum(mix.values())
            self._mixes[key] = {action: mix.get(action, 0.0) / total for action in state.legal_actions(seat)}
        return self._mixes[key]
