"""Limits on open streams: of one account or address, and of the whole process."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from app.core.errors import TooManyRequests, Unavailable
from app.core.messages import N_
from app.feed.service.streams import Client

SECONDS_TO_RETRY = 30
MOST_OPEN = {
    "account": N_("this account has %(count)s streams open: close one, or come back later"),
    "address": N_("this address has %(count)s streams open: close one, or come back later"),
}


class Crowd:
    """Counts the streams that are open; used in one event loop."""

    def __init__(self, most: int, most_of_one: int, most_of_nobody: int) -> None:
        self._most = most
        self._most_of_nobody = most_of_nobody
        self._open_of_nobody = 0
        self._most_of_one = most_of_one
        self._open = 0
        self._open_of: Counter[tuple[str, str]] = Counter()

    @property
    def size(self) -> int:
        """The number of streams that are open."""
        return self._open

    @contextmanager
    def place(self, client: Client) -> Iterator[None]:
        """Let a client in for as long as its stream lasts; raises TooManyRequests or Unavailable where it is full."""
        whose = client.whose
        if self._open_of[whose] >= self._most_of_one:
            raise TooManyRequests(MOST_OPEN[whose[0]], SECONDS_TO_RETRY, count=self._most_of_one)
        is_nobody = whose[0] == "address"
        if self._open >= self._most or (is_nobody and self._open_of_nobody >= self._most_of_nobody):
            raise Unavailable(N_("the server has as many streams open as it may: come back later"), SECONDS_TO_RETRY)
        self._open += 1
        self._open_of_nobody += is_nobody
        self._open_of[whose] += 1
        try:
            yield
        finally:
            self._open -= 1
            self._open_of_nobody -= is_nobody
            self._open_of[whose] -= 1
            if not self._open_of[whose]:
                del self._open_of[whose]  # addresses come and go for as long as the server runs
