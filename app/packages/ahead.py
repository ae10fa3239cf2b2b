"""Work done ahead of whoever takes its results, but not far: results may be large."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")
MOST_AHEAD = 4


def ahead(pool: Executor, function: Callable[[T], R], parts: Iterable[T], most: int = MOST_AHEAD) -> Iterator[R]:
    """Yield the results of a function in the order of its parts; at most so many wait, done or not."""
    waiting: deque[Future[R]] = deque()
    for part in parts:
        waiting.append(pool.submit(function, part))
        if len(waiting) >= most:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()
