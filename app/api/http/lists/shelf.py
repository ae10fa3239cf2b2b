"""What is kept of lists, within a number of bytes: what was not asked for longest is forgotten first."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Any

OVERHEAD = 2_000
"""Bytes that an entry takes at least."""


class Shelf:
    """Values by key; may be used from any thread."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.total = 0
        self._kept: OrderedDict[Any, tuple[Any, int]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: object) -> Any:
        """The value, which is the last to be forgotten now; None where there is none."""
        with self._lock:
            entry = self._kept.get(key)
            if entry is None:
                return None
            self._kept.move_to_end(key)
            return entry[0]

    def put(self, key: object, value: object, size: int) -> None:
        """Keep a value in place of an earlier one, and forget others until all fit, but not this one."""
        with self._lock:
            self._take_out(key)
            self._kept[key] = (value, size + OVERHEAD)
            self.total += size + OVERHEAD
            while self.total > self.most and len(self._kept) > 1:
                self._take_out(next(iter(self._kept)))

    def drop(self, key: object) -> None:
        """Forget a value."""
        with self._lock:
            self._take_out(key)

    def _take_out(self, key: object) -> None:
        _, size = self._kept.pop(key, (None, 0))
        self.total -= size
