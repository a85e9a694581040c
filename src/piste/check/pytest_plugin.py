"""The checks as tests of a game's own package, which has `addopts = "-p piste.check.pytest_plugin"`.

    @pytest.mark.piste_game("my-game", top=3)
    def test_game(piste_check):
        piste_check()

is one test for each check; `piste_check` fails with the sentence of `piste check`.

It is named by those who use it and not found by an entry point: for one, pytest would rewrite the assertions of
all of piste, in every project where piste is installed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

MARK = "piste_game"


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", f"{MARK}(name, **options): the game that `piste_check` checks")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "piste_check" in metafunc.fixturenames:
        from piste.check.checks import CHECKS

        metafunc.parametrize("piste_check", [name for name in CHECKS if name != "bench"], indirect=True)


@pytest.fixture
def piste_check(request: pytest.FixtureRequest) -> Callable[[], None]:
    """Give a function that runs one check of the game that the test is marked with."""
    from piste.check.case import Case
    from piste.check.checks import run_check

    mark = request.node.get_closest_marker(MARK)
    if mark is None or len(mark.args) != 1:
        raise pytest.UsageError(f'Name the game that piste_check checks: @pytest.mark.{MARK}("my-game")')
    options: dict[str, Any] = dict(mark.kwargs)
    games = options.pop("games", 20)

    def check() -> None:
        finding = run_check(request.param, Case(mark.args[0], options, games))
        if finding.skipped:
            pytest.skip(finding.note)
        if not finding.passed:
            pytest.fail(finding.sentence, pytrace=False)

    return check
