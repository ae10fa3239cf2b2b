"""The keeper: one thread that looks at contests somebody follows and writes down what is not as it was told last.

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
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import structlog
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from app.api.feed import submitted
from app.api.feed.difference import Shown, changes, deletions
from app.api.feed.kinds import AFTER, BEFORE, LARGE, STATE, Scene
from app.api.feed.log import RUNS, Line, Log, Superfluous, ids_on, of_all_runs
from app.api.feed.submitted import Points
from app.domain.contests import Kind as Scoring
from app.grading.boards import Boards, Standing
from app.service import Service
from app.storage import events
from app.storage.events import Append, Mark, NewEvent
from app.storage.tables import EventRow

log: structlog.stdlib.BoundLogger = structlog.get_logger("jurado.feed")

AT_ONCE = 500
SHORTEST_PAUSE = 0.02
SHARE_OF_PAUSE = 2.0  # a look that took a second is followed by two in which others may use the interpreter
SECONDS_AFTER_A_FAULT = 1.0
KEPT_SUPERFLUOUS = timedelta(minutes=20)
REPLACEABLE = "judgements"
"""What changes often and nothing but runs refers to: events that newer ones replaced are deleted after a while."""


class Moved(Exception):
    """Another process has written to the log: it has to be read again."""


@dataclass
class Followed:
    """A contest somebody follows.

    dirty       something has changed since the last look began
    looking     a look is going on
    not_before  when the next look may begin (monotonic): looks leave time for others
    at          when the clock or the coalescing asks for one (monotonic)
    fingerprint what everybody's points depend on beside submissions
    later       since when (monotonic) something waits for a look at all points
    points      what each submission was told to be worth
    waiting     those who want a look that begins after they came
    """

    contest_id: str
    followers: int = 0
    dirty: bool = True
    looking: bool = False
    not_before: float = 0.0
    at: float | None = None
    log: Log | None = None
    mark: Mark = field(default_factory=Mark)
    generation: int = -1
    fingerprint: int | None = None
    later: float | None = None
    points: dict[int, Points] = field(default_factory=dict)
    superfluous: Superfluous = field(default_factory=Superfluous)
    waiting: list[Future[Log | None]] = field(default_factory=list)

    def stale(self, now: float) -> bool:
        """May what it shows be other than what the log says?"""
        return self.dirty or self.looking or not self.followers or (self.at is not None and self.at <= now)


class Keeper:
    """Keeps the logs of all contests. `told(contest_id)` is called, in its thread, when there are new events."""

    def __init__(
        self, service: Service, coalesce: float, now: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        self._service = service
        self._boards: Boards = service.boards
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
        """Be told of every contest whose log has gone on, in the keeper's thread."""
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

    def fresh(self, contest_id: str) -> Future[Log | None]:
        """The log after a look from now on, if anything may have changed; None if there is no such contest."""
        future: Future[Log | None] = Future()
        with self._condition:
            if self._closing:
                future.set_result(None)
                return future
            followed = self._contests.setdefault(contest_id, Followed(contest_id))
            if followed.log is not None and not followed.stale(time.monotonic()):
                future.set_result(followed.log)
                return future
            followed.waiting.append(future)
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
            for future in followed.waiting:
                future.set_result(None)

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
        return next((each for each in self._contests.values() if _when(each, now) <= now), None)

    def _seconds(self) -> float | None:
        now = time.monotonic()
        soonest = min((_when(each, now) for each in self._contests.values()), default=float("inf"))
        return None if soonest == float("inf") else max(0.001, min(soonest - now, 3600.0))

    def _look_safely(self, followed: Followed, waiting: Sequence[Future[Log | None]]) -> None:
        began = time.monotonic()
        try:
            found = self.look(followed)
        except Exception as error:
            log.exception("a contest could not be looked at; it is tried again", contest=followed.contest_id)
            followed.dirty = True
            followed.not_before = time.monotonic() + SECONDS_AFTER_A_FAULT
            for future in waiting:
                future.set_exception(error)
            return
        finally:
            followed.looking = False
        if found is None:
            self._forget(followed)
        ended = time.monotonic()
        followed.not_before = ended + max(SHORTEST_PAUSE, SHARE_OF_PAUSE * (ended - began))
        for future in waiting:
            future.set_result(found)

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
            state_events = changes(known.index, state)
            small = generation != followed.generation or bool(state_events)
            before = _all(BEFORE, scene) if small else {}
            fingerprint = self._fingerprint(scene, followed, small)
            everything = fingerprint != followed.fingerprint
            later = self._later(followed, scene.judges, moved, small)
            if everything or later:
                followed.later = None
            after = _all(AFTER, scene) if small or everything or _awards_follow(scene, moved) else {}
            among = None if everything else _touched(scene, moved, followed.points if later else None)
            found = submitted.look(scene, known.index, among)
            told = _events(known, scene, before, found, after, complete=everything)
        told += state_events or (_state_again(scene, state) if told else [])
        self._write(followed, known, told, found.texts)
        followed.mark = Mark(moved.mark.submission, moved.mark.judgement, moved.mark.open | found.unsettled)
        followed.points.update(found.points)
        followed.generation, followed.fingerprint = generation, fingerprint
        followed.at = self._moment(followed, scene.judges, now)
        return known

    def _scene(self, session: Session, contest_id: str) -> Scene | None:
        judges = self._boards.standing(contest_id, public=False)
        public = self._boards.standing(contest_id, public=True)
        return None if judges is None or public is None else Scene(session, public, judges)

    def _known(self, session: Session, followed: Followed) -> Log:
        """What was told so far; where that had to be read, nothing is as it was looked at last. Raises Moved."""
        if followed.log is None:
            followed.log = self._load(followed)
            followed.mark, followed.fingerprint, followed.generation = Mark(), None, -1
        if events.last(session, followed.contest_id) != followed.log.head:
            raise Moved  # by another process, or the contest was made anew
        return followed.log

    def _close(self, followed: Followed) -> None:
        """End the streams of a log that is not the contest's any more; their clients come back with their tokens."""
        if followed.log is not None:
            followed.log.closed = True
            followed.log = None
            self._tell(followed.contest_id)

    def _later(self, followed: Followed, standing: Standing, moved: events.Moved, small: bool) -> bool:
        """Is a look at all points due, because those of others may have changed some seconds ago?"""
        rules = {problem.id: problem.rule.kind for problem in standing.contest.problems}
        relative = any(rules.get(problem) is not Scoring.ABSOLUTE for _, problem in moved.verdicts)
        if followed.later is None and (relative or small):
            followed.later = time.monotonic()
        return followed.later is not None and time.monotonic() >= followed.later + self._coalesce

    def _fingerprint(self, scene: Scene, followed: Followed, small: bool) -> int | None:
        """What everybody's points and rights depend on, beside submissions; it need not survive the process."""
        if not small:
            return followed.fingerprint
        contest = scene.judges.contest
        current = events.judgement_count(scene.session, contest.id)
        return hash(repr((contest, scene.public.curtain, scene.public.state, current)))

    def _moment(self, followed: Followed, standing: Standing, now: datetime) -> float | None:
        """When the clock or the coalescing asks for the next look."""
        ahead = [(moment - now).total_seconds() for moment in standing.contest.moments() if moment > now]
        found = [time.monotonic() + min(ahead)] if ahead else []
        if followed.later is not None:
            found.append(followed.later + self._coalesce)
        return min(found, default=None)

    def _load(self, followed: Followed) -> Log:
        """Read a log from the beginning: what was told last is what the next look is compared with."""
        followed.superfluous = Superfluous()
        epoch = self._service.writer.submit(events.secret, followed.contest_id).result()
        found = Log(followed.contest_id, self._read_page, epoch)
        with self._service.database.read() as session:
            for row in events.scan(session, followed.contest_id):
                replaced = found.take(row)
                if row.type == REPLACEABLE:
                    followed.superfluous.add(row.time, replaced)
        return found

    def _read_page(self, contest_id: str, number: int) -> list[Line]:
        with self._service.database.read() as session:
            rows = events.between(session, contest_id, *ids_on(number))
            judgements = {int(row.object_id or 0) for row in rows if of_all_runs(row.type, row.object_id)}
            standing = self._boards.standing(contest_id, public=False) if judgements else None
            texts = submitted.texts_of(session, standing, judgements) if standing is not None else {}
            return [Line(row, texts) for row in rows]

    def _write(self, followed: Followed, known: Log, told: Sequence[NewEvent], texts: Any) -> None:
        """Write events down and let them be sent, some hundred at a time; raises Moved if the log is not as known."""
        for start in range(0, len(told), AT_ONCE):
            some = told[start : start + AT_ONCE]
            now = datetime.now(UTC)
            order = Append(followed.contest_id, known.head, some, now)
            try:
                written = self._service.writer.submit(events.append, order).result()
            except IntegrityError:
                written = False
            if not written:
                raise Moved
            for at, event in enumerate(some, start=known.head + 1):
                row = EventRow(
                    contest_id=followed.contest_id,
                    id=at,
                    audience=event.audience,
                    owner=event.owner,
                    type=event.type,
                    object_id=event.object_id,
                    data=event.data,
                    time=now,
                )
                replaced = known.add(row, texts)
                if event.type == REPLACEABLE:
                    followed.superfluous.add(now, replaced)
            self._tell(followed.contest_id)
        if gone := list(followed.superfluous.older_than(datetime.now(UTC) - KEPT_SUPERFLUOUS)):
            self._service.writer.submit(events.forget, events.Forget(followed.contest_id, gone)).result()

    def _tell(self, contest_id: str) -> None:
        for told in self._listeners:
            told(contest_id)


