"""What one look at a contest tells: which submissions it takes, the events of all kinds in order, and what is gone."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from app.services.feed import submitted
from app.services.feed.difference import Shown, changes, deletions
from app.services.feed.kinds import LARGE, STATE, FeedSnapshot
from app.services.feed.log import RUNS, Log
from app.services.feed.submitted import Points
from app.storage import events, submission_queries
from app.storage.events import NewEvent


def shown_by(some: Iterable[Any], scene: FeedSnapshot) -> dict[str, list[Shown]]:
    """All objects of some kinds."""
    return {kind.type: list(kind.shown(scene)) for kind in some}


def awards_follow(scene: FeedSnapshot, moved: events.Moved) -> bool:
    """Awards follow the board once the contest is final."""
    return scene.public.state.finalized is not None and bool(moved.verdicts)


def touched(scene: FeedSnapshot, moved: events.Moved, points: Mapping[int, Points] | None) -> frozenset[int]:
    """The submissions that may be shown otherwise than before; with `points`, also those that are worth others."""
    rescored = set() if points is None else submitted.rescored(scene, points)
    contest_id = scene.public.contest.id
    together = events.tried_together(scene.session, contest_id, moved.verdicts) if moved.verdicts else set()
    return moved.submissions | rescored | together


def state_again(scene: FeedSnapshot, state: Iterable[Shown]) -> list[NewEvent]:
    """The state is the last word: after the end of updates it is told once more after whatever else is told."""
    if scene.public.state.end_of_updates is None:
        return []
    return [NewEvent("pj", None, STATE.type, None, each.views["p"]) for each in state]


def told_events(
    known: Log,
    scene: FeedSnapshot,
    before: dict[str, list[Shown]],
    found: submitted.Submitted,
    after: dict[str, list[Shown]],
    *,
    complete: bool,
) -> list[NewEvent]:
    """What is new or different, each kind after those it may refer to; then what is gone, in the reverse order.

    Submissions and what became of them may be gone where the sweep of all of them is `complete`.
    """
    shown = {**before, **{type_: found.of(type_) for type_ in LARGE}, **after}
    told: list[NewEvent] = []
    for type_, objects in shown.items():
        news = changes(known.index, objects)
        told += [*_gone_runs(known, scene, news), *news] if type_ == RUNS else news
    large = _large_ids(scene) if complete else {}
    for type_ in reversed(shown):
        if type_ not in LARGE or complete:
            ids = large[type_] if type_ in LARGE else [each.id for each in shown[type_]]
            news = deletions(known.index, type_, ids)
            told += [*_gone_runs(known, scene, news), *news] if type_ == RUNS else news
    return told


def _gone_runs(known: Log, scene: FeedSnapshot, news: Iterable[NewEvent]) -> list[NewEvent]:
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


def _large_ids(scene: FeedSnapshot) -> Mapping[str, Collection[str | None]]:
    """The ids of all submissions and judgements there are, whoever sees them; runs go by their judgements."""
    contest_id = scene.public.contest.id
    numbers = submission_queries.visible_judgements(scene.session, contest_id)
    judgements = set(map(scene.public.contest.ids.judgement, numbers))
    runs = set(map(str, numbers))
    return {
        "submissions": submission_queries.all_shown_ids(scene.session, contest_id),
        "judgements": judgements,
        RUNS: runs,
    }
