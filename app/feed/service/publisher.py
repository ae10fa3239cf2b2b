"""The feed publisher: one thread that compares followed contests with their event logs and publishes the differences.

A look renders the documents of the GET endpoints, with the same functions, for everybody, for judges and for each team,
and diffs them against the last versions in the log. The result is independent of who changed what, and of restarts.

Looks come after changes (submissions, verdicts, an admin's writes), at the moments of the contest's clock, and some
seconds after a verdict that may have changed other points. Contests without followers are skipped; the first follower
gets their differences.

Of several processes on a database one publishes each contest (`app.feed.service.elsewhere`).

Invariants, kept by `_look`: the generation of the database is read before its rows, so that a write in between causes
another look; a log grows only behind the head this process knows (`WrittenElsewhere` otherwise); `state` comes last,
after everything before it has been published; an object is published after those it refers to.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from datetime import datetime, timedelta

import structlog
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from app.core.clock import utc_now
from app.core.garbage import without_collections
from app.core.loops import Loop, fail, give
from app.core.service import Service
from app.feed import queries as feed_queries
from app.feed.queries import Append, Event, Mark, NewEvent
from app.feed.service import elsewhere, submitted
from app.feed.service import followed as service_followed
from app.feed.service.followed import Followed, Waiter, next_look
from app.feed.service.kinds import AFTER, BEFORE, STATE, FeedSnapshot, changes
from app.feed.service.log import Compaction, Line, Log, Runs, ids_on, of_all_runs
from app.feed.service.submitted import Points
from app.scoreboard.queries.scoreboard_cache import ScoreboardCache

log: structlog.stdlib.BoundLogger = structlog.get_logger("jurado.feed")
AT_ONCE = 500
SECONDS_AFTER_A_FAULT = 1.0
KEPT_SUPERFLUOUS = timedelta(minutes=20)
# A kind that changes often and that only runs refer to: replaced events of it are deleted after a while.
REPLACEABLE = "judgements"


class WrittenElsewhere(Exception):
    """Another process has written to the log, which has to be read again."""


class FeedPublisher:
    """Publishes the logs of followed contests; calls listeners, in its thread, with the id of each changed contest."""

    def __init__(self, service: Service, coalesce: float, now: Callable[[], datetime] = utc_now) -> None:
        self._service = service
        self._boards: ScoreboardCache = service.boards
        self._coalesce = coalesce
        self._now = now
        self._contests: dict[str, Followed] = {}
        self._guard = threading.Lock()
        self._loop = Loop("feed", self._step)
        self._listeners: list[Callable[[str], None]] = []
        self._shared = service.database.origin is not None
        self.looks = 0
        service.boards.listeners.append(self.changed)
        service.database.listeners.append(self.all_changed)

    def listen(self, on_events: Callable[[str], None]) -> None:
        """Register a listener, called in the publisher's thread with the id of each contest whose log has grown."""
        self._listeners.append(on_events)

    def changed(self, contest_id: str, submission_id: int | None = None) -> None:
        """Note that a contest has changed, or a submission of it, durably; never blocks for long."""
        followed = self._contests.get(contest_id)
        if followed is None:
            return
        with self._guard:
            if self._shared and submission_id is not None:
                followed.changed_ids.add(submission_id)
            followed.dirty = True
        self._loop.wake()

    def written(self, contest_id: str) -> None:
        """Note that another process has written to a contest's log."""
        followed = self._contests.get(contest_id)
        if followed is not None:
            with self._guard:
                followed.written = True
            self._loop.wake()

    def lost(self) -> None:
        """Note that changes may have gone unnoticed: everything is compared once more."""
        with self._guard:
            for followed in self._contests.values():
                followed.fingerprint, followed.dirty, followed.written = None, True, True
        self._loop.wake()

    def asked(self, contest_id: str, number: str, complete: int) -> None:
        """Look for another process, where this one publishes the contest."""
        followed = self._contests.get(contest_id)
        if followed is not None and not followed.elsewhere and followed.tried > 0:
            looked = self.fresh(contest_id, complete=bool(complete))
            looked.add_done_callback(lambda done: elsewhere.answer(self._service, done, number))

    def answered(self, number: str, head: int) -> None:
        """Note that the publishing process has looked as it was asked to."""
        with self._guard:
            for followed in self._contests.values():
                if (asked := followed.asked.pop(number, None)) is not None:
                    followed.answered += [(waiter, head) for waiter in asked.waiters]
                    followed.written = True
        self._loop.wake()

    def all_changed(self) -> None:
        """Note that an admin has changed something that any contest may show."""
        with self._guard:
            for followed in self._contests.values():
                followed.dirty = True
        self._loop.wake()

    def follow(self, contest_id: str) -> None:
        """Count a follower of a contest; each `follow` needs one `leave`."""
        with self._guard:
            self._contests.setdefault(contest_id, Followed(contest_id)).followers += 1
        self._loop.start()
        self._loop.wake()

    def leave(self, contest_id: str) -> None:
        """Count a follower less."""
        with self._guard:
            self._contests[contest_id].followers -= 1
        self._loop.wake()

    def fresh(self, contest_id: str, *, complete: bool = True) -> Future[Log | None]:
        """Return the log after a look that begins now or later, if it may have changed; None for an unknown contest.

        Without `complete` the log may come before a sweep of thousands of submissions is over. Cancel the future to
        stop waiting.
        """
        future: Future[Log | None] = Future()
        with self._guard:
            if self._loop.closing:
                give(future, None)
                return future
            followed = self._contests.setdefault(contest_id, Followed(contest_id))
            if followed.log is not None and not followed.stale(time.monotonic()):
                give(future, followed.log)
                return future
            followed.waiting.append(Waiter(future, complete))
        self._loop.start()
        self._loop.wake()
        return future

    def log(self, contest_id: str) -> Log | None:
        """The present log of a followed contest; None before the first look."""
        followed = self._contests.get(contest_id)
        return None if followed is None else followed.log

    def close(self) -> None:
        """Stop; unpublished differences are published after the next start."""
        self._loop.close()
        with self._guard:
            waiting = [each for followed in self._contests.values() for each in (*followed.waiting, *followed.asking)]
        for waiter in waiting:
            give(waiter.future, None)

    def _step(self) -> float | None:
        """Look at a contest that is due; returns the seconds until the next one is, None: until something changes."""
        with self._guard:
            due = self._next()
            if due is None:
                return self._seconds()
            due.dirty, due.looking, due.written = False, True, False
            due.at = None
            waiting = [waiter for waiter in due.waiting if not waiter.future.cancelled()]
            due.waiting = []
        self._look_safely(due, waiting)
        return 0.0

    def _next(self) -> Followed | None:
        now = time.monotonic()
        return next((each for each in self._contests.values() if next_look(each, now) <= now), None)

    def _seconds(self) -> float | None:
        now = time.monotonic()
        soonest = min((next_look(each, now) for each in self._contests.values()), default=float("inf"))
        return None if soonest == float("inf") else max(0.001, min(soonest - now, 3600.0))

    def _look_safely(self, followed: Followed, waiting: Sequence[Waiter]) -> None:
        began = time.thread_time()  # thread time: waiting for a lock takes no time from others
        try:
            if not (followed.followers or waiting or followed.asked or followed.answered):
                followed.dirty = True
                elsewhere.leave(self._service, followed)
                return
            if not elsewhere.is_here(self._service, followed):
                self._look_elsewhere(followed, waiting)
                return
            log_after = self.look(followed)
        except Exception as error:
            log.exception("a contest could not be looked at; it is tried again", contest=followed.contest_id)
            followed.dirty = True
            followed.fingerprint = None  # the changes since the last look are unknown now
            followed.not_before = time.monotonic() + SECONDS_AFTER_A_FAULT
            for waiter in waiting:
                fail(waiter.future, error)
            return
        finally:
            followed.looking = False
        if log_after is None:
            self._forget(followed)
        followed.rest(time.monotonic(), time.thread_time() - began)
        left = [] if log_after is None else followed.left(waiting)
        with self._guard:
            followed.waiting += left
        futures = {waiter.future for waiter in left}
        for waiter in waiting:
            if waiter.future not in futures:
                give(waiter.future, log_after)
        elsewhere.leave(self._service, followed)

    def _look_elsewhere(self, followed: Followed, waiting: Sequence[Waiter]) -> None:
        """Read what the publishing process has written, and ask it for the looks that are waited for."""
        if followed.log is None:
            followed.log = self._load(followed)
        followed.rest(time.monotonic(), 0.0)
        if not self._catch_up(followed):  # the contest is gone, or another one has its name: that is found out anew
            self._close(followed)
            followed.waiting += waiting
            return
        with self._guard:
            reached = elsewhere.answered(followed)
            elsewhere.ask(self._service, followed, waiting)
        for waiter, log_after in reached:
            give(waiter.future, log_after)

    def _forget(self, followed: Followed) -> None:
        """Drop the record of an unknown contest: invented names must not fill the memory."""
        with self._guard:
            if not followed.followers and not followed.waiting:
                self._contests.pop(followed.contest_id, None)

    def look(self, followed: Followed) -> Log | None:
        """Look at a contest and publish its differences; None if it was deleted."""
        self.looks += 1
        while True:
            with suppress(WrittenElsewhere):
                return self._look(followed)
            if not self._catch_up(followed):
                self._close(followed)

    def _catch_up(self, followed: Followed) -> bool:
        """Read what another process has written to the log; False where the log is another one now."""
        known = followed.log
        while known is not None:
            with self._service.database.read() as session:
                rows = elsewhere.new_rows(session, known)
                if rows is None:
                    return False
                texts = self._texts_of(session, known.contest_id, rows)
            for row in rows:
                elsewhere.note_superfluous(followed, row.type, known.add(row, texts), REPLACEABLE)
            if not rows:
                return True
            followed.fingerprint = None  # what others have published is in the log alone
            self._tell(known.contest_id)
        return False

    def _look(self, followed: Followed) -> Log | None:
        generation = self._service.database.generation  # before reading, so that a write in between is noticed
        changed_ids, followed.changed_ids = followed.changed_ids, set()
        now = self._now()
        with self._service.database.read() as session:
            feed_snapshot = self._feed_snapshot(session, followed.contest_id)
            if feed_snapshot is None:
                self._close(followed)
                return None
            known = self._known(session, followed)
            moved = feed_queries.new_since(session, followed.contest_id, followed.mark, changed_ids)
            state = list(STATE.shown(feed_snapshot))
            points: Mapping[int, Points] | None = None
            stale = followed.fingerprint is None or generation != followed.generation
            small = stale or repr(state) != followed.state
            before = service_followed.shown_by(BEFORE, feed_snapshot) if small else {}
            fingerprint = self._fingerprint(feed_snapshot, followed, small)
            followed.again |= fingerprint != followed.fingerprint
            if followed.again and not followed.sweep:
                followed.begin_sweep(feed_queries.submission_ids(session, followed.contest_id), state)
                followed.later = None
            if followed.swept and followed.mark == Mark():  # all have moved, and the sweep has all of them
                moved = feed_queries.NewSince(frozenset(), frozenset(), moved.mark)
            elif service_followed.points_due(followed, feed_snapshot.judges, moved, self._coalesce, small=small):
                followed.later, points = None, followed.points
            among = service_followed.touched(feed_snapshot, moved, points) | frozenset(followed.next_slice())
            rendered = submitted.look(feed_snapshot, known.index, among)
            ends = followed.swept and not followed.sweep
            followed.after_due |= small or followed.swept or service_followed.awards_follow(feed_snapshot, moved)
            after = service_followed.shown_by(AFTER, feed_snapshot) if followed.after_due and not followed.sweep else {}
            new_events = service_followed.changed_events(known, feed_snapshot, before, rendered, after, complete=ends)
        if not followed.sweep:  # the state comes last, after everything else
            published = followed.settled if followed.again else state
            new_events += changes(known.index, published) or (
                service_followed.state_again(feed_snapshot, published) if new_events else []
            )
        self._write(followed, known, new_events, rendered.texts)
        followed.mark = Mark(moved.mark.submission, moved.mark.judgement, moved.mark.open | rendered.unsettled)
        followed.points.update(rendered.points)
        followed.generation, followed.fingerprint, followed.state = generation, fingerprint, repr(state)
        if not followed.sweep:
            followed.end_sweep()
        followed.at = service_followed.next_moment(followed, feed_snapshot.judges, now, self._coalesce)
        return known

    def _feed_snapshot(self, session: Session, contest_id: str) -> FeedSnapshot | None:
        judges = self._boards.snapshot(contest_id, public=False)
        public = self._boards.snapshot(contest_id, public=True)
        return None if judges is None or public is None else FeedSnapshot(session, public, judges)

    def _known(self, session: Session, followed: Followed) -> Log:
        """The log so far; a log that had to be read forgets what the last look knew. Raises WrittenElsewhere."""
        if followed.log is None:
            followed.log = self._load(followed)
            followed.mark, followed.fingerprint, followed.sweep = Mark(), None, []
        if feed_queries.last(session, followed.contest_id) != followed.log.head:
            raise WrittenElsewhere  # by another process, or the contest was made anew
        return followed.log

    def _close(self, followed: Followed) -> None:
        """Close an outdated log and its streams; their clients come back with their tokens."""
        if followed.log is not None:
            followed.log.closed = True
            followed.log = None
            self._tell(followed.contest_id)

    def _fingerprint(self, feed_snapshot: FeedSnapshot, followed: Followed, small: bool) -> int | None:
        """A hash of everything but submissions that points and visibility depend on; valid within this process."""
        if not small:
            return followed.fingerprint
        contest = feed_snapshot.judges.contest
        current = feed_queries.judged_again(feed_snapshot.session, contest.id)
        return hash(repr((contest, feed_snapshot.public.freeze, feed_snapshot.public.state, current)))

    def _load(self, followed: Followed) -> Log:
        """Read a log from the beginning; the next look is compared with its last versions."""
        followed.superfluous = Compaction()
        with self._service.database.read() as session, without_collections():
            contest_log = Log(followed.contest_id, self._read_page, feed_queries.secret(session, followed.contest_id))
            for row in feed_queries.scan(session, followed.contest_id, utc_now()):
                replaced = contest_log.take(row)
                if row.type == REPLACEABLE:
                    followed.superfluous.add(row.time, replaced)
        return contest_log

    def _read_page(self, contest_id: str, number: int, type_: str | None) -> list[Line]:
        with self._service.database.read() as session:
            rows = feed_queries.between(session, contest_id, *ids_on(number), type_)
            texts = self._texts_of(session, contest_id, rows)
            return [Line(row, texts) for row in rows]

    def _texts_of(self, session: Session, contest_id: str, rows: Sequence[Event]) -> Runs:
        """The runs that events of all runs of a judgement stand for."""
        judgements = {int(row.object_id or 0) for row in rows if of_all_runs(row.type, row.object_id)}
        feed_snapshot = self._feed_snapshot(session, contest_id) if judgements else None
        return submitted.texts_of(feed_snapshot, judgements) if feed_snapshot is not None else {}

    def _write(self, followed: Followed, known: Log, new_events: Sequence[NewEvent], texts: Runs) -> None:
        """Append events and let streams see them, some hundred at a time; raises WrittenElsewhere for another head."""
        for start in range(0, len(new_events), AT_ONCE):
            some = new_events[start : start + AT_ONCE]
            now = utc_now()
            order = Append(followed.contest_id, known.head, some, now)
            try:
                written = self._service.writer.submit(feed_queries.append, order).result()
            except IntegrityError:
                written = False
            if not written:
                raise WrittenElsewhere
            for at, event in enumerate(some, start=known.head + 1):
                row = Event(at, event.audience, event.owner, event.type, event.object_id, event.data, now)
                replaced = known.add(row, texts)
                if event.type == REPLACEABLE:
                    followed.superfluous.add(now, replaced)
            self._tell(followed.contest_id)
        if gone := list(followed.superfluous.older_than(utc_now() - KEPT_SUPERFLUOUS)):
            self._service.writer.submit(feed_queries.forget, feed_queries.Forget(followed.contest_id, gone)).result()

    def _tell(self, contest_id: str) -> None:
        for on_events in self._listeners:
            on_events(contest_id)
