"""Accounts: who may log in, as what."""

from __future__ import annotations

from sqlalchemy.orm import Session

from app.grading.contest_snapshot import ContestSnapshot
from app.services.bodies import same_id
from app.services.clics import JsonObject
from app.services.contests.contests import contest_of
from app.services.errors import BadRequest, NotFound
from app.services.people.account_bodies import is_id, view
from app.services.viewer import Viewer
from app.storage import accounts as stored
from app.storage import teams
from app.storage.tables import AccountRow


def documents(viewer: Viewer, snapshot: ContestSnapshot, session: Session) -> list[JsonObject]:
    """The contest's accounts that this viewer may see, by id."""
    return [view(row).model_dump() for row in visible(session, viewer, snapshot.contest.id)]


def account_of(session: Session, account_id: str) -> AccountRow:
    """The account; raises NotFound."""
    row = stored.get(session, account_id)
    if row is None:
        raise NotFound(f"no account {account_id!r}")
    return row


def visible(session: Session, viewer: Viewer, contest_id: str) -> list[AccountRow]:
    """The accounts of a contest that the viewer may see: judges all, others their own."""
    contest = contest_of(session, contest_id)
    if viewer.sees_all:
        taking_part = {row.id for row in teams.taking_part(session, contest)}
        return [row for row in stored.accounts(session) if row.team_id is None or row.team_id in taking_part]
    return [] if viewer.account_id is None else [account_of(session, viewer.account_id)]


def check_id(expected: str, sent: str | None) -> None:
    """Raise Conflict for two ids that differ, BadRequest for what is no id."""
    same_id(expected, sent)
    if not is_id(expected):
        raise BadRequest(f"id: expected letters, digits, . _ or -, at most 36, found {expected[:80]!r}")
