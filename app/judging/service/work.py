"""The next work of a grader's thread.

- A queue that shares grading time fairly between teams, so that slow checkers delay only their own teams.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import count

from app.judging.service.questions import Question, Tried

MOST_CLAIMED = 64
SECONDS_CLAIMED = 0.15


@dataclass(frozen=True, slots=True)
class Work:
    """The next work of a grader: answer a question, judge these, of submissions or of rejudgings, or try answers.

    `sweep`: look for rows in the database, which one grader does for all. Nothing at all: wait again.
    """

    question: Question | None = None
    tried: Tried | None = None
    ids: Sequence[int] = ()
    again: Sequence[int] = ()
    sweep: bool = False


def share(waiting: int, graders: int, seconds_each: float) -> int:
    """The number of judgements to claim together: a grader's part of those that wait, and not much time's worth.

    A submission that comes meanwhile waits until they are done, whosever they are. `seconds_each` is what one of the
    last claim took; 0 where that is not known.
    """
    in_time = round(SECONDS_CLAIMED / seconds_each) if seconds_each else MOST_CLAIMED
    return max(1, min(MOST_CLAIMED, waiting // graders, in_time))


def taken(queue: deque[int], most: int) -> list[int]:
    """Take the first of a queue."""
    return [queue.popleft() for _ in range(min(most, len(queue)))]


LEAST_SECONDS = 2**-20


class FairQueue:
    """Ids that wait or are being worked on, each once, under a key (a team). Not thread-safe: its owner has the lock.

    `take` gives the next id of the key that has used the least seconds, first in first out within a key. A key that
    had nothing queued starts level with the key that is being served: idle time earns no credit. An id that has been
    taken is known, and not taken in again, until it is forgotten.
    """

    def __init__(self) -> None:
        self._queued: dict[str, deque[int]] = {}
        self._used: dict[str, float] = {}
        self._served = 0.0  # seconds used by the key that was served last: new keys start there
        self._next: list[tuple[float, int, str]] = []  # entries whose seconds are no longer the key's are skipped
        self._entries = count()
        self._keys: dict[int, str] = {}
        self._taken: dict[int, float] = {}  # seconds charged in advance for each id
        self._waiting = 0

    def __len__(self) -> int:
        """The number of ids that wait to be taken."""
        return self._waiting

    @property
    def known(self) -> int:
        """The number of ids that wait or are being worked on."""
        return len(self._keys)

    def add(self, id_: int, key: str) -> None:
        """Put an id in, behind the others of its key; nothing for one that is known."""
        if id_ in self._keys:
            return
        self._keys[id_] = key
        self._waiting += 1
        self._used[key] = max(self._used.get(key, 0.0), self._served)
        self._queue_of(key).append(id_)

    def take(self, most: int, seconds: float = LEAST_SECONDS) -> list[int]:
        """Take up to `most` ids, each of the key that has used least; `seconds` each are charged until `charge`."""
        taken: list[int] = []
        seconds = max(seconds, LEAST_SECONDS)
        while self._queued and len(taken) < most:
            used, _, key = heappop(self._next)
            if key not in self._queued or used != self._used[key]:
                continue
            self._served = max(self._served, used)
            ids = self._queued[key]
            taken.append(ids.popleft())
            self._taken[taken[-1]] = seconds
            if not ids:
                del self._queued[key]
            self._use(key, seconds)
        self._waiting -= len(taken)
        return taken

    def charge(self, id_: int, seconds: float) -> None:
        """Charge the key of an id that has been taken with the seconds that it used, in place of those in advance."""
        if id_ in self._taken:
            self._use(self._keys[id_], seconds - self._taken[id_])
            self._taken[id_] = 0.0

    def put_back(self, ids: Sequence[int]) -> list[int]:
        """Let ids that were taken wait again, before the others of their keys; returns those that had been taken."""
        returned = [id_ for id_ in ids if id_ in self._taken]
        for id_ in reversed(returned):
            self.charge(id_, 0.0)
            del self._taken[id_]
            self._queue_of(self._keys[id_]).appendleft(id_)
        self._waiting += len(returned)
        return returned

    def forget(self, ids: Iterable[int]) -> None:
        """These have been worked on; one of them that is added again is new."""
        for id_ in ids:
            self.charge(id_, 0.0)
            self._taken.pop(id_, None)
            self._keys.pop(id_, None)
        if not self._keys:  # no one competes: the next keys start level, and idle ones are not remembered
            self._used.clear()
            self._next.clear()
            self._served = 0.0

    def _queue_of(self, key: str) -> deque[int]:
        if key not in self._queued:
            self._queued[key] = deque()
            self._use(key, 0.0)
        return self._queued[key]

    def _use(self, key: str, seconds: float) -> None:
        self._used[key] += seconds
        if key in self._queued:
            heappush(self._next, (self._used[key], next(self._entries), key))
