"""The engine of a server or a worker: grader processes, fed from the judgements that are not done yet.

The rows are the queue: a call only lets a grader look at them, and what no call told of is found within half a second.
One thread a grader: it claims some judgements (one commit), asks its process for each, and has the outcomes recorded
(again one commit for many).

A checker that raises, loops or eats memory costs its own judgement an attempt: three of them end it as a judge error,
and all but the first on a grader that has checked nothing else. A grader that something else kills costs no attempt,
unless that happens five times in a row. What is lost with the whole process is judged
again alone, and ends as a judge error when that process is lost too, and so on three times.

Judgements of rejudgings are made while no live submission is queued: few at a time, recorded together, and returned as
soon as a submission arrives. Of several graders at least one is always left to live submissions.

Organizers' questions (is this test case valid?) are asked of the same graders. A question is repeated while graders are
killed from outside, at most `MOST_KILLS` times.

The condition serves guarantee 5 (threads wait for work, live answers first), the sweep guarantee 7.
"""

import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial

from app.contests.tables import OPEN
from app.core.db.database import Database
from app.core.db.locks import Work
from app.core.db.writer import Writer
from app.core.loops import FOREVER, Loop, fail, give
from app.judging.queries import rejudging_steps, rejudgings
from app.judging.queries.judging_tasks import Task, one_case_each
from app.judging.service.broker import Sender
from app.judging.service.graders import EngineSettings, GraderProcess, GraderState
from app.judging.service.judging import MOST_KILLS, Claims
from app.judging.service.messages import Failed, Held, Validate, Validated, Warm
from app.judging.service.programs import Programs
from app.submissions.queries import judgements
from app.submissions.queries.judgements import Outcome

SECONDS_BETWEEN_SWEEPS = 0.5
STOPPING = "the server stops"


class JudgeFailed(Exception):
    """A checker failed while an organizer waits for it."""


class NotJudged(JudgeFailed):
    """Nothing is known of the answer: no grader lived long enough, a file cannot be read, or the server stops."""


@dataclass(eq=False, slots=True)
class Question:
    """A test case to validate, and where the reply goes; `kills` of its graders from outside so far."""

    request: Validate
    future: Future[Validated] = field(default_factory=Future)
    kills: int = 0


