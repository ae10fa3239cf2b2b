"""Logging in and out on pages: a session is a token of the account, in a cookie that no script reads."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import parse_qsl, urlsplit

from anyio.to_thread import run_sync
from fastapi import Query, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from app.service import Service
from app.services.errors import BadRequest, TooLarge
from app.services.people import tokens
from app.services.viewer import PUBLIC, Viewer
from app.web.pages import page
from app.web.visitor import TheService, Visitor, address_of, authenticator_of

COOKIE = "jurado_session"
WRONG = "This username and password do not belong together. Both are as they were given to you; capitals count."
LONGEST_FORM = 10_000
"""Bytes of a form without files."""


async def login_page(
    request: Request,
    viewer: Visitor,
    next: Annotated[str, Query(max_length=2000)] = "/",
) -> HTMLResponse:
    """The form to log in."""
    return page("login.html", request, viewer=viewer, next=_inside(next), username="", fault=None)


async def log_in(request: Request, service: TheService) -> Response:
    """Check the password, begin a session and go where the visitor came from."""
    form = await read_form(request)
    username, next_ = form.get("username", ""), _inside(form.get("next", "/"))
    viewer = await authenticator_of(request).check_password(username, form.get("password", ""), address_of(request))
    if viewer is None:
        return page("login.html", request, 401, viewer=PUBLIC, next=next_, username=username, fault=WRONG)
    token = await run_sync(_begin, service, viewer)
    reply = RedirectResponse(f"{request.scope.get('root_path', '')}{next_}", 303)
    reply.set_cookie(
        COOKIE,
        token,
        max_age=int(tokens.SESSION_LASTS.total_seconds()),
        path=request.scope.get("root_path", "") or "/",
        secure=request.url.scheme == "https",
        httponly=True,
        samesite="strict",
    )
    return reply


async def log_out(request: Request, service: TheService, viewer: Visitor) -> Response:
    """End the session: its token is good no more."""
    if viewer.credential.digest is not None:
        await run_sync(_end, service, viewer)
        authenticator_of(request).forget(viewer.account_id)
    root = request.scope.get("root_path", "")
    reply = RedirectResponse(f"{root}/", 303)
    reply.delete_cookie(COOKIE, path=root or "/", httponly=True, samesite="strict")
    return reply


async def read_form(request: Request) -> dict[str, str]:
    """The fields of a form without files; raises TooLarge or BadRequest."""
    body = b""
    async for piece in request.stream():
        body += piece
        if len(body) > LONGEST_FORM:
            raise TooLarge(f"the form: expected at most {LONGEST_FORM} bytes, found more")
    try:
        fields = parse_qsl(body.decode(), keep_blank_values=True, errors="strict", max_num_fields=50)
    except ValueError:  # UnicodeDecodeError is one
        raise BadRequest("the form: expected fields in UTF-8, percent-encoded") from None
    if any("\0" in value for _, value in fields):
        raise BadRequest("the form: expected text, found a NUL character")
    return dict(fields)


def _begin(service: Service, viewer: Viewer) -> str:
    with service.database.write(quiet=True) as session:
        return tokens.begin_session(session, viewer)


def _end(service: Service, viewer: Viewer) -> None:
    with service.database.write(quiet=True) as session:
        tokens.end_session(session, viewer)


def _inside(address: str) -> str:
    """An address within these pages; `/` for any other."""
    parts = urlsplit(address)
    local = not parts.scheme and not parts.netloc and address.startswith("/") and not address.startswith("//")
    return address if local and "\\" not in address and address.isprintable() else "/"
