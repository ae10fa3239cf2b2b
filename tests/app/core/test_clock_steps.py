"""The system's clock is set while a contest runs: nothing that was over begins again, and no wait gets longer."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import create_engine, select, text

from app.accounts.service.grants import Failures
from app.core.clock import ServiceClock, utc_now
from app.core.db.clock import SECONDS_BETWEEN_MARKS, ClockKeeper, mark, start_clock
from app.tables import ClockRow, EventRow
from tests.builders.clocks import WallClock, use, wall_clock
from tests.builders.contests import HOUR, add_contest, add_problem, add_submission
from tests.builders.scoring import share
from tests.builders.service import Api

SINCE_THE_MARK = timedelta(seconds=SECONDS_BETWEEN_MARKS)


@pytest.fixture
def wall() -> Iterator[WallClock]:
    with wall_clock() as wall:
        yield wall


@contextmanager
def restarted(api: Api, wall: WallClock, *, accept: bool = False) -> Iterator[None]:
    """Go by a clock that begins as a new process has it."""
    with use(ServiceClock(wall)):
        start_clock(api.service.database, accept=accept)
        yield


def keep_time(api: Api) -> None:
    """Mark the time as a running service does, which is killed next."""
    ClockKeeper(api.service.writer, HOUR.total_seconds()).close()


def until(condition: Callable[[], bool], seconds: float = 60.0) -> None:
    """Wait until a condition holds."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def submit(api: Api) -> Any:
    """Send an answer as the team."""
    files = [("files", ("02.out", b"2\n"))]
    return api.post("contests/c/submissions", user="team", data={"problem_id": "echo"}, files=files)


def test_an_ended_contest_stays_ended_when_the_clock_is_set_back(wall: WallClock, api: Api) -> None:
    add_problem(api.service)
    add_contest(api.service)
    wall.step(10 * HOUR)
    ended = api.get("contests/c/state").json()
    refused = submit(api)
    assert (refused.status_code, ended["ended"] is not None) == (403, True), refused.text
    wall.step(-10 * HOUR)
    assert api.get("contests/c/state").json() == ended
    assert submit(api).status_code == 403


def test_a_frozen_board_shows_nothing_new_when_the_clock_is_set_back(wall: WallClock, api: Api) -> None:
    add_problem(api.service)
    add_contest(api.service, freeze=timedelta(minutes=30))
    wall.step(3 * HOUR + timedelta(minutes=45))
    frozen = api.get("contests/c/scoreboard").json()
    assert frozen["state"]["frozen"] is not None
    assert frozen["state"]["ended"] is None
    wall.step(-HOUR)
    add_submission(api.service, {"02": share(1)}, minute=285)
    shown = api.get("contests/c/scoreboard").json()
    assert [row["score"] for row in shown["rows"]] == [row["score"] for row in frozen["rows"]]
    assert all(problem["num_judged"] == 0 for row in shown["rows"] for problem in row["problems"])
    assert shown["state"] == frozen["state"]


def test_a_wait_of_a_minute_is_no_hour_when_the_clock_is_set_back(wall: WallClock, api: Api) -> None:
    add_problem(api.service)
    add_contest(api.service, settings={"limits": {"interval_seconds": 60}})
    assert submit(api).status_code == 201
    wall.step(-HOUR)
    refused = submit(api)
    assert refused.status_code == 429
    assert int(refused.headers["Retry-After"]) <= 60


def test_the_time_in_replies_never_runs_back(wall: WallClock, api: Api) -> None:
    before = int(api.get("/health/live").headers["Jurado-Time"])
    wall.step(-HOUR)
    assert int(api.get("/health/live").headers["Jurado-Time"]) >= before


