"""The system's clock is set while a contest runs: nothing that was over begins anew, and no wait gets longer."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from app.domain.clock import ServiceClock, use, utc_now
from app.main import start_clock
from app.storage.tables import EventRow
from tests.builders.clocks import WallClock, wall_clock
from tests.builders.contests import HOUR, add_contest, add_problem, add_submission
from tests.builders.scoring import share
from tests.builders.service import Api


@pytest.fixture
def wall() -> Iterator[WallClock]:
    with wall_clock() as wall:
        yield wall


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


def test_a_service_that_starts_with_an_earlier_clock_goes_on_from_the_last_event(wall: WallClock, api: Api) -> None:
    add_problem(api.service)
    add_contest(api.service)
    wall.step(10 * HOUR)
    ended = utc_now()
    with api.service.database.write() as session:
        session.add(EventRow(contest_id="c", id=1_000_000, audience="p", type="state", time=ended))
    wall.step(-10 * HOUR)
    with use(ServiceClock(wall)):  # as a new process has it
        assert utc_now() < ended
        assert api.get("contests/c/state").json()["ended"] is None
        start_clock(api.service.database)
        assert utc_now() >= ended
        assert api.get("contests/c/state").json()["ended"] is not None
        assert submit(api).status_code == 403
