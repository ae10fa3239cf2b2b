"""The viewer who asks: an account with its role, by a password or a token, or the public."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, cast

from sqlalchemy.orm import Session

from app.domain.clock import utc_now
from app.storage import accounts
from app.storage.tables import AccountRow

Role = Literal["admin", "judge", "team", "public"]
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
    """

    role: Role = "public"
    account_id: str | None = None
    team_id: str | None = None
    account_type: str | None = None
    credential: Credential = field(default_factory=Credential, compare=False, repr=False)

    @property
    def logged_in(self) -> bool:
        """Whether it is an account."""
        return self.account_id is not None

    @property
    def is_admin(self) -> bool:
        """Whether it may change everything."""
        return self.role == "admin"

    @property
    def sees_all(self) -> bool:
        """Whether it may see everything of every contest: admins and judges."""
        return self.role in {"admin", "judge"}


PUBLIC = Viewer()


def digest(token: str) -> str:
    """The digest stored of a token: enough to know it again, too little to use it."""
    return hashlib.sha256(token.encode()).hexdigest()


def good_still(session: Session, viewers: Sequence[Viewer]) -> list[bool]:
    """Whether each viewer's account, password and token are unchanged."""
    rows = {row.id: row for row in accounts.accounts(session)}
    digests = accounts.live_tokens(session, [each.credential.digest for each in viewers], utc_now())
    return [_is_good(each, rows.get(str(each.account_id)), digests) for each in viewers]


def _is_good(viewer: Viewer, row: AccountRow | None, digests: Collection[str]) -> bool:
    return row is not None and viewer_of(row) == viewer and viewer.credential.fits(row, digests)


def viewer_of(account: AccountRow, credential: Credential | None = None) -> Viewer:
    """The viewer of an account, with the credential that it was known by."""
    role = cast(Role, account.type) if account.type in {"admin", "judge", "team"} else "public"
    return Viewer(role, account.id, account.team_id, account.type, credential or Credential())
