"""`piste bench --growth` at its smallest: every series runs, and exponents are those of the points."""

from __future__ import annotations

import json
from typing import Any

import pytest

from piste.cli.commands.bench import growth
from piste.cli.main import main

SMALLEST = {
    "games": 5, "batch": 2, "zero-sum-duel": 6, "positive-negative": 4, "prime-duel": 8, "duel": 2, "records": 4,
    "rooms": 1,
}  # fmt: skip
QUICK = ("games", "positive-negative", "records")
"""The others compile much, or start a server; `make test-all` runs them."""


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[] if n in QUICK else pytest.mark.slow) for n in growth.SERIES]
)
def test_what_grows_is_measured_in_seconds_and_memory(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(growth, "SERVER_SECONDS", 1)
    monkeypatch.setattr(growth, "DUEL_POSITIONS", 1)
    use = growth.SERIES[name].measure(SMALLEST[name])
    assert set(use) == {"seconds", "mib"}
    assert use["seconds"] >= 0


def test_an_exponent_is_the_slope_between_logarithms() -> None:
    points = [{"size": size, "seconds": 3e-6 * size**1.5, "mib": 0.0} for size in (100, 400, 1600)]
    assert growth.exponent(points, "seconds", growth.MIN_SECONDS) == pytest.approx(1.5)
    assert growth.exponent(points, "mib", growth.MIN_MIB) is None


def test_every_size_is_told_with_the_exponents(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def measured(_what: str, *words: str) -> dict[str, float]:
        return {"seconds": float(words[-1]), "mib": 7.0}

    monkeypatch.setattr(growth, "run_python", measured)
    assert main(["bench", "--growth", "--json"]) == 0
    document: Any = json.loads(capsys.readouterr().out)
    assert list(document["series"]) == list(growth.SERIES)
    for name, row in document["series"].items():
        assert [point["size"] for point in row["points"]] == list(growth.SERIES[name].sizes)
        assert row["exponents"] == {"seconds": pytest.approx(1.0), "mib": pytest.approx(0.0)}
    assert main(["bench", "--growth"]) == 0
    assert "  exponents: CPU time 1.00, memory 0.00" in capsys.readouterr().out
