"""The embedded engine: grader processes beside the server, fed from the judgements that are not done yet.

The rows are the queue. The engine keeps the ids of waiting judgements in memory only to know them sooner; whatever is
lost with the process is read from the rows at the next start. One thread a grader: it claims some judgements (one
commit), asks its process for each, and has the outcomes recorded (again one commit for many).

A checker that raises, loops or eats memory costs its own judgement an attempt: three of them end it as a judge error,
and all but the first on a grader that has checked nothing else. A grader that something else kills costs no attempt,
unless the same answer loses its graders while the answers of others pass. What is lost with the whole process is judged
again alone, and ends as a judge error when that process is lost too, and so on three times.

Judgements of rejudgings are worked on while nobody waits for a verdict: few at a time, recorded together, and laid down
again as soon as a submission comes in. Of several graders one at least is always left to those who wait.

The condition serves guarantee 5 (threads wait for work, live answers first), the lock `_alone` guarantee 4.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from concurrent.futures import Future, wait
from functools import partial

import structlog

from app.core import tracing
from app.core.db.database import Database
from app.core.db.writer import Writer
from app.core.loops import FOREVER, Loop
from app.judging.queries import judging_tasks, rejudging_steps
from app.judging.service.judging import Judging, Parked
from app.judging.service.messages import SLICE_SECONDS, Grade, Validate, Validated, Warm
from app.judging.service.outcomes import GraderProcess, Spares, Trial
from app.judging.service.programs import Programs
from app.judging.service.questions import Question, Questions, Tried
from app.judging.service.staff import EngineSettings, GraderSettings, GraderState
from app.judging.service.work import FairQueue, Work, share, taken
from app.sandbox.sandbox import Sandbox
from app.submissions.queries import judgements
from app.submissions.queries.judgements import Claim, Outcome, Task
from app.submissions.service.reports import all_done

log = structlog.get_logger()

# Of a rejudging: enough that a flush of the disk is shared, few enough that little is judged twice after a crash.
MOST_CLAIMED_AGAIN = 16
SECONDS_GIVEN = 0.01
MOST_SECONDS_GIVEN = 0.2
SECONDS_BETWEEN_SWEEPS = 5.0


class Engine:
    """Runs graders until it is closed.

    `on_judged(contest_id, submission_id)` is called after a verdict is durable; `on_left` with judgements that are
    worked on no more: done, gone, laid aside, or left because the engine closes, and with those of them that are known
    to be done (durably) or gone.
    """

    def __init__(
        self, database: Database, writer: Writer, settings: EngineSettings, on_judged: Callable[[str, int], None]
    ) -> None:
        self._database = database
        self._writer = writer
        self._settings = settings
        self._on_judged = on_judged
        self.on_left: Callable[[Sequence[int], Collection[int]], None] = lambda _ids, _done: None
        self._on_begun: Callable[[Task], object] = lambda _task: None
        self._on_recorded: Callable[[Task, Outcome], object] = lambda _task, _outcome: None
        self._changed = threading.Condition()
        self._first: deque[int] = deque()
        self._waiting = FairQueue()
        self._seconds_each = 0.0
        self._waiting_again: deque[int] = deque()
        self._known_again: set[int] = set()
        self._judging_again = 0
        self._look = False
        self._swept = 0.0
        self._closing = False
        self.parked = Parked(settings.files.state)
        self._judging = Judging(
            writer, self.parked, settings.seconds_per_answer, lambda: self._closing, settings.process_id
        )
        self._alone = threading.Lock()
        self._grounds = judging_tasks.KnownGrounds()
        self._asked = Questions(self._judging.suspects, settings.seconds_per_answer, lambda: self._closing)
        grader = GraderSettings(settings.files, settings.memory, settings.program)
        self._spares = Spares(settings.spares, grader, self._warm_up)
        self.programs = Programs(
            settings.files,
            settings.cache,
            settings.memory,
            partial(Sandbox.open, as_root=settings.programs_as_root),
            image_bytes=settings.image_bytes,
            most_seconds=settings.most_seconds,
            modules=settings.modules,
        )
        self._processes = [GraderProcess(self._spares, self.programs) for _ in range(settings.graders)]
        self._loops = [
            Loop(f"grader-{at}", partial(self._work, process), 0.0) for at, process in enumerate(self._processes)
        ]

    def start(self) -> None:
        """Take up what an earlier process left, and begin."""
        self._sweep()
        for loop in self._loops:
            loop.start()
        self._spares.start()

    def watch(
        self,
        begun: Callable[[Task], object],
        attempted: Callable[[str, float], object],
        recorded: Callable[[Task, Outcome], object],
    ) -> None:
        """Call `begun` before a task is judged, `attempted` as `Judging` does, `recorded` with each durable outcome."""
        self._on_begun, self._judging.on_attempt, self._on_recorded = begun, attempted, recorded

    def wake(self, judgement_id: int, team_id: str = "") -> None:
        """A judgement of a team's submission has been queued (and is durable)."""
        tracing.hand_over(judgement_id, tracing.carried())
        with self._changed:
            self._waiting.add(judgement_id, team_id)
            self._changed.notify()

    def wake_again(self, judgement_ids: Sequence[int]) -> None:
        """Judgements that rejudgings make of a new submission have been queued (and are durable)."""
        with self._changed:
            self._add_again(judgement_ids)
            self._changed.notify()

    def take_up(self) -> None:
        """Judgements of a rejudging have been queued (and are durable), or some are gone."""
        with self._changed:
            self._look = True
            self._changed.notify()

    def finish(self, judgement_ids: Sequence[int], seconds: float) -> bool:
        """Judge these before all others and wait for it; False where that takes longer than `seconds`."""
        with self._changed:
            self._first.extend(judgement_ids)
            self._changed.notify_all()
        return all_done(self._database, judgement_ids, seconds, lambda: self._closing)

    def validate(self, request: Validate) -> Future[Validated]:
        """Ask a grader to validate a test case; fails with JudgeFailed if the checker does, or no reply comes."""
        question = Question(request)
        self._ask(question)
        return question.future

    def grade(self, request: Grade) -> Future[Trial]:
        """Grade answers that are in no row, while nobody waits for a verdict; NotJudged if nothing is known of them."""
        tried = Tried(request)
        self._ask(tried)
        return tried.future

    def _ask(self, asked: Question | Tried) -> None:
        with self._changed:
            self._asked.add(asked)
            self._changed.notify()

    @property
    def waiting(self) -> int:
        """Judgements that somebody waits for."""
        with self._changed:
            return self._waiting.known

    def programs_lack(self) -> str:
        """What keeps packages' own checkers from running; empty where nothing does."""
        return self.programs.lacks()

    def alive(self) -> int:
        """The number of graders able to work: their threads live; a process that died is started again when needed."""
        return sum(loop.alive for loop in self._loops)

    @property
    def is_warm(self) -> bool:
        """Whether a grader has been started and can be asked at once."""
        return any(process.pid is not None for process in self._processes)

    def graders(self) -> GraderState:
        """The state of the graders."""
        return GraderState(self.alive(), len(self._spares.pids), self._spares.deaths, dict(self._spares.protections))

    @property
    def pids(self) -> list[int]:
        """Process ids of the graders that run."""
        return [pid for process in self._processes if (pid := process.pid) is not None]

    def close(self) -> None:
        """Stop after the judgements at hand; the rest stays queued in its rows."""
        with self._changed:
            self._closing = True
            self._asked.close()
            self._changed.notify_all()
        self._spares.close()
        for loop in self._loops:
            loop.close(2 * self._settings.seconds_per_answer)
        for process in self._processes:
            process.close()
        self.programs.close()

    def _add_again(self, judgement_ids: Sequence[int]) -> None:
        added = [id_ for id_ in judgement_ids if id_ not in self._known_again]
        self._known_again.update(added)
        self._waiting_again.extend(added)

    def _sweep(self) -> None:
        """Find rows nobody told us of: left by an earlier process, or written by another; or of a rejudging."""
        with self._changed:
            self._look = False
        if not self._settings.takes_rows:
            self.laid_aside()
            return
        rejudging_steps.take_in_all_late(self._database)
        with self._database.read() as session:
            waiting = judgements.waiting_by_team(session)
            again = judgements.waiting(session, rejudging=True)
        parked = self.laid_aside()  # after the rows are read: what is laid aside in between would be taken twice
        with self._changed:
            for judgement_id, team_id in waiting:
                if judgement_id not in parked:
                    self._waiting.add(judgement_id, team_id)
            self._add_again([id_ for id_ in again if id_ not in parked])
            self._changed.notify_all()

    def laid_aside(self) -> set[Hashable]:
        """The judgements that wait for a file, for the sandbox or a moment; those that need not any more are let go."""
        return self.parked.look() | self._judging.suspects.look()

    def _work(self, process: GraderProcess) -> float | None:
        """A step of a grader's thread: no other one starts its process or talks to it."""
        if self._closing:
            return FOREVER
        self._work_once(process)
        return None

    def _work_once(self, process: GraderProcess) -> None:
        process.start()  # so that a thread whose grader was killed claims nothing before it has another one
        work = self._next()
        if work.question is not None:
            if not self._asked.answer(process, work.question):
                self._ask(work.question)
        elif work.ids:
            self._give_way()
            ids, done = list(work.ids), set[int]()
            try:
                self._judge_all(process, ids, done)
            finally:
                self._forget(ids, done)
        elif work.tried is not None:
            try:
                if not self._asked.attempt(process, work.tried):
                    self._ask(work.tried)
            finally:
                self._end_again()
        elif work.again:
            self._give_way()
            try:
                self._judge_again(process, work.again)
            finally:
                self._end_again()
        elif work.sweep:
            self._sweep()

    def _give_way(self) -> None:
        """Let submissions be taken first in a rush, but never wait long: what is taken is also to be judged."""
        until = time.monotonic() + MOST_SECONDS_GIVEN
        while self._writer.pressed and time.monotonic() < until and not self._closing:
            time.sleep(SECONDS_GIVEN)

    def _warm_up(self) -> Warm:
        """The warm-up, which loads all checkers and kernels before the first contestant waits for them."""
        with self._database.read() as session:
            return Warm(judgements.one_case_each(session))

    def _next(self) -> Work:
        """Wait for work; sweeping, after a while or because it was asked for, is the work of one grader."""
        with self._changed:
            self._changed.wait_for(
                lambda: (
                    self._first
                    or self._waiting
                    or self._asked.question
                    or self._look
                    or self._may_judge_again()
                    or self._closing
                ),
                timeout=min(
                    max(0.0, self._swept + SECONDS_BETWEEN_SWEEPS - time.monotonic()), self._judging.suspects.seconds()
                ),
            )
            if self._closing:
                return Work()
            if (question := self._asked.take_question()) is not None:
                return Work(question=question)
            if self._first:
                return Work(ids=taken(self._first, max(1, len(self._first) // len(self._processes))))
            if time.monotonic() - self._swept >= SECONDS_BETWEEN_SWEEPS or not self._judging.suspects.seconds():
                return self._sweeping()  # also while there is always something to judge
            if self._waiting:
                most = share(len(self._waiting), len(self._processes), self._seconds_each)
                return Work(ids=self._waiting.take(most, self._seconds_each))
            if self._look:
                return self._sweeping()
            if not self._may_judge_again():
                return Work()
            self._judging_again += 1
            if (tried := self._asked.take_trial()) is not None:
                return Work(tried=tried)
            return Work(again=taken(self._waiting_again, MOST_CLAIMED_AGAIN))

    def _sweeping(self) -> Work:
        self._swept, self._look = time.monotonic(), False
        return Work(sweep=True)

    def _may_judge_again(self) -> bool:
        """Whether a rejudging has work, and a grader is free beside the one left to those who wait for verdicts."""
        is_there = bool(self._waiting_again) or self._asked.trial is not None
        return is_there and self._judging_again < max(1, len(self._processes) - 1)

    def _end_again(self) -> None:
        with self._changed:
            self._judging_again -= 1
            self._changed.notify()

    def _forget(self, ids: Sequence[int], done: Collection[int]) -> None:
        with self._changed:
            self._waiting.forget(ids)
        self.on_left(ids, done)

    def _claim(self, ids: Sequence[int], done: set[int]) -> tuple[list[Task], list[int]]:
        """Claim those that are open: their tasks, and the ids of those that may only be judged alone.

        Those that are done or gone are added to `done`.
        """
        claims = [
            self._writer.submit(judgements.begin_many, Claim(id_, self._settings.process_id, alone=False))
            for id_ in ids
        ]
        claimed = {id_: claim.result() for id_, claim in zip(ids, claims, strict=True)}
        gone = {id_ for id_, attempt in claimed.items() if attempt is None}
        done.update(gone)
        for id_ in gone:
            self._judging.unfinished.pop(id_, None)
        return self._tasks({id_: attempt for id_, attempt in claimed.items() if attempt}), [
            id_ for id_, attempt in claimed.items() if attempt == 0
        ]

    def _tasks(self, attempts: Mapping[int, int]) -> list[Task]:
        with self._database.read() as session:
            claimed = {task.judgement_id: task for task in judging_tasks.load_tasks(session, attempts, self._grounds)}
        return [claimed[id_] for id_ in attempts if id_ in claimed]  # in their turns, and not by their ids

    def _judge_alone(self, process: GraderProcess, id_: int) -> None:
        """Judge a slice of what was lost with its process before, while nothing else of that kind is judged here.

        So a process that is lost again while it judges this one is held against it, and against no neighbour.
        """
        with self._alone:
            claim = Claim(id_, self._settings.process_id)
            attempt = self._writer.submit(judgements.begin_many, claim).result()
            for task in self._tasks({id_: attempt}) if attempt else ():
                result = self._judge(process, task, lambda: None)
                if result is not None:
                    wait(self._record([(task, result)]).values())

    def _judge_all(self, process: GraderProcess, ids: list[int], done: set[int]) -> None:
        """Judge these; what is given back to the queue is taken out of `ids`, what is known to be done put into `done`.

        After a slice's time what is left of the claim goes back to the queue, which gives other teams their turn.
        Outcomes wait a moment for those judged after them, so that one commit records some. In a rush all of them are
        recorded together: else nearly every commit of submissions would record a few, and take twice as long.
        """
        outcomes: list[tuple[Task, Outcome]] = []
        recorded: dict[int, Future[bool]] = {}
        claimed, alone = self._claim(ids, done)
        tasks, began = deque(claimed), time.monotonic()
        try:
            while tasks:
                task = tasks.popleft()
                result = self._judge(process, task, lambda: self._leave_to_others(tasks, ids))
                if result is not None:
                    outcomes.append((task, result))
                elif task.judgement_id in self._judging.unfinished:
                    tasks.appendleft(task)
                if time.monotonic() - began > SLICE_SECONDS:
                    self._put_back([each.judgement_id for each in tasks], ids)
                    tasks.clear()
                if not self._writer.pressed:
                    recorded |= self._record(outcomes, may_wait=bool(tasks))
                    outcomes.clear()
        finally:
            recorded |= self._record(outcomes)
        if claimed:  # of the judging alone: slow commits are a reason to claim more together
            self._seconds_each = (time.monotonic() - began) / len(claimed)
        wait(recorded.values())
        done.update(id_ for id_, each in recorded.items() if each.exception() is None and each.result())
        for id_ in alone:
            self._judge_alone(process, id_)
        self._put_back([id_ for id_ in alone if id_ in self._judging.unfinished], ids)

    def _judge(self, process: GraderProcess, task: Task, on_failure: Callable[[], None]) -> Outcome | None:
        """Judge a slice of a task that somebody waits for, and charge its team with the time."""
        if task.judgement_id not in self._judging.unfinished:
            self._on_begun(task)
        began = time.monotonic()
        try:
            return self._judging.judge(process, task, on_failure)
        finally:
            with self._changed:
                self._waiting.charge(task.judgement_id, time.monotonic() - began)

    def _leave_to_others(self, tasks: deque[Task], ids: list[int]) -> None:
        """Leave what is claimed to other graders, where the next one of this thread is only being started."""
        if len(self._processes) > 1 and not self._spares.pids:
            self._put_back([task.judgement_id for task in tasks], ids)
            tasks.clear()

    def _put_back(self, claimed: Sequence[int], ids: list[int]) -> None:
        """Put claimed judgements back into the queue that they came from, and take them out of `ids`."""
        with self._changed:
            returned = self._waiting.put_back(claimed)
            self._first.extendleft(id_ for id_ in reversed(claimed) if id_ not in returned)
            self._changed.notify_all()
        ids[:] = [id_ for id_ in ids if id_ not in claimed]

    def _judge_again(self, process: GraderProcess, ids: Sequence[int]) -> None:
        """Judge some of a rejudging: silently, and only as long as nobody waits for a verdict."""
        left, outcomes = set(ids), list[tuple[Task, Outcome]]()
        claimed, alone = self._claim(ids, set())
        for id_ in alone:
            self._judge_alone(process, id_)
        left -= set(alone) - self._judging.unfinished.keys()
        try:
            for at, task in enumerate(claimed):
                if at and self._is_awaited():
                    break  # after a slice at least, so that submissions that keep coming do not stop a rejudging
                ended = self._judging.judge(process, task, lambda: None)
                if task.judgement_id not in self._judging.unfinished:
                    left.discard(task.judgement_id)
                if ended is not None:
                    outcomes.append((task, ended))
            else:
                left &= self._judging.unfinished.keys()  # those that could not be claimed are done, or gone
        finally:
            recorded = self._record(outcomes)
            with self._changed:
                self._waiting_again.extendleft(sorted(left, reverse=True))
        if not self._is_awaited():  # else those are durable by and by, and whoever waits is served first
            wait(recorded.values())
        with self._changed:
            self._known_again.difference_update(set(ids) - left)
        self.on_left(sorted(set(ids) - left), ())

    def _record(self, outcomes: Sequence[tuple[Task, Outcome]], *, may_wait: bool = False) -> dict[int, Future[bool]]:
        """Have outcomes written down, and the news of each passed on then; gives what becomes of each judgement."""
        recorded = {}
        for task, outcome in outcomes:
            written = self._writer.submit(judgements.record_many, outcome, may_wait=may_wait)
            written.add_done_callback(partial(self._tell, task, outcome))
            recorded[task.judgement_id] = written
        return recorded

    def _is_awaited(self) -> bool:
        """Whether somebody waits for something else than the judgements of a rejudging."""
        return bool(self._first or self._waiting or self._asked.question or self._closing)

    def _tell(self, task: Task, outcome: Outcome, recorded: Future[bool]) -> None:
        """Pass the news on once they are durable; those of a rejudging are nobody's business."""
        if recorded.exception() is not None:
            return  # the judgement is open, and found by the next sweep; or in doubt, and all is told once it is known
        if recorded.result():
            self._on_recorded(task, outcome)
        if recorded.result() and task.rejudging_id is None:
            self._on_judged(task.contest_id, task.submission_id)
