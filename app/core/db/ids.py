"""Ids of submissions that are numbers are given by a server of ours; any other id, another system gave.

In a contest that was brought in from another server, the numbers are that server's.
"""

from __future__ import annotations

MOST_DIGITS = 18
"""Longer ones may not fit the 64 bits of a column."""


def is_number(text: str) -> bool:
    """Whether the id is nothing but digits. Then it is ours to give, even where no row can have it."""
    return text.isascii() and text.isdigit()


def as_id(text: str) -> int | None:
    """The number an id stands for; None for whatever is no row's id, such as `007` or one beyond 64 bits."""
    if not is_number(text) or text.startswith("0") or len(text) > MOST_DIGITS:
        return None
    return int(text)
