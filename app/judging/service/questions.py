"""Questions to graders beside judgements: the validity of a test case, and scores of answers that are in no row.

- Answers whose graders were killed from outside: which of them cause that, and how long the others wait.

Guarantee 4: the lock of `Suspects` keeps its counts whole, as every grader thread adds to them.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import TypeVar, cast

from msgspec.structs import replace

from app.core.loops import fail, give
from app.domain.documents import FoundScore
from app.judging.service.messages import Failed, Grade, Held, Unreadable, Validate, Validated
from app.judging.service.outcomes import GraderProcess, Trial, judge_errors

# Graders that one answer may have killed while answers of others passed in between.
MOST_KILLS = 3
FIRST_PAUSE = 0.15
LONGEST_PAUSE = 10.0


@dataclass
class Record:
    """The kills of one suspect: all in a row, those held to be its own doing, the passes of others by the last one."""

    kills: int = 0
    caused: int = 0
    passes: int = -1
    due: float = 0.0


class Suspects:
    """Work that was killed with its grader from outside, in memory only. May be used from any thread.

    Judgements go by their ids; what is asked beside them, by itself.

    An operator's or the kernel's kills hit whatever is checked; an answer that takes the machine's memory loses each
    grader while the answers of others pass. A kill counts as the answer's if another answer passed since the last one.
    """

    def __init__(self) -> None:
        self._records: dict[Hashable, Record] = {}
        self._passes = 0
        self._guard = threading.Lock()

    def __contains__(self, checked: Hashable) -> bool:
        """Whether it is not to be tried yet."""
        return self.pause(checked) > 0

    def pause(self, checked: Hashable) -> float:
        """Seconds until it may be tried again."""
        record = self._records.get(checked)
        return 0.0 if record is None else max(0.0, record.due - time.monotonic())

    def killed(self, checked: Hashable) -> bool:
        """Note that a grader was killed while it checked this; is that held to be the answer's doing by now?

        Else it may be tried again after a pause, which grows with each kill.
        """
        with self._guard:
            record = self._records.setdefault(checked, Record())
            record.kills += 1
            record.caused += self._passes > record.passes
            record.passes = self._passes
            if record.caused >= MOST_KILLS:
                del self._records[checked]
                return True
            record.due = time.monotonic() + min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** min(record.kills, 16))
            return False

    def passed(self, checked: Hashable) -> None:
        """Note that a grader lived through this."""
        with self._guard:
            self._passes += 1
            self._records.pop(checked, None)

    def forget(self, checked: Hashable) -> None:
        """Drop what is known of something that is checked no more."""
        self._records.pop(checked, None)


MOST_FAILURES = 3
# Somebody waits for the reply: after so long without a grader that lives, he is told that there is none.
MOST_SECONDS_KILLED = 120.0
STOPPING = "the server stops"


class JudgeFailed(Exception):
    """A checker failed by itself where an admin waits for it."""


class NotJudged(JudgeFailed):
    """Nothing is known of the answer: no grader lived long enough, a file cannot be read, or the server stops."""


@dataclass(eq=False, slots=True)
class Question:
    """A test case to validate, and where the reply goes; `killed_since`: its first grader was killed then."""

    request: Validate
    future: Future[Validated] = field(default_factory=Future)
    killed_since: float | None = None


@dataclass(eq=False, slots=True)
class Tried:
    """Answers to be graded that are in no row, and where their scores go; `failures` of the checker so far.

    `scores` are those of the first answers, graded in earlier slices.
    """

    request: Grade
    future: Future[Trial] = field(default_factory=Future)
    scores: list[FoundScore] = field(default_factory=list)
    killed_since: float | None = None
    failures: int = 0


Asked = TypeVar("Asked", Question, Tried)


class Questions:
    """The queue of questions. The engine guards all but `answer` and `attempt` by its own lock.

    What was killed from outside counts by the rule of `Suspects`: only if others pass meanwhile. It is asked again,
    after a pause that grows, and other work goes on in between.
    """

    def __init__(self, suspects: Suspects, seconds: float, closing: Callable[[], bool]) -> None:
        self._suspects = suspects
        self._seconds = seconds
        self._closing = closing
        self._questions: deque[Question] = deque()
        self._trials: deque[Tried] = deque()

    def add(self, asked: Question | Tried) -> None:
        """Queue it; once the server stops it fails instead."""
        if self._closing():
            _fail(asked, NotJudged(STOPPING))
        elif isinstance(asked, Question):
            self._questions.append(asked)
        else:
            self._trials.append(asked)

    def close(self) -> None:
        """Fail all that waits."""
        for waiting in (self._questions, self._trials):
            for asked in waiting:
                _fail(asked, NotJudged(STOPPING))
        self._questions.clear()
        self._trials.clear()

    @property
    def question(self) -> Question | None:
        """The first question that is not laid aside."""
        return self._first(self._questions)

    @property
    def trial(self) -> Tried | None:
        """The first trial that is not laid aside."""
        return self._first(self._trials)

    def take_question(self) -> Question | None:
        """Take the first question that is not laid aside."""
        return self._taken(self._questions)

    def take_trial(self) -> Tried | None:
        """Take the first trial that is not laid aside."""
        return self._taken(self._trials)

    def answer(self, process: GraderProcess, question: Question) -> bool:
        """Validate a test case; False where that is to be tried again."""
        reply = process.ask(question.request, self._seconds)
        if isinstance(reply, Held):
            self._suspects.forget(question)
            fail(question.future, NotJudged(reply.error))
            return True
        if isinstance(reply, Failed) and not reply.blame:
            return self._killed(question, reply.error)
        if isinstance(reply, Validated):
            self._suspects.passed(question)
            give(question.future, reply)
            return True
        self._suspects.forget(question)
        error = reply.error if isinstance(reply, Failed) else "an unexpected reply"
        fail(question.future, JudgeFailed(error))
        return True

    def attempt(self, process: GraderProcess, tried: Tried) -> bool:
        """Grade answers for a slice; False if some remain, or are tried again, as often as the checker may fail."""
        answers = tried.request.answers[len(tried.scores) :]
        scores = process.grade(replace(tried.request, answers=answers), self._seconds, fresh=tried.failures > 0)
        if not isinstance(scores, Failed):
            self._suspects.passed(tried)
            tried.scores += scores
            if len(tried.scores) < len(tried.request.answers):
                return False
            give(tried.future, Trial(tried.scores))
            return True
        if isinstance(scores, Unreadable | Held):
            self._suspects.forget(tried)
            fail(tried.future, NotJudged(scores.error))
            return True
        if not scores.blame:
            return self._killed(tried, scores.error)
        tried.failures += 1
        if tried.failures < MOST_FAILURES:
            return False
        self._suspects.forget(tried)
        give(tried.future, Trial(judge_errors(tried.request.answers), scores.error))
        return True

    def _killed(self, asked: Question | Tried, error: str) -> bool:
        """Note that a grader was killed from outside; is that the end?"""
        if self._closing():
            _fail(asked, NotJudged(STOPPING))
            return True
        now = time.monotonic()
        if asked.killed_since is None:
            asked.killed_since = now
        if self._suspects.killed(asked):
            if isinstance(asked, Tried):
                give(asked.future, Trial(judge_errors(asked.request.answers), error))
            else:
                fail(asked.future, JudgeFailed(error))
            return True
        if now - asked.killed_since < MOST_SECONDS_KILLED:
            return False
        self._suspects.forget(asked)
        _fail(asked, NotJudged(f"its graders were killed for {MOST_SECONDS_KILLED:g} s, the last one: {error}"))
        return True

    def _first(self, waiting: deque[Asked]) -> Asked | None:
        return next((asked for asked in waiting if asked not in self._suspects), None)

    def _taken(self, waiting: deque[Asked]) -> Asked | None:
        if (asked := self._first(waiting)) is not None:
            waiting.remove(asked)
        return asked


def _fail(asked: Question | Tried, error: Exception) -> None:
    fail(cast("Future[object]", asked.future), error)
