"""The sources a team attached to a submission: kept and not judged, for the team itself and for judges."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote

from sqlalchemy.orm import Session

from app.grading.contest_snapshot import ContestSnapshot
from app.services.errors import Forbidden, NotFound
from app.services.submissions.report_bodies import SourceFile
from app.services.submissions.submissions import visible
from app.services.viewer import Viewer
from app.services.visibility import may_see_sources


def sources(
    viewer: Viewer, snapshot: ContestSnapshot, session: Session, submission_id: str
) -> Mapping[str, SourceFile]:
    """A submission's sources by their names; raises NotFound, or Forbidden where the viewer may not read them."""
    row = visible(viewer, snapshot, session, submission_id)
    if not may_see_sources(viewer, row):
        raise Forbidden("only the team itself and judges may see this")
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
        raise NotFound(f"submission {submission_id} has no source {name!r}")
    return file
