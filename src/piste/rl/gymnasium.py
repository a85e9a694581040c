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

from piste.rl.episode import RENDER_MODES, TRIES, Episode, Seen, numbered, observed, render_mode_of, whole

VERSION = 0
"""Goes up when an environment behaves otherwise than before."""

ERROR, RESIGN = "error", "resign"
"""What an action that is not open can mean: it is refused, or the learner gives the game up with it."""


class LearnerEnv(gymnasium.Env[Seen, Any]):
    """A game in which one seat is the learner's and bots have the others."""

    metadata = {"render_modes": list(RENDER_MODES), "render_fps": 1}  # noqa: RUF012  # as the library declares it

    def __init__(
        self,
        game: str,
        opponent: str | bots.Bot = bots.USUAL,
        seat: int | None = None,
        illegal: str = ERROR,
        render_mode: str | None = None,
        **options: int | str,
    ) -> None:
        self._play = Episode(game, options)
        self.render_mode = render_mode_of(render_mode)
        self._given_seat = None if seat is None else whole(seat, "A seat")
        if self._given_seat is not None and not 0 <= self._given_seat < self._play.seats:
            title = self._play.game.notation.TITLE
            raise OptionError(f"There is no seat {quoted(seat)} in {title}: seats are 0 to {self._play.seats - 1}.")
        if illegal not in (ERROR, RESIGN):
            raise OptionError(f"illegal cannot be {quoted(illegal)}: it is {ERROR} or {RESIGN}.")
        self._illegal = illegal
        self._seat = 0
        self._skipped = 0
        self._opponent = opponent
        self._bots: dict[int, bots.Bot] = {}
        bot = self._found()  # so that one that cannot be had is refused now
        bots.prepare(bot, self._play.options, quiet)
        self._let_go(bot)
        self.observation_space = observed(self._play.encoder)
        self.action_space = numbered(self._play.encoder)

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
        for _ in range(TRIES):
            self._leave_bots()
            self._play.begin(seed)
            self._skipped += self._play.skipped
            drawn = self._play.stream("learner").below(self._play.seats)
            self._seat = drawn if self._given_seat is None else self._given_seat
            self._play_bots()
            if self._play.to_act is not None:
                return self._shown()
            self._skipped += 1
            seed = None
        raise OptionError(f"With these options, the learner had nothing to decide in {TRIES} games.")

    def step(self, action: Any) -> tuple[Seen, float, bool, bool, dict[str, Any]]:
        """Take the learner's action, then let the bots play up to its next one, or to the end."""
        if self._play.to_act is None:
            raise IllegalDecisionError("The game is over: call reset().")
        try:
            number = self._play.read(action)
        except IllegalDecisionError as e:
            if self._illegal == ERROR:
                raise IllegalDecisionError(f"{e} (With illegal='{RESIGN}' it would lose the game instead.)") from None
            self._play.resign(self._seat)
        else:
            self._play.decide(number)
        self._play_bots()
        ending = self._play.ending()
        cut = ending is not None and self._play.cut()
        reward = 0.0 if ending is None else float(ending.payoffs[self._seat])
        seen, info = self._shown()
        return seen, reward, ending is not None and not cut, cut, info

    def action_masks(self) -> NDArray[np.bool_]:
        """Return which actions are open to the learner, as maskable learners ask for it."""
        return self._play.mask(self._seat).astype(np.bool_)

    def _shown(self) -> tuple[Seen, dict[str, Any]]:
        if self.render_mode == "human":
            self.render()
        return self._play.seen(self._seat), {"seat": self._seat, "skipped": self._skipped}

    def render(self) -> str | None:
        """Return or print what the learner sees."""
        if self.render_mode is None:
            gymnasium.logger.warn("There is nothing to render: make the environment with a render_mode.")
            return None
        text = self._play.text(self._seat)
        if self.render_mode == "ansi":
            return text
        print(text)
        return None

    def close(self) -> None:
        """Let the bots go. A program that plays is ended."""
        self._leave_bots()

    def _play_bots(self) -> None:
        """Let bots decide until it is the learner's turn, or the game is over."""
        while (actor := self._play.to_act) not in (None, self._seat):
            assert actor is not None
            if actor not in self._bots:
                self._bots[actor] = self._found()
            view = self._play.view(actor)
            # A stream of its own for each decision: the same seed and the same actions give the same game.
            self._play.decide(self._bots[actor].choose(view, self._play.stream(bots.stream_name(view))))
        if self._play.to_act is None:
            for seat, bot in self._bots.items():
                if bot is not self._opponent:
                    bots.finish(bot, self._play.view(seat))
            self._bots = {}

    def _found(self) -> bots.Bot:
        given = self._opponent
        return bots.find(given, self._play.game, self._play.options) if isinstance(given, str) else given

    def _leave_bots(self) -> None:
        for bot in self._bots.values():
            self._let_go(bot)
        self._bots = {}

    def _let_go(self, bot: bots.Bot) -> None:
        """Close a bot, unless it was given as it is and is somebody else's to close."""
        if bot is not self._opponent:
            bot.close()

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_bots": {}}  # they are found again when they are next asked


def env_id(name: str) -> str:
    """Return what a game is registered as: PrimeDuel for prime-duel."""
    return f"piste/{''.join(word.capitalize() for word in name.split('-'))}-v{VERSION}"


for _name in names():
    if env_id(_name) not in gymnasium.registry:
        gymnasium.register(env_id(_name), f"{__name__}:{LearnerEnv.__name__}", kwargs={"game": _name})
