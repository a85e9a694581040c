"""Plays every game at random through PettingZoo, and says how the games went: `python random_pettingzoo.py 100`."""

from __future__ import annotations

import sys

import pettingzoo

import piste
import piste.rl.pettingzoo  # registers the games


def main(games: int) -> None:
    for name in piste.names():
        env = pettingzoo.make("aec", f"piste/{name}-v0")
        won = dict.fromkeys(env.possible_agents, 0)
        decisions = 0
        for number in range(games):
            env.reset(seed=number)
            for seat, agent in enumerate(env.agents):
                env.action_space(agent).seed(1000 * seat + number)  # so that the choices are the same each time, too
            for agent in env.agent_iter():
                observation, reward, terminated, truncated, _ = env.last()
                if terminated or truncated:
                    won[agent] += reward > 0
                    action = None  # an agent whose game is over only leaves
                else:
                    action = env.action_space(agent).sample(observation["action_mask"])
                    decisions += 1
                env.step(action)
        env.close()
        wins = ", ".join(f"{agent} won {count}" for agent, count in won.items())
        print(f"{name}: {games} games, {decisions} decisions, {wins}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100)
