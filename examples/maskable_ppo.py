"""Train a maskable PPO (sb3-contrib) against a bot and measure it. The tests leave it out: torch is too heavy.

make ppo                                          # installs what it needs into .venv, then runs this
python examples/maskable_ppo.py [GAME] [OPPONENT] [STEPS]
"""

from __future__ import annotations

import sys

import gymnasium
from sb3_contrib import MaskablePPO


def play(model: MaskablePPO, env: gymnasium.Env, games: int) -> float:
    """Return the mean payoff of the trained policy over some games."""
    total = 0.0
    for number in range(games):
        seen, _ = env.reset(seed=1_000_000 + number)
        over = cut = False
        while not (over or cut):
            action, _ = model.predict(seen, action_masks=env.get_wrapper_attr("action_masks")())
            seen, reward, over, cut, _ = env.step(int(action))
            total += float(reward)
    return total / games


if __name__ == "__main__":
    name, opponent, steps = (*sys.argv[1:], *("PositiveNegative", "steady", "20000")[len(sys.argv) - 1 :])
    env = gymnasium.make(f"piste.rl.gymnasium:piste/{name}-v0", opponent=opponent)
    model = MaskablePPO("MultiInputPolicy", env, n_steps=512, seed=1, device="cpu")
    print(f"{name} against {opponent}: mean payoff {play(model, env, 300):+.3f} before")
    model.learn(int(steps))
    print(f"{name} against {opponent}: mean payoff {play(model, env, 300):+.3f} after {steps} decisions")
