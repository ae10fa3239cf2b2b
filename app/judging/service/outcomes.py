"""Outcomes of judgements: from the scores of the answers to the type.

- A grader's place: a warm process to ask, replaced where it dies, also by a spare one; and the sandbox beside it.
- A warm grader in reserve, so that one that is killed is replaced at once, and how graders are started at all.

Guarantee 5: a spare grader replaces a killed one at once, and the condition of `Spares` lets a thread wait for it.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

import structlog

from app.contests.schemas import Rule
from app.core.clock import utc_now
from app.core.loops import Loop
from app.domain.contests import Kind
from app.domain.counting import CaseVerdict, JudgementType, is_full, judgement_type
from app.domain.documents import CaseAnswer, FoundScore, MessageDocument, ProblemSettingsDocument
from app.judging.service.messages import Failed, Grade, Reply, Validate, Warm, Warmed
from app.judging.service.programs import Programs
from app.judging.service.staff import EngineSettings, RunningGrader
from app.submissions.queries.judgements import Outcome, Task

JUDGE_ERROR: MessageDocument = {
    "key": "judge-error",
    "text": "the judge failed on this answer; it is not your fault",
    "args": {},
}


@dataclass(frozen=True, slots=True)
class Trial:
    """Graders' scores for answers that are in no row; `error`: the checker failed, and all are judge errors."""

    scores: Sequence[FoundScore]
    error: str | None = None


def outcome(task: Task, scores: Sequence[FoundScore]) -> Outcome:
    """Sum up an attempt that went well."""
    verdict = summed_up(scores, task.settings, task.rule, task.counted_cases)
    return Outcome(task.judgement_id, task.attempt, verdict.value, scores, utc_now(), failures=task.failures)


def summed_up(
    scores: Sequence[FoundScore], settings: ProblemSettingsDocument, rule: Rule, counted: Collection[int]
) -> JudgementType:
    """The judgement type that scores give; `counted` are the ids of the cases that count during the contest."""
    absolute = (rule.kind or settings["scoring"]["kind"]) == Kind.ABSOLUTE
    seen = [(score.verdict, is_full(score.multiplier, absolute=absolute)) for score in scores]
    return judgement_type(seen, complete={*counted} <= {score.test_case_id for score in scores})


def over_limit(task: Task, scores: Sequence[FoundScore], seconds: float) -> Outcome:
    """End a judgement whose grading took longer than `seconds`: cases without a score are judge errors."""
    error = (
        f"submission_seconds: expected at most {seconds:g} s of grading for a submission to problem"
        f" {task.problem_id!r}, found more after {len(scores)} of {len(task.answers)} cases: make the checker faster,"
        " or raise submission_seconds in jurado.yaml"
    )
    rest = [replace(score, judge_message=error) for score in judge_errors(task.answers[len(scores) :])]
    return _judge_error(task, [*scores, *rest], error)


def given_up(task: Task, error: str) -> Outcome:
    """The end of a judgement on which the checker failed too often."""
    return _judge_error(task, judge_errors(task.answers), error)


def _judge_error(task: Task, scores: Sequence[FoundScore], error: str) -> Outcome:
    type_ = JudgementType.JE.value
    return Outcome(task.judgement_id, task.attempt, type_, scores, utc_now(), error, task.failures)


def judge_errors(answers: Sequence[CaseAnswer]) -> list[FoundScore]:
    """A judge error for each of these answers."""
    return [
        FoundScore(answer.test_case_id, CaseVerdict.JUDGE_ERROR, None, None, None, JUDGE_ERROR, 0) for answer in answers
    ]


log = structlog.get_logger()

SECONDS_BETWEEN_LOOKS = 2.0
FIRST_PAUSE = 0.1
LONGEST_PAUSE = 5.0


