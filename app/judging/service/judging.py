"""The judging of one submission on a grader: attempts until it has an outcome, waits, or is laid aside.

- Judgements that wait for a stored file or for the sandbox: what is missing is no fault of the answer, and no verdict.

Guarantee 4: what lacks a file or the sandbox waits, and the lock of `Parked` keeps the list whole for all threads.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import structlog

from app.core import tracing
from app.core.db.writer import Writer
from app.core.files.files import State
from app.core.tracing import in_logs
from app.domain.documents import FoundScore
from app.judging.service.messages import Failed, Grade, Held, Unreadable
from app.judging.service.outcomes import GraderProcess, given_up, outcome, over_limit
from app.judging.service.questions import MOST_FAILURES, Suspects
from app.packages.settings import SUBMISSION_SECONDS
from app.submissions.queries import judgements
from app.submissions.queries.judgements import Claim, Failure, Outcome, Task

parked_log = structlog.get_logger()

# A file that has not changed is tried again after a minute of looks, as a disk may read what it could not.
LOOKS_FOR_A_FILE = 12
# The sandbox is tried again after a quarter of a minute.
LOOKS_FOR_THE_SANDBOX = 3
SANDBOX = "sandbox"


@dataclass
class FileFault:
    """A stored file that a grader could not read (or the SANDBOX), why, and the judgements that wait for it."""

    sha256: str
    error: str
    most_looks: int
    judgements: set[int] = field(default_factory=set)
    state: State = None
    looks: int = 0


class Parked:
    """Judgements that wait for the sandbox, or for files of a store, whose `state(sha256)` changes with each write.

    They stay open in their rows; what is here is only memory. `on_fault` is called with (sha256, error) of each file
    that is waited for, again whenever it was tried without effect.
    """

    def __init__(self, state: Callable[[str], State]) -> None:
        self._state = state
        self.on_fault: Callable[[str, str], object] = lambda _sha256, _error: None
        self._faults: dict[str, FileFault] = {}
        self._guard = threading.Lock()

    def __contains__(self, judgement_id: object) -> bool:
        with self._guard:
            return any(judgement_id in fault.judgements for fault in self._faults.values())

    def park(self, judgement_id: int, sha256: str, error: str) -> None:
        """Let a judgement wait until the file is another one, or a minute has passed."""
        with self._guard:
            is_new = sha256 not in self._faults
            if is_new:
                parked_log.error("a stored file cannot be read: what needs it waits", sha256=sha256, error=error)
                self._faults[sha256] = FileFault(sha256, error, LOOKS_FOR_A_FILE, state=self._state(sha256))
            self._faults[sha256].judgements.add(judgement_id)
        if is_new:
            self.on_fault(sha256, error)

    def hold(self, judgement_id: int, error: str) -> None:
        """Let a judgement wait until the sandbox is tried again."""
        with self._guard:
            if SANDBOX not in self._faults:
                parked_log.error("no program of a package can run: what needs one waits", error=error)
            fault = self._faults.setdefault(SANDBOX, FileFault(SANDBOX, error, LOOKS_FOR_THE_SANDBOX))
            fault.judgements.add(judgement_id)

    def look(self) -> set[int]:
        """The judgements that still wait; those whose file has changed, or is to be tried again, are let go."""
        with self._guard:
            for sha256, fault in list(self._faults.items()):
                fault.looks += 1
                if fault.looks >= fault.most_looks or (sha256 != SANDBOX and self._state(sha256) != fault.state):
                    del self._faults[sha256]
            return {id_ for fault in self._faults.values() for id_ in fault.judgements}

    def faults(self) -> list[FileFault]:
        """The files that are waited for."""
        with self._guard:
            return [fault for fault in self._faults.values() if fault.sha256 != SANDBOX]


NAME = "jurado.judging"
STANDARD_LOG = logging.getLogger(NAME)  # which knows its level without a look through structlog's proxies
log: structlog.stdlib.BoundLogger = structlog.get_logger(NAME)
# How an attempt may end: judged, failed by the checker, its grader killed from outside, without a file or sandbox.
JUDGED, FAILED, KILLED, WAITS = "judged", "failed", "killed", "waits"


@dataclass(slots=True)
class Progress:
    """The scores of a submission's first cases, and the seconds that graders have used for it."""

    task: Task
    scores: list[FoundScore] = field(default_factory=list)
    seconds: float = 0.0


