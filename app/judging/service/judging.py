"""The judging of one submission on a grader: an attempt has an outcome, or is to be repeated later.

- Stored files that could not be read: what is missing is no fault of the answer, and no verdict.
"""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import structlog

from app.core import telemetry
from app.core.files.files import State
from app.core.telemetry import in_logs
from app.domain.documents import FoundScore
from app.judging.queries.judging_tasks import Task
from app.judging.service.messages import Failed, Grade, Held, Unreadable
from app.judging.service.outcomes import NO_GRADER, GraderProcess, given_up, outcome, over_limit
from app.judging.service.questions import MOST_KILLS
from app.packages.settings import SUBMISSION_SECONDS
from app.submissions.queries.judgements import Outcome

faults_log = structlog.get_logger()

# A file that has not changed is tried again then, as a disk may read what it could not.
SECONDS_WITHOUT_FILE = 60.0
SECONDS_WITHOUT_SANDBOX = 15.0
SANDBOX = "sandbox"
MOST_UNFINISHED = 1000
FIRST_PAUSE = 0.15
MOST_FAILURES = 3


@dataclass
class FileFault:
    """A stored file that a grader could not read, and why; its `state` then, and when it is tried again anyway."""

    sha256: str
    error: str
    state: State
    until: float


class FileFaults:
    """The files that judgements wait for, in a store whose `state(sha256)` changes with each write.

    The judgements wait in their rows. `on_fault` is called with (sha256, error) of each file, again whenever it was
    tried without effect.
    """

    def __init__(self, state: Callable[[str], State]) -> None:
        self._state = state
        self.on_fault: Callable[[str, str], object] = lambda _sha256, _error: None
        self._faults: dict[str, FileFault] = {}

    def add(self, sha256: str, error: str) -> None:
        """Note a file that cannot be read."""
        if sha256 in self._faults:
            return
        faults_log.error("a stored file cannot be read: what needs it waits", sha256=sha256, error=error)
        until = time.monotonic() + SECONDS_WITHOUT_FILE
        self._faults[sha256] = FileFault(sha256, error, self._state(sha256), until)
        self.on_fault(sha256, error)

    def take_ended(self) -> list[str]:
        """Forget the files that have changed, or are to be tried again; returns them."""
        now = time.monotonic()
        ended = [each.sha256 for each in self.all() if each.until <= now or self._state(each.sha256) != each.state]
        for sha256 in ended:
            del self._faults[sha256]
        return ended

    def all(self) -> list[FileFault]:
        """The files that are waited for."""
        return list(self._faults.values())


NAME = "jurado.judging"
STANDARD_LOG = logging.getLogger(NAME)  # which knows its level without a look through structlog's proxies
log: structlog.stdlib.BoundLogger = structlog.get_logger(NAME)
# How an attempt may end: judged, failed by the checker, its grader killed from outside, without a file or sandbox.
JUDGED, FAILED, KILLED, WAITS = "judged", "failed", "killed", "waits"


@dataclass(slots=True)
class Progress:
    """The scores of a submission's first cases, the seconds that graders have used for it, and their kills in a row."""

    task: Task
    scores: list[FoundScore] = field(default_factory=list)
    seconds: float = 0.0
    kills: int = 0


@dataclass(frozen=True, slots=True)
class Later:
    """A judgement is claimed again after some seconds; `error`: its checker failed. Or its process is missing a file.

    `is_grader_gone`: the grader has to be replaced first.
    """

    seconds: float = 0.0
    waits_for: str | None = None
    error: str | None = None
    is_grader_gone: bool = False


