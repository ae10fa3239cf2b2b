"""Whose page sends a request: a page of another origin changes nothing with a password that the browser adds.

Browsers remember HTTP Basic and add it to whatever any page sends to this server; over plain HTTP they say with
`Origin` alone where the page is from. A token is added by nobody but the page's own program, which has to know it: such
requests are taken from everywhere, as are those without `Origin`, which no page of another origin can send.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from starlette.types import ASGIApp, Receive, Scope, Send

from app.core.http.errors import error_response

HARMLESS = frozenset({"GET", "HEAD", "OPTIONS"})
OTHER_SITES = frozenset({b"cross-site", b"same-site"})
DEFAULT_PORTS = {"http": ":80", "https": ":443"}
MESSAGE = "a page of another origin must send a token: browsers send passwords by themselves"
BY_COOKIE = "jurado.by_cookie"
"""Where a scope says that its Authorization is of a cookie, which browsers add to requests of any page."""
FORWARDED_HOSTS = "jurado.hosts"
"""Where a scope has the hosts that a trusted proxy named (X-Forwarded-Host)."""


class Origins:
    """Refuses changes that pages of other origins ask for without a token; `allowed` are origins that count as ours.

    A WebSocket can change things whatever its request says, and browsers let every page open one.
    """

    def __init__(self, app: ASGIApp, allowed: Iterable[str]) -> None:
        self.app = app
        self._allowed = frozenset(allowed)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: D102 - ASGI
        if scope["type"] == "websocket" and self._needs_token(scope):
            await send({"type": "websocket.close"})
            return
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