def _when(followed: Followed, now: float) -> float:
    """When a contest is to be looked at next (monotonic)."""
    if followed.waiting:
        return followed.not_before
    if not followed.followers:
        return float("inf")
    if followed.dirty:
        return followed.not_before
    return max(followed.not_before, followed.at) if followed.at is not None else float("inf")


def _all(some: Iterable[Any], scene: Scene) -> dict[str, list[Shown]]:
    return {kind.type: list(kind.shown(scene)) for kind in some}


def _awards_follow(scene: Scene, moved: events.Moved) -> bool:
    """Awards follow the board once the contest is final."""
    return scene.public.state.finalized is not None and bool(moved.verdicts)


def _touched(scene: Scene, moved: events.Moved, points: Mapping[int, Points] | None) -> frozenset[int]:
    """The submissions that may be shown otherwise than before; with `points`, also those that are worth others."""
    rescored = set() if points is None else submitted.rescored(scene, points)
    contest_id = scene.public.contest.id
    together = events.tried_together(scene.session, contest_id, moved.verdicts) if moved.verdicts else set()
    return moved.submissions | rescored | together


def _state_again(scene: Scene, state: Iterable[Shown]) -> list[NewEvent]:
    """The state is the last word: after the end of updates it is told once more after whatever else is told."""
    if scene.public.state.end_of_updates is None:
        return []
    return [NewEvent("pj", None, STATE.type, None, each.views["p"]) for each in state]


