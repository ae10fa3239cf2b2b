"""Submissions, judgements and runs as a feed shows them to everybody, to judges and to their team."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from app.accounts.service.viewer import PUBLIC, Viewer
from app.contests.service.visibility import (
    SubmissionKey,
    know_points,
    may_see,
    may_see_runs,
    may_see_verdict,
    points_of,
)
from app.domain.verdicts import CaseVerdict
from app.feed.service.kinds import JUDGE, FeedSnapshot, Shown, as_text
from app.feed.service.log import EVERYBODY, JUDGES, RUNS, Index, ObjectText, Runs, digest, of_team
from app.scoreboard.queries.contest_snapshot import ContestSnapshot
from app.submissions.queries import submission_queries
from app.submissions.queries.submission_queries import ScoredCase
from app.submissions.service.judgements import is_newer, judgement_document, run_document
from app.submissions.service.submissions import document
from app.submissions.tables import DONE
from app.tables import JudgementRow, SubmissionRow

K = TypeVar("K")
# Submissions of which the points are computed alone: a feed begins before the points of all have been computed.
FEW = 64
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


def look(feed_snapshot: FeedSnapshot, index: Index, among: Collection[int]) -> Submitted:
    """Render the submissions among these ids, with their judgements and runs."""
    contest_id = feed_snapshot.public.contest.id
    rendered = Submitted()
    rows = submission_queries.submissions(feed_snapshot.session, contest_id, among)
    if len(rows) <= FEW:
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


def texts_of(feed_snapshot: FeedSnapshot, judgements: Collection[int]) -> Runs:
    """The present runs of some judgements."""
    by_judgement: dict[str, list[ScoredCase]] = defaultdict(list)
    contest_id = feed_snapshot.public.contest.id
    for run in submission_queries.scored_cases(feed_snapshot.session, contest_id, judgements=judgements):
        by_judgement[str(run.score.judgement_id)].append(run)
    return {judgement_id: run_texts(feed_snapshot, runs) for judgement_id, runs in by_judgement.items()}
