"""Answers whose graders were killed from outside: which of them cause that, and how long the others wait."""

from __future__ import annotations

import threading
import time
from collections.abc import Hashable
from dataclasses import dataclass

MOST_KILLS = 3
"""Graders that one answer may have killed while answers of others passed in between."""
FIRST_PAUSE = 0.02
LONGEST_PAUSE = 10.0


@dataclass
class Record:
    """The kills of one suspect: all in a row, those held to be its own doing, the passes of others by the last one."""

    kills: int = 0
    caused: int = 0
    passes: int = -1
    due: float = 0.0


class Suspects:
    """Work that was killed with its grader from outside, in memory only. May be used from any thread.

    Judgements go by their ids; what is asked beside them, by itself.

    An operator's or the kernel's kills hit whatever is checked; an answer that takes the machine's memory loses each
    grader while the answers of others pass. A kill counts as the answer's if another answer passed since the last one.
    """

    def __init__(self) -> None:
        self._records: dict[Hashable, Record] = {}
        self._aside: set[Hashable] = set()
        self._passes = 0
        self._guard = threading.Lock()

    def __contains__(self, checked: object) -> bool:
        """Whether it is laid aside for a while."""
        with self._guard:
            return checked in self._aside

    def killed(self, checked: Hashable) -> bool:
        """Note that a grader was killed while it checked this; is that held to be the answer's doing by now?

        Else it may be tried again at once after the first kill, and is laid aside after each further one.
        """
        with self._guard:
            record = self._records.setdefault(checked, Record())
            record.kills += 1
            record.caused += self._passes > record.passes
            record.passes = self._passes
            if record.caused >= MOST_KILLS:
                self._forget(checked)
                return True
            if record.kills > 1:
                pause = min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** min(record.kills, 16))
                record.due = time.monotonic() + pause
                self._aside.add(checked)
            return False

    def passed(self, checked: Hashable) -> None:
        """Note that a grader lived through this."""
        with self._guard:
            self._passes += 1
            self._forget(checked)

    def forget(self, checked: Hashable) -> None:
        """Drop what is known of something that is checked no more."""
        with self._guard:
            self._forget(checked)

    def _forget(self, checked: Hashable) -> None:
        self._records.pop(checked, None)
        self._aside.discard(checked)

    def seconds(self) -> float:
        """Seconds until the first of those laid aside is due; infinite without any."""
        with self._guard:
            first = min((self._records[checked].due for checked in self._aside), default=float("inf"))
        return max(0.0, first - time.monotonic())

    def look(self) -> set[Hashable]:
        """Work that stays laid aside; what is due is let go."""
        now = time.monotonic()
        with self._guard:
            self._aside = {checked for checked in self._aside if self._records[checked].due > now}
            return set(self._aside)
