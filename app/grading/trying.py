"""How often the same answers are checked again: what they did counts, what happened to the grader does not."""

from __future__ import annotations

import time
from collections.abc import Callable

from app.grading.messages import Failed

MOST_KILLS = 10
"""Deaths in a row that look like somebody else's doing, after which they are held to be the answer's after all."""
FIRST_PAUSE = 0.02
LONGEST_PAUSE = 2.0
STEP = 0.02


class Tries:
    """The tries of one judgement: whether one failed, and how often its grader was killed."""

    def __init__(self, closing: Callable[[], bool]) -> None:
        self._closing = closing
        self._kills = 0
        self.failed = False

    @property
    def hopeless(self) -> bool:
        """Has its grader been killed so often that no other can be expected to live?"""
        return self._kills >= MOST_KILLS

    def innocent(self, failure: Failed) -> bool:
        """Note a failure; is it another's fault, so that it does not count? Waits then, longer each time."""
        self.failed = True
        if failure.blame:
            return False
        self._kills += 1
        if self.hopeless:
            return False
        until = time.monotonic() + min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** (self._kills - 1))
        while time.monotonic() < until and not self._closing():
            time.sleep(STEP)
        return True
