"""Claims of an engine's graders: judgements are begun in their rows, judged, and recorded there or returned.

Guarantee 1: what is in doubt after a failure is looked for in the rows. Guarantee 5: live judgements come first.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, wait
from functools import partial
from typing import TYPE_CHECKING

from app.core.db.database import Database
from app.core.db.writer import Writer
from app.judging.queries import judging_tasks
from app.judging.queries.judging_tasks import Task
from app.judging.service.graders import EngineSettings, GraderProcess
from app.judging.service.judging import Judging
from app.judging.service.messages import SLICE_SECONDS
from app.submissions.queries import judgements
from app.submissions.queries.judgements import LEAST_CHARGED, SECONDS_EACH, Claim, Later, Outcome, Returned

if TYPE_CHECKING:
    from app.judging.service.engine import Engine

# Of a rejudging: enough that a flush of the disk is shared, few enough that little is judged twice after a crash.
MOST_REJUDGED = 16
SECONDS_GIVEN = 0.01
MOST_SECONDS_GIVEN = 0.2
# A submission that comes meanwhile waits until a claim is judged: it is not much time's worth.
MOST_CLAIMED = 64
SECONDS_CLAIMED = 0.15


class Claims:
    """Claims judgements for grader threads, which share it; `at_work` are those that are not done.

    Only single operations touch the set, so that it needs no lock. `is_in_doubt`: rows may be claimed that nobody works
    on, after a failure. `on_judged(contest_id, submission_id)` is called after a verdict is durable.
    """

    def __init__(
        self,
        database: Database,
        writer: Writer,
        settings: EngineSettings,
        judging: Judging,
        on_judged: Callable[[str, int], None],
        engine: Engine,
    ) -> None:
        self._database = database
        self._writer = writer
        self._settings = settings
        self._judging = judging
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
        # A commit whose reply is lost may leave rows behind that nobody works on: of these a sweep frees only what is
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

        A rejudging goes back as soon as somebody waits, but not before a slice of it is judged: submissions that keep
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
                if not rejudging and task.judgement_id not in self._judging.unfinished:
                    self.on_begun(task)
                ended = self._judging.judge(process, task)
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
        stays = task.judgement_id in self._judging.unfinished
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
        """Pass the news on once they are durable; those of a rejudging are nobody's business."""
        if recorded.exception() is not None:
            return  # the judgement is open, or may be: the sweep of a doubt finds it
        if recorded.result():
            self.on_recorded(task, outcome)
        if recorded.result() and task.rejudging_id is None:
            self._on_judged(task.contest_id, task.submission_id)
