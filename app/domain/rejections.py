"""How much of a rejection a contest tells: the checker's sentence, where it found the fault, or only that it did."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

EXPECTED = ": expected "
"""What stands behind the place in the usual sentence of a checker."""


class Telling(StrEnum):
    """What a contest tells of a rejection."""

    VERDICT = "verdict"
    POSITION = "position"
    FULL = "full"


def told(message: Mapping[str, Any], telling: Telling) -> Mapping[str, Any]:
    """A rejection's message (key, text, args) as far as it is told; without a place there is only the verdict."""
    if telling is Telling.FULL:
        return message
    where = _place(message) if telling is Telling.POSITION else None
    if where is None:
        return {"key": "rejected", "text": "rejected", "args": {}}
    return {"key": "rejected-at", "text": f"{where}: rejected", "args": {"where": where}}


def _place(message: Mapping[str, Any]) -> str | None:
    where = message["args"].get("where")
    place, expected, _ = message["text"].partition(EXPECTED)
    return where if isinstance(where, str) else place if expected else None
