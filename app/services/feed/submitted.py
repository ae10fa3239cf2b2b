"""Submissions, judgements and runs as a feed shows them: only those looked for, to everybody, judges and their team."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from pydantic import BaseModel

from app.domain.rejections import Telling
from app.domain.verdicts import CaseVerdict
from app.grading.scoreboard_cache import ContestSnapshot
from app.services.feed.difference import Shown
from app.services.feed.kinds import JUDGE, FeedSnapshot, as_model, as_text
from app.services.feed.log import RUNS, Index, Runs, RunText, digest
from app.services.feed.readers import EVERYBODY, JUDGES, of_account, of_team
from app.services.submissions.judgements import JudgedCase, Judgement, judgement_document, run_document
from app.services.submissions.submissions import Submission, document
from app.services.viewer import PUBLIC, Viewer
from app.services.visibility import may_see, may_see_runs, may_see_verdict, points_of
from app.storage import accounts, submission_queries
from app.storage.submission_queries import Run
from app.storage.tables import SubmissionRow

K = TypeVar("K")
Points = tuple[float | None, float | None]
"""What a submission is worth to everybody and to judges; None while it is not judged."""


@dataclass
class Submitted:
    """What was found of the submissions looked for.

    points     what their current judgements say they are worth
    unsettled  judgements that are done, but not yet on the board they were looked at with: to be looked at again
    texts      the runs of each judgement, for those who send them
    """

    submissions: list[Shown] = field(default_factory=list)
    judgements: list[Shown] = field(default_factory=list)
    runs: list[Shown] = field(default_factory=list)
    points: dict[int, Points] = field(default_factory=dict)
    unsettled: set[int] = field(default_factory=set)
    texts: dict[str, Sequence[RunText]] = field(default_factory=dict)

    def of(self, type_: str) -> list[Shown]:
        """One kind of them."""
        return {"submissions": self.submissions, "judgements": self.judgements, RUNS: self.runs}[type_]


@dataclass(frozen=True, slots=True)
class _Tried:
    """What is enough of a submission to ask what it is worth."""

    id: int
    team_id: str | None
    problem_id: str
    account_id: str = ""


def rescored(scene: FeedSnapshot, told: Mapping[int, Points]) -> set[int]:
    """The submissions that are worth something else than was told: far cheaper than to show all of them."""
    found = set()
    for attempt in scene.judges.attempts:
        tried = _Tried(attempt.id, attempt.team_id, attempt.problem_id)
        if told.get(attempt.id) != (points_of(scene.public, tried), points_of(scene.judges, tried)):
            found.add(attempt.id)
    return found


def look(scene: FeedSnapshot, index: Index, among: Collection[int]) -> Submitted:
    """Look at the submissions among these ids, with their judgements and runs."""
    contest_id = scene.public.contest.id
    found = Submitted()
    rows = submission_queries.submissions(scene.session, contest_id, among)
    teams = accounts.teams_of_accounts(scene.session) if rows else {}
    for row in rows:
        who = viewers(row)
        if row.team_id is not None and teams.get(row.account_id) == row.team_id:
            who.append((of_account(row.account_id), Viewer("team", row.account_id, row.team_id)))
        documents = {
            key: document(viewer, scene.snapshot(viewer), row)
            for key, viewer in who
            if may_see(viewer, scene.snapshot(viewer), row)
        }
        views = _texts(Submission, documents)
        found.submissions.append(Shown("submissions", row.shown_id, views, row.team_id))
    longest = submission_queries.longest_runs(scene.session, contest_id, among=among)
    runs = defaultdict(list)
    for run in submission_queries.runs(scene.session, contest_id, among=among):
        runs[run.score.judgement_id].append(run)
    for judgement, row in submission_queries.judgements(scene.session, contest_id, among=among):
        _look_at_judgement(scene, found, judgement, row, longest.get(judgement.id))
        _look_at_runs(scene, index, found, str(judgement.id), row, runs.get(judgement.id, []))
    return found


def _texts(model: type[BaseModel], documents: Mapping[K, Mapping[str, Any]]) -> dict[K, str]:
    """Documents as their route answers them, by whoever sees them; those that are the same are written once."""
    found: dict[K, str] = {}
    for key, each in documents.items():
        same = next((other for other in found if documents[other] == each), None)
        found[key] = found[same] if same is not None else as_text(as_model(model, each), sparse=True)
    return found


def viewers(row: SubmissionRow) -> list[tuple[str, Viewer]]:
    """Whoever may see a submission differently."""
    found = [(EVERYBODY, PUBLIC), (JUDGES, JUDGE)]
    if row.team_id is not None:
        found.append((of_team(row.team_id), Viewer("team", None, row.team_id)))
    return found


def _look_at_judgement(
    scene: FeedSnapshot, found: Submitted, judgement: Any, row: SubmissionRow, longest: int | None
) -> None:
    views = {}
    documents = {
        snapshot.public: judgement_document(snapshot, judgement, row, longest)
        for snapshot in (scene.public, scene.judges)
    }
    texts = _texts(Judgement, documents)
    for key, viewer in viewers(row):
        if may_see_verdict(viewer, scene.snapshot(viewer), row):
            views[key] = texts[not viewer.sees_all]
    if judgement.current:
        found.points[row.id] = (documents[True].get("score"), documents[False].get("score"))
    if judgement.current and documents[False].get("end_time") and "score" not in documents[False]:
        found.unsettled.add(judgement.id)
    judgement_id = scene.public.contest.ids.judgement(judgement.id)
    found.judgements.append(Shown("judgements", judgement_id, views, row.team_id))


def _look_at_runs(
    scene: FeedSnapshot, index: Index, found: Submitted, judgement_id: str, row: SubmissionRow, runs: Sequence[Run]
) -> None:
    """All runs of a judgement are one event: which there are, a digest of what they say, and which are gone.

    It is kept under the judgement's own number, which nobody is sent.
    """
    texts = run_texts(scene, runs)
    found.texts[judgement_id] = texts
    entry = index.entry(RUNS, judgement_id)
    if not texts and entry is None:
        return
    shown = {True: _told([each.judges for each in texts], texts), False: _told([each.others for each in texts], texts)}
    views = {
        key: shown[viewer.sees_all]
        for key, viewer in viewers(row)
        if texts and may_see_runs(viewer, scene.snapshot(viewer), row)
    }
    found.runs.append(Shown(RUNS, judgement_id, views, row.team_id))


def _told(some: Sequence[str], texts: Sequence[RunText]) -> str:
    told = {"ids": [each.id for each in texts], "digest": digest("".join(some))}
    return json.dumps(told, separators=(",", ":"))


def ids_of(data: str | None) -> list[str]:
    """The runs an event of all runs of a judgement stands for."""
    return [] if data is None else list(json.loads(data)["ids"])


def run_texts(scene: FeedSnapshot, runs: Sequence[Run]) -> list[RunText]:
    """Runs as their route answers them."""
    reduced = scene.public.contest.settings.rejections is not Telling.FULL
    found = []
    for run in runs:
        judges = _run_text(scene.judges, run)
        differs = reduced and run.score.verdict == CaseVerdict.REJECTED
        found.append(RunText(*judges, _run_text(scene.public, run)[1] if differs else judges[1]))
    return found


def _run_text(snapshot: ContestSnapshot, run: Run) -> tuple[str, str]:
    document = as_model(JudgedCase, run_document(snapshot, run))
    return str(document.id), as_text(document, sparse=False)  # type: ignore[attr-defined]


def texts_of(scene: FeedSnapshot, judgements: Collection[int]) -> Runs:
    """The runs of some judgements as they are now."""
    found: dict[str, list[Run]] = defaultdict(list)
    for run in submission_queries.runs(scene.session, scene.public.contest.id, judgements=judgements):
        found[str(run.score.judgement_id)].append(run)
    return {judgement_id: run_texts(scene, runs) for judgement_id, runs in found.items()}
