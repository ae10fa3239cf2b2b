"""The viewer who asks: an account with its role, by a password or a token, or the public.

- What organisers may reach beside the contest or problem of the address: other problems, teams, groups, contests.
- Logins: whose a password or a token is, by a look at the database.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal, cast

from sqlalchemy.orm import Session

from app.accounts import queries as accounts_queries
from app.accounts.schemas import RoleKind
from app.accounts.service.grants import NO_GRANTS, OWNER, Grants, grants_of, grants_of_all
from app.core import bodies, clock
from app.core.db.database import Database
from app.core.messages import N_, Conflict, Forbidden, Message, Unauthorized
from app.core.passwords import hash_password, make_password, password_fits
from app.tables import AccountRow, TeamRow
from app.teams import queries as teams_queries

Role = Literal["admin", "owner", "judge", "team", "public"]
REMEMBERED_SECONDS = 60.0


@dataclass(slots=True)
class Credential:
    """By what an account was known: a username and the hash that its password fitted, or a token; neither in tests."""

    username: str | None = None
    password_hash: str | None = None
    digest: str | None = None
    expires: datetime | None = None

    @property
    def seconds(self) -> float:
        """Seconds for which it may be taken as good without a look at the database."""
        if self.expires is None:
            return REMEMBERED_SECONDS
        return min(REMEMBERED_SECONDS, (self.expires - clock.utc_now()).total_seconds())

    def fits(self, account: AccountRow, digests: Collection[str]) -> bool:
        """Whether it is still good for its account as that is now, with these tokens."""
        if self.digest is not None:
            return self.digest in digests
        if self.username is None:
            return True
        return (account.username, account.password_hash) == (self.username, self.password_hash)


@dataclass(frozen=True, slots=True)
class Viewer:
    """The viewer who asks: an account's id with its role, or `public`. `team_id` is set for teams.

    Analysts and staff see what everyone sees; `account_type` tells what else they may do.

    grants      the roles that the account was granted, beside its type
    contest_id  the contest in which a granted role takes the place of the account's own (see `at`); otherwise None
    """

    role: Role = "public"
    account_id: str | None = None
    team_id: str | None = None
    account_type: str | None = None
    grants: Grants = NO_GRANTS
    contest_id: str | None = None
    credential: Credential = field(default_factory=Credential, compare=False, repr=False)

    @property
    def logged_in(self) -> bool:
        """Whether it is an account."""
        return self.account_id is not None

    @property
    def is_admin(self) -> bool:
        """Whether it may change everything on the server."""
        return self.role == "admin"

    @property
    def manages(self) -> bool:
        """Whether it may change everything of the contest it looks at: admins, and owners at their contest."""
        return self.role in {"admin", "owner"}

    @property
    def sees_all(self) -> bool:
        """Whether it may see everything of the contest it looks at: admins, owners and judges."""
        return self.role in {"admin", "owner", "judge"}

    @property
    def judges_all(self) -> bool:
        """Whether it may see everything of every contest: the server's admins and judges."""
        return self.sees_all and self.contest_id is None

    @property
    def is_audited(self) -> bool:
        """Whether its changes are noted in the audit log: all accounts but those of teams without roles."""
        return self.role != "team" or self.grants.any

    def reads_problem(self, problem_id: str) -> bool:
        """Whether it may read a problem's hidden data, whichever contest has it."""
        return self.judges_all or problem_id in self.grants.problems

    def at(self, contest_id: str | None) -> Viewer:
        """The viewer in a contest: with the role granted there, if any, in place of its team and its type.

        A judge of the server becomes an owner where it is one; an admin stays an admin.
        """
        granted = None if contest_id is None else self.grants.contests.get(contest_id)
        if granted is None or self.is_admin or (self.sees_all and granted != OWNER):
            return self
        kind = "admin" if granted == OWNER else "judge"
        return replace(self, role=granted, team_id=None, account_type=kind, contest_id=contest_id)

    def stands_as(self, other: Viewer, contest_id: str | None) -> bool:
        """Return whether both are the same account with the same role in a contest, whatever their roles elsewhere."""
        mine, theirs = self.at(contest_id), other.at(contest_id)
        return replace(mine, grants=NO_GRANTS) == replace(theirs, grants=NO_GRANTS)


PUBLIC = Viewer()


def digest(token: str) -> str:
    """The digest stored of a token: enough to know it again, too little to use it."""
    return hashlib.sha256(token.encode()).hexdigest()


def good_still(session: Session, viewers: Sequence[tuple[Viewer, str | None]]) -> list[bool]:
    """Return for each viewer in a contest whether its account, its credential and its role in the contest still hold.

    Roles elsewhere change nothing that the viewer sees there.
    """
    rows = {row.id: row for row in accounts_queries.accounts(session)}
    asked = {each.account_id for each, _ in viewers}
    grants = grants_of_all(session, [row for row in rows.values() if row.id in asked])
    digests = accounts_queries.live_tokens(session, [each.credential.digest for each, _ in viewers], clock.utc_now())
    return [
        row is not None
        and viewer.credential.fits(row, digests)
        and viewer_of(row, grants.get(row.id, NO_GRANTS)).stands_as(viewer, contest_id)
        for viewer, contest_id in viewers
        for row in [rows.get(str(viewer.account_id))]
    ]


def known_viewer(session: Session, account: AccountRow, credential: Credential | None = None) -> Viewer:
    """The viewer of an account with the roles it has now, and the credential that it was known by."""
    return viewer_of(account, grants_of(session, account), credential)


