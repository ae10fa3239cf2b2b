"""How much of what is random or exhaustive is tried: a part in every test run, all of it by `make test-long`."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Any, TypeVar

import pytest
from hypothesis import settings

T = TypeVar("T")
USUAL = 100


def examples(count: int, thorough: int | None = None) -> int:
    """So many examples, or where hypothesis plays more than it usually does `thorough`, else so many times more."""
    more = settings.default.max_examples // USUAL
    return count * more if thorough is None or more == 1 else thorough


def every(step: int, of: Iterable[T], start: int = 0) -> list[T]:
    """Each `step`-th of these, from the one numbered `start`; all of them where hypothesis plays more than usual."""
    return list(of if settings.default.max_examples > USUAL else islice(of, start, None, step))


def later(values: Iterable[T], step: int) -> list[Any]:
    """These values for a rule that one place has for all of them: but for each `step`-th by `make test-long` only."""
    return [pytest.param(each, marks=pytest.mark.long) if at % step else each for at, each in enumerate(values)]


sqlite_first = pytest.mark.parametrize(
    "database_url", ["sqlite", pytest.param("postgresql", marks=pytest.mark.long)], indirect=True
)
"""A long walk of rules above the database: on PostgreSQL by `make test-long` only."""


def rule_cases(
    names: str | tuple[str, ...], values: Iterable[Any], database: str = "database_url"
) -> pytest.MarkDecorator:
    """Parametrize by the cases of one rule: on PostgreSQL the first only, the others there by `make test-long`."""
    wanted = (names,) if isinstance(names, str) else names
    tried = []
    for at, value in enumerate(values):
        given = (value,) if isinstance(names, str) else value
        later = pytest.mark.long if at else ()
        tried += [pytest.param("sqlite", *given), pytest.param("postgresql", *given, marks=later)]
    return pytest.mark.parametrize((database, *wanted), tried, indirect=[database])
