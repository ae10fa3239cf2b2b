"""The feed publisher: one thread that compares followed contests with their event logs and publishes the differences.

A look renders the documents of the GET endpoints, with the same functions, for everyone, for judges and for each team,
and diffs them against the last versions in the log (guarantees 2 and 3). The result is independent of who changed
what, and of restarts.

Looks come after changes (submissions, verdicts, an admin's writes), at the moments of the contest's clock, and some
seconds after a verdict that may have changed other points. Contests without followers are skipped; the first follower
gets their differences. A change of what all submissions are shown by begins a sweep: each look takes some of them, so
that new verdicts are published in between (guarantee 5).

Every process publishes what its own clients follow (guarantee 7): an event is appended only behind the last one that
the process knows. If another one was faster, the process reads that event and compares again. It waits for the notice
of the event first, because the notices of the changes that the event shows come before it.

Invariants, kept by `_look`: the generation of the database is read before its rows, so that a write in between causes
another look; `state` comes last, after everything before it has been published; an object is published after those it
refers to.
"""

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from datetime import datetime, timedelta

import structlog
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from app.core import clock, garbage
from app.core.loops import Loop, fail, give
from app.core.service import Service
from app.feed import queries as feed_queries
from app.feed.queries import Append, Event, Mark, NewEvent
from app.feed.service import looks
from app.feed.service.index import changes
from app.feed.service.log import Line, Log, Runs, ids_on, of_all_runs
from app.feed.service.rendering import AFTER, BEFORE, STATE, FeedSnapshot, render_submissions, shown_by, texts_of
from app.scoreboard.queries.scoreboard_cache import ScoreboardCache

log: structlog.stdlib.BoundLogger = structlog.get_logger("jurado.feed")
AT_ONCE = 500
SECONDS_AFTER_A_FAULT = 1.0
SECONDS_BETWEEN_TRIES = 0.005
KEPT_SUPERFLUOUS = timedelta(minutes=20)


class WrittenElsewhere(Exception):
    """Another process has written to the log, which has to be read again."""


