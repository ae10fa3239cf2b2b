"""Background work continues whatever a step raises, and says what became of its steps."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path

import pytest
from sqlalchemy.exc import OperationalError

from app.core.loops import Loop, fail, give, states
from app.operations.service.readiness import has_room
from tests.builders.service import open_api
from tests.builders.waiting import until


class Steps:
    """A step that fails as often as it is told to, and counts."""

    def __init__(self, faults: int, error: Callable[[], Exception] = lambda: OSError("no room")) -> None:
        self.faults, self.error, self.done = faults, error, 0

    def __call__(self) -> None:
        if self.faults:
            self.faults -= 1
            raise self.error()
        self.done += 1


@pytest.mark.parametrize(
    "error", [lambda: OSError("full"), lambda: OperationalError("SELECT", None, Exception("away")), ZeroDivisionError]
)
def test_a_loop_goes_on_after_any_exception(error: Callable[[], Exception]) -> None:
    steps = Steps(2, error)
    loop = Loop("test", steps, 0.01)
    loop.start()
    until(lambda: steps.done >= 2)
    state = loop.state
    loop.close()
    assert (state.failures, state.error) == (2, "")
    assert state.succeeded is not None


def test_a_failing_loop_names_its_error_until_a_step_succeeds() -> None:
    steps = Steps(10**9)
    loop = Loop("test of failures", steps)
    loop.start()
    until(lambda: loop.state.failures >= 1)
    (mine,) = (state for state in states() if state.name == "test of failures")
    assert mine.error == "no room"
    steps.faults = 0
    until(lambda: steps.done >= 1)
    assert loop.state.error == ""
    loop.close()
    assert all(state.name != "test of failures" for state in states())


def test_wake_runs_a_step_at_once_and_none_is_lost_while_one_runs() -> None:
    entered, leave, count = threading.Event(), threading.Event(), Steps(0)

    def step() -> None:
        count()
        entered.set()
        leave.wait(60)

    loop = Loop("test", step)
    loop.start()
    loop.wake()
    assert entered.wait(60)
    loop.wake()  # while the first step runs
    leave.set()
    until(lambda: count.done >= 2)
    loop.close()


def test_a_step_may_set_the_seconds_until_the_next() -> None:
    pauses = iter([0.0, 0.0])
    count = Steps(0)

    def step() -> float | None:
        count()
        return next(pauses, None)

    loop = Loop("test", step, delay=0.0)
    loop.start()
    until(lambda: count.done == 3)
    loop.close()


def test_close_ends_a_step_that_waits() -> None:
    entered = threading.Event()

    def step() -> None:
        entered.set()
        loop.wait(3600)

    loop = Loop("test", step)
    loop.start()
    assert entered.wait(60)
    loop.close(60)
    assert loop.closing
    assert all(thread.name != "test" for thread in threading.enumerate())


def test_results_for_cancelled_futures_are_dropped() -> None:
    cancelled: Future[int] = Future()
    cancelled.cancel()
    give(cancelled, 1)
    fail(cancelled, OSError())
    assert cancelled.cancelled()


def test_readiness_and_metrics_show_failing_loops(tmp_path: Path, database_url: str) -> None:
    with open_api(database_url, tmp_path / "home") as api:
        steps = Steps(10**9)
        loop = Loop("test of readiness", steps)
        loop.start()
        until(lambda: loop.state.failures >= 1)
        mine = api.get("/health/ready").json()["loops"]["test of readiness"]
        assert (mine["last_success"], mine["failures"] >= 1, mine["error"]) == (None, True, "no room")
        counted = api.get("/metrics", user="admin").text
        assert 'jurado_loop_failures_total{loop="test of readiness"}' in counted
        steps.faults = 0
        until(lambda: steps.done >= 1)
        mine = api.get("/health/ready").json()["loops"]["test of readiness"]
        assert (mine["last_success"] is None, mine["error"]) == (False, "")
        loop.close()


def test_a_disk_without_room_is_not_ready(tmp_path: Path) -> None:
    assert has_room(tmp_path)
    assert not has_room(tmp_path, 2**80)
    assert has_room(tmp_path / "on another machine", 2**80)
