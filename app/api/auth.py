"""Who is asking: HTTP Basic or a bearer token, checked against the accounts, remembered for a short while."""

from __future__ import annotations

import base64
import hashlib
import secrets
import time
from collections import Counter
from dataclasses import dataclass
from typing import Literal, cast

from anyio import CapacityLimiter
from anyio.to_thread import run_sync

from app.api.errors import Unauthorized
from app.api.limits import LoginLimit
from app.domain.clock import utc_now
from app.passwords import hash_password, make_password, password_fits
from app.storage import accounts
from app.storage.database import Database
from app.storage.tables import AccountRow

Role = Literal["admin", "judge", "team", "public"]
REMEMBERED_SECONDS = 60.0
MOST_REMEMBERED = 10_000
CHECKS_AT_ONCE = 2  # each takes 19 MiB and a core; more at once would only starve the requests of those logged in
WRONG = "wrong username or password"


@dataclass(frozen=True, slots=True)
class Viewer:
    """Who asks: an account's id with its role, or nobody (`public`). `team_id` is set for teams.

    Analysts and staff see what everybody sees; `account_type` tells what else they may do.
    """

    role: Role = "public"
    account_id: str | None = None
    team_id: str | None = None
    account_type: str | None = None

    @property
    def logged_in(self) -> bool:
        """Is it an account?"""
        return self.account_id is not None

    @property
    def is_admin(self) -> bool:
        """May it change everything?"""
        return self.role == "admin"

    @property
    def sees_all(self) -> bool:
        """May it see everything of every contest: admins and judges."""
        return self.role in {"admin", "judge"}


PUBLIC = Viewer()


def digest(token: str) -> str:
    """What is kept of a token: enough to know it again, nothing to use it with."""
    return hashlib.sha256(token.encode()).hexdigest()


class Authenticator:
    """Knows viewers by their Authorization header. What it remembers is keyed by a keyed hash, never by the secret."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._key = secrets.token_bytes(32)
        self._known: dict[bytes, tuple[Viewer, float]] = {}
        self._generations: Counter[str | None] = Counter()
        self._limit = LoginLimit()
        self._threads: CapacityLimiter | None = None
        self._nobody = hash_password(make_password())

    def forget(self, account_id: str | None = None) -> None:
        """Look at the database again: accounts, or the tokens of one, have changed. Call it after the commit.

        When all are forgotten every password is checked again, which is dear: no account may bring that about.
        """
        self._generations[account_id] += 1
        if account_id is None:
            self._known.clear()
            return
        for key, (viewer, _) in list(self._known.items()):
            if viewer.account_id == account_id:
                self._known.pop(key, None)

    async def viewer(self, header: str | None, address: str) -> Viewer:
        """Find out who sent this Authorization header from this address; raises Unauthorized or TooManyRequests."""
        if header is None:
            return PUBLIC
        if (known := self.remembered(header)) is not None:
            return known
        key = self._digest(header)
        before = self._generations.copy()
        viewer, seconds = await self._check(header, address)
        # Else it may have been read before the change.
        if all(self._generations[of] == before[of] for of in (None, viewer.account_id)):
            if len(self._known) >= MOST_REMEMBERED:
                self._known.clear()
            self._known[key] = (viewer, time.monotonic() + seconds)
        return viewer

    def remembered(self, header: str) -> Viewer | None:
        """Who sent this Authorization header a short while ago; None where that must be found out."""
        known = self._known.get(self._digest(header))
        return known[0] if known is not None and known[1] > time.monotonic() else None

    def _digest(self, header: str) -> bytes:
        return hashlib.blake2b(header.encode(), key=self._key).digest()

    async def _check(self, header: str, address: str) -> tuple[Viewer, float]:
        if self._threads is None:
            self._threads = CapacityLimiter(CHECKS_AT_ONCE)
        scheme, _, value = header.partition(" ")
        if scheme.lower() == "basic":
            return await run_sync(self._check_password, *_basic(value), address, limiter=self._threads)
        if scheme.lower() == "bearer":
            return await run_sync(self._check_token, value.strip())
        raise Unauthorized(f"Authorization: expected Basic or Bearer, found {scheme[:20]!r}")

    def _check_password(self, username: str, password: str, address: str) -> tuple[Viewer, float]:
        self._limit.check(username, address)
        with self._database.read() as session:
            account = accounts.by_username(session, username)
        # Also a username that is not there costs one hash, so that the time does not tell which ones are.
        kept = account.password_hash if account is not None else None
        fits = password_fits(password, kept or self._nobody)
        if account is None or kept is None or not fits:
            self._limit.failed(username, address)
            raise Unauthorized(WRONG)
        return viewer_of(account), REMEMBERED_SECONDS

    def _check_token(self, token: str) -> tuple[Viewer, float]:
        now = utc_now()
        with self._database.read() as session:
            found = accounts.by_token(session, digest(token), now)
        if found is None:
            raise Unauthorized("the token is unknown or has expired")
        account, expires = found
        seconds = REMEMBERED_SECONDS if expires is None else (expires - now).total_seconds()
        return viewer_of(account), min(REMEMBERED_SECONDS, seconds)


def _basic(value: str) -> tuple[str, str]:
    try:
        text = base64.b64decode(value.strip(), validate=True).decode()
    except ValueError:  # binascii.Error and UnicodeDecodeError are some; a header beyond ASCII is another
        raise Unauthorized("Authorization: expected Basic and base64 of username:password in UTF-8") from None
    username, colon, password = text.partition(":")
    if "\0" in username:  # PostgreSQL cannot even look for it
        raise Unauthorized(WRONG)
    if not colon:
        raise Unauthorized("Authorization: expected Basic and base64 of username:password, found no colon")
    return username, password


def viewer_of(account: AccountRow) -> Viewer:
    """Who an account is to the API."""
    role = cast(Role, account.type) if account.type in {"admin", "judge", "team"} else "public"
    return Viewer(role, account.id, account.team_id, account.type)
