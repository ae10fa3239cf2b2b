"""What is asked of a grader beside judgements: is a test case valid, and what are answers worth that are in no row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass

from app.domain.case_scores import FoundScore
from app.grading.messages import Failed, Grade, Validate, Validated
from app.grading.outcomes import Trial, judge_errors
from app.grading.process import GraderProcess
from app.grading.trying import Tries

MOST_FAILURES = 3
STOPPING = "the server stops"


class JudgeFailed(Exception):
    """A checker failed by itself where an admin waits for it."""


@dataclass(frozen=True, slots=True)
class Question:
    """A test case to validate, and where the reply goes."""

    request: Validate
    future: Future[Validated]


@dataclass(frozen=True, slots=True)
class Tried:
    """Answers to be graded that are in no row, and where their scores go."""

    request: Grade
    future: Future[Trial]


def answer(process: GraderProcess, question: Question, seconds: float, closing: Callable[[], bool]) -> None:
    """Have a test case validated; a grader that something else kills meanwhile is replaced, and asked again."""
    tries = Tries(closing)
    reply = process.ask(question.request, seconds)
    while isinstance(reply, Failed) and tries.innocent(reply) and not closing():
        reply = process.ask(question.request, seconds)
    if isinstance(reply, Validated):
        question.future.set_result(reply)
    else:
        error = reply.error if isinstance(reply, Failed) else "an unexpected reply"
        question.future.set_exception(JudgeFailed(error))


def try_answers(process: GraderProcess, tried: Tried, seconds: float, closing: Callable[[], bool]) -> None:
    """Grade answers, each within `seconds`, as often as the checker may fail; not at all once the server stops."""
    found: Sequence[FoundScore] | Failed = Failed(STOPPING)
    tries, failures = Tries(closing), 0
    while failures < MOST_FAILURES and not tries.hopeless:
        found = process.grade(tried.request, seconds, fresh=tries.failed)
        if closing() or not isinstance(found, Failed):
            break
        failures += not tries.innocent(found)
    if not isinstance(found, Failed):
        tried.future.set_result(Trial(found))
    elif closing():
        tried.future.set_exception(JudgeFailed(STOPPING))
    else:
        tried.future.set_result(Trial(judge_errors(tried.request.answers), found.error))
