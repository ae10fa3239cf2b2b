"""The state of a followed contest: progress of looks, and the time of the next one.

- A comparison of a contest: the submissions to render, the events of all kinds in order, and deletions.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from app.domain.contests import Kind as Scoring
from app.feed import queries as feed_queries
from app.feed.queries import Mark, NewEvent
from app.feed.service import submitted
from app.feed.service.kinds import LARGE, STATE, Accounts, FeedSnapshot, Kind, Shown, changes, deletions
from app.feed.service.log import RUNS, Compaction, Log
from app.feed.service.submitted import Points
from app.scoreboard.queries.contest_snapshot import ContestSnapshot
from app.submissions.queries import submission_queries

FIRST_SLICE = 64
SMALLEST_SLICE, LARGEST_SLICE = 8, 2048
SECONDS_OF_A_SLICE = 0.25
SHORTEST_PAUSE, LONGEST_PAUSE = 0.02, 1.0
SHARE_OF_PAUSE = 2.0  # a look that worked for a second is followed by two in which others may use the interpreter
SHARE_WITHIN_A_SWEEP = 0.25
# Time after which a process looks again whether the one that publishes a contest is gone.
SECONDS_BETWEEN_TRIES = 1.0


class Waiter(NamedTuple):
    """A request for a look that begins after it; with `complete`, for the whole comparison that the look begins.

    until  number of the sweep that ends the comparison; 0 before the look
    """

    future: Future[Log | None]
    complete: bool
    until: int = 0


@dataclass
class Asked:
    """Requests for looks that the publishing process is asked for by one notice, last `sent` at a time (monotonic)."""

    waiters: Sequence[Waiter]
    complete: bool
    sent: float = float("-inf")


@dataclass
class Followed:
    """A followed contest.

    dirty       a change since the last look began
    looking     a look is running
    not_before  earliest time of the next look (monotonic): looks leave time for others
    at          time of the next look by the clock or by coalescing (monotonic)
    fingerprint hash of everything but submissions that points depend on
    later       time (monotonic) since which a comparison of all points is due
    points      published points of each submission
    sweep       submissions still to be rendered after a change that affects all of them
    swept       a sweep has begun, and its deletions are unpublished
    again       points or visibility have changed since the sweep began: another one follows it
    sweeps      number of sweeps that have ended
    settled     the state when the sweep began
    after_due   kinds that refer to submissions are to be rendered after the sweep
    slice       number of submissions rendered by a look
    state       the state at the last look at everything but submissions
    waiting     requests for a look that begins after them
    changed_ids submissions that have changed since the last look, by their numbers
    elsewhere   another process publishes the contest, and what it has written is only read here
    holding     this process has the lock by which it publishes, and gives it back once nobody follows here
    written     another process has written to the log since it was read last
    tried       when (monotonic) this process tried to become the one that publishes
    asked       what the publishing process has been asked for, by the numbers of the notices
    answered    requests whose look is over there, each with the last event after it
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
    superfluous: Compaction = field(default_factory=Compaction)
    sweep: list[int] = field(default_factory=list)
    swept: bool = False
    again: bool = False
    sweeps: int = 0
    settled: list[Shown] = field(default_factory=list)
    slice: int = field(default_factory=lambda: FIRST_SLICE)
    after_due: bool = False
    state: str | None = None
    waiting: list[Waiter] = field(default_factory=list)
    changed_ids: set[int] = field(default_factory=set)
    elsewhere: bool = False
    holding: bool = False
    written: bool = False
    tried: float = float("-inf")
    asked: dict[str, Asked] = field(default_factory=dict)
    answered: list[tuple[Waiter, int]] = field(default_factory=list)

    @property
    def asking(self) -> list[Waiter]:
        """The requests that wait for another process: for its look, or for what that has written."""
        asked = [waiter for each in self.asked.values() for waiter in each.waiters]
        return [*asked, *(waiter for waiter, _head in self.answered)]

    def stale(self, now: float) -> bool:
        """Whether the contest may differ from its log."""
        if self.dirty or self.looking or self.swept or self.elsewhere or not self.followers:
            return True
        return self.at is not None and self.at <= now

    def begin_sweep(self, ids: list[int], state: list[Shown]) -> None:
        """Begin to render all of these in order, a slice with each look."""
        self.sweep, self.settled = ids[::-1], state
        self.swept, self.again = True, False

    def end_sweep(self) -> None:
        """Note that all submissions are published, for changes since the sweep began `again`."""
        self.sweeps += self.swept
        self.swept, self.after_due = self.again, False

    def left(self, waiting: Sequence[Waiter]) -> list[Waiter]:
        """Return the requests that this look has not answered. Each waits for two sweeps at most."""
        sweeps = self.sweeps + bool(self.sweep) + self.again
        numbered = [each._replace(until=each.until or sweeps) for each in waiting if each.complete and self.swept]
        return [each for each in numbered if each.until > self.sweeps]

    def next_slice(self) -> list[int]:
        """Remove and return the next slice of the sweep."""
        some = self.sweep[-self.slice :]
        del self.sweep[-self.slice :]
        return some

    def rest(self, now: float, worked: float) -> None:
        """Schedule a pause after a look of `worked` seconds of thread time, and adapt the slice."""
        if not self.swept:
            pause = SHARE_OF_PAUSE * worked
        else:
            pause = SHARE_WITHIN_A_SWEEP * worked
            larger = self.slice * 2 if worked < SECONDS_OF_A_SLICE / 2 else self.slice
            wanted = larger if worked <= SECONDS_OF_A_SLICE * 2 else self.slice // 2
            self.slice = min(LARGEST_SLICE, max(SMALLEST_SLICE, wanted))
        self.not_before = now + min(LONGEST_PAUSE, max(SHORTEST_PAUSE, pause))


