"""The envelope of every JSON document that piste prints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

FORMAT = 1


def document(fields: Mapping[str, Any], *, version: int | None = None) -> dict[str, Any]:
    """Return fields with the format of all documents and, where they have one, the version of these fields."""
    head = {"format": FORMAT} if version is None else {"format": FORMAT, "version": version}
    return {**head, **fields}
