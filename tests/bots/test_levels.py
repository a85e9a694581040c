"""Every place that shows a level says how its play is known, and nothing is called perfect that is not."""

from __future__ import annotations

import argparse
import io
from pathlib import Path

import pytest

from piste import bots
from piste.cli.commands import bots as bots_command
from piste.cli.commands import match as matching
from piste.cli.menu import choose_game
from piste.cli.terminal import Terminal
from piste.compiled import table_cache
from piste.core.evaluation import Basis
from piste.core.game import find, names
from piste.games.prime_duel import guarantees as prime_duel
from tests.cli.terminal_user import Keyboard, Page

TOP: list[tuple[str, dict[str, int | str], Basis]] = [
    ("zero-sum-duel", {}, Basis.EXACT),
    ("zero-sum-duel", {"top": 7}, Basis.ESTIMATED),
    ("positive-negative", {}, Basis.EXACT),
    ("positive-negative", {"top": 11}, Basis.PARTLY),
    ("zero-sum-grid", {}, Basis.PROVEN),
    ("zero-sum-grid", {"variant": "harvest"}, Basis.EXACT),
    ("zero-sum-grid", {"variant": "harvest", "deal": "any"}, Basis.PARTLY),
    ("prime-duel", {"top": 3, "copies": 2, "target": 10}, Basis.EXACT),
    ("mccoy-duel", {}, Basis.SEARCHED),
    ("mccoy-duel", {"players": 3}, Basis.SEARCHED),
]


@pytest.mark.parametrize(("name", "given", "wanted"), TOP)
def test_the_top_level_is_called_perfect_only_where_its_play_is_proven_or_exact(
    name: str, given: dict[str, int | str], wanted: Basis
) -> None:
    game = find(name)
    options = game.options(given)
    assert bots.basis(game, "perfect", options) == wanted
    sure = wanted in (Basis.PROVEN, Basis.EXACT)
    assert bots.described(game, "perfect", options) == f"{'perfect' if sure else 'expert'} ({wanted})"


def test_prime_duel_says_whether_the_full_solution_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_cache, "folder", lambda: tmp_path)
    game = find("prime-duel")
    assert bots.described(game, "perfect") == "expert (partly solved)"  # it is part of the package
    larger = game.options({"target": 60})
    assert bots.described(game, "perfect", larger) == "expert (estimated)"
    made = table_cache._place(prime_duel.name(prime_duel.value_options(larger)), prime_duel.stamp())
    made.mkdir()
    (made / table_cache.MANIFEST).touch()
    assert bots.described(game, "perfect", larger) == "expert (partly solved)"
    assert bots.described(game, "perfect", game.options({"turns": 40})) == "expert (estimated)"


@pytest.mark.parametrize("name", names())
def test_every_level_has_a_basis_and_other_bots_claim_nothing(name: str) -> None:
    game = find(name)
    assert bots.basis(game, "random") == Basis.RANDOM
    assert bots.described(game, "random") == "random"
    assert all(isinstance(bots.basis(game, level), Basis) for level in bots.LEVELS)
    assert {bots.basis(game, level) for level in ("novice", "steady")} == {Basis.THUMB}
    assert bots.basis(game, "cmd:./mybot") is None
    assert bots.described(game, "cmd:./mybot") == "cmd:./mybot"


def test_both_names_of_the_top_level_find_it_in_every_game() -> None:
    for name in names():
        assert bots.find("expert", find(name)).name == bots.find("perfect", find(name)).name == "perfect"


def test_the_list_of_bots_names_no_perfect_player_of_duel() -> None:
    page = io.StringIO()
    assert bots_command.run(argparse.Namespace(game="mccoy-duel", json=False), Terminal(page, colour=False)) == 0
    rows = [line.partition(":")[0] for line in page.getvalue().splitlines() if line.startswith("mccoy-duel")]
    assert rows == [
        "mccoy-duel random",
        "mccoy-duel novice (rule of thumb)",
        "mccoy-duel steady (rule of thumb)",
        "mccoy-duel strong (searched)",
        "mccoy-duel expert (searched)",
    ]


@pytest.mark.parametrize("typed", ["expert", "perfect"])
def test_the_chooser_shows_the_honest_name_and_takes_both(typed: str) -> None:
    page, answers = Page(), iter([f"{find('mccoy-duel').notation.TITLE}\n", "\n", f"{typed}\n", "\n"])
    given = choose_game(Terminal(page, Keyboard(lambda: next(answers)), colour=False))
    assert (given.game, given.vs) == ("mccoy-duel", "perfect")
    assert "\n  expert (searched)       The strongest one here, though not perfect." in page.getvalue()
    assert "\n  perfect" not in page.getvalue()


def test_a_table_of_matches_says_how_the_play_of_each_level_is_known() -> None:
    page = io.StringIO()
    game = find("mccoy-duel")
    matching.show_table(game, game.options({}), [], ["random", "steady", "perfect"], Terminal(page, colour=False))
    assert "perfect" not in page.getvalue()
    assert "steady (rule of thumb): " in page.getvalue()
    assert "expert (searched): " in page.getvalue()
