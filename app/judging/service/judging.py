"""Judging on the graders of an engine: an attempt has an outcome, or is to be repeated later.

`Claims` begins judgements in their rows and has them recorded or returned, `Judging` attempts one of them.

Guarantee 1: what is in doubt after a failure is looked for in the rows. Guarantee 4: a stored file that cannot be read,
or a missing sandbox, is no fault of the answer and gives no verdict. Guarantee 5: live judgements come first.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

import structlog

from app.core import telemetry
from app.core.clock import utc_now
from app.core.db.database import Database
from app.core.db.writer import Writer
from app.core.files.files import Files
from app.core.telemetry import in_logs
from app.domain.contests import Kind
from app.domain.counting import CaseVerdict, JudgementType, is_full, judgement_type
from app.domain.documents import FoundScore, MessageDocument
from app.judging.queries import judging_tasks
from app.judging.queries.judging_tasks import Task
from app.judging.service.graders import NO_GRADER, EngineSettings, GraderProcess
from app.judging.service.messages import SLICE_SECONDS, Failed, Grade, Held, Unreadable
from app.packages.settings import SUBMISSION_SECONDS
from app.submissions.queries import judgements
from app.submissions.queries.judgements import LEAST_CHARGED, SECONDS_EACH, Claim, Later, Outcome, Returned

if TYPE_CHECKING:
    from app.judging.service.engine import Engine

# What lacks a stored file or the sandbox is tried again then.
SECONDS_WAITING = 15.0
SANDBOX = "sandbox"
MOST_UNFINISHED = 1000
FIRST_PAUSE = 0.15
MOST_FAILURES = 3
# A submission or an organizer's question is repeated that often while its graders are killed from outside.
MOST_KILLS = 5
# Of a rejudging: enough that a flush of the disk is shared, few enough that little is judged twice after a crash.
MOST_REJUDGED = 16
SECONDS_GIVEN = 0.01
MOST_SECONDS_GIVEN = 0.2
# A submission that comes in the meantime waits until a claim is judged: it is not much time's worth.
MOST_CLAIMED = 64
SECONDS_CLAIMED = 0.15
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
        if progress is None or (progress.task.settings, progress.task.answers) != (task.settings, task.answers):
            progress = Progress(task)  # also where the problem has changed since
        if task.lost >= MOST_FAILURES:
            log.warning("judging an answer failed: its processes were lost", problem=task.problem_id, error=task.error)
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


class Claims:
    """Claims judgements for grader threads, which share it; `at_work` are those that are not done.

    Only single operations touch the set, so that it needs no lock. `is_in_doubt`: rows may be claimed that no one works
    on, after a failure. `on_judged(contest_id, submission_id)` is called after a verdict is durable.
    """

    def __init__(
        self,
        database: Database,
        writer: Writer,
        settings: EngineSettings,
        on_judged: Callable[[str, int], None],
        engine: Engine,
    ) -> None:
        self._database = database
        self._writer = writer
        self._settings = settings
        self.judging = Judging(settings.files, settings.seconds_per_answer)
        self._on_judged = on_judged
        self._engine = engine
        self._seconds_each = SECONDS_EACH
        self.at_work: set[int] = set()
        self.is_in_doubt = False
        self.on_begun: Callable[[Task], object] = lambda _task: None
        self.on_recorded: Callable[[Task, Outcome], object] = lambda _task, _outcome: None

    def free(self) -> None:
        """Queue judgements again whose process has ended; those of this one too where they are in doubt."""
        process_id, at_work = self._settings.process_id, None
        if is_in_doubt := self.is_in_doubt:
            self.is_in_doubt = False  # before the look at what is at work: a doubt that comes now is for the next sweep
            at_work = frozenset(self.at_work)
        with self._database.read() as session:
            is_any_begun = is_in_doubt or judgements.is_begun_elsewhere(session, process_id)
        if is_any_begun:
            self._writer.submit(judgements.free_many, judgements.Freeing(process_id, at_work)).result()

    def judge_some(self, process: GraderProcess, *, rejudging: bool) -> bool:
        """Claim some judgements, of rejudgings or others, and judge them; False where there are none."""
        self._give_way()
        most = MOST_REJUDGED if rejudging else max(1, min(MOST_CLAIMED, round(SECONDS_CLAIMED / self._seconds_each)))
        claim = Claim(self._settings.process_id, most, self._settings.graders, rejudging)
        # A claim that a loss of power undoes is made again: waiting for the disk would only delay the verdict.
        claimed = self._writer.submit(judgements.claim_many, claim, durable=False).result()
        if not claimed.attempts:
            return False
        if not rejudging and claimed.looked_at > len(claimed.attempts):
            self._engine.wake()  # another grader may take its share
        # From here on a sweep in doubt leaves these rows alone.
        self.at_work.update(claimed.attempts)
        try:
            written = self._judge_claimed(process, claimed.attempts, rejudging=rejudging)
        finally:
            self.at_work.difference_update(claimed.attempts)
        # A commit whose reply is lost may leave rows behind that no one works on: of these a sweep frees only what is
        # not at work, so it must not see the doubt earlier.
        if any(each.exception() for each in written):
            self.is_in_doubt = True
        return True

    def _give_way(self) -> None:
        """Let submissions be taken first in a rush, but never wait long: what is taken is also to be judged."""
        until = time.monotonic() + MOST_SECONDS_GIVEN
        while self._writer.pressed and time.monotonic() < until and not self._engine.closing:
            time.sleep(SECONDS_GIVEN)

    def _judge_claimed(
        self, process: GraderProcess, attempts: Mapping[int, int], *, rejudging: bool
    ) -> Sequence[Future[bool] | Future[None]]:
        """Judge these; returns all that was written. After a slice's time the rest goes back: other teams have a turn.

        A rejudging goes back as soon as someone waits, but not before a slice of it is judged: submissions that keep
        coming do not stop it. What was claimed is left to other graders where this one has to be replaced.

        Outcomes wait a moment for those judged after them, so that one commit records some. In a rush all of them are
        recorded together: else nearly every commit of submissions would record a few, and take twice as long.
        """
        with self._database.read() as session:
            known = {task.judgement_id: task for task in judging_tasks.load_tasks(session, attempts)}
        tasks = deque(known[id_] for id_ in attempts if id_ in known)  # in their turns, and not by their ids
        count, began = len(tasks), time.monotonic()
        outcomes: list[tuple[Task, Outcome]] = []
        written: list[Future[bool]] = []
        used: list[Returned] = []
        try:
            while tasks and not self._engine.closing:
                task = tasks.popleft()
                started = time.monotonic()
                if not rejudging and task.judgement_id not in self.judging.unfinished:
                    self.on_begun(task)
                ended = self.judging.judge(process, task)
                seconds = 0.0 if rejudging else time.monotonic() - started
                if isinstance(ended, Outcome):
                    outcomes.append((task, ended))
                if seconds >= LEAST_CHARGED or isinstance(ended, Later):
                    used.append(self._returned(task, ended, seconds))
                is_over = self._engine.is_awaited() if rejudging else time.monotonic() - began > SLICE_SECONDS
                if is_over or (isinstance(ended, Later) and ended.is_grader_gone):
                    break
                if not self._writer.pressed and not rejudging:
                    written += self._record(outcomes, may_wait=bool(tasks))
                    outcomes.clear()
        finally:
            written += self._record(outcomes)
            # Those without a grader go first: the seconds of the others are then added to their turns as well.
            untouched = [self._returned(task, Later()) for task in tasks]
            returned = [self._writer.submit(judgements.return_many, each) for each in (*untouched, *used)]
        if not rejudging and count > len(tasks):  # without commits: slow ones are a reason to claim more together
            self._seconds_each = max(SECONDS_EACH / 10, (time.monotonic() - began) / (count - len(tasks)))
        wait(written)
        wait(returned)
        if returned:
            self._engine.wake(rejudging=rejudging)
        return [*written, *returned]

    def _returned(self, task: Task, ended: Outcome | Later, seconds: float = 0.0) -> Returned:
        """What the queue is to know of a task: the seconds of its team, and when it is claimed again, if it is open."""
        stays = task.judgement_id in self.judging.unfinished
        later = ended if isinstance(ended, Later) else None
        return Returned(task.judgement_id, task.attempt, seconds, later, stays)

    def _record(self, outcomes: Sequence[tuple[Task, Outcome]], *, may_wait: bool = False) -> list[Future[bool]]:
        """Have outcomes written down, and the news of each passed on then; gives what becomes of each judgement."""
        recorded = []
        for task, outcome in outcomes:
            written = self._writer.submit(judgements.record_many, outcome, may_wait=may_wait)
            written.add_done_callback(partial(self._tell, task, outcome))
            recorded.append(written)
        return recorded

    def _tell(self, task: Task, outcome: Outcome, recorded: Future[bool]) -> None:
        """Pass the news on once they are durable; those of a rejudging are no one's business."""
        if recorded.exception() is not None:
            return  # the judgement is open, or may be: the sweep of a doubt finds it
        if recorded.result():
            self.on_recorded(task, outcome)
        if recorded.result() and task.rejudging_id is None:
            self._on_judged(task.contest_id, task.submission_id)