class Spares:
    """Keeps some graders warm beside those that work, and counts those that died. May be used from any thread."""

    def __init__(self, settings: EngineSettings, warm_up: Callable[[], Warm]) -> None:
        self._count = settings.spares
        self._settings = settings
        self._warm_up = warm_up
        self._changed = threading.Condition()
        self._ready: deque[RunningGrader] = deque()
        self._starting: set[RunningGrader] = set()
        self._wanted = 0
        self._is_bringing = False
        self._closing = False
        self._loop = Loop("spare graders", self._work, 0.0)
        self.deaths = 0
        self.protections: dict[str, str] = {}

    def start(self) -> None:
        """Begin to keep spares."""
        if self._count:
            self._loop.start()

    @property
    def pids(self) -> list[int]:
        """Process ids of the spares that are warm."""
        with self._changed:
            return [grader.pid for grader in self._ready if grader.alive]

    def take(self) -> RunningGrader | None:
        """A warm grader: a spare, also one that is being started, or another started now; None once all is closed."""
        with self._changed:
            self._wanted += 1
            self._changed.wait_for(lambda: self._ready or not self._is_bringing or self._closing)
            while self._ready:
                grader = self._ready.popleft()
                if grader.alive:
                    self._wanted -= 1
                    self._changed.notify_all()
                    return grader
                self._bury(grader)
        try:
            return self._started()
        finally:
            with self._changed:
                self._wanted -= 1
                self._changed.notify_all()

    def died(self) -> None:
        """Count a grader that worked and is dead."""
        with self._changed:
            self.deaths += 1

    def close(self) -> None:
        """Kill the spares and those that start."""
        with self._changed:
            self._closing = True
            for grader in (*self._ready, *self._starting):
                grader.stop()
            self._changed.notify_all()
        self._loop.close(LONGEST_PAUSE)
        with self._changed:
            while self._ready:
                self._ready.popleft().kill()

    def _work(self) -> None:
        """Start a spare where one is missing, but none beside a grader that work waits for; look whether they live."""
        with self._changed:
            for grader in [each for each in self._ready if not each.alive]:
                self._ready.remove(grader)
                self._bury(grader)
            self._is_bringing = len(self._ready) < self._count and not self._wanted
            if not self._is_bringing and not self._closing:
                self._changed.wait(SECONDS_BETWEEN_LOOKS)
        if self._is_bringing:
            spare = self._started()
            with self._changed:
                self._is_bringing = False
                if spare is not None:
                    self._ready.append(spare)
                self._changed.notify_all()

    def _bury(self, grader: RunningGrader) -> None:
        self.deaths += 1
        grader.kill()

    def _started(self) -> RunningGrader | None:
        """Start a grader; one that dies while it starts is nobody's fault: wait longer each time, and try again."""
        pause = FIRST_PAUSE
        while not self._closing:
            if (grader := self._try()) is not None:
                return grader
            with self._changed:
                self._changed.wait_for(lambda: self._closing, pause)
            pause = min(LONGEST_PAUSE, 2 * pause)
        return None

    def _try(self) -> RunningGrader | None:
        try:
            request = self._warm_up()
            grader = RunningGrader(self._settings)
            warmed = self._warmed(grader, request)
        except Exception:  # a database that is away, no process left to start, a pipe that breaks
            log.exception("a grader could not be started; it is tried again")
            return None
        if self._closing:
            grader.kill()
            return None
        if isinstance(warmed, Failed):
            log.warning("a grader died while it started; another is tried", error=warmed.error)
            with self._changed:
                self._bury(grader)
            return None
        if warmed.error:
            log.warning("a grader could not load its checkers", error=warmed.error)
        self._tell(warmed.protections)
        return grader

    def _warmed(self, grader: RunningGrader, request: Warm) -> Warmed | Failed:
        """Warm a grader that has been started; one that fails by an exception is killed."""
        with self._changed:
            self._starting.add(grader)
        try:
            return grader.warm(request)
        except BaseException:
            grader.kill()
            raise
        finally:
            with self._changed:
                self._starting.discard(grader)

    def _tell(self, protections: dict[str, str]) -> None:
        missing = {name: lack for name, lack in protections.items() if lack}
        if missing and protections != self.protections:
            log.warning("graders lack protections that this system does not give", **missing)
        self.protections = protections


CLOSED = Failed("the server stops", blame=False)


class GraderProcess:
    """A grader's place, for one thread; `close` is for any.

    `ask` and `grade` never raise for what happens inside the process: a dead or silent one is a Failed reply.
    """

    def __init__(self, spares: Spares, programs: Programs) -> None:
        self._spares = spares
        self._programs = programs
        self._running: RunningGrader | None = None
        self._closing = False

    @property
    def pid(self) -> int | None:
        """The process's id while it runs."""
        running = self._running
        return running.pid if running is not None and running.alive else None

    def start(self) -> None:
        """Start a warm process before there is anything to ask."""
        self._ready()

    def ask(self, request: Validate, seconds: float) -> Reply:
        """Send a request and wait for its reply; past `seconds` the process is killed."""
        if request.program is not None:
            return self._programs.ask(request, request.program, seconds)
        running = self._ready()
        return CLOSED if running is None else running.ask(request, seconds)

    def grade(self, request: Grade, seconds: float, *, fresh: bool = False) -> list[FoundScore] | Failed:
        """Check answers of a submission, each within `seconds`, until the request's slice is over.

        `fresh`: by a process that checked none.
        """
        if request.program is not None:
            return self._programs.grade(request, request.program, seconds)
        running = self._ready(fresh=fresh)
        return CLOSED if running is None else running.grade(request, seconds)

    def close(self) -> None:
        """Kill the process, also while somebody waits for its reply."""
        self._closing = True
        if self._running is not None:
            self._running.kill()

    def _ready(self, *, fresh: bool = False) -> RunningGrader | None:
        running = self._running
        if running is not None and running.alive and not (fresh and running.used):
            return running
        if running is not None:
            if not running.alive:
                self._spares.died()
            running.kill()
            self._running = None
        if not self._closing:
            self._running = self._spares.take()
        return self._running
