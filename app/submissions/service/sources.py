"""The sources a team attached to a submission: kept and not judged, for the team itself and for judges."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote

from sqlalchemy.orm import Session

from app.accounts.service.viewer import Viewer
from app.contests.service.visibility import may_see_sources
from app.core.errors import Forbidden, NotFound
from app.core.messages import N_
from app.scoreboard.queries.contest_snapshot import ContestSnapshot
from app.submissions.service.report_bodies import SourceFile
from app.submissions.service.submissions import visible


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
