"""Roles of accounts per contest and per problem, and the accounts that may make contests of their own."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.tables import (
    AccountRow,
    ContestProblemRow,
    ContestRoleRow,
    ContestRow,
    ContestTeamRow,
    KeptTeamRow,
    OrganiserRow,
    ProblemRoleRow,
    ProblemRow,
    TeamRow,
)

OWNER, JUDGE = "owner", "judge"
RoleRow = ContestRoleRow | ProblemRoleRow


@dataclass(slots=True)
class Roles:
    """The roles of one account, by contest and by problem, and whether it may make contests of its own."""

    contests: dict[str, str] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)
    organiser: bool = False


def roles_of(session: Session, account_ids: Collection[str] | None = None) -> dict[str, Roles]:
    """Return the effective roles of these accounts (default: all) by id, without accounts that have none."""
    roles: defaultdict[str, Roles] = defaultdict(Roles)
    contests = select(ContestRoleRow).where(ContestRoleRow.pending.is_(None))
    problems = select(ProblemRoleRow).where(ProblemRoleRow.pending.is_(None))
    organisers = select(OrganiserRow.account_id)
    if account_ids is not None:
        contests = contests.where(ContestRoleRow.account_id.in_(account_ids))
        problems = problems.where(ProblemRoleRow.account_id.in_(account_ids))
        organisers = organisers.where(OrganiserRow.account_id.in_(account_ids))
    for in_contest in session.scalars(contests):
        roles[in_contest.account_id].contests[in_contest.contest_id] = in_contest.role
    for at_problem in session.scalars(problems):
        roles[at_problem.account_id].problems[at_problem.problem_id] = at_problem.role
    for account_id in session.scalars(organisers):
        roles[account_id].organiser = True
    return dict(roles)


def of_contest(session: Session, contest_id: str, *, with_pending: bool = False) -> Sequence[ContestRoleRow]:
    """Return the effective roles in a contest by account, and the pending ones if asked for."""
    query = select(ContestRoleRow).where(ContestRoleRow.contest_id == contest_id)
    if not with_pending:
        query = query.where(ContestRoleRow.pending.is_(None))
    return session.scalars(query.order_by(ContestRoleRow.account_id)).all()


def of_problem(session: Session, problem_id: str) -> Sequence[ProblemRoleRow]:
    """Return the roles at a problem by account, pending ones included."""
    query = select(ProblemRoleRow).where(ProblemRoleRow.problem_id == problem_id)
    return session.scalars(query.order_by(ProblemRoleRow.account_id)).all()


def pending_of(session: Session, account_id: str) -> list[RoleRow]:
    """Return the roles that an account has not accepted yet, those in contests first."""
    rows: list[RoleRow] = []
    for table in (ContestRoleRow, ProblemRoleRow):
        query = select(table).where(table.account_id == account_id, table.pending.is_not(None))
        rows += session.scalars(query.order_by(table.granted))
    return rows


def organisers(session: Session) -> Sequence[OrganiserRow]:
    """The accounts that may make contests of their own, by id."""
    return session.scalars(select(OrganiserRow).order_by(OrganiserRow.account_id)).all()


def without_team_elsewhere(session: Session) -> set[str]:
    """The ids of the accounts that make contests or have a role in any, but for the server's admins and judges."""
    in_contests = select(ContestRoleRow.account_id).where(ContestRoleRow.pending.is_(None))
    ids = in_contests.union(select(OrganiserRow.account_id))
    everywhere = select(AccountRow.id).where(AccountRow.type.in_(("admin", "judge")))
    return set(session.scalars(ids)) - set(session.scalars(everywhere))


def named(session: Session, name: str) -> AccountRow | None:
    """The account with this id, or with this username."""
    row = session.get(AccountRow, name)
    return row or session.scalars(select(AccountRow).where(AccountRow.username == name)).one_or_none()


def uuids_by_contest(session: Session, contest_ids: Collection[str]) -> dict[str, set[str]]:
    """The uuids of the problems of contests; versions of a problem have the same."""
    query = select(ContestProblemRow.contest_id, ProblemRow.uuid).join(
        ProblemRow, ProblemRow.id == ContestProblemRow.problem_id
    )
    uuids: defaultdict[str, set[str]] = defaultdict(set)
    for contest_id, uuid in session.execute(query.where(ContestProblemRow.contest_id.in_(contest_ids))):
        uuids[contest_id].add(uuid)
    return uuids


def uuids_of(session: Session, problem_ids: Collection[str]) -> dict[str, str]:
    """The uuids of problems by id."""
    query = select(ProblemRow.id, ProblemRow.uuid).where(ProblemRow.id.in_(problem_ids))
    return {row[0]: row[1] for row in session.execute(query)}


def contests_of_team(session: Session, team_id: str) -> Sequence[ContestRow]:
    """The contests in which a team takes part: those it is enrolled in, and those open to all."""
    enrolled = select(ContestTeamRow.contest_id).where(ContestTeamRow.team_id == team_id)
    query = select(ContestRow).where(ContestRow.open_to_all | ContestRow.id.in_(enrolled))
    return session.scalars(query.order_by(ContestRow.id)).all()


def enrolled(session: Session, team_id: str) -> set[str]:
    """The contests in which a team is enrolled by name."""
    return set(session.scalars(select(ContestTeamRow.contest_id).where(ContestTeamRow.team_id == team_id)))


def teams_of_contests(session: Session, contest_ids: Collection[str]) -> Sequence[TeamRow]:
    """The teams that are enrolled in one of these contests, or were made for it, by id."""
    enrolled_ids = select(ContestTeamRow.team_id).where(ContestTeamRow.contest_id.in_(contest_ids))
    kept_ids = select(KeptTeamRow.team_id).where(KeptTeamRow.contest_id.in_(contest_ids))
    ids = enrolled_ids.union(kept_ids)
    return session.scalars(select(TeamRow).where(TeamRow.id.in_(ids)).order_by(TeamRow.id)).all()


def revoke_in_contest(session: Session, contest_id: str, account_id: str) -> bool:
    """Delete the role of an account in a contest; False if it had none."""
    row = session.get(ContestRoleRow, (contest_id, account_id))
    if row is not None:
        session.delete(row)
    return row is not None


def revoke_at_problem(session: Session, problem_id: str, account_id: str) -> bool:
    """Delete the role of an account at a problem; False if it had none."""
    row = session.get(ProblemRoleRow, (problem_id, account_id))
    if row is not None:
        session.delete(row)
    return row is not None