class Judging:
    """Judges tasks, each answer within `seconds`. What a checker did counts as a failure, what others did does not.

    A task whose slice ends before its last case is `unfinished`: it is to be judged again, after others had their turn,
    and its progress is in memory only. All its slices together may take as long as its problem allows.

    An answer whose judging was lost three times with the whole process, while no other such answer was judged beside
    it, is given up. `on_attempt` is told how each attempt ended (JUDGED, FAILED, KILLED, WAITS), and its seconds.
    """

    def __init__(self, files: FileFaults, seconds: float) -> None:
        self._files = files
        self._seconds = seconds
        self.unfinished: dict[int, Progress] = {}
        self.on_attempt: Callable[[str, float], object] = lambda _how, _seconds: None

    def judge(self, process: GraderProcess, task: Task) -> Outcome | Later:
        """Attempt the remaining cases of a task, until its slice ends."""
        with (
            in_logs(submission_id=task.submission_id, judgement_id=task.judgement_id),
            telemetry.span("judge", task.trace, problem=task.problem_id),
        ):
            if task.trace and task.attempt == 1 and task.submitted is not None:
                telemetry.past_span("queue", task.submitted)
            ended = self._judge(process, task)
            if isinstance(ended, Outcome):
                telemetry.tell(type=ended.type)
            return ended

    def _judge(self, process: GraderProcess, task: Task) -> Outcome | Later:
        progress = self.unfinished.pop(task.judgement_id, None)
        if progress is None or not _is_same(progress.task, task):
            progress = Progress(task)
        if task.lost >= MOST_FAILURES:
            log.warning("an answer is given up: its processes were lost", problem=task.problem_id, error=task.error)
            return given_up(task, f"judging it was lost {task.lost} times with its process; {task.error}")
        answers = task.answers[len(progress.scores) :]
        request = Grade(task.settings["checker"], answers, task.settings.get("program"))
        began = time.monotonic()
        with telemetry.span("attempt", number=task.attempt):
            reply = process.grade(request, self._seconds, fresh=task.failures > 0)
        seconds = time.monotonic() - began
        how = _how(reply)
        self.on_attempt(how, seconds)
        if how in {JUDGED, FAILED}:
            progress.seconds += seconds
        if isinstance(reply, Failed):
            return self._failed(task, progress, reply)
        progress.kills = 0
        progress.scores += reply
        if len(progress.scores) == len(task.answers):
            ended = outcome(task, progress.scores)
            if STANDARD_LOG.isEnabledFor(logging.DEBUG):
                log.debug("judged", type=ended.type, attempt=task.attempt)
            return ended
        return self._over_limit(task, progress) or self._unfinished(progress, Later())

    def _failed(self, task: Task, progress: Progress, reply: Failed) -> Outcome | Later:
        """What becomes of a task after an attempt without scores: whose fault that was decides."""
        if isinstance(reply, Unreadable):
            self._files.add(reply.sha256, reply.error)
            return Later(SECONDS_WITHOUT_FILE, reply.sha256)
        if isinstance(reply, Held):
            faults_log.error("no program of a package can run: what needs one waits", error=reply.error)
            return Later(SECONDS_WITHOUT_SANDBOX, SANDBOX)
        if reply is NO_GRADER:
            return Later(is_grader_gone=True)
        if not reply.blame:
            progress.kills += 1
            if progress.kills < MOST_KILLS:  # an operator's, most likely; a pause lets the kernel get memory back
                return self._unfinished(progress, Later(FIRST_PAUSE * 2**progress.kills, is_grader_gone=True))
            log.warning("an answer's graders are killed", judgement=task.judgement_id, error=reply.error)
            return given_up(task, reply.error)
        log.warning("a checker failed", judgement=task.judgement_id, problem=task.problem_id, error=reply.error)
        failures = task.failures + 1
        if (ended := self._over_limit(task, progress)) is not None:
            return ended
        if failures == MOST_FAILURES:
            return replace(given_up(task, reply.error), failures=failures)
        return self._unfinished(progress, Later(error=reply.error, is_grader_gone=True))

    def _unfinished(self, progress: Progress, later: Later) -> Later:
        """Keep the scores until the rest is judged."""
        self.unfinished[progress.task.judgement_id] = progress
        if len(self.unfinished) > MOST_UNFINISHED:  # of some no more is to be judged: a rejudging was cancelled
            self.unfinished.pop(next(iter(self.unfinished)), None)
        return later

    def _over_limit(self, task: Task, progress: Progress) -> Outcome | None:
        """The end of a task whose grading has taken too long."""
        limit = task.settings.get("submission_seconds", SUBMISSION_SECONDS)
        if progress.seconds <= limit:
            return None
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
