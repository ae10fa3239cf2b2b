"""Loaded checkers in reserve, for the submissions to come."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable

from app.programs.ready import Ready

MOST_IDLE = 4
MOST_PARTS = 2000
MOST_SECONDS = 1200.0
"""An older process takes no further submission: the limits of its sandbox are those of its whole life."""


class Pool:
    """A few idle processes by what they run, the longest idle first. May be used from any thread."""

    def __init__(self, most: int = MOST_IDLE) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._idle: list[tuple[Hashable, Ready]] = []
        self._is_closed = False

    def take(self, key: Hashable, start: Callable[[], Ready]) -> Ready:
        """Give an idle process of this key, else start one."""
        while (ready := self._taken(key)) is not None:
            if _may_go_on(ready):
                return ready
            ready.end()
        return start()

    def give(self, key: Hashable, ready: Ready) -> None:
        """Keep a process of which nobody's part is left; the one idle longest goes where there are too many."""
        surplus: Ready | None = ready
        with self._lock:
            if not self._is_closed:
                self._idle.append((key, ready))
                surplus = None if len(self._idle) <= self._most else self._idle.pop(0)[1]
        if surplus is not None:
            surplus.end()

    def close(self) -> None:
        """Kill all that are idle, and those that are given back later."""
        with self._lock:
            self._is_closed = True
            idle, self._idle = self._idle, []
        for _, ready in idle:
            ready.end()

    def _taken(self, key: Hashable) -> Ready | None:
        with self._lock:
            at = next((at for at in reversed(range(len(self._idle))) if self._idle[at][0] == key), None)
            return None if at is None else self._idle.pop(at)[1]


def _may_go_on(ready: Ready) -> bool:
    return ready.answers() and ready.parts < MOST_PARTS and time.monotonic() < ready.began + MOST_SECONDS
