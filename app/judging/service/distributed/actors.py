"""What a worker does with a message: it has the rows judged that the message names, and acknowledges it after that.

A message is acknowledged when none of its rows is open any more. Else (a file is missing, the database was away, the
worker stops) it is sent again, and whoever receives it looks at the rows once more.

- The consumers of a worker: dramatiq's threads, as many for each lane as it works on at once.

Guarantee 7: a message is acknowledged only after its rows; the lock is for threads of messages and graders. The job
watch stops a job that another worker may run.
"""

from __future__ import annotations

import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from app.core import tracing
from app.core.db.database import Database
from app.core.db.locks import Locks
from app.core.loops import FOREVER, Loop
from app.judging.service.distributed.broker import Lane, contexts_in_message, open_broker
from app.judging.service.engine import Engine
from app.judging.service.references import MOST_ATTEMPTS, JobRunner
from app.problems.queries import pins
from app.submissions.queries import judgements

if TYPE_CHECKING:
    from dramatiq import Worker


LAID_ASIDE_MS = 5000
STOPPING_MS = 0
OTHER_TEAMS_FIRST_MS = 500
SECONDS_BETWEEN_LOOKS = 1.0


class TryAgain(Exception):
    """Rows of a message are still open: it is to be sent again after `delay_ms`."""

    def __init__(self, delay_ms: int) -> None:
        super().__init__(f"rows are still open: they are looked at again in {delay_ms} ms")
        self.delay_ms = delay_ms


@dataclass(slots=True)
class _Awaited:
    """The judgements of a message: those at work, those not known to be done; `left` is set when none is at work."""

    at_work: set[int]
    open: set[int]
    left: threading.Event = field(default_factory=threading.Event)

    def leave(self, id_: int, *, is_done: bool) -> None:
        """Note that the engine has left one of them."""
        self.at_work.discard(id_)
        if is_done:
            self.open.discard(id_)
        if not self.at_work:
            self.left.set()


class JudgementActor:
    """Hands judgements to the engine, and waits until it has left them. Its methods run in the threads of messages.

    At most `most_of_team` messages of one team are worked on at once: a team with slow checkers cannot take all threads
    of a worker, and its further messages go behind those of other teams.
    """

    def __init__(self, database: Database, engine: Engine, most_of_team: int) -> None:
        self._database = database
        self._engine = engine
        self._most_of_team = most_of_team
        self._messages: Counter[str] = Counter()
        self._waiting: defaultdict[int, list[_Awaited]] = defaultdict(list)
        self._guard = threading.Lock()
        self._closing = False
        engine.on_left = self._left

    def judge(self, rows: Sequence[tuple[int, str]]) -> None:
        """Judge what contestants wait for; raises TryAgain while one is open, or if its teams have enough messages."""
        with self._counted({team_id for _id, team_id in rows}):
            with self._awaited([id_ for id_, _team_id in rows]) as awaited:
                for id_, team_id in rows:
                    self._engine.wake(id_, team_id)
            self._check(awaited.open)

    def judge_again(self, ids: Sequence[int]) -> None:
        """Judge what rejudgings have, while nobody waits for a verdict here; raises TryAgain while one is open."""
        with self._awaited(ids) as awaited:
            self._engine.wake_again(ids)
        self._check(awaited.open)

    def close(self) -> None:
        """Let go whoever waits: the engine stops."""
        with self._guard:
            self._closing = True
            for awaiting in self._waiting.values():
                for each in awaiting:
                    each.left.set()

    @contextmanager
    def _counted(self, teams: Collection[str]) -> Iterator[None]:
        """Count a message for its teams within the block; raises TryAgain if all of them have the most."""
        with self._guard:
            if all(team and self._messages[team] >= self._most_of_team for team in teams) and teams:
                raise TryAgain(OTHER_TEAMS_FIRST_MS)
            self._messages.update(teams)
        try:
            yield
        finally:
            with self._guard:
                self._messages -= Counter(teams)  # without the teams that have none left

    @contextmanager
    def _awaited(self, ids: Sequence[int]) -> Iterator[_Awaited]:
        """Hand over within the block, and wait at its end until the engine has left all of these, or stops."""
        awaited = _Awaited(set(ids), set(ids))
        with self._guard:
            for id_ in awaited.at_work:
                self._waiting[id_].append(awaited)
        yield awaited
        if ids and not self._closing:
            awaited.left.wait()

    def _left(self, ids: Sequence[int], done: Collection[int]) -> None:
        with self._guard:
            for id_ in ids:
                for each in self._waiting.pop(id_, ()):
                    each.leave(id_, is_done=id_ in done)

    def _check(self, ids: Collection[int]) -> None:
        """Look at the rows of those that the engine does not know to be done."""
        if not ids:
            return
        if self._closing:
            raise TryAgain(STOPPING_MS)
        with self._database.read() as session:
            if judgements.unjudged(session, sorted(ids)):
                raise TryAgain(LAID_ASIDE_MS)


