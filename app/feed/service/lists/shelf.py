"""The cache of written lists, within a number of bytes: the list not asked for longest is forgotten first."""

from __future__ import annotations

import threading
from typing import Any, NamedTuple

from cachetools import LRUCache

OVERHEAD = 2_000
"""Bytes that an entry takes at least."""


class _Entry(NamedTuple):
    """A value and the bytes it counts for."""

    value: Any
    size: int


class Shelf:
    """Values by key; may be used from any thread."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._entries: LRUCache[Any, _Entry] = LRUCache(most, lambda entry: entry.size)
        self._lock = threading.Lock()

    @property
    def total(self) -> float:
        """Bytes of all entries."""
        return self._entries.currsize

    # Any: whoever put the value there knows its type.
    def get(self, key: object) -> Any:
        """The value, which is the last to be forgotten now; None where there is none."""
        with self._lock:
            entry = self._entries.get(key)
            return None if entry is None else entry.value

    def put(self, key: object, value: object, size: int) -> None:
        """Keep a value in place of an earlier one, and forget others until all fit; one that is too large is alone."""
        with self._lock:
            self._entries[key] = _Entry(value, min(self.most, size + OVERHEAD))

    def drop(self, key: object) -> None:
        """Forget a value."""
        with self._lock:
            self._entries.pop(key, None)
