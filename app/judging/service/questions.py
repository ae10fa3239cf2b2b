"""Questions to graders beside judgements: the validity of a test case."""

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field

from app.core.loops import fail, give
from app.judging.service.messages import Failed, Held, Validate, Validated
from app.judging.service.outcomes import GraderProcess

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


class Questions:
    """The queue of questions. The engine guards all but `answer` by its own lock."""

    def __init__(self, seconds: float, closing: Callable[[], bool]) -> None:
        self._seconds = seconds
        self._closing = closing
        self.questions: deque[Question] = deque()

    def add(self, asked: Question) -> None:
        """Queue it; once the server stops it fails instead."""
        if self._closing():
            fail(asked.future, NotJudged(STOPPING))
        else:
            self.questions.append(asked)

    def close(self) -> None:
        """Fail all that waits."""
        for asked in self.questions:
            fail(asked.future, NotJudged(STOPPING))
        self.questions.clear()

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

    def _killed(self, asked: Question, error: str) -> bool:
        """Note that a grader was killed from outside; is that the end?"""
        asked.kills += 1
        if self._closing():
            fail(asked.future, NotJudged(STOPPING))
        elif asked.kills < MOST_KILLS:
            return False
        else:
            fail(asked.future, NotJudged(f"its graders were killed {MOST_KILLS} times, the last one: {error}"))
        return True
