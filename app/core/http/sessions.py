"""Sessions of browsers: a token in a cookie stands for the header Authorization, where a request has none."""

from __future__ import annotations

from http.cookies import CookieError, SimpleCookie

from starlette.types import ASGIApp, Receive, Scope, Send

from app.accounts.service.tokens import SESSION_COOKIE
from app.core.http.origins import BY_COOKIE, is_foreign


class Sessions:
    """Hands the token of the session's cookie on as `Authorization: Bearer`; one that is sent itself goes first."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: D102 - ASGI
        if scope["type"] in {"http", "websocket"}:
            scope = _with_token(scope)
        await self.app(scope, receive, send)


def _with_token(scope: Scope) -> Scope:
    cookies = [value for name, value in scope["headers"] if name == b"cookie"]
    if not cookies or any(name == b"authorization" for name, _ in scope["headers"]):
        return scope
    token = _token(b"; ".join(cookies).decode("latin-1"))
    if not token or (scope["type"] == "websocket" and is_foreign(scope)):
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
