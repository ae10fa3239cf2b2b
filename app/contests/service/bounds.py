"""Bounds on what owners of contests let teams send: admins of the server set them, and are not bound."""

from __future__ import annotations

from app.accounts.service.viewer import Viewer
from app.contests.schemas.bodies import ContestBody
from app.contests.schemas.settings import CONTEST_BYTES, TEAM_BYTES, ContestSettings
from app.core.bodies import mismatch, refuse
from app.core.messages import N_, Message
from app.core.settings import Settings
from app.tables import ContestRow


def keep_default_within(viewer: Viewer, settings: Settings, row: ContestRow, body: ContestBody) -> None:
    """Let a new contest of an organiser begin with the bounds where they are below the defaults that it names not."""
    if viewer.is_admin:
        return
    bounds = {
        "team_bytes": min(settings.most_team_bytes, TEAM_BYTES),
        "contest_bytes": min(settings.most_contest_bytes, CONTEST_BYTES),
    }
    named = body.settings.model_fields_set
    unnamed = {name: bound for name, bound in bounds.items() if name not in named}
    row.settings = row.settings.model_copy(update=unnamed)


def refuse_beyond(viewer: Viewer, settings: Settings, before: ContestSettings | None, row: ContestRow) -> None:
    """Raise BadRequest where an owner raises a limit above its bound; one that an admin has set higher may stay."""
    if viewer.is_admin:
        return
    now = row.settings
    faults = []
    for name, most, old, wanted in (
        ("team_bytes", settings.most_team_bytes, before and before.team_bytes, now.team_bytes),
        ("contest_bytes", settings.most_contest_bytes, before and before.contest_bytes, now.contest_bytes),
    ):
        if (before is None or old != wanted) and (wanted is None or wanted > most):
            actual = Message(N_("null (any number)")) if wanted is None else str(wanted)
            faults.append(
                mismatch(
                    f"settings.{name}",
                    Message(N_("at most %(most)s bytes, as only an admin may allow more"), most=most),
                    actual,
                )
            )
    refuse(faults)
