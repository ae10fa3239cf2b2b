"""How much of what is random or exhaustive is tried: a part in every test run, all of it by `make test-long`."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import TypeVar

from hypothesis import settings

T = TypeVar("T")
USUAL = 100


def examples(count: int, thorough: int | None = None) -> int:
    """So many examples, or where hypothesis plays more than it usually does `thorough`, else so many times more."""
    more = settings.default.max_examples // USUAL
    return count * more if thorough is None or more == 1 else thorough


def every(step: int, of: Iterable[T], start: int = 0) -> list[T]:
    """Each `step`-th of these, from the one numbered `start`; all of them where hypothesis plays more than usual.

    A test that asks for it is marked `machine`, so that `make test-long` runs it too.
    """
    return list(of if settings.default.max_examples > USUAL else islice(of, start, None, step))
