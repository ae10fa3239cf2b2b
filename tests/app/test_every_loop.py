"""Every loop of the application continues after an exception in its step."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any, cast
from unittest.mock import MagicMock, Mock, patch

import pytest

from app.archive.queries.scrub import Scrub
from app.core.db.clock import ClockKeeper
from app.core.db.database import Database
from app.core.db.listener import Listener
from app.core.db.locks import SERVER, Locks, Presence
from app.core.db.serving import hold
from app.core.db.writer import Writer
from app.core.files.open_files import LocalFiles
from app.core.loops import Loop
from app.games.service.ending import Keeper
from app.judging.service.broker import Consumer, Sender
from app.judging.service.jobs import JobRunner
from tests.builders.contests import add_contest, add_problem
from tests.builders.grading import grading
from tests.builders.service import Idle, open_api
from tests.builders.two import BROKER
from tests.builders.waiting import until

Start = Callable[[ExitStack, str, Path], object]
APP = Path(__file__).resolve().parents[2] / "app"


def database(stack: ExitStack, url: str) -> Database:
    return stack.enter_context(closing(Database(url)))


def writer(stack: ExitStack, url: str) -> Writer:
    return stack.enter_context(closing(Writer(database(stack, url))))


def feed(stack: ExitStack, url: str, home: Path) -> None:
    api = stack.enter_context(open_api(url, home))
    add_problem(api.service)
    add_contest(api.service)
    assert api.get("contests/c/event-feed?stream=false").status_code == 200


def games(stack: ExitStack, url: str, home: Path) -> None:
    api = stack.enter_context(open_api(url, home))
    stack.enter_context(closing(Keeper(api.service))).start()


def engine(stack: ExitStack, url: str, home: Path) -> None:
    stack.enter_context(grading(url, home))


def jobs(stack: ExitStack, url: str, home: Path) -> None:
    runner = JobRunner(database(stack, url), LocalFiles(home), cast(Any, Idle()), lambda _problem_id: None)
    stack.enter_context(closing(runner)).start()


def clock(stack: ExitStack, url: str, _home: Path) -> None:
    stack.enter_context(closing(ClockKeeper(writer(stack, url), 0.01)))


def presence(stack: ExitStack, url: str, _home: Path) -> None:
    stack.enter_context(closing(Presence(writer(stack, url), SERVER, Locks()))).start()


def stored_files(stack: ExitStack, url: str, home: Path) -> None:
    stack.enter_context(closing(Scrub(database(stack, url), LocalFiles(home), 0))).start()


def notices(stack: ExitStack, url: str, _home: Path) -> None:
    stack.enter_context(closing(Listener(url, "test"))).start()


def lock(stack: ExitStack, url: str, _home: Path) -> None:
    held = hold("test", None, url)
    stack.callback(held.release)
    held.watch(Mock(), Mock(), Mock())


def broker(stack: ExitStack, _url: str, _home: Path) -> None:
    stack.enter_context(patch("app.judging.service.broker.open_channel", MagicMock()))
    stack.enter_context(closing(Sender(BROKER))).call()


def messages(stack: ExitStack, _url: str, _home: Path) -> None:
    stack.enter_context(patch("app.judging.service.broker.open_channel", MagicMock()))
    consumer = Consumer(BROKER, lambda: None)
    stack.callback(consumer.loop.close)
    consumer.loop.start()


def job_watch(stack: ExitStack, url: str, home: Path) -> None:
    runner = JobRunner(database(stack, url), LocalFiles(home), cast(Any, Idle()), lambda _problem_id: None)
    stack.enter_context(runner._watched("1", "job 1"))


STARTS: dict[str, Start] = {
    "broker": broker,
    "clock": clock,
    "feed": feed,
    "games": games,
    "grader-0": engine,
    "job watch": job_watch,
    "jobs": jobs,
    "lock": lock,
    "messages": messages,
    "notices": notices,
    "presence": presence,
    "stored files": stored_files,
}


class FirstStepFails:
    """Takes the place of a loop's step: the first call raises, the others do the step."""

    def __init__(self, loop: Loop) -> None:
        self.loop, self.step, self.calls = loop, loop._step, 0

    def __call__(self) -> float | None:
        self.calls += 1
        if self.calls == 1:
            raise ZeroDivisionError("injected")
        return self.step()


@pytest.mark.parametrize("name", STARTS)
def test_a_loop_continues_after_an_exception_in_its_step(
    name: str, postgresql_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    injected: list[FirstStepFails] = []
    start = Loop.start

    def start_with_a_failure(loop: Loop) -> None:
        if loop._name == name and not any(each.loop is loop for each in injected):
            injected.append(FirstStepFails(loop))
            loop._step = injected[-1]
            loop._retry = 0.0
        start(loop)

    monkeypatch.setattr(Loop, "start", start_with_a_failure)
    with ExitStack() as stack:
        STARTS[name](stack, postgresql_url, tmp_path)
        until(lambda: bool(injected))
        injected[0].loop.wake()
        until(lambda: injected[0].calls >= 2)
        assert injected[0].loop.state.failures == 1


def test_each_loop_of_the_application_is_tried() -> None:
    pattern = re.compile(r"\bLoop\(\s*f?\"([^\"]+)\"")
    named = {name for path in APP.rglob("*.py") for name in pattern.findall(path.read_text(encoding="utf-8"))}
    assert {name.replace("{at}", "0") for name in named} == set(STARTS)
