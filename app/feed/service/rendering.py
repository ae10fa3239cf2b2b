"""The objects of a contest as endpoints show them now, for each audience of the feed.

They are rendered by the functions of the GET routes, for everyone, for judges, and for teams and accounts with views
of their own (guarantees 2 and 3).
"""

import json
from collections import defaultdict
from collections.abc import Collection as AnyCollection
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from pydantic import BaseModel
from sqlalchemy.orm import Session

from app.accounts import queries as accounts_queries
from app.accounts.service.accounts import in_contest, of_contest
from app.accounts.service.viewer import PUBLIC, Viewer
from app.contests.service.visibility import know_points, may_see, may_see_runs, may_see_verdict, seen_by
from app.domain.counting import CaseVerdict
from app.feed.service.collections import BY_NAME, IN_REFERENCE_ORDER, Collection
from app.feed.service.index import EVERYBODY, JUDGES, Index, Shown, digest, of_account, of_team
from app.feed.service.log import RUNS, ObjectText, Runs
from app.scoreboard.queries.contest_snapshot import ContestSnapshot
from app.submissions.queries import submission_queries
from app.submissions.service.judgements import is_newer, judgement_document, run_document
from app.submissions.service.submissions import document
from app.submissions.tables import DONE
from app.tables import ContestRow, JudgementRow, SubmissionRow

JUDGE = Viewer("judge")


@dataclass(frozen=True, slots=True)
class FeedSnapshot:
    """A contest at one look: the snapshots for everyone and for judges, and the transaction for further reads."""

    session: Session
    public: ContestSnapshot
    judges: ContestSnapshot

    def snapshot(self, viewer: Viewer) -> ContestSnapshot:
        """The contest as this viewer sees it."""
        return self.judges if viewer.sees_all else seen_by(viewer, self.public)


def shown_by(types: Iterable[str], feed_snapshot: FeedSnapshot) -> dict[str, list[Shown]]:
    """Render all objects of some kinds."""
    return {
        type_: list(_accounts(feed_snapshot) if type_ == ACCOUNTS else _shown(BY_NAME[type_], feed_snapshot))
        for type_ in types
    }


def _shown(collection: Collection, feed_snapshot: FeedSnapshot) -> Iterator[Shown]:
    """Render every object of a collection for everyone, for judges and for teams with views of their own."""
    seen: dict[str | None, dict[str, str]] = {}
    for key, viewer in ((EVERYBODY, PUBLIC), (JUDGES, JUDGE)):
        for object_id, text in _texts(collection, viewer, feed_snapshot):
            seen.setdefault(object_id, {})[key] = text
    for viewer in collection.special(feed_snapshot.public, feed_snapshot.session):
        assert viewer.team_id is not None
        for object_id, text in _texts(collection, viewer, feed_snapshot):
            views = seen.setdefault(object_id, {})
            if views.get(EVERYBODY) != text:
                views[of_team(viewer.team_id)] = text
    for object_id, views in seen.items():
        yield Shown(collection.name, object_id, views)


def _texts(each: Collection, viewer: Viewer, feed_snapshot: FeedSnapshot) -> Iterator[tuple[str | None, str]]:
    for shown in each.documents(viewer, feed_snapshot.snapshot(viewer), feed_snapshot.session):
        model = each.parsed(shown)
        yield None if each.single else str(model.id), as_text(model, sparse=each.sparse)  # type: ignore[attr-defined]


def as_text(document: BaseModel, *, sparse: bool) -> str:
    """Serialise a document as its route does."""
    return document.model_dump_json(exclude_unset=sparse)


def _accounts(feed_snapshot: FeedSnapshot) -> Iterator[Shown]:
    """Render every account: for judges those of the contest, for others their own."""
    session, contest_id = feed_snapshot.session, feed_snapshot.public.contest.id
    roles = {row.account_id: row.role for row in accounts_queries.roles_at(session, "contests", contest_id)}
    known_ids = {row.id for row in of_contest(session, session.get_one(ContestRow, contest_id), set(roles))}
    for row in accounts_queries.accounts(session):
        text = as_text(in_contest(row, roles.get(row.id)), sparse=False)
        views = {JUDGES: text} if row.id in known_ids else {}
        yield Shown(ACCOUNTS, row.id, {**views, of_account(row.id): text})


