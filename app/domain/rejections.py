"""Messages of rejections as a contest shows them: the checker's sentence, only the place of the fault, or neither."""

from __future__ import annotations

from enum import StrEnum

from app.domain.documents import MessageDocument

EXPECTED = ": expected "
"""The text after the place in the usual sentence of a checker."""


class Telling(StrEnum):
    """What a contest tells of a rejection."""

    VERDICT = "verdict"
    POSITION = "position"
    FULL = "full"


def reduced(message: MessageDocument, telling: Telling) -> MessageDocument:
    """Reduce a rejection's message (key, text, args); without a place only the verdict is left."""
    if telling is Telling.FULL:
        return message
    where = _place(message) if telling is Telling.POSITION else None
    if where is None:
        return {"key": "rejected", "text": "rejected", "args": {}}
    return {"key": "rejected-at", "text": f"{where}: rejected", "args": {"where": where}}


def _place(message: MessageDocument) -> str | None:
    where = message["args"].get("where")
    place, expected, _ = message["text"].partition(EXPECTED)
    return where if isinstance(where, str) else place if expected else None
