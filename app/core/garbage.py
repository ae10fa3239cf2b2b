"""Garbage collection of a server: objects that survive a full collection are set aside, and seldom searched again.

Python searches all objects for cycles whenever a quarter of those that it searched last has been added. A large contest
lies in millions of objects, and a version of its board replaces enough of them for a search every few seconds: with
50,000 submissions one takes 0.3 to 0.6 s, in which no request is answered (guarantees 5 and 6).
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import ClassVar

OLDEST = 2
# Objects after which the young are searched; Python's 700 are those of two requests, of which none stay.
YOUNG = 5000
# The ratio of objects set aside to survivors of the last full search, above which the next one comes.
GROWTH = 2


def counted(generation: int) -> int:
    """The objects of a generation.

    All in one step of the interpreter: while a list of them lies in a variable, or waits for its call of `len`, another
    thread may run, and a tuple that this thread fills just then from a generator fails with a SystemError, because
    CPython lets only its owner hold it (`_PyTuple_Resize`).
    """
    return sum(map(len, map(gc.get_objects, (generation,))))


def grow_old() -> None:
    """Put all objects into the oldest generation, unsearched. Whoever sets objects aside takes these back thereby."""
    gc.freeze()
    gc.unfreeze()


def skip_young() -> None:
    """Spare objects that were made in bulk, and stay, the searches of the young: three of 0.3 s for a million."""
    if Survivors.at_work is not None:
        Survivors.at_work.take()
    else:
        grow_old()


class Survivors:
    """Sets survivors aside from `keep` to `release`. Cycles among them become garbage unseen until all are searched.

    The objects set aside are counted as they come: to count them all, Python walks through each, 29 ms a million.

    at_work  those of this process, between their `keep` and `release`
    """

    at_work: ClassVar[Survivors | None] = None

    def __init__(self, growth: float = GROWTH) -> None:
        self._growth = growth
        self._is_thorough = True
        self._at_most_aside = 0
        self._most = 0.0

    def keep(self) -> None:
        """Begin, with all objects that there are now."""
        gc.freeze()
        self._begin_to_count()
        self._is_thorough = False
        gc.callbacks.append(self._after)
        self._threshold = gc.get_threshold()
        gc.set_threshold(YOUNG, *self._threshold[1:])
        Survivors.at_work = self

    def release(self) -> None:
        """Let Python search all objects as before."""
        Survivors.at_work = None
        gc.callbacks.remove(self._after)
        gc.set_threshold(*self._threshold)
        gc.unfreeze()

    def take(self) -> None:
        """Set aside what is alive now, unless the next full search is to go through all."""
        if self._is_thorough:
            grow_old()
        else:
            self._at_most_aside += gc.get_count()[0] + counted(1) + counted(OLDEST)
            gc.freeze()

    def _after(self, phase: str, facts: dict[str, int]) -> None:
        """After a full collection, set aside what is left; where that is too much, let the next one search it all."""
        if phase != "stop" or facts["generation"] != OLDEST:
            return
        if self._is_thorough:
            gc.freeze()
            self._begin_to_count()
            self._is_thorough = False
            return
        self._at_most_aside += counted(OLDEST)
        gc.freeze()
        if self._at_most_aside > self._most:
            self._at_most_aside = gc.get_freeze_count()  # many of those set aside may be gone
            if self._at_most_aside > self._most:
                gc.unfreeze()
                self._is_thorough = True

    def _begin_to_count(self) -> None:
        self._at_most_aside = gc.get_freeze_count()
        self._most = self._growth * self._at_most_aside


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
