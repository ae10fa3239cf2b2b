"""The publisher: one thread that looks at contests somebody follows and writes down what is not as it was told last.

A look renders what the GET endpoints say, with the same functions, for everybody, for judges and for each team, and
compares it with what the log says was told. So it does not matter who changed what, or whether the server was down
meanwhile: what differs is told, what does not is not.

Looks come after changes (submissions, verdicts, whatever an admin writes), at the moments of the contest's clock, and
some seconds after a verdict that may have changed the points of others. Contests nobody follows are left alone: their
difference is told to the first who does.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

import structlog
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from app.domain.clock import utc_now
from app.domain.contests import Kind as Scoring
from app.grading.scoreboard_cache import ContestSnapshot, ScoreboardCache
from app.service import Service
from app.services.feed import submitted
from app.services.feed.difference import changes
from app.services.feed.followed import Followed, Waiter, next_look
from app.services.feed.kinds import AFTER, BEFORE, STATE, FeedSnapshot
from app.services.feed.log import Compaction, Line, Log, ids_on, of_all_runs
from app.services.feed.looking import awards_follow, shown_by, state_again, told_events, touched
from app.services.feed.submitted import Points
from app.storage import events
from app.storage.events import Append, Event, Mark, NewEvent

log: structlog.stdlib.BoundLogger = structlog.get_logger("jurado.feed")
AT_ONCE = 500
SECONDS_AFTER_A_FAULT = 1.0
KEPT_SUPERFLUOUS = timedelta(minutes=20)
REPLACEABLE = "judgements"
"""What changes often and nothing but runs refers to: events that newer ones replaced are deleted after a while."""


class Moved(Exception):
    """Another process has written to the log: it has to be read again."""


class FeedPublisher:
    """Keeps the logs of all contests. `told(contest_id)` is called, in its thread, when there are new events."""

    def __init__(self, service: Service, coalesce: float, now: Callable[[], datetime] = utc_now) -> None:
        self._service = service
        self._boards: ScoreboardCache = service.boards
        self._coalesce = coalesce
        self._now = now
        self._contests: dict[str, Followed] = {}
        self._condition = threading.Condition()
        self._closing = False
        self._thread: threading.Thread | None = None
        self._listeners: list[Callable[[str], None]] = []
        self.looks = 0
        service.boards.listeners.append(self.changed)
        service.database.listeners.append(self.all_changed)

    def listen(self, told: Callable[[str], None]) -> None:
        """Be told of every contest whose log has gone on, in the publisher's thread."""
        self._listeners.append(told)

    def changed(self, contest_id: str) -> None:
        """Something of a contest has changed, and is durable; never blocks for long."""
        followed = self._contests.get(contest_id)
        if followed is None:
            return
        with self._condition:
            followed.dirty = True
            self._condition.notify()

    def all_changed(self) -> None:
        """An admin has changed something that any contest may show."""
        with self._condition:
            for followed in self._contests.values():
                followed.dirty = True
            self._condition.notify()

    def follow(self, contest_id: str) -> None:
        """Somebody follows a contest from now on; each `follow` needs one `leave`."""
        with self._condition:
            self._contests.setdefault(contest_id, Followed(contest_id)).followers += 1
            self._start()
            self._condition.notify()

    def leave(self, contest_id: str) -> None:
        """Somebody does no more."""
        with self._condition:
            self._contests[contest_id].followers -= 1

    def fresh(self, contest_id: str, *, complete: bool = True) -> Future[Log | None]:
        """The log after a look from now on, if anything may have changed; None if there is no such contest.

        Not `complete`: where thousands of submissions are looked at, the log comes after the first of them.
        """
        future: Future[Log | None] = Future()
        with self._condition:
            if self._closing:
                future.set_result(None)
                return future
            followed = self._contests.setdefault(contest_id, Followed(contest_id))
            if followed.log is not None and not followed.stale(time.monotonic()):
                future.set_result(followed.log)
                return future
            followed.waiting.append(Waiter(future, complete))
            self._start()
            self._condition.notify()
        return future

    def log(self, contest_id: str) -> Log | None:
        """The log of a contest that is followed, as far as it has got; None before the first look."""
        followed = self._contests.get(contest_id)
        return None if followed is None else followed.log

    def close(self) -> None:
        """Stop; what is not told yet is told after the next start."""
        with self._condition:
            self._closing = True
            self._condition.notify()
        if self._thread is not None:
            self._thread.join()
        for followed in self._contests.values():
            for waiter in followed.waiting:
                waiter.future.set_result(None)

    def _start(self) -> None:
        if self._thread is None and not self._closing:
            self._thread = threading.Thread(target=self._run, name="feed", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        while True:
            with self._condition:
                while not self._closing and (due := self._next()) is None:
                    self._condition.wait(self._seconds())
                if self._closing:
                    return
                assert due is not None
                due.dirty, due.looking = False, True
                due.at = None
                waiting, due.waiting = due.waiting, []
            self._look_safely(due, waiting)

    def _next(self) -> Followed | None:
        now = time.monotonic()
        return next((each for each in self._contests.values() if next_look(each, now) <= now), None)

    def _seconds(self) -> float | None:
        now = time.monotonic()
        soonest = min((next_look(each, now) for each in self._contests.values()), default=float("inf"))
        return None if soonest == float("inf") else max(0.001, min(soonest - now, 3600.0))

    def _look_safely(self, followed: Followed, waiting: Sequence[Waiter]) -> None:
        began = time.thread_time()  # not by the clock: a look that waited for a lock has taken nothing from others
        try:
            found = self.look(followed)
        except Exception as error:
            log.exception("a contest could not be looked at; it is tried again", contest=followed.contest_id)
            followed.dirty = True
            followed.fingerprint, followed.generation = None, -1  # what was to be looked at is not known any more
            followed.not_before = time.monotonic() + SECONDS_AFTER_A_FAULT
            for waiter in waiting:
                waiter.future.set_exception(error)
            return
        finally:
            followed.looking = False
        if found is None:
            self._forget(followed)
        followed.rest(time.monotonic(), time.thread_time() - began)
        unfinished = found is not None and followed.swept
        with self._condition:
            followed.waiting += [waiter for waiter in waiting if waiter.complete and unfinished]
        for waiter in waiting:
            if not (waiter.complete and unfinished):
                waiter.future.set_result(found)

    def _forget(self, followed: Followed) -> None:
        """Keep nothing of a contest that is not there, or anybody could fill the memory with names of none."""
        with self._condition:
            if not followed.followers and not followed.waiting:
                self._contests.pop(followed.contest_id, None)

    def look(self, followed: Followed) -> Log | None:
        """Look at a contest and tell what differs; None if it is gone."""
        self.looks += 1
        while True:
            with suppress(Moved):
                return self._look(followed)
            self._close(followed)

    def _look(self, followed: Followed) -> Log | None:
        generation = self._service.database.generation  # before reading: what is written meanwhile is not in it
        now = self._now()
        with self._service.database.read() as session:
            scene = self._scene(session, followed.contest_id)
            if scene is None:
                self._close(followed)
                return None
            known = self._known(session, followed)
            moved = events.moved(session, followed.contest_id, followed.mark)
            state = list(STATE.shown(scene))
            points: Mapping[int, Points] | None = None
            small = generation != followed.generation or repr(state) != followed.state
            before = shown_by(BEFORE, scene) if small else {}
            fingerprint = self._fingerprint(scene, followed, small)
            if fingerprint != followed.fingerprint:
                followed.begin_sweep(events.submission_ids(session, followed.contest_id))
                followed.later = None
                if followed.mark == Mark():  # all there are have moved, and all are in the sweep
                    moved = events.Moved(frozenset(), frozenset(), moved.mark)
            elif self._later(followed, scene.judges, moved, small):
                followed.later, points = None, followed.points
            among = touched(scene, moved, points) | frozenset(followed.next_slice())
            found = submitted.look(scene, known.index, among)
            ends = followed.swept and not followed.sweep
            followed.after_due |= small or followed.swept or awards_follow(scene, moved)
            after = shown_by(AFTER, scene) if followed.after_due and not followed.sweep else {}
            told = told_events(known, scene, before, found, after, complete=ends)
        if not followed.sweep:  # it is the last word: told once everything before it is
            told += changes(known.index, state) or (state_again(scene, state) if told else [])
        self._write(followed, known, told, found.texts)
        followed.mark = Mark(moved.mark.submission, moved.mark.judgement, moved.mark.open | found.unsettled)
        followed.points.update(found.points)
        followed.generation, followed.fingerprint, followed.state = generation, fingerprint, repr(state)
        if not followed.sweep:
            followed.swept = followed.after_due = False
        followed.at = self._moment(followed, scene.judges, now)
        return known

    def _scene(self, session: Session, contest_id: str) -> FeedSnapshot | None:
        judges = self._boards.snapshot(contest_id, public=False)
        public = self._boards.snapshot(contest_id, public=True)
        return None if judges is None or public is None else FeedSnapshot(session, public, judges)

    def _known(self, session: Session, followed: Followed) -> Log:
        """What was told so far; where that had to be read, nothing is as it was looked at last. Raises Moved."""
        if followed.log is None:
            followed.log = self._load(followed)
            followed.mark, followed.fingerprint, followed.generation, followed.state = Mark(), None, -1, None
        if events.last(session, followed.contest_id) != followed.log.head:
            raise Moved  # by another process, or the contest was made anew
        return followed.log

    def _close(self, followed: Followed) -> None:
        """End the streams of a log that is not the contest's any more; their clients come back with their tokens."""
        if followed.log is not None:
            followed.log.closed = True
            followed.log = None
            self._tell(followed.contest_id)

    def _later(self, followed: Followed, snapshot: ContestSnapshot, moved: events.Moved, small: bool) -> bool:
        """Is a look at all points due, because those of others may have changed some seconds ago?"""
        rules = {problem.id: problem.rule.kind for problem in snapshot.contest.problems}
        relative = any(rules.get(problem) is not Scoring.ABSOLUTE for _, problem in moved.verdicts)
        if followed.later is None and (relative or small):
            followed.later = time.monotonic()
        if followed.later is None or followed.swept:  # what has not been swept yet is not known by its points
            return False
        return time.monotonic() >= followed.later + self._coalesce

    def _fingerprint(self, scene: FeedSnapshot, followed: Followed, small: bool) -> int | None:
        """What everybody's points and rights depend on, beside submissions; it need not survive the process."""
        if not small:
            return followed.fingerprint
        contest = scene.judges.contest
        current = events.judged_again(scene.session, contest.id)
        return hash(repr((contest, scene.public.freeze, scene.public.state, current)))

    def _moment(self, followed: Followed, snapshot: ContestSnapshot, now: datetime) -> float | None:
        """When the clock or the coalescing asks for the next look."""
        ahead = [(moment - now).total_seconds() for moment in snapshot.contest.moments() if moment > now]
        found = [time.monotonic() + min(ahead)] if ahead else []
        if followed.later is not None:
            found.append(followed.later + self._coalesce)
        return min(found, default=None)

    def _load(self, followed: Followed) -> Log:
        """Read a log from the beginning: what was told last is what the next look is compared with."""
        followed.superfluous = Compaction()
        with self._service.database.read() as session:
            found = Log(followed.contest_id, self._read_page, events.secret(session, followed.contest_id))
            for row in events.scan(session, followed.contest_id):
                replaced = found.take(row)
                if row.type == REPLACEABLE:
                    followed.superfluous.add(row.time, replaced)
        return found

    def _read_page(self, contest_id: str, number: int) -> list[Line]:
        with self._service.database.read() as session:
            rows = events.between(session, contest_id, *ids_on(number))
            judgements = {int(row.object_id or 0) for row in rows if of_all_runs(row.type, row.object_id)}
            scene = self._scene(session, contest_id) if judgements else None
            texts = submitted.texts_of(scene, judgements) if scene is not None else {}
            return [Line(row, texts) for row in rows]

    def _write(self, followed: Followed, known: Log, told: Sequence[NewEvent], texts: Any) -> None:
        """Write events down and let them be sent, some hundred at a time; raises Moved if the log is not as known."""
        for start in range(0, len(told), AT_ONCE):
            some = told[start : start + AT_ONCE]
            now = utc_now()
            order = Append(followed.contest_id, known.head, some, now)
            try:
                written = self._service.writer.submit(events.append, order).result()
            except IntegrityError:
                written = False
            if not written:
                raise Moved
            for at, event in enumerate(some, start=known.head + 1):
                row = Event(at, event.audience, event.owner, event.type, event.object_id, event.data, now)
                replaced = known.add(row, texts)
                if event.type == REPLACEABLE:
                    followed.superfluous.add(now, replaced)
            self._tell(followed.contest_id)
        if gone := list(followed.superfluous.older_than(utc_now() - KEPT_SUPERFLUOUS)):
            self._service.writer.submit(events.forget, events.Forget(followed.contest_id, gone)).result()

    def _tell(self, contest_id: str) -> None:
        for told in self._listeners:
            told(contest_id)
