"""Who is asking: HTTP Basic or a bearer token, checked against the accounts once and remembered until they change.

A password's hash takes 20 ms of a core: 1,000 contestants need the memory, and logins have threads of their own, few
enough to leave the cores to submissions (guarantee 6).
"""

import base64
import hashlib
import secrets
import time
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from functools import partial
from itertools import count

from anyio.to_thread import run_sync
from cachetools import FIFOCache

from app.accounts.service.grants import Attempt, Guesses
from app.accounts.service.viewer import PUBLIC, Logins, Viewer
from app.core.load import SharedWork, run_heavy, source_of
from app.core.messages import N_, Unauthorized

MOST_REMEMBERED = 20_000
# As long as usernames may be: those of wrong guesses are remembered for a minute, and a header has room for more.
LONGEST_USERNAME = 255
WRONG = N_("wrong username or password")


@dataclass(slots=True)
class _Known:
    """A header that was good: whose it is, until when (of the monotonic clock), and after which changes."""

    viewer: Viewer
    until: float
    generations: tuple[int, int]


class Authenticator:
    """Knows viewers by their Authorization header. What it remembers is keyed by a keyed hash, never by the secret.

    A header that was good stays good until its account, password or token changes: after a while, or when something
    has changed, one look at the database tells, and no password is hashed again. `listeners` are called after changes.
    """

    def __init__(self, logins: Logins) -> None:
        self.listeners: list[Callable[[], None]] = []
        self._logins = logins
        self._key = secrets.token_bytes(32)
        self._known: FIFOCache[bytes, _Known] = FIFOCache(MOST_REMEMBERED)
        self._checks = SharedWork()
        # The number of the last change of each account, and of all (None); `forget` is called by any thread.
        self._numbers = count(1)
        self._generations: Counter[str | None] = Counter()
        self._last_change = 0
        self.guesses = Guesses()

    def forget(self, account_id: str | None = None) -> None:
        """Look at the database again: accounts, or what one is known by, have changed. Call it after the commit."""
        self._last_change = self._generations[account_id] = next(self._numbers)
        for listener in self.listeners:
            listener()

    async def viewer(self, header: str | None, address: str) -> Viewer:
        """Find out who sent this Authorization header from this address; raises Unauthorized or TooManyRequests."""
        if header is None:
            return PUBLIC
        if (remembered := self.remembered(header)) is not None:
            return remembered
        key = self._digest(header)
        # Many requests that begin with one login check it once; a check that began before a change is for those alone
        # who came before it, as it may have read a password or a token that is good no more.
        check = partial(self._find_out, key, header, source_of(address))
        return await self._checks.joined((key, self._last_change), check)

    def remembered(self, header: str) -> Viewer | None:
        """Who sent this Authorization header a short while ago; None where that must be found out."""
        known = self._known.get(self._digest(header))
        return known.viewer if known is not None and self._holds(known) else None

    def _holds(self, known: _Known) -> bool:
        """Whether the database need not be asked again: for a while, unless accounts have changed."""
        is_unchanged = known.generations == _generations_of(known.viewer, self._generations)
        return is_unchanged and known.until > time.monotonic()

    def turn(self, username: str, address: str) -> AbstractAsyncContextManager[Attempt]:
        """Wait for the turn to check a secret of an account: whoever guesses pays as with passwords."""
        return self.guesses.turn(username, source_of(address))

    async def check_password(self, username: str, password: str, address: str) -> Viewer | None:
        """Check a password, in turn with others'; None where it is wrong. Raises TooManyRequests."""
        if len(username) > LONGEST_USERNAME:
            return None
        async with self.guesses.turn(username, source_of(address)) as attempt:
            viewer = await run_heavy(partial(self._logins.by_password, username, password), "logins")
            attempt.failed = viewer is None
        return viewer

    async def _find_out(self, key: bytes, header: str, source: str) -> Viewer:
        before = self._generations.copy()
        viewer = await self._known_still(key) or await self._check(header, source)
        # Whether a role rests changes with contests, and time.
        until = 0.0 if viewer.grants.may_rest else time.monotonic() + viewer.credential.seconds
        self._known[key] = _Known(viewer, until, _generations_of(viewer, before))
        return viewer

    async def _known_still(self, key: bytes) -> Viewer | None:
        """Whose a header is that was good before: one look at the database, without hashing a password."""
        known = self._known.get(key)
        if known is None:
            return None
        viewer = await run_sync(self._logins.still_good, known.viewer)
        if viewer is None:
            self._known.pop(key, None)
        return viewer

    def _digest(self, header: str) -> bytes:
        return hashlib.blake2b(header.encode(), key=self._key).digest()

    async def _check(self, header: str, address: str) -> Viewer:
        scheme, _, value = header.partition(" ")
        if scheme.lower() == "basic":
            viewer = await self.check_password(*_basic(value), address)
            if viewer is None:
                raise Unauthorized(WRONG)
            return viewer
        if scheme.lower() == "bearer":
            return await run_sync(self._logins.by_token, value.strip())
        raise Unauthorized(N_("expected Basic or Bearer, found %(found)r"), where="Authorization", found=scheme[:20])


def _generations_of(viewer: Viewer, generations: Counter[str | None]) -> tuple[int, int]:
    return generations[None], generations[viewer.account_id]


def _basic(value: str) -> tuple[str, str]:
    try:
        text = base64.b64decode(value.strip(), validate=True).decode()
    except ValueError:  # binascii.Error and UnicodeDecodeError are some; a header beyond ASCII is another
        raise Unauthorized(
            N_("expected Basic and base64 of username:password in UTF-8"), where="Authorization"
        ) from None
    username, colon, password = text.partition(":")
    if "\0" in username:  # PostgreSQL cannot even look for it
        raise Unauthorized(WRONG)
    if not colon:
        raise Unauthorized(N_("expected Basic and base64 of username:password, found no colon"), where="Authorization")
    return username, password
