"""Proximal policy optimisation (PPO) of the first plays of a round of Duel against a fixed policy; needs torch.

Thousands of rounds go on side by side in compiled code. A network is asked for each of them what to choose next; all
that it is shown is where the learner knows each card to be, and what is asked.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from piste.core.protocols import HIDDEN
from piste.games.mccoy_duel.rules import Options
from piste.games.mccoy_duel.solver.infosets import Array, PossibleStates
from tools.duel_blueprint import kernels
from tools.duel_kernels import FEATURES, PLACES, STACK_WIDTH, Policy

torch: Any = import_module("torch")  # of no use to mypy where it is not installed

ROUNDS = 4096  # side by side
STEPS = 16  # in each of them before the network is updated
UPDATES = 40
EPOCHS, BATCH = 4, 8192
WIDTH = 256
RATE, CLIP, ENTROPY = 1e-3, 0.2, 0.01
NEVER = -1e9  # the logit of a place that is not open
ASKED = 400_000  # choices of the network at the end, to learn at which information sets it is asked


def network() -> Any:
    """Return a network that says, of features, the logits of all places and the chance to win."""
    return torch.nn.Sequential(
        torch.nn.Linear(FEATURES, WIDTH), torch.nn.ReLU(),
        torch.nn.Linear(WIDTH, WIDTH), torch.nn.ReLU(),
        torch.nn.Linear(WIDTH, PLACES + 1),
    )  # fmt: skip


def policy_and_value(net: Any, features: Any, legal: Any) -> tuple[Any, Any]:
    """Return the distribution of the choices that are open, and the chances to win."""
    outputs = net(features)
    logits = outputs[:, :PLACES].masked_fill(~legal, NEVER)
    return torch.distributions.Categorical(logits=logits), outputs[:, PLACES]


class Rounds:
    """Rounds side by side in which the learner is to choose."""

    def __init__(
        self, options: Options, states: PossibleStates, opening: Policy, opening_plays: int, late: Policy, seat: int,
        free: int,
    ) -> None:  # fmt: skip
        self._fixed = options, states.rows, states.sums, opening, late, seat, free, opening_plays, 11
        self._counters = np.arange(ROUNDS, dtype=np.int64) << 40
        self._stack = np.zeros((ROUNDS, STACK_WIDTH), np.int64)
        self.keys, self._open, self.rewards = (
            np.zeros(ROUNDS, np.int64), np.zeros(ROUNDS, np.int64), np.zeros(ROUNDS)
        )  # fmt: skip
        self._options, self._seat = options, seat
        self.step(np.full(ROUNDS, HIDDEN, np.int64))

    def step(self, actions: Array) -> None:
        """Take a choice in each round; `rewards` is 0 or 1 where that round is over and another one has begun."""
        kernels().run_episodes(
            *self._fixed, self._counters, actions, self._stack, self.keys, self._open, self.rewards
        )

    def seen(self) -> tuple[Any, Any]:
        """Return what the network is shown, and which places are open."""
        features = np.zeros((ROUNDS, FEATURES), np.float32)
        kernels().encode_moments(self._options, self._stack, self._seat, features)
        legal = (self._open[:, None] >> np.arange(PLACES) & 1).astype(bool)
        return torch.from_numpy(features), torch.from_numpy(legal)


def learn(
    options: Options, states: PossibleStates, opening: Policy, opening_plays: int, late: Policy, seat: int, free: int
) -> tuple[Array, Array]:
    """Return the information sets to which the learner comes, and what its network chooses there."""
    torch.manual_seed(1)
    torch.set_num_threads(1)
    net = network()
    optimiser = torch.optim.Adam(net.parameters(), RATE)
    rounds = Rounds(options, states, opening, opening_plays, late, seat, free)
    for update in range(UPDATES):
        for group in optimiser.param_groups:
            group["lr"] = RATE * (1 - update / UPDATES)
        improve(net, optimiser, played(net, rounds))
    return asked(net, rounds)


def played(net: Any, rounds: Rounds) -> list[Any]:
    """Play on in all rounds; return features, open places, choices, their log-probabilities, returns and values.

    Between two choices of a round nothing is won, so the return of a choice is how its round ends. Choices of rounds
    that are not over at the end are left out.
    """
    kept: list[list[Any]] = []
    for _ in range(STEPS):
        features, legal = rounds.seen()
        with torch.no_grad():
            choice, values = policy_and_value(net, features, legal)
            actions = choice.sample()
        rounds.step(actions.numpy())
        kept.append(
            [features, legal, actions, choice.log_prob(actions), torch.from_numpy(rounds.rewards.copy()), values]
        )
    returns = torch.full((ROUNDS,), -1.0, dtype=torch.float64)
    for step in reversed(kept):
        returns = torch.where(step[4] >= 0, step[4], returns)
        step[4] = returns.float()
    columns = [torch.cat(column) for column in zip(*kept, strict=True)]
    known = columns[4] >= 0
    return [column[known] for column in columns]


def improve(net: Any, optimiser: Any, batch: list[Any]) -> None:
    """Take the steps of one update: the clipped objective, the squared error of the value, and a little entropy."""
    features, legal, actions, before, returns, values = batch
    advantages = returns - values
    advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
    for _ in range(EPOCHS):
        for part in torch.randperm(len(actions)).split(BATCH):
            choice, value = policy_and_value(net, features[part], legal[part])
            ratio = (choice.log_prob(actions[part]) - before[part]).exp()
            gain = torch.min(ratio * advantages[part], ratio.clamp(1 - CLIP, 1 + CLIP) * advantages[part])
            loss = ((value - returns[part]) ** 2).mean() - gain.mean() - ENTROPY * choice.entropy().mean()
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()


def asked(net: Any, rounds: Rounds) -> tuple[Array, Array]:
    """Let the network play on; return the information sets at which it was asked, and its probabilities."""
    found: dict[int, Array] = {}
    for _ in range(ASKED // ROUNDS):
        features, legal = rounds.seen()
        with torch.no_grad():
            choice, _ = policy_and_value(net, features, legal)
            actions = choice.sample()
        for key, row in zip(rounds.keys.tolist(), choice.probs.numpy(), strict=True):
            found.setdefault(key, row)
        rounds.step(actions.numpy())
    return np.array(list(found)), np.array(list(found.values()))
