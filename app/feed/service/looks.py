"""What a look at a contest compares: the objects that may have changed, and what else their views depend on.

Submissions, judgements and runs are rendered where they may have changed, all other kinds whole (guarantee 6).
"""

from __future__ import annotations

import time
from collections.abc import Collection as AnyCollection
from collections.abc import Iterable, Mapping
from datetime import datetime

from app.contests.service.visibility import SubmissionKey, points_of
from app.domain.contests import Kind as Scoring
from app.feed import queries as feed_queries
from app.feed.queries import NewEvent
from app.feed.service.differences import Shown, changes, deletions
from app.feed.service.log import RUNS, Log
from app.feed.service.rendering import LARGE, STATE, FeedSnapshot, Points, Submitted, ids_of
from app.scoreboard.queries.contest_snapshot import ContestSnapshot
from app.submissions.queries import submission_queries


def rescored(feed_snapshot: FeedSnapshot, published: Mapping[int, Points]) -> set[int]:
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


def basis_of(feed_snapshot: FeedSnapshot) -> object:
    """Everything but submissions that points and visibility depend on, to be compared with that of other looks."""
    contest, public = feed_snapshot.judges.contest, feed_snapshot.public
    return contest, public.freeze, public.state, feed_queries.judged_again(feed_snapshot.session, contest.id)


def touched(
    feed_snapshot: FeedSnapshot, moved: feed_queries.NewSince, points: Mapping[int, Points] | None
) -> frozenset[int]:
    """The submissions whose documents may have changed; with published `points`, also those with other points."""
    others = set() if points is None else rescored(feed_snapshot, points)
    contest_id = feed_snapshot.public.contest.id
    together = (
        feed_queries.tried_together(feed_snapshot.session, contest_id, moved.verdicts) if moved.verdicts else set()
    )
    return moved.submissions | others | together


def state_again(feed_snapshot: FeedSnapshot, state: Iterable[Shown]) -> list[NewEvent]:
    """The state again: after the end of updates it is repeated behind every other event."""
    if feed_snapshot.public.state.end_of_updates is None:
        return []
    return [NewEvent("pj", None, STATE, None, each.views["p"]) for each in state]


def changed_events(
    known: Log,
    feed_snapshot: FeedSnapshot,
    before: dict[str, list[Shown]],
    rendered: Submitted,
    after: dict[str, list[Shown]],
    *,
    complete: bool,
) -> list[NewEvent]:
    """Events of new and changed objects, each kind after those it refers to; then deletions, in reverse order.

    Deleted submissions and judgements are looked for only where the sweep of all of them is `complete`.
    """
    shown = {**before, **rendered.shown, **after}
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
        left = set(ids_of(event.data))
        last = max((view.event_id for view in entry.views.values() if view.digest is not None), default=0)
        for row in feed_queries.between(feed_snapshot.session, known.contest_id, last, last):
            gone = [run_id for run_id in ids_of(row.data) if run_id not in left]
            deleted += [NewEvent(event.audience, event.owner, RUNS, run_id, None) for run_id in gone]
    return deleted


def _large_ids(feed_snapshot: FeedSnapshot) -> Mapping[str, AnyCollection[str | None]]:
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
