"""What a look at a contest compares: each object as the endpoints show it now with the version published last.

Objects are rendered by the functions of the GET routes, for everybody, for judges, and for teams and accounts with
views of their own (guarantees 2 and 3). Submissions, judgements and runs are rendered where they may have changed.
"""

from __future__ import annotations

import json
import time
from collections import defaultdict
from collections.abc import Collection as AnyCollection
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import ClassVar

from pydantic import BaseModel
from sqlalchemy.orm import Session

from app.accounts import queries as accounts_queries
from app.accounts.service.accounts import in_contest, of_contest
from app.accounts.service.viewer import PUBLIC, Viewer
from app.contests.service.visibility import (
    SubmissionKey,
    know_points,
    may_see,
    may_see_runs,
    may_see_verdict,
    points_of,
    seen_by,
)
from app.domain.contests import Kind as Scoring
from app.domain.counting import CaseVerdict
from app.feed import queries as feed_queries
from app.feed.queries import NewEvent
from app.feed.service.collections import BY_NAME, IN_REFERENCE_ORDER, Collection
from app.feed.service.log import (
    ACCOUNT,
    EVERYBODY,
    JUDGES,
    OWNER,
    RUNS,
    Entry,
    Index,
    Log,
    ObjectText,
    Reader,
    Runs,
    ShownLast,
    digest,
    of_account,
    of_team,
)
from app.scoreboard.queries.contest_snapshot import ContestSnapshot
from app.submissions.queries import submission_queries
from app.submissions.queries.submission_queries import ScoredCase
from app.submissions.service.judgements import is_newer, judgement_document, run_document
from app.submissions.service.submissions import document
from app.submissions.tables import DONE
from app.tables import ContestRow, JudgementRow, SubmissionRow

NOBODY: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True)
class Shown:
    """An object as endpoints show it now, as JSON text: `p` for everybody, `j` for judges, `o:TEAM`, `a:ACCOUNT`.

    owner  the team whose view replaces the public one, as for a submission
    """

    type: str
    id: str | None
    views: Mapping[str, str]
    owner: str | None = None


def changes(index: Index, shown: Iterable[Shown]) -> list[NewEvent]:
    """Events for the objects that differ from their last published version."""
    return [event for each in shown for event in _of_one(each, index.entry(each.type, each.id))]


def deletions(index: Index, type_: str, shown: Iterable[str | None]) -> list[NewEvent]:
    """Events for published objects of a kind that nobody may see any more, the latest first."""
    shown_ids = set(shown)
    gone = [object_id for object_id in index.ids(type_) if object_id not in shown_ids]
    events: list[NewEvent] = []
    for object_id in reversed(gone):
        entry = index.entry(type_, object_id)
        owner = entry.owner if entry is not None else None
        events += _of_one(Shown(type_, object_id, NOBODY, owner), entry)
    return events


def _of_one(new: Shown, old: Entry | None) -> Iterator[NewEvent]:
    published = old.views if old is not None else {}
    groups: dict[str | None, str] = {}
    plain = [EVERYBODY, JUDGES]
    if new.owner is not None:
        plain.insert(1, f"{OWNER}:{new.owner}")
    for key in plain:
        data = new.views.get(key)
        if _differs(published.get(key), data):
            groups[data] = groups.get(data, "") + key[0]
    others = sorted({*published, *new.views}.difference(plain))
    for key in others:  # before the team's: the view of an account replaces its team's
        if key[0] == ACCOUNT:
            yield from _of_account(new, published, key)
    for data, audience in groups.items():
        owner = None if audience == JUDGES else new.owner
        yield NewEvent(audience, owner, new.type, new.id, data)
    if not others:
        return
    public_event = next(((True, data) for data, audience in groups.items() if EVERYBODY in audience), (False, None))
    for key in others:
        if key[0] == OWNER:
            yield from _of_team(new, old, key, public_event)


def _differs(published: ShownLast | None, data: str | None) -> bool:
    before = None if published is None else published.digest
    if before is None or data is None:
        return (before is None) is not (data is None)
    return before != digest(data)


