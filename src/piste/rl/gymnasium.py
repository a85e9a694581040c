"""Every game as a Gymnasium environment: one learner, with bots on the other seats. Importing this registers them.

import gymnasium
import piste.rl.gymnasium

env = gymnasium.make("piste/PrimeDuel-v0", opponent="steady")
seen, info = env.reset(seed=1)
"""

from __future__ import annotations

from typing import Any

from piste import bots
from piste.core.errors import IllegalDecisionError, OptionError
from piste.core.evaluation import quiet
from piste.core.extras import GYMNASIUM, load
from piste.core.game import names, quoted

load(GYMNASIUM)

import gymnasium
import numpy as np
from numpy.typing import NDArray

from piste.rl import episode
from piste.rl.episode import MAX_SKIPPED_GAMES, RENDER_MODES, Episode, Seen, render_mode_of, whole

VERSION = 0
"""Goes up when the behaviour of an environment changes."""

ERROR, RESIGN = "error", "resign"
"""What an action that is not open can mean: it is refused, or the learner gives the game up with it."""


class LearnerEnv(gymnasium.Env[Seen, Any]):
    """A game in which one seat is the learner's and bots have the others."""

    metadata = {"render_modes": list(RENDER_MODES), "render_fps": 1}  # noqa: RUF012  # as the library declares it

    def __init__(
        self,
        game: str,
        opponent: str | bots.Bot | None = None,
        seat: int | None = None,
        illegal: str = ERROR,
        render_mode: str | None = None,
        **options: int | str,
    ) -> None:
        self._episode = Episode(game, options)
        self.render_mode = render_mode_of(render_mode)
        self._fixed_seat = None if seat is None else whole(seat, "A seat")
        if self._fixed_seat is not None and not 0 <= self._fixed_seat < self._episode.seats:
            title = self._episode.game.notation.TITLE
            raise OptionError(
                f"There is no seat {quoted(seat)} in {title}: seats are 0 to {self._episode.seats - 1}."
            )
        if illegal not in (ERROR, RESIGN):
            raise OptionError(f"illegal cannot be {quoted(illegal)}: it is {ERROR} or {RESIGN}.")
        self._illegal = illegal
        self._seat = 0
        self._skipped = 0
        self._opponent = bots.usual(self._episode.game) if opponent is None else opponent
        self._bots: dict[int, bots.Bot] = {}
        bot = self._make_bot()  # so that an unknown bot is refused now
        bots.prepare(bot, self._episode.options, quiet)
        self._close_bot(bot)
        self.observation_space = episode.observation_space(self._episode.encoder)
        self.action_space = episode.action_space(self._episode.encoder)

    @property
    def seat(self) -> int:
        """The learner's seat in this game."""
        return self._seat

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Seen, dict[str, Any]]:
        """Begin a game: the first of this seed's row or, without a seed, the next one.

        Bots play up to the learner's first decision. A game in which there is none is passed over.
        """
        super().reset(seed=seed, options=options)
        self._skipped = 0
        for _ in range(MAX_SKIPPED_GAMES):
            self._close_bots()
            self._episode.begin(seed)
            self._skipped += self._episode.skipped
            random_seat = self._episode.stream("learner").below(self._episode.seats)
            self._seat = random_seat if self._fixed_seat is None else self._fixed_seat
            self._play_bots()
            if self._episode.to_act is not None:
                return self._observation()
            self._skipped += 1
            seed = None
        raise OptionError(f"With these options, the learner had nothing to decide in {MAX_SKIPPED_GAMES} games.")

    def step(self, action: Any) -> tuple[Seen, float, bool, bool, dict[str, Any]]:
        """Take the learner's action, then let the bots play up to its next one, or to the end."""
        if self._episode.over:
            raise IllegalDecisionError("The game is over: call reset().")
        try:
            self._episode.decide(action)
        except IllegalDecisionError as e:
            if self._illegal == ERROR:
                raise IllegalDecisionError(f"{e} (With illegal='{RESIGN}' it would lose the game instead.)") from None
            self._episode.resign(self._seat)
        self._play_bots()
        over, cut = self._episode.over, self._episode.cut()
        seen, info = self._observation()
        return seen, float(self._episode.payoffs()[self._seat]), over and not cut, cut, info

    def action_masks(self) -> NDArray[np.bool_]:
        """Return the mask of the learner's legal actions, under the name that sb3-contrib uses."""
        mask: NDArray[np.int8] = self._episode.seen(self._seat)["action_mask"]
        return mask.astype(np.bool_)

    def _observation(self) -> tuple[Seen, dict[str, Any]]:
        if self.render_mode == "human":
            self.render()
        return self._episode.seen(self._seat), {"seat": self._seat, "skipped": self._skipped}

    def render(self) -> str | None:
        """Return or print what the learner sees."""
        return self._episode.render(self.render_mode, self._seat)

    def close(self) -> None:
        """Close the bots; a bot program is ended."""
        self._close_bots()

    def _play_bots(self) -> None:
        """Let bots decide until it is the learner's turn, or the game is over."""
        while (actor := self._episode.to_act) not in (None, self._seat):
            assert actor is not None
            if actor not in self._bots:
                self._bots[actor] = self._make_bot()
            view = self._episode.view(actor).complete()
            # A stream of its own for each decision: the same seed and the same actions give the same game.
            self._episode.decide(self._bots[actor].choose(view, self._episode.stream(bots.stream_name(view))))
        if self._episode.to_act is None:
            for seat, bot in self._bots.items():
                if bot is not self._opponent:
                    bots.finish(bot, self._episode.view(seat))
            self._bots = {}

    def _make_bot(self) -> bots.Bot:
        bot = self._opponent
        return bots.find(bot, self._episode.game, self._episode.options) if isinstance(bot, str) else bot

    def _close_bots(self) -> None:
        for bot in self._bots.values():
            self._close_bot(bot)
        self._bots = {}

    def _close_bot(self, bot: bots.Bot) -> None:
        """Close a bot, unless the caller passed it and closes it."""
        if bot is not self._opponent:
            bot.close()

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_bots": {}}  # made again when they next have to decide


def env_id(name: str) -> str:
    """Return the id of a game: PrimeDuel for prime-duel."""
    return f"piste/{''.join(word.capitalize() for word in name.split('-'))}-v{VERSION}"


for _name in names():
    if env_id(_name) not in gymnasium.registry:
        gymnasium.register(env_id(_name), f"{__name__}:{LearnerEnv.__name__}", kwargs={"game": _name})
