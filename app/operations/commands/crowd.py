"""The open connections of a server: their limit, and which of them is cut first beyond it."""

from __future__ import annotations

import resource
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

OWN_DESCRIPTORS = 160
"""Descriptors for the server itself: files, database connections and pipes."""
FEWEST = 32
BEYOND = 32
"""Connections accepted beyond the limit: only to answer /health, and to refuse the others."""
SHARE_OF_ALL = 0.8
"""Share of the connections open to requests without credentials."""


class Connection(Protocol):
    """A connection as the crowd sees it."""

    address: str

    def cut(self) -> None:
        """Close it at once, and drop the bytes that wait to be sent."""
        ...


@dataclass
class Crowd:
    """Counts connections, in all and by address. Addresses that `stand_for_many`, such as proxies, have no limit."""

    most: int = 10_000
    most_of_one: int = 2_000
    stands_for_many: Callable[[str], bool] = lambda _address: False
    _open: set[Connection] = field(default_factory=set)
    _open_of: Counter[str] = field(default_factory=Counter)
    _idle: dict[Connection, None] = field(default_factory=dict)

    def enter(self, connection: Connection) -> bool:
        """Count a connection, cutting the one idle longest where there are too many; tells whether there is room."""
        room = self._make_room(connection.address)
        if len(self._open) >= self.most + BEYOND:
            connection.cut()
            return False
        self._open.add(connection)
        self._open_of[connection.address] += 1
        self._idle[connection] = None
        return room

    def leave(self, connection: Connection) -> None:
        """Stop counting a connection, if it was counted."""
        self._idle.pop(connection, None)
        if connection in self._open:
            self._open.discard(connection)
            self._open_of[connection.address] -= 1
            if not self._open_of[connection.address]:
                del self._open_of[connection.address]

    def work(self, connection: Connection) -> None:
        """Mark a connection as busy: it has sent the head of a request."""
        self._idle.pop(connection, None)

    def rest(self, connection: Connection) -> None:
        """Mark a connection as idle: its request is answered."""
        if connection in self._open:
            self._idle[connection] = None

    @property
    def is_dense(self) -> bool:
        """Tell whether the connections left are for requests with credentials."""
        return len(self._open) > self.most * SHARE_OF_ALL

    def _make_room(self, address: str) -> bool:
        if self._open_of[address] >= self.most_of_one and not self.stands_for_many(address):
            return self._cut_idle(lambda each: each.address == address)
        return len(self._open) < self.most or self._cut_idle(lambda _each: True)

    def _cut_idle(self, fits: Callable[[Connection], bool]) -> bool:
        longest_idle = next((each for each in self._idle if fits(each)), None)
        if longest_idle is None:
            return False
        self.leave(longest_idle)
        longest_idle.cut()
        return True


def all_descriptors() -> int:
    """Raise the limit of open files to the hard limit, and return it."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return hard


def connections_within(most: int, descriptors: int) -> int:
    """Give the limit of connections: `most`, or fewer, as each may have a file open and the server has its own."""
    if descriptors == resource.RLIM_INFINITY:
        return most
    return min(most, max(FEWEST, (descriptors - OWN_DESCRIPTORS) * 2 // 3))