class Judging:
    """Judges tasks, each answer within `seconds`. What a checker did counts as a failure, what others did does not.

    A task whose slice ends before its last case is `unfinished`: it is to be judged again, after others had their turn,
    and its progress is in memory only. All its slices together may take as long as its problem allows.

    An answer whose judging was lost three times with the whole process, while no other such answer was judged beside
    it, is given up. `on_attempt` is told how each attempt ended (JUDGED, FAILED, KILLED, WAITS), and its seconds.
    """

    def __init__(
        self, writer: Writer, parked: Parked, seconds: float, closing: Callable[[], bool], process_id: str | None = None
    ) -> None:
        self._writer = writer
        self._process_id = process_id
        self._parked = parked
        self._seconds = seconds
        self._closing = closing
        self.suspects = Suspects()
        self.unfinished: dict[int, Progress] = {}
        self.on_attempt: Callable[[str, float], object] = lambda _how, _seconds: None

    def judge(self, process: GraderProcess, task: Task, on_failure: Callable[[], None]) -> Outcome | None:
        """Judge until it is done or its slice ends, as often as the checker may fail.

        None if it is no longer to be judged, or not now.

        `on_failure` is called after each attempt that failed, before another grader is taken.
        """
        context = tracing.handed_over(task.judgement_id)
        with (
            in_logs(submission_id=task.submission_id, judgement_id=task.judgement_id),
            tracing.span("judge", context, problem=task.problem_id),
        ):
            if context and task.submitted is not None:
                tracing.past_span("queue", task.submitted)
            ended = self._judge(process, task, on_failure)
            if ended is not None:
                tracing.tell(type=ended.type)
            return ended

    def _judge(self, process: GraderProcess, task: Task, on_failure: Callable[[], None]) -> Outcome | None:
        is_fresh = False
        progress = self.unfinished.pop(task.judgement_id, None)
        if progress is None or not _is_same(progress.task, task):
            progress = Progress(task)
        if task.lost >= MOST_FAILURES:
            log.warning("an answer is given up: its processes were lost", problem=task.problem_id, error=task.error)
            return given_up(task, f"judging it was lost {task.lost} times with its process; {task.error}")
        while not self._closing():
            result = self._attempt(process, task, progress, fresh=is_fresh)
            if result is not None or self._waits(task.judgement_id):
                return result
            is_fresh = True
            on_failure()
            attempt = self._writer.submit(judgements.begin_many, Claim(task.judgement_id, self._process_id)).result()
            if attempt is None:
                return None
            task = replace(task, attempt=attempt)
        return None

    def _waits(self, judgement_id: int) -> bool:
        places = (self.unfinished, self._parked, self.suspects)
        return any(judgement_id in each for each in places)

    def _attempt(self, process: GraderProcess, task: Task, progress: Progress, *, fresh: bool) -> Outcome | None:
        """Attempt the remaining cases once: the outcome, or None where it has to be tried again or is unfinished."""
        answers = task.answers[len(progress.scores) :]
        request = Grade(task.settings["checker"], answers, task.settings.get("program"))
        limit = task.settings.get("submission_seconds", SUBMISSION_SECONDS)
        began = time.monotonic()
        with tracing.span("attempt", number=task.attempt):
            reply = process.grade(request, self._seconds, fresh=fresh)
        seconds = time.monotonic() - began
        self.on_attempt(_how(reply), seconds)
        if _how(reply) in {JUDGED, FAILED}:
            progress.seconds += seconds
        if not isinstance(reply, Failed):
            self.suspects.passed(task.judgement_id)
            progress.scores += reply
            if len(progress.scores) < len(task.answers):
                if progress.seconds > limit:
                    return self._over_limit(task, progress, limit)
                self.unfinished[task.judgement_id] = progress
                return None
            ended = outcome(task, progress.scores)
            if STANDARD_LOG.isEnabledFor(logging.DEBUG):
                log.debug("judged", type=ended.type, attempt=task.attempt)
            return ended
        if isinstance(reply, Unreadable):
            self._parked.park(task.judgement_id, reply.sha256, reply.error)
            return None
        if isinstance(reply, Held):
            self._parked.hold(task.judgement_id, reply.error)
            return None
        if self._closing():
            return None
        error = reply.error
        if not reply.blame:
            if not self.suspects.killed(task.judgement_id):
                return None
            log.warning("an answer's graders are killed while others live", judgement=task.judgement_id, error=error)
            return given_up(task, error)
        log.warning("a checker failed", judgement=task.judgement_id, problem=task.problem_id, error=error)
        if progress.seconds > limit:
            return self._over_limit(task, progress, limit)
        failed = self._writer.submit(judgements.fail_many, Failure(task.judgement_id, task.attempt, error)).result()
        return None if failed < MOST_FAILURES else given_up(task, error)

    def _over_limit(self, task: Task, progress: Progress, limit: float) -> Outcome:
        log.warning("grading a submission took too long", problem=task.problem_id, seconds=progress.seconds)
        return over_limit(task, progress.scores, limit)


def _is_same(one: Task, other: Task) -> bool:
    """Whether scores of one task's cases are valid for another's: neither the problem nor the answers changed."""
    return (one.settings, one.answers) == (other.settings, other.answers)


def _how(reply: list[FoundScore] | Failed) -> str:
    """How an attempt ended, in a word."""
    if not isinstance(reply, Failed):
        return JUDGED
    if isinstance(reply, Unreadable | Held):
        return WAITS
    return FAILED if reply.blame else KILLED
