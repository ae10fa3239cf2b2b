"""How often a team may submit: what is left, and when the next one may come."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.contests.schemas import Limits, PerWindow
from app.domain.participation import Quota, limited, quota, times_needed

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


def ago(*seconds: int) -> list[datetime]:
    """Times so many seconds before now."""
    return [NOW - timedelta(seconds=each) for each in seconds]


def after(seconds: int) -> datetime:
    """A time after now."""
    return NOW + timedelta(seconds=seconds)


@pytest.mark.parametrize(
    ("document", "seconds", "expected", "allowed"),
    [
        ({}, [1, 2, 3], Quota(3), True),
        ({"max_submissions": 3}, [10, 20], Quota(2, 1), True),
        ({"max_submissions": 2}, [10, 20], Quota(2, 0), False),
        ({"max_submissions": 1}, [10, 20], Quota(2, 0), False),
        ({"interval_seconds": 60}, [], Quota(0), True),
        ({"interval_seconds": 60}, [50, 500], Quota(2, None, after(10)), False),
        ({"interval_seconds": 60}, [60], Quota(1), True),
        ({"per_window": {"count": 2, "seconds": 100}}, [10], Quota(1), True),
        ({"per_window": {"count": 2, "seconds": 100}}, [10, 30], Quota(2, None, after(70)), False),
        ({"per_window": {"count": 2, "seconds": 100}}, [10, 100], Quota(2), True),
        ({"interval_seconds": 30, "per_window": {"count": 1, "seconds": 20}}, [5], Quota(1, None, after(25)), False),
    ],
)
def test_limits_leave_what_is_left(
    document: dict[str, Any], seconds: list[int], expected: Quota, allowed: bool
) -> None:
    found = quota(Limits.model_validate(document), ago(*seconds), NOW)
    assert found == expected
    assert found.allows(NOW) is allowed


def test_limits_of_games_do_not_limit_submissions() -> None:
    assert not limited(Limits(open_games=1))
    assert limited(Limits(max_submissions=0))


@given(
    st.builds(
        Limits,
        max_submissions=st.none() | st.integers(0, 6),
        interval_seconds=st.none() | st.integers(1, 40),
        per_window=st.builds(PerWindow, count=st.integers(1, 4), seconds=st.integers(1, 90)),
    ),
    st.lists(st.integers(0, 300), max_size=40),
)
def test_whoever_keeps_to_the_answer_breaks_no_limit(limits: Limits, tries: list[int]) -> None:
    taken: list[datetime] = []
    for second in sorted(tries):
        now = after(second)
        found = quota(limits, taken, now)
        if found.allows(now):
            taken.append(now)
        elif found.next is not None and not found.exhausted:
            assert quota(limits, taken, found.next).allows(found.next)
        if (needed := times_needed(limits)) is not None:
            latest = sorted(taken)[-needed:]
            assert quota(limits, latest, now).next == quota(limits, taken, now).next
    assert limits.max_submissions is None or len(taken) <= limits.max_submissions
    interval, window = timedelta(seconds=limits.interval_seconds or 0), limits.per_window
    assert all(b - a >= interval for a, b in pairwise(taken))
    assert window is not None
    for begin in taken:
        end = begin + timedelta(seconds=window.seconds)
        assert sum(1 for time in taken if begin <= time < end) <= window.count
