"""Queries of accounts, their tokens and roles, of registrations and of the audit log."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import cast

from sqlalchemy import CursorResult, delete, or_, select
from sqlalchemy.orm import Session

from app.accounts.schemas import AuditFilter, RoleKind
from app.accounts.tables import RoleRow
from app.core.db import by_id
from app.tables import (
    AccountRow,
    AuditRow,
    ClarificationRow,
    CommentaryRow,
    ContestProblemRow,
    ContestRoleRow,
    ContestTeamRow,
    GameRow,
    JobRow,
    OrganiserRow,
    ProblemRoleRow,
    ProblemRow,
    RegisteredRow,
    RegistrationRow,
    SubmissionRow,
    TokenRow,
)

AT_ONCE = 500


def by_username(session: Session, username: str) -> AccountRow | None:
    """The account that logs in with this name."""
    return session.scalars(select(AccountRow).where(AccountRow.username == username)).one_or_none()


def by_token(
    session: Session, digest: str, now: datetime, *, is_reset: bool = False
) -> tuple[AccountRow, TokenRow] | None:
    """The account whose token (or reset code) has this sha256 and has not expired, and the token."""
    row = session.execute(
        select(AccountRow, TokenRow)
        .join(TokenRow, TokenRow.account_id == AccountRow.id)
        .where(TokenRow.digest == digest, or_(TokenRow.expires.is_(None), TokenRow.expires > now))
        .where(TokenRow.issued_by.is_not(None) if is_reset else TokenRow.issued_by.is_(None))
    ).one_or_none()
    return None if row is None else (row[0], row[1])


def live_tokens(session: Session, digests: Iterable[str | None], now: datetime) -> set[str]:
    """The digests among these that belong to tokens which have not expired."""
    wanted = sorted({each for each in digests if each is not None})
    live: set[str] = set()
    for at in range(0, len(wanted), AT_ONCE):
        query = select(TokenRow.digest).where(TokenRow.digest.in_(wanted[at : at + AT_ONCE]))
        live |= set(session.scalars(query.where(or_(TokenRow.expires.is_(None), TokenRow.expires > now))))
    return live


def accounts(session: Session) -> Sequence[AccountRow]:
    """All accounts, by id."""
    return session.scalars(select(AccountRow).order_by(AccountRow.id)).all()


def usernames(session: Session) -> dict[str, str]:
    """Every username and whose it is, by the account's id."""
    return {row[0]: row[1] for row in session.execute(select(AccountRow.username, AccountRow.id))}


def with_passwords(session: Session) -> set[str]:
    """The ids of the accounts that have a password."""
    return set(session.scalars(select(AccountRow.id).where(AccountRow.password_hash.is_not(None))))


def only_one(session: Session) -> bool:
    """Whether there is a single account: the admin's, that a new server makes."""
    return len(session.scalars(select(AccountRow.id).limit(2)).all()) == 1


def admin_count(session: Session) -> int:
    """The number of admins that can log in."""
    return by_id.count(session, AccountRow, AccountRow.type == "admin", AccountRow.password_hash.is_not(None))


def uses(session: Session, account_id: str) -> dict[str, int]:
    """The numbers of rows that refer to an account and would be lost without it, by kind."""
    counted = {
        "submissions": by_id.count(session, SubmissionRow, SubmissionRow.account_id == account_id),
        "jobs": by_id.count(session, JobRow, JobRow.account_id == account_id),
        "clarifications": by_id.count(session, ClarificationRow, ClarificationRow.account_id == account_id),
        "commentary": by_id.count(session, CommentaryRow, CommentaryRow.account_id == account_id),
        # Games for practice are deleted with it.
        "games": by_id.count(session, GameRow, GameRow.account_id == account_id, GameRow.counted.is_(True)),
    }
    return {name: count for name, count in counted.items() if count}


def tokens(session: Session, account_id: str) -> Sequence[TokenRow]:
    """An account's tokens, oldest first, without reset codes."""
    query = select(TokenRow).where(TokenRow.account_id == account_id, TokenRow.issued_by.is_(None))
    return session.scalars(query.order_by(TokenRow.created, TokenRow.digest)).all()


def remove_resets(session: Session, account_id: str) -> None:
    """Delete an account's reset codes."""
    session.execute(delete(TokenRow).where(TokenRow.account_id == account_id, TokenRow.issued_by.is_not(None)))


