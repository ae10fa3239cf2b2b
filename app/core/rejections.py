"""Rejections of checkers and games as messages of services."""

from __future__ import annotations

from app.core.messages import N_, Message, Text
from checkers.doors import Phrase, Rejected

PLACED = N_("%(where)s: expected %(expected)s, found %(found)s")


def message_of(rejected: Rejected) -> Message:
    """Return what was rejected: with its phrases where it has a place, else its English text."""
    args = rejected.message.args
    if not {"where", "expected", "found"} <= set(args):
        return Message(rejected.message.text)
    return Message(PLACED, **{name: _text(args[name]) for name in ("where", "expected", "found")})


def _text(value: object) -> Text:
    if not isinstance(value, Phrase):
        return str(value)
    return Message(value.source, **{name: _text(each) for name, each in value.values.items()})
