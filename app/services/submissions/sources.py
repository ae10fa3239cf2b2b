"""The sources a team attached to a submission: kept and not judged, for the team itself and for judges."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.storage.tables import SubmissionRow


def named(row: SubmissionRow) -> dict[str, Mapping[str, Any]]:
    """A submission's sources by their names."""
    return {source["name"]: source for source in row.sources}
