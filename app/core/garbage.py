"""Garbage collection of a server: objects that survive a full collection are set aside, and seldom searched again.

Python searches all objects for cycles whenever a quarter of those that it searched last has been added. A large contest
lies in millions of objects, and a version of its board replaces enough of them for a search every few seconds: with
50,000 submissions one takes 0.3 to 0.6 s, in which no request is answered (guarantees 5 and 6).
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import ClassVar

OLDEST = 2
# Objects after which the young are searched; Python's 700 are those of two requests, of which none stay.
YOUNG = 5000
# One full search of so many goes through what was set aside, too.
THOROUGH = 50


def skip_young() -> None:
    """Spare objects that were made in bulk, and stay, the searches of the young: three of 0.3 s for a million."""
    gc.freeze()
    if not Survivors.at_work:
        gc.unfreeze()  # into the oldest generation


class Survivors:
    """Sets survivors aside from `keep` to `release`. Cycles among them become garbage unseen until all are searched.

    at_work  whether those of this process are set aside
    """

    at_work: ClassVar[bool] = False

    def __init__(self, thorough: int = THOROUGH) -> None:
        self._thorough = thorough
        self._searches = 0

    def keep(self) -> None:
        """Begin, with all objects that there are now."""
        gc.freeze()
        gc.callbacks.append(self._around)
        self._threshold = gc.get_threshold()
        gc.set_threshold(YOUNG, *self._threshold[1:])
        Survivors.at_work = True

    def release(self) -> None:
        """Let Python search all objects as before."""
        Survivors.at_work = False
        gc.callbacks.remove(self._around)
        gc.set_threshold(*self._threshold)
        gc.unfreeze()

    def _around(self, phase: str, facts: dict[str, int]) -> None:
        """Set aside what a full search has left; now and then let one begin with all objects."""
        if facts["generation"] != OLDEST:
            return
        if phase == "stop":
            gc.freeze()
            return
        self._searches += 1
        if self._searches % self._thorough == 0:
            gc.unfreeze()


# One for each block of the process that wants no collections at the moment.
_blocks: list[None] = []


@contextmanager
def without_collections() -> Iterator[None]:
    """Pause the collector for the whole process until the last block that asked for it ends, in any thread.

    For work that is bounded: cycles of other threads wait as well.
    """
    _blocks.append(None)
    gc.disable()
    try:
        yield
    finally:
        _blocks.pop()
        if not _blocks:
            skip_young()  # else the next object that anyone makes has the collector search all of these
            gc.enable()