def remove_tokens(session: Session, account_id: str, beginning: str = "", *, but: str | None = None) -> int:
    """Delete an account's tokens whose digest begins so, all by default, `but` one; returns how many there were."""
    query = delete(TokenRow).where(TokenRow.account_id == account_id)
    if but is not None:
        query = query.where(TokenRow.digest != but)
    if beginning:
        query = query.where(TokenRow.digest.startswith(beginning, autoescape=True))
    result = cast("CursorResult[object]", session.execute(query))
    by_id.tell(session, by_id.Kind.ACCOUNT, account_id)
    return result.rowcount


OWNER, JUDGE = "owner", "judge"
ROLES: dict[RoleKind, type[RoleRow]] = {"contests": ContestRoleRow, "problems": ProblemRoleRow}


@dataclass(slots=True)
class Roles:
    """The roles of one account, by contest and by problem, and whether it may make contests of its own."""

    contests: dict[str, str] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)
    organiser: bool = False

    def are_within(self, contest_ids: Collection[str]) -> bool:
        """Whether they are roles in these contests alone."""
        return not (self.organiser or self.problems) and set(self.contests) <= set(contest_ids)


def roles_of(session: Session, account_ids: Collection[str] | None = None) -> dict[str, Roles]:
    """Return the roles of these accounts (default: all) by id, without accounts that have none."""
    roles: defaultdict[str, Roles] = defaultdict(Roles)
    organisers = select(OrganiserRow.account_id)
    for kind, table in ROLES.items():
        query = select(table)
        for row in session.scalars(query if account_ids is None else query.where(table.account_id.in_(account_ids))):
            getattr(roles[row.account_id], kind)[row.object_id] = row.role
    if account_ids is not None:
        organisers = organisers.where(OrganiserRow.account_id.in_(account_ids))
    for account_id in session.scalars(organisers):
        roles[account_id].organiser = True
    return dict(roles)


def roles_at(session: Session, kind: RoleKind, object_id: str) -> Sequence[RoleRow]:
    """Return the roles in a contest or at a problem by account."""
    table = ROLES[kind]
    return session.scalars(select(table).where(table.object_id == object_id).order_by(table.account_id)).all()


def role_at(session: Session, kind: RoleKind, object_id: str, account_id: str) -> RoleRow | None:
    """Return the role of an account in a contest or at a problem, locked."""
    return session.get(ROLES[kind], (object_id, account_id), with_for_update=True)


def without_team_elsewhere(session: Session) -> set[str]:
    """The ids of the accounts that make contests or have a role in any, but for the server's admins and judges."""
    ids = select(ContestRoleRow.account_id).union(select(OrganiserRow.account_id))
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


def enrolled(session: Session, team_id: str) -> set[str]:
    """The contests in which a team is enrolled by name."""
    return set(session.scalars(select(ContestTeamRow.contest_id).where(ContestTeamRow.team_id == team_id)))


def terms(session: Session, contest_id: str, *, for_update: bool = False) -> RegistrationRow | None:
    """The terms of a contest, locked until the transaction ends if they are `for_update`; None for none."""
    query = select(RegistrationRow).where(RegistrationRow.contest_id == contest_id)
    return session.scalars(query.with_for_update() if for_update else query).one_or_none()


def count(session: Session, contest_id: str) -> int:
    """The number of accounts that registered for a contest."""
    return by_id.count(session, RegisteredRow, RegisteredRow.contest_id == contest_id)


def registered(session: Session, contest_id: str) -> Sequence[tuple[RegisteredRow, AccountRow]]:
    """The accounts that registered for a contest, the first one first."""
    query = select(RegisteredRow, AccountRow).join(AccountRow, AccountRow.id == RegisteredRow.account_id)
    query = query.where(RegisteredRow.contest_id == contest_id).order_by(RegisteredRow.time, RegisteredRow.account_id)
    return [(row, account) for row, account in session.execute(query)]


def entries(session: Session, wanted: AuditFilter) -> Sequence[AuditRow]:
    """The newest entries that meet all conditions, newest first."""
    query = select(AuditRow).order_by(AuditRow.id.desc()).limit(wanted.limit)
    if wanted.actor is not None:
        query = query.where(or_(AuditRow.account_id == wanted.actor, AuditRow.username == wanted.actor))
    if wanted.contest_id is not None:
        query = query.where(AuditRow.contest_id == wanted.contest_id)
    if wanted.operation is not None:
        query = query.where(AuditRow.operation == wanted.operation)
    if wanted.since is not None:
        query = query.where(AuditRow.time >= wanted.since)
    if wanted.before is not None:
        query = query.where(AuditRow.id < wanted.before)
    return session.scalars(query).all()
