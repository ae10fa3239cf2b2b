"""The viewer who asks: an account with its role, by a password or a token, or the public."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal, cast

from sqlalchemy.orm import Session

from app.accounts.queries import accounts
from app.accounts.service.grants import NO_GRANTS, OWNER, Grants, grants_of, grants_of_all
from app.core.clock import utc_now
from app.tables import AccountRow

Role = Literal["admin", "owner", "judge", "team", "public"]
REMEMBERED_SECONDS = 60.0


@dataclass(slots=True)
class Credential:
    """By what an account was known: a username and the hash that its password fitted, or a token; neither in tests.

    noted   when the token's use was noted last
    """

    username: str | None = None
    password_hash: str | None = None
    digest: str | None = None
    expires: datetime | None = None
    noted: datetime | None = None

    @property
    def seconds(self) -> float:
        """Seconds for which it may be taken as good without a look at the database."""
        if self.expires is None:
            return REMEMBERED_SECONDS
        return min(REMEMBERED_SECONDS, (self.expires - utc_now()).total_seconds())

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

    Analysts and staff see what everybody sees; `account_type` tells what else they may do.

    grants      the roles that the account was granted, beside its type
    contest_id  the contest in which a granted role takes the place of the account's own (see `at`); else None
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
    rows = {row.id: row for row in accounts.accounts(session)}
    asked = {each.account_id for each, _ in viewers}
    grants = grants_of_all(session, [row for row in rows.values() if row.id in asked])
    digests = accounts.live_tokens(session, [each.credential.digest for each, _ in viewers], utc_now())
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
