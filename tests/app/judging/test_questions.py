"""What an admin waits for is asked again when its graders are killed; kills count only if others pass meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future
from typing import Any, cast

from app.judging.service.messages import Failed, Validate, Validated
from app.judging.service.outcomes import GraderProcess
from app.judging.service.questions import MOST_KILLS, JudgeFailed, NotJudged, Question, Questions

KILLED = Failed("the grader process ended with status -9", blame=False)
FAILED = Failed("the checker has a fault")


class Replies:
    """A grader that gives one reply after the other."""

    def __init__(self, *replies: Any) -> None:
        self._replies: Iterator[Any] = iter(replies)

    def ask(self, _request: Validate, _seconds: float) -> Any:
        """Give the next reply to a question."""
        return next(self._replies)


def grader(*replies: Any) -> GraderProcess:
    """A grader that gives these replies."""
    return cast(GraderProcess, Replies(*replies))


def asked() -> Questions:
    """Questions to an engine that goes on."""
    return Questions(1.0, lambda: False)


def question() -> Question:
    """A test case to validate."""
    return Question(Validate("rogue", b"input"))


def error(future: Future[Any]) -> type[BaseException]:
    """How it failed."""
    return type(future.exception(timeout=0))


def test_some_kills_from_outside_do_not_end_a_question() -> None:
    ask, given = asked(), question()
    valid = Validated([])
    kills = MOST_KILLS - 1
    process = grader(*[KILLED] * kills, valid)
    assert [ask.answer(process, given) for _ in range(kills + 1)] == [False] * kills + [True]
    assert given.future.result(timeout=0) == valid


def test_what_loses_each_grader_is_not_asked_forever() -> None:
    """Nothing is known of the test case."""
    ask, given = asked(), question()
    for settled in (False,) * (MOST_KILLS - 1) + (True,):
        assert ask.answer(grader(KILLED), given) is settled
    assert error(given.future) is NotJudged


def test_once_the_server_stops_all_fail_as_not_judged() -> None:
    ask, first = asked(), question()
    ask.add(first)
    ask.close()
    assert error(first.future) is NotJudged
    assert not ask.questions


def test_a_checkers_own_failure_ends_a_question_at_once() -> None:
    ask, given = asked(), question()
    assert ask.answer(grader(FAILED), given)
    assert error(given.future) is JudgeFailed