class Engine:
    """Runs graders until it is closed.

    `on_judged(contest_id, submission_id)` is called after a verdict is durable. With a `sender` workers are called to
    judge, and these graders only answer questions.
    """

    def __init__(
        self,
        database: Database,
        writer: Writer,
        settings: EngineSettings,
        on_judged: Callable[[str, int], None],
        sender: Sender | None = None,
    ) -> None:
        self._database = database
        self._writer = writer
        self._settings = settings
        self._sender = sender
        self._changed = threading.Condition()
        self._is_called = {False: False, True: False}  # by `rejudging`: whether there may be queued judgements
        self._rejudging_graders = 0
        self._swept = float("-inf")
        self.closing = False
        self._claims = Claims(database, writer, settings, on_judged, self)
        self._questions: deque[Question] = deque()
        self.programs = Programs(settings)
        self._processes = [GraderProcess(settings, self._warm_up, self.programs) for _ in range(settings.graders)]
        self._loops = [
            Loop(f"grader-{at}", partial(self._work, process), 0.0) for at, process in enumerate(self._processes)
        ]

    def start(self) -> None:
        """Take up what an earlier process left, and begin."""
        self._claims.is_in_doubt = True
        self._sweep()
        for loop in self._loops:
            loop.start()

    def watch(
        self,
        begun: Callable[[Task], object],
        attempted: Callable[[str, float], object],
        recorded: Callable[[Task, Outcome], object],
    ) -> None:
        """Call `begun` before a task is judged, `attempted` as `Judging` does, `recorded` with each durable outcome."""
        self._claims.on_begun, self._claims.judging.on_attempt, self._claims.on_recorded = begun, attempted, recorded

    def wake(self, *, rejudging: bool = False) -> None:
        """Let a grader look for queued judgements, which are durable: live ones, or those of rejudgings."""
        if self._sender is not None:
            if not rejudging:
                self._sender.call()
            return
        with self._changed:
            self._is_called[rejudging] = True
            self._changed.notify()

    def validate(self, request: Validate) -> Future[Validated]:
        """Ask a grader to validate a test case; fails with JudgeFailed if the checker does, or no reply comes."""
        question = Question(request)
        self._ask(question)
        return question.future

    def _ask(self, question: Question) -> None:
        with self._changed:
            if self.closing:
                fail(question.future, NotJudged(STOPPING))
            self._questions.append(question)
            self._changed.notify()

    @property
    def at_work(self) -> int:
        """The number of judgements that graders have claimed here and not ended."""
        return len(self._claims.at_work)

    def graders(self) -> GraderState:
        """The state of the graders. One whose process has died is alive: it is started again when needed."""
        alive = sum(loop.alive for loop in self._loops)
        deaths = sum(process.deaths for process in self._processes)
        protections = {name: lack for process in self._processes for name, lack in process.protections.items()}
        return GraderState(alive, deaths, protections)

    def work(self) -> Work:
        """What this process's heartbeat says of the graders."""
        state = self.graders()
        return Work(state.alive, state.deaths, self.at_work)

    @property
    def pids(self) -> list[int]:
        """Process ids of the graders that run and are warm."""
        return [pid for process in self._processes if (pid := process.pid) is not None]

    def close(self) -> None:
        """Stop after the judgements at hand; the rest stays queued in its rows."""
        with self._changed:
            self.closing = True
            for question in self._questions:
                fail(question.future, NotJudged(STOPPING))
            self._changed.notify_all()
        for process in self._processes:
            process.stop_starting()
        for loop in self._loops:
            loop.close(2 * self._settings.seconds_per_answer)
        for process in self._processes:
            process.close()
        self.programs.close()
        if self._sender is not None:
            self._sender.close()

    def _sweep(self) -> None:
        """Find rows that no call told of: other processes', of an earlier one, of a rejudging, or due by now.

        A submission to a problem that an open rejudging changes gets a second judgement here.
        """
        if self._sender is not None:
            return
        self._claims.free()
        with self._database.read() as session:
            due = judgements.due_lanes(session, self._settings.process_id)
            lacking = rejudgings.lacking_newcomers(session)
        for rejudging_id in lacking:
            due.add(True)
            with self._database.write(quiet=True) as session:
                row = rejudging_steps.lock(session, rejudging_id)
                if row.state == OPEN:
                    rejudging_steps.take_in(session, row)
        for rejudging in due:
            self.wake(rejudging=rejudging)

    def _work(self, process: GraderProcess) -> float | None:
        """A step of a grader's thread: no other one starts its process or talks to it."""
        if self.closing:
            return FOREVER
        if not process.start():  # so that a thread whose grader was killed claims nothing before it has another one
            return process.pause
        try:
            if (work := self._next(process)) is not None:
                work()
        except BaseException:
            self._claims.is_in_doubt = True  # whether rows were claimed that no one works on
            raise
        return None

    def _warm_up(self) -> Warm:
        """The warm-up, which loads all checkers and kernels before the first contestant waits for them."""
        with self._database.read() as session:
            return Warm(one_case_each(session))

    def _next(self, process: GraderProcess) -> Callable[[], object] | None:
        """Wait for work, but not long; None: to look again. Sweeping is the work of one grader for all."""
        with self._changed:
            self._changed.wait_for(
                lambda: self.is_awaited() or self._may_rejudge(),
                timeout=max(0.0, self._swept + SECONDS_BETWEEN_SWEEPS - time.monotonic()),
            )
            if self.closing:
                return None
            # An organizer waits for the reply in a request, which has a timeout.
            if self._questions:
                return partial(self._answer, process, self._questions.popleft())
            if time.monotonic() - self._swept >= SECONDS_BETWEEN_SWEEPS:
                self._swept = time.monotonic()
                return self._sweep  # also while there is always something to judge
            if self._is_called[False]:
                return partial(self._judge_some, process, rejudging=False)
            if not self._may_rejudge():
                return None
            self._rejudging_graders += 1
            return partial(self._rejudge_some, process)

    def _answer(self, process: GraderProcess, question: Question) -> None:
        """Answer an organizer's question, or queue it again if its grader was killed from outside."""
        reply = process.ask(question.request, self._settings.seconds_per_answer)
        if isinstance(reply, Validated):
            give(question.future, reply)
        elif not isinstance(reply, Failed):
            fail(question.future, JudgeFailed("an unexpected reply"))
        elif isinstance(reply, Held):
            fail(question.future, NotJudged(reply.error))
        elif reply.blame:
            fail(question.future, JudgeFailed(reply.error))
        elif question.kills + 1 < MOST_KILLS:
            question.kills += 1
            self._ask(question)
        else:
            error = f"its graders were killed {MOST_KILLS} times, the last one: {reply.error}"
            fail(question.future, NotJudged(error))

    def _rejudge_some(self, process: GraderProcess) -> None:
        """Judge some queued judgements of rejudgings."""
        try:
            self._judge_some(process, rejudging=True)
        finally:
            with self._changed:
                self._rejudging_graders -= 1
                self._changed.notify()

    def is_awaited(self) -> bool:
        """Whether there is something to do that goes before rejudgings."""
        return bool(self._is_called[False] or self._questions or self.closing)

    def _may_rejudge(self) -> bool:
        """Whether a rejudging has work, and a grader is free next to the one left to live submissions."""
        return self._is_called[True] and self._rejudging_graders < max(1, len(self._processes) - 1)

    def _judge_some(self, process: GraderProcess, *, rejudging: bool) -> None:
        """Judge some queued judgements; where there are none, no grader looks again before the next call."""
        self._is_called[rejudging] = False  # first, so that a call from now on is answered by another look
        if self._claims.judge_some(process, rejudging=rejudging):
            self.wake(rejudging=rejudging)