def _events(
    known: Log,
    scene: Scene,
    before: dict[str, list[Shown]],
    found: submitted.Submitted,
    after: dict[str, list[Shown]],
    *,
    complete: bool,
) -> list[NewEvent]:
    """What is new or different, each kind after those it may refer to; then what is gone, in the reverse order."""
    shown = {**before, **{type_: found.of(type_) for type_ in LARGE}, **after}
    told: list[NewEvent] = []
    for type_, objects in shown.items():
        news = changes(known.index, objects)
        told += [*_gone_runs(known, scene, news), *news] if type_ == RUNS else news
    for type_ in reversed(shown):
        if type_ not in LARGE or complete:
            there = [each.id for each in shown[type_]]
            news = deletions(known.index, type_, there)
            told += [*_gone_runs(known, scene, news), *news] if type_ == RUNS else news
    return told


def _gone_runs(known: Log, scene: Scene, news: Iterable[NewEvent]) -> list[NewEvent]:
    """A deletion for each run that a judgement had when it was told last, and has no more or nobody may see now."""
    found = []
    for event in news:
        entry = known.index.entry(RUNS, event.object_id)
        if entry is None:
            continue
        there = set(submitted.ids_of(event.data))
        last = max((view.event_id for view in entry.views.values() if view.digest is not None), default=0)
        for row in events.between(scene.session, known.contest_id, last, last):
            gone = [run_id for run_id in submitted.ids_of(row.data) if run_id not in there]
            found += [NewEvent(event.audience, event.owner, RUNS, run_id, None) for run_id in gone]
    return found
