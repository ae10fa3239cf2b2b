"""The sources a team attached to a submission: kept and not judged, for the team itself and for judges."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote

from app.services.errors import Forbidden, NotFound
from app.services.submissions.report_bodies import SourceFile
from app.services.viewer import Viewer
from app.services.visibility import may_see_sources
from app.storage.tables import SubmissionRow


def sources(viewer: Viewer, row: SubmissionRow) -> Mapping[str, SourceFile]:
    """A submission's sources by their names; raises Forbidden where the viewer may not read them."""
    if not may_see_sources(viewer, row):
        raise Forbidden("only the team itself and judges may see this")
    folder = f"contests/{row.contest_id}/submissions/{row.shown_id}/sources"
    return {
        each["name"]: SourceFile(
            name=each["name"], size=each["size"], sha256=each["sha256"], href=f"{folder}/{quote(each['name'])}"
        )
        for each in row.sources
    }


def source(viewer: Viewer, row: SubmissionRow, name: str) -> SourceFile:
    """The source of that name; raises Forbidden or NotFound."""
    file = sources(viewer, row).get(name)
    if file is None:
        raise NotFound(f"submission {row.shown_id} has no source {name!r}")
    return file