class JobActor:
    """Runs jobs one at a time, each under a lock, so that no two workers run the same."""

    def __init__(self, database: Database, runner: JobRunner, locks: Locks) -> None:
        self._database = database
        self._runner = runner
        self._locks = locks
        self._closing = False

    def run_job(self, job_id: str) -> None:
        """Run a job that has not ended, unless another worker runs it; raises TryAgain where this one stops."""
        lock = f"job {job_id}"
        if not self._locks.take(lock):
            return
        try:
            with self._database.write(quiet=True) as session:
                pins.take_up_interrupted(session, MOST_ATTEMPTS, job_id)
            with self._watched(job_id, lock):
                self._runner.work_on(job_id)
        finally:
            self._locks.give_back(lock)
        if self._closing:
            raise TryAgain(STOPPING_MS)

    def close(self) -> None:
        """Have a message whose job is killed sent again; before the runner is closed."""
        self._closing = True

    @contextmanager
    def _watched(self, job_id: str, lock: str) -> Iterator[None]:
        """Stop the job as soon as it is cancelled, or another worker may have its lock."""

        def look() -> float | None:
            if self._locks.take(lock) and not self._is_over(job_id):
                return None
            self._runner.stop(job_id)
            return FOREVER

        watching = Loop("job watch", look, SECONDS_BETWEEN_LOOKS, delay=SECONDS_BETWEEN_LOOKS)
        watching.start()
        try:
            yield
        finally:
            watching.close()

    def _is_over(self, job_id: str) -> bool:
        with self._database.read() as session:
            job = pins.get(session, job_id)
            return job is None or job.state in pins.ENDED


T = TypeVar("T")
IDLE_MS = 500
LONGEST_STOP_MS = 120_000


class Consumer:
    """Calls `act` with the rows of each message of a lane, in so many threads; `act` may raise TryAgain.

    No message beyond those is taken from other workers. dramatiq wants one worker a broker, so each lane has its own.
    """

    def __init__(self, url: str, lane: Lane, act: Callable[[Sequence[T]], None], threads: int) -> None:
        import dramatiq

        self.queue = lane.queue
        self._acting: set[int] = set()  # the threads that work on a message; each adds and removes only itself

        def acting(rows: Sequence[T]) -> None:
            self._acting.add(threading.get_ident())
            for row, context in contexts_in_message().items() if tracing.is_on() else ():
                tracing.hand_over(int(row), context)
            try:
                act(rows)
            except TryAgain as error:
                raise dramatiq.errors.Retry(str(error), delay=error.delay_ms) from None
            finally:
                self._acting.discard(threading.get_ident())

        self._broker = open_broker(url, [lane])
        dramatiq.actor(actor_name=lane.actor, queue_name=lane.queue, broker=self._broker)(acting)
        self._worker: Worker = dramatiq.Worker(
            self._broker, queues={lane.queue}, worker_threads=threads, worker_timeout=IDLE_MS
        )
        self._worker.queue_prefetch = threads

    def start(self) -> None:
        """Begin to take messages; a broker that is away is tried again each few seconds."""
        self._worker.start()

    @property
    def at_hand(self) -> int:
        """The number of messages that are being worked on."""
        return len(self._acting)

    def pause(self) -> None:
        """Take no more messages, and let the broker give those that are at hand to other workers at once."""
        for thread in self._worker.consumers.values():
            thread.pause()

    def resume(self) -> None:
        """Take messages again."""
        for thread in self._worker.consumers.values():
            thread.resume()

    def stop(self) -> None:
        """Take no more messages, and wait for those at hand."""
        self._worker.stop(LONGEST_STOP_MS)
        self._broker.close()
