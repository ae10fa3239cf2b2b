"""Commands and queries on roles: who may make contests, and who is owner or judge of a contest or a problem.

A role that an owner grants to an account outside its reach is pending: an invitation, which the account accepts or
declines. Otherwise any owner could change where an account of others stands.

- The audit log as admins read it, and owners for their contest: filtered, newest first, page by page.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from pydantic import BaseModel, Field
from sqlalchemy.orm import Session

from app.accounts import queries as accounts_queries
from app.accounts.queries import AuditFilter, RoleRow
from app.accounts.service.grants import NO_GRANTS, Granted, grants_of_all
from app.accounts.service.reach import reach_of
from app.accounts.service.viewer import Viewer
from app.contests.queries import contest_of
from app.core.bodies import Body
from app.core.clics import Time, format_time
from app.core.clock import utc_now
from app.core.errors import Conflict, NotFound
from app.core.messages import N_
from app.problems.queries.problems import existing
from app.tables import AccountRow, AuditRow, ContestRoleRow, ContestRow, OrganiserRow, ProblemRoleRow, ProblemRow

Kind = Literal["contests", "problems"]


class RoleBody(Body):
    """A role to be given to an account."""

    role: Granted = Field(description="an owner changes everything and grants roles, a judge sees everything")


class RoleView(BaseModel):
    """The role of an account. One that `rests` gives nothing until the account's team competes no more.

    One that is `pending` gives nothing until the account accepts it. Until then `account_id` and `username` are both
    what the owner typed.
    """

    account_id: str
    username: str
    name: str | None
    role: str
    rests: bool
    pending: bool
    granted_by: str | None
    granted: str


class Invitation(BaseModel):
    """A role that an account may accept or decline, in a contest or at a problem with this id and name."""

    kind: Kind
    id: str
    name: str
    role: str
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
    return _views(session, accounts_queries.of_contest(session, contest_id, with_pending=True), contest_id)


def at_problem(session: Session, problem_id: str) -> list[RoleView]:
    """The roles at a problem, by account; raises NotFound."""
    existing(session, problem_id)
    return _views(session, accounts_queries.of_problem(session, problem_id), problem_id)


def grant_in_contest(session: Session, viewer: Viewer, contest_id: str, name: str, body: RoleBody) -> RoleView:
    """Give an account, named by id or username, a role in a contest; raises NotFound or Conflict."""
    contest_of(session, contest_id)
    account = _grantee(session, name)
    row = session.get(ContestRoleRow, (contest_id, account.id), with_for_update=True)
    row = row or ContestRoleRow(contest_id=contest_id, account_id=account.id)
    return _granted(session, viewer, row, body.role, name, contest_id)


def grant_at_problem(session: Session, viewer: Viewer, problem_id: str, name: str, body: RoleBody) -> RoleView:
    """Give an account, named by id or username, a role at a problem; raises NotFound or Conflict."""
    existing(session, problem_id)
    account = _grantee(session, name)
    row = session.get(ProblemRoleRow, (problem_id, account.id), with_for_update=True)
    row = row or ProblemRoleRow(problem_id=problem_id, account_id=account.id)
    return _granted(session, viewer, row, body.role, name, problem_id)


def revoke_in_contest(session: Session, contest_id: str, name: str) -> None:
    """Take the role of an account in a contest back; raises NotFound where it has none."""
    contest_of(session, contest_id)
    account = accounts_queries.named(session, name)
    if account is None or not accounts_queries.revoke_in_contest(session, contest_id, account.id):
        raise NotFound(N_("account %(account)r has no role in contest %(contest)r"), account=name, contest=contest_id)


def revoke_at_problem(session: Session, problem_id: str, name: str) -> None:
    """Take the role of an account at a problem back; raises NotFound where it has none."""
    existing(session, problem_id)
    account = accounts_queries.named(session, name)
    if account is None or not accounts_queries.revoke_at_problem(session, problem_id, account.id):
        raise NotFound(N_("account %(account)r has no role at problem %(problem)r"), account=name, problem=problem_id)


def invitations(session: Session, viewer: Viewer) -> list[Invitation]:
    """Return the roles that the viewer's account has not accepted yet."""
    return [_invitation(session, row) for row in accounts_queries.pending_of(session, str(viewer.account_id))]


def accept(session: Session, viewer: Viewer, kind: Kind, object_id: str) -> RoleView:
    """Make a pending role of the viewer's account effective; raises NotFound."""
    row = _pending(session, viewer, kind, object_id)
    row.pending = None
    session.flush()
    return _views(session, [row], object_id)[0]


def decline(session: Session, viewer: Viewer, kind: Kind, object_id: str) -> None:
    """Delete a pending role of the viewer's account; raises NotFound."""
    session.delete(_pending(session, viewer, kind, object_id))


def organisers(session: Session) -> list[OrganiserView]:
    """The accounts that may make contests or have a role anywhere, by id."""
    roles = accounts_queries.roles_of(session)
    rows = [row for row in accounts_queries.accounts(session) if row.id in roles]
    return [_organiser(row, roles[row.id]) for row in rows]


def allow(session: Session, viewer: Viewer, name: str) -> OrganiserView:
    """Let an account, named by id or username, make contests and problems of its own; raises NotFound or Conflict."""
    account = _grantee(session, name)
    if session.get(OrganiserRow, account.id) is None:
        session.add(OrganiserRow(account_id=account.id, granted_by=viewer.account_id, granted=utc_now()))
        session.flush()
    return _organiser(account, accounts_queries.roles_of(session, [account.id])[account.id])


