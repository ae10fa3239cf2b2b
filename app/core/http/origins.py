"""Whose page sends a request: a page of another origin changes nothing with a password that the browser adds.

Browsers remember HTTP Basic and add it to whatever any page sends to this server; over plain HTTP they say with
`Origin` alone where the page is from. A token is added by nobody but the page's own program, which has to know it: such
requests are taken from everywhere, as are those without `Origin`, which no page of another origin can send.

- Sessions of browsers: a token in a cookie stands for the header Authorization, where a request has none.
- Behind a proxy: who the client is, as a trusted proxy says, and the path prefix under which it sees the service.
"""

from collections.abc import Collection, Iterable, Mapping
from http.cookies import CookieError, SimpleCookie
from typing import Any, cast
from urllib.parse import urlsplit

from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from app.accounts.service.tokens import SESSION_COOKIE
from app.core.http.errors import error_response
from app.core.settings import Settings

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
        if scope["type"] == "http" and scope["method"] not in HARMLESS and self._needs_token(scope):
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
    if default is None:  # `null`, of sandboxed frames and files, is nobody's
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
        if scope["type"] == "http":
            scope = _with_token(scope)
        await self.app(scope, receive, send)


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

    The hosts that a trusted proxy names go into the scope: within, nobody knows any more who sent the header.
    """

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        proxied = ProxyHeadersMiddleware(cast(Any, app), settings.trusted_proxies)
        self._inner, self._trusted = cast(ASGIApp, proxied), proxied.trusted_hosts
        self._prefix = settings.root_path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: D102 - ASGI
        if scope["type"] != "http":
            await self._inner(scope, receive, send)
            return
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
