"""Questions to graders beside judgements: the validity of a test case, and scores of answers that are in no row."""

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import cast

from msgspec.structs import replace

from app.core.loops import fail, give
from app.domain.documents import FoundScore
from app.judging.service.messages import Failed, Grade, Held, Unreadable, Validate, Validated
from app.judging.service.outcomes import GraderProcess, Trial, judge_errors

MOST_FAILURES = 3
# A question is asked that often while its graders are killed from outside.
MOST_KILLS = 5
STOPPING = "the server stops"


class JudgeFailed(Exception):
    """A checker failed by itself where an admin waits for it."""


class NotJudged(JudgeFailed):
    """Nothing is known of the answer: no grader lived long enough, a file cannot be read, or the server stops."""


@dataclass(eq=False, slots=True)
class Question:
    """A test case to validate, and where the reply goes; `kills` of its graders from outside so far."""

    request: Validate
    future: Future[Validated] = field(default_factory=Future)
    kills: int = 0


@dataclass(eq=False, slots=True)
class Tried:
    """Answers to be graded that are in no row, and where their scores go; `failures` of the checker so far.

    `scores` are those of the first answers, graded in earlier slices.
    """

    request: Grade
    future: Future[Trial] = field(default_factory=Future)
    scores: list[FoundScore] = field(default_factory=list)
    kills: int = 0
    failures: int = 0


class Questions:
    """The queues of questions and of trials. The engine guards all but `answer` and `attempt` by its own lock."""

    def __init__(self, seconds: float, closing: Callable[[], bool]) -> None:
        self._seconds = seconds
        self._closing = closing
        self.questions: deque[Question] = deque()
        self.trials: deque[Tried] = deque()

    def add(self, asked: Question | Tried) -> None:
        """Queue it; once the server stops it fails instead."""
        if self._closing():
            _fail(asked, NotJudged(STOPPING))
        elif isinstance(asked, Question):
            self.questions.append(asked)
        else:
            self.trials.append(asked)

    def close(self) -> None:
        """Fail all that waits."""
        waiting: list[Question | Tried] = [*self.questions, *self.trials]
        for asked in waiting:
            _fail(asked, NotJudged(STOPPING))
        self.questions.clear()
        self.trials.clear()

    def answer(self, process: GraderProcess, question: Question) -> bool:
        """Validate a test case; False where that is to be tried again."""
        reply = process.ask(question.request, self._seconds)
        if isinstance(reply, Validated):
            give(question.future, reply)
            return True
        if isinstance(reply, Failed) and not isinstance(reply, Held) and not reply.blame:
            return self._killed(question, reply.error)
        error = reply.error if isinstance(reply, Failed) else "an unexpected reply"
        fail(question.future, NotJudged(error) if isinstance(reply, Held) else JudgeFailed(error))
        return True

    def attempt(self, process: GraderProcess, tried: Tried) -> bool:
        """Grade answers for a slice; False if some remain, or are tried again, as often as the checker may fail."""
        answers = tried.request.answers[len(tried.scores) :]
        scores = process.grade(replace(tried.request, answers=answers), self._seconds, fresh=tried.failures > 0)
        if not isinstance(scores, Failed):
            tried.scores += scores
            if len(tried.scores) < len(tried.request.answers):
                return False
            give(tried.future, Trial(tried.scores))
            return True
        if isinstance(scores, Unreadable | Held):
            fail(tried.future, NotJudged(scores.error))
            return True
        if not scores.blame:
            return self._killed(tried, scores.error)
        tried.failures += 1
        if tried.failures < MOST_FAILURES:
            return False
        give(tried.future, Trial(judge_errors(tried.request.answers), scores.error))
        return True

    def _killed(self, asked: Question | Tried, error: str) -> bool:
        """Note that a grader was killed from outside; is that the end?"""
        asked.kills += 1
        if self._closing():
            _fail(asked, NotJudged(STOPPING))
        elif asked.kills < MOST_KILLS:
            return False
        elif isinstance(asked, Tried):
            give(asked.future, Trial(judge_errors(asked.request.answers), error))
        else:
            fail(asked.future, NotJudged(f"its graders were killed {MOST_KILLS} times, the last one: {error}"))
        return True


def _fail(asked: Question | Tried, error: Exception) -> None:
    fail(cast("Future[object]", asked.future), error)
