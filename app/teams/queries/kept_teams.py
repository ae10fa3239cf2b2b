"""Teams that were made for a contest, which keeps them, and what came with them."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.tables import (
    AccountRow,
    ClarificationRow,
    ContestTeamRow,
    GameRow,
    GroupRow,
    KeptTeamRow,
    OrganizationRow,
    ParticipationRow,
    PersonRow,
    SubmissionRow,
    TeamRow,
)


def keep(session: Session, contest_id: str, team_ids: Iterable[str]) -> None:
    """Let a contest keep teams that have been made for it."""
    session.flush()
    session.add_all(KeptTeamRow(team_id=team_id, contest_id=contest_id) for team_id in team_ids)


def of_contests(session: Session, contest_ids: Collection[str]) -> dict[str, str]:
    """The teams that these contests keep, and which of them does."""
    query = select(KeptTeamRow.team_id, KeptTeamRow.contest_id).where(KeptTeamRow.contest_id.in_(contest_ids))
    return {row[0]: row[1] for row in session.execute(query)}


def in_others(session: Session, contest_ids: Collection[str]) -> set[str]:
    """The teams that are enrolled by name in a contest which is none of these."""
    query = select(ContestTeamRow.team_id).where(ContestTeamRow.contest_id.not_in(contest_ids))
    return set(session.scalars(query))


def competing(session: Session, contest_ids: Collection[str]) -> set[str]:
    """Return the teams that have submitted, played or asked in one of these contests, or whose clock runs there."""
    columns = (
        (SubmissionRow, SubmissionRow.team_id),
        (ParticipationRow, ParticipationRow.team_id),
        (GameRow, GameRow.team_id),
        (ClarificationRow, ClarificationRow.from_team_id),
    )
    queries = [select(team).where(table.contest_id.in_(contest_ids)).distinct() for table, team in columns]
    return {team_id for query in queries for team_id in session.scalars(query) if team_id is not None}


def accounts_of(session: Session, team_ids: Collection[str]) -> list[AccountRow]:
    """The accounts of teams, by id."""
    rows = session.scalars(select(AccountRow).where(AccountRow.team_id.is_not(None)).order_by(AccountRow.id))
    return [row for row in rows if row.team_id in team_ids]


def groups(session: Session, contest_ids: Collection[str], team_ids: Collection[str]) -> set[str]:
    """The groups that contests brought, or that teams are in."""
    brought = session.scalars(select(GroupRow.id).where(GroupRow.contest_id.in_(contest_ids)))
    used = session.execute(select(TeamRow.id, TeamRow.group_ids))
    return {*brought, *(group_id for team_id, ids in used if team_id in team_ids for group_id in ids)}


def organizations(session: Session, contest_ids: Collection[str], team_ids: Collection[str]) -> set[str]:
    """The organizations that contests brought, or that teams are of."""
    brought = session.scalars(select(OrganizationRow.id).where(OrganizationRow.contest_id.in_(contest_ids)))
    used = session.execute(select(TeamRow.id, TeamRow.organization_id).where(TeamRow.organization_id.is_not(None)))
    return {*brought, *(str(organization_id) for team_id, organization_id in used if team_id in team_ids)}


def persons(session: Session, contest_ids: Collection[str], account_rows: Iterable[AccountRow]) -> set[str]:
    """The persons that contests brought, or whose accounts these are."""
    brought = session.scalars(select(PersonRow.id).where(PersonRow.contest_id.in_(contest_ids)))
    return {*brought, *(row.person_id for row in account_rows if row.person_id is not None)}