ACCOUNTS = "accounts"
# Kinds in order of reference: each after those it refers to.
ORDER: tuple[str, ...] = tuple(each.name for each in IN_REFERENCE_ORDER)
# Kinds with thousands of objects: a look reads only those that changed.
LARGE: tuple[str, ...] = tuple(each.name for each in IN_REFERENCE_ORDER if each.large)
# Kinds that submissions refer to: few objects, rendered whole after every change by an admin.
BEFORE = ORDER[: ORDER.index(LARGE[0])]
# Kinds that may refer to submissions; few objects as well.
AFTER = ORDER[ORDER.index(LARGE[-1]) + 1 : -1]
# The last kind of every look: no event may follow the end of updates.
STATE = ORDER[-1]


# Points of a submission for everyone and for judges; None while it is unjudged.
Points = tuple[float | None, float | None]


@dataclass
class Submitted:
    """Rendered submissions with their judgements and runs.

    shown      the objects by their kinds
    points     points by the current judgements
    unsettled  finished judgements that are missing on the snapshot used here, to be rendered again
    texts      the runs of each judgement, for the lines of the feed
    """

    shown: dict[str, list[Shown]] = field(default_factory=lambda: {type_: [] for type_ in LARGE})
    points: dict[int, Points] = field(default_factory=dict)
    unsettled: set[int] = field(default_factory=set)
    texts: dict[str, Sequence[ObjectText]] = field(default_factory=dict)


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
        rendered.shown["submissions"].append(Shown("submissions", row.shown_id, views, row.team_id))
    longest = submission_queries.longest_runs(feed_snapshot.session, contest_id, among)
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
    # The board is older than the verdict: the next look, with a newer one, has the points.
    if without_score and is_newer(feed_snapshot.judges, judgement, row):
        rendered.unsettled.add(judgement.id)
    judgement_id = feed_snapshot.public.contest.ids.judgement(judgement.id)
    rendered.shown["judgements"].append(Shown("judgements", judgement_id, views, row.team_id))


def _look_at_runs(
    feed_snapshot: FeedSnapshot,
    index: Index,
    rendered: Submitted,
    judgement_id: str,
    row: SubmissionRow,
    runs: Sequence[submission_queries.ScoredCase],
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
    rendered.shown[RUNS].append(Shown(RUNS, judgement_id, views, row.team_id))


def _runs_document(some: Sequence[str], texts: Sequence[ObjectText]) -> str:
    document_of_runs = {"ids": [each.id for each in texts], "digest": digest("".join(some))}
    return json.dumps(document_of_runs, separators=(",", ":"))


def ids_of(data: str | None) -> list[str]:
    """The ids of the runs in an event of all runs of a judgement."""
    return [] if data is None else list(json.loads(data)["ids"])


def run_texts(feed_snapshot: FeedSnapshot, runs: Sequence[submission_queries.ScoredCase]) -> list[ObjectText]:
    """Runs as JSON of their route."""
    reduced = feed_snapshot.public.contest.settings.rejections != "full"
    texts = []
    for run in runs:
        judges = _run_text(feed_snapshot.judges, run)
        differs = reduced and run.score.verdict == CaseVerdict.REJECTED
        texts.append(ObjectText(*judges, _run_text(feed_snapshot.public, run)[1] if differs else judges[1]))
    return texts


def _run_text(snapshot: ContestSnapshot, run: submission_queries.ScoredCase) -> tuple[str, str]:
    document = run_document(snapshot, run)
    return document.id, as_text(document, sparse=False)


def texts_of(feed_snapshot: FeedSnapshot, judgements: AnyCollection[int]) -> Runs:
    """The present runs of some judgements."""
    by_judgement: dict[str, list[submission_queries.ScoredCase]] = defaultdict(list)
    contest_id = feed_snapshot.public.contest.id
    for run in submission_queries.scored_cases(feed_snapshot.session, contest_id, judgements=judgements):
        by_judgement[str(run.score.judgement_id)].append(run)
    return {judgement_id: run_texts(feed_snapshot, runs) for judgement_id, runs in by_judgement.items()}