def viewer_of(account: AccountRow, grants: Grants = NO_GRANTS, credential: Credential | None = None) -> Viewer:
    """The viewer of an account, with its roles and the credential that it was known by."""
    role = cast(Role, account.type) if account.type in {"admin", "judge", "team"} else "public"
    return Viewer(role, account.id, account.team_id, account.type, grants=grants, credential=credential or Credential())


def own(session: Session, viewer: Viewer, kind: RoleKind, object_id: str) -> None:
    """Make the viewer the owner of a contest or problem that it has just made; admins need no role."""
    if not viewer.is_admin:
        session.flush()
        row = accounts_queries.ROLES[kind](object_id=object_id, account_id=str(viewer.account_id), role=OWNER)
        row.granted_by, row.granted = viewer.account_id, clock.utc_now()
        session.add(row)


def refuse_foreign_version(viewer: Viewer, problem_id: str) -> None:
    """Raise Conflict where the viewer may not bring in a new version of this problem, which exists."""
    if not (viewer.is_admin or viewer.grants.problems.get(problem_id) == OWNER):
        raise Conflict(
            N_("there is a problem %(problem)r already, and only an owner of it may replace it"), problem=problem_id
        )


def refuse_unusable(viewer: Viewer, problem_id: str) -> None:
    """Raise BadRequest for a problem at which the viewer has no role: whether it exists stays untold."""
    if not (viewer.is_admin or problem_id in viewer.grants.problems):
        bodies.refuse([bodies.mismatch("id", N_("a problem at which you have a role"), repr(problem_id))])


def refuse_open_to_all(viewer: Viewer, *, open_to_all: bool | None) -> None:
    """Raise Forbidden where an organiser opens a contest to all: it would show all teams of the server."""
    if open_to_all and not viewer.is_admin:
        raise Forbidden(N_("only an admin may let every team of the server take part"), where="open_to_all")


def refuse_foreign_contests(viewer: Viewer, contest_ids: Collection[str]) -> None:
    """Raise Forbidden where the viewer does not own all of these contests."""
    if not viewer.is_admin and any(viewer.grants.contests.get(each) != OWNER for each in contest_ids):
        raise Forbidden(
            N_("this changes contests that are not yours, too: only an owner of all of them, or an admin, may")
        )


def refuse_foreign_object(viewer: Viewer, contest_id: str, owner_id: str | None, noun: str) -> None:
    """Raise Forbidden where an object that the contest shows was not made for it."""
    if not viewer.is_admin and owner_id != contest_id:
        raise Forbidden(
            N_("the %(noun)s was not made for this contest: only an admin may change it"), noun=Message(noun)
        )


def own_teams(session: Session, viewer: Viewer, contest_id: str) -> Sequence[TeamRow]:
    """The teams that the viewer may let take part in this contest, by id: for an admin all of the server.

    For others those that were made for this contest or one of their own, or are enrolled there by name.
    """
    if viewer.is_admin:
        return teams_queries.teams(session)
    owned = {each for each, role in viewer.grants.contests.items() if role == OWNER}
    return teams_queries.teams_of_contests(session, owned | {contest_id})


def refuse_foreign_teams(session: Session, viewer: Viewer, contest_id: str, team_ids: Collection[str]) -> None:
    """Raise BadRequest with the teams that are in no contest of the viewer's; whether they exist stays untold."""
    if viewer.is_admin:  # who is refused an unknown team by its own name
        return
    known_ids = {row.id for row in own_teams(session, viewer, contest_id)}
    faults = [
        bodies.mismatch(f"team_ids[{at}]", N_("a team of a contest that you own"), repr(team_id))
        for at, team_id in enumerate(team_ids)
        if team_id not in known_ids
    ]
    bodies.refuse(faults)


class Logins:
    """Finds the account of a password or a token; its calls block."""

    def __init__(self, database: Database) -> None:
        self._database = database
        # Compared with for unknown usernames, so that they take as long as known ones.
        self._nobody = hash_password(make_password())

    def by_password(self, username: str, password: str) -> Viewer | None:
        """The account of a username and password; None where they do not fit.

        An unknown username costs one hash as well, so that the time does not tell which ones are known.
        """
        with self._database.read() as session:
            account = accounts_queries.by_username(session, username)
            viewer = None if account is None else known_viewer(session, account)
        password_hash = account.password_hash if account is not None else None
        fits = password_fits(password, password_hash or self._nobody)
        if viewer is None or password_hash is None or not fits:
            return None
        return replace(viewer, credential=Credential(username=username, password_hash=password_hash))

    def by_token(self, token: str) -> Viewer:
        """The account of a token; raises Unauthorized."""
        with self._database.read() as session:
            pair = accounts_queries.by_token(session, digest(token), clock.utc_now())
            if pair is None:
                raise Unauthorized(N_("the token is unknown or has expired"))
            account, row = pair
            credential = Credential(digest=row.digest, expires=row.expires)
            return known_viewer(session, account, credential)

    def still_good(self, viewer: Viewer) -> Viewer | None:
        """The viewer as its account is now, or None once its password or token has changed. Needs no hash."""
        with self._database.read() as session:
            row = session.get(AccountRow, str(viewer.account_id))
            digests = accounts_queries.live_tokens(session, [viewer.credential.digest], clock.utc_now())
            if row is None or not viewer.credential.fits(row, digests):
                return None
            return known_viewer(session, row, viewer.credential)