def disallow(session: Session, name: str) -> None:
    """Let an account make no more contests; its roles stay. Raises NotFound where it may not make any."""
    account = _account(session, name)
    row = session.get(OrganiserRow, account.id)
    if row is None:
        raise NotFound(N_("account %(account)r may not make contests"), account=account.id)
    session.delete(row)


def _account(session: Session, name: str) -> AccountRow:
    row = accounts_queries.named(session, name)
    if row is None:
        raise NotFound(N_("no account %(account)r"), account=name)
    return row


def _grantee(session: Session, name: str) -> AccountRow:
    """The account that gets a role; raises Conflict for one of the server's admins, whose rights are greater."""
    account = _account(session, name)
    if account.type == "admin":
        raise Conflict(N_("account %(account)r is an admin of the server, who may do everything already"), account=name)
    return account


def _granted(session: Session, viewer: Viewer, row: RoleRow, role: str, name: str, object_id: str) -> RoleView:
    """Grant a role to the account that the viewer named; one in effect changes at once, others as reach decides."""
    reach, is_in_effect = reach_of(session, viewer), row in session and row.pending is None
    pending = None if is_in_effect or reach.within([row.account_id], reach.accounts) else name
    if (row.role, row.pending) != (role, pending):
        row.role, row.pending, row.granted_by, row.granted = role, pending, viewer.account_id, utc_now()
    session.add(row)
    session.flush()
    return _views(session, [row], object_id)[0]


def _pending(session: Session, viewer: Viewer, kind: Kind, object_id: str) -> RoleRow:
    row: RoleRow | None
    key = object_id, str(viewer.account_id)
    if kind == "contests":
        row = session.get(ContestRoleRow, key, with_for_update=True)
    else:
        row = session.get(ProblemRoleRow, key, with_for_update=True)
    if row is None or row.pending is None:
        raise NotFound(N_("no invitation to %(kind)s/%(id)s"), kind=kind, id=object_id)
    return row


def _invitation(session: Session, row: RoleRow) -> Invitation:
    kind: Kind
    if isinstance(row, ContestRoleRow):
        kind, object_id = "contests", row.contest_id
        name = session.get_one(ContestRow, object_id).name
    else:
        kind, object_id = "problems", row.problem_id
        names = session.get_one(ProblemRow, object_id).names
        name = names.get("en") or next(iter(names.values()), object_id)
    granted = format_time(row.granted)
    return Invitation(kind=kind, id=object_id, name=name, role=row.role, granted_by=row.granted_by, granted=granted)


def _views(session: Session, rows: Sequence[RoleRow], object_id: str) -> list[RoleView]:
    known = {row.account_id: session.get_one(AccountRow, row.account_id) for row in rows if row.pending is None}
    grants = grants_of_all(session, list(known.values()))
    return [
        _view(row, known.get(row.account_id), object_id in grants.get(row.account_id, NO_GRANTS).resting)
        for row in rows
    ]


def _view(row: RoleRow, account: AccountRow | None, rests: bool) -> RoleView:
    return RoleView(
        account_id=row.pending or row.account_id,
        username=str(row.pending) if account is None else account.username,
        name=None if account is None else account.name,
        role=row.role,
        rests=rests,
        pending=row.pending is not None,
        granted_by=row.granted_by,
        granted=format_time(row.granted),
    )


def _organiser(account: AccountRow, roles: accounts_queries.Roles) -> OrganiserView:
    return OrganiserView(
        account_id=account.id,
        username=account.username,
        name=account.name,
        organiser=roles.organiser,
        contests=roles.contests,
        problems=roles.problems,
    )


MOST_AT_ONCE = 1000


class AuditEntry(BaseModel):
    """A change: when, by whom, from where, what was asked for, and what became different.

    `changes.objects` are the first rows that changed, each with its values before and after; `changes.counts` counts
    all by table. Secrets are `(hidden)`.
    """

    id: str
    time: Time
    account_id: str | None
    username: str
    role: str = Field(description="as which it acted: admin, owner, judge, or the account's type")
    address: str
    credential: str = Field(description="`password`, `token` with the token's id, or `job` with the job's id")
    operation: str
    method: str
    path: str
    contest_id: str | None
    problem_id: str | None
    changes: dict[str, object]


@dataclass(frozen=True, slots=True)
class AuditQuery:
    """What of the log is asked for; `before` is the id of an entry: only older ones."""

    actor: str | None = None
    operation: str | None = None
    since: datetime | None = None
    before: int | None = None
    limit: int = 100


def listed(session: Session, query: AuditQuery, contest_id: str | None) -> list[AuditEntry]:
    """The entries, newest first."""
    wanted = AuditFilter(query.actor, contest_id, query.operation, query.since, query.before)
    return [_view_of_audit(row) for row in accounts_queries.entries(session, wanted, min(query.limit, MOST_AT_ONCE))]


def of_contest(session: Session, query: AuditQuery, contest_id: str) -> list[AuditEntry]:
    """The entries of a contest, newest first; raises NotFound."""
    contest_of(session, contest_id)
    return listed(session, query, contest_id)


def _view_of_audit(row: AuditRow) -> AuditEntry:
    columns = {name: getattr(row, name) for name in AuditEntry.model_fields}
    return AuditEntry.model_construct(**{**columns, "id": str(row.id)})
