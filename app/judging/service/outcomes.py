"""Outcomes of judgements: from the scores of the answers to the type.

- A grader's place: a warm process to ask, replaced where it dies; and the sandbox beside it.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

import structlog

from app.core.clock import utc_now
from app.domain.contests import Kind
from app.domain.counting import CaseVerdict, JudgementType, is_full, judgement_type
from app.domain.documents import CaseAnswer, FoundScore, MessageDocument
from app.judging.queries.judging_tasks import Task
from app.judging.service.messages import Failed, Grade, Reply, Validate, Warm, Warmed
from app.judging.service.programs import Programs
from app.judging.service.staff import EngineSettings, RunningGrader
from app.submissions.queries.judgements import Outcome

JUDGE_ERROR: MessageDocument = {
    "key": "judge-error",
    "text": "the judge failed on this answer; it is not your fault",
    "args": {},
}


def outcome(task: Task, scores: Sequence[FoundScore]) -> Outcome:
    """Sum up an attempt that went well."""
    absolute = (task.rule.kind or task.settings["scoring"]["kind"]) == Kind.ABSOLUTE
    seen = [(score.verdict, is_full(score.multiplier, absolute=absolute)) for score in scores]
    verdict = judgement_type(seen, complete={*task.counted_cases} <= {score.test_case_id for score in scores})
    return Outcome(task.judgement_id, task.attempt, verdict.value, scores, utc_now(), failures=task.failures)


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

FIRST_PAUSE = 0.1
LONGEST_PAUSE = 5.0
NO_GRADER = Failed("no grader runs", blame=False)


class GraderProcess:
    """A grader's place, for one thread; `stop_starting` and `close` are for any.

    `ask` and `grade` never raise for what happens inside the process: a dead or silent one is a Failed reply.
    """

    def __init__(self, settings: EngineSettings, warm_up: Callable[[], Warm], programs: Programs) -> None:
        self._settings = settings
        self._warm_up = warm_up
        self._programs = programs
        self._running: RunningGrader | None = None
        self._starting: RunningGrader | None = None
        self._closing = False
        self.deaths = 0
        self.pause = 0.0
        self.protections: dict[str, str] = {}

    @property
    def pid(self) -> int | None:
        """The process's id while it runs and is warm."""
        running = self._running
        return running.pid if running is not None and running.alive else None

    def start(self) -> bool:
        """Have a warm process before there is anything to ask; False where it should be tried after `pause` seconds."""
        return self._ready() is not None

    def ask(self, request: Validate, seconds: float) -> Reply:
        """Send a request and wait for its reply; past `seconds` the process is killed."""
        if request.program is not None:
            return self._programs.ask(request, request.program, seconds)
        running = self._ready()
        return NO_GRADER if running is None else running.ask(request, seconds)

    def grade(self, request: Grade, seconds: float, *, fresh: bool = False) -> list[FoundScore] | Failed:
        """Check answers of a submission, each within `seconds`, until the request's slice is over.

        `fresh`: by a process that checked none.
        """
        if request.program is not None:
            return self._programs.grade(request, request.program, seconds)
        running = self._ready(fresh=fresh)
        return NO_GRADER if running is None else running.grade(request, seconds)

    def stop_starting(self) -> None:
        """Start no further process, and end one that is not warm yet."""
        self._closing = True
        if (starting := self._starting) is not None:
            starting.kill()

    def close(self) -> None:
        """Kill the process, also while somebody waits for its reply."""
        self._closing = True
        if self._running is not None:
            self._running.end()

    def _ready(self, *, fresh: bool = False) -> RunningGrader | None:
        """The warm process, or another one started now; None where it does not start, or all is closed."""
        running = self._running
        if running is not None and running.alive and not (fresh and running.used):
            return running
        if running is not None:
            self.deaths += not running.alive
            running.end()
        self._running = None if self._closing else self._started()
        return self._running

    def _started(self) -> RunningGrader | None:
        """Start a process and let it load what judging needs; one that dies meanwhile is nobody's fault."""
        grader = None
        try:
            request = self._warm_up()
            grader = self._starting = RunningGrader(self._settings)
            warmed = grader.warm(request)
        except Exception:  # a database that is away, no process left to start, a pipe that breaks
            log.exception("a grader could not be started; it is tried again")
        else:
            if isinstance(warmed, Failed):
                self.deaths += 1
                log.warning("a grader died while it started; another is tried", error=warmed.error)
            elif not self._closing:
                self._look_at(warmed)
                self.pause = 0.0
                return grader
        finally:
            self._starting = None
        if grader is not None:
            grader.end()
        self.pause = min(LONGEST_PAUSE, 2 * self.pause or FIRST_PAUSE)
        return None

    def _look_at(self, warmed: Warmed) -> None:
        if warmed.error:
            log.warning("a grader could not load its checkers", error=warmed.error)
        missing = {name: lack for name, lack in warmed.protections.items() if lack}
        if missing and warmed.protections != self.protections:
            log.warning("graders lack protections that this system does not give", **missing)
        self.protections = warmed.protections