def next_look(followed: Followed, now: float) -> float:
    """The time of the next look (monotonic)."""
    if followed.waiting:
        return followed.not_before
    if followed.elsewhere and (followed.followers or followed.asked or followed.answered):
        return followed.not_before if followed.written else followed.tried + SECONDS_BETWEEN_TRIES
    if not followed.followers or followed.elsewhere:
        return followed.not_before if followed.holding else float("inf")
    if followed.dirty or followed.swept:
        return followed.not_before
    return max(followed.not_before, followed.at) if followed.at is not None else float("inf")


def shown_by(some: Iterable[Kind | Accounts], feed_snapshot: FeedSnapshot) -> dict[str, list[Shown]]:
    """Render all objects of some kinds."""
    return {kind.type: list(kind.shown(feed_snapshot)) for kind in some}


def awards_follow(feed_snapshot: FeedSnapshot, moved: feed_queries.NewSince) -> bool:
    """Whether awards must be rendered. They follow the board once the contest is final."""
    return feed_snapshot.public.state.finalized is not None and bool(moved.verdicts)


def touched(
    feed_snapshot: FeedSnapshot, moved: feed_queries.NewSince, points: Mapping[int, Points] | None
) -> frozenset[int]:
    """The submissions whose documents may have changed; with published `points`, also those with other points."""
    rescored = set() if points is None else submitted.rescored(feed_snapshot, points)
    contest_id = feed_snapshot.public.contest.id
    together = (
        feed_queries.tried_together(feed_snapshot.session, contest_id, moved.verdicts) if moved.verdicts else set()
    )
    return moved.submissions | rescored | together


def state_again(feed_snapshot: FeedSnapshot, state: Iterable[Shown]) -> list[NewEvent]:
    """The state again: after the end of updates it is repeated behind every other event."""
    if feed_snapshot.public.state.end_of_updates is None:
        return []
    return [NewEvent("pj", None, STATE.type, None, each.views["p"]) for each in state]


def changed_events(
    known: Log,
    feed_snapshot: FeedSnapshot,
    before: dict[str, list[Shown]],
    rendered: submitted.Submitted,
    after: dict[str, list[Shown]],
    *,
    complete: bool,
) -> list[NewEvent]:
    """Events of new and changed objects, each kind after those it refers to; then deletions, in reverse order.

    Deleted submissions and judgements are looked for only where the sweep of all of them is `complete`.
    """
    shown = {**before, **{type_: rendered.of(type_) for type_ in LARGE}, **after}
    new_events: list[NewEvent] = []
    for type_, objects in shown.items():
        news = changes(known.index, objects)
        new_events += [*_gone_runs(known, feed_snapshot, news), *news] if type_ == RUNS else news
    large = _large_ids(feed_snapshot) if complete else {}
    for type_ in reversed(shown):
        if type_ not in LARGE or complete:
            ids = large[type_] if type_ in LARGE else [each.id for each in shown[type_]]
            news = deletions(known.index, type_, ids)
            new_events += [*_gone_runs(known, feed_snapshot, news), *news] if type_ == RUNS else news
    return new_events


def _gone_runs(known: Log, feed_snapshot: FeedSnapshot, news: Iterable[NewEvent]) -> list[NewEvent]:
    """Deletions of the runs that a judgement had when last published, and that are deleted or hidden now."""
    deleted = []
    for event in news:
        entry = known.index.entry(RUNS, event.object_id)
        if entry is None:
            continue
        left = set(submitted.ids_of(event.data))
        last = max((view.event_id for view in entry.views.values() if view.digest is not None), default=0)
        for row in feed_queries.between(feed_snapshot.session, known.contest_id, last, last):
            gone = [run_id for run_id in submitted.ids_of(row.data) if run_id not in left]
            deleted += [NewEvent(event.audience, event.owner, RUNS, run_id, None) for run_id in gone]
    return deleted


def _large_ids(feed_snapshot: FeedSnapshot) -> Mapping[str, Collection[str | None]]:
    """The ids of all submissions and judgements, visible or not; runs go by their judgements."""
    contest_id = feed_snapshot.public.contest.id
    numbers = submission_queries.visible_judgements(feed_snapshot.session, contest_id)
    judgements = set(map(feed_snapshot.public.contest.ids.judgement, numbers))
    runs = set(map(str, numbers))
    return {
        "submissions": submission_queries.all_shown_ids(feed_snapshot.session, contest_id),
        "judgements": judgements,
        RUNS: runs,
    }


def points_due(
    followed: Followed, snapshot: ContestSnapshot, moved: feed_queries.NewSince, coalesce: float, *, small: bool
) -> bool:
    """Whether a comparison of all points is due: a verdict some seconds ago may have changed other points."""
    rules = {problem.id: problem.rule.kind for problem in snapshot.contest.problems}
    relative = any(rules.get(problem) is not Scoring.ABSOLUTE for _, problem in moved.verdicts)
    if followed.later is None and (relative or small):
        followed.later = time.monotonic()
    if followed.later is None or followed.swept:  # the sweep has not published all points yet
        return False
    return time.monotonic() >= followed.later + coalesce


def next_moment(followed: Followed, snapshot: ContestSnapshot, now: datetime, coalesce: float) -> float | None:
    """The time of the next look by the contest's clock or by coalescing (monotonic)."""
    ahead = [(moment - now).total_seconds() for moment in snapshot.contest.moments() if moment > now]
    moments = [time.monotonic() + min(ahead)] if ahead else []
    if followed.later is not None:
        moments.append(followed.later + coalesce)
    return min(moments, default=None)
