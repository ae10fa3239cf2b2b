"""Commands and queries on roles: who may make contests, and who is owner or judge of a contest or a problem.

Owners grant roles to accounts without a team and to those in their reach: a role takes the place of the account's team
in the contest, and takes the account out of the reach of other owners. Admins grant roles to any account.

- The audit log as admins read it, and owners for their contest: filtered, newest first, page by page.
"""

from collections.abc import Sequence
from dataclasses import asdict

from pydantic import BaseModel, Field
from sqlalchemy.orm import Session

from app.accounts import queries as accounts_queries
from app.accounts.schemas import AuditFilter, ContestAuditFilter, RoleKind
from app.accounts.service.grants import NO_GRANTS, OWNER, Granted, grants_of_all
from app.accounts.service.reach import reach_of
from app.accounts.service.viewer import Viewer
from app.accounts.tables import RoleRow
from app.contests.queries import contest_of
from app.core import bodies, clics, clock
from app.core.db.locks import lock_names
from app.core.messages import N_, Conflict, Forbidden, NotFound
from app.problems.queries.problems import existing
from app.tables import AccountRow, OrganiserRow


class RoleBody(bodies.Body):
    """A role to be given to an account."""

    role: Granted = Field(description="an owner changes everything and grants roles, a judge sees everything")


class RoleView(BaseModel):
    """The role of an account. `rests`: it is suspended while the account's team competes."""

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


def roles_at(session: Session, kind: RoleKind, object_id: str) -> list[RoleView]:
    """The roles in a contest or at a problem, by account; raises NotFound."""
    _check_exists(session, kind, object_id)
    return _views(session, accounts_queries.roles_at(session, kind, object_id), object_id)


def grant(session: Session, viewer: Viewer, kind: RoleKind, object_id: str, name: str, body: RoleBody) -> RoleView:
    """Give an account, named by id or username, a role in a contest or at a problem.

    Raises NotFound, Conflict for an admin, or Forbidden for a team's account outside the viewer's reach.
    """
    _check_exists(session, kind, object_id)
    account = _grantee(session, name)
    row = accounts_queries.role_at(session, kind, object_id, account.id)
    if row is None:
        reach = reach_of(session, viewer)
        if account.team_id is not None and not reach.within([account.id], reach.accounts):
            raise Forbidden(N_("only an admin may give a role to the account of a team that you did not make"))
        row = accounts_queries.ROLES[kind](object_id=object_id, account_id=account.id)
    if kind == "contests" and body.role != OWNER:
        _keep_owner(session, viewer, object_id, account.id)
    if row.role != body.role:
        row.role, row.granted_by, row.granted = body.role, viewer.account_id, clock.utc_now()
    session.add(row)
    session.flush()
    return _views(session, [row], object_id)[0]


def revoke(session: Session, viewer: Viewer, kind: RoleKind, object_id: str, name: str) -> None:
    """Revoke the role of an account in a contest or at a problem; raises NotFound where it has none, or Conflict."""
    _check_exists(session, kind, object_id)
    account = accounts_queries.named(session, name)
    row = None if account is None else accounts_queries.role_at(session, kind, object_id, account.id)
    if row is None and kind == "contests":
        raise NotFound(N_("account %(account)r has no role in contest %(contest)r"), account=name, contest=object_id)
    if row is None:
        raise NotFound(N_("account %(account)r has no role at problem %(problem)r"), account=name, problem=object_id)
    if kind == "contests":
        _keep_owner(session, viewer, object_id, row.account_id)
    session.delete(row)


def _keep_owner(session: Session, viewer: Viewer, contest_id: str, account_id: str) -> None:
    """Raise Conflict where an owner takes the role of the only owner, which then only an admin could give back."""
    if viewer.is_admin:
        return
    lock_names(session, [f"owners of {contest_id}"])  # of two owners who revoke each other, one is refused
    rows = accounts_queries.roles_at(session, "contests", contest_id)
    if [row.account_id for row in rows if row.role == OWNER] == [account_id]:
        raise Conflict(
            N_("account %(account)r is the only owner; make another account owner first"), account=account_id
        )


def organisers(session: Session) -> list[OrganiserView]:
    """The accounts that may make contests or have a role anywhere, by id."""
    roles = accounts_queries.roles_of(session)
    rows = [row for row in accounts_queries.accounts(session) if row.id in roles]
    return [_organiser(row, roles[row.id]) for row in rows]


def allow(session: Session, viewer: Viewer, name: str) -> OrganiserView:
    """Let an account, named by id or username, make contests and problems of its own; raises NotFound or Conflict."""
    account = _grantee(session, name)
    if session.get(OrganiserRow, account.id) is None:
        session.add(OrganiserRow(account_id=account.id, granted_by=viewer.account_id, granted=clock.utc_now()))
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


def _check_exists(session: Session, kind: RoleKind, object_id: str) -> None:
    if kind == "contests":
        contest_of(session, object_id)
    else:
        existing(session, object_id)


def _views(session: Session, rows: Sequence[RoleRow], object_id: str) -> list[RoleView]:
    accounts = {row.account_id: session.get_one(AccountRow, row.account_id) for row in rows}
    grants = grants_of_all(session, list(accounts.values()))
    return [
        RoleView(
            account_id=row.account_id,
            username=accounts[row.account_id].username,
            name=accounts[row.account_id].name,
            role=row.role,
            rests=object_id in grants.get(row.account_id, NO_GRANTS).resting,
            granted_by=row.granted_by,
            granted=clics.format_time(row.granted),
        )
        for row in rows
    ]


def _organiser(account: AccountRow, roles: accounts_queries.Roles) -> OrganiserView:
    return OrganiserView(
        account_id=account.id,
        username=account.username,
        name=account.name,
        organiser=roles.organiser,
        contests=roles.contests,
        problems=roles.problems,
    )


class AuditEntry(BaseModel):
    """A change: when, by whom, from where, the request, and the changes.

    `changes.objects` are the first rows that changed, each with its values before and after; `changes.counts` counts
    all by table. Secrets are `(hidden)`.
    """

    id: str
    time: clics.Time
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


def listed_of_contest(session: Session, contest_id: str, wanted: ContestAuditFilter) -> list[AuditEntry]:
    """The entries of a contest that exists; raises NotFound."""
    contest_of(session, contest_id)
    return listed(session, AuditFilter(**asdict(wanted), contest_id=contest_id))


def listed(session: Session, wanted: AuditFilter) -> list[AuditEntry]:
    """The entries, newest first; they outlive what they name."""
    names = AuditEntry.model_fields.keys() - {"id"}
    return [
        AuditEntry.model_construct(id=str(row.id), **{name: getattr(row, name) for name in names})
        for row in accounts_queries.entries(session, wanted)
    ]
