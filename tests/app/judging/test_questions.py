"""What an admin waits for is asked again when its graders are killed; kills count only if others pass meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any, cast

import pytest

from app.core.db.database import Database
from app.core.db.writer import Writer
from app.core.files.open_files import LocalFiles
from app.judging.service.engine import Engine, JudgeFailed, NotJudged
from app.judging.service.graders import EngineSettings, GraderProcess
from app.judging.service.judging import MOST_KILLS
from app.judging.service.messages import Failed, Validate, Validated

KILLED = Failed("the grader process ended with status -9", blame=False)
FAILED = Failed("the checker has a fault")


class Replies:
    """A grader that gives one reply after the other."""

    def __init__(self, *replies: Any) -> None:
        self._replies: Iterator[Any] = iter(replies)

    def ask(self, _request: Validate, _seconds: float) -> Any:
        """Give the next reply to a question."""
        return next(self._replies)


class Asked:
    """An engine with one grader, which gives these replies; nothing else of it runs."""

    def __init__(self, folder: Path) -> None:
        settings = EngineSettings(1, 2**31, 1.0, LocalFiles(folder))
        self.engine = Engine(cast(Database, None), cast(Writer, None), settings, lambda *_: None)

    def ask(self, *replies: Any) -> Future[Validated]:
        """Ask once for a test case's validity, and work until nothing is queued."""
        future = self.engine.validate(Validate("rogue", b"input"))
        process = cast(GraderProcess, Replies(*replies))
        while self.engine._questions:
            self.engine._answer(process, self.engine._questions.popleft())
        return future


@pytest.fixture
def asked(tmp_path: Path) -> Asked:
    """An engine that continues."""
    return Asked(tmp_path)


def error(future: Future[Any]) -> type[BaseException]:
    """How it failed."""
    return type(future.exception(timeout=0))


def test_some_kills_from_outside_do_not_end_a_question(asked: Asked) -> None:
    valid = Validated([])
    assert asked.ask(*[KILLED] * (MOST_KILLS - 1), valid).result(timeout=0) == valid


def test_what_loses_each_grader_is_not_asked_forever(asked: Asked) -> None:
    """Nothing is known of the test case."""
    assert error(asked.ask(*[KILLED] * MOST_KILLS)) is NotJudged


def test_once_the_server_stops_all_fail_as_not_judged(asked: Asked) -> None:
    first = asked.engine.validate(Validate("rogue", b"input"))
    asked.engine.close()
    assert error(first) is NotJudged
    assert error(asked.engine.validate(Validate("rogue", b"input"))) is NotJudged


def test_a_checkers_own_failure_ends_a_question_at_once(asked: Asked) -> None:
    assert error(asked.ask(FAILED)) is JudgeFailed
