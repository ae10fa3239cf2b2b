"""A queue that serves its keys in turn, so that whoever puts in much waits for it alone."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Sequence


class FairQueue:
    """Ids that wait or are being worked on, each once, under a key (a team). Not thread-safe: its owner has the lock.

    `take` goes round the keys, one id of each at a time, first in first out within a key. An id that has been taken
    is known, and not taken in again, until it is forgotten.
    """

    def __init__(self) -> None:
        self._turns: dict[str, deque[int]] = {}  # keys with ids that wait, in the order in which they have their turn
        self._keys: dict[int, str] = {}
        self._counts: Counter[str] = Counter()
        self._taken: set[int] = set()
        self._waiting = 0

    def __len__(self) -> int:
        """The number of ids that wait to be taken."""
        return self._waiting

    @property
    def known(self) -> int:
        """The number of ids that wait or are being worked on."""
        return len(self._keys)

    def count(self, key: str) -> int:
        """The number of ids of this key that wait or are being worked on."""
        return self._counts[key]

    def add(self, id_: int, key: str) -> None:
        """Put an id in, behind the others of its key; nothing for one that is known."""
        if id_ in self._keys:
            return
        self._keys[id_] = key
        self._counts[key] += 1
        self._turns.setdefault(key, deque()).append(id_)
        self._waiting += 1

    def reserve(self, key: str, most: int) -> bool:
        """Count one more of this key until it is released; False, and nothing counted, where there are `most`."""
        if self._counts[key] >= most:
            return False
        self._counts[key] += 1
        return True

    def release(self, key: str) -> None:
        """Take back what has been reserved."""
        self._counts[key] -= 1
        if not self._counts[key]:
            del self._counts[key]

    def take(self, most: int) -> list[int]:
        """Take up to `most` ids, one of each key in turn."""
        taken: list[int] = []
        while self._turns and len(taken) < most:
            key = next(iter(self._turns))
            ids = self._turns.pop(key)
            taken.append(ids.popleft())
            if ids:
                self._turns[key] = ids  # behind the others
        self._waiting -= len(taken)
        self._taken.update(taken)
        return taken

    def put_back(self, ids: Sequence[int]) -> list[int]:
        """Let ids that were taken wait again, before the others of their keys; returns those that had been taken."""
        returned = [id_ for id_ in ids if id_ in self._taken and id_ in self._keys]
        self._taken.difference_update(returned)
        for id_ in reversed(returned):
            self._turns.setdefault(self._keys[id_], deque()).appendleft(id_)
        self._waiting += len(returned)
        return returned

    def forget(self, ids: Iterable[int]) -> None:
        """These have been worked on; one of them that is added again is new."""
        for id_ in ids:
            self._taken.discard(id_)
            key = self._keys.pop(id_, None)
            if key is not None:
                self.release(key)
