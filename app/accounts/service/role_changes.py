"""Commands and queries on roles: who may make contests, and who is owner or judge of a contest or a problem."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel, Field
from sqlalchemy.orm import Session

from app.accounts.queries import accounts
from app.accounts.queries import roles as stored
from app.accounts.service.grants import Granted, grants_of_all
from app.accounts.service.viewer import Viewer
from app.authoring.service.packages import existing
from app.contests.service.contests import contest_of
from app.core.bodies import Body
from app.core.clics import format_time
from app.core.clock import utc_now
from app.core.errors import Conflict, NotFound
from app.core.messages import N_
from app.tables import AccountRow, ContestRoleRow, OrganiserRow, ProblemRoleRow


class RoleBody(Body):
    """A role to be given to an account."""

    role: Granted = Field(description="an owner changes everything and grants roles, a judge sees everything")


class RoleView(BaseModel):
    """The role of an account. One that `rests` gives nothing until the account's team competes no more."""

    account_id: str
    username: str
    name: str | None
    role: str
    rests: bool
    granted_by: str | None
    granted: str


class OrganiserView(BaseModel):
    """An account with roles: whether it may make contests (`organiser`), and its roles by contest and by problem."""

    account_id: str
    username: str
    name: str | None
    organiser: bool
    contests: dict[str, str]
    problems: dict[str, str]


def in_contest(session: Session, contest_id: str) -> list[RoleView]:
    """The roles in a contest, by account; raises NotFound."""
    contest_of(session, contest_id)
    return _views(session, stored.of_contest(session, contest_id), contest_id)


def at_problem(session: Session, problem_id: str) -> list[RoleView]:
    """The roles at a problem, by account; raises NotFound."""
    existing(session, problem_id)
    return _views(session, stored.of_problem(session, problem_id), problem_id)


def grant_in_contest(session: Session, viewer: Viewer, contest_id: str, name: str, body: RoleBody) -> RoleView:
    """Give an account, named by id or username, a role in a contest; raises NotFound or Conflict."""
    contest_of(session, contest_id)
    account = _grantee(session, name)
    row = session.get(ContestRoleRow, (contest_id, account.id))
    row = row or ContestRoleRow(contest_id=contest_id, account_id=account.id)
    return _granted(session, viewer, row, body.role, contest_id)


def grant_at_problem(session: Session, viewer: Viewer, problem_id: str, name: str, body: RoleBody) -> RoleView:
    """Give an account, named by id or username, a role at a problem; raises NotFound or Conflict."""
    existing(session, problem_id)
    account = _grantee(session, name)
    row = session.get(ProblemRoleRow, (problem_id, account.id))
    row = row or ProblemRoleRow(problem_id=problem_id, account_id=account.id)
    return _granted(session, viewer, row, body.role, problem_id)


def revoke_in_contest(session: Session, contest_id: str, name: str) -> None:
    """Take the role of an account in a contest back; raises NotFound where it has none."""
    contest_of(session, contest_id)
    account = _account(session, name)
    if not stored.revoke_in_contest(session, contest_id, account.id):
        raise NotFound(
            N_("account %(account)r has no role in contest %(contest)r"), account=account.id, contest=contest_id
        )


def revoke_at_problem(session: Session, problem_id: str, name: str) -> None:
    """Take the role of an account at a problem back; raises NotFound where it has none."""
    existing(session, problem_id)
    account = _account(session, name)
    if not stored.revoke_at_problem(session, problem_id, account.id):
        raise NotFound(
            N_("account %(account)r has no role at problem %(problem)r"), account=account.id, problem=problem_id
        )


def organisers(session: Session) -> list[OrganiserView]:
    """The accounts that may make contests or have a role anywhere, by id."""
    roles = stored.roles_of(session)
    rows = [row for row in accounts.accounts(session) if row.id in roles]
    return [_organiser(row, roles[row.id]) for row in rows]


def allow(session: Session, viewer: Viewer, name: str) -> OrganiserView:
    """Let an account, named by id or username, make contests and problems of its own; raises NotFound or Conflict."""
    account = _grantee(session, name)
    if session.get(OrganiserRow, account.id) is None:
        session.add(OrganiserRow(account_id=account.id, granted_by=viewer.account_id, granted=utc_now()))
        session.flush()
    return _organiser(account, stored.roles_of(session, [account.id])[account.id])


def disallow(session: Session, name: str) -> None:
    """Let an account make no more contests; its roles stay. Raises NotFound where it may not make any."""
    account = _account(session, name)
    row = session.get(OrganiserRow, account.id)
    if row is None:
        raise NotFound(N_("account %(account)r may not make contests"), account=account.id)
    session.delete(row)


def _account(session: Session, name: str) -> AccountRow:
    row = stored.named(session, name)
    if row is None:
        raise NotFound(N_("no account %(account)r"), account=name)
    return row


def _grantee(session: Session, name: str) -> AccountRow:
    """The account that gets a role; raises Conflict for one of the server's admins, whose rights are greater."""
    account = _account(session, name)
    if account.type == "admin":
        raise Conflict(
            N_("account %(account)r is an admin of the server, who may do everything already"), account=account.id
        )
    return account


def _granted(
    session: Session, viewer: Viewer, row: ContestRoleRow | ProblemRoleRow, role: str, object_id: str
) -> RoleView:
    if row.role != role:
        row.role, row.granted_by, row.granted = role, viewer.account_id, utc_now()
    session.add(row)
    session.flush()
    return _views(session, [row], object_id)[0]


def _views(session: Session, rows: Sequence[ContestRoleRow | ProblemRoleRow], object_id: str) -> list[RoleView]:
    known = {row.account_id: session.get_one(AccountRow, row.account_id) for row in rows}
    grants = grants_of_all(session, list(known.values()))
    return [_view(row, known[row.account_id], object_id in grants[row.account_id].resting) for row in rows]


def _view(row: ContestRoleRow | ProblemRoleRow, account: AccountRow, rests: bool) -> RoleView:
    return RoleView(
        account_id=account.id,
        username=account.username,
        name=account.name,
        role=row.role,
        rests=rests,
        granted_by=row.granted_by,
        granted=format_time(row.granted),
    )


def _organiser(account: AccountRow, roles: stored.Roles) -> OrganiserView:
    return OrganiserView(
        account_id=account.id,
        username=account.username,
        name=account.name,
        organiser=roles.organiser,
        contests=roles.contests,
        problems=roles.problems,
    )
