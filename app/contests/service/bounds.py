"""Bounds on what owners of contests let teams send: admins of the server set them, and are not bound."""

from __future__ import annotations

from app.accounts.service.viewer import Viewer
from app.contests.schemas.bodies import ContestBody
from app.core.bodies import mismatch, refuse
from app.core.settings import Settings
from app.domain.documents import SettingsDocument
from app.domain.limits import CONTEST_BYTES, TEAM_BYTES
from app.domain.settings import ContestSettings, read_settings
from app.tables import ContestRow


def keep_default_within(viewer: Viewer, settings: Settings, row: ContestRow, body: ContestBody) -> None:
    """Let a new contest of an organiser begin with the bounds where they are below the defaults that it names not."""
    if viewer.is_admin:
        return
    document: SettingsDocument = {**row.settings}
    named = body.settings.model_fields_set
    if "team_bytes" not in named:
        document["team_bytes"] = min(settings.most_team_bytes, TEAM_BYTES)
    if "contest_bytes" not in named:
        document["contest_bytes"] = min(settings.most_contest_bytes, CONTEST_BYTES)
    row.settings = document


def refuse_beyond(viewer: Viewer, settings: Settings, before: ContestSettings | None, row: ContestRow) -> None:
    """Raise BadRequest where an owner raises a limit above its bound; one that an admin has set higher may stay."""
    if viewer.is_admin:
        return
    now = read_settings(row.settings)
    faults = []
    for name, most, old, wanted in (
        ("team_bytes", settings.most_team_bytes, before and before.team_bytes, now.team_bytes),
        ("contest_bytes", settings.most_contest_bytes, before and before.contest_bytes, now.contest_bytes),
    ):
        if (before is None or old != wanted) and (wanted is None or wanted > most):
            actual = "null (any number)" if wanted is None else str(wanted)
            faults.append(
                mismatch(f"settings.{name}", f"at most {most} bytes, as only an admin may allow more", actual)
            )
    refuse(faults)
