"""A review that was made once is not made again, unless the record or what judges it has changed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import piste
from piste import bots
from piste.analysis.coach import review_cache
from piste.core.evaluation import Basis
from piste.core.record import Record


def finished() -> Record:
    table = piste.open_table("zero-sum-grid", {"turns": 4}, seed="a")
    while table.to_act is not None:
        table.decide(table.to_act, table.view(table.to_act).decisions[0])
    return Record.parse(table.record())


def never(*_: Any) -> Any:
    raise AssertionError("it was judged again")


def test_a_review_is_made_once_until_something_can_be_known_better(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    record = finished()
    first = review_cache.cached_review(record)
    with monkeypatch.context() as patch:
        patch.setattr(review_cache, "review", never)
        assert review_cache.cached_review(record) == first
        patch.setattr(bots, "basis", lambda *_: Basis.PARTLY)  # as after `piste solve prime-duel --full`
        with pytest.raises(AssertionError, match="judged again"):
            review_cache.cached_review(record)
    (found,) = (tmp_path / "piste" / "reviews").iterdir()
    found.write_bytes(b"damaged")
    assert review_cache.cached_review(record).attribution == first.attribution
