"""Accounts: who may log in, as what."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy.orm import Session

from app.accounts.queries import accounts as stored
from app.accounts.queries import roles as stored_roles
from app.accounts.schemas.account_bodies import AccountView, is_id, view
from app.accounts.service.grants import OWNER
from app.accounts.service.viewer import Viewer
from app.contests.service.contests import contest_of
from app.core.bodies import same_id
from app.core.clics import JsonObject
from app.core.errors import BadRequest, NotFound
from app.core.messages import N_
from app.scoreboard.queries.contest_snapshot import ContestSnapshot
from app.tables import AccountRow, ContestRow
from app.teams.queries import teams


def documents(viewer: Viewer, snapshot: ContestSnapshot, session: Session) -> list[JsonObject]:
    """The contest's accounts that this viewer may see, by id."""
    return [each.model_dump() for each in visible(session, viewer, snapshot.contest.id)]


def account_of(session: Session, account_id: str) -> AccountRow:
    """The account; raises NotFound."""
    row = stored.get(session, account_id)
    if row is None:
        raise NotFound(N_("no account %(account)r"), account=account_id)
    return row


def visible(session: Session, viewer: Viewer, contest_id: str) -> list[AccountView]:
    """The accounts of a contest that the viewer may see: judges all, others their own."""
    contest = contest_of(session, contest_id)
    roles = {row.account_id: row.role for row in stored_roles.of_contest(session, contest_id)}
    if viewer.sees_all:
        return [in_contest(row, roles.get(row.id)) for row in of_contest(session, contest, set(roles))]
    return [] if viewer.account_id is None else [in_contest(account_of(session, viewer.account_id), None)]


def of_contest(session: Session, contest: ContestRow, role_ids: Collection[str]) -> list[AccountRow]:
    """The accounts of a contest, by id: those with a role in it, those of its teams, and those without a team.

    Of the latter, those with roles elsewhere are the business of their contests.
    """
    taking_part = {row.id for row in teams.taking_part(session, contest)}
    elsewhere = stored_roles.without_team_elsewhere(session)
    return [
        row
        for row in stored.accounts(session)
        if row.id in role_ids or (row.id not in elsewhere if row.team_id is None else row.team_id in taking_part)
    ]


def in_contest(row: AccountRow, role: str | None) -> AccountView:
    """Show an account as it stands in a contest in which it may have a role."""
    shown = view(row)
    if role is None or row.type == "admin":
        return shown
    return shown.model_copy(update={"type": "admin" if role == OWNER else "judge", "team_id": None})


def check_id(expected: str, sent: str | None) -> None:
    """Raise Conflict for two ids that differ, BadRequest for what is no id."""
    same_id(expected, sent)
    if not is_id(expected):
        raise BadRequest(
            N_("expected letters, digits, . _ or -, at most 36, found %(found)r"), where="id", found=expected[:80]
        )
