"""The embedded engine: grader processes beside the server, fed from the judgements that are not done yet.

The rows are the queue. The engine keeps the ids of waiting judgements in memory only to know them sooner; whatever is
lost with the process is read from the rows at the next start. One thread a grader: it claims some judgements (one
commit), asks its process for each, and has the outcomes recorded (again one commit for many).

A checker that raises, loops or eats memory costs its own judgement an attempt: three of them end it as a judge error.
"""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import structlog

from app.domain.contests import Kind
from app.domain.verdicts import CaseVerdict, judgement_type
from app.grading.messages import Failed, Grade, Validate, Validated, Warm
from app.grading.process import GraderProcess
from app.storage import judgements
from app.storage.database import Database
from app.storage.judgements import Failure, FoundScore, Outcome, Task
from app.storage.writer import Writer

log = structlog.get_logger()

MOST_FAILURES = 3
STOPPING = "the server stops"
MOST_CLAIMED = 64
SECONDS_GIVEN = 0.01
MOST_SECONDS_GIVEN = 0.5
SECONDS_BETWEEN_SWEEPS = 5.0
SECONDS_AFTER_A_FAULT = 0.5
JUDGE_ERROR = {"key": "judge-error", "text": "the judge failed on this answer; it is not your fault", "args": {}}


class JudgeFailed(Exception):
    """A checker failed by itself where an admin waits for it."""


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """How many graders, what each may use, how long one answer's check may take, and the module they run."""

    graders: int
    memory: int
    seconds_per_answer: float
    files: Path
    program: str = "app.grading.grader"


def grader_count(wanted: int) -> int:
    """How many graders to run: as many as wanted, else one less than the cores, at least one."""
    return wanted or max(1, (os.cpu_count() or 2) - 1)


@dataclass(frozen=True, slots=True)
class _Question:
    """A test case to validate, and where the reply goes."""

    request: Validate
    future: Future[Validated]


