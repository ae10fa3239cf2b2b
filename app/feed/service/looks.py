"""A followed contest between two looks, the requests that wait for a look, and what a look compares.

Submissions, judgements and runs are rendered where they may have changed, all other kinds whole (guarantee 6).
"""

import time
from collections.abc import Collection as AnyCollection
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from app.contests.service.visibility import SubmissionKey, points_of
from app.domain.contests import Kind as Scoring
from app.feed import queries as feed_queries
from app.feed.queries import Mark, NewEvent
from app.feed.service import index, rendering
from app.feed.service.log import RUNS, Log
from app.scoreboard.queries.contest_snapshot import ContestSnapshot
from app.submissions.queries import submission_queries

SHORTEST_PAUSE, LONGEST_PAUSE = 0.02, 1.0
# The pause after a look, as a share of its work: others may use the interpreter.
SHARE_OF_PAUSE, SHARE_WITHIN_A_SWEEP = 2.0, 0.25


class Waiter(NamedTuple):
    """A request for a look that begins after it; with `complete`, for the whole comparison that the look begins.

    until  number of the sweep that ends the comparison; 0 before the look
    """

    future: Future[Log | None]
    complete: bool
    until: int = 0


@dataclass
class Followed:
    """A followed contest.

    dirty       a change since the last look began
    looking     a look is running
    not_before  earliest time of the next look (monotonic): looks leave time for others
    at          time of the next look by the clock or by coalescing (monotonic)
    heard       last event of the log that a notice of another process has named
    basis       everything but submissions that points and visibility depend on; None: not known
    later       time (monotonic) since which a comparison of all points is due
    points      published points of each submission
    sweep       submissions still to be rendered after a change that affects all of them
    swept       a sweep has begun, and its deletions are unpublished
    again       the basis has changed since the sweep began: another one follows it
    sweeps      number of sweeps that have ended
    after_due   kinds that refer to submissions are to be rendered after the sweep
    state       the state at the last look
    waiting     requests for a look that begins after them
    changed_ids submissions that have changed since the last look, by their numbers
    """

    contest_id: str
    followers: int = 0
    dirty: bool = True
    looking: bool = False
    not_before: float = 0.0
    at: float | None = None
    log: Log | None = None
    heard: int = 0
    mark: Mark = field(default_factory=Mark)
    generation: int = -1
    basis: object = None
    later: float | None = None
    points: dict[int, rendering.Points] = field(default_factory=dict)
    sweep: list[int] = field(default_factory=list)
    swept: bool = False
    again: bool = False
    sweeps: int = 0
    after_due: bool = False
    state: Sequence[index.Shown] = ()
    waiting: list[Waiter] = field(default_factory=list)
    changed_ids: set[int] = field(default_factory=set)

    def stale(self, now: float) -> bool:
        """Whether the contest may differ from its log."""
        if self.dirty or self.looking or self.swept or not self.followers:
            return True
        return self.at is not None and self.at <= now

    def next_look(self) -> float:
        """The time of the next look (monotonic)."""
        if self.waiting or (self.followers and (self.dirty or self.swept)):
            return self.not_before
        return max(self.not_before, self.at) if self.followers and self.at is not None else float("inf")

    def left(self, waiting: Sequence[Waiter]) -> list[Waiter]:
        """Return the requests that this look has not answered. Each waits for two sweeps at most."""
        sweeps = self.sweeps + bool(self.sweep) + self.again
        numbered = [each._replace(until=each.until or sweeps) for each in waiting if each.complete and self.swept]
        return [each for each in numbered if each.until > self.sweeps]

    def rest(self, worked: float) -> None:
        """Schedule a pause after a look of `worked` seconds of thread time."""
        pause = worked * (SHARE_WITHIN_A_SWEEP if self.swept else SHARE_OF_PAUSE)
        self.not_before = time.monotonic() + min(LONGEST_PAUSE, max(SHORTEST_PAUSE, pause))


def rescored(feed_snapshot: rendering.FeedSnapshot, published: Mapping[int, rendering.Points]) -> set[int]:
    """The submissions whose points differ from those published: far cheaper than rendering all of them."""
    ids = set()
    for attempt in feed_snapshot.judges.attempts:
        tried = SubmissionKey(attempt.id, attempt.team_id, attempt.problem_id)
        if published.get(attempt.id) != (
            points_of(feed_snapshot.public, tried),
            points_of(feed_snapshot.judges, tried),
        ):
            ids.add(attempt.id)
    return ids


