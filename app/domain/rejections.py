"""Messages of rejections as a contest shows them: the checker's sentence, only the place of the fault, or neither."""

from __future__ import annotations

from enum import StrEnum

from app.domain.documents import MessageDocument


class Telling(StrEnum):
    """What a contest tells of a rejection."""

    VERDICT = "verdict"
    POSITION = "position"
    FULL = "full"


def reduced(message: MessageDocument, telling: Telling) -> MessageDocument:
    """Reduce a rejection's message (key, text, args); without a place only the verdict is left."""
    if telling is Telling.FULL:
        return message
    where = message["args"].get("where") if telling is Telling.POSITION else None
    if not isinstance(where, str):
        return {"key": "rejected", "text": "rejected", "args": {}}
    place: MessageDocument = {"key": "rejected-at", "text": f"{where}: rejected", "args": {"where": where}}
    phrases = message.get("phrases", {})
    return {**place, "phrases": {"where": phrases["where"]}} if "where" in phrases else place
