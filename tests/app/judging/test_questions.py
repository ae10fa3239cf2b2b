"""What an admin waits for is asked again when its graders are killed; kills count only if others pass meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future
from typing import Any, cast

from app.domain.counting import CaseVerdict
from app.domain.documents import CaseAnswer, FoundScore
from app.judging.service.messages import Failed, Grade, Unreadable, Validate, Validated
from app.judging.service.outcomes import GraderProcess, Trial
from app.judging.service.questions import MOST_KILLS, JudgeFailed, NotJudged, Question, Questions, Tried

KILLED = Failed("the grader process ended with status -9", blame=False)
FAILED = Failed("the checker has a fault")
SCORE = FoundScore(1, CaseVerdict.ACCEPTED, 10, 10, 1, {"key": "accepted", "text": "", "args": {}}, 0)
OTHER = 7
"""A judgement that passes meanwhile."""


class Replies:
    """A grader that gives one reply after the other."""

    def __init__(self, *replies: Any) -> None:
        self._replies: Iterator[Any] = iter(replies)

    def ask(self, _request: Validate, _seconds: float) -> Any:
        """Give the next reply to a question."""
        return next(self._replies)

    def grade(self, _request: Grade, _seconds: float, *, fresh: bool) -> Any:
        """Give the next reply to a trial."""
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


def tried() -> Tried:
    """An answer that is in no row."""
    return Tried(Grade("rogue", [CaseAnswer(1, "0" * 64, None, b"10", None, None)]))


def error(future: Future[Any]) -> type[BaseException]:
    """How it failed."""
    return type(future.exception(timeout=0))


def test_some_kills_from_outside_end_neither_a_question_nor_a_trial() -> None:
    ask, given, some = asked(), question(), tried()
    valid = Validated([])
    kills = MOST_KILLS - 1
    process = grader(*[KILLED] * kills, valid)
    assert [ask.answer(process, given) for _ in range(kills + 1)] == [False] * kills + [True]
    assert given.future.result(timeout=0) == valid
    process = grader(*[KILLED] * kills, [SCORE])
    assert [ask.attempt(process, some) for _ in range(kills + 1)] == [False] * kills + [True]
    assert some.future.result(timeout=0) == Trial([SCORE])


def test_what_loses_each_grader_is_not_asked_forever() -> None:
    """Nothing is known of the test case, and the answers that were tried are judge errors."""
    ask, given, some = asked(), question(), tried()
    for settled in (False,) * (MOST_KILLS - 1) + (True,):
        assert ask.answer(grader(KILLED), given) is settled
        assert ask.attempt(grader(KILLED), some) is settled
    assert error(given.future) is NotJudged
    found = some.future.result(timeout=0)
    assert [score.verdict for score in found.scores] == [CaseVerdict.JUDGE_ERROR]
    assert found.error == KILLED.error


def test_once_the_server_stops_all_fail_as_not_judged() -> None:
    ask, first, some = asked(), question(), tried()
    for each in (first, some):
        ask.add(each)
    ask.close()
    assert (error(first.future), error(some.future)) == (NotJudged, NotJudged)
    assert not ask.questions


def test_a_checkers_own_failures_end_a_question_at_once_and_a_trial_at_the_third() -> None:
    """Kills in between neither count nor start the count anew."""
    ask, given, some = asked(), question(), tried()
    assert ask.answer(grader(FAILED), given)
    assert error(given.future) is JudgeFailed
    process = grader(FAILED, KILLED, FAILED, KILLED, FAILED)
    assert [ask.attempt(process, some) for _ in range(5)] == [False] * 4 + [True]
    assert some.future.result(timeout=0).error == FAILED.error


def test_nothing_is_said_of_an_answer_without_a_file() -> None:
    """A stored file that cannot be read is no verdict: whoever waits may ask again."""
    ask, other = asked(), tried()
    assert ask.attempt(grader(Unreadable("no stored file", sha256="0" * 64)), other)
    assert error(other.future) is NotJudged
