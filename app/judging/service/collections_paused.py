"""No cyclic garbage collection while very many objects are made that all stay: it would look through them in vain."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from app.core.garbage import skip_young


class _Pauses:
    """Blocks of the process that want no collections at the moment, and whether there were any before the first."""

    def __init__(self) -> None:
        self._guard = Lock()
        self._blocks = 0
        self._was_enabled = False

    def begin(self) -> None:
        with self._guard:
            if self._blocks == 0:
                self._was_enabled = gc.isenabled()
                gc.disable()
            self._blocks += 1

    def end(self) -> None:
        with self._guard:
            self._blocks -= 1
            if self._blocks == 0 and self._was_enabled:
                skip_young()  # else the next object that anybody makes has the collector search all of these
                gc.enable()


_PAUSES = _Pauses()


@contextmanager
def without_collections() -> Iterator[None]:
    """Pause the collector for the whole process until the last block that asked for it ends, in whatever thread.

    Where it was off before, it stays off. For work that is bounded: cycles of other threads wait as well.
    """
    _PAUSES.begin()
    try:
        yield
    finally:
        _PAUSES.end()