class Engine:
    """Runs graders until it is closed. `on_judged(contest_id, submission_id)` is called after a verdict is durable."""

    def __init__(
        self, database: Database, writer: Writer, settings: EngineSettings, on_judged: Callable[[str, int], None]
    ) -> None:
        self._database = database
        self._writer = writer
        self._settings = settings
        self._on_judged = on_judged
        self._changed = threading.Condition()
        self._waiting: deque[int] = deque()
        self._known: set[int] = set()
        self._questions: deque[_Question] = deque()
        self._closing = False
        self._processes = [
            GraderProcess(settings.files, settings.memory, self._warm_up, settings.program)
            for _ in range(settings.graders)
        ]
        self._threads = [
            threading.Thread(target=self._work, args=(process,), name=f"grader-{at}", daemon=True)
            for at, process in enumerate(self._processes)
        ]

    def start(self) -> None:
        """Take up what an earlier process left, and begin."""
        self._sweep()
        for thread in self._threads:
            thread.start()

    def wake(self, judgement_id: int) -> None:
        """A judgement has been queued (and is durable)."""
        with self._changed:
            self._add(judgement_id)
            self._changed.notify()

    def validate(self, request: Validate) -> Future[Validated]:
        """Have a grader validate a test case; fails with JudgeFailed if the checker does, or the server stops."""
        question = _Question(request, Future())
        with self._changed:
            if self._closing:
                question.future.set_exception(JudgeFailed(STOPPING))
            else:
                self._questions.append(question)
                self._changed.notify()
        return question.future

    @property
    def waiting(self) -> int:
        """Judgements that are not done yet."""
        with self._changed:
            return len(self._known)

    def alive(self) -> int:
        """How many graders are able to work: their threads live; a process that died is started again when needed."""
        return sum(thread.is_alive() for thread in self._threads)

    @property
    def pids(self) -> list[int]:
        """Process ids of the graders that run."""
        return [pid for process in self._processes if (pid := process.pid) is not None]

    def close(self) -> None:
        """Stop after the judgements at hand; the rest stays queued in its rows."""
        with self._changed:
            self._closing = True
            for question in self._questions:
                question.future.set_exception(JudgeFailed(STOPPING))
            self._questions.clear()
            self._changed.notify_all()
        for thread in self._threads:
            if thread.is_alive():
                thread.join(timeout=2 * self._settings.seconds_per_answer)
        for process in self._processes:
            process.close()

    def _add(self, judgement_id: int) -> None:
        if judgement_id not in self._known:
            self._known.add(judgement_id)
            self._waiting.append(judgement_id)

    def _sweep(self) -> None:
        """Find rows nobody told us of: left by an earlier process, or written by another."""
        with self._database.read() as session:
            found = judgements.waiting(session)
        with self._changed:
            for judgement_id in found:
                self._add(judgement_id)
            self._changed.notify_all()

    def _work(self, process: GraderProcess) -> None:
        """One grader's thread: the only one that starts its process or talks to it."""
        self._survive(process.start)
        while not self._closing:
            self._survive(lambda: self._work_once(process))

    def _survive(self, step: Callable[[], None]) -> None:
        """Do one thing; a fault (a database that is away, say) is logged, and what waits stays in its rows."""
        try:
            step()
        except Exception:
            log.exception("a grader's thread failed; it goes on")
            time.sleep(SECONDS_AFTER_A_FAULT)

    def _work_once(self, process: GraderProcess) -> None:
        question, ids = self._next()
        if question is not None:
            self._answer(process, question)
        elif ids:
            self._give_way()
            try:
                self._judge_all(process, ids)
            finally:
                self._forget(ids)
        elif not self._closing:
            self._sweep()

    def _give_way(self) -> None:
        """Let submissions be taken first in a rush, but never wait long: what is taken is also to be judged."""
        until = time.monotonic() + MOST_SECONDS_GIVEN
        while self._writer.pressed and time.monotonic() < until and not self._closing:
            time.sleep(SECONDS_GIVEN)

    def _warm_up(self) -> Warm:
        """What loads all checkers and kernels before the first contestant waits for them."""
        with self._database.read() as session:
            return Warm(judgements.one_case_each(session))

    def _next(self) -> tuple[_Question | None, list[int]]:
        """Wait for work; nothing at all after a while means it is time to sweep."""
        with self._changed:
            self._changed.wait_for(
                lambda: self._waiting or self._questions or self._closing, timeout=SECONDS_BETWEEN_SWEEPS
            )
            if self._closing:
                return None, []
            if self._questions:
                return self._questions.popleft(), []
            share = min(MOST_CLAIMED, max(1, len(self._waiting) // len(self._processes)))
            return None, [self._waiting.popleft() for _ in range(min(share, len(self._waiting)))]

    def _forget(self, ids: Sequence[int]) -> None:
        with self._changed:
            self._known.difference_update(ids)

    def _answer(self, process: GraderProcess, question: _Question) -> None:
        reply = process.ask(question.request, self._settings.seconds_per_answer)
        if isinstance(reply, Validated):
            question.future.set_result(reply)
        else:
            error = reply.error if isinstance(reply, Failed) else "an unexpected reply"
            question.future.set_exception(JudgeFailed(error))

    def _judge_all(self, process: GraderProcess, ids: Sequence[int]) -> None:
        claims = [self._writer.submit(judgements.claim_one, id_) for id_ in ids]
        attempts = {id_: attempt for id_, claim in zip(ids, claims, strict=True) if (attempt := claim.result())}
        with self._database.read() as session:
            tasks = judgements.load_tasks(session, attempts)
        ended = []
        for task in tasks:
            for recorded in self._attempts(process, task):
                recorded.add_done_callback(partial(self._tell, task))
                ended.append(recorded)
        wait(ended)

    def _tell(self, task: Task, recorded: Future[bool]) -> None:
        """Pass the news on once they are durable."""
        if recorded.result():
            self._on_judged(task.contest_id, task.submission_id)

    def _attempts(self, process: GraderProcess, task: Task) -> Iterator[Future[bool]]:
        """Judge until it is done: as often as the checker may fail."""
        while not self._closing:
            recorded = self._judge(process, task)
            if recorded is not None:
                yield recorded
                return
            attempt = self._writer.submit(judgements.claim_one, task.judgement_id).result()
            if attempt is None:
                return
            task = replace(task, attempt=attempt)

    def _judge(self, process: GraderProcess, task: Task) -> Future[bool] | None:
        """One attempt: the outcome on its way to the rows, or None where it has to be tried again."""
        request = Grade(task.settings["checker"], task.answers)
        found = process.grade(request, self._settings.seconds_per_answer)
        if not isinstance(found, Failed):
            return self._writer.submit(judgements.record_one, outcome(task, found))
        error = found.error
        log.warning("a checker failed", judgement=task.judgement_id, problem=task.problem_id, error=error)
        failed = self._writer.submit(judgements.fail_one, Failure(task.judgement_id, task.attempt, error)).result()
        if failed < MOST_FAILURES:
            return None
        return self._writer.submit(judgements.record_one, _given_up(task, error))


def outcome(task: Task, scores: Sequence[FoundScore]) -> Outcome:
    """Sum up an attempt that went well."""
    relative = task.rule.get("kind", task.settings.get("scoring", {}).get("kind")) != Kind.ABSOLUTE
    seen = [(score.verdict, _is_full(score, relative)) for score in scores]
    complete = task.counted_cases <= {score.test_case_id for score in scores}
    verdict = judgement_type(seen, complete=complete)
    return Outcome(task.judgement_id, task.attempt, verdict.value, scores, datetime.now(UTC))


def _is_full(score: FoundScore, relative: bool) -> bool:
    """Does an accepted answer earn all it can, whatever others do? Under relative scoring validity is all there is."""
    return relative or score.multiplier is None or score.multiplier >= 1


def _given_up(task: Task, error: str) -> Outcome:
    scores = [
        FoundScore(answer.test_case_id, CaseVerdict.JUDGE_ERROR, None, None, None, JUDGE_ERROR, 0)
        for answer in task.answers
    ]
    return Outcome(task.judgement_id, task.attempt, "JE", scores, datetime.now(UTC), error)
