"""Messages of rejections as a contest shows them: the checker's sentence, only the place of the fault, or neither."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

EXPECTED = ": expected "
"""The text after the place in the usual sentence of a checker."""


class Telling(StrEnum):
    """What a contest tells of a rejection."""

    VERDICT = "verdict"
    POSITION = "position"
    FULL = "full"


def told(message: Mapping[str, Any], telling: Telling) -> Mapping[str, Any]:
    """Reduce a rejection's message (key, text, args); without a place only the verdict is left."""
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
