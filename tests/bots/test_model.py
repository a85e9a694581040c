"""A language model takes part in a tournament like any other bot; what it fails at is a forfeit."""

from __future__ import annotations

import pytest

from piste import bots
from piste.analysis.arena.plan import make_plan, read_entrants
from piste.analysis.arena.tournament import play_deal
from piste.bots.isolated import end_idle_processes
from piste.core.errors import UnknownNameError
from piste.core.game import find
from tests.evals.chat_server import ChatServer, Says

LIMIT_S = 600.0
GAME = find("positive-negative")
OPTIONS = GAME.options({"top": 3})

pytestmark = pytest.mark.filterwarnings(
    "ignore::ResourceWarning", "ignore:The 'initial' parameter is deprecated:DeprecationWarning"
)


def test_a_bot_plays_the_same_game_as_a_model() -> None:
    """Through prompt and answer `model:piste/steady` decides what `steady` decides."""
    found = []
    for spec in ("model:piste/steady", "steady"):
        plan = make_plan(GAME, OPTIONS, read_entrants([f"one={spec}", "random"]), 2, limit=LIMIT_S)
        found.append([game.moves for game in play_deal(plan, 0, 0).games])
    end_idle_processes()
    assert found[0] == found[1]


def test_a_model_that_gives_no_decision_forfeits_its_game(monkeypatch: pytest.MonkeyPatch) -> None:
    with ChatServer(lambda *_: Says("I pass.")) as server:
        monkeypatch.setenv("LOCAL_API_KEY", "none")
        monkeypatch.setenv("LOCAL_BASE_URL", server.base_url)
        entrants = read_entrants(["llm=model:openai-api/local/model", "random"])
        deal = play_deal(make_plan(GAME, OPTIONS, entrants, 2, limit=LIMIT_S), 0, 0)
        end_idle_processes()
    for game in deal.games:
        (forfeit,) = game.forfeits
        assert game.seats[forfeit.seat] == 0
        assert forfeit.why.endswith("gave no decision in 3 answers: unreadable, unreadable, unreadable.")
        assert game.winner is not None
        assert game.seats[game.winner] == 1


def test_a_model_that_nobody_offers_is_refused_before_the_first_game() -> None:
    with pytest.raises(UnknownNameError, match="The model 'nobody/model' cannot be asked"):
        bots.find("model:nobody/model", GAME)
