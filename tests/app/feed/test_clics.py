"""Times and durations are written as CLICS wants them, and read back as they were."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.clics import format_reltime, format_time, parse_reltime, parse_time
from tests.builders.schemas import faults

MILLISECONDS = st.integers(-(10**9), 10**12).map(lambda count: timedelta(milliseconds=count))
MOMENTS = st.datetimes(datetime(1970, 1, 1), datetime(2999, 12, 30)).map(  # noqa: DTZ001 - the zone follows
    lambda moment: moment.replace(microsecond=moment.microsecond // 1000 * 1000, tzinfo=UTC)
)


@pytest.mark.parametrize(
    ("duration", "text"),
    [
        (timedelta(0), "0:00:00.000"),
        (timedelta(hours=5), "5:00:00.000"),
        (timedelta(hours=123, seconds=4, milliseconds=5), "123:00:04.005"),
        (-timedelta(seconds=30), "-0:00:30.000"),
        (timedelta(microseconds=999), "0:00:00.000"),
        (-timedelta(microseconds=999), "0:00:00.000"),
        (timedelta(seconds=59, microseconds=999_999), "0:00:59.999"),
    ],
)
def test_a_duration_is_written_to_the_millisecond(duration: timedelta, text: str) -> None:
    assert format_reltime(duration) == text


def test_a_moment_is_written_in_utc() -> None:
    moment = datetime(2026, 11, 21, 3, 4, 5, 678_999, tzinfo=timezone(timedelta(hours=-5)))
    assert format_time(moment) == "2026-11-21T08:04:05.678Z"


@given(MILLISECONDS)
def test_a_duration_is_read_back_as_it_was(duration: timedelta) -> None:
    assert parse_reltime(format_reltime(duration)) == duration


@given(MOMENTS)
def test_a_moment_is_read_back_as_it_was(moment: datetime) -> None:
    assert parse_time(format_time(moment)) == moment


@given(MOMENTS, MILLISECONDS)
def test_what_is_written_fits_the_schema(moment: datetime, duration: timedelta) -> None:
    body = {"id": "c", "name": "c", "start_time": format_time(moment), "duration": format_reltime(abs(duration))}
    assert faults("contest", {**body, "scoreboard_type": "score"}) == []


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2014-06-25T10:00:00+01", datetime(2014, 6, 25, 9, tzinfo=UTC)),
        ("2014-06-25T10:00:00-03:30", datetime(2014, 6, 25, 13, 30, tzinfo=UTC)),
        ("2014-06-25T10:00:00.250Z", datetime(2014, 6, 25, 10, 0, 0, 250_000, tzinfo=UTC)),
    ],
)
def test_every_zone_is_read(text: str, moment: datetime) -> None:
    assert parse_time(text) == moment


@pytest.mark.parametrize(
    "text",
    [
        "",
        "now",
        "2014-06-25",
        "2014-06-25T10:00:00",
        "2014-06-25T10:00:00.25Z",
        "2014-13-25T10:00:00Z",
        "٢٠١٤-06-25T10:00:00Z",
    ],
)
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="expected a time"):
        parse_time(text)


@pytest.mark.parametrize(
    "text", ["", "1", "1:00", "1:60:00", "1:00:60", "1:00:00.5", "+1:00:00", "1:00:00 ", "10000000:00:00"]
)
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="expected a duration"):
        parse_reltime(text)