def _of_account(new: Shown, published: Mapping[str, ShownLast], key: str) -> Iterator[NewEvent]:
    wanted = new.views.get(key)
    if _differs(published.get(key), wanted):
        yield NewEvent(ACCOUNT, key.partition(":")[2], new.type, new.id, wanted)


def _of_team(new: Shown, old: Entry | None, key: str, public_event: tuple[bool, str | None]) -> Iterator[NewEvent]:
    """The event for one team, unless the public event of this look is right for it already."""
    team_id = key.partition(":")[2]
    wanted = new.views.get(key, new.views.get(EVERYBODY))
    if public_event[0]:
        known = None if public_event[1] is None else digest(public_event[1])
    else:
        view = old.seen_by(Reader(team_id=team_id)) if old is not None else None
        known = view.digest if view is not None else None
    if known != (None if wanted is None else digest(wanted)):
        yield NewEvent(OWNER, team_id, new.type, new.id, wanted)


JUDGE = Viewer("judge")
Model = type[BaseModel]


@dataclass(frozen=True, slots=True)
class FeedSnapshot:
    """A contest at one look: the snapshots for everybody and for judges, and the transaction for further reads."""

    session: Session
    public: ContestSnapshot
    judges: ContestSnapshot

    def snapshot(self, viewer: Viewer) -> ContestSnapshot:
        """The contest as this viewer sees it."""
        return self.judges if viewer.sees_all else seen_by(viewer, self.public)


@dataclass(frozen=True, slots=True)
class Kind:
    """A collection, rendered as by its GET route: with the same function and model."""

    collection: Collection

    @property
    def type(self) -> str:
        """The name of the kind in events."""
        return self.collection.name

    def shown(self, feed_snapshot: FeedSnapshot) -> Iterator[Shown]:
        """Render every object of the kind for everybody, for judges and for teams with views of their own."""
        seen: dict[str | None, dict[str, str]] = {}
        for key, viewer in ((EVERYBODY, PUBLIC), (JUDGES, JUDGE)):
            for object_id, text in self._texts(viewer, feed_snapshot):
                seen.setdefault(object_id, {})[key] = text
        for viewer in self.collection.special(feed_snapshot.public, feed_snapshot.session):
            assert viewer.team_id is not None
            for object_id, text in self._texts(viewer, feed_snapshot):
                views = seen.setdefault(object_id, {})
                if views.get(EVERYBODY) != text:
                    views[of_team(viewer.team_id)] = text
        for object_id, views in seen.items():
            yield Shown(self.type, object_id, views)

    def _texts(self, viewer: Viewer, feed_snapshot: FeedSnapshot) -> Iterator[tuple[str | None, str]]:
        each = self.collection
        for shown in each.documents(viewer, feed_snapshot.snapshot(viewer), feed_snapshot.session):
            model = each.parsed(shown)
            yield None if each.single else str(model.id), as_text(model, sparse=each.sparse)  # type: ignore[attr-defined]


def as_text(document: BaseModel, *, sparse: bool) -> str:
    """Serialise a document as its route does."""
    return document.model_dump_json(exclude_unset=sparse)


@dataclass(frozen=True, slots=True)
class Accounts:
    """The accounts of a contest: judges see all, others their own."""

    type: ClassVar[str] = "accounts"

    def shown(self, feed_snapshot: FeedSnapshot) -> Iterator[Shown]:
        """Render every account; accounts of teams outside the contest only for themselves."""
        session, contest_id = feed_snapshot.session, feed_snapshot.public.contest.id
        roles = {row.account_id: row.role for row in accounts_queries.of_contest(session, contest_id)}
        known_ids = {row.id for row in of_contest(session, session.get_one(ContestRow, contest_id), set(roles))}
        for row in accounts_queries.accounts(session):
            text = as_text(in_contest(row, roles.get(row.id)), sparse=False)
            views = {JUDGES: text} if row.id in known_ids else {}
            yield Shown(self.type, row.id, {**views, of_account(row.id): text})


