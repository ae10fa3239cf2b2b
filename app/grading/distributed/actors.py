"""What a worker does with a message: it has the rows judged that the message names, and acknowledges it after that.

A message is acknowledged when none of its rows is open any more. Else (a file is missing, the database was away, the
worker stops) it is sent again, and whoever receives it looks at the rows once more.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from app.grading.engine import Engine
from app.grading.references import MOST_ATTEMPTS, JobRunner
from app.storage import jobs, judgements
from app.storage.database import Database
from app.storage.locks import Locks

LAID_ASIDE_MS = 5000
STOPPING_MS = 0
SECONDS_BETWEEN_LOOKS = 1.0


class TryAgain(Exception):
    """Rows of a message are still open: it is to be sent again after `delay_ms`."""

    def __init__(self, delay_ms: int) -> None:
        super().__init__(f"rows are still open: they are looked at again in {delay_ms} ms")
        self.delay_ms = delay_ms


class JudgementActor:
    """Hands judgements to the engine, and waits until it has left them. Its methods run in the threads of messages."""

    def __init__(self, database: Database, engine: Engine) -> None:
        self._database = database
        self._engine = engine
        self._waiting: defaultdict[int, list[threading.Semaphore]] = defaultdict(list)
        self._guard = threading.Lock()
        self._closing = False
        engine.on_left = self._left

    def judge(self, rows: Sequence[tuple[int, str]]) -> None:
        """Judge what contestants wait for; raises TryAgain while one is open."""
        ids = [id_ for id_, _team_id in rows]
        with self._awaited(ids):
            for id_, team_id in rows:
                self._engine.wake(id_, team_id)
        self._check(ids)

    def judge_again(self, ids: Sequence[int]) -> None:
        """Judge what rejudgings have, while nobody waits for a verdict here; raises TryAgain while one is open."""
        with self._awaited(ids):
            self._engine.wake_again(ids)
        self._check(ids)

    def close(self) -> None:
        """Let go whoever waits: the engine stops."""
        with self._guard:
            self._closing = True
            for semaphores in self._waiting.values():
                for each in semaphores:
                    each.release()

    @contextmanager
    def _awaited(self, ids: Sequence[int]) -> Iterator[None]:
        """Hand over within the block, and wait at its end until the engine has left all of these, or stops."""
        left = threading.Semaphore(0)
        with self._guard:
            for id_ in ids:
                self._waiting[id_].append(left)
        yield
        for _ in ids:
            if self._closing:
                break
            left.acquire()

    def _left(self, ids: Sequence[int]) -> None:
        with self._guard:
            for id_ in ids:
                for each in self._waiting.pop(id_, ()):
                    each.release()

    def _check(self, ids: Sequence[int]) -> None:
        if self._closing:
            raise TryAgain(STOPPING_MS)
        with self._database.read() as session:
            if judgements.unjudged(session, ids):
                raise TryAgain(LAID_ASIDE_MS)


class JobActor:
    """Runs jobs one at a time, each under a lock, so that no two workers run the same."""

    def __init__(self, database: Database, runner: JobRunner, locks: Locks) -> None:
        self._database = database
        self._runner = runner
        self._locks = locks
        self._closing = threading.Event()

    def run_job(self, job_id: str) -> None:
        """Run a job that has not ended, unless another worker runs it; raises TryAgain where this one stops."""
        lock = f"job {job_id}"
        if not self._locks.take(lock):
            return
        try:
            with self._database.write(quiet=True) as session:
                jobs.take_up_interrupted(session, MOST_ATTEMPTS, job_id)
            with self._watched(job_id, lock):
                self._runner.work_on(job_id)
        finally:
            self._locks.give_back(lock)
        if self._closing.is_set():
            raise TryAgain(STOPPING_MS)

    def close(self) -> None:
        """Have a message whose job is killed sent again; before the runner is closed."""
        self._closing.set()

    @contextmanager
    def _watched(self, job_id: str, lock: str) -> Iterator[None]:
        """Stop the job as soon as it is cancelled, or another worker may have its lock."""
        ended = threading.Event()
        watching = threading.Thread(target=self._watch, args=(job_id, lock, ended), name="job watch", daemon=True)
        watching.start()
        try:
            yield
        finally:
            ended.set()
            watching.join()

    def _watch(self, job_id: str, lock: str, ended: threading.Event) -> None:
        while not ended.wait(SECONDS_BETWEEN_LOOKS):
            if not self._locks.take(lock) or self._is_over(job_id):
                self._runner.stop(job_id)
                return

    def _is_over(self, job_id: str) -> bool:
        with self._database.read() as session:
            job = jobs.get(session, job_id)
            return job is None or job.state in jobs.ENDED
