"""Who is asking: HTTP Basic or a bearer token, checked against the accounts once and remembered until they change.

A password's hash takes 20 ms of a core: 1,000 contestants need the memory, and logins have threads of their own, few
enough to leave the cores to submissions (guarantee 6).

- Whose page sends a request: a page of another origin changes nothing with a password that the browser adds. Browsers
  remember HTTP Basic and add it to whatever any page sends; over plain HTTP they say with `Origin` alone where the page
  is from. A token is added by no one but the page's own program, which has to know it: such requests are taken from
  everywhere, as are those without `Origin`, which no page of another origin can send.
- Sessions of browsers: a token in a cookie stands for the header Authorization, where a request has none.
- Behind a proxy: who the client is, as a trusted proxy says, and the path prefix under which it sees the service.
"""

import base64
import hashlib
import secrets
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from functools import partial
from http.cookies import CookieError, SimpleCookie
from itertools import count
from typing import Any, cast
from urllib.parse import urlsplit

from anyio.to_thread import run_sync
from cachetools import FIFOCache
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from app.accounts.service.grants import Attempt, Guesses
from app.accounts.service.tokens import SESSION_COOKIE
from app.accounts.service.viewer import PUBLIC, Logins, Viewer
from app.core.http.errors import error_response
from app.core.load import SharedWork, run_heavy, source_of
from app.core.messages import N_, Unauthorized
from app.core.settings import Settings

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


HARMLESS = frozenset({"GET", "HEAD", "OPTIONS"})
OTHER_SITES = frozenset({b"cross-site", b"same-site"})
DEFAULT_PORTS = {"http": ":80", "https": ":443"}
MESSAGE = "a page of another origin must send a token: browsers send passwords by themselves"
# Where a scope says that its Authorization is of a cookie, which browsers add to requests of any page.
BY_COOKIE = "jurado.by_cookie"
# Where a scope has the hosts that a trusted proxy named (X-Forwarded-Host).
FORWARDED_HOSTS = "jurado.hosts"


class Origins:
    """Refuses changes that pages of other origins ask for without a token; `allowed` are origins that count as ours."""

    def __init__(self, app: ASGIApp, allowed: Iterable[str]) -> None:
        self.app = app
        self._allowed = frozenset(allowed)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: D102 - ASGI
        if scope["method"] not in HARMLESS and self._needs_token(scope):
            await error_response(403, f"{MESSAGE} ({_what_was_sent(scope)})")(scope, receive, send)
            return
        await self.app(scope, receive, send)

    def _needs_token(self, scope: Scope) -> bool:
        headers: dict[bytes, bytes] = dict(scope["headers"])
        has_token = headers.get(b"authorization", b"")[:7].lower() == b"bearer "
        if has_token and not scope.get(BY_COOKIE):
            return False
        return is_foreign(scope, self._allowed)


def is_foreign(scope: Scope, allowed: Collection[str] = ()) -> bool:
    """Whether a request is sent by a page of another origin than ours and those `allowed`."""
    headers: dict[bytes, bytes] = dict(scope["headers"])
    origin = headers.get(b"origin")
    if origin is None:
        return headers.get(b"sec-fetch-site") in OTHER_SITES
    text = origin.decode("latin-1").strip().lower()
    return text not in allowed and not _is_ours(text, hosts_of(scope, headers))


def hosts_of(scope: Scope, headers: Mapping[bytes, bytes]) -> set[str]:
    """The hosts a request was sent to: the header Host, and what a trusted proxy says it was."""
    named = scope.get(FORWARDED_HOSTS, "").split(",")
    return {each.strip().lower() for each in [headers.get(b"host", b"").decode("latin-1"), *named]} - {""}


def _is_ours(origin: str, hosts: set[str]) -> bool:
    """Is a page of this origin from one of these hosts? The port counts: another one is another program's."""
    scheme, _, place = origin.partition("://")
    default = DEFAULT_PORTS.get(scheme)
    if default is None:  # `null`, of sandboxed frames and files, is no one's
        return False
    host = place.removesuffix(default)
    return any(host == each.removesuffix(default) for each in hosts)


def _what_was_sent(scope: Scope) -> str:
    headers: dict[bytes, bytes] = dict(scope["headers"])
    origin = headers.get(b"origin", b"").decode("latin-1")[:80]
    hosts = " or ".join(sorted(each[:80] for each in hosts_of(scope, headers)))
    return f"Origin: expected {hosts or 'a host'}, found {origin or 'another site'}"


class Sessions:
    """Hands the token of the session's cookie on as `Authorization: Bearer`; one that is sent itself goes first."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: D102 - ASGI
        await self.app(_with_token(scope), receive, send)


def _with_token(scope: Scope) -> Scope:
    cookies = [value for name, value in scope["headers"] if name == b"cookie"]
    if not cookies or any(name == b"authorization" for name, _ in scope["headers"]):
        return scope
    token = _token(b"; ".join(cookies).decode("latin-1"))
    if not token:
        return scope
    authorization = (b"authorization", f"Bearer {token}".encode("latin-1"))
    return {**scope, "headers": [*scope["headers"], authorization], BY_COOKIE: True}


def _token(text: str) -> str:
    if SESSION_COOKIE not in text:
        return ""
    try:
        cookie = SimpleCookie(text).get(SESSION_COOKIE)
    except CookieError:  # another program's on the same host
        return ""
    return "" if cookie is None else cookie.value


HOST = b"x-forwarded-host"


class BehindProxy:
    """The outermost layer of all. X-Forwarded-For, -Proto and -Host count only from a trusted proxy.

    The hosts that a trusted proxy names go into the scope: within, no one knows any longer who sent the header.
    """

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        proxied = ProxyHeadersMiddleware(cast(Any, app), settings.trusted_proxies)
        self._inner, self._trusted = cast(ASGIApp, proxied), proxied.trusted_hosts
        self._prefix = settings.root_path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: D102 - ASGI
        client, prefix, path = scope.get("client"), self._prefix, str(scope["path"])
        if client is not None and client[0] in self._trusted:
            scope[FORWARDED_HOSTS] = ",".join(
                value.decode("latin-1") for name, value in scope["headers"] if name == HOST
            )
        if not prefix:
            await self._inner(scope, receive, send)
        elif path == prefix:  # relative addresses in the index need the slash
            await RedirectResponse(f"{prefix}/")(scope, receive, send)
        else:
            inside = {
                **scope,
                "root_path": prefix,
                "path": path.removeprefix(prefix) if path.startswith(f"{prefix}/") else path,
            }
            host = next((value.decode("latin-1") for name, value in scope["headers"] if name == b"host"), "")
            await self._inner(inside, receive, _prefixed(prefix, host, send))


def _prefixed(prefix: str, host: str, send: Send) -> Send:
    """Put the prefix in front of the path in Location headers that lead to this service."""

    def outward(name: bytes, value: bytes) -> tuple[bytes, bytes]:
        if name.lower() != b"location":
            return name, value
        place = urlsplit(value.decode("latin-1"))
        if place.netloc not in {"", host}:
            return name, value
        return name, place._replace(path=prefix + place.path).geturl().encode("latin-1")

    async def send_prefixed(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [outward(name, value) for name, value in message.get("headers", ())]}
        await send(message)

    return send_prefixed