def _kinds(names: Sequence[str]) -> tuple[Kind | Accounts, ...]:
    return tuple(Accounts() if name == Accounts.type else Kind(BY_NAME[name]) for name in names)


# Kinds in order of reference: each after those it refers to.
ORDER: tuple[str, ...] = tuple(each.name for each in IN_REFERENCE_ORDER)
# Kinds with thousands of objects: a look reads only those that changed.
LARGE: tuple[str, ...] = tuple(each.name for each in IN_REFERENCE_ORDER if each.large)
# Kinds that submissions refer to: few objects, rendered whole after every change by an admin.
BEFORE = _kinds(ORDER[: ORDER.index(LARGE[0])])
# Kinds that may refer to submissions; few objects as well.
AFTER = _kinds(ORDER[ORDER.index(LARGE[-1]) + 1 : -1])
# The last kind of every look: no event may follow the end of updates.
STATE = Kind(IN_REFERENCE_ORDER[-1])


# Points of a submission for everybody and for judges; None while it is unjudged.
Points = tuple[float | None, float | None]


@dataclass
class Submitted:
    """Rendered submissions with their judgements and runs.

    points     points by the current judgements
    unsettled  finished judgements that are missing on the snapshot used here, to be rendered again
    texts      the runs of each judgement, for the lines of the feed
    """

    submissions: list[Shown] = field(default_factory=list)
    judgements: list[Shown] = field(default_factory=list)
    runs: list[Shown] = field(default_factory=list)
    points: dict[int, Points] = field(default_factory=dict)
    unsettled: set[int] = field(default_factory=set)
    texts: dict[str, Sequence[ObjectText]] = field(default_factory=dict)

    def of(self, type_: str) -> list[Shown]:
        """The rendered objects of one kind."""
        return {"submissions": self.submissions, "judgements": self.judgements, RUNS: self.runs}[type_]


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


def render_submissions(feed_snapshot: FeedSnapshot, index: Index, among: AnyCollection[int]) -> Submitted:
    """Render the submissions among these ids, with their judgements and runs."""
    contest_id = feed_snapshot.public.contest.id
    rendered = Submitted()
    rows = submission_queries.submissions(feed_snapshot.session, contest_id, among)
    for snapshot in (feed_snapshot.public, feed_snapshot.judges):
        know_points(snapshot, rows)
    for row in rows:
        documents = {
            key: document(viewer, feed_snapshot.snapshot(viewer), row)
            for key, viewer in viewers(row)
            if may_see(viewer, feed_snapshot.snapshot(viewer), row)
        }
        views = {key: as_text(each, sparse=True) for key, each in documents.items()}
        rendered.submissions.append(Shown("submissions", row.shown_id, views, row.team_id))
    longest = submission_queries.longest_runs(feed_snapshot.session, contest_id, among=among)
    runs = defaultdict(list)
    for run in submission_queries.scored_cases(feed_snapshot.session, contest_id, among=among):
        runs[run.score.judgement_id].append(run)
    for judgement, row in submission_queries.judgements_of(feed_snapshot.session, rows):
        _look_at_judgement(feed_snapshot, rendered, judgement, row, longest.get(judgement.id))
        _look_at_runs(feed_snapshot, index, rendered, str(judgement.id), row, runs.get(judgement.id, []))
    return rendered


def viewers(row: SubmissionRow) -> list[tuple[str, Viewer]]:
    """The viewers with different views of a submission, with their keys."""
    viewers_of_row = [(EVERYBODY, PUBLIC), (JUDGES, JUDGE)]
    if row.team_id is not None:
        viewers_of_row.append((of_team(row.team_id), Viewer("team", None, row.team_id)))
    return viewers_of_row


