"""Documents of reports on submissions.

- The sources a team attached to a submission: kept and not judged, for the team itself and for judges.
"""

from collections.abc import Mapping
from typing import Self
from urllib.parse import quote

from pydantic import BaseModel, Field
from sqlalchemy.orm import Session

from app.accounts.service.viewer import Viewer
from app.contests.service.visibility import may_see_sources
from app.core import bodies, clics, json_documents, messages
from app.core.messages import N_, Forbidden, NotFound
from app.domain.documents import ImageDocument
from app.scoreboard.queries.contest_snapshot import ContestSnapshot
from app.submissions.service.judgements import JUDGEMENT, Judgement, Message
from app.submissions.service.submissions import visible


class ReportedFile(BaseModel):
    """A file that was sent: the case it was taken for, or why it was ignored."""

    name: str
    case: str | None
    ignored: str | None
    reason: object = Field(None, exclude=True)  # the same as a message, which pages translate

    @classmethod
    def of(cls, note: json_documents.FileNoteDocument) -> Self:
        """Return a stored note with its reason in English."""
        why = note["ignored"]
        reason = None if why is None else messages.Message(why["source"], **why["values"])
        return cls(name=note["name"], case=note["case"], ignored=None if reason is None else str(reason), reason=reason)


class ReportedImage(ImageDocument):
    """An image that a package's own checker left, and where it can be had; `judgeimage...` are for judges."""

    href: str


class ReportedCase(bodies.Sparse):
    """A test case: the answer that stands for it, its verdict, its raw score and its points."""

    name: str
    group: str | None = Field(description="null for a final case of which nothing may be known yet")
    kind: str
    max_points: float
    points: float | None
    file: str | None = Field(description="the file in this submission; null: none")
    size: int | None
    sha256: str | None
    carried_over_from: str | None = Field(description="the earlier submission whose answer stands for this case")
    verdict: str | None
    raw: int | float | None
    max_raw: int | float | None
    message: Message
    judge_message: str | None = Field(None, description="for judges: what a package's own checker says to them alone")
    images: list[ReportedImage] | None = Field(None, description="those that the viewer may see; absent without any")
    run_time: float | None = Field(description="seconds that the checker took")


class ReportedGroup(BaseModel):
    """A group's points, and the reason where it gives none."""

    name: str
    kind: str
    aggregation: str
    points: float
    max_points: float
    why: str | None


CASE: clics.JsonObject = {
    "name": "01-sample",
    "group": "sample",
    "kind": "sample",
    "max_points": 0.0,
    "points": 0.0,
    "file": "01-sample.out",
    "size": 12,
    "sha256": "c0535e4be2b79ffd93291305436bf889314e4a3faec05ecffcbb7df31ad9e51a",
    "carried_over_from": None,
    "verdict": "accepted",
    "raw": 1,
    "max_raw": 1,
    "message": {"key": "pegs-left", "text": "1 peg is left", "args": {"pegs": 1}},
    "run_time": 0.012,
}


@clics.example(
    {
        "submission_id": "1",
        "problem_id": "comesolo",
        "team_id": "ants",
        "time": clics.EXAMPLES_TIME,
        "contest_time": clics.CONTEST_TIME,
        "judgement": JUDGEMENT,
        "state": "done",
        "points": 42.5,
        "max_points": 100.0,
        "files": [
            {"name": "01-sample.out", "case": "01-sample", "ignored": None},
            {"name": "notes.md", "case": None, "ignored": "no test case of this name"},
        ],
        "cases": [CASE],
        "groups": [
            {
                "name": "secret",
                "kind": "provisional",
                "aggregation": "sum",
                "points": 42.5,
                "max_points": 100.0,
                "why": None,
            }
        ],
    }
)
class Report(bodies.Sparse):
    """The result of every file, every case and every group of a submission."""

    submission_id: str
    problem_id: str
    team_id: str | None
    time: str
    contest_time: str
    judgement: Judgement
    state: str = Field(description="`done` once it is judged")
    error: str | None = Field(None, description="for judges: what failed in the judge itself")
    points: float | None
    max_points: float
    files: list[ReportedFile]
    cases: list[ReportedCase]
    groups: list[ReportedGroup]


class SourceFile(BaseModel):
    """A source file that came with a submission."""

    name: str
    size: int
    sha256: str
    href: str


def sources(
    viewer: Viewer, snapshot: ContestSnapshot, session: Session, submission_id: str
) -> Mapping[str, SourceFile]:
    """A submission's sources by their names; raises NotFound, or Forbidden where the viewer may not read them."""
    row = visible(viewer, snapshot, session, submission_id)
    if not may_see_sources(viewer, row):
        raise Forbidden(N_("only the team itself and judges may see this"))
    folder = f"contests/{row.contest_id}/submissions/{row.shown_id}/sources"
    return {
        each["name"]: SourceFile(
            name=each["name"], size=each["size"], sha256=each["sha256"], href=f"{folder}/{quote(each['name'])}"
        )
        for each in row.sources
    }


def source(viewer: Viewer, snapshot: ContestSnapshot, session: Session, submission_id: str, name: str) -> SourceFile:
    """The source of that name; raises Forbidden or NotFound."""
    file = sources(viewer, snapshot, session, submission_id).get(name)
    if file is None:
        raise NotFound(N_("submission %(submission)s has no source %(source)r"), submission=submission_id, source=name)
    return file
