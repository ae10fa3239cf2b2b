"""Groups, organizations and persons: which of them a contest shows, and what stands on each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.core.clock import utc_now
from app.problems.queries.scoring_input import clock
from app.tables import AccountRow, ClarificationRow, ContestRow, GroupRow, OrganizationRow, PersonRow, TeamRow
from app.teams.queries import teams

R = TypeVar("R", bound=GroupRow | OrganizationRow | PersonRow)


def groups(session: Session, contest: ContestRow) -> list[GroupRow]:
    """The groups a contest brought, and those its teams are in; all there are where it is open to all."""
    used = {group_id for row in teams.taking_part(session, contest) for group_id in row.group_ids}
    return _shown(session, GroupRow, contest, used | {contest.main_scoreboard_group_id})


def organizations(session: Session, contest: ContestRow) -> list[OrganizationRow]:
    """The organizations a contest brought, and those of its teams; all there are where it is open to all."""
    used = {row.organization_id for row in teams.taking_part(session, contest)}
    return _shown(session, OrganizationRow, contest, used)


def persons(session: Session, contest: ContestRow) -> list[PersonRow]:
    """The persons a contest brought, those in its teams and those who have an account that goes with it.

    All there are where it is open to all.
    """
    team_ids = {row.id for row in teams.taking_part(session, contest)}
    query = select(AccountRow.person_id, AccountRow.team_id).where(AccountRow.person_id.is_not(None))
    used = {person for person, team in session.execute(query) if team is None or team in team_ids}
    if contest.open_to_all:
        return _shown(session, PersonRow, contest, used)
    rows = session.scalars(select(PersonRow).order_by(PersonRow.id)).all()
    used |= {row.id for row in rows if not team_ids.isdisjoint(row.team_ids)}
    return [row for row in rows if row.contest_id == contest.id or row.id in used]


def public_persons(session: Session, contest: ContestRow) -> list[PersonRow]:
    """Return the same without persons of other contests that have not started.

    In a contest open to all these are only those it brought and those whose account has no team, because every team
    takes part there, also those whose own contest has not started.
    """
    rows, now = persons(session, contest), utc_now()
    if contest.open_to_all:
        query = select(AccountRow.person_id).where(AccountRow.person_id.is_not(None), AccountRow.team_id.is_(None))
        without_team = set(session.scalars(query))
        rows = [row for row in rows if row.contest_id == contest.id or row.id in without_team]
    others = {row.contest_id for row in rows} - {contest.id}
    brought = session.scalars(select(ContestRow).where(ContestRow.id.in_(others)))
    secret_ids = {row.id for row in brought if not clock(row).started(now)}
    return [row for row in rows if row.contest_id not in secret_ids]


def _shown(session: Session, table: type[R], contest: ContestRow, used: Iterable[str | None]) -> list[R]:
    rows: Sequence[R] = session.scalars(select(table).order_by(table.id)).all()
    if contest.open_to_all:
        return list(rows)
    wanted = set(used)
    return [row for row in rows if row.contest_id == contest.id or row.id in wanted]


def group_uses(session: Session, group_id: str) -> dict[str, int]:
    """The numbers of rows that refer to a group, by kind."""
    counted = {
        "teams": sum(group_id in ids for ids in session.scalars(select(TeamRow.group_ids))),
        "main scoreboards": session.scalar(
            select(func.count()).select_from(ContestRow).where(ContestRow.main_scoreboard_group_id == group_id)
        )
        or 0,
        "clarifications": sum(
            group_id in (ids or ()) for ids in session.scalars(select(ClarificationRow.to_group_ids))
        ),
    }
    return {name: count for name, count in counted.items() if count}


def organization_uses(session: Session, organization_id: str) -> dict[str, int]:
    """The numbers of rows that refer to an organization, by kind."""
    query = select(func.count()).select_from(TeamRow).where(TeamRow.organization_id == organization_id)
    count = session.scalar(query) or 0
    return {"teams": count} if count else {}


def person_uses(session: Session, person_id: str) -> dict[str, int]:
    """The numbers of rows that refer to a person, by kind."""
    query = select(func.count()).select_from(AccountRow).where(AccountRow.person_id == person_id)
    count = session.scalar(query) or 0
    return {"accounts": count} if count else {}
