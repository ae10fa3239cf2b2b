"""Notices of one transaction: what they say together."""

from __future__ import annotations

from itertools import chain

from app.core.db.by_id import Kind, Outbox, read


def test_what_is_counted_is_told_as_often_as_it_was_and_all_else_once() -> None:
    """Two wrong passwords that share a commit are two, wherever they are counted."""
    outbox = Outbox("me")
    for _ in range(2):
        outbox.add(Kind.COUNTED, "account", "judge", 10)
        outbox.add(Kind.CHANGED)
        outbox.add_board("c", [7])
    told = list(chain.from_iterable(read(payload)[1] for payload in outbox.payloads()))
    counted = (Kind.COUNTED.value, "account", "judge", 10)
    assert told == [counted, counted, (Kind.CHANGED.value,), ("board", "c", 7)]
