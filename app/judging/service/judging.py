"""The judging of one submission on a grader: an attempt has an outcome, or is to be repeated later.

Guarantee 4: a stored file that cannot be read, or a missing sandbox, is no fault of the answer and gives no verdict.
"""

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import structlog

from app.core import telemetry
from app.core.clock import utc_now
from app.core.files.files import Files
from app.core.telemetry import in_logs
from app.domain.contests import Kind
from app.domain.counting import CaseVerdict, JudgementType, is_full, judgement_type
from app.domain.documents import FoundScore, MessageDocument
from app.judging.queries.judging_tasks import Task
from app.judging.service.graders import NO_GRADER, GraderProcess
from app.judging.service.messages import Failed, Grade, Held, Unreadable
from app.packages.settings import SUBMISSION_SECONDS
from app.submissions.queries.judgements import Later, Outcome

# What lacks a stored file or the sandbox is tried again then.
SECONDS_WAITING = 15.0
SANDBOX = "sandbox"
MOST_UNFINISHED = 1000
FIRST_PAUSE = 0.15
MOST_FAILURES = 3
# A submission or an organizer's question is repeated that often while its graders are killed from outside.
MOST_KILLS = 5
JUDGE_ERROR: MessageDocument = {
    "key": "judge-error",
    "text": "the judge failed on this answer; it is not your fault",
    "args": {},
}

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


class Judging:
    """Judges tasks, each answer within `seconds`. What a checker did counts as a failure, what others did does not.

    A task whose slice ends before its last case is `unfinished`: it is to be judged again, after others had their turn,
    and its progress is in memory only. All its slices together may take as long as its problem allows.

    An answer whose judging was lost three times with the whole process, while no other such answer was judged beside
    it, is given up. `on_attempt` is told how each attempt ended (JUDGED, FAILED, KILLED, WAITS), and its seconds.
    """

    def __init__(self, files: Files, seconds: float) -> None:
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
            return judge_error(task, f"judging it was lost {task.lost} times with its process; {task.error}")
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
            self._files.on_fault(reply.sha256, reply.error)
            return Later(SECONDS_WAITING, reply.sha256)
        if isinstance(reply, Held):
            log.error("no program of a package can run: what needs one waits", error=reply.error)
            return Later(SECONDS_WAITING, SANDBOX)
        if reply is NO_GRADER:
            return Later(is_grader_gone=True)
        if not reply.blame:
            progress.kills += 1
            if progress.kills < MOST_KILLS:  # an operator's, most likely; a pause lets the kernel get memory back
                return self._unfinished(progress, Later(FIRST_PAUSE * 2**progress.kills, is_grader_gone=True))
            log.warning("an answer's graders are killed", judgement=task.judgement_id, error=reply.error)
            return judge_error(task, reply.error)
        log.warning("a checker failed", judgement=task.judgement_id, problem=task.problem_id, error=reply.error)
        failures = task.failures + 1
        if (ended := self._over_limit(task, progress)) is not None:
            return ended
        if failures == MOST_FAILURES:
            return replace(judge_error(task, reply.error), failures=failures)
        return self._unfinished(progress, Later(error=reply.error, is_grader_gone=True))

    def _unfinished(self, progress: Progress, later: Later) -> Later:
        """Keep the scores until the rest is judged."""
        self.unfinished[progress.task.judgement_id] = progress
        if len(self.unfinished) > MOST_UNFINISHED:  # of some no more is to be judged: a rejudging was cancelled
            self.unfinished.pop(next(iter(self.unfinished)), None)
        return later

    def _over_limit(self, task: Task, progress: Progress) -> Outcome | None:
        """The end of a task whose grading has taken too long."""
        limit, scores = task.settings.get("submission_seconds", SUBMISSION_SECONDS), progress.scores
        if progress.seconds <= limit:
            return None
        log.warning("grading a submission took too long", problem=task.problem_id, seconds=progress.seconds)
        error = (
            f"submission_seconds: expected at most {limit:g} s of grading for a submission to problem"
            f" {task.problem_id!r}, found more after {len(scores)} of {len(task.answers)} cases: make the checker"
            " faster, or raise submission_seconds in jurado.yaml"
        )
        return judge_error(task, error, scores, for_judges=error)


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


def outcome(task: Task, scores: Sequence[FoundScore]) -> Outcome:
    """Sum up an attempt that went well."""
    absolute = (task.rule.kind or task.settings["scoring"]["kind"]) == Kind.ABSOLUTE
    seen = [(score.verdict, is_full(score.multiplier, absolute=absolute)) for score in scores]
    verdict = judgement_type(seen, complete={*task.counted_cases} <= {score.test_case_id for score in scores})
    return Outcome(task.judgement_id, task.attempt, verdict.value, scores, utc_now(), failures=task.failures)


def judge_error(task: Task, error: str, scores: Sequence[FoundScore] = (), *, for_judges: str | None = None) -> Outcome:
    """End a judgement that cannot be completed: the cases without a score are judge errors."""
    rest = [
        FoundScore(each.test_case_id, CaseVerdict.JUDGE_ERROR, None, None, None, JUDGE_ERROR, 0, for_judges)
        for each in task.answers[len(scores) :]
    ]
    type_ = JudgementType.JE.value
    return Outcome(task.judgement_id, task.attempt, type_, [*scores, *rest], utc_now(), error, task.failures)