def _look_at_judgement(
    feed_snapshot: FeedSnapshot, rendered: Submitted, judgement: JudgementRow, row: SubmissionRow, longest: int | None
) -> None:
    views = {}
    documents = {
        snapshot.public: judgement_document(snapshot, judgement, row, longest)
        for snapshot in (feed_snapshot.public, feed_snapshot.judges)
    }
    texts = {key: as_text(each, sparse=True) for key, each in documents.items()}
    for key, viewer in viewers(row):
        if may_see_verdict(viewer, feed_snapshot.snapshot(viewer), row):
            views[key] = texts[not viewer.sees_all]
    if judgement.current:
        rendered.points[row.id] = (documents[True].score, documents[False].score)
    without_score = judgement.state == DONE and documents[False].score is None
    if without_score and is_newer(feed_snapshot.judges, judgement, row):
        rendered.unsettled.add(judgement.id)
    judgement_id = feed_snapshot.public.contest.ids.judgement(judgement.id)
    rendered.judgements.append(Shown("judgements", judgement_id, views, row.team_id))


def _look_at_runs(
    feed_snapshot: FeedSnapshot,
    index: Index,
    rendered: Submitted,
    judgement_id: str,
    row: SubmissionRow,
    runs: Sequence[ScoredCase],
) -> None:
    """Render all runs of a judgement as one event: their ids and a digest of their texts.

    Its object id is the number of the judgement, which is never sent to clients.
    """
    texts = run_texts(feed_snapshot, runs)
    rendered.texts[judgement_id] = texts
    entry = index.entry(RUNS, judgement_id)
    if not texts and entry is None:
        return
    shown = {
        True: _runs_document([each.judges for each in texts], texts),
        False: _runs_document([each.others for each in texts], texts),
    }
    views = {
        key: shown[viewer.sees_all]
        for key, viewer in viewers(row)
        if texts and may_see_runs(viewer, feed_snapshot.snapshot(viewer), row)
    }
    rendered.runs.append(Shown(RUNS, judgement_id, views, row.team_id))


def _runs_document(some: Sequence[str], texts: Sequence[ObjectText]) -> str:
    document_of_runs = {"ids": [each.id for each in texts], "digest": digest("".join(some))}
    return json.dumps(document_of_runs, separators=(",", ":"))


def ids_of(data: str | None) -> list[str]:
    """The ids of the runs in an event of all runs of a judgement."""
    return [] if data is None else list(json.loads(data)["ids"])


def run_texts(feed_snapshot: FeedSnapshot, runs: Sequence[ScoredCase]) -> list[ObjectText]:
    """Runs as JSON of their route."""
    reduced = feed_snapshot.public.contest.settings.rejections != "full"
    texts = []
    for run in runs:
        judges = _run_text(feed_snapshot.judges, run)
        differs = reduced and run.score.verdict == CaseVerdict.REJECTED
        texts.append(ObjectText(*judges, _run_text(feed_snapshot.public, run)[1] if differs else judges[1]))
    return texts


def _run_text(snapshot: ContestSnapshot, run: ScoredCase) -> tuple[str, str]:
    document = run_document(snapshot, run)
    return document.id, as_text(document, sparse=False)


def texts_of(feed_snapshot: FeedSnapshot, judgements: AnyCollection[int]) -> Runs:
    """The present runs of some judgements."""
    by_judgement: dict[str, list[ScoredCase]] = defaultdict(list)
    contest_id = feed_snapshot.public.contest.id
    for run in submission_queries.scored_cases(feed_snapshot.session, contest_id, judgements=judgements):
        by_judgement[str(run.score.judgement_id)].append(run)
    return {judgement_id: run_texts(feed_snapshot, runs) for judgement_id, runs in by_judgement.items()}


def basis_of(feed_snapshot: FeedSnapshot) -> object:
    """Everything but submissions that points and visibility depend on, to be compared with that of other looks."""
    contest, public = feed_snapshot.judges.contest, feed_snapshot.public
    return contest, public.freeze, public.state, feed_queries.judged_again(feed_snapshot.session, contest.id)


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
    return [NewEvent("pj", None, STATE.type, None, each.views["p"]) for each in state]


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
