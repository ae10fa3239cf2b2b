"""What an admin waits for is asked again when its graders are killed; kills count only if others pass meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future
from typing import Any, cast

import pytest

from app.domain.documents import CaseAnswer, FoundScore
from app.domain.verdicts import CaseVerdict
from app.judging.service import questions
from app.judging.service.messages import Failed, Grade, Unreadable, Validate, Validated
from app.judging.service.outcomes import GraderProcess, Trial
from app.judging.service.questions import MOST_KILLS, JudgeFailed, NotJudged, Question, Questions, Suspects, Tried

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


def asked(suspects: Suspects) -> Questions:
    """Questions to an engine that goes on."""
    return Questions(suspects, 1.0, lambda: False)


def question() -> Question:
    """A test case to validate."""
    return Question(Validate("rogue", b"input"))


def tried() -> Tried:
    """An answer that is in no row."""
    return Tried(Grade("rogue", [CaseAnswer(1, "0" * 64, None, b"10", None, None)]))


def error(future: Future[Any]) -> type[BaseException]:
    """How it failed."""
    return type(future.exception(timeout=0))


def test_any_number_of_kills_from_outside_ends_neither_a_question_nor_a_trial() -> None:
    ask, given, some = asked(Suspects()), question(), tried()
    valid = Validated([])
    process = grader(*[KILLED] * 30, valid)
    assert [ask.answer(process, given) for _ in range(31)] == [False] * 30 + [True]
    assert given.future.result(timeout=0) == valid
    process = grader(*[KILLED] * 30, [SCORE])
    assert [ask.attempt(process, some) for _ in range(31)] == [False] * 30 + [True]
    assert some.future.result(timeout=0) == Trial([SCORE])


def test_kills_are_the_answers_if_others_pass_in_between() -> None:
    suspects = Suspects()
    ask, given, some = asked(suspects), question(), tried()
    for settled in (False,) * (MOST_KILLS - 1) + (True,):
        suspects.passed(OTHER)
        assert ask.answer(grader(KILLED), given) is settled
        assert ask.attempt(grader(KILLED), some) is settled
    assert error(given.future) is JudgeFailed
    found = some.future.result(timeout=0)
    assert [score.verdict for score in found.scores] == [CaseVerdict.JUDGE_ERROR]
    assert (found.error, given in suspects, some in suspects) == (KILLED.error, False, False)


def test_what_is_laid_aside_lets_others_pass() -> None:
    """After a kill the next one is asked first; once the server stops, all fail as not judged."""
    ask, first, second, some = asked(Suspects()), question(), question(), tried()
    for each in (first, second, some):
        ask.add(each)
    assert ask.take_question() is first
    for _ in range(2):
        assert not ask.answer(grader(KILLED), first)
    ask.add(first)
    assert (ask.take_question(), ask.question, ask.trial) == (second, None, some)
    ask.close()
    assert (error(first.future), error(some.future), second.future.done()) == (NotJudged, NotJudged, False)
    assert ask.take_trial() is None


def test_a_checkers_own_failures_end_a_question_at_once_and_a_trial_at_the_third() -> None:
    """Kills in between neither count nor start the count anew."""
    ask, given, some = asked(Suspects()), question(), tried()
    assert ask.answer(grader(FAILED), given)
    assert error(given.future) is JudgeFailed
    process = grader(FAILED, KILLED, FAILED, KILLED, FAILED)
    assert [ask.attempt(process, some) for _ in range(5)] == [False] * 4 + [True]
    assert some.future.result(timeout=0).error == FAILED.error


def test_nothing_is_said_of_an_answer_without_a_grader_or_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kills without end, and a stored file that cannot be read, are no verdict: whoever waits may ask again."""
    monkeypatch.setattr(questions, "MOST_SECONDS_KILLED", 0.0)
    ask, given, some, other = asked(Suspects()), question(), tried(), tried()
    assert ask.answer(grader(KILLED), given)
    assert ask.attempt(grader(KILLED), some)
    assert ask.attempt(grader(Unreadable("no stored file", sha256="0" * 64)), other)
    assert [error(each.future) for each in (given, some, other)] == [NotJudged] * 3
