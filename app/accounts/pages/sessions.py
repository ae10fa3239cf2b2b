"""The cookie of a session: a token that no script reads.

A link from another site, such as one in a mail, opens a page with its session (`SameSite=Lax`). No other request of
another site carries the cookie, and `Origins` refuses changes that pages of other origins ask for.
"""

from __future__ import annotations

from fastapi import Request, Response

from app.accounts.service import tokens


def keep_session(request: Request, reply: Response, token: str) -> None:
    """Let the browser keep the token of a session that has begun."""
    reply.set_cookie(
        tokens.SESSION_COOKIE,
        token,
        max_age=int(tokens.SESSION_LASTS.total_seconds()),
        path=request.scope.get("root_path", "") or "/",
        secure=request.url.scheme == "https",
        httponly=True,
        samesite="lax",
    )


def drop_session(request: Request, reply: Response) -> None:
    """Let the browser forget the session's token."""
    path = request.scope.get("root_path", "") or "/"
    reply.delete_cookie(tokens.SESSION_COOKIE, path=path, httponly=True, samesite="lax")