def basis_of(feed_snapshot: rendering.FeedSnapshot) -> object:
    """Everything but submissions that points and visibility depend on, to be compared with that of other looks."""
    contest, public = feed_snapshot.judges.contest, feed_snapshot.public
    return contest, public.freeze, public.state, feed_queries.judged_again(feed_snapshot.session, contest.id)


def touched(
    feed_snapshot: rendering.FeedSnapshot, moved: feed_queries.NewSince, points: Mapping[int, rendering.Points] | None
) -> frozenset[int]:
    """The submissions whose documents may have changed; with published `points`, also those with other points."""
    others = set() if points is None else rescored(feed_snapshot, points)
    contest_id = feed_snapshot.public.contest.id
    together = (
        feed_queries.tried_together(feed_snapshot.session, contest_id, moved.verdicts) if moved.verdicts else set()
    )
    return moved.submissions | others | together


def state_again(feed_snapshot: rendering.FeedSnapshot, state: Iterable[index.Shown]) -> list[NewEvent]:
    """The state again: after the end of updates it is repeated behind every other event."""
    if feed_snapshot.public.state.end_of_updates is None:
        return []
    return [NewEvent("pj", None, rendering.STATE, None, each.views["p"]) for each in state]


def changed_events(
    known: Log,
    feed_snapshot: rendering.FeedSnapshot,
    before: dict[str, list[index.Shown]],
    rendered: rendering.Submitted,
    after: dict[str, list[index.Shown]],
    *,
    complete: bool,
) -> list[NewEvent]:
    """Events of new and changed objects, each kind after those it refers to; then deletions, in reverse order.

    Deleted submissions and judgements are looked for only where the sweep of all of them is `complete`.
    """
    shown = {**before, **rendered.shown, **after}
    new_events: list[NewEvent] = []
    for type_, objects in shown.items():
        news = index.changes(known.index, objects)
        new_events += [*_gone_runs(known, feed_snapshot, news), *news] if type_ == RUNS else news
    large = _large_ids(feed_snapshot) if complete else {}
    for type_ in reversed(shown):
        if type_ not in rendering.LARGE or complete:
            ids = large[type_] if type_ in rendering.LARGE else [each.id for each in shown[type_]]
            news = index.deletions(known.index, type_, ids)
            new_events += [*_gone_runs(known, feed_snapshot, news), *news] if type_ == RUNS else news
    return new_events


def _gone_runs(known: Log, feed_snapshot: rendering.FeedSnapshot, news: Iterable[NewEvent]) -> list[NewEvent]:
    """Deletions of the runs that a judgement had when last published, and that are deleted or hidden now."""
    deleted = []
    for event in news:
        entry = known.index.entry(RUNS, event.object_id)
        if entry is None:
            continue
        left = set(rendering.ids_of(event.data))
        last = max((view.event_id for view in entry.views.values() if view.digest is not None), default=0)
        for row in feed_queries.between(feed_snapshot.session, known.contest_id, last, last):
            gone = [run_id for run_id in rendering.ids_of(row.data) if run_id not in left]
            deleted += [NewEvent(event.audience, event.owner, RUNS, run_id, None) for run_id in gone]
    return deleted


def _large_ids(feed_snapshot: rendering.FeedSnapshot) -> Mapping[str, AnyCollection[str | None]]:
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


def is_relative(snapshot: ContestSnapshot, moved: feed_queries.NewSince) -> bool:
    """Whether new verdicts may change the points of other submissions."""
    rules = {problem.id: problem.rule.kind for problem in snapshot.contest.problems}
    return any(rules.get(problem) is not Scoring.ABSOLUTE for _, problem in moved.verdicts)


def next_moment(snapshot: ContestSnapshot, now: datetime, later: float | None, coalesce: float) -> float | None:
    """The time of the next look by the contest's clock or by coalescing (monotonic)."""
    ahead = [(moment - now).total_seconds() for moment in snapshot.contest.moments() if moment > now]
    moments = [time.monotonic() + min(ahead)] if ahead else []
    if later is not None:
        moments.append(later + coalesce)
    return min(moments, default=None)