def test_a_contest_that_ended_in_silence_stays_ended_across_a_restart_with_an_earlier_clock(
    wall: WallClock, api: Api
) -> None:
    add_problem(api.service)
    add_contest(api.service)
    with restarted(api, wall):
        wall.step(10 * HOUR)
        keep_time(api)
        told = utc_now()
    wall.step(-10 * HOUR)
    with use(ServiceClock(wall)):  # as a new process has it
        assert api.get("contests/c/state").json()["ended"] is None
    with restarted(api, wall):
        assert utc_now() >= told
        assert api.get("contests/c/state").json()["ended"] is not None
        assert submit(api).status_code == 403
        assert 35_000 < api.get("/health/ready").json()["clock_ahead_seconds"] < 37_000


def test_what_was_told_after_the_last_mark_is_not_told_again(wall: WallClock, api: Api) -> None:
    with restarted(api, wall):
        keep_time(api)
        wall.step(SINCE_THE_MARK)
        told = utc_now()
    wall.step(-HOUR)
    with restarted(api, wall):
        assert utc_now() > told


def test_a_restart_with_a_right_clock_is_held_back_by_nothing(wall: WallClock, api: Api) -> None:
    with restarted(api, wall):
        keep_time(api)
    wall.step(timedelta(seconds=1))
    with restarted(api, wall):
        assert api.get("/health/ready").json()["clock_ahead_seconds"] == 0


def test_an_operator_takes_back_a_time_that_was_wrong_for_good(wall: WallClock, api: Api) -> None:
    add_problem(api.service)
    add_contest(api.service)
    wall.step(100 * HOUR)
    with api.service.database.write() as session:
        session.add(EventRow(contest_id="c", id=1_000_000, audience="p", type="state", time=utc_now()))
    with restarted(api, wall):
        keep_time(api)
    wall.step(-100 * HOUR)
    with restarted(api, wall, accept=True):
        assert api.get("contests/c/state").json()["ended"] is None
        assert submit(api).status_code == 201
    wall.step(timedelta(seconds=1))
    with restarted(api, wall):
        assert api.get("contests/c/state").json()["ended"] is None


def test_a_database_without_a_mark_goes_on_from_its_last_event(wall: WallClock, api: Api) -> None:
    add_problem(api.service)
    add_contest(api.service)
    wall.step(10 * HOUR)
    ended = utc_now()
    with api.service.database.write() as session:
        session.add(EventRow(contest_id="c", id=1_000_000, audience="p", type="state", time=ended))
    wall.step(-10 * HOUR)
    with restarted(api, wall):
        assert utc_now() >= ended


def test_many_wrong_passwords_are_no_longer_remembered_than_a_minute_when_the_clock_is_set_back(
    wall: WallClock,
) -> None:
    seconds = [0.0]
    failures = Failures(lambda: seconds[0])
    for at in range(4):
        seconds[0] = float(at)
        failures.add(("account", "team"), 3)
    wall.step(-HOUR)
    assert failures.reach(("account", "team"), 3)
    assert not failures.reach(("account", "other"), 3)
    seconds[0] = 61.5
    assert not failures.reach(("account", "team"), 3)
    failures.add(("account", "other"), 3)
    assert not failures.reach(("account", "other"), 3)


def test_processes_that_start_on_a_new_database_together_all_mark_the_time(postgresql_url: str) -> None:
    """The row of the one that is not yet committed is no fault of the other: a worker ended with it."""
    engine = create_engine(postgresql_url)
    now = utc_now()
    with ThreadPoolExecutor(1) as others, engine.connect() as first, engine.connect() as other:
        mark(first, [now])
        other.execute(text("SELECT 1"))
        process = other.connection.dbapi_connection.info.backend_pid  # type: ignore[union-attr]
        waits = others.submit(mark, other, [now + timedelta(seconds=1)])
        blocked = text("SELECT cardinality(pg_blocking_pids(:process)) > 0")
        with engine.connect() as watching:
            while not watching.scalar(blocked, {"process": process}):
                assert not waits.done()
        first.commit()
        waits.result()
        other.commit()
        assert other.scalar(select(ClockRow.time)) >= now
    engine.dispose()
