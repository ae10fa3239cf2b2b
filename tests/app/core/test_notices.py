"""Notices of one transaction: what they say together."""

from __future__ import annotations

import json

from app.core.db.by_id import Kind, Outbox


def test_what_is_counted_is_told_as_often_as_it_was_and_all_else_once() -> None:
    """Two wrong passwords that share a commit are two, wherever they are counted."""
    outbox = Outbox("me")
    for _ in range(2):
        outbox.add(Kind.COUNTED, "account", "judge", 10)
        outbox.add(Kind.CHANGED)
        outbox.add_board("c", [7])
    counted = ["me", Kind.COUNTED.value, "account", "judge", 10]
    told = [json.loads(payload) for payload in outbox.payloads()]
    assert told == [counted, counted, ["me", Kind.CHANGED.value], ["me", "board", "c", 7]]