class FeedPublisher:
    """Publishes the logs of followed contests; calls `listeners`, in its thread, with the id of a changed contest."""

    def __init__(self, service: Service, coalesce: float, now: Callable[[], datetime] = clock.utc_now) -> None:
        self._service = service
        self._boards: ScoreboardCache = service.boards
        self._coalesce = coalesce
        self._now = now
        self._contests: dict[str, looks.Followed] = {}
        self._guard = threading.Lock()
        self._loop = Loop("feed", self._step)
        self.listeners: list[Callable[[str], None]] = []
        self._shared = service.database.origin is not None
        self.looks = 0
        service.boards.listeners.append(self.changed)
        service.database.listeners.append(self.all_changed)

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

    def written(self, contest_id: str, event: int) -> None:
        """Note that another process has written to a contest's log, up to this event."""
        followed = self._contests.get(contest_id)
        if followed is not None:
            with self._guard:
                followed.heard, followed.dirty = max(followed.heard, event), True
            self._loop.wake()

    def all_changed(self, *, again: bool = False) -> None:
        """Note that an admin has changed something that any contest may show; `again`: compare whole contests."""
        with self._guard:
            for followed in self._contests.values():
                followed.dirty = True
                followed.basis = None if again else followed.basis
        self._loop.wake()

    def follow(self, contest_id: str) -> None:
        """Count a follower of a contest; each `follow` needs one `leave`."""
        with self._guard:
            self._contests.setdefault(contest_id, looks.Followed(contest_id)).followers += 1
        self._loop.start()
        self._loop.wake()

    def leave(self, contest_id: str) -> None:
        """Count a follower less."""
        with self._guard:
            self._contests[contest_id].followers -= 1

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
            followed = self._contests.setdefault(contest_id, looks.Followed(contest_id))
            if followed.log is not None and not followed.stale(time.monotonic()):
                give(future, followed.log)
                return future
            followed.waiting.append(looks.Waiter(future, complete))
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
            waiting = [waiter for followed in self._contests.values() for waiter in followed.waiting]
        for waiter in waiting:
            give(waiter.future, None)

    def _step(self) -> float | None:
        """Look at a contest that is due; returns the seconds until the next one is, None: until something changes."""
        with self._guard:
            due = min(self._contests.values(), key=looks.Followed.next_look, default=None)
            if due is None or (soonest := due.next_look()) == float("inf"):
                return None
            if (seconds := soonest - time.monotonic()) > 0:
                return min(seconds, 3600.0)
            due.dirty, due.looking, due.at = False, True, None
            waiting = [waiter for waiter in due.waiting if not waiter.future.cancelled()]
            due.waiting = []
        if due.followers or waiting:
            self._look_safely(due, waiting)
        else:
            due.dirty, due.looking = True, False
        return 0.0

    def _look_safely(self, followed: looks.Followed, waiting: Sequence[looks.Waiter]) -> None:
        began = time.thread_time()  # thread time: waiting for a lock takes no time from others
        try:
            log_after = self.look(followed)
        except Exception as error:
            log.exception("a contest could not be looked at; it is tried again", contest=followed.contest_id)
            followed.dirty = True
            followed.basis = None  # the changes since the last look are unknown now
            followed.not_before = time.monotonic() + SECONDS_AFTER_A_FAULT
            for waiter in waiting:
                fail(waiter.future, error)
            return
        finally:
            followed.looking = False
        followed.rest(time.thread_time() - began)
        left = [] if log_after is None else followed.left(waiting)
        with self._guard:
            followed.waiting += left
            if log_after is None and not followed.followers and not followed.waiting:
                self._contests.pop(followed.contest_id, None)  # invented names must not fill the memory
        futures = {waiter.future for waiter in left}
        for waiter in waiting:
            if waiter.future not in futures:
                give(waiter.future, log_after)

    def look(self, followed: looks.Followed) -> Log | None:
        """Look at a contest and publish its differences; None if it was deleted."""
        self.looks += 1
        with self._guard:
            changed_ids, followed.changed_ids = followed.changed_ids, set()
        while True:
            with suppress(WrittenElsewhere):
                return self._look(followed, changed_ids)
            if not self._catch_up(followed):
                self._close(followed)

    def _look(self, followed: looks.Followed, changed_ids: set[int]) -> Log | None:
        generation = self._service.database.generation  # before reading, so that a write in between is noticed
        now = self._now()
        with self._service.database.read() as session:
            feed_snapshot = self._feed_snapshot(session, followed.contest_id)
            if feed_snapshot is None:
                self._close(followed)
                return None
            known = self._known(session, followed)
            moved = feed_queries.new_since(session, followed.contest_id, followed.mark, changed_ids)
            state = shown_by([STATE], feed_snapshot)[STATE]
            small = followed.basis is None or generation != followed.generation or state != followed.state
            if small and (basis := looks.basis_of(feed_snapshot)) != followed.basis:
                followed.basis, followed.again = basis, True
            if followed.again and not followed.sweep:
                followed.sweep = feed_queries.submission_ids(session, followed.contest_id)[::-1]
                followed.swept, followed.again, followed.later = True, False, None
            some = followed.sweep[-self._service.settings.most_swept :]
            is_last = len(some) == len(followed.sweep)
            rescored = False
            if followed.swept and followed.mark == Mark():  # all have moved, and the sweep has all of them
                moved = feed_queries.NewSince(frozenset(), frozenset(), moved.mark)
            else:
                rescored = self._points_are_due(followed, feed_snapshot, moved, small=small)
            before = shown_by(BEFORE, feed_snapshot) if small else {}
            among = looks.touched(feed_snapshot, moved, followed.points if rescored else None).union(some)
            rendered = render_submissions(feed_snapshot, known.index, among)
            is_final = feed_snapshot.public.state.finalized is not None  # then awards follow the board
            followed.after_due |= small or followed.swept or (is_final and bool(moved.verdicts))
            after = shown_by(AFTER, feed_snapshot) if followed.after_due and is_last else {}
            complete = followed.swept and is_last
            new_events = looks.changed_events(known, feed_snapshot, before, rendered, after, complete=complete)
        if is_last and not followed.again:  # the state comes last, after everything else
            new_events += changes(known.index, state) or (looks.state_again(feed_snapshot, state) if new_events else [])
        self._write(followed, known, new_events, rendered.texts)
        del followed.sweep[len(followed.sweep) - len(some) :]
        followed.mark = Mark(moved.mark.submission, moved.mark.judgement, moved.mark.open | rendered.unsettled)
        followed.points.update(rendered.points)
        followed.generation, followed.state = generation, state
        if rescored:
            followed.later = None
        if is_last:
            followed.sweeps += followed.swept
            followed.swept, followed.after_due = followed.again, False
        followed.at = looks.next_moment(feed_snapshot.judges, now, followed.later, self._coalesce)
        return known

    def _points_are_due(
        self, followed: looks.Followed, feed_snapshot: FeedSnapshot, moved: feed_queries.NewSince, *, small: bool
    ) -> bool:
        """Whether a comparison of all points is due: a verdict some seconds ago may have changed other points."""
        if followed.later is None and (small or looks.is_relative(feed_snapshot.judges, moved)):
            followed.later = time.monotonic()
        if followed.later is None or followed.swept:  # the sweep has not published all points yet
            return False
        return time.monotonic() >= followed.later + self._coalesce

    def _feed_snapshot(self, session: Session, contest_id: str) -> FeedSnapshot | None:
        judges = self._boards.snapshot(contest_id, public=False)
        public = self._boards.snapshot(contest_id, public=True)
        return None if judges is None or public is None else FeedSnapshot(session, public, judges)

    def _known(self, session: Session, followed: looks.Followed) -> Log:
        """The log so far; a log that had to be read forgets what the last look knew. Raises WrittenElsewhere."""
        if followed.log is None:
            followed.log = self._load(followed)
            followed.mark, followed.basis, followed.sweep, followed.heard = Mark(), None, [], 0
        if feed_queries.last(session, followed.contest_id) != followed.log.head:
            raise WrittenElsewhere  # by another process, or the contest was made again
        return followed.log

    def _catch_up(self, followed: looks.Followed) -> bool:
        """Read what another process has written to the log; False if the log is another one now."""
        known = followed.log
        if known is None:
            return False
        with self._service.database.read() as session:
            if feed_queries.secret(session, known.contest_id) != known.epoch:
                return False
            if feed_queries.last(session, known.contest_id) < known.head:
                return False
        until = time.monotonic() + (self._service.settings.notice_seconds if self._shared else 0.0)
        while followed.heard <= known.head and time.monotonic() < until and not self._loop.closing:
            time.sleep(SECONDS_BETWEEN_TRIES)
        with self._service.database.read() as session:
            heard = followed.heard
            last = heard if heard > known.head else feed_queries.last(session, known.contest_id)
            for first in range(known.head + 1, last + 1, AT_ONCE):
                rows = feed_queries.between(session, known.contest_id, first, min(first + AT_ONCE - 1, last))
                texts = self._texts_of(session, known.contest_id, rows)
                for row in rows:
                    known.add(row, texts)
        self._tell(known.contest_id)
        return True

    def _close(self, followed: looks.Followed) -> None:
        """Close an outdated log and its streams; their clients come back with their tokens."""
        if followed.log is not None:
            followed.log.closed = True
            followed.log = None
            self._tell(followed.contest_id)

    def _load(self, followed: looks.Followed) -> Log:
        """Read a log from the beginning; the next look is compared with its last versions."""
        with self._service.database.read() as session, garbage.without_collections():
            contest_log = Log(followed.contest_id, self._read_page, feed_queries.secret(session, followed.contest_id))
            for row in feed_queries.scan(session, followed.contest_id, clock.utc_now()):
                contest_log.take(row)
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
        return texts_of(feed_snapshot, judgements) if feed_snapshot is not None else {}

    def _write(self, followed: looks.Followed, known: Log, new_events: Sequence[NewEvent], texts: Runs) -> None:
        """Append events and let streams see them, some hundred at a time; raises WrittenElsewhere for another head."""
        for start in range(0, len(new_events), AT_ONCE):
            some = new_events[start : start + AT_ONCE]
            now = clock.utc_now()
            order = Append(followed.contest_id, known.head, some, now)
            try:
                written = self._service.writer.submit(feed_queries.append, order).result()
            # Two servers appended behind the same event at once: the second breaks the primary key.
            except IntegrityError:
                written = False
            if not written:
                raise WrittenElsewhere
            for at, event in enumerate(some, start=known.head + 1):
                row = Event(at, event.audience, event.owner, event.type, event.object_id, event.data, now)
                known.add(row, texts)
            self._tell(followed.contest_id)
        if gone := known.take_superfluous(clock.utc_now() - KEPT_SUPERFLUOUS):
            with self._service.database.write(quiet=True) as session:
                feed_queries.forget(session, followed.contest_id, gone)

    def _tell(self, contest_id: str) -> None:
        for on_events in self.listeners:
            on_events(contest_id)
